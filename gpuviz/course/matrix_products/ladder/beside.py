"""All rungs beside cuBLAS, as a GPU took them: times, speeds, what each idea gained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from gpuviz.arch import architecture
from gpuviz.course.matrix_products.ladder.rungs import RUNGS, Rung
from gpuviz.panels.bar import Bar
from gpuviz.panels.layout import Node, first
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import Answer
from gpuviz.panels.table import Column, Table
from gpuviz.recordings.ladder_times import LadderTime, LadderTimes
from gpuviz.run.run import Run
from gpuviz.story.measured import LaunchTime, time_of
from gpuviz.timing.device import device_of
from gpuviz.words.language import three, tr

SIZES = (1024, 2048, 4096)
_TIMED = "sm_90"  # the architecture of the GPU that the shipped times are of
_BELOW = 4  # rungs below the one shown, where there is no room for all
_SAME = 0.01  # of a speed: less is neither gain nor loss


def beside_cublas(times: LadderTimes | None, now: Rung, size: int) -> Node:
    """A row a rung, its speed and share of cuBLAS at each size, bars for one of them; where there
    is no room only the rungs that multiply the same numbers, or the last few of them up to this
    one; in words where nothing is known.
    """
    if times is None or not any(_at(times, rung, n) for rung in RUNGS for n in SIZES):
        return Answer(Lines((Line((tr("Beside cuBLAS: not measured."),), "muted"),)))
    alike = [rung for rung in RUNGS if rung.numbers == now.numbers]
    here = alike.index(now)
    some = RUNGS, alike, alike[max(0, here - _BELOW) : here + 1]
    return first(*(_table(times, rungs, now, size) for rungs in some))


def _at(times: LadderTimes, rung: Rung, size: int) -> LadderTime | None:
    return times.of(rung.kernel, rung.entry, size)


@dataclass(frozen=True)
class _Row:
    """A name, a cell for each size, and a bar; `rung` None: what rungs are held to."""

    name: str
    rung: Rung | None
    cells: tuple[str, ...]
    bar: float


def _table(times: LadderTimes, rungs: Sequence[Rung], now: Rung, size: int) -> Table:
    """Rungs, and below those that multiply the same numbers cuBLAS, and what mma.sync can reach."""
    rows = list[_Row]()
    for numbers, some in groupby(rungs, lambda rung: rung.numbers):
        found = [(rung, {n: _at(times, rung, n) for n in SIZES}) for rung in some]
        for rung, at in found:
            cells = tuple(_cell(at[n]) for n in SIZES)
            rows.append(_Row(tr(rung.name), rung, cells, t.share if (t := at[size]) else 0.0))
        library = tuple(_library([at[n] for _, at in found]) for n in SIZES)
        rows.append(_Row(f"cuBLAS, {numbers}", None, library, 1.0))
        if times.mma and numbers == "fp16":
            reached = (three(times.mma),) * len(SIZES)
            most = max((t.library for _, at in found if (t := at[size])), default=times.mma)
            rows.append(_Row(tr("mma.sync, from registers"), None, reached, times.mma / most))
    origin = tr("TFLOP/s, of cuBLAS: {device}, {date}", device=times.device, date=times.date)
    speeds = tuple(
        Column(
            (f"{n} × {n}", str(n)),
            tuple(row.cells[i] for row in rows),
            badge=tr("recorded"),
            ink="good",
            optional=0 if n == size else 1 + i,
            origin=origin,
        )
        for i, n in enumerate(SIZES)
    )
    shares = tuple((Bar(row.bar, ink=None if row.rung else "muted"),) for row in rows)
    title = tr("of cuBLAS at {size}", size=size)
    drawn = Column((title,), ("",) * len(rows), "left", optional=1, bars=shares)
    names = Column(("",), tuple(row.name for row in rows), "left")
    return Table((names, *speeds, drawn), [row.rung for row in rows].index(now))


def _cell(time: LadderTime | None) -> str:
    return "–" if time is None else f"{three(time.teraflops)}, {100 * time.share:.0f} %"


def _library(times: Sequence[LadderTime | None]) -> str:
    """The speed of cuBLAS beside some rungs; from to, where it differed between runs."""
    found = sorted(time.library for time in times if time)
    if not found:
        return "–"
    low, high = found[0], found[-1]
    return three(high) if high <= low * (1 + _SAME) else f"{three(low)} – {three(high)}"


def beside(times: LadderTimes | None, rung: Rung, size: int, run: Run) -> LaunchTime | None:
    """The time of a launch: of this GPU where there is one, else beside cuBLAS as it ships."""
    found, kept = time_of(run), None if times is None else _at(times, rung, size)
    if times is None or kept is None or (found and found.badge == tr("live")):
        return found
    elsewhere = run.arch != _TIMED
    us, origin = kept.microseconds, (times.device, "", "", elsewhere, times.date)
    return LaunchTime(us, tr("recorded"), *origin)


def cublas_column(
    times: LadderTimes | None, rungs: Sequence[Rung], size: int
) -> tuple[Column, ...]:
    """What cuBLAS took in the run of the shipped times; none where there are none."""
    found = [times and _at(times, rung, size) for rung in rungs]
    if times is None or not any(found):
        return ()
    each = (LaunchTime(t.cublas, "", "").text if t else "–" for t in found)
    return (Column(("cuBLAS",), tuple(each), badge=tr("recorded"), ink="good", optional=1),)


def gained(times: LadderTimes | None, below: Sequence[Rung], now: Rung, size: int) -> str:
    """How much faster a rung is than the one below, as recorded, and why; or that it is not."""
    found = [times and _at(times, rung, size) for rung in (*below[:1], now)]
    if len(found) < 2 or not all(found):
        return tr(now.why)
    theirs, mine = (t.microseconds for t in found if t)
    ratio, at = theirs / mine, {"size": size}
    if ratio > 1 + _SAME:
        return tr("{n} times as fast as the rung below at {size} × {size}.",
                  n=f"{ratio:.3g}", **at) + " " + tr(now.why)  # fmt: skip
    if ratio >= 1 - _SAME:
        return tr("As fast as the rung below at {size} × {size}.", **at) + " " + tr(now.why)
    said = tr("Slower than the rung below at {size} × {size}: {share} % of its speed.",
              share=f"{100 * ratio:.0f}", **at)  # fmt: skip
    why = tr(now.cost) if now.cost else tr(now.why)
    fewer = now.tile[0] * now.tile[1] > below[0].tile[0] * below[0].tile[1]
    return f"{said} {(fewer and idle(now, size)) or why}"


def idle(rung: Rung, size: int) -> str:
    """That the grid has fewer blocks than the timed GPU has multiprocessors; else nothing."""
    there = device_of(architecture(_TIMED)).multiprocessors
    blocks = size * size // (rung.tile[0] * rung.tile[1])
    if blocks >= there:
        return ""
    return tr("It has {blocks} blocks; of {all} multiprocessors {idle} do nothing.",
              blocks=blocks, all=there, idle=there - blocks)  # fmt: skip
