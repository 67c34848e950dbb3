"""Boxes with titles; calls and what each returned; variables, their values, a check of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, Bool, Rgba
from gpuviz.draw.heading import at, label
from gpuviz.draw.layout import Rect, elide, first_fitting, grid
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import mix
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes
from gpuviz.panels import layout
from gpuviz.panels.panel import Ink, Need, Panel, color

_CALL, _SAID, _LEAST_HIGH = 1.5, 1.35, 1.2  # letters high: a call, its answer, either at least
_EDGE = 1.4  # letters that the edge around a call is high at least


@dataclass(frozen=True)
class Call:
    """A call as code, in wordings from the longest, and what it returned ("": nobody asked)."""

    forms: tuple[str, ...]
    said: str = ""
    ink: Ink = "muted"


@dataclass(frozen=True, eq=False)
class Calls(Panel):
    """The first `made` of the calls, the one under way marked (-1: none); below each what it
    returned, which is kept back while a class is asked.
    """

    calls: tuple[Call, ...]
    made: int
    now: int = -1

    def need(self, stage: Stage, width: float) -> Need:
        """Two lines each; it can do with one."""
        size, count = stage.text(14), len(self.calls)
        return Need((_CALL + _SAID) * size * count, _LEAST_HIGH * size * count, 14 * size)

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """Where a `call` ends: what it starts goes on from there."""
        if name != "call":
            return None
        size = stage.text(14)
        rows = [row.above(size * 1.6)[0] for row in area.rows(len(self.calls))]
        boxes = [Rect(row.right - size * 2.6, row.y, size * 2.6, size * 1.6) for row in rows]
        return np.array(boxes, np.float32)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Code, and below it what came back."""
        size = stage.text(14)
        two = area.height >= 2 * _LEAST_HIGH * size * len(self.calls)
        rows = area.rows(len(self.calls))[: self.made]
        for number, (call, row) in enumerate(zip(self.calls, rows, strict=False)):
            code, below = row, row
            if two:
                code, below = row.above(row.height * _CALL / (_CALL + _SAID))
            room = 0.0 if two else text_width(call.said, size, True) + size
            yield from self._code(stage, call, code, code.width - room, number == self.now)
            if call.said and not stage.asks:
                ink = color(stage, call.ink)
                if two:
                    x, y, said = below.x + size * 1.2, below.center[1], f"→ {call.said}"
                    yield label(x, y, said, ink, size, bold=True)
                else:
                    y = row.center[1]
                    yield label(row.right, y, call.said, ink, size, bold=True, align="right")

    def _code(self, stage: Stage, call: Call, row: Rect, room: float, now: bool) -> Iterator[Mark]:
        """The call, in the longest wording that has room."""
        size, palette = stage.text(14), stage.palette
        if now:
            edge = row.inset(-size * 0.3, min(1.0, (row.height - size * _EDGE) / 2))
            yield Boxes(edge.array(), stroke=palette.outline, stroke_width=1.5, radius=4)
        fits = (form for form in call.forms if text_width(form, size, mono=True) <= room)
        said = next(fits, elide(call.forms[-1], room, size, mono=True))
        yield Texts(at(row.x, row.center[1]), (said,), palette.ink, size, mono=True)


@dataclass(frozen=True, eq=False)
class LaneStrip(Panel):
    """(32,) lanes in a row: those `on` in their colours, the others hatched."""

    on: Bool

    def need(self, stage: Stage, width: float) -> Need:
        """A low row."""
        return Need(22 * stage.scale, 8)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The lanes; all alike while a class is asked."""
        palette, high = stage.palette, min(area.height, 22 * stage.scale)
        rects = lane_boxes(area.above(high)[0])
        if stage.asks:
            yield Boxes(rects, palette.cell, radius=2)
            return
        yield Boxes(rects[self.on], palette.lanes[self.on], radius=2)
        yield Boxes(rects[~self.on], palette.waste_ground, hatch=palette.waste, radius=2)


_SIDE, _BOX_EDGE, _TITLE, _WIDE = 0.6, 0.45, 1.35, 16.0  # letters


@dataclass(frozen=True, eq=False)
class Box(Panel):
    """What is in the box, below its title (None: nothing yet); at most `most` letters high."""

    title: str
    body: layout.Node | None
    most: float

    def need(self, stage: Stage, width: float) -> Need:
        """As high as it may be; it can do with the title and what the body needs."""
        size = stage.text(14)
        least, wide = (2 * _BOX_EDGE + _TITLE) * size, _WIDE * size
        if self.body is not None:
            inner = layout.need(self.body, stage, width - 2 * _SIDE * size)
            least, wide = least + inner.least, max(wide, inner.width + 2 * _SIDE * size)
        return Need(max(self.most * size, least), least, wide)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Box, title, and the panels inside."""
        size, palette = stage.text(14), stage.palette
        box, inner = self._inside(stage, area)
        yield Boxes(box.array(), palette.panel, stroke=palette.border, radius=6)
        yield label(inner.x, inner.y + size * 0.6, self.title, palette.ink, size, bold=True)
        for panel, piece in self._placed(stage, area):
            if not (panel.answers and stage.asks):
                yield from panel.draw(stage, piece)

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """Those of the panels inside."""
        found = (panel.spots(stage, piece, name) for panel, piece in self._placed(stage, area))
        return next((rects for rects in found if rects is not None), None)

    def _inside(self, stage: Stage, area: Rect) -> tuple[Rect, Rect]:
        size = stage.text(14)
        box = area._replace(height=min(area.height, self.most * size))
        return box, box.inset(size * _SIDE, size * _BOX_EDGE)

    def _placed(self, stage: Stage, area: Rect) -> Iterator[tuple[Panel, Rect]]:
        if self.body is None:
            return
        inner = self._inside(stage, area)[1].above(stage.text(14) * _TITLE)[1]
        yield from layout.place(self.body, stage, inner)


