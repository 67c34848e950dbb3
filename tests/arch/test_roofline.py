import pytest

from gpuviz.arch.roofline import Roof, a_float, intensity
from gpuviz.base.errors import InputError

DOCUMENT = Roof(1e12, 12e12)


def test_the_documents_device() -> None:
    """GPGPU programming: 1 TB/s, 12 TFLOP/s: ratio 1 gives 250 Gop/s, 2 % of it; 48 is needed."""
    naive = 1 / 4  # one operation a float
    assert DOCUMENT.attainable(naive) == 250e9
    assert DOCUMENT.of_peak(naive) == pytest.approx(0.0208, abs=1e-4)
    assert DOCUMENT.ridge is not None and a_float(DOCUMENT.ridge) == 48
    assert DOCUMENT.attainable(1000) == 12e12


def test_tiles_at_150_gigabytes_a_second() -> None:
    roof = Roof(150e9)
    assert roof.attainable(16 / 4) == 600e9
    assert (roof.ridge, roof.of_peak(4)) == (None, None)


def test_intensity() -> None:
    assert intensity(2, 12) == pytest.approx(1 / 6)
    with pytest.raises(InputError, match="moves nothing"):
        intensity(2, 0)
