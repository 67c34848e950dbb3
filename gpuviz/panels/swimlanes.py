"""Who works when: a row for each worker, bars along time, and bars across all rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.axis import Scales
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

_ROW = 1.75  # of a comfortable row, in letter sizes
_GAP = 2.0


@dataclass(frozen=True, eq=False)
class LaneBar:
    """What a row does from `start` to `end`; row -1 stands for all rows together.

    `names` are wordings, longest first; a `marked` bar is hatched once it begins.
    """

    row: int
    start: float
    end: float
    names: tuple[str, ...]
    color: Rgba
    marked: bool = False


def height_of(stage: Stage, rows: int, tall: float = 1.0) -> float:
    """A comfortable height, or so many times as much; it can do with much less."""
    return stage.text(14) * _ROW * tall * rows


def swimlanes(
    stage: Stage,
    area: Rect,
    names: Sequence[str],
    bars: Sequence[LaneBar],
    t: float,
    tip: Tip,
    tall: float = 1.0,
    until: float = 0.0,
) -> tuple[Mark, ...]:
    """The rows at time t: bars over, under way, and to come; up to a time or the last bar's end."""
    size, rows = stage.text(14), len(names)
    high = min(area.height / rows, size * _ROW * tall)
    named = high >= size or bool(stage.scales)  # side by side both are, or the scales would differ
    side = max(text_width(name, size) for name in names) + size * 0.7 if named else 0.0
    line = Rect(area.x + side, area.y, area.width - side, high * rows)
    end = max(bars[-1].end, until)
    boxes = _boxes(line, bars, high, end)
    palette = stage.palette
    fill = np.stack([_fill(stage, bar, t) for bar in bars])
    marked = np.array([bar.marked and t >= bar.start for bar in bars], bool)
    now = np.array([bar.start <= t < bar.end for bar in bars], bool)
    x = line.x + line.width * min(t / end, 1.0)
    at = np.array([[[x, line.y], [x, line.bottom]]], np.float32)
    return (
        *(_names(stage, area, names, high) if named else ()),
        Boxes(boxes, fill, radius=3.0 if high > 8 else 0.0, tip=tip),
        Boxes(boxes[marked], hatch=palette.bad, stroke=palette.bad, stroke_width=1.5),
        Boxes(boxes[now], stroke=palette.outline, stroke_width=2.0, radius=3),
        *_words(stage, boxes, bars, fill, marked),
        Lines(at, palette.outline, 1.5),
    )


def _boxes(line: Rect, bars: Sequence[LaneBar], high: float, end: float) -> F32:
    """(B, 4) where the bars are, the right edge being the time `end`."""
    rows = round(line.height / high)
    edge = min(1.0, high * 0.25)  # low rows must not vanish between their edges
    boxes = []
    for bar in bars:
        left, right = (line.x + line.width * t / end for t in (bar.start, bar.end))
        gap = min(_GAP, (right - left) * 0.25)
        top, tall = (line.y, high * rows) if bar.row < 0 else (line.y + bar.row * high, high)
        boxes.append((left, top + edge, right - left - gap, tall - 2 * edge))
    return np.array(boxes, np.float32)


def _fill(stage: Stage, bar: LaneBar, t: float) -> Rgba:
    """Done is quiet, now full, to come hardly there."""
    palette = stage.palette
    if bar.start <= t < bar.end:
        return bar.color
    return palette.soft(bar.color, 0.45) if t >= bar.end else palette.todo(bar.color)


def _names(stage: Stage, area: Rect, names: Sequence[str], high: float) -> tuple[Mark, ...]:
    """The rows' names, smaller where rows are as high as letters; of lower rows those with room."""
    size = min(stage.text(14), max(high * 0.9, stage.text(13)))
    made, last = list[Mark](), -np.inf
    for i, name in enumerate(names):
        y = area.y + (i + 0.5) * high
        if name and (high >= size or y >= last + size):
            made.append(label(area.x, y, name, stage.palette.muted, size))
            last = y
    return tuple(made)


def _words(
    stage: Stage,
    boxes: F32,
    bars: Sequence[LaneBar],
    fill: Rgba,
    marked: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> tuple[Mark, ...]:
    """What bars are called, where there is room; on plain ground where they are hatched."""
    size = stage.text(14)
    if min(box[3] for box in boxes.tolist()) < size:
        return ()
    words = [
        first_fitting(bar.names, float(box[2]) - 4, size, True)
        for bar, box in zip(bars, boxes, strict=True)
    ]
    shown = np.array([bool(word) for word in words], bool)
    if not shown.any():
        return ()
    wide = np.array([text_width(word, size, True) + size * 0.4 for word in words], np.float32)
    middle = centers(boxes)
    plates = np.stack(
        [middle[:, 0] - wide / 2, middle[:, 1] - size * 0.6, wide, np.full_like(wide, size * 1.2)],
        axis=1,
    )
    both = shown & marked
    ink = stage.palette.ink_on(fill)
    return (
        Boxes(plates[both], fill[both], radius=3),
        Texts(middle[shown], tuple(w for w in words if w), ink[shown], size, "center", bold=True),
    )


_CAPTION = 1.5  # letters
_FEW, _LOW = 5.0, 0.45  # letters of rows that need not be narrow; how narrow many may be


@dataclass(frozen=True, eq=False)
class Bar:
    """What a row does from `start` to `end`; row -1 stands for all rows together.

    `names` are wordings, longest first. A `wrong` bar is hatched once it begins, unless a class is
    asked.
    """

    row: int
    start: float
    end: float
    names: tuple[str, ...]
    ink: Ink
    wrong: bool = False


@dataclass(frozen=True, eq=False)
class Swimlanes(Panel):
    """The rows at a time, in the unit of the bars; `title` are wordings of what they show.

    Rows may be `tall` times as high as is comfortable where there is room.
    """

    title: tuple[str, ...]
    names: tuple[str, ...]
    bars: tuple[Bar, ...]
    now: float
    tip: Tip
    tall: float = 1.0

    def need(self, stage: Stage, width: float) -> Need:
        """Comfortable rows; where there are many they may be narrower."""
        title, rows = stage.text(14) * _CAPTION, height_of(stage, len(self.names), self.tall)
        low = rows / self.tall
        least = min(low, max(stage.text(14) * _FEW, low * _LOW))
        return Need(title + rows, title + least)

    def scales(self) -> Scales:
        """How long all of it lasts, by what is shown."""
        return {self._lasts: self._end}

    @property
    def _lasts(self) -> str:
        return f"how long: {self.title[-1]}"

    @property
    def _end(self) -> float:
        return max(one.end for one in self.bars)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """What is shown, and the rows below it."""
        size = stage.text(14)
        head, rest = area.above(size * _CAPTION)
        said = first_fitting(self.title, area.width, size)
        yield label(head.x, head.y + size * 0.6, said, stage.palette.muted, size)
        bars = [
            LaneBar(
                one.row,
                one.start,
                one.end,
                one.names,
                color(stage, one.ink),
                one.wrong and not stage.asks,
            )
            for one in self.bars
        ]
        until = stage.most(self._lasts, self._end)
        yield from swimlanes(stage, rest, self.names, bars, self.now, self.tip, self.tall, until)
