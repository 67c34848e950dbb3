"""What a launch asks for, beside what devices allow; what is too little for it is crossed out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuviz.arrays import Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import grouped, tr
from gpuviz.panels.panel import Need, Panel

_ROW = 2.7  # letters that a row is high at most


@dataclass(frozen=True)
class Limit:
    """What a launch asks for (None: nothing) and what each device allows (None: not said)."""

    name: str
    asked: int | None
    allowed: tuple[int | None, ...]

    def refused(self, device: int) -> bool:
        """Whether a device refuses."""
        most = self.allowed[device]
        return self.asked is not None and most is not None and self.asked > most


@dataclass(frozen=True, eq=False)
class Limits(Panel):
    """One row a limit.

    Attributes
    ----------
    devices : names, each with wordings from the longest; the last one is the one chosen
    asked : share of the rows in which is said what is asked for
    compared : rows compared so far, the fraction being the one under way; none while a class is
        asked what comes of the launch
    """

    devices: tuple[tuple[str, ...], ...]
    limits: tuple[Limit, ...]
    asked: float
    compared: float

    def need(self, stage: Stage, width: float) -> Need:
        """Rows as high as they may be; they can do with half."""
        high = stage.text(14) * _ROW * (len(self.limits) + 1)
        return Need(high, high / 2, 27 * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Titles, then the rows."""
        size, muted, count = stage.text(14), stage.palette.muted, len(self.limits)
        high = min(area.height, size * _ROW * (count + 1))
        rows = area._replace(height=high).rows(count + 1)
        first = max(text_width(limit.name, size) for limit in self.limits) + size * 0.6
        name, rest = area.beside(first)
        columns = rest.columns(1 + len(self.devices))
        yield _cell(name, rows[0], tr("limit"), muted, size, left=True)
        yield _cell(columns[0], rows[0], tr("asked"), muted, size)
        for column, forms in zip(columns[1:], self.devices, strict=True):
            yield _cell(column, rows[0], first_fitting(forms, column.width, size), muted, size)
        for number, row in enumerate(rows[1:]):
            yield from self._row(stage, name, columns, row, number)

    def _row(
        self, stage: Stage, name: Rect, columns: tuple[Rect, ...], row: Rect, number: int
    ) -> Iterator[Mark]:
        palette, size, limit = stage.palette, stage.text(14), self.limits[number]
        compared = -1.0 if stage.asks else self.compared
        if number <= compared < min(number + 1, len(self.limits)):
            edge = palette.outline
            yield Boxes(row.array(), palette.panel, stroke=edge, stroke_width=2, radius=4)
        yield _cell(name.inset(size * 0.4, 0), row, limit.name, palette.ink, size, left=True)
        if self.asked > number / len(self.limits):
            worst = compared > number and limit.refused(-1)
            ink = palette.bad if worst else palette.accent
            yield _cell(columns[0], row, counted(limit.asked), ink, size, bold=True)
        for device, column in enumerate(columns[1:]):
            crossed = compared > number and limit.refused(device)
            yield from self._allowed(stage, column, row, limit, device, crossed)

    def _allowed(
        self, stage: Stage, column: Rect, row: Rect, limit: Limit, device: int, crossed: bool
    ) -> Iterator[Mark]:
        """What one device allows, marked with a cross, not by colour alone."""
        palette, size = stage.palette, stage.text(14)
        text, name = counted(limit.allowed[device]), self.devices[device][0]

        def tip(i: int) -> str:
            if limit.allowed[device] is None:
                return tr("{device}: {limit} is not said", device=name, limit=limit.name)
            return tr("{device}: {limit} up to {n}", device=name, limit=limit.name, n=text)

        place = Rect(column.x, row.y, column.width, row.height)
        if not crossed:
            ink = palette.ink if device == len(self.devices) - 1 else palette.muted
            yield Boxes(place.array(), tip=tip)
            yield _cell(column, row, text, ink, size)
            return
        wide = text_width(f"×{text}", size, True) + size * 0.6
        plate = Rect(column.right - wide, row.y + 1, wide, row.height - 2)
        soft = palette.soft(palette.bad, 0.85)
        yield Boxes(plate.array(), soft, stroke=palette.bad, radius=3, tip=tip)
        inner = column._replace(width=column.width + size * 0.2)
        yield _cell(inner, row, f"×{text}", palette.bad, size, bold=True)


def counted(value: int | None) -> str:
    """A count, thousands apart; 2^31 - 1 by its name; a dash for what is not known."""
    if value is None:
        return "–"
    return "2^31 - 1" if value == 2**31 - 1 else grouped(value)


def _cell(
    column: Rect,
    row: Rect,
    text: str,
    ink: Rgba,
    size: float,
    left: bool = False,
    bold: bool = False,
) -> Mark:
    """A text in a row, numbers to the right."""
    x = column.x if left else column.right - size * 0.5
    return label(x, row.center[1], text, ink, size, bold, "left" if left else "right")
