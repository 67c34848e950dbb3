"""What all pages have in common: head, header with languages and colours, and what they load."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from gpuviz import __version__
from gpuviz.base import resources
from gpuviz.draw.palette import DARK, LIGHT
from gpuviz.export.page import fill, text
from gpuviz.export.svg import STYLE
from gpuviz.site.place import Place
from gpuviz.site.two_themes import pair
from gpuviz.site.ui_words import words
from gpuviz.words import language

_NAMES = ("ground", "panel", "border", "ink", "muted", "accent", "accent_soft")


def page(template: str, parts: Mapping[str, str], place: Place, name: str) -> str:
    """A page filled in; `name` is its file."""
    filled = {
        **{key: escape(said) for key, said in words().items()},
        **parts,
        "up": place.up,
        "language": place.language,
        "languages": _languages(place, name),
        "version": __version__,
    }
    inner = fill(resources.text(f"site/{template}"), filled)
    return fill(resources.text("site/page.html"), {**filled, "content": inner})


def style() -> str:
    """The style sheet of all pages: that of exported pages, in two themes, and what a site adds."""
    colours = ";".join(
        f"--{name.replace('_', '-')}:{pair(getattr(LIGHT, name), getattr(DARK, name))}"
        for name in _NAMES
    )
    own = text("page.css"), resources.text("site/site.css")
    return "\n".join((f":root{{{colours}}}", STYLE, *own))


def script() -> str:
    """The script of all pages."""
    own = [text(name) for name in ("inflate.js", "page.js", "knob.js")]
    return "\n".join((*own, resources.text("site/site.js")))


def _languages(place: Place, name: str) -> str:
    """Links to the same page in all languages."""
    return "".join(
        f'<a lang="{other}" hreflang="{other}"{_here(other, place)} '
        f'href="{place.up}{Place(place.root, other).below}{name}">{said}</a>'
        for other, said in language.LANGUAGES.items()
    )


def _here(other: str, place: Place) -> str:
    return ' aria-current="true"' if other == place.language else ""
