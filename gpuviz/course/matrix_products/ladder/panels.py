"""The rungs beside cuBLAS, whose the cells of a tile are, and what code one rung adds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import ClassVar, Literal

import numpy as np

from gpuviz.arch import architecture
from gpuviz.base.arrays import I64, Bool
from gpuviz.course.matrix_products.ladder.rungs import RUNGS, Rung
from gpuviz.draw.layout import Rect, elide
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.bar import Bar
from gpuviz.panels.cell_map import CellMap, Outline
from gpuviz.panels.layout import Node, first
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import Answer, Need, Panel
from gpuviz.panels.table import Column, Table
from gpuviz.recordings.ladder_times import LadderTime, LadderTimes
from gpuviz.run.run import Run
from gpuviz.story.measured import LaunchTime, time_of
from gpuviz.timing.device import device_of
from gpuviz.traces.trace import Trace
from gpuviz.words.language import three, tr, trn

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


Sign = Literal["-", "+", " "]

_LINE, _LEAST = 1.32, 14.0  # letters from line to line; pixels of a letter
_WIDE = 46.0  # letters of a column; where there is room for two, there are two
_FEW = 4  # lines there is always room for
_TAIL = 12  # letters of a statement's end that are kept: `threadIdx.x;`
_AROUND = 1  # lines around changed ones that are shown


@dataclass(frozen=True)
class DiffLine:
    """A line, and whether it went (-), came (+), or is in both."""

    sign: Sign
    text: str


def difference(before: Sequence[str], after: Sequence[str]) -> tuple[DiffLine, ...]:
    """The lines that differ, and some around them."""
    made = list[DiffLine]()
    found = SequenceMatcher(None, before, after, autojunk=False)
    for part, group in enumerate(found.get_grouped_opcodes(_AROUND)):
        if part:
            made.append(DiffLine(" ", "⋯"))
        for tag, a, b, c, d in group:
            if tag == "equal":
                made += [DiffLine(" ", text) for text in after[c:d]]
                continue
            made += [DiffLine("-", text) for text in before[a:b]]
            made += [DiffLine("+", text) for text in after[c:d]]
    return tuple(made)


@dataclass(frozen=True, eq=False)
class Difference(Panel):
    """As many of the lines as there is room for, in two columns where one does not do."""

    share: ClassVar[float] = 1.0
    lines: tuple[DiffLine, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """Room for all lines, and a few at least."""
        pitch = _letters(stage) * _LINE
        return Need(pitch * (len(self.lines) + 1), pitch * (_FEW + 1), 16 * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Lines that went on one ground, those that came on another, each with its sign."""
        letters = _letters(stage)
        pitch = letters * _LINE
        room = max(int(area.height / pitch), 1)
        two = len(self.lines) > room and area.width >= 2 * _WIDE * letters * 0.6
        columns = area.columns(1 + two, letters)
        if two:
            room = min(room, -(-len(self.lines) // 2))
        shown, left = self.lines, len(self.lines) - room * len(columns)
        if left > 0:
            shown = shown[: -left - 1]
        for number, column in enumerate(columns):
            part = shown[number * room : (number + 1) * room]
            yield from _column(stage, column, part, letters)
        if left > 0:
            said = trn("… {n} more line", "… {n} more lines", left + 1)
            last = columns[-1]
            at = np.array([[last.x + letters, last.y + (room - 0.5) * pitch]], np.float32)
            yield Texts(at, (said,), stage.palette.muted, letters)


def _letters(stage: Stage) -> float:
    return max(stage.text(13), _LEAST)


def _column(stage: Stage, area: Rect, lines: Sequence[DiffLine], letters: float) -> Iterator[Mark]:
    palette, pitch = stage.palette, letters * _LINE
    texts = _narrowed([one.text for one in lines], area.width - letters * 2, letters)
    inks = {"-": palette.bad, "+": palette.good, " ": palette.muted}
    for sign in inks:
        rows = [n for n, one in enumerate(lines) if one.sign == sign]
        if not rows:
            continue
        top = area.y + pitch * np.array(rows)
        if sign != " ":
            full = np.full_like(top, area.width), np.full_like(top, pitch)
            rects = np.stack([np.full_like(top, area.x), top, *full], axis=1).astype(np.float32)
            yield Boxes(rects, palette.soft(inks[sign], 0.82))
        middle = top + pitch / 2
        for x, words in (
            (area.x + letters * 0.4, tuple(sign for _ in rows)),
            (area.x + letters * 1.6, tuple(_cut(texts[n], area, letters) for n in rows)),
        ):
            at = np.stack([np.full_like(middle, x), middle], axis=1).astype(np.float32)
            ink = palette.muted if sign == " " else palette.ink
            yield Texts(at, words, ink, letters, mono=True)


def _narrowed(texts: Sequence[str], room: float, letters: float) -> list[str]:
    """The lines, all of them half as far from the left where not all fit."""
    if all(text_width(text, letters, mono=True) <= room for text in texts):
        return list(texts)
    bare = [text.lstrip(" ") for text in texts]
    return [" " * ((len(t) - len(b)) // 2) + b for t, b in zip(texts, bare, strict=True)]


def _cut(text: str, area: Rect, letters: float) -> str:
    """As much of a line as fits; of a statement its end, too, where it often differs."""
    room = area.width - letters * 2
    if text_width(text, letters, mono=True) <= room or not text.endswith(";"):
        return elide(text, room, letters, mono=True)
    tail = text[-_TAIL:]
    wide = text_width(tail, letters, mono=True)
    return elide(text[:-_TAIL], room - wide, letters, mono=True) + tail
