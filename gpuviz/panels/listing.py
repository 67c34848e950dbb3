"""Listings of code side by side: a line of CUDA, and what became of it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.draw.layout import Rect, elide, first_fitting, fit_size
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

_HEAD, _LINE = 3.5, 1.3  # letters high: title, first line and edges; each line more
_LEAST = 14.0  # pixels; smaller letters are no better than a line cut short


@dataclass(frozen=True)
class CodeListing:
    """A title (`brief` where it has no room), a line of CUDA, and lines that it became, in `inks`
    where there are any.

    How often one of these stands there, `4 × ld.local`, is kept back while a class is asked.
    """

    title: str
    source: str
    lines: tuple[str, ...]
    inks: tuple[Ink, ...] = ()
    brief: str = ""


@dataclass(frozen=True, eq=False)
class Listings(Panel):
    """As many lines as there is room for, all in letters of one size."""

    listings: tuple[CodeListing, ...]
    whole: bool = False  # whether all lines have to be there

    def need(self, stage: Stage, width: float) -> Need:
        """All lines, and one of each at least."""
        size, most = stage.text(14), max(len(one.lines) for one in self.listings)
        high, low = (size * (_HEAD + _LINE * lines) for lines in (most, 1))
        return Need(high, high if self.whole else low)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Boxes with their lines."""
        size = stage.text(14)
        boxes = area.columns(len(self.listings), size)
        room = max(int((area.height - size * (_HEAD - 0.1)) / (size * _LINE)), 1)
        code = [_code(stage, one, room) for one in self.listings]
        inner, least = boxes[0].width - size, max(stage.text(12), _LEAST)
        every = [line for lines in code for line in lines]
        letters = min(fit_size(line, inner, size, least, mono=True) for line in every)
        for one, lines, box in zip(self.listings, code, boxes, strict=True):
            yield from _listing(stage, box, one, lines, letters)


def _code(stage: Stage, one: CodeListing, room: int) -> tuple[str, ...]:
    """The source, and the lines there is room for."""
    lines = one.lines[:room]
    if stage.asks:
        lines = tuple(line.rpartition(" × ")[2] for line in lines)
    return one.source, *lines


def _listing(
    stage: Stage, box: Rect, one: CodeListing, lines: tuple[str, ...], letters: float
) -> Iterator[Mark]:
    palette, size, inner = stage.palette, stage.text(14), box.width - stage.text(14)
    y = box.y + size * (2.1 + _LINE * np.arange(len(lines)))
    at = np.stack([np.full_like(y, box.x + size * 0.5), y], axis=1).astype(np.float32)
    head = np.array([[box.x + size * 0.5, box.y + size * 0.8]], np.float32)
    words = tuple(elide(line, inner, letters, mono=True) for line in lines)
    yield Boxes(box.array(), palette.panel, stroke=palette.border, radius=5)
    titles = tuple(filter(None, (one.title, one.brief)))
    title = first_fitting(titles, inner, size, True) or elide(titles[-1], inner, size, bold=True)
    yield Texts(head, (title,), palette.ink, size, bold=True)
    yield Texts(at[:1], words[:1], palette.accent, letters, mono=True)
    each = tuple(color(stage, ink) for ink in one.inks[: len(words) - 1])
    shades = np.stack(each) if each else palette.muted
    yield Texts(at[1:], words[1:], shades, letters, mono=True)
