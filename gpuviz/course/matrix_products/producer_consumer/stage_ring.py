"""Stages of shared memory side by side: what is in each now, and its two mbarriers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color
from gpuviz.words.language import grouped, tr, trn

_HEAD, _SLOT, _LINE = 1.4, 2.0, 1.55  # letters high


@dataclass(frozen=True)
class Counter:
    """An mbarrier: what it says when a phase is over, how many are, what has come to this one.

    `came` of `expected` have arrived; `missing` bytes of copies are still to come.
    """

    name: str
    phase: int
    came: int
    expected: int
    missing: int = 0

    @property
    def parity(self) -> int:
        """Of the phase that is under way."""
        return self.phase % 2

    def words(self) -> str:
        """Which phase is under way."""
        what = {"n": self.phase, "name": self.name, "parity": self.parity}
        return tr("phase {n} of {name} is under way: parity {parity}", **what)

    def lacks(self) -> tuple[str, ...]:
        """What it waits for, wordings from the longest."""
        came = tr("{n} of {all} arrived", n=self.came, all=self.expected)
        brief = f"{self.came}/{self.expected}"
        if not self.missing:
            return came, brief
        rest = trn("{n} byte to come", "{n} bytes to come", self.missing)
        return f"{came}, {rest}", rest, f"{brief}, {grouped(self.missing)} B", brief


@dataclass(frozen=True)
class Slot:
    """A stage now: wordings of what is in it, in a colour; `wrong` when two meet there."""

    name: str
    texts: tuple[str, ...]
    ink: Ink
    wrong: bool
    mbarriers: tuple[Counter, ...]


@dataclass(frozen=True, eq=False)
class StageRing(Panel):
    """The stages from left to right. Parities and arrivals are kept back while a class is asked."""

    share: ClassVar[float] = 0.0
    slots: tuple[Slot, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """A heading, the slot, and a line for each mbarrier."""
        high = (_HEAD + _SLOT + _LINE * len(self.slots[0].mbarriers)) * stage.text(14)
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """A column for each stage."""
        gap = stage.text(14) * 0.9
        for slot, column in zip(self.slots, area.columns(len(self.slots), gap), strict=True):
            yield from self._column(stage, column, slot)

    def _column(self, stage: Stage, area: Rect, slot: Slot) -> Iterator[Mark]:
        size, palette = stage.text(14), stage.palette
        head, area = area.above(size * _HEAD)
        yield label(head.x, head.y + size * 0.6, slot.name, palette.muted, size)
        box, area = area.above(size * (_SLOT - 0.3), size * 0.3)
        wrong = slot.wrong and not stage.asks
        fill = color(stage, slot.ink)
        yield Boxes(box.array(), fill, stroke=palette.border, radius=4, tip=lambda i: slot.texts[0])
        if wrong:
            yield Boxes(
                box.array(), hatch=palette.bad, stroke=palette.bad, stroke_width=2, radius=4
            )
        text = first_fitting(slot.texts, box.width - size, size, True)
        if text and wrong:
            wide = text_width(text, size, True) + size * 0.6
            middle = Rect(box.center[0] - wide / 2, box.y + 3, wide, box.height - 6)
            yield Boxes(middle.array(), fill, radius=3)
        yield label(*box.center, text, palette.ink_on(fill), size, True, "center")
        for mbarrier, row in zip(slot.mbarriers, area.rows(len(slot.mbarriers)), strict=True):
            yield from self._mbarrier(stage, row, mbarrier)

    def _mbarrier(self, stage: Stage, row: Rect, one: Counter) -> Iterator[Mark]:
        """Its name, its parity as a switch between 0 and 1, and what it lacks."""
        size, palette, y = stage.text(14), stage.palette, row.center[1]
        names = max(text_width(name.name, size) for name in self.slots[0].mbarriers)
        yield label(row.x, y, one.name, palette.ink, size)
        side = size * 1.25
        left = row.x + names + size * 0.5
        told = "" if stage.asks else one.words()
        chips = [Rect(left + side * bit, y - side / 2, side, side) for bit in (0, 1)]
        for bit, chip in enumerate(chips):
            here = bit == one.parity and not stage.asks
            fill = palette.accent if here else palette.cell
            yield Boxes(chip.array(), fill, stroke=palette.border, radius=3, tip=lambda i: told)
            ink = palette.ink_on(fill) if here else palette.muted
            yield label(*chip.center, str(bit), ink, size, here, "center")
        room = row.right - chips[-1].right - size * 0.5
        text = "" if stage.asks else first_fitting(one.lacks(), room, size)
        yield label(chips[-1].right + size * 0.5, y, text, palette.muted, size)
