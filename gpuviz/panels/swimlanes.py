"""Who works when: a row for each worker, bars along time, and bars across all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuviz.draw import swimlanes as lanes
from gpuviz.draw.axis import Scales
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Mark, Tip
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

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
        title, rows = stage.text(14) * _CAPTION, lanes.height_of(stage, len(self.names), self.tall)
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
            lanes.Bar(
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
        yield from lanes.swimlanes(
            stage, rest, self.names, bars, self.now, self.tip, self.tall, until
        )
