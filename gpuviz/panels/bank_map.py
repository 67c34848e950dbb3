"""Shared memory as its banks: lanes at the top, one port a bank, the words of each bank below it.

Only rows that hold a wanted word are shown. A wavefront lights its lanes, bands and ports; a word
that goes to several lanes at once leaves its bank in one arrow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import at
from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Curves, Lines, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import mix
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import bands, lane_boxes, lane_row, partly
from gpuviz.memory.bank_request import BankRequest, Deliveries
from gpuviz.panels.panel import Need, Panel
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_NUMBER = 12.0  # least size of a lane's number in its word


@dataclass(frozen=True, eq=False)
class BankMap(Panel):
    """A request to shared memory while wavefronts go by."""

    share: ClassVar[float] = 1.0
    request: BankRequest  # what is asked for
    sent: float  # how much of it has gone out, 0 to 1
    served: float  # wavefronts that are over, the fraction being the one under way
    # The request whose rows of words are shown, and told of by their hover texts; its own.
    whole: BankRequest | None = None
    # (R * B,) 0 to 1, which words of these rows hold data yet; by default those asked for.
    filled: F64 | None = None

    def need(self, stage: Stage, width: float) -> Need:
        """Lanes, ports and a few rows of words."""
        least = 9 * stage.text(14)
        return Need(least, least, self.request.brought.banks * 8.0)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Bands, lanes, groups, ports, words.

        The bank that is asked for most is not pointed out while the stage asks.
        """
        map_ = _placed(self, stage, area)
        request, shown = self.request, self.whole or self.request
        lanes_now = np.isin(np.arange(LANES), request.brought.lane[map_.going])
        worst = request.worst.bank if request.worst and self.sent and not stage.asks else -1
        yield from map_.bands()
        yield from lane_row(stage, map_.lanes, request.active, lanes_now, lane_tip(request))
        yield from map_.groups(lanes_now)
        yield from map_.numbered_ports(worst)
        empty = mix(stage.palette.cell, stage.palette.ground, 0.6)
        asked = np.isin(shown.brought.shown, shown.words).astype(np.float64)
        filled = asked if self.filled is None else self.filled
        fill, radius = mix(empty, stage.palette.cell, filled), 2 if map_.cells[0, 3] >= 8 else 0
        yield Boxes(map_.cells, fill, tip=word_tip(shown), radius=radius)
        yield from map_.wanted()
        yield from map_.row_names()


