"""Spans set in lines no wider than there is room for, formulas among the words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gpuviz.base.arrays import Rgba
from gpuviz.base.errors import InputError
from gpuviz.draw.marks import Boxes, Lines, Mark, Outlines, Texts, at
from gpuviz.draw.metrics import CAP_HEIGHT, text_width
from gpuviz.draw.palette import Palette
from gpuviz.lectures.markdown.blocks import Span
from gpuviz.lectures.markdown.formulas import FormulaOutline, drawn

LINE = 1.5  # from one line to the next, in the size of the letters
_UP = LINE / 2 + CAP_HEIGHT / 2  # from the top of a line to where its letters stand
_CODE, _FORMULA = 0.92, 1.08  # of the size around them
_HAIR = 0.03  # of the size: between unlike words without a space, whose widths are estimates
_APART = 0.15  # of the size: between a high formula and the lines around it


@dataclass(frozen=True, eq=False)
class Row:
    """A line of the slide, or what is as high as several: its marks are placed from its top."""

    height: float
    marks: tuple[Mark, ...] = ()


class Face(NamedTuple):
    """How words look: the size, and the colours."""

    size: float
    palette: Palette
    bold: bool = False


@dataclass(frozen=True, eq=False)
class _Piece:
    """A word in one look, or a formula; `space` is how wide the one before it is."""

    text: str
    width: float
    size: float
    ink: Rgba
    bold: bool = False
    mono: bool = False
    link: bool = False
    space: float = 0.0
    outline: FormulaOutline | None = None

    def joins(self, other: _Piece) -> bool:
        """Whether both can be set as one text."""
        same = (self.size, self.bold, self.mono, self.link) == (
            (other.size, other.bold, other.mono, other.link)
        )
        return same and self.outline is other.outline is None and self.ink is other.ink


def flow(spans: Iterable[Span], x: float, width: float, face: Face) -> list[Row]:
    """The lines of spans from x on; one at least."""
    rows: list[Row] = []
    for paragraph in _paragraphs(spans, face):
        line: list[_Piece] = []
        long = 0.0
        for word in _words(paragraph):
            wide = sum(piece.width for piece in word)
            gap = word[0].space if line else 0.0
            if line and long + gap + wide > width:
                rows.append(_row(line, x, face))
                line, long, gap = [], 0.0, 0.0
            line += word
            long += gap + wide
        rows.append(_row(line, x, face))
    return rows


def natural(spans: Iterable[Span], face: Face) -> float:
    """How wide they are in one line."""
    return sum(piece.width + piece.space for pieces in _paragraphs(spans, face) for piece in pieces)


def formula(tex: str, x: float, width: float, face: Face) -> Row:
    """A formula in the middle of the width, made smaller if it is wider."""
    piece = _formula(tex, face, face.size * _FORMULA * 1.15)
    if piece.outline is None:
        return flow((Span(tex, "formula"),), x, width, face)[0]
    share = min(1.0, width / max(piece.width, 1.0))
    piece = replace(piece, width=piece.width * share, size=piece.size * share)
    return _row([piece], x + (width - piece.width) / 2, face)


def _paragraphs(spans: Iterable[Span], face: Face) -> Iterator[list[_Piece]]:
    """The pieces of each line that its author ended."""
    pieces: list[_Piece] = []
    space = 0.0
    for span in spans:
        if span.kind == "break":
            yield pieces
            pieces, space = [], 0.0
            continue
        if span.kind == "formula":
            pieces.append(replace(_formula(span.text, face, face.size * _FORMULA), space=space))
            space = 0.0
            continue
        mono = span.kind == "code"
        for number, word in enumerate(span.text.split(" ")):
            if number:
                space = text_width(" ", _size(face, mono), face.bold, mono)
            if word:
                pieces.append(replace(_piece(word, span, face), space=space))
                space = 0.0
    yield pieces


def _words(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """Pieces between which no line may end."""
    word: list[_Piece] = []
    for piece in pieces:
        if word and piece.space:
            yield word
            word = []
        word.append(piece)
    if word:
        yield word


def _piece(text: str, span: Span, face: Face) -> _Piece:
    palette, mono = face.palette, span.kind == "code"
    size = _size(face, mono)
    bold = face.bold or span.strong
    ink = palette.accent if span.stressed or span.link else palette.ink
    return _Piece(text, text_width(text, size, bold, mono), size, ink, bold, mono, span.link)


def _size(face: Face, mono: bool) -> float:
    return float(round(face.size * _CODE)) if mono else face.size


def _formula(tex: str, face: Face, size: float) -> _Piece:
    """The outlines of a formula; one that cannot be read stands as it was written."""
    try:
        outline = drawn(tex)
    except InputError:
        small = _size(face, True)
        width = text_width(tex, small, mono=True)
        return _Piece(tex, width, small, face.palette.bad, mono=True)
    return _Piece(tex, outline.width * size, size, face.palette.ink, outline=outline)


def _row(line: list[_Piece], x: float, face: Face) -> Row:
    """One line: as high as its letters, or as the highest formula."""
    size = face.size
    outlines = [(p.outline, p.size) for p in line if p.outline is not None]
    up = max([size * _UP, *(o.above * s + size * _APART for o, s in outlines)])
    down = max([size * (LINE - _UP), *(o.below * s + size * _APART for o, s in outlines)])
    marks: list[Mark] = []
    text, left = "", x
    for number, piece in enumerate(line):
        x += piece.space * (number > 0)
        if piece.outline is not None:
            points = piece.outline.points * piece.size + np.array([x, up])
            ink, begins = piece.ink, piece.outline.begins
            marks.append(Outlines(points.astype(np.float32), begins, ink, piece.text))
            x += piece.width
            continue
        text = f"{text} {piece.text}" if text and piece.space else text + piece.text
        if len(text) == len(piece.text):
            left = x
        x += piece.width
        following = line[number + 1] if number + 1 < len(line) else None
        if following is None or not piece.joins(following):
            marks += _set(text, left, x, up, piece, face)
            text = ""
            x += size * _HAIR
    return Row(up + down, tuple(marks))


def _set(
    text: str, left: float, right: float, up: float, look: _Piece, face: Face
) -> Iterator[Mark]:
    """Words of one look that stand on a line; code on a panel, links underlined."""
    palette, size = face.palette, look.size
    if look.mono:
        pad = size * 0.16
        box = [[left - pad, up - size * 0.98, right - left + 2 * pad, size * 1.3]]
        yield Boxes(np.array(box, np.float32), palette.panel, stroke=palette.cell, radius=pad * 2)
    middle = up - size * CAP_HEIGHT / 2
    yield Texts(at(left, middle), (text,), look.ink, size, "left", look.bold, look.mono)
    if look.link:
        y = up + size * 0.16
        yield Lines(np.array([[[left, y], [right, y]]], np.float32), look.ink, max(size / 16, 1.0))
