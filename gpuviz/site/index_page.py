"""The page that a site begins with: its lessons by chapter, its lectures, its documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from gpuviz.files import bounded
from gpuviz.site.frame import Place, page, words
from gpuviz.story.lesson import Lesson
from gpuviz.words.language import tr

Titled = tuple[str, str]  # of a lecture: the name of its page, and its title


def index(
    lessons: Sequence[Lesson], lectures: Sequence[Titled], place: Place, documentation: str = ""
) -> str:
    """The page; `documentation` is where that lies, from the top of the site."""
    link = f'<p><a href="{place.up}{documentation}">{escape(words()["documentation"])}</a></p>'
    parts = {
        "title": words()["course"],
        "shelves": "".join(_shelves(lessons, lectures, place)),
        "documentation_link": link if documentation else "",
    }
    return page("index.html", parts, place, "index.html")


def _shelves(lessons: Sequence[Lesson], lectures: Sequence[Titled], place: Place) -> Iterator[str]:
    if lectures:
        yield _shelf(words()["lectures"], (_card(name, title) for name, title in lectures))
    for _, found in groupby(lessons, lambda one: one.chapter):
        shelf = tuple(found)
        yield _shelf(tr(shelf[0].chapter), (_lesson(one, place) for one in shelf))


def _shelf(name: str, cards: Iterator[str]) -> str:
    head = f"<section class=shelf><h2>{escape(name)}</h2>"
    return f"{head}<ul class=cards>{''.join(cards)}</ul></section>\n"


def _lesson(lesson: Lesson, place: Place) -> str:
    """Its picture is part of the page, and so in its fonts and colours."""
    picture = bounded.text(still(place, lesson.id))
    return _card(lesson.id, tr(lesson.title), tr(lesson.look_for), picture)


def _card(name: str, title: str, text: str = "", picture: str = "") -> str:
    said = f"<span>{escape(text)}</span>" if text else ""
    return f'<li><a href="{name}.html">{picture}<b>{escape(title)}</b>{said}</a></li>'


def still(place: Place, lesson: str) -> Path:
    """The file of a lesson's picture in lists of lessons."""
    return place.folder / "data" / lesson / "still.svg"