@dataclass(frozen=True, eq=False)
class _Map:
    """Where everything goes: (32, 4) `lanes`, (B, 4) `ports`, (R * B, 4) `cells` of (R,) `rows`.

    `names` is the x at which the names of rows end.
    """

    panel: BankMap
    stage: Stage
    rows: I64
    lanes: F32
    ports: F32
    cells: F32
    names: float

    @property
    def what(self) -> Deliveries:
        """What is brought by which wavefront."""
        return self.panel.request.brought

    @cached_property
    def progress(self) -> F64:
        """(D,) how far each word has come."""
        return np.clip(self.panel.served - self.what.turn, 0.0, 1.0)

    @cached_property
    def going(self) -> Bool:
        """(D,) words on their way."""
        return (self.progress > 0) & (self.progress < 1)

    @cached_property
    def curves(self) -> F32:
        """(D, 4, 2) from the middle of a bank's port up to its lane."""
        lane, port = self.lanes[self.what.lane], self.ports[self.what.bank]
        start = np.stack([port[:, 0] + port[:, 2] / 2, port[:, 1] - 2], axis=1)
        end = np.stack([lane[:, 0] + lane[:, 2] / 2, lane[:, 1] + lane[:, 3] + 6], axis=1)
        return bands(start.astype(np.float32), end.astype(np.float32))

    @cached_property
    def cell(self) -> I64:
        """(D,) cell of each word, -1 where its row is not shown."""
        row, bank = np.divmod(self.what.word, self.what.banks)
        place = np.minimum(np.searchsorted(self.rows, row), len(self.rows) - 1)
        return np.where(self.rows[place] == row, place * self.what.banks + bank, -1)

    def bands(self) -> Iterator[Mark]:
        """Hardly there, thin once asked for; full while they bring something; quiet afterwards."""
        palette, scale, store = self.stage.palette, self.stage.scale, self.panel.request.is_store
        colors, going, done = palette.lanes[self.what.lane], self.going, self.progress >= 1
        waits, down = ~going & ~done, self.curves[:, ::-1]
        asked = np.full(int(waits.sum()), float(smooth(self.panel.sent)))
        came = smooth(np.minimum(self.progress[going] * 2, 1.0))
        lane, thin = self.what.lane, 1.2 * scale
        soft, softer = palette.soft(colors[done], 0.45), palette.soft(colors[waits], 0.6)
        yield Curves(self.curves[done], soft, thin, lanes=lane[done])
        yield Curves(partly(down[waits], asked), softer, thin, lanes=lane[waits])
        way = down if store else self.curves
        yield Curves(partly(way[going], came), colors[going], 2.5 * scale, lanes=lane[going])
        several = going & self.what.shared
        if several.any() and not store:
            yield self._stems(several)

    def _stems(self, several: Bool) -> Mark:
        """One thick arrow out of each bank whose word goes to several lanes at once."""
        x, y = self.curves[several, 0].T
        high = y - (y - self.curves[several, 3, 1]) * 0.34
        points = np.unique(np.stack([x, y, x, high], axis=1), axis=0).reshape(-1, 2, 2)
        return Lines(
            points.astype(np.float32), self.stage.palette.ink, 3.5 * self.stage.scale, arrow=True
        )

    def groups(self, now: Bool) -> Iterator[Mark]:
        """A bar under the lanes of each group that is served by itself; none for a single group."""
        groups, palette = self.panel.request.groups, self.stage.palette
        if len(groups) < 2:
            return
        left = np.array([self.lanes[g.min(), 0] for g in groups])
        right = np.array([self.lanes[g.max(), 0] + self.lanes[g.max(), 2] for g in groups])
        y = np.full_like(left, self.lanes[0, 1] + self.lanes[0, 3] + 3)
        ends = np.stack([left, y, right, y], axis=1).reshape(-1, 2, 2).astype(np.float32)
        color = [palette.accent if now[g].any() else palette.faint for g in groups]
        yield Lines(ends, np.stack(color), 2.5)

    def numbered_ports(self, worst: int) -> Iterator[Mark]:
        """Numbered banks: those at work are lit, the one that is asked for most is outlined."""
        palette, ports = self.stage.palette, self.ports
        busy = np.isin(np.arange(self.what.banks), self.what.bank[self.going])[:, None]
        fill = np.where(busy, palette.accent_soft, palette.panel).astype(np.uint8)
        edge = np.where(busy, palette.accent, palette.border).astype(np.uint8)
        ink = np.where(busy, palette.ink, palette.muted).astype(np.uint8)
        size = min(self.stage.text(13), max(float(int(ports[0, 3] * 0.75)), _NUMBER))
        every = 1 if text_width("30", size) + 2 <= ports[0, 2] else 4
        if worst >= 0:
            edge[worst] = palette.warn
        yield Boxes(ports, fill, stroke=edge, radius=3)
        if worst >= 0:
            outlined = ports[worst : worst + 1]
            yield Boxes(outlined, stroke=palette.warn, stroke_width=2.5, radius=3)
        numbers = tuple(map(str, range(0, self.what.banks, every)))
        yield Texts(centers(ports)[::every], numbers, ink[::every], size, "center")

    def wanted(self) -> Iterator[Mark]:
        """Words in the colours of the lanes that want them, in stripes where these are several."""
        palette = self.stage.palette
        rects, owner = self._stripes()
        if not len(owner):
            return
        come = smooth(np.minimum(self.progress[owner] * 2, 1.0))
        color = palette.state(palette.lanes[self.what.lane[owner]], come)
        fill = mix(palette.cell, color, float(smooth(self.panel.sent)))
        yield Boxes(rects, fill, lanes=self.what.lane[owner])
        here, tall = self.cell[self.going], float(self.cells[0, 3])
        if tall >= 4:
            around = np.array([-1.5, -1.5, 3, 3], np.float32) * np.float32(tall >= 8)
            outline = self.cells[np.unique(here[here >= 0])] + around
            yield Boxes(outline, stroke=palette.outline, stroke_width=1.8, radius=3)
        yield from self._numbers(fill, owner)

    def _stripes(self) -> tuple[F32, I64]:
        """A rectangle for every lane in each word it wants, and the delivery each belongs to."""
        order = np.lexsort((self.what.lane, self.cell))
        order = order[self.cell[order] >= 0]
        _, first, count = np.unique(self.cell[order], return_index=True, return_counts=True)
        place, box = np.arange(len(order)) - np.repeat(first, count), self.cells[self.cell[order]]
        wide = box[:, 2] / np.repeat(count, count)
        rects = np.stack([box[:, 0] + wide * place, box[:, 1], wide, box[:, 3]], axis=1)
        return rects.astype(np.float32), order

    def _numbers(self, fill: Rgba, owner: I64) -> Iterator[Mark]:
        """Lane numbers in the words that one lane wants, where they fit."""
        cell, cells = self.cell[owner], self.cells
        alone = np.bincount(cell, minlength=len(cells))[cell] == 1
        size = float(int(min(self.stage.text(13), cells[0, 3] * 0.9, cells[0, 2] * 0.75)))
        if size >= _NUMBER and alone.any():
            words = tuple(str(lane) for lane in self.what.lane[owner[alone]])
            ink = self.stage.palette.ink_on(fill[alone])
            yield Texts(centers(cells[cell[alone]]), words, ink, size, "center", bold=True)

    def row_names(self) -> Iterator[Mark]:
        """What the rows are: lanes, banks, and the first word of each row where there is room."""
        size, cells, banks = self.stage.text(13), self.cells, self.what.banks
        pitch = float(cells[0, 3]) + 2
        every = next(k for k in (1, 2, 4, 8, 16, 32, 64) if k * pitch >= size * 1.05 or k == 64)
        named = np.concatenate([self.lanes[:1], self.ports[:1], cells[:: banks * every]])
        points = np.concatenate([at(self.names, float(b[1] + b[3] / 2)) for b in named])
        words = (tr("lane"), tr("bank"), *map(str, (self.rows[::every] * banks).tolist()))
        yield Texts(points, words, self.stage.palette.muted, size, "right")


