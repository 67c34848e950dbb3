import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuviz import resources
from gpuviz.compile import nvrtc
from gpuviz.errors import Cancelled, FormatError, InputError, KernelFault
from gpuviz.runners import sweep, sweep_file
from gpuviz.runners.gpu.client import GpuLaunch
from gpuviz.runners.measurement import DeviceFacts, Timing

needs_nvrtc = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
FACTS = DeviceFacts(0, "NVIDIA H200", "9.0", "580.1", "13.0", 132, 1 << 37, 50 << 20)


class FakeGpu:
    """Answers with a time that tells the shape, and with the product itself."""

    def __init__(self, error: float = 0.0) -> None:
        self.error, self.grids = error, {}

    def facts(self) -> DeviceFacts:
        return FACTS

    def time(self, launch: GpuLaunch, count: int, **given: object) -> Timing:
        x, y, _ = launch.block
        self.grids[x, y] = launch.grid
        return Timing(np.full(count, 1000.0 * x + y), "warm", (1900.0 + x, 1900.0 + y))

    def run(self, launch: GpuLaunch) -> tuple[np.ndarray, ...]:
        m, n = (a.reshape(sweep.SIZE, -1).astype(np.float64) for a in launch.arguments[:2])
        return (*launch.arguments[:2], (m @ n).ravel().astype(np.float32) + self.error)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "SIZE", 40)


@needs_nvrtc
def test_every_shape_is_timed_and_stands_in_its_place(small: None) -> None:
    gpu, seen = FakeGpu(), []
    found = sweep.measure(gpu, launches=3, progress=seen.append)
    assert found.milliseconds.shape == (32, 32)
    assert found.milliseconds[4, 31] == pytest.approx(32.005)  # BY 5, BX 32
    assert gpu.grids[32, 5] == (2, 8, 1)
    assert (found.device, found.clocks, found.launches) == ("NVIDIA H200", (1901, 1932), 3)
    assert found.largest_difference < 1e-5 and seen[-1] == 1.0


@needs_nvrtc
def test_a_wrong_product_is_not_timed_silently(small: None) -> None:
    with pytest.raises(KernelFault, match="1 x 1 .* off"):
        sweep.measure(FakeGpu(error=0.5))


@needs_nvrtc
def test_a_sweep_can_be_cancelled(small: None) -> None:
    gpu = FakeGpu()
    with pytest.raises(Cancelled):
        sweep.measure(gpu, cancel=lambda: len(gpu.grids) == 7)
    assert len(gpu.grids) == 7


def times() -> sweep_file.Times:
    milliseconds = np.linspace(0.5, 9.0, 1024).reshape(32, 32)
    return sweep_file.Times(
        milliseconds, "NVIDIA H200", "9.0", "580.1", "13.0", (1900.0, 1980.0), "2026-01-01", 7, 1e-4
    )


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    sweep_file.write(path, times())
    found = sweep_file.read(path)
    assert isinstance(found, sweep_file.Times)
    assert np.abs(found.milliseconds - times().milliseconds).max() < 1e-5
    assert replace(found, milliseconds=times().milliseconds).__dict__.keys() == vars(times()).keys()
    assert (found.clocks, found.date, found.launches) == ((1900.0, 1980.0), "2026-01-01", 7)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "other"}, "no sweep"),
        ({"version": 2}, "no sweep"),
        ({"source_hash": "old"}, "older block_shape.cu"),
        ({"milliseconds": [[1.0]]}, "damaged"),
        ({"milliseconds": [[0.0] * 32] * 32}, "damaged"),
        ({"clocks": 3}, "damaged"),
    ],
)
def test_other_files_are_refused(change: dict[str, object], says: str, tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    sweep_file.write(path, times())
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FormatError, match=says):
        sweep_file.read(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        sweep_file.read(tmp_path / "none.json")
    (tmp_path / "no.json").write_text("{")
    with pytest.raises(FormatError, match="damaged"):
        sweep_file.read(tmp_path / "no.json")
    with pytest.raises(InputError, match="cannot write"):
        sweep_file.write(tmp_path / "no" / "folder.json", times())


@needs_nvrtc
@pytest.mark.parametrize(("x", "y"), [(32, 32), (2, 32), (24, 27)])
def test_the_shipped_predictions_are_those_of_today(x: int, y: int) -> None:
    found = sweep_file.read(resources.path(sweep_file.MODEL))
    assert isinstance(found, sweep_file.Predictions)
    requests, sectors = sweep.predicted(found.arch, x, y)
    assert (found.requests[y - 1, x - 1], found.sectors[y - 1, x - 1]) == (requests, sectors)


@pytest.mark.parametrize("x", [8, 16, 32])
def test_the_shipped_predictions_have_the_closed_forms(x: int) -> None:
    """A warp of whole rows: a sector for each row of M, one of N for every eight columns."""
    found = sweep_file.read(resources.path(sweep_file.MODEL))
    assert isinstance(found, sweep_file.Predictions)
    for y in (32 // x, 32):
        assert found.per_request[y - 1, x - 1] == (32 / x + x / 8) / 2
        assert found.for_products[y - 1, x - 1] == 32 / x + x / 8
    assert found.per_request[31, 0] == 16.5  # 32 rows of M, one word of N
    assert found.for_products[0, 0] == 64  # a sector for every lane, twice
