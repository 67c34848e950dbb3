"""The rungs beside cuBLAS on one axis of time, and whose the cells of a tile are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from gpuviz.arch import architecture
from gpuviz.base.arrays import I64, Bool
from gpuviz.course.matrix_products.ladder.rungs import RUNGS, Rung
from gpuviz.panels.cell_map import CellMap, Outline
from gpuviz.panels.panel import Values
from gpuviz.panels.time_bars import TimeBar, TimeBars
from gpuviz.recordings.ladder_times import LadderTime, LadderTimes
from gpuviz.run.run import Run
from gpuviz.story.measured import LaunchTime, passed, time_of
from gpuviz.timing.device import device_of
from gpuviz.traces.trace import Trace
from gpuviz.words.language import tr, trn

SIZES = (1024, 2048, 4096)
_TIMED = "sm_90"  # the architecture of the GPU that the shipped times are of
_SAME = 0.01  # of a speed: less is neither gain nor loss


def on_one_axis(
    times: LadderTimes | None,
    rungs: Sequence[Rung],
    now: Rung,
    size: int,
    own: Mapping[str, LaunchTime | None],
    over: float = 1.0,
) -> TimeBars:
    """Rungs, and below those that multiply the same numbers cuBLAS; those of which a GPU has timed
    the launch as it is have their `own` time. More than these lie on a logarithmic axis: they are a
    thousand times apart.
    """
    bars, picks, here = list[TimeBar](), list[Values](), 0
    device = times.device if times else ""
    for numbers, some in groupby(rungs, lambda rung: rung.numbers):
        library = None
        for rung in some:
            here = len(bars) if rung is now else here
            kept = times and _at(times, rung, size)
            library = kept.cublas if kept else library
            us, badge, name = kept.microseconds if kept else None, tr("recorded"), tr(rung.name)
            if time := own.get(rung.entry):
                us, badge = time.microseconds, time.badge
                name += f" · {time.device}" * (time.device != device)
            bars.append(TimeBar((name,), us, badge if us else ""))
            picks.append({"rung": RUNGS.index(rung) + 1})
        if library is not None:
            bars.append(TimeBar((f"cuBLAS, {numbers}",), library, badge, ink="compute"))
            picks.append(picks[-1])
    where = tr("Beside cuBLAS: not measured.")
    if times is not None:
        what = {"size": size, "device": device, "date": times.date}
        where = tr("time at {size} × {size}: {device}, {date}", **what)
    if log := len(rungs) > len(own):
        where += " · " + tr("from line to line ten times as long")
    return TimeBars(tuple(bars), (where,), here, passed(over), log, tuple(picks))


def _at(times: LadderTimes, rung: Rung, size: int) -> LadderTime | None:
    return times.of(rung.kernel, rung.entry, size)


def beside(times: LadderTimes | None, rung: Rung, size: int, run: Run) -> LaunchTime | None:
    """The time of a launch: of this GPU where there is one, else beside cuBLAS as it ships."""
    found, kept = time_of(run), None if times is None else _at(times, rung, size)
    if times is None or kept is None or (found and found.badge == tr("live")):
        return found
    elsewhere = run.arch != _TIMED
    us, origin = kept.microseconds, (times.device, "", "", elsewhere, times.date)
    return LaunchTime(us, tr("recorded"), *origin)


def gained(times: LadderTimes | None, below: Sequence[Rung], now: Rung, size: int) -> str:
    """How much faster a rung is than the one below, as recorded, and why; or that it is not."""
    found = [times and _at(times, rung, size) for rung in (*below[:1], now)]
    if len(found) < 2 or not all(found):
        return tr(now.why)
    theirs, mine = (t.microseconds for t in found if t)
    ratio, at = theirs / mine, dict[str, object](size=size)
    if ratio > 1 + _SAME:
        n = f"{ratio:.3g}"
        faster = tr("{n} times as fast as the rung below at {size} × {size}.", n=n, **at)
        return f"{faster} {tr(now.why)}"
    if ratio >= 1 - _SAME:
        return tr("As fast as the rung below at {size} × {size}.", **at) + " " + tr(now.why)
    at["share"] = f"{100 * ratio:.0f}"
    said = tr("Slower than the rung below at {size} × {size}: {share} % of its speed.", **at)
    why = tr(now.cost) if now.cost else tr(now.why)
    fewer = now.tile[0] * now.tile[1] > below[0].tile[0] * below[0].tile[1]
    return f"{said} {(fewer and idle(now, size)) or why}"


def idle(rung: Rung, size: int) -> str:
    """That the grid has fewer blocks than the timed GPU has multiprocessors; else nothing."""
    there = device_of(architecture(_TIMED)).multiprocessors
    blocks = size * size // (rung.tile[0] * rung.tile[1])
    if blocks >= there:
        return ""
    what = {"blocks": blocks, "all": there, "idle": there - blocks}
    return tr("It has {blocks} blocks; of {all} multiprocessors {idle} do nothing.", **what)


_WORD = 4


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of its block's tile that warp 0 computes.

    Each of the rows * columns has a `lane` (-1: another warp's) and the number of the `store` that
    writes it, of so many `stores`.
    """

    tile: tuple[int, int]
    lane: I64
    store: I64
    stores: int

    @property
    def of_lane(self) -> tuple[int, int]:
        """How many rows and columns lane 0 has cells in."""
        return _extent(self.lane == 0, self.tile[1])

    @property
    def of_warp(self) -> tuple[int, int]:
        """How many rows and columns the warp has cells in."""
        return _extent(self.lane >= 0, self.tile[1])

    def per_step(self) -> str:
        """What a lane and the warp need for a step of k."""
        (a, b), (c, d) = self.of_lane, self.of_warp
        return trn(
            "A step of k: a lane multiplies {a} by {b} numbers, {n} product; the warp {c} by {d}.",
            "A step of k: a lane multiplies {a} by {b} numbers, {n} products; the warp {c} by {d}.",
            a * b,
            **dict(zip("abcd", (a, b, c, d), strict=True)),
        )

    def sums(self) -> str:
        """What a lane and the warp hold while tensor cores multiply."""
        what = dict(zip(("rows", "columns"), self.of_warp, strict=True))
        each = np.count_nonzero(self.lane == 0)
        return tr(
            "The warp has {rows} × {columns} sums in registers, {n} in each lane.", **what, n=each
        )

    def map(self, name: str, stored: float, notes: bool = True) -> CellMap:
        """The tile of block 0, in the colours of the lanes of warp 0; so many stores are over."""
        rows, columns = self.tile
        size = tr("{rows} × {columns} cells", rows=rows, columns=columns)
        said = (
            tr("outlined: the cells of lane 0"),
            tr("colours: the lanes of warp 0; the rest: other warps"),
        )
        return CellMap(
            (f"{name}: {size}", name),
            rows,
            columns,
            self.lane,
            np.where(self.lane >= 0, np.clip(stored - self.store, 0.0, 1.0), 0.0),
            True,
            self._tip,
            columns / rows,
            outlines=(Outline(_runs(self.lane == 0, columns), "outline", True),),
            notes=said if notes else (),
        )

    def _tip(self, cell: int) -> str:
        row, column = divmod(cell, self.tile[1])
        if self.lane[cell] < 0:
            return tr("P[{row}][{column}] · another warp", row=row, column=column)
        what = {"row": row, "column": column, "lane": self.lane[cell], "n": self.store[cell]}
        return tr("P[{row}][{column}] · lane {lane}, store {n}", **what)


