"""The memory spaces as columns: threads at the top, the multiprocessor, device memory, facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpuviz.draw.bands import bands, partly
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide, first_fitting
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.language import tr
from gpuviz.panels.panel import Need, Panel
from gpuviz.trace import LANES

_GAP = 4.0  # between columns
_ROW = 1.3, 1.75  # least and most height of a row of words, in letters
_LANE, _WAY, _BOX = 26.0, 130.0, 84.0  # most heights at scale 1
_LOW = 18.0, 12.0, 20.0  # and least ones


@dataclass(frozen=True, eq=False)
class Space:
    """One space: what of it is on the chip and what in device memory, "" where nothing is.

    Its variables live `at_home` there, on the chip or not; the other place is a cache on the way.
    `facts` are what is said of it, `requests` what it is asked, and `cost` what one of them takes,
    a count and its unit; these two are kept back while a class is asked.
    """

    name: str
    chip: str
    device: str
    on_chip: bool
    facts: tuple[str, ...]
    requests: str
    cost: tuple[str, str]
    tip: str
    loads_only: bool = False
    seen: bool = True


@dataclass(frozen=True, eq=False)
class Spaces(Panel):
    """Columns of spaces, of which the warp uses number `now` (None: none any more).

    Attributes
    ----------
    who : what the lanes are
    facts : what the facts are about
    share : how far data has travelled between the lanes and the space in use, 0 to 1
    """

    who: str
    facts: tuple[str, ...]
    spaces: tuple[Space, ...]
    now: int | None
    travelled: float

    def need(self, stage: Stage, width: float) -> Need:
        """Lanes, the way to the boxes, two of these, and the rows of facts."""
        size, rows = stage.text(14), len(self.facts) + 3
        least, most = (
            (lane + way + 2 * box) * stage.scale + size * (2.5 + rows * row)
            for (lane, way, box), row in zip((_LOW, (_LANE, _WAY, _BOX)), _ROW, strict=True)
        )
        return Need(most, least, size * 6 * len(self.spaces))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Column by column, then what travels, the lanes, and the names of the rows."""
        laid = _Laid(self, stage, area)
        for number, space in enumerate(self.spaces):
            yield from laid.column(number, space)
            if space.seen:
                yield from laid.told(number, space)
        if self.now is not None:
            yield laid.travel(self.spaces[self.now])
        yield from lane_row(
            stage, laid.lanes, np.ones(LANES, bool), np.full(LANES, self.now is not None)
        )
        yield from laid.names()


class _Tiers(NamedTuple):
    """Heights of the lanes, the way below them, and a tier."""

    lane: float
    way: float
    box: float


