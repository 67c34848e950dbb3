"""What all pages have in common: where they lie, their words, their head, and what they load."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from gpuviz import __version__
from gpuviz.base import resources
from gpuviz.draw.palette import DARK, LIGHT
from gpuviz.export.page import fill, text
from gpuviz.export.svg import STYLE
from gpuviz.site.two_themes import pair
from gpuviz.words import glossary, language
from gpuviz.words.language import chosen, texts, tr

_NAMES = ("ground", "panel", "border", "ink", "muted", "accent", "accent_soft")


def words() -> dict[str, str]:
    """What pages and their script say, by name; `{value}` and the like are filled in by either."""
    said = texts("pages")["site"]
    return {name: tr(said[name]) for name in said}


def word_list() -> dict[str, object]:
    """The glossary as the script of a page reads it."""
    entries = glossary.entries()
    return {
        "pattern": glossary.pattern().replace(r"\w", r"[\w\u00c0-\u024f]"),  # as Python has it
        "ids": {tr(one.word).lower(): one.id for one in entries.values()},
        "entries": {
            one.id: {"word": tr(one.word), "text": tr(one.text), "see": list(one.see)}
            for one in entries.values()
        },
        "language": chosen(),
    }


@dataclass(frozen=True)
class Place:
    """The pages of a language of the site in `root`."""

    root: Path
    language: str

    @property
    def folder(self) -> Path:
        """Of its pages."""
        return self.root / self.below

    @property
    def below(self) -> str:
        """The same from the top of the site, as links have it."""
        return "" if self.language == language.ENGLISH else f"{self.language}/"

    @property
    def up(self) -> str:
        """From its pages to the top."""
        return "../" if self.below else ""

    def still(self, lesson: str) -> Path:
        """The file of a lesson's picture in lists of lessons."""
        return self.folder / "data" / lesson / "still.svg"


def spoken(root: Path) -> Iterator[Place]:
    """The places of all languages; each is the language chosen while its turn lasts."""
    before = language.chosen()
    try:
        for name in language.languages():
            language.choose(name)
            yield Place(root, name)
    finally:
        language.choose(before)


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
