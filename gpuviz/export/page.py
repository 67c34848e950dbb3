"""A lesson as one HTML page that needs neither network nor server: its pictures, played.

Of two pictures, only elements that differ are stored twice: `parts` has each SVG element once, and
a picture is the numbers of its elements, given as the difference to the picture before it. All of
it is deflated; the page unpacks it itself, in browsers of any age (resources/page/inflate.js).
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html import escape
from typing import IO, Any, Generic, TypeVar

from gpuviz import resources
from gpuviz.draw.color import code
from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import THEMES, Palette
from gpuviz.errors import Cancelled, InputError
from gpuviz.export import svg
from gpuviz.export.export import Export, Options
from gpuviz.export.film import moments
from gpuviz.export.hover_texts import Hover, hovers
from gpuviz.export.svg_marks import elements, number
from gpuviz.kernels.signature import short_name
from gpuviz.memory.counts import Count, by_name
from gpuviz.panels.script import Step
from gpuviz.results.table import Table
from gpuviz.runners.base import Cancel, Progress, Run, go_on, quiet
from gpuviz.views.lesson_view import View
from gpuviz.views.provenance import KEYWORD

MOST_PER_SECOND = 12  # enough to follow, and small
_MOST_BOUNDS = 400
_LONG, _NEAR = 600, 80  # characters of an element worth dividing; pixels that stay together
_ENDS = re.compile("[ a-zA-Z]")  # of a number in a path

Part = TypeVar("Part", bound=Hashable)
Edit = tuple[int, int, list[int]]  # replace `count` numbers from `at` by these


@dataclass(eq=False)
class Parts(Generic[Part]):
    """Everything once, by its number."""

    known: dict[Part, int] = field(default_factory=dict)

    def numbers(self, found: Iterable[Part]) -> list[int]:
        """The numbers of things; new ones are given the next."""
        return [self.known.setdefault(one, len(self.known)) for one in found]


@dataclass(frozen=True, eq=False)
class Contents:
    """What a page shows: the elements in its body, its style, and the pictures as data."""

    body: str
    style: str
    data: str


def document(
    view: View, options: Options, progress: Progress = quiet, cancel: Cancel = go_on
) -> str:
    """The page; Cancelled when `cancel` says so."""
    made, shown = view.provenance, contents(view, options, progress, cancel)
    filled = {
        "title": escape(view.story.title or made.lesson),
        "record": made.text(),
        "style": shown.style,
        "body": shown.body,
        "data": packed(shown.data),
        "script": _text("inflate.js") + _text("page.js"),
        "keyword": KEYWORD,
        "language": made.language,
    }
    return _fill(_text("page.html"), filled)


def packed(text: str) -> str:
    """A text as a page holds it: deflated, in base64."""
    squeeze = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    return b64encode(squeeze.compress(text.encode()) + squeeze.flush()).decode()


def contents(
    view: View, options: Options, progress: Progress = quiet, cancel: Cancel = go_on
) -> Contents:
    """What the page of a view shows; Cancelled when `cancel` says so."""
    times = moments_of(view, options)
    parts, tips = Parts[str](), Parts[Hover]()
    frames, pictures, hovered = [], [], []
    for count, t in enumerate(times, 1):
        if cancel():
            raise Cancelled("stopped; the page was not written")
        frames.append(view.frame(t))
        pictures.append(
            parts.numbers(piece for element in elements(frames[-1]) for piece in pieces(element))
        )
        hovered.append(tips.numbers(hovers(frames[-1])))
        progress(count / len(times))
    data = {
        "times": times,
        "parts": list(parts.known),
        "edits": edits(pictures),
        "tips": list(tips.known),
        "hovers": edits(hovered),
        "end": view.provenance.end or view.story.duration,
        "steps": [_step(step) for step in _between(view)],
        "sources": _sources(view.runs),
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    colours = _colours(THEMES[view.provenance.theme])
    style = "\n".join((colours, svg.STYLE, _text("page.css")))
    return Contents(_body(view, frames, times), style, text)


def _body(view: View, frames: list[Frame], times: tuple[float, ...]) -> str:
    first = min(range(len(times)), key=lambda i: abs(times[i] - sum(times) / len(times)))
    filled = {
        "title": escape(view.story.title or view.provenance.lesson),
        "words": escape(view.provenance.words()),
        "width": number(frames[0].width),
        "height": number(frames[0].height),
        "ground": svg.ground(frames[0]),
        "patterns": svg.patterns(svg.hatches(frames)),
        "still": "".join(elements(frames[first])),
        "counts": _html(totals(view.runs)),
    }
    return _fill(_text("body.html"), filled)


def write(export: Export, file: IO[bytes]) -> None:
    """The page of a view."""
    file.write(document(export.view, export.options, export.progress, export.cancel).encode())


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
        (i1, i2 - i1, after[j1:j2])
        for kind, i1, i2, j1, j2 in reversed(matcher.get_opcodes())
        if kind != "equal"
    ]


def totals(runs: Mapping[str, Run]) -> Table:
    """A row a quantity that some run counts; of each run what is predicted, and what a GPU read."""
    columns: dict[str, Mapping[str, float]] = {}
    for role, run in runs.items():
        name = f"{role}: " if len(runs) > 1 else ""
        columns[name + run.modelled] = by_name(run.counts.totals)
        if (found := run.measurement) is not None:
            columns[name + found.caption] = found.values()
    keys = [key for key in Count if any(run.counts.totals[key] for run in runs.values())]
    cells = (tuple(_cell(values.get(key)) for values in columns.values()) for key in keys)
    rows = tuple((key.replace("_", " "), *row) for key, row in zip(keys, cells, strict=True))
    return Table(("quantity", *columns), rows)


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


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
    return {
        "start": step.start,
        "end": step.end,
        "label": step.label,
        "detail": step.detail,
        "line": step.line,
        "role": step.role,
        "kind": step.kind,
    }


def _sources(runs: Mapping[str, Run]) -> list[dict[str, Any]]:
    """Each source once, with the runs whose it is and the name of what they launch."""
    found: dict[str, dict[str, Any]] = {}
    for role, run in runs.items():
        entry = found.setdefault(run.trace.source, {"roles": {}, "text": run.trace.source})
        entry["roles"][role] = short_name(run.trace.launch.kernel)
    return [entry for entry in found.values() if entry["text"]]


def _html(table: Table) -> str:
    """A table as HTML."""
    head = "".join(f"<th scope=col>{escape(cell)}" for cell in table.head)
    rows = (
        f"<tr><th scope=row>{escape(row[0])}" + "".join(f"<td>{escape(c)}" for c in row[1:])
        for row in table.rows
    )
    return f"<table><thead><tr>{head}<tbody>{''.join(rows)}</table>"


def _colours(palette: Palette) -> str:
    """The theme's colours as properties of CSS."""
    names = ("ground", "panel", "border", "ink", "muted", "faint", "accent", "accent_soft")
    named = (f"--{name.replace('_', '-')}:{code(getattr(palette, name))}" for name in names)
    return f":root,:host{{color-scheme:{'dark' if palette.dark else 'light'};{';'.join(named)}}}"


def _text(name: str) -> str:
    return resources.text(f"page/{name}")


def _fill(template: str, values: Mapping[str, str]) -> str:
    """The template with `{{name}}` replaced, once: what is filled in is not looked at again."""
    parts = template.split("{{")
    return parts[0] + "".join(
        values[name] + rest for name, _, rest in (part.partition("}}") for part in parts[1:])
    )
