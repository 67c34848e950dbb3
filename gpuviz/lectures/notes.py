"""A page with what the speaker says below the picture."""

from __future__ import annotations

from gpuviz.draw.heading import label
from gpuviz.draw.layout import wrap
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.palette import Palette

_SHARE, _MARGIN = 0.5, 0.03  # height of the notes, of that of the picture; margin, of its width
_LARGEST, _LEAST, _LINE = 26, 8, 1.45  # sizes of letters, and from one line to the next


def with_notes(frame: Frame, notes: str, palette: Palette) -> Frame:
    """The picture with notes below it; long ones are set smaller, until they fit."""
    room, margin = frame.height * _SHARE, frame.width * _MARGIN
    for size in range(_LARGEST, _LEAST - 1, -1):
        lines = _lines(notes, frame.width - 2 * margin, size)
        if (len(lines) + 1) * size * _LINE <= room:
            break
    marks: list[Mark] = [*frame.marks]
    for number, line in enumerate(lines[: int(room / (size * _LINE)) - 1]):
        y = frame.height + (number + 1) * size * _LINE
        marks.append(label(margin, y, line, palette.ink, size))
    return Frame(frame.width, frame.height + room, frame.ground, tuple(marks))


def _lines(notes: str, width: float, size: float) -> list[str]:
    """Paragraphs in lines; an empty one keeps them apart."""
    return [
        line for paragraph in notes.split("\n") for line in wrap(paragraph, width, size) or ("",)
    ]
