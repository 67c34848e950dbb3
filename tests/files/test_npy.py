"""Arrays in files whose headers are damaged, or lie."""

import io
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest

from gpuviz.base.arrays import Array
from gpuviz.base.errors import FormatError
from gpuviz.files import npy

MIB = 1 << 20


def saved(array: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def loaded(content: bytes, most: int = MIB) -> Array:
    return npy.header(io.BytesIO(content), "it", most).values()


def with_header(header: str, content: bytes = bytes(64)) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.float32(7),
        np.zeros((0, 4), np.uint64),
        np.array([True, False]),
        np.arange(3, dtype=">f4"),
    ],
)
def test_reads_what_is_saved(array: Array) -> None:
    array = np.asarray(array)
    found = loaded(saved(array))
    assert found.dtype == array.dtype and found.shape == array.shape
    assert np.array_equal(found, array)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }", "too large"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "large"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "damaged"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (17,), }", "ends before its 68 bytes"),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "not of numbers"),
        ("{'descr': '|V1000000000', 'fortran_order': False, 'shape': (1,), }", "not of numbers"),
        ("{'descr': ('<f4', (99999999,)), 'fortran_order': False, 'shape': ()}", "not of numbers"),
        ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "not of numbers"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (1,, }", "damaged"),
        ("((((", "damaged"),
        ("'''", "damaged"),
        ("(" * 5000, "damaged"),
        ("{'descr': '" + "<f4" * 9000 + "'}", "damaged"),
        ("\\", "damaged"),
        ("\0", "damaged"),
        ("", "damaged"),
    ],
)
def test_damaged_headers_are_told(header: str, said: str) -> None:
    with pytest.raises(FormatError, match=said) as caught:
        loaded(with_header(header))
    assert len(str(caught.value)) < 1000


@pytest.mark.filterwarnings("ignore:invalid escape")
def test_mutants_are_arrays_or_told() -> None:
    random = Random(0)
    good = saved(np.arange(9, dtype=np.float32))
    for _ in range(3000):
        content = bytearray(good)
        for _ in range(random.randint(1, 4)):
            at = random.randrange(min(len(content), 100))
            content[at] = random.choice(b"\0\n'\"(){}[],:0129<f\\#\x93\xff" + bytes([content[at]]))
        with suppress(FormatError):
            loaded(bytes(content))


def test_a_file_is_not_believed_to_be_larger_than_asked_for(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(1000))
    with npy.opened(tmp_path / "a.npy", 8000) as stored:
        assert (stored.count, stored.size, stored.dtype) == (1000, 8000, np.float64)
    said = r"too large: its shape is \(1000,\)"
    with pytest.raises(FormatError, match=said), npy.opened(tmp_path / "a.npy", 7000):
        pass
    with (tmp_path / "a.npy").open("ab") as file:
        file.write(bytes(1 << 17))
    with pytest.raises(FormatError, match="larger than"), npy.opened(tmp_path / "a.npy", 8000):
        pass


def test_all_arrays_of_a_zip_together_have_a_limit() -> None:
    file = io.BytesIO()
    np.savez_compressed(file, a=np.zeros(1000), b=np.ones((2, 3), np.int32))
    found = npy.read_all(file.getvalue(), "it", 10_000)
    assert found["b"].tolist() == [[1] * 3] * 2 and found["a"].sum() == 0
    assert not found["a"].flags.writeable
    with pytest.raises(FormatError, match="more than 8,000 bytes"):
        npy.read_all(file.getvalue(), "it", 8000)


def test_an_array_of_a_zip_has_the_size_of_its_shape() -> None:
    import zipfile

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000,), }"
        archive.writestr("a.npy", with_header(header))
    with pytest.raises(FormatError, match="a is damaged, or too large"):
        npy.read_all(file.getvalue(), "it", MIB)