@dataclass(frozen=True, eq=False)
class _Laid:
    """Where everything goes."""

    panel: Spaces
    stage: Stage
    area: Rect

    @property
    def size(self) -> float:
        """Letters."""
        return self.stage.text(14)

    @property
    def rows(self) -> tuple[str, ...]:
        """What the rows are about."""
        return *self.panel.facts, tr("requests"), tr("each")

    @cached_property
    def inner(self) -> Rect:
        """The columns, right of the names."""
        names = (*self.rows, self.panel.who, tr("on chip"), tr("device"))
        return self.area.beside(max(text_width(n, self.size) for n in names) + self.size * 0.7)[1]

    @cached_property
    def whole(self) -> bool:
        """Whether a cost and its unit have room in one row."""
        slot = self.inner.columns(len(self.panel.spaces), _GAP)[0].width + self.size * 0.4
        costs = (" ".join(space.cost) for space in self.panel.spaces)
        return all(text_width(cost, self.size, True) <= slot for cost in costs)

    @cached_property
    def row(self) -> float:
        """The height of a row of words."""
        low, most = (self.size * r for r in _ROW)
        return min(max(self.area.height * 0.055, low), most)

    @cached_property
    def tiers(self) -> _Tiers:
        """What the rows leave, shared out."""
        rows = self.row * (len(self.rows) + (not self.whole))
        free, scale = self.area.height - rows - self.size * 2.5, self.stage.scale
        lane = min(_LANE * scale, max(free * 0.2, _LOW[0]))
        way = min(max((free - lane) * 0.36, _LOW[1]), _WAY * scale)
        return _Tiers(lane, way, min((free - lane - way - _GAP) / 2, _BOX * scale))

    @cached_property
    def lanes(self) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        """(32, 4) boxes."""
        return lane_boxes(self.inner._replace(height=self.tiers.lane))

    @property
    def head(self) -> float:
        """The y of the names of the spaces."""
        return self.area.y + self.tiers.lane + self.tiers.way

    @cached_property
    def places(self) -> tuple[Rect, Rect]:
        """The multiprocessor, and device memory below it."""
        high = self.tiers.box
        chip = self.inner._replace(y=self.head + self.size * 1.5, height=high)
        return chip, chip._replace(y=chip.bottom + _GAP)

    @property
    def table(self) -> float:
        """The y at which the rows begin."""
        return self.places[1].bottom + self.size * 0.5

    def slot(self, number: int, place: int) -> Rect:
        """The box of a space on the chip (0) or in device memory (1)."""
        return self.places[place].columns(len(self.panel.spaces), _GAP)[number]

    def column(self, number: int, space: Space) -> Iterator[Mark]:
        """A space's name, and its boxes."""
        palette, slot = self.stage.palette, self.slot(number, 0)
        ink = palette.ink if space.seen else palette.faint
        name = first_fitting((space.name,), slot.width + 4, self.size, bold=True) or space.name
        y = self.head + self.size * 0.7
        yield label(slot.center[0], y, name, ink, self.size, True, "center")
        for place, text in enumerate((space.chip, space.device)):
            if text:
                home = (place == 0) == space.on_chip
                now = home and number == self.panel.now
                yield from self._box(self.slot(number, place), space, text, home, now)

    def _box(self, box: Rect, space: Space, text: str, home: bool, now: bool) -> Iterator[Mark]:
        """A full box where variables live, a hollow one for a cache on the way."""
        palette = self.stage.palette
        fill = palette.soft(palette.shared, 0.65) if home else palette.ground
        stroke = palette.shared if home and space.seen else palette.border
        fill = fill if space.seen else palette.todo(fill)
        yield Boxes(
            box.array(), fill, stroke=stroke, stroke_width=1.5, radius=4, tip=lambda i: space.tip
        )
        if now:
            grown = box.inset(-2).array()
            yield Boxes(grown, stroke=palette.outline, stroke_width=2.5, radius=5)
        ink = palette.muted if space.seen else palette.faint
        ink = palette.ink if space.seen and home else ink
        words = elide(text, box.width - 4, self.size, bold=home)
        yield label(*box.center, words, ink, self.size, home, "center")

    def told(self, number: int, space: Space) -> Iterator[Mark]:
        """Facts, requests, costs; the column in use on a ground of its own."""
        palette, slot = self.stage.palette, self.slot(number, 0)
        cost = (" ".join(space.cost),) if self.whole else space.cost
        cells = [cell for cell in (*space.facts, space.requests, *cost) if cell.strip()]
        if number == self.panel.now:
            rows = len(self.rows) + (not self.whole)
            back = Rect(slot.x - 2, self.table - 2, slot.width + 4, self.row * rows + 2)
            yield Boxes(back.array(), palette.accent_soft, radius=4)
        y = self.table + self.row * (np.arange(len(cells)) + 0.5)
        at = np.stack([np.full_like(y, slot.center[0]), y], axis=1).astype(np.float32)
        wide, plain = slot.width + self.size * 0.4, len(space.facts)
        words = tuple(elide(cell, wide, self.size, bold=True) for cell in cells)
        yield Texts(at[:plain], words[:plain], palette.ink, self.size, "center")
        if not self.stage.asks:
            yield Texts(at[plain:], words[plain:], palette.accent, self.size, "center", bold=True)

    def travel(self, space: Space) -> Mark:
        """Bands from the lanes to the space in use: down for a store, up for a load."""
        slot, lanes = self.slot(self.panel.spaces.index(space), 0), self.lanes
        start = np.stack([lanes[:, 0] + lanes[:, 2] / 2, lanes[:, 1] + lanes[:, 3] + 3], axis=1)
        x = np.linspace(slot.x + 6, slot.right - 6, LANES)
        end = np.stack([x, np.full(LANES, self.head - 1)], axis=1)
        curves = bands(start.astype(np.float32), end.astype(np.float32))
        way = curves[:, ::-1] if space.loads_only else curves
        share = np.full(LANES, float(smooth(min(self.panel.travelled * 2, 1.0))))
        return Curves(partly(way, share), self.stage.palette.lanes, 1.6 * self.stage.scale)

    def names(self) -> Iterator[Mark]:
        """What the lanes, the tiers and the rows are."""
        chip, device = (place.center[1] for place in self.places)
        named = [(self.panel.who, self.area.y + self.tiers.lane / 2)]
        named += [(tr("on chip"), chip), (tr("device"), device)]
        named += [(row, self.table + self.row * (i + 0.5)) for i, row in enumerate(self.rows)]
        for text, y in named:
            yield label(self.area.x, y, text, self.stage.palette.muted, self.size)
