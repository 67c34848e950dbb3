"""Bars of one scale below each other: what is of use, and hatched what is not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gpuviz.base.arrays import Rgba
from gpuviz.draw.axis import Scales
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.bar import Bar, draw_bar
from gpuviz.panels.panel import Ink, Need, Panel, color, line

_SCALE = "length of bars"
_GAP = 0.3  # between bars, in letters


@dataclass(frozen=True)
class Share:
    """A bar: `used` of `whole` is of use; `grown` (0 to 1) of it has come.

    `words` are wordings of what is of use, `lost` of the rest, longest first. `spoilt` (0 to 1) of
    the rest has come, by default all of it together with the last of what is of use. `ink` is a
    full colour, by default the quiet accent. `value` stands between the name and the bar.
    """

    name: str
    used: float
    whole: float
    words: tuple[str, ...]
    lost: tuple[str, ...]
    grown: float = 1.0
    shown: bool = False  # whether it is the variant that is shown
    spoilt: float | None = None
    ink: Ink | None = None
    value: str = ""

    @property
    def bar(self) -> Bar:
        """Without its words."""
        spoilt = float(self.grown >= 1) if self.spoilt is None else self.spoilt
        return Bar(self.used, self.whole - self.used, (self.grown, spoilt))


@dataclass(frozen=True, eq=False)
class Shares(Panel):
    """The bars, the longest as wide as there is room."""

    answers: ClassVar[bool] = True
    bars: tuple[Share, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """A line each."""
        high = line(stage) * len(self.bars)
        return Need(high, high)

    def scales(self) -> Scales:
        """The longest bar."""
        return {_SCALE: max(bar.whole for bar in self.bars)}

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Names, bars, and words in them where they fit."""
        size = stage.text(14)
        values = max(text_width(bar.value, size, True) for bar in self.bars)
        room = max(text_width(bar.name, size) for bar in self.bars) + size
        room += values + size if values else 0.0
        most = stage.most(_SCALE, max(bar.whole for bar in self.bars))
        for bar, row in zip(self.bars, area.rows(len(self.bars), size * _GAP), strict=True):
            ink = stage.palette.ink if bar.shown else stage.palette.muted
            yield label(row.x, row.center[1], bar.name, ink, size)
            if bar.value:
                end = row.x + room - size * 0.7
                ink = stage.palette.ink
                yield label(end, row.center[1], bar.value, ink, size, True, "right")
            place = row.beside(room)[1]
            whole = place._replace(width=place.width * bar.whole / most)
            fill = stage.palette.accent_soft if bar.ink is None else color(stage, bar.ink)
            yield from draw_bar(stage, bar.bar, whole, fill)
            yield from _words(stage, bar, whole, place.right)


def _words(stage: Stage, bar: Share, whole: Rect, end: float) -> Iterator[Mark]:
    """In each part what it stands for; what has no room in the first stands in the second, or
    behind a bar that has none.
    """
    palette, size = stage.palette, stage.text(14)
    used, lost = bar.bar.parts(whole)
    if said := first_fitting(bar.words, used.width - size, size, True):
        plate = None if bar.ink is None else palette.todo(color(stage, bar.ink))
        x = used.x + size * (0.1 if bar.ink is None else 0.3)
        yield from _plate(stage, used, x, said, palette.ink, plate)
    elif lost.width <= 1:
        room = end - whole.right - size
        if said := first_fitting(bar.words, room, size, True):
            yield from _plate(stage, whole, whole.right + size * 0.1, said, palette.muted, None)
    forms = bar.lost
    if not said and bar.words and forms:
        forms = (f"{bar.words[0]}, {forms[0]}", *forms)
    if lost.width > 1 and (text := first_fitting(forms, lost.width - size * 1.6, size, True)):
        x = lost.right - text_width(text, size, True) - size * 0.9
        yield from _plate(stage, lost, x, text, palette.warn, palette.waste_ground)


def _plate(
    stage: Stage, bar: Rect, x: float, text: str, ink: Rgba, fill: Rgba | None
) -> Iterator[Mark]:
    """Words on a plate of their own, to be read whatever the bar behind them does."""
    size = stage.text(14)
    plate = Rect(x, bar.y + 2, text_width(text, size, True) + size * 0.6, bar.height - 4)
    if fill is not None:
        yield Boxes(plate.array(), fill)
    yield label(x + size * 0.3, bar.center[1], text, ink, size, True)
