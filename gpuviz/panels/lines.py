"""Lines of text in a picture: formulas, findings, headings with a note and a badge."""

from collections.abc import Iterator
from dataclasses import dataclass

from gpuviz.draw.heading import badge, label, pill_width
from gpuviz.draw.layout import Rect, first_fitting, fit_size, wrap
from gpuviz.draw.marks import Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

_SPACING = 1.5  # of a line, in letters
_TIGHT = 1.35  # of the lines that one text takes


@dataclass(frozen=True)
class Line:
    """One text: the longest of its wordings that fits, the last one in smaller letters or in as
    many lines as it takes.
    """

    texts: tuple[str, ...]
    ink: Ink = "ink"
    bold: bool = False
    size: float = 14.0


@dataclass(frozen=True, eq=False)
class Lines(Panel):
    """As many of the lines as there is room for.

    Whatever they say, `high` letters are kept for them (0: what they take), and `wide` ones.
    """

    lines: tuple[Line, ...]
    high: float = 0.0
    wide: float = 0.0

    def need(self, stage: Stage, width: float) -> Need:
        """All lines."""
        size = stage.text(14)
        if self.high:
            return Need(size * self.high, size * self.high, size * self.wide)
        rows = [max(len(_rows(stage, line, width)[1]), 1) for line in self.lines]
        each = [stage.text(one.size) * _height(n) for one, n in zip(self.lines, rows, strict=True)]
        return Need(sum(each), sum(each), size * self.wide)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """From the top."""
        y = area.y
        for line in self.lines:
            size, rows = _rows(stage, line, area.width)
            for i, row in enumerate(rows):
                middle = y + size * (0.6 + _TIGHT * i)
                if middle + size * 0.6 > area.bottom + 0.5:
                    return
                yield label(area.x, middle, row, color(stage, line.ink), size, line.bold)
            y += size * _height(len(rows)) if rows else 0.0


def _height(rows: int) -> float:
    return _SPACING + _TIGHT * (rows - 1)


def _rows(stage: Stage, line: Line, width: float) -> tuple[float, tuple[str, ...]]:
    """The letters' size, and what stands in each row; nothing where a word is too long."""
    size = stage.text(line.size)
    if said := first_fitting(line.texts, width, size, line.bold):
        return size, (said,)
    last = line.texts[-1] if line.texts else ""
    least = stage.least if line.size > 14 else size
    size = fit_size(last, width, size, least, line.bold)
    rows = wrap(last, width, size, line.bold)
    fits = all(text_width(row, size, line.bold) <= width for row in rows)
    return size, rows if fits else ()


@dataclass(frozen=True, eq=False)
class Heading(Panel):
    """The name of what stands below it, a quiet note beside, and a badge at the right end.

    Both have wordings, longest first; the note is kept back while a class is asked.
    """

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    badge: str = ""
    ink: Ink = "accent"

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        high = stage.text(14) * 1.7
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The name before its note before the badge."""
        size, palette = stage.text(14), stage.palette
        y, width = area.y + size * 0.7, area.width
        if self.badge:
            pill = pill_width(stage, self.badge)
            width -= pill
            left = area.right - pill + size * 0.65
            yield from badge(stage, left, y, self.badge)
        name = first_fitting(self.names, width, size, True)
        yield label(area.x, y, name, palette.ink, size, True)
        taken = text_width(name, size, True) + size * 0.7
        notes = () if stage.asks else self.notes
        if said := first_fitting(notes, width - taken, size):
            yield label(area.x + taken, y, said, palette.muted, size)
