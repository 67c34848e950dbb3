"""What the speaker says, to print: small pictures of the slides, and beside each its notes."""

from collections.abc import Iterator

from gpuviz.base.errors import Cancelled
from gpuviz.base.waiting import Cancel, Progress
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, wrap
from gpuviz.draw.marks import Boxes, Frame, Mark
from gpuviz.draw.palette import THEMES
from gpuviz.draw.transform import fitted, shifted
from gpuviz.export.export import Painter
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.pages import THEME, drawn
from gpuviz.run.session import Library
from gpuviz.words.language import tr

PAGE = (1240.0, 1754.0)  # A4, upright
_MARGIN, _GAP = 90.0, 36.0
_PICTURE = (480.0, 270.0)
_SIZE, _TITLE, _LINE = 19.0, 22.0, 1.4  # of notes, of names of slides; from line to line
_Row = tuple[float, tuple[Mark, ...]]


def notes_pages(
    lecture: Lecture, library: Library, painter: Painter, progress: Progress, cancel: Cancel
) -> bytes:
    """One PDF: each slide as it ends, with its notes; long ones go on below, and on the next page.

    Raises
    ------
    Cancelled : `cancel` said so
    """
    rows: list[_Row] = []
    for number, slide in enumerate(lecture.slides):
        progress(number / len(lecture.slides))
        if cancel():
            raise Cancelled(lecture.title)
        *_, last = drawn(lecture, slide, library)
        rows += _rows(number, slide, last)
    return painter.pdf([*_paged(rows)], lecture.title)


def _rows(number: int, slide: Slide, picture: Frame) -> Iterator[_Row]:
    """Name, picture and as many of the notes as stand beside it; then the others, page by page."""
    palette = THEMES[THEME]
    x, width = _MARGIN + _PICTURE[0] + _GAP, PAGE[0] - 2 * _MARGIN - _PICTURE[0] - _GAP
    name = f"{number + 1}  {slide.name}"
    if slide.minutes:
        name += "  ·  " + tr("{n:g} min", n=slide.minutes)
    head = wrap(name, PAGE[0] - 2 * _MARGIN, _TITLE, bold=True)[:2]
    marks: list[Mark] = [
        label(_MARGIN, (n + 0.5) * _TITLE * _LINE, text, palette.ink, _TITLE, True)
        for n, text in enumerate(head)
    ]
    top = (len(head) + 0.4) * _TITLE * _LINE
    small = fitted(picture, *_PICTURE)
    frame = Frame(*_PICTURE, picture.ground, small.marks)
    marks += shifted((_edge(), *frame.marks), _MARGIN, top)
    lines = [s for p in slide.notes.split("\n") for s in wrap(p, width, _SIZE) or ("",)]
    room = PAGE[1] - 2 * _MARGIN
    beside = min(len(lines), int((room - top) / (_SIZE * _LINE)))
    marks += _lines(lines[:beside], x, top)
    yield max(top + _PICTURE[1], top + beside * _SIZE * _LINE) + _GAP, tuple(marks)
    most = int((room - _GAP) / (_SIZE * _LINE))
    for begin in range(beside, len(lines), most):
        more = lines[begin : begin + most]
        yield len(more) * _SIZE * _LINE + _GAP, tuple(_lines(more, x, 0.0))


def _lines(lines: list[str], x: float, top: float) -> Iterator[Mark]:
    ink = THEMES[THEME].ink
    for n, line in enumerate(lines):
        if line:
            yield label(x, top + (n + 0.5) * _SIZE * _LINE, line, ink, _SIZE)


def _edge() -> Mark:
    """Around a picture, whose ground is that of the paper."""
    return Boxes(Rect(0, 0, *_PICTURE).array(), None, stroke=THEMES[THEME].border)


def _paged(rows: list[_Row]) -> Iterator[Frame]:
    """Rows below each other, as many as a page has room for."""
    ground = THEMES[THEME].ground
    marks: list[Mark] = []
    y = _MARGIN
    for height, row in rows:
        if marks and y + height - _GAP > PAGE[1] - _MARGIN:
            yield Frame(*PAGE, ground, tuple(marks))
            marks, y = [], _MARGIN
        marks += shifted(row, 0.0, y)
        y += height
    yield Frame(*PAGE, ground, tuple(marks))
