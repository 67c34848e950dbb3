"""The band below a picture: what can be guessed, what is right, what was counted and measured."""

from __future__ import annotations

from itertools import groupby

from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.export.badges import BADGES, caption
from gpuviz.lectures.answer import Answer, Figure, shown
from gpuviz.lectures.lecture import Guess
from gpuviz.runners.measurement import Measurement
from gpuviz.words import tr

CHOICES, FIGURES, FOOT = 46.0, 34.0, 10.0  # heights at scale 1
_LETTERS = "ABCDEFGHIJ"


def height(stage: Stage, numbers: bool, question: bool) -> float:
    """How much room the band takes below a picture; 0 when there is nothing to say."""
    wanted = FIGURES * numbers + CHOICES * question
    return (wanted + FOOT) * stage.roomy().scale if wanted else 0.0


def choices(given: Stage, row: Rect, guesses: tuple[Guess, ...], answer: Answer | None
            ) -> tuple[Mark, ...]:
    """What can be guessed, in a row; once it is out, the right one is filled, the others fade."""
    stage = given.roomy()
    size, palette = stage.text(22), stage.palette
    texts = [shown(g) if isinstance(g, int | float) else g for g in guesses]
    told = _told(stage, row, answer) if answer is not None else ()
    gap = size * 0.6
    widest = max(text_width(text, size, True) for text in texts) + size * 3.2
    box = min(widest, (row.width * (0.62 if told else 1.0) - gap * len(texts)) / len(texts))
    marks: list[Mark] = []
    for number, text in enumerate(texts):
        right = answer is not None and number == answer.right
        faded = answer is not None and not right
        area = Rect(row.x + number * (box + gap), row.y, box, row.height * 0.86)
        fill = palette.accent if right else palette.panel
        edge = palette.accent if right else palette.border
        ink = palette.ink_on(palette.accent) if right else palette.faint if faded else palette.ink
        marks.append(Boxes(area.array(), fill, stroke=edge, stroke_width=2.0, radius=size * 0.3))
        letter = "✓" if right else _LETTERS[number % len(_LETTERS)]
        quiet = ink if right or faded else palette.accent
        marks.append(label(area.x + size * 0.55, area.center[1], letter, quiet, size * 0.8, True))
        marks.append(label(area.x + box / 2 + size * 0.4, area.center[1], text, ink, size, True,
                           "center"))
    return (*marks, *told)


def _told(stage: Stage, row: Rect, answer: Answer) -> tuple[Mark, ...]:
    """The answer and where it is from, at the right end of the row."""
    size, palette = stage.text(16), stage.palette
    middle, x = row.y + row.height * 0.43, row.right
    marks: list[Mark] = []
    parts: list[tuple[str, str, Measurement | None]] = [
        (f"{shown(answer.value)} {answer.unit}", tr(BADGES["model"]), None)]
    if answer.measured is not None and answer.origin is not None:
        parts.append((shown(answer.measured), _word(answer.origin), answer.origin))
    for text, word, origin in reversed(parts):
        pill = text_width(word, stage.text(13)) + stage.text(13) * 1.2
        color = palette.good if origin is not None else palette.accent
        x -= pill
        marks += badge(stage, x, middle, word, color)
        x -= text_width(text, size, True) + size * 0.5
        marks.append(label(x, middle, text, palette.ink, size, True))
        x -= size
    return tuple(marks)


def figures(given: Stage, row: Rect, found: tuple[Figure, ...]) -> tuple[Mark, ...]:
    """Counts in a line: what is predicted and what was measured, each with its badge."""
    stage = given.roomy()
    size, palette = stage.text(16), stage.palette
    small, middle, x = stage.text(13), row.y + row.height / 2, row.x
    marks: list[Mark] = []
    for name, group in groupby(found, key=lambda figure: figure.label):
        text = f"{name}:"
        if x + text_width(text, size) > row.right - size * 6:
            break  # what does not fit is left to the speaker
        marks.append(label(x, middle, text, palette.muted, size))
        x += text_width(text, size) + size * 0.5
        for figure in group:
            for said, word, origin in _values(figure):
                marks.append(label(x, middle, said, palette.ink, size, True))
                x += text_width(said, size, True) + size * 0.4
                marks += badge(stage, x, middle, word,
                               palette.good if origin is not None else palette.accent)
                x += text_width(word, small) + small * 1.2 + size * 0.8
        x += size
    origins = (f.origin for f in found if f.measured is not None)
    origin = next((one for one in origins if one is not None), None)
    if origin is not None:
        said = caption(origin)
        text = first_fitting((said, origin.device.name), row.right - x, small)
        marks.append(label(row.right, middle, text, palette.muted, small, align="right"))
    return tuple(marks)


def _values(figure: Figure) -> list[tuple[str, str, Measurement | None]]:
    """A run's numbers with their badges; those that there are not are left out."""
    run = f"{figure.run} " if figure.run[:2] in ("A ", "B ") else ""
    found: list[tuple[str, str, Measurement | None]] = []
    if figure.predicted is not None:
        found.append((run + shown(figure.predicted), tr(BADGES["model"]), None))
    if figure.measured is not None and figure.origin is not None:
        value = shown(figure.measured) if figure.predicted is not None else (
            f"{run}{figure.measured:.3g} µs")
        found.append((value, _word(figure.origin), figure.origin))
    return found


def _word(origin: Measurement) -> str:
    return tr(BADGES["live" if origin.source == "live" else "recorded"])
