"""The ladder's part of docs/coverage.md: what each rung took beside cuBLAS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuviz.course.matrix_products.ladder.rungs import RUNGS
from gpuviz.recordings.ladder_times import LadderTimes, shipped
from gpuviz.words.language import three

_SIZES = (1024, 2048, 4096)


def ladder() -> Iterator[Sequence[str]]:
    """Rows of cells, their heading first: a rung, its speed and share of cuBLAS at each size;
    nothing where no times ship.
    """
    times = shipped()
    if times is not None:
        yield ("Rung", *(f"N = {size}" for size in _SIZES))
        for number, rung in enumerate(RUNGS, 1):
            each = (_told(times, rung.kernel, rung.entry, size) for size in _SIZES)
            yield (f"{number}. {rung.name}, {rung.numbers}", *each)


def source() -> str:
    """Where the times are from."""
    times = shipped()
    return "" if times is None else f"{times.device}, {times.date}"


def _told(times: LadderTimes, kernel: str, entry: str, size: int) -> str:
    found = times.of(kernel, entry, size)
    if found is None:
        return "not measured"
    return f"{three(found.teraflops)} of {three(found.library)} TFLOP/s, {100 * found.share:.0f} %"