_CAPTION, _TALL, _LOW = 1.4, 2.8, 1.35  # letters high


@dataclass(frozen=True, eq=False)
class Variables(Panel):
    """Boxes with names and values; the values are kept back while a class is asked.

    Attributes
    ----------
    captions : where they lie, wordings from the longest
    names, values : of each; a value not known yet is ""
    ink : the colour of what holds something, which `filled` (0 to 1) of them do
    spot : what it is called by what moves to it and from it
    below : the caption is below the boxes, where something comes to them from above
    tip : hover text of each
    """

    captions: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple[str, ...]
    tips: tuple[str, ...]
    ink: Ink = "load"
    filled: float = 1.0
    spot: str = ""
    below: bool = False

    def need(self, stage: Stage, width: float) -> Need:
        """A caption and a row of boxes; the boxes may be low."""
        size = stage.text(14)
        return Need((_CAPTION + _TALL) * size, (_CAPTION + _LOW) * size, 12 * size)

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """The boxes."""
        return self._boxes(stage, area) if name and name == self.spot else None

    def _boxes(self, stage: Stage, area: Rect) -> F32:
        size = stage.text(14)
        room = Rect(area.x, area.y, area.width, area.height - size * _CAPTION)
        if not self.below:
            room = area.above(size * _CAPTION)[1]
        row = room.above(min(room.height - 1, size * _TALL))[0]
        return grid(row, 1, len(self.names), 4.0)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The caption, and the boxes from the left."""
        palette, size, boxes = stage.palette, stage.text(14), self._boxes(stage, area)
        caption = first_fitting(self.captions, area.width, size)
        top = float(boxes[0, 1] + boxes[0, 3]) + size * 0.2 if self.below else area.y
        yield label(area.x, top + size * 0.65, caption, palette.muted, size)
        full = 0.0 if stage.asks else self.filled
        done = np.clip(full * len(boxes) - np.arange(len(boxes)), 0.0, 1.0)
        strong = np.tile(palette.soft(color(stage, self.ink), 0.45), (len(boxes), 1))
        fill = mix(np.tile(palette.cell, (len(boxes), 1)), strong, done)
        yield Boxes(boxes, fill, stroke=palette.border, radius=4, tip=lambda i: self.tips[i])
        ink = palette.ink_on(fill)
        left = np.stack([boxes[:, 0] + size * 0.5, boxes[:, 1] + boxes[:, 3] / 2], axis=1)
        right = np.stack(
            [boxes[:, 0] + boxes[:, 2] - size * 0.5, boxes[:, 1] + boxes[:, 3] / 2], axis=1
        )
        yield Texts(left.astype(np.float32), self.names, ink, size)
        words = tuple("" if stage.asks else v for v in self.values)
        room = float(boxes[0, 2]) - max(text_width(n, size) for n in self.names) - size * 1.4
        if max(text_width(word, size, True) for word in words) <= room:
            yield Texts(right.astype(np.float32), words, ink, size, "right", bold=True)


@dataclass(frozen=True, eq=False)
class Verdict(Panel):
    """A check in words, and what came of it: ticked, or crossed; kept back while a class is asked.

    `texts` are wordings from the longest; `passed` None is no verdict yet; `ink` says how far it is
    to be believed.
    """

    texts: tuple[str, ...]
    passed: bool | None
    ink: Ink
    bold: bool = True

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        return Need(stage.text(14) * 2.0, stage.text(14) * 1.6)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The sign, then the words."""
        size, y = stage.text(14), area.center[1]
        known = self.passed is not None and not stage.asks
        ink = color(stage, self.ink) if known else stage.palette.muted
        if known:
            yield sign(area.x + size * 0.6, y, size, bool(self.passed), ink)
        x = area.x + size * 1.6
        text = first_fitting(self.texts, area.right - x, size, self.bold) or self.texts[-1]
        if not stage.asks:
            yield label(x, y, text, ink, size, bold=self.bold)


def sign(x: float, y: float, size: float, passed: bool, ink: Rgba) -> Lines:
    """A tick or a cross around a point."""
    h = size * 0.36
    tick = [[[x - h, y], [x - h * 0.3, y + h * 0.8]], [[x - h * 0.3, y + h * 0.8], [x + h, y - h]]]
    cross = [[[x - h, y - h], [x + h, y + h]], [[x - h, y + h], [x + h, y - h]]]
    return Lines(np.array(tick if passed else cross, np.float32), ink, max(size * 0.16, 2.0))
