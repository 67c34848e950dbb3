"""Lines of numbers under a picture, each with the badge of its source."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from gpuviz.draw.heading import badge, label, line_height, pill_width
from gpuviz.draw.layout import Rect, elide, first_fitting, wrap
from gpuviz.draw.marks import Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color
from gpuviz.words.language import tr

_LEADING = 1.4  # from one line of a text to the next, in letters
_NARROW = 11.0  # letters: texts in narrower columns are hard to read


@dataclass(frozen=True)
class Figure:
    """A number in words: `8 of 32 lanes`.

    What has a `badge` comes from elsewhere than the others (the badge of the line is not said
    twice); `shorter` is for where room is short.
    """

    text: str
    ink: Ink = "ink"
    bold: bool = False
    badge: str = ""
    shorter: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Its wordings, longest first."""
        return self.text, *self.shorter


_Worded = tuple[Figure, tuple[str, ...]]  # a figure and those of its wordings that may be taken


@dataclass(frozen=True, eq=False)
class FigureRow(Panel):
    """Figures side by side, and what they come from.

    Where not all fit the last ones are left out first, but the one in bold last, and before it
    those with a badge of their own, which nothing else tells.
    """

    answers: ClassVar[bool] = True
    figures: tuple[Figure, ...]
    badge: str = ""  # "": the model
    ink: Ink = "accent"

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        return Need(line_height(stage), line_height(stage))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The figures from the left, the badge at the right end."""
        if not self.figures:
            return
        size, small = stage.text(16), stage.text(13)
        word, x, y = self.badge or tr("model"), area.x, area.y + line_height(stage) / 2
        end = area.right - pill_width(stage, word)
        yield from badge(stage, end + small * 0.7, y, word)
        end += size  # behind the last figure there is room enough as it is
        others = (replace(f, badge="") if f.badge == word else f for f in self.figures)
        kept = _kept(stage, end - x, tuple(others))
        for number, (figure, texts) in enumerate(kept):
            room = end - x - _least(stage, kept[number + 1 :])
            text = next((t for t in texts if _wide(stage, figure, t) <= room), "")
            if not text and not number:  # the main one alone, and no room for it
                text = elide(texts[-1], room - size * 1.4, size, figure.bold)
            if not text:
                break
            yield label(x, y, text, color(stage, figure.ink), size, figure.bold)
            if figure.badge:
                beside = x + text_width(text, size, figure.bold) + size * 0.5
                yield from badge(stage, beside, y, figure.badge)
            x += _wide(stage, figure, text)


def _kept(stage: Stage, room: float, shown: Sequence[Figure]) -> list[_Worded]:
    """Those there is room for, with their wordings: that of the main one as long as can be."""
    main = next((f for f in shown if f.bold), shown[0])
    badged = sum(bool(figure.badge) for figure in shown)
    for number in range(1, len(main.texts) + 1):
        kept = [(f, f.texts[:number] if f is main else f.texts) for f in shown]
        last_first = sorted(enumerate(kept), key=lambda at: (bool(at[1][0].badge), -at[0]))
        for _, one in last_first:
            if _least(stage, kept) > room and one[0] != main:
                kept.remove(one)
        measured = sum(bool(figure.badge) for figure, _ in kept)
        if measured == badged and _least(stage, kept) <= room:
            break
    return kept


def _least(stage: Stage, kept: Iterable[_Worded]) -> float:
    """What figures take of a line in their shortest wordings."""
    return sum(_wide(stage, figure, texts[-1]) for figure, texts in kept)


def _wide(stage: Stage, figure: Figure, text: str) -> float:
    """What a figure takes of a line in a wording, with the space after it."""
    size = stage.text(16)
    pill = pill_width(stage, figure.badge) if figure.badge else 0.0
    return text_width(text, size, figure.bold) + pill + size * 1.4


@dataclass(frozen=True, eq=False)
class Figures(Panel):
    """Figures in equal parts of a line, all in wordings of one length; the shortest always."""

    answers: ClassVar[bool] = True
    figures: tuple[Figure, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        return Need(stage.text(14) * 1.6, stage.text(14) * 1.6)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Each from the left of its part."""
        if not self.figures:
            return
        size = stage.text(14)
        slots = area.columns(len(self.figures), size * 0.8)
        for texts in zip(*(figure.texts for figure in self.figures), strict=True):
            if all(text_width(text, size, True) <= slots[0].width for text in texts):
                break
        for figure, text, slot in zip(self.figures, texts, slots, strict=True):
            yield label(slot.x, slot.center[1], text, color(stage, figure.ink), size, True)


@dataclass(frozen=True, eq=False)
class TextLine(Panel):
    """The longest of several wordings that fits a line, the last one cut short where none does."""

    texts: tuple[str, ...]
    ink: Ink = "muted"

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        return Need(stage.text(14) * 1.5, stage.text(14) * 1.5)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The words from the left."""
        size = stage.text(14)
        text = first_fitting(self.texts, area.width, size)
        text = text or elide(self.texts[-1], area.width, size)
        yield label(area.x, area.center[1], text, color(stage, self.ink), size)


@dataclass(frozen=True, eq=False)
class Paragraph(Panel):
    """A text in as many lines as it takes."""

    answers: ClassVar[bool] = True
    text: str
    ink: Ink = "ink"
    bold: bool = False

    def need(self, stage: Stage, width: float) -> Need:
        """Its lines."""
        size = stage.text(14)
        high = len(wrap(self.text, width, size, self.bold)) * size * _LEADING
        return Need(high, high, min(text_width(self.text, size, self.bold), _NARROW * size))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The lines from the top."""
        size, ink = stage.text(14), color(stage, self.ink)
        for number, row in enumerate(wrap(self.text, area.width, size, self.bold)):
            y = area.y + size * (0.6 + _LEADING * number)
            yield label(area.x, y, row, ink, size, self.bold)


@dataclass(frozen=True, eq=False)
class Provenance(Panel):
    """A badge and what stands in that source: the longest of several wordings that fits a line.

    Where none does there is nothing, or, where it is to be said as a `whole`, several lines.
    """

    answers: ClassVar[bool] = True
    texts: tuple[str, ...]
    badge: str = ""  # "": published
    ink: Ink = "muted"
    whole: bool = False

    def need(self, stage: Stage, width: float) -> Need:
        """One line, or as many as the longest wording takes."""
        more = max(len(self._lines(stage, width)) - 1, 0) * stage.text(14) * _LEADING
        high = line_height(stage) + more
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The badge, and the words beside it."""
        size, pill = stage.text(14), pill_width(stage, self._word)
        y = area.y + line_height(stage) / 2
        for number, text in enumerate(self._lines(stage, area.width)):
            if not number:
                yield from badge(stage, area.x, y, self._word)
            at = y + number * size * _LEADING
            yield label(area.x + pill, at, text, stage.palette.muted, size)

    @property
    def _word(self) -> str:
        return self.badge or tr("published")

    def _lines(self, stage: Stage, width: float) -> tuple[str, ...]:
        """What is said, in lines; nothing where no wording fits one and none is to be whole."""
        room, size = width - pill_width(stage, self._word), stage.text(14)
        if text := first_fitting(self.texts, room, size):
            return (text,)
        return wrap(self.texts[0], room, size) if self.whole else ()


def published(said: str, where: str) -> Provenance:
    """What a document says, and which: left out where there is no room for it."""
    return Provenance((f"{said} · {where}", said))
