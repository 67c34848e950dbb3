"""The pictures of a story as the data that pages play.

Of two pictures, only elements that differ are stored twice: `parts` has each SVG element once, and
a picture is the numbers of its elements, given as the difference to the picture before it. Stories
told after one another may share what they have in common (`Pool`).
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Generic, TypeVar

from gpuviz.base.errors import Cancelled, InputError
from gpuviz.base.waiting import Cancel, Progress, go_on, quiet
from gpuviz.draw.hit import text_boxes
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Frame, Mark, Raster, Texts
from gpuviz.export import svg
from gpuviz.export.export import Options
from gpuviz.export.film import moments
from gpuviz.export.svg_marks import elements
from gpuviz.launch.signature import short_name
from gpuviz.run.run import Run
from gpuviz.story.script import Step
from gpuviz.views.lesson_view import View

MOST = 600  # items of a mark: a page stays small, and beyond that they are a few pixels wide

Hover = tuple[float, float, float, float, str]


def hovers(frame: Frame) -> Iterator[Hover]:
    """Left, top, width, height and text of all that says something; the last one is on top."""
    for mark in frame.marks:
        yield from _of(mark)


def _of(mark: Mark) -> Iterator[Hover]:
    """Curves are left to their ends: a rectangle round one would cover what is beside it."""
    if isinstance(mark, Boxes | Texts) and mark.tip is not None:
        boxes = mark.rect if isinstance(mark, Boxes) else text_boxes(mark)
        texts = [mark.tip(n) for n in range(len(boxes))] if len(boxes) <= MOST else []
    elif isinstance(mark, Raster) and mark.tip is not None:
        rows, columns = mark.pixels.shape[:2]
        boxes = grid(Rect(*mark.rect), rows, columns)
        places = [(row, column) for row in range(rows) for column in range(columns)]
        texts = [mark.tip(*place) for place in places] if len(places) <= MOST else []
    else:
        return
    for box, text in zip(boxes.round(1).tolist(), texts, strict=False):
        if text:
            left, top, width, height = box
            yield left, top, width, height, text


MOST_PER_SECOND = 12  # enough to follow, and small
_MOST_BOUNDS = 400
_LONG, _NEAR = 600, 80  # characters of an element worth dividing; pixels that stay together
_ENDS = re.compile("[ a-zA-Z]")  # of a number in a path

Part = TypeVar("Part", bound=Hashable)
Edit = tuple[int, int, list[int]]  # replace `count` numbers from `at` by these, as `steps_of`


@dataclass(eq=False)
class Parts(Generic[Part]):
    """Everything once, by its number."""

    known: dict[Part, int] = field(default_factory=dict)

    def numbers(self, found: Iterable[Part]) -> list[int]:
        """The numbers of things; new ones are given the next."""
        return [self.known.setdefault(one, len(self.known)) for one in found]


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture as pages hold it: its elements, what they say, and the patterns that hatch them."""

    elements: Sequence[str]
    hovers: Sequence[Hover]
    patterns: Mapping[str, str]

    @classmethod
    def of(cls, frame: Frame) -> Picture:
        """That of a frame, in its own colours."""
        patterns = {name: svg.pattern(name, rgba) for name, rgba in svg.hatches((frame,)).items()}
        return cls(tuple(elements(frame)), tuple(hovers(frame)), patterns)


@dataclass(frozen=True, eq=False)
class Pool:
    """What pages have been told already: a story told with it stores only what is new."""

    parts: Parts[str] = field(default_factory=Parts)
    tips: Parts[Hover] = field(default_factory=Parts)

    def copy(self) -> Pool:
        """The same, to go on from more than once."""
        return Pool(Parts(dict(self.parts.known)), Parts(dict(self.tips.known)))


@dataclass(frozen=True, eq=False)
class Playback:
    """A story as data: what the script of a page plays, and one picture to begin with."""

    data: dict[str, Any]
    still: str
    patterns: str


