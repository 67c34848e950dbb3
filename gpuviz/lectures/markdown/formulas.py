"""Formulas in TeX as outlines, drawn by ziamath in its own font (STIX Two Math): no browser."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from warnings import filterwarnings
from xml.etree.ElementTree import Element

import numpy as np

from gpuviz.base.arrays import F32, I64
from gpuviz.base.errors import InputError
from gpuviz.lectures.markdown.blocks import formulas
from gpuviz.words.language import tr

LONGEST = 600  # letters of a formula
_DEEPEST = 24  # braces within each other
_SIZE = 100.0  # pixels in which they are drawn once, to be made larger and smaller from there
# Macros that name each other twice would grow without end; the others change what comes later.
_MACROS = re.compile(r"\\(?:[egx]?def|let|(?:re)?newcommand|newenvironment|require)\b")
_PATH = re.compile(r"[MLHVQCZmlhvqcz]|-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_Point = tuple[float, float]
_Contour = list[tuple[_Point, _Point, _Point, _Point]]


@dataclass(frozen=True, eq=False)
class FormulaOutline:
    """A formula in letters one pixel large: curves and contours as in `Outlines`; the line it
    stands on is y = 0, and x = 0 its left end.
    """

    points: F32
    begins: I64
    width: float
    above: float
    below: float


@lru_cache(maxsize=512)
def drawn(tex: str) -> FormulaOutline:
    """The outlines of a formula; InputError says that it cannot be drawn."""
    if len(tex) > LONGEST:
        raise InputError(tr("a formula has at most {most} letters", most=LONGEST))
    if found := _MACROS.search(tex):
        raise InputError(tr("{command} is not known in formulas", command=found[0]))
    if _depth(tex) > _DEEPEST:
        raise InputError(tr("the formula {tex} cannot be read", tex=tex[:80]))
    try:
        return _of(_svg(tex))
    except Exception as error:  # two libraries that say in many ways what is no TeX
        raise InputError(tr("the formula {tex} cannot be read", tex=tex[:80])) from error


def _depth(tex: str) -> int:
    """How deep its braces are within each other."""
    steps = np.array([(c == "{") - (c == "}") for c in tex] or [0])
    return int(steps.cumsum().max())


def trouble(words: str) -> list[str]:
    """What is wrong with the formulas of a text in Markdown."""
    said: list[str] = []
    for tex in formulas(words):
        try:
            drawn(tex)
        except InputError as error:
            said.append(str(error))
    return said


def _svg(tex: str) -> Element:
    # A tenth of a second, which only slides with formulas pay.
    filterwarnings("ignore", category=DeprecationWarning, module="ziamath")  # of no use to a reader
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False  # every sign with its own outline
    element: Element = Latex(tex, size=_SIZE).svgxml()
    return element


def _of(svg: Element) -> FormulaOutline:
    left, top, width, height = map(float, str(svg.get("viewBox")).split())
    contours = [contour for element in svg.iter() for contour in _contours(element) if contour]
    counts = [len(contour) for contour in contours]
    points = np.array([curve for contour in contours for curve in contour], np.float32)
    points = points.reshape(-1, 4, 2) - np.array([left, 0], np.float32)
    begins = np.cumsum([0, *counts[:-1]]) if counts else np.zeros(0)
    if not np.isfinite(points).all():
        raise ValueError("endless")
    return FormulaOutline(
        (points / _SIZE).astype(np.float32),
        begins.astype(np.int64),
        width / _SIZE,
        max(-top, 0.0) / _SIZE,
        max(top + height, 0.0) / _SIZE,
    )


def _contours(element: Element) -> Iterator[_Contour]:
    """Those of a sign, a bar, a frame."""
    tag = element.tag.rpartition("}")[2]
    stroke = element.get("stroke") not in (None, "none")
    if tag == "path" and not stroke:
        yield from _traced(str(element.get("d")))
    elif tag == "path":
        ends = [float(n) for n in re.findall(r"-?\d+\.?\d*", str(element.get("d")))]
        yield _bar((ends[0], ends[1]), (ends[2], ends[3]), float(element.get("stroke-width") or 1))
    elif tag == "rect":
        x, y, w, h = (float(element.get(key) or 0) for key in ("x", "y", "width", "height"))
        if not stroke:
            yield _bar((x, y + h / 2), (x + w, y + h / 2), h)
            return
        thick = float(element.get("stroke-width") or 1)
        for one, other in (
            ((x, y), (x + w, y)),
            ((x, y + h), (x + w, y + h)),
            ((x, y), (x, y + h)),
            ((x + w, y), (x + w, y + h)),
        ):
            yield _bar(one, other, thick)


def _traced(path: str) -> Iterator[_Contour]:
    """The contours of the data of a path, all of its curves made cubic ones."""
    found = _PATH.findall(path)
    contour: _Contour = []
    at = start = (0.0, 0.0)
    index, command = 0, ""
    needed = {"M": 2, "L": 2, "H": 1, "V": 1, "Q": 4, "C": 6, "Z": 0}
    while index < len(found):
        if found[index].isalpha():
            command, index = found[index], index + 1
        numbers = [float(n) for n in found[index : index + needed[command]]]  # absolute ones only
        index += len(numbers)
        if command in "MZ":
            yield contour
            contour, at = [], (numbers[0], numbers[1]) if command == "M" else start
            start = at
            continue
        if command in "HV":
            numbers = [numbers[0], at[1]] if command == "H" else [at[0], numbers[0]]
        *between, end = zip(numbers[::2], numbers[1::2], strict=True)
        contour.append(_cubic(at, between, end))
        at = end
    yield contour


def _cubic(a: _Point, between: list[_Point], b: _Point) -> tuple[_Point, _Point, _Point, _Point]:
    if len(between) == 2:
        return a, between[0], between[1], b
    if not between:
        return a, _between(a, b, 1 / 3), _between(a, b, 2 / 3), b
    return a, _between(a, between[0], 2 / 3), _between(b, between[0], 2 / 3), b


def _between(a: _Point, b: _Point, share: float) -> _Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


def _bar(a: _Point, b: _Point, thick: float) -> _Contour:
    """A straight stroke as a contour."""
    long = max(float(np.hypot(b[0] - a[0], b[1] - a[1])), 1e-9)
    dx, dy = (b[1] - a[1]) / long * thick / 2, (a[0] - b[0]) / long * thick / 2
    corners = [
        (a[0] + dx, a[1] + dy),
        (b[0] + dx, b[1] + dy),
        (b[0] - dx, b[1] - dy),
        (a[0] - dx, a[1] - dy),
    ]
    return [_cubic(p, [], q) for p, q in zip(corners, [*corners[1:], corners[0]], strict=True)]
