"""What one text of code has that another had not: lines that went, lines that came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import ClassVar, Literal

import numpy as np

from gpuviz.draw.layout import Rect, elide
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel
from gpuviz.words.language import trn

Sign = Literal["-", "+", " "]

_LINE, _LEAST = 1.32, 14.0  # letters from line to line; pixels of a letter
_WIDE = 46.0  # letters of a column; where there is room for two, there are two
_FEW = 4  # lines there is always room for
_TAIL = 12  # letters of a statement's end that are kept: `threadIdx.x;`
_AROUND = 1  # lines around changed ones that are shown


@dataclass(frozen=True)
class DiffLine:
    """A line, and whether it went (-), came (+), or is in both."""

    sign: Sign
    text: str


def difference(before: Sequence[str], after: Sequence[str]) -> tuple[DiffLine, ...]:
    """The lines that differ, and some around them."""
    made = list[DiffLine]()
    found = SequenceMatcher(None, before, after, autojunk=False)
    for part, group in enumerate(found.get_grouped_opcodes(_AROUND)):
        if part:
            made.append(DiffLine(" ", "⋯"))
        for tag, a, b, c, d in group:
            if tag == "equal":
                made += [DiffLine(" ", text) for text in after[c:d]]
                continue
            made += [DiffLine("-", text) for text in before[a:b]]
            made += [DiffLine("+", text) for text in after[c:d]]
    return tuple(made)


@dataclass(frozen=True, eq=False)
class Difference(Panel):
    """As many of the lines as there is room for, in two columns where one does not do."""

    share: ClassVar[float] = 1.0
    lines: tuple[DiffLine, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """Room for all lines, and a few at least."""
        pitch = _letters(stage) * _LINE
        return Need(pitch * (len(self.lines) + 1), pitch * (_FEW + 1), 16 * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Lines that went on one ground, those that came on another, each with its sign."""
        letters = _letters(stage)
        pitch = letters * _LINE
        room = max(int(area.height / pitch), 1)
        two = len(self.lines) > room and area.width >= 2 * _WIDE * letters * 0.6
        columns = area.columns(1 + two, letters)
        if two:
            room = min(room, -(-len(self.lines) // 2))
        shown, left = self.lines, len(self.lines) - room * len(columns)
        if left > 0:
            shown = shown[: -left - 1]
        for number, column in enumerate(columns):
            part = shown[number * room : (number + 1) * room]
            yield from _column(stage, column, part, letters)
        if left > 0:
            said = trn("… {n} more line", "… {n} more lines", left + 1)
            last = columns[-1]
            at = np.array([[last.x + letters, last.y + (room - 0.5) * pitch]], np.float32)
            yield Texts(at, (said,), stage.palette.muted, letters)


def _letters(stage: Stage) -> float:
    return max(stage.text(13), _LEAST)


def _column(stage: Stage, area: Rect, lines: Sequence[DiffLine], letters: float) -> Iterator[Mark]:
    palette, pitch = stage.palette, letters * _LINE
    texts = _narrowed([one.text for one in lines], area.width - letters * 2, letters)
    inks = {"-": palette.bad, "+": palette.good, " ": palette.muted}
    for sign in inks:
        rows = [n for n, one in enumerate(lines) if one.sign == sign]
        if not rows:
            continue
        top = area.y + pitch * np.array(rows)
        if sign != " ":
            full = np.full_like(top, area.width), np.full_like(top, pitch)
            rects = np.stack([np.full_like(top, area.x), top, *full], axis=1).astype(np.float32)
            yield Boxes(rects, palette.soft(inks[sign], 0.82))
        middle = top + pitch / 2
        for x, words in (
            (area.x + letters * 0.4, tuple(sign for _ in rows)),
            (area.x + letters * 1.6, tuple(_cut(texts[n], area, letters) for n in rows)),
        ):
            at = np.stack([np.full_like(middle, x), middle], axis=1).astype(np.float32)
            ink = palette.muted if sign == " " else palette.ink
            yield Texts(at, words, ink, letters, mono=True)


def _narrowed(texts: Sequence[str], room: float, letters: float) -> list[str]:
    """The lines, all of them half as far from the left where not all fit."""
    if all(text_width(text, letters, mono=True) <= room for text in texts):
        return list(texts)
    bare = [text.lstrip(" ") for text in texts]
    return [" " * ((len(t) - len(b)) // 2) + b for t, b in zip(texts, bare, strict=True)]


def _cut(text: str, area: Rect, letters: float) -> str:
    """As much of a line as fits; of a statement its end, too, where it often differs."""
    room = area.width - letters * 2
    if text_width(text, letters, mono=True) <= room or not text.endswith(";"):
        return elide(text, room, letters, mono=True)
    tail = text[-_TAIL:]
    wide = text_width(tail, letters, mono=True)
    return elide(text[:-_TAIL], room - wide, letters, mono=True) + tail
