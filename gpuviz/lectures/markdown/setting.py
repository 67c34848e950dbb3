"""Blocks of words set on a stage: in the largest letters in which all of them fit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gpuviz.base.errors import InputError
from gpuviz.draw.layout import Rect, elide
from gpuviz.draw.marks import Boxes, Lines, Mark, Raster, Texts, at
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.transform import shifted
from gpuviz.lectures.markdown import pictures
from gpuviz.lectures.markdown.blocks import (
    Block,
    Code,
    Formula,
    Paragraph,
    Picture,
    Rule,
    Span,
    Table,
)
from gpuviz.lectures.markdown.flow import LINE, Face, Row, flow, formula, natural
from gpuviz.results.highlighting import Span as Coloured
from gpuviz.results.highlighting import spans as coloured

SIZES = (24, 21, 18, 16, 14, 12)  # of words, at scale 1
_HEADS = (1.6, 1.35, 1.15, 1.0, 1.0, 1.0)  # of the size of words: headings by level
_GAP, _CLOSE = 0.6, 0.12  # between blocks, and between items of a list, in sizes
_INDENT = 1.5  # of a list or quote, in sizes
_CODE = 0.8  # of the size of words: code in lines of its own
_PICTURE = 0.28  # of the height that a picture wants at least
_COLOURED = 8000  # letters of code, beyond which it has one colour


@dataclass(frozen=True, eq=False)
class Page:
    """Where words go: the area, the letters, and the files of the pictures."""

    area: Rect
    stage: Stage
    size: float
    files: pictures.Found

    @property
    def face(self) -> Face:
        """Words as they mostly are."""
        return Face(self.size, self.stage.palette)

    def left(self, block: Block) -> float:
        """Where a block begins: within its lists and quotes."""
        return self.area.x + block.depth * self.size * _INDENT

    def room(self, block: Block) -> float:
        """How wide it may be."""
        return max(self.area.right - self.left(block), self.size * 8)


def set_words(
    blocks: Sequence[Block], area: Rect, stage: Stage, files: pictures.Found = pictures.NONE
) -> tuple[Mark, ...]:
    """The marks of blocks in an area, in its middle from top to bottom; what does not fit in the
    smallest letters is cut, and an ellipsis says so.
    """
    rows: list[Row] = []
    for wanted in SIZES:
        page = Page(area, stage, stage.text(wanted), files)
        rows = _rows(blocks, page)
        if sum(row.height for row in rows) <= area.height:
            break
    else:
        rows = _cut(rows, page)
    y = area.y + max((area.height - sum(row.height for row in rows)) / 2, 0.0)
    marks: list[Mark] = []
    for row in rows:
        marks += shifted(row.marks, 0.0, y)
        y += row.height
    return tuple(marks)


def _cut(rows: list[Row], page: Page) -> list[Row]:
    """As many rows as there is room for, and an ellipsis."""
    more = flow((Span("…"),), page.area.x, page.area.width, page.face)[0]
    left, kept = page.area.height - more.height, 0
    for row in rows:
        left -= row.height
        if left < 0:
            break
        kept += 1
    return [*rows[:kept], more]


def _rows(blocks: Sequence[Block], page: Page) -> list[Row]:
    """All rows, pictures as high as the others leave room for."""
    made = [None if isinstance(block, Picture) else _block(block, page) for block in blocks]
    gaps = [0.0, *(_gap(a, b) * page.size for a, b in zip(blocks, blocks[1:], strict=False))]
    used = sum(row.height for rows in made if rows is not None for row in rows) + sum(gaps)
    count = made.count(None)
    share = (page.area.height - used) / count if count else 0.0
    share = max(share, page.area.height * _PICTURE / max(count, 1))
    rows: list[Row] = []
    for block, gap, known in zip(blocks, gaps, made, strict=False):
        if gap:
            rows.append(Row(gap))
        if known is not None:
            rows += known
        elif isinstance(block, Picture):
            rows.append(_picture(block, page, share))
    return rows


def _gap(above: Block, below: Block) -> float:
    listed = above.depth > 0 and below.depth > 0 and not above.quoted
    return _CLOSE if listed and isinstance(below, Paragraph) else _GAP


def _block(block: Block, page: Page) -> list[Row]:
    """The rows of a block, with what stands before it."""
    x, width = page.left(block), page.room(block)
    match block:
        case Paragraph():
            rows = flow(block.spans, x, width, _face(block, page))
        case Code():
            rows = [*_code(block, page, x, width)]
        case Formula():
            rows = [formula(block.tex, x, width, page.face)]
        case Table():
            rows = [*_table(block, page, x, width)]
        case _:
            rows = [_rule(page, x, width)] if isinstance(block, Rule) else []
    if rows and (before := [*_before(block, page, x)]):
        rows[0] = Row(rows[0].height, (*before, *rows[0].marks))
    if block.quoted:
        rows = [Row(row.height, (_quote(page, x, row.height), *row.marks)) for row in rows]
    return rows


def _face(block: Paragraph, page: Page) -> Face:
    if not block.level:
        return page.face
    size = float(round(page.size * _HEADS[block.level - 1]))
    return Face(size, page.stage.palette, bold=True)


def _before(block: Block, page: Page, x: float) -> Iterator[Mark]:
    """The dot or number of an item."""
    if block.mark:
        ink, size = page.stage.palette.accent, page.size
        place = at(x - size * 0.45, size * LINE / 2)
        yield Texts(place, (block.mark,), ink, size, "right", bold=True)


def _quote(page: Page, x: float, height: float) -> Mark:
    bar = np.array([[x - page.size * 0.9, 0, page.size * 0.18, height]], np.float32)
    return Boxes(bar, page.stage.palette.accent)


def _rule(page: Page, x: float, width: float) -> Row:
    line = np.array([[[x, page.size / 2], [x + width, page.size / 2]]], np.float32)
    return Row(page.size, (Lines(line, page.stage.palette.border, 2.0),))


def _code(block: Code, page: Page, x: float, width: float) -> Iterator[Row]:
    """Lines of code on a panel, each in the colours of its language."""
    palette, lines = page.stage.palette, block.text.expandtabs(4).split("\n")
    pad, longest = page.size * 0.7, max(map(len, lines), default=0)
    wanted, least = page.size * _CODE, page.stage.text(SIZES[-1])
    fitting = wanted * (width - 2 * pad) / max(text_width("0" * longest, wanted, mono=True), 1.0)
    size = float(int(max(min(wanted, fitting), min(wanted, least))))
    step = size * 1.45
    colours = _coloured("\n".join(lines), block.language)

    def panel(height: float) -> Boxes:
        return Boxes(np.array([[x, 0, width, height]], np.float32), palette.panel)

    yield Row(pad / 2, (panel(pad / 2),))
    for number, line in enumerate(lines):
        shown = elide(line, width - 2 * pad, size, mono=True)
        inks = colours[number] if number < len(colours) else []
        yield Row(step, (panel(step), *_inked(shown, inks, x + pad, step / 2, size, page)))
    yield Row(pad / 2, (panel(pad / 2),))


@lru_cache(maxsize=128)
def _coloured(text: str, language: str) -> list[list[Coloured]]:
    """Which letters of code have which colour; none where nobody knows the language."""
    if not language or len(text) > _COLOURED:
        return []
    try:
        return coloured(text, language)
    except Exception:  # what Pygments does not know, or stumbles over, is in one colour
        return []


def _inked(
    line: str, inks: list[Coloured], x: float, y: float, size: float, page: Page
) -> Iterator[Mark]:
    """A line of code in pieces of one colour."""
    letter, palette, done = text_width("0", size, mono=True), page.stage.palette, 0
    for start, length, name, _ in (*inks, (len(line), 0, "ink", False)):
        parts = (done, start, palette.ink), (start, start + length, getattr(palette, name))
        for begin, end, ink in parts:
            if line[begin:end].strip():
                place = at(x + begin * letter, y)
                yield Texts(place, (line[begin:end],), ink, size, mono=True)
        done = start + length


def _table(block: Table, page: Page, x: float, width: float) -> Iterator[Row]:
    """Rows of cells as wide as what is in them, or as there is room for; a line below the head."""
    count = max(map(len, block.rows), default=0)
    faces = [Face(page.size, page.stage.palette, bold=not n) for n in range(len(block.rows))]
    gap = page.size * 1.4
    wants = [0.0] * count
    for row, face in zip(block.rows, faces, strict=True):
        for c, spans in enumerate(row):
            wants[c] = max(wants[c], natural(spans, face))
    room = width - gap * max(count - 1, 0)
    widths = [want * min(1.0, room / max(sum(wants), 1.0)) for want in wants]
    for number, (row, face) in enumerate(zip(block.rows, faces, strict=True)):
        left, marks, height = x, list[Mark](), page.size * LINE
        for c, spans in enumerate(row):
            inside = natural(spans, face) if c < len(block.right) and block.right[c] else 0.0
            begin = left + max(widths[c] - inside, 0.0) if inside else left
            y = 0.0
            for line in flow(spans, begin, widths[c] + 1.0, face):
                marks += shifted(line.marks, 0.0, y)
                y += line.height
            height = max(height, y)
            left += widths[c] + gap
        if not number:
            line_at = np.array([[[x, height], [min(left - gap, x + width), height]]], np.float32)
            marks.append(Lines(line_at, page.stage.palette.border, 2.0))
            height += page.size * 0.2
        yield Row(height, tuple(marks))


def _picture(block: Picture, page: Page, most: float) -> Row:
    """A picture as large as there is room for; what it should show, where there is none."""
    x, width = page.left(block), page.room(block)
    try:
        if block.name not in page.files:
            raise InputError(block.name)
        pixels = pictures.pixels(page.files[block.name])
    except InputError:
        told = f"▲ {block.instead or block.name}"
        size = page.size
        frame = Rect(x, 0.0, width, size * LINE * 1.6)
        ink = page.stage.palette
        return Row(
            frame.height,
            (
                Boxes(frame.array(), ink.panel, stroke=ink.border),
                Texts(
                    at(*frame.center), (elide(told, width - size, size),), ink.muted, size, "center"
                ),
            ),
        )
    high, wide = pixels.shape[:2]
    share = min(width / wide, most / high)
    rect = (x + (width - wide * share) / 2, 0.0, wide * share, high * share)
    return Row(rect[3], (Raster(rect, pixels, photo=True),))
