"""Bars of one scale below each other: what is of use, and hatched what is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel, line

_GAP = 0.3  # between bars, in letters


@dataclass(frozen=True)
class Share:
    """A bar: `used` of `whole` is of use; `grown` (0 to 1) of it has come.

    `words` are wordings of the whole, `lost` of the rest, longest first.
    """

    name: str
    used: float
    whole: float
    words: tuple[str, ...]
    lost: tuple[str, ...]
    grown: float = 1.0
    shown: bool = False  # whether it is the variant that is shown


@dataclass(frozen=True, eq=False)
class Shares(Panel):
    """The bars, the longest as wide as there is room."""

    answers: ClassVar[bool] = True
    bars: tuple[Share, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """A line each."""
        high = line(stage) * len(self.bars)
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Names, bars, and words in them where they fit."""
        size = stage.text(14)
        room = max(text_width(bar.name, size) for bar in self.bars) + size
        most = max(bar.whole for bar in self.bars)
        for bar, row in zip(self.bars, area.rows(len(self.bars), size * _GAP), strict=True):
            ink = stage.palette.ink if bar.shown else stage.palette.muted
            yield label(row.x, row.center[1], bar.name, ink, size)
            whole = row.beside(room)[1]
            yield from _bar(stage, bar, whole._replace(width=whole.width * bar.whole / most))


def _bar(stage: Stage, bar: Share, whole: Rect) -> Iterator[Mark]:
    palette, size = stage.palette, stage.text(14)
    used, lost = whole.beside(whole.width * bar.used / bar.whole)
    come = used._replace(width=used.width * bar.grown)
    yield Boxes(used.array(), palette.todo(palette.accent_soft))
    yield Boxes(come.array(), palette.accent_soft)
    said = first_fitting(bar.words, used.width - size, size, True)
    yield label(used.x + size * 0.4, used.center[1], said, palette.ink, size, True)
    if lost.width > 1:
        yield from _lost(stage, bar, lost)


def _lost(stage: Stage, bar: Share, lost: Rect) -> Iterator[Mark]:
    """The hatched rest, its words on plain ground."""
    palette, size = stage.palette, stage.text(14)
    ground, hatch = palette.waste_ground, palette.waste
    if bar.grown < 1:
        ground, hatch = palette.todo(ground), palette.todo(hatch)
    yield Boxes(lost.array(), ground, hatch=hatch)
    if said := first_fitting(bar.lost, lost.width - size * 1.6, size, True):
        wide = text_width(said, size, True) + size * 0.6
        plate = Rect(lost.right - wide - size * 0.3, lost.y + 2, wide, lost.height - 4)
        yield Boxes(plate.array(), palette.waste_ground)
        yield label(*plate.center, said, palette.warn, size, True, "center")
