"""A lesson as one HTML page that needs neither network nor server: its pictures, played.

Of two pictures, only elements that differ are stored twice: `parts` has each SVG element once, and
a picture is the numbers of its elements, given as the difference to the picture before it. All of
it is deflated; the page unpacks it itself, in browsers of any age (resources/page/inflate.js).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import IO

from gpuviz.base import resources
from gpuviz.base.waiting import Cancel, Progress, go_on, quiet
from gpuviz.draw.palette import THEMES, Palette, code
from gpuviz.export import svg
from gpuviz.export.export import Export, Options
from gpuviz.export.page_data import Picture, Playback, as_text, packed, playback
from gpuviz.export.svg_marks import number
from gpuviz.results.rows import totals
from gpuviz.results.table import Table
from gpuviz.views.lesson_view import View
from gpuviz.views.provenance import KEYWORD
from gpuviz.words.language import texts, tr


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
        "script": text("inflate.js") + text("page.js"),
        "keyword": KEYWORD,
        "language": made.language,
    }
    return fill(text("page.html"), filled)


def contents(
    view: View, options: Options, progress: Progress = quiet, cancel: Cancel = go_on
) -> Contents:
    """What the page of a view shows; Cancelled when `cancel` says so."""
    told = playback(
        view, options, lambda t: Picture.of(view.frame(t)), progress=progress, cancel=cancel
    )
    colours = _colours(THEMES[view.provenance.theme])
    style = "\n".join((colours, svg.STYLE, text("page.css")))
    return Contents(body(view, told, svg.ground(view.frame(0.0))), style, as_text(told.data))


def body(view: View, told: Playback, ground: str) -> str:
    """The elements that a player plays in; `ground` is what lies behind the pictures."""
    made = view.provenance
    return fill(
        text("body.html"),
        {
            "title": escape(view.story.title or made.lesson),
            "words": escape(made.words()),
            "width": number(made.width),
            "height": number(made.height),
            "ground": ground,
            "patterns": f"<defs>{told.patterns}</defs>",
            "still": told.still,
            "counts": html(totals(view.runs)),
            **_said(),
        },
    )


def _said() -> dict[str, str]:
    """The words of the player."""
    said = texts("pages")["player"]
    return {name: escape(tr(said[name])) for name in said}


def write(export: Export, file: IO[bytes]) -> None:
    """The page of a view."""
    file.write(document(export.view, export.options, export.progress, export.cancel).encode())


def html(table: Table) -> str:
    """A table as HTML."""
    head = "".join(f"<th scope=col>{escape(cell)}" for cell in table.columns)
    cells = ([escape(str(cell)) for cell in row] for row in table.rows)
    rows = (f"<tr><th scope=row>{row[0]}" + "".join(f"<td>{c}" for c in row[1:]) for row in cells)
    return f"<table><thead><tr>{head}<tbody>{''.join(rows)}</table>"


def _colours(palette: Palette) -> str:
    """The theme's colours as properties of CSS."""
    names = ("ground", "panel", "border", "ink", "muted", "faint", "accent", "accent_soft")
    named = (f"--{name.replace('_', '-')}:{code(getattr(palette, name))}" for name in names)
    return f":root,:host{{color-scheme:{'dark' if palette.dark else 'light'};{';'.join(named)}}}"


def text(name: str) -> str:
    """A file of resources/page."""
    return resources.text(f"page/{name}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with `{{name}}` replaced, once: what is filled in is not looked at again."""
    parts = template.split("{{")
    return parts[0] + "".join(
        values[name] + rest for name, _, rest in (part.partition("}}") for part in parts[1:])
    )
