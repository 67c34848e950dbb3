"""A lecture as a page to scroll through: each slide's picture, and its question before it."""

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from itertools import groupby
from pathlib import Path
from urllib.parse import urlencode

from gpuviz.course import COURSE
from gpuviz.draw.palette import LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.export.page_data import as_text, packed
from gpuviz.files import writing as files
from gpuviz.lectures.bundle import opened
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.pages import Page, pages
from gpuviz.run.session import Library, Session
from gpuviz.site.frame import Place, page, spoken, words
from gpuviz.site.lesson_page import GROUND, TALL, WIDE
from gpuviz.site.two_themes import picture
from gpuviz.views.lesson_view import View
from gpuviz.views.provenance import Provenance

Drawn = dict[str, tuple[str, str]]  # by the shape of the screen
_LOOKS = Provenance("", {}, "sm_90", theme="light", width=WIDE.width, height=WIDE.height)


def write(file: Path, root: Path) -> None:
    """The pages of a lecture, with those of each language; its slides' launches are run.

    Raises
    ------
    InputError, FormatError : it cannot be read
    """
    for place in spoken(root):
        session = Session()
        lecture = opened(file, session, language=place.language)
        pictures: list[Drawn] = []
        slides = "".join(_slides(lecture, session.library(file), pictures))
        parts = {
            "pictures": packed(as_text({"pictures": pictures})),
            "title": escape(lecture.title),
            "author": escape(lecture.author),
            "slides": slides,
        }
        name = f"{name_of(file)}.html"
        files.write(place.folder / name, page("lecture.html", parts, place, name), parents=True)


def _slides(lecture: Lecture, library: Library, pictures: list[Drawn]) -> Iterator[str]:
    """Slide after slide: only its first and its last picture are drawn, into `pictures`."""
    found = (one for one in pages(lecture, _LOOKS, library) if isinstance(one, Page))
    drawn = {number: list(every) for number, every in groupby(found, _number)}
    for number, slide in enumerate(lecture.slides, 1):
        yield _slide(number, slide, drawn.get(number, []), pictures)


def title_of(file: Path, place: Place) -> str:
    """What it is called in a language.

    Raises
    ------
    InputError, FormatError : it cannot be read
    """
    return opened(file, Session(), language=place.language).title


def name_of(path: Path) -> str:
    """The name of the page of a lecture's file."""
    return f"lecture-{path.stem}"


def _number(found: Page) -> int:
    return int(found.name[:2])


def _slide(number: int, slide: Slide, drawn: list[Page], pictures: list[Drawn]) -> str:
    """A slide: words as words; a question and its picture first, what comes of it on demand."""
    head = f'<section class=slide id="slide-{number}"><h2>{escape(slide.name)}</h2>'
    if not drawn:
        said = slide.words or "; ".join(map(str, slide.problems))
        return f"{head}<p>{escape(said)}</p></section>\n"
    if slide.view is None:
        return f"{head}{_figure(drawn[-1], slide.words, pictures)}</section>\n"
    last = _figure(drawn[-1], slide.name, pictures)
    if slide.question is not None and len(drawn) > 1:
        asked = _figure(drawn[0], slide.question.ask, pictures)
        summary = escape(words()["give_up"])
        last = f"{asked}<details><summary>{summary}</summary>{last}</details>"
    return f"{head}{last}{_link(slide.view)}</section>\n"


def _figure(found: Page, said: str, pictures: list[Drawn]) -> str:
    """The picture of a page; the script of the page puts it in its place."""
    view = found.view
    wide = replace(view.stage, palette=LIGHT)
    pictures.append({"wide": _drawn(view, wide), "tall": _drawn(view, TALL.stage)})
    return (
        f'<figure><svg role="img" aria-label="{escape(said)}" '
        f'data-picture="{len(pictures) - 1}"></svg></figure>'
    )


def _drawn(view: View, stage: Stage) -> tuple[str, str]:
    """A picture on a screen of one shape, in both themes: what of it is seen, and its elements."""
    drawn = picture(lambda one: view.story.frame(view.provenance.time, one), stage)
    defs = f"<defs>{''.join(drawn.patterns.values())}</defs>"
    return f"0 0 {stage.width:g} {stage.height:g}", f"{defs}{GROUND}{''.join(drawn.elements)}"


def _link(view: Provenance) -> str:
    """To the lesson with the slide's values; nothing where it is of a kernel of its own."""
    if view.launch or not any(one.id == view.lesson for one in COURSE):
        return ""
    values = urlencode({key: str(value) for key, value in view.values.items()})
    said = escape(words()["play_lesson"])
    return f'<p><a href="{view.lesson}.html{"#" + values if values else ""}">{said}</a></p>'