def cells_of(trace: Trace, side: int) -> Cells:
    """The cells of warp 0 of block 0, from its stores to P, so many rows and columns of cells."""
    across, down, _ = trace.launch.grid
    tile = side // down, side // across
    stores = trace.of(block=0, warp=0, space="global", op="store")
    lane, store = (np.full(tile[0] * tile[1], -1, np.int64) for _ in range(2))
    for n in range(len(stores)):
        who = np.flatnonzero(stores.lanes(n))
        words = np.arange(trace.instructions[stores.instruction[n]].width // _WORD)
        buffer = trace.launch.buffer_at(int(stores.address[n][who[0]]))
        assert buffer is not None
        first = (stores.address[n][who].astype(np.int64) - buffer.address) // _WORD
        row, column = np.divmod(first[:, None] + words, side)
        at = row * tile[1] + column
        lane[at], store[at] = who[:, None], n
    return Cells(tile, lane, store, len(stores))


def _extent(cells: Bool, columns: int) -> tuple[int, int]:
    """How many rows and columns hold some of the cells."""
    row, column = np.divmod(np.flatnonzero(cells), columns)
    return len(np.unique(row)), len(np.unique(column))


def _runs(cells: Bool, columns: int) -> I64:
    """(T, 3) rows, first columns and lengths of cells side by side."""
    edges = np.diff(np.pad(cells.reshape(-1, columns).astype(np.int8), ((0, 0), (1, 1))))
    row, start = np.nonzero(edges == 1)
    end = np.nonzero(edges == -1)[1]
    return np.stack([row, start, end - start], axis=1).astype(np.int64)
