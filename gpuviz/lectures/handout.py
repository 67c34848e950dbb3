"""A lecture as pages to print: one PDF."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpuviz.base.errors import Cancelled
from gpuviz.draw.marks import Frame
from gpuviz.export.export import Painter
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.pages import MissingPage, pages
from gpuviz.run.run import Cancel, Progress
from gpuviz.run.session import Library
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

THEME = "projector"  # dark on white


def handout(
    lecture: Lecture, library: Library, painter: Painter, progress: Progress, cancel: Cancel
) -> bytes:
    """A page for each click of the speaker; a slide that cannot be drawn says why on its page."""
    frames: list[Frame] = []
    for number, slide in enumerate(lecture.slides):
        progress(number / len(lecture.slides))
        for frame in drawn(lecture, slide, library):
            if cancel():
                raise Cancelled(lecture.title)
            frames.append(frame)
    return painter.pdf(frames, lecture.title)


def drawn(lecture: Lecture, slide: Slide, library: Library) -> Iterator[Frame]:
    """The pages of a slide; one that cannot be drawn says why."""
    looks = Provenance("", {}, "sm_90", theme=THEME)
    for page in pages(replace(lecture, slides=(slide,)), looks, library):
        if not isinstance(page, MissingPage):
            yield page.view.still
        else:
            told = Slide(slide.title or tr("This slide is missing"), words=page.why)
            yield from drawn(lecture, told, library)
