"""Shared memory as its banks: lanes at the top, one port a bank, the words of each bank below it.

`Deliveries` says what is wanted and when it comes (no pixels), `place` where everything goes, and
`picture` how that looks while wavefronts go by. Only rows that hold a wanted word are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.draw.bands import bands, partly
from gpuviz.draw.color import mix
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import at
from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Curves, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.language import tr
from gpuviz.trace import LANES

Tip = Callable[[int], str]
_NUMBER = 12.0  # least size of a lane's number in its word


@dataclass(frozen=True, eq=False)
class Deliveries:
    """Words that lanes want of the banks: (D,) `lane`, `word`, and the wavefront that brings it.

    `banks` is how many banks there are, `turns` how many wavefronts.
    """

    lane: I64
    word: I64
    turn: I64
    banks: int
    turns: int

    @cached_property
    def bank(self) -> I64:
        """(D,) the bank each word lies in."""
        return np.asarray(self.word % self.banks, dtype=np.int64)

    @cached_property
    def rows(self) -> I64:
        """(R,) rows of words that hold a wanted one."""
        return np.unique(self.word // self.banks)

    @cached_property
    def shared(self) -> Bool:
        """(D,) whether more than one lane gets the word in that wavefront: a broadcast."""
        key = self.turn * (int(self.word.max(initial=0)) + 1) + self.word
        _, which, count = np.unique(key, return_inverse=True, return_counts=True)
        return np.asarray(count[which] > 1, dtype=bool)


@dataclass(frozen=True, eq=False)
class Placed:
    """Where everything goes: (32, 4) `lanes`, (B, 4) `ports`, (R * B, 4) `cells`, (R,) `row_y`.

    `rows` (R,) are those shown, `names` is the x at which their names end, and `curves` (D, 4, 2)
    run from port to lane.
    """

    what: Deliveries
    rows: I64
    lanes: F32
    ports: F32
    cells: F32
    row_y: F32
    names: float
    curves: F32

    def cell(self, word: I64) -> I64:
        """(N,) cells of words, -1 where their row is not shown."""
        rows, banks = self.rows, self.what.banks
        row = np.minimum(np.searchsorted(rows, word // banks), len(rows) - 1)
        found = row * banks + word % banks
        return np.asarray(np.where(rows[row] == word // banks, found, -1), dtype=np.int64)


def place(what: Deliveries, stage: Stage, area: Rect, rows: I64 | None = None) -> Placed:
    """Lanes and ports over the words; what height the words leave is between lanes and ports.

    `rows` are the rows of words to show, by default those that are wanted.
    """
    rows = what.rows if rows is None else rows
    scale, size = stage.scale, stage.text(13)
    last = str(int(rows.max(initial=0)) * what.banks)
    words = (tr("lane"), tr("bank"), last)
    room = max(text_width(t, size) for t in words) + size * 0.6
    names, inner = area.beside(room)
    row, rest = inner.above(min(26 * scale, inner.height * 0.12))
    port, count = min(20 * scale, inner.height * 0.11), max(len(rows), 1)
    least = 0.14 * inner.height
    tall = min((rest.height - least - port - 6) / count, 24 * scale)
    ports_y = rest.bottom - tall * count - port - 4
    gap = 2.0 if tall >= 8 else 1.0 if tall >= 4 else 0.0
    columns = 3.0 if inner.width > what.banks * 12 else 1.0
    lanes = lane_boxes(row)
    ports = grid(Rect(inner.x, ports_y, inner.width, port), 1, what.banks, columns)
    low = Rect(inner.x, ports_y + port + 4, inner.width, tall * count - gap)
    cells = _crossed(grid(low, 1, what.banks, columns), grid(low, count, 1, gap))
    row_y = cells[:: what.banks, 1] + cells[:: what.banks, 3] / np.float32(2)
    return Placed(
        what,
        rows,
        lanes,
        ports,
        cells,
        row_y,
        names.right - size * 0.6,
        _curves(what, lanes, ports),
    )


def _crossed(across: F32, down: F32) -> F32:
    """x and width of one row of cells with y and height of one column, row by row."""
    x, y = np.tile(across, (len(down), 1)), np.repeat(down, len(across), axis=0)
    return np.stack([x[:, 0], y[:, 1], x[:, 2], y[:, 3]], axis=1).astype(np.float32)


def _curves(what: Deliveries, lanes: F32, ports: F32) -> F32:
    """From the middle of a bank's port up to its lane."""
    lane, port = lanes[what.lane], ports[what.bank]
    start = np.stack([port[:, 0] + port[:, 2] / 2, port[:, 1] - 2], axis=1)
    end = np.stack([lane[:, 0] + lane[:, 2] / 2, lane[:, 1] + lane[:, 3] + 6], axis=1)
    return bands(start.astype(np.float32), end.astype(np.float32))


