"""A lecture on paper: the picture of every cue as a view that can be exported."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from gpuviz.base.errors import Cancelled, InputError, failure_of
from gpuviz.base.waiting import Cancel, Progress
from gpuviz.draw.heading import label
from gpuviz.draw.layout import wrap
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.palette import Palette
from gpuviz.draw.stage import Stage
from gpuviz.export.export import Painter
from gpuviz.lectures.answer import answer, figures
from gpuviz.lectures.cues import Cue, cues
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.over_time import lesson_of
from gpuviz.lectures.picture import SlideState, inked, letters
from gpuviz.lectures.plot_beside import plot_of
from gpuviz.run.session import Library
from gpuviz.story.lesson import Story
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import timed, view_of
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr


@dataclass(frozen=True, eq=False)
class Page:
    """A picture of a lecture: a name to tell it by, `02-02 Coalescing`, and its view.

    `last` says whether it is the last one of its slide, whose notes are `notes`.
    """

    name: str
    view: View
    notes: str = ""
    last: bool = True


@dataclass(frozen=True, eq=False)
class MissingPage:
    """A slide there is no picture of, and why."""

    number: int
    why: str


def pages(
    lecture: Lecture, looks: Provenance, library: Library | None = None
) -> Iterator[Page | MissingPage]:
    """A picture for the end of each cue, in order; size, theme and letters are those of `looks`.

    Launches are looked up in `library`, by default in what ships.
    """
    for number, slide in enumerate(lecture.slides, 1):
        try:
            yield from _of(number, slide, looks, library)
        except Exception as error:  # whatever goes wrong with a slide is that slide's
            yield MissingPage(number, failure_of(error).message)


def _of(number: int, slide: Slide, looks: Provenance, library: Library | None) -> Iterator[Page]:
    """The pages of one slide."""
    if not slide.playable:
        raise InputError("; ".join(map(str, slide.problems)))
    shown, view = _shown(slide, looks, library)
    every = cues(slide, shown.story)
    for place, cue in enumerate(every, 1):
        story = replace(view.story, frame=_picture(shown, cue))
        step = f"-{place:02}" if len(every) > 1 else ""
        name = _plain(f"{number:02}{step} {slide.name}")
        shown_at = replace(timed(view, cue.end), story=story)
        yield Page(name, shown_at, slide.notes, place == len(every))


def _shown(slide: Slide, looks: Provenance, library: Library | None) -> tuple[SlideState, View]:
    """What the slide's pictures need, and the view they are exported as."""
    if slide.view is None:
        shown = SlideState(slide)
        size = letters(looks.height, False) * looks.letters
        made = replace(
            looks, letters=size, lesson="", values={}, compare_values={}, compare_arch=""
        )
        return shown, View(Story(slide.title, "", (), _picture(shown, Cue())), {}, made)
    large = letters(looks.height, slide.halved) * looks.letters
    view = view_of(
        replace(
            slide.view, theme=looks.theme, width=looks.width, height=looks.height, letters=large
        ),
        library,
        lesson_of(slide),
        plot_of(slide),
    )
    measured = {k: r.measurement for k, r in view.runs.items() if r.measurement is not None}
    found = answer(slide.question, view.runs, measured) if slide.question is not None else None
    counted = figures(slide.numbers, view.runs, measured, slide.counted)
    return SlideState(slide, view.story, found, counted), view


def _picture(shown: SlideState, cue: Cue) -> Callable[[float, Stage], Frame]:
    """The picture of a cue as a story's `frame`."""

    def of(t: float, stage: Stage) -> Frame:
        return inked(shown, cue, t, stage)

    return of


def _plain(name: str) -> str:
    """A name that every file system takes."""
    return " ".join(re.sub(r"[^\w.+ -]+", "", name).split())[:80].strip()


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


_SHARE, _MARGIN = 0.5, 0.03  # height of the notes, of that of the picture; margin, of its width
_LARGEST, _LEAST, _LINE = 26, 8, 1.45  # sizes of letters, and from one line to the next


def with_notes(frame: Frame, notes: str, palette: Palette) -> Frame:
    """The picture with notes below it; long ones are set smaller, until they fit."""
    room, margin = frame.height * _SHARE, frame.width * _MARGIN
    for size in range(_LARGEST, _LEAST - 1, -1):
        lines = _lines(notes, frame.width - 2 * margin, size)
        if (len(lines) + 1) * size * _LINE <= room:
            break
    marks: list[Mark] = [*frame.marks]
    for number, line in enumerate(lines[: int(room / (size * _LINE)) - 1]):
        y = frame.height + (number + 1) * size * _LINE
        marks.append(label(margin, y, line, palette.ink, size))
    return Frame(frame.width, frame.height + room, frame.ground, tuple(marks))


def _lines(notes: str, width: float, size: float) -> list[str]:
    """Paragraphs in lines; an empty one keeps them apart."""
    return [
        line for paragraph in notes.split("\n") for line in wrap(paragraph, width, size) or ("",)
    ]
