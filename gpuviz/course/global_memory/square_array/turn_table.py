"""What each thread takes in each of its turns: a table that fills, threads from left to right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from gpuviz.base.arrays import F32, I64
from gpuviz.draw.heading import at, label
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel
from gpuviz.words.language import tr

_GAP = 3.0  # pixels between columns
_CAPTION, _HEAD, _ROW = 1.6, 2.2, 1.4  # letters high
_LEAST = 6  # rows


@dataclass(frozen=True, eq=False)
class TurnTable(Panel):
    """`taken` (I, T) by each thread in each turn, of which `now` are over.

    Attributes
    ----------
    lane : (T,) lane whose colour each thread has
    captions : what the numbers are, wordings from the longest
    thread_tip, tip : hover texts of a thread, and of what is taken in a turn by a thread
    """

    share: ClassVar[float] = 1.0
    taken: I64
    lane: I64
    now: float
    captions: tuple[str, ...]
    thread_tip: Callable[[int], str]
    tip: Callable[[int, int], str]

    def need(self, stage: Stage, width: float) -> Need:
        """A few rows, all columns."""
        size = stage.text(14)
        column = text_width(str(int(self.taken.max())), size, True) + size * 0.6
        wide = _names(stage) + len(self.lane) * column
        high = (_CAPTION + _HEAD + _ROW * _LEAST) * size
        return Need(high, high, wide)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Caption, threads, and the turns there is room for."""
        size, palette = stage.text(14), stage.palette
        caption, rest = area.above(size * _CAPTION)
        first, body = rest.above(size * (_HEAD - 0.3), size * 0.3)
        text = first_fitting(self.captions, caption.width, size)
        yield label(caption.x, caption.y + size * 0.5, text, palette.muted, size)
        head = self._cells(stage, first)
        fill = palette.lanes[self.lane]
        numbers = tuple(map(str, range(len(self.lane))))
        yield label(first.x, first.center[1], tr("thread"), palette.muted, size)
        yield Boxes(head, fill, radius=4, tip=self.thread_tip)
        yield Texts(centers(head), numbers, palette.ink_on(fill), size, "center", bold=True)
        yield Boxes(Rect(body.x, body.y - size * 0.15, body.width, 1).array(), palette.border)
        yield from self._body(stage, body)

    def _body(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        size, palette = stage.text(14), stage.palette
        turns = _shown(len(self.taken), self.now, int(area.height / (size * _ROW)))
        high = min(area.height / len(turns), size * 2.0)
        for place, turn in enumerate(turns):
            row = Rect(area.x, area.y + place * high, area.width, high)
            if turn < 0:
                middle = at(row.x + _names(stage) / 2, row.center[1])
                yield Texts(middle, ("…",), palette.faint, size, "center")
                continue
            under_way = turn == int(self.now)
            if under_way:
                yield Boxes(row.inset(-4, 1).array(), palette.accent_soft, radius=5)
            yield from self._row(stage, row, turn, under_way)

    def _row(self, stage: Stage, row: Rect, turn: int, under_way: bool) -> Iterator[Mark]:
        """One turn: its number, and what is taken, dim until its time has come."""
        size, palette = stage.text(14), stage.palette
        middle = at(row.x + _names(stage) / 2 - size * 0.4, row.center[1])
        name = palette.ink if under_way else palette.muted
        yield Texts(middle, (str(turn),), name, size, "center")
        ink = palette.ink if turn < self.now else palette.faint
        cells = centers(self._cells(stage, row))
        words, tip = tuple(map(str, self.taken[turn].tolist())), partial(self.tip, turn)
        yield Texts(cells, words, ink, size, "center", bold=under_way, tip=tip)

    def _cells(self, stage: Stage, row: Rect) -> F32:
        return grid(row.beside(_names(stage))[1], 1, len(self.lane), _GAP)


def _names(stage: Stage) -> float:
    """The width of the column of turns."""
    size = stage.text(14)
    return text_width(tr("thread"), size) + size * 0.8


def _shown(count: int, now: float, room: int) -> list[int]:
    """Turns whose rows are shown; -1 where some are left out.

    The first ones and the last one always are; the one under way is, wherever it is.
    """
    if room >= count:
        return list(range(count))
    first = max(room - 4, 1)
    current = min(int(now), count - 1)
    if current < first + 1 or current >= count - 2:
        return [*range(first + 1), -1, count - 2, count - 1]
    return [*range(first), -1, current, -1, count - 1]