def _placed(panel: BankMap, stage: Stage, area: Rect) -> _Map:
    """Lanes and ports over the words; what height the words leave is between lanes and ports."""
    banks, rows = panel.request.brought.banks, (panel.whole or panel.request).brought.rows
    scale, size = stage.scale, stage.text(13)
    words = (tr("lane"), tr("bank"), str(int(rows.max(initial=0)) * banks))
    names, inner = area.beside(max(text_width(t, size) for t in words) + size * 0.6)
    row, rest = inner.above(min(26 * scale, inner.height * 0.12))
    port, count = min(20 * scale, inner.height * 0.11), max(len(rows), 1)
    tall = min((rest.height - 0.14 * inner.height - port - 6) / count, 24 * scale)
    ports_y = rest.bottom - tall * count - port - 4
    gap = 2.0 if tall >= 8 else 1.0 if tall >= 4 else 0.0
    across = 3.0 if inner.width > banks * 12 else 1.0
    ports = grid(Rect(inner.x, ports_y, inner.width, port), 1, banks, across)
    low = Rect(inner.x, ports_y + port + 4, inner.width, tall * count - gap)
    x, y = np.tile(ports, (count, 1)), np.repeat(grid(low, count, 1, gap), banks, axis=0)
    cells = np.stack([x[:, 0], y[:, 1], x[:, 2], y[:, 3]], axis=1).astype(np.float32)
    return _Map(panel, stage, rows, lane_boxes(row), ports, cells, names.right - size * 0.6)


def lanes_named(lanes: I64) -> str:
    """`lane 3`, `lanes 0 to 7`, `lanes 0, 8, 16, 24`."""
    if len(lanes) == 1:
        return tr("lane {lane}", lane=int(lanes[0]))
    if len(lanes) > 2 and int(lanes[-1] - lanes[0]) == len(lanes) - 1:
        return tr("lanes {first} to {last}", first=int(lanes[0]), last=int(lanes[-1]))
    return tr("lanes {lanes}", lanes=", ".join(map(str, lanes.tolist())))


def lane_tip(request: BankRequest) -> Tip:
    """Whose it is, what it asks for, and the wavefronts that serve it."""

    def tip(lane: int) -> str:
        what = {"lane": lane, "thread": request.warp * LANES + lane, "block": request.block}
        name = tr("lane {lane} · thread {thread} of block {block}", **what)
        if not request.active[lane]:
            return f"{name}\n" + tr("takes no part")
        mine, first = request.brought.lane == lane, int(request.address[lane])
        what = {"first": first, "last": first + request.instruction.width - 1}
        where = tr("bytes {first} to {last} of shared memory", **what)
        banks = ", ".join(map(str, request.brought.bank[mine].tolist()))
        turns = ", ".join(str(t + 1) for t in np.unique(request.brought.turn[mine]).tolist())
        served = tr("bank {banks} · wavefront {turns}", banks=banks, turns=turns)
        return f"{name}\n{where}\n{served}"

    return tip


def word_tip(request: BankRequest) -> Tip:
    """Where a word is, and the lanes that want it; words are numbered row by row."""
    brought = request.brought

    def tip(cell: int) -> str:
        row, bank = divmod(cell, brought.banks)
        word = int(brought.rows[row]) * brought.banks + bank
        what = {"word": word, "first": 4 * word, "last": 4 * word + 3, "bank": bank}
        name = tr("word {word} · bytes {first} to {last} · bank {bank}", **what)
        lanes = np.unique(brought.lane[brought.word == word])
        if not len(lanes):
            return f"{name}\n" + tr("no lane of this request asks for it")
        return f"{name}\n" + tr("for {lanes}", lanes=lanes_named(lanes))

    return tip