@dataclass(frozen=True, eq=False)
class Moment:
    """How far a request has come: `sent` 0 to 1, `served` wavefronts (the fraction under way).

    `filled` (R * B,) 0 to 1: which words hold data yet. `store`: data goes from lanes to banks.
    """

    sent: float
    served: float
    filled: F64
    store: bool = False


def picture(
    stage: Stage,
    placed: Placed,
    active: Bool,
    groups: tuple[I64, ...],
    now: Moment,
    worst: int = -1,
    lane_tip: Tip | None = None,
    word_tip: Tip | None = None,
) -> tuple[Mark, ...]:
    """The banks at one moment; `worst` is the bank that is asked for most, if lanes collide.

    It is not pointed out while the stage asks.
    """
    what = placed.what
    progress = np.clip(now.served - what.turn, 0.0, 1.0)
    going = (progress > 0) & (progress < 1)
    lanes_now = np.isin(np.arange(LANES), what.lane[going])
    return (
        *_bands(stage, placed, now, progress),
        *lane_row(stage, placed.lanes, active, lanes_now, lane_tip),
        *_groups(stage, placed, groups, lanes_now),
        *_ports(stage, placed, going, -1 if stage.asks else worst),
        *_cells(stage, placed, now.filled, word_tip),
        *_wanted(stage, placed, now.sent, progress, going),
        *_names(stage, placed),
    )


def _bands(stage: Stage, placed: Placed, now: Moment, progress: F64) -> tuple[Mark, ...]:
    """Hardly there, thin once asked for; full while they bring something; quiet afterwards."""
    what, palette = placed.what, stage.palette
    colors = palette.lanes[what.lane]
    going, done = (progress > 0) & (progress < 1), progress >= 1
    waits = ~going & ~done
    asked = float(smooth(now.sent))
    thin = 1.2 * stage.scale
    toward = placed.curves[:, ::-1]
    came = partly(toward if now.store else placed.curves, smooth(np.minimum(progress * 2, 1.0)))
    marks: list[Mark] = [
        Curves(placed.curves[done], palette.soft(colors[done], 0.45), thin),
        Curves(
            partly(toward[waits], np.full(int(waits.sum()), asked)),
            palette.soft(colors[waits], 0.6),
            thin,
        ),
        Curves(came[going], colors[going], 2.5 * stage.scale),
    ]
    return (*marks, *_stems(stage, placed, going & what.shared, now.store))


def _stems(stage: Stage, placed: Placed, shared: Bool, store: bool) -> tuple[Mark, ...]:
    """One thick arrow out of each bank whose word goes to several lanes at once."""
    if not shared.any() or store:
        return ()
    x, y = placed.curves[shared, 0].T
    high = y - (y - placed.curves[shared, 3, 1]) * 0.34
    points = np.unique(np.stack([x, y, x, high], axis=1), axis=0).reshape(-1, 2, 2)
    return (Lines(points.astype(np.float32), stage.palette.ink, 3.5 * stage.scale, arrow=True),)


def _groups(stage: Stage, placed: Placed, groups: tuple[I64, ...], now: Bool) -> tuple[Mark, ...]:
    """A bar under the lanes of each group that is served by itself; nothing for a single group."""
    if len(groups) < 2:
        return ()
    lanes, palette = placed.lanes, stage.palette
    left = np.array([lanes[g.min(), 0] for g in groups])
    right = np.array([lanes[g.max(), 0] + lanes[g.max(), 2] for g in groups])
    y = float(lanes[0, 1] + lanes[0, 3]) + 3
    ends = np.stack([left, np.full_like(left, y), right, np.full_like(left, y)], axis=1)
    color = [palette.accent if now[g].any() else palette.faint for g in groups]
    return (Lines(ends.reshape(-1, 2, 2).astype(np.float32), np.stack(color), 2.5),)