def playback(
    view: View,
    options: Options,
    draw: Callable[[float], Picture],
    known: Pool | None = None,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
) -> Playback:
    """The story of a view; `draw` gives its picture at a time.

    Raises
    ------
    Cancelled : when `cancel` says so
    InputError : less than one picture a second
    """
    times, known = moments_of(view, options), known or Pool()
    parts, tips = known.parts, known.tips
    had = len(parts.known), len(tips.known)
    pictures, hovered, patterns = [], [], dict[str, str]()
    for count, t in enumerate(times, 1):
        if cancel():
            raise Cancelled("stopped; the page was not written")
        drawn = draw(t)
        pictures.append(parts.numbers(p for element in drawn.elements for p in pieces(element)))
        hovered.append(tips.numbers(drawn.hovers))
        patterns.update(drawn.patterns)
        progress(count / len(times))
    every = list(parts.known)
    first = min(range(len(times)), key=lambda i: abs(times[i] - sum(times) / len(times)))
    data = {
        "times": times,
        "parts": every[had[0] :],
        "edits": edits(pictures),
        "tips": list(tips.known)[had[1] :],
        "hovers": edits(hovered),
        "end": view.provenance.end or view.story.duration,
        "steps": [_step(step) for step in _between(view)],
        "sources": _sources(view.runs),
    }
    still = "".join(every[number] for number in pictures[first])
    return Playback(data, still, "".join(patterns.values()))


def as_text(data: Mapping[str, Any]) -> str:
    """Data as a script reads it."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def packed(text: str) -> str:
    """A text as a page holds it: deflated, in base64."""
    squeeze = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    return b64encode(squeeze.compress(text.encode()) + squeeze.flush()).decode()


def pieces(element: str) -> Iterator[str]:
    """A path of many shapes in parts: where some cells of a grid change, the others are shared.

    A part is what begins at the same height, not far apart.
    """
    if len(element) < _LONG or not element.startswith("<path"):
        yield element
        return
    head, _, rest = element.partition(' d="')
    shapes, _, tail = rest.partition('"')
    rows: dict[tuple[float, str], list[str]] = {}
    for shape in shapes.split("M")[1:]:
        x, y, _ = _ENDS.split(shape, maxsplit=2)
        rows.setdefault((float(x) // _NEAR, y), []).append(shape)
    for row in rows.values():
        yield f'{head} d="M{"M".join(row)}"{tail}'


def edits(pictures: list[list[int]]) -> list[list[Edit]]:
    """Each picture as changes to the one before, from the end to the beginning."""
    before: list[int] = []
    found = []
    for after in pictures:
        found.append(_changes(before, after))
        before = after
    return found


def _changes(before: list[int], after: list[int]) -> list[Edit]:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [
        (i1, i2 - i1, steps_of(after[j1:j2]))
        for kind, i1, i2, j1, j2 in reversed(matcher.get_opcodes())
        if kind != "equal"
    ]


def steps_of(numbers: Sequence[int]) -> list[int]:
    """The first number, and of each other how far it is from the one before: that packs well."""
    return [number - before for before, number in zip((0, *numbers), numbers, strict=False)]


def moments_of(view: View, options: Options) -> tuple[float, ...]:
    """Evenly spaced moments, and those at which steps begin and the story ends.

    Raises
    ------
    InputError : less than one picture a second
    """
    if options.fps < 1:
        raise InputError(f"{options.fps} pictures a second: a page takes at least 1")
    start, end = _range(view)
    pace = min(options.fps, MOST_PER_SECOND)
    bounds = [step.start for step in _between(view) if start <= step.start <= end]
    if len(bounds) > _MOST_BOUNDS:  # a page of hundreds of steps is told evenly
        bounds = []
    even = [t for t in moments(start, end, pace) if all(abs(t - b) > 0.3 / pace for b in bounds)]
    return tuple(sorted({*even, *bounds, end}))


def _range(view: View) -> tuple[float, float]:
    """What of the story is written: a stretch that was chosen, or all."""
    made = view.provenance
    return (made.time, made.end) if made.end > made.time else (0.0, view.story.duration)


def _between(view: View) -> Sequence[Step]:
    """The steps that are seen in it."""
    start, end = _range(view)
    return view.story.steps[view.story.step_at(start) : view.story.step_at(end) + 1]


def _step(step: Step) -> dict[str, Any]:
    names = ("start", "end", "label", "detail", "line", "role", "kind")
    return {name: getattr(step, name) for name in names}


def _sources(runs: Mapping[str, Run]) -> list[dict[str, Any]]:
    """Each source once, with the runs whose it is and the name of what they launch."""
    found: dict[str, dict[str, Any]] = {}
    for role, run in runs.items():
        entry = found.setdefault(run.trace.source, {"roles": {}, "text": run.trace.source})
        entry["roles"][role] = short_name(run.trace.launch.kernel)
    return [entry for entry in found.values() if entry["text"]]