def _ports(stage: Stage, placed: Placed, going: Bool, worst: int) -> tuple[Mark, ...]:
    """Numbered banks: those at work are lit, the one that is asked for most is outlined."""
    what, palette, ports = placed.what, stage.palette, placed.ports
    busy = np.isin(np.arange(what.banks), what.bank[going])
    fill = np.where(busy[:, None], palette.accent_soft, palette.panel).astype(np.uint8)
    edge = np.where(busy[:, None], palette.accent, palette.border).astype(np.uint8)
    ink = np.where(busy[:, None], palette.ink, palette.muted).astype(np.uint8)
    size = min(stage.text(13), float(int(ports[0, 3] * 0.75)))
    every = 1 if text_width("30", size) + 2 <= ports[0, 2] else 4
    marks: list[Mark] = [Boxes(ports, fill, stroke=edge, radius=3)]
    if worst >= 0:
        edge[worst] = palette.warn
        marks.append(
            Boxes(ports[worst : worst + 1], stroke=palette.warn, stroke_width=2.5, radius=3)
        )
    numbers = tuple(map(str, range(0, what.banks, every)))
    return (*marks, Texts(centers(ports)[::every], numbers, ink[::every], size, "center"))


def _cells(stage: Stage, placed: Placed, filled: F64, tip: Tip | None) -> tuple[Mark, ...]:
    """Every word of the rows that are shown; darker as long as nothing was written there."""
    palette = stage.palette
    empty = mix(palette.cell, palette.ground, 0.6)
    return (
        Boxes(
            placed.cells,
            mix(empty, palette.cell, filled),
            tip=tip,
            radius=2 if placed.cells[0, 3] >= 8 else 0,
        ),
    )


def _wanted(
    stage: Stage, placed: Placed, sent: float, progress: F64, going: Bool
) -> tuple[Mark, ...]:
    """Words in the colours of the lanes that want them, in stripes where these are several."""
    what, palette = placed.what, stage.palette
    rects, owner = _stripes(placed)
    if not len(owner):
        return ()
    share = np.where(progress[owner] > 0, smooth(np.minimum(progress[owner] * 2, 1.0)), 0.0)
    color = palette.state(palette.lanes[what.lane[owner]], share)
    ground = mix(palette.cell, color, float(smooth(sent)))
    here = placed.cell(what.word[going])
    outline = placed.cells[np.unique(here[here >= 0])]
    tall = float(placed.cells[0, 3])
    marks: list[Mark] = [Boxes(rects, ground)]
    if tall >= 4:
        around = np.array([-1.5, -1.5, 3, 3], np.float32) if tall >= 8 else np.float32(0)
        marks.append(Boxes(outline + around, stroke=palette.outline, stroke_width=1.8, radius=3))
    return (*marks, *_numbers(stage, placed, ground, owner))


def _stripes(placed: Placed) -> tuple[F32, I64]:
    """A rectangle for every lane in each word it wants, and the delivery each belongs to."""
    what = placed.what
    cell = placed.cell(what.word)
    order = np.lexsort((what.lane, cell))
    order = order[cell[order] >= 0]
    _, first, count = np.unique(cell[order], return_index=True, return_counts=True)
    place_in = np.arange(len(order)) - np.repeat(first, count)
    many = np.repeat(count, count)
    box = placed.cells[cell[order]]
    wide = box[:, 2] / many
    rects = np.stack([box[:, 0] + wide * place_in, box[:, 1], wide, box[:, 3]], axis=1)
    return rects.astype(np.float32), order


def _numbers(stage: Stage, placed: Placed, fill: Rgba, owner: I64) -> tuple[Mark, ...]:
    """Lane numbers in the words that one lane wants, where they fit."""
    what, cells = placed.what, placed.cells
    cell = placed.cell(what.word)[owner]
    alone = np.bincount(cell, minlength=len(cells))[cell] == 1
    size = float(int(min(stage.text(13), cells[0, 3] * 0.9, cells[0, 2] * 0.75)))
    if size < _NUMBER or not alone.any():
        return ()
    words = tuple(str(lane) for lane in what.lane[owner[alone]])
    return (
        Texts(
            centers(cells[cell[alone]]),
            words,
            stage.palette.ink_on(fill[alone]),
            size,
            "center",
            bold=True,
        ),
    )


def _names(stage: Stage, placed: Placed) -> tuple[Mark, ...]:
    """What the rows are: lanes, banks, and the first word of each row where there is room."""
    size, muted = stage.text(13), stage.palette.muted
    rows = placed.rows * placed.what.banks
    pitch = float(placed.cells[0, 3]) + 2
    every = next(k for k in (1, 2, 4, 8, 16, 32, 64) if k * pitch >= size * 1.05 or k == 64)
    points = [at(placed.names, float(y)) for y in placed.row_y[::every]]
    words = tuple(str(w) for w in rows[::every])
    tops = [at(placed.names, float(b[0, 1] + b[0, 3] / 2)) for b in (placed.lanes, placed.ports)]
    all_words = (tr("lane"), tr("bank"), *words)
    return (Texts(np.concatenate(tops + points), all_words, muted, size, "right"),)
