"""The lectures that ship: they can be given, and what they say is what is counted and recorded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuviz.arch import architecture
from gpuviz.base import resources
from gpuviz.cli.launches_to_record import of_lecture
from gpuviz.compile import nvrtc
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.lectures.answer import Answer, answer, figures, named
from gpuviz.lectures.cues import cues
from gpuviz.lectures.lecture import LIMITER, PHASES, SUFFIX, Lecture, Slide
from gpuviz.lectures.over_time import lesson_of
from gpuviz.lectures.picture import SlideState, frame
from gpuviz.lectures.reading import read, title
from gpuviz.lectures.writing import text_of
from gpuviz.recordings.lookup import shipped
from gpuviz.recordings.measurement import Measurement
from gpuviz.sweeps import table
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import view_of
from tests.course.pictures import misplaced, text_rects

# All slides of a lecture are performed: that takes minutes on slow machines.
pytestmark = pytest.mark.timeout(600)
FILES = sorted(resources.path("lectures").glob("*" + SUFFIX))
NAMES = ["coalescing-and-banks", "tiled-matmul", "tiles-to-tensor-cores", "why-is-it-slow"]
MOST_LINES = 6  # of words on one slide
SIZES = ((1024, 768), (1920, 1080))
_MINUTES = re.compile(r"^\[([\d.]+) min\] ")
# Numbers that the notes and words quote, by the slide that shows them, as the picture has them.
QUOTED = {
    "Stride 32, and what it costs": {"copy": (5.87, 22.66)},
    "Transpose: the proof": {
        "naive": (283.8,),
        "shared": (87.9,),
        "padded": (39.2,),
        "swizzled": (39.2,),
    },
    "How much is enough? Little's law": {"1 × 1": (8.83,), "64 × 1": (10.14,)},
    "The naive transpose: what limits it?": {"naive": (283.8,)},
    "Through shared memory: what limits it now?": {"shared": (87.9,)},
    "With a float of padding: and now?": {"padded": (39.2,)},
    "What a cache finds": {"naive": (424.6,)},
    "The slow one: lanes down a column": {"naive": (4385.5,)},
}


@dataclass(frozen=True, eq=False)
class Performed:
    """A slide as it will be given: its view, what is recorded of its runs, and the answer."""

    number: int
    slide: Slide
    view: View
    measured: dict[str, Measurement]
    answer: Answer | None

    @property
    def shown(self) -> SlideState:
        made = figures(self.slide.numbers, self.view.runs, self.measured)
        return SlideState(self.slide, self.view.story, self.answer, made)


@pytest.fixture(scope="module", params=FILES, ids=[file.stem for file in FILES])
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture(scope="module")
def lecture(path: Path) -> Lecture:
    return read(path)


@pytest.fixture(scope="module")
def performed(lecture: Lecture) -> list[Performed]:
    """Every slide with a lesson, performed once."""
    if not nvrtc.libraries():
        pytest.skip("NVRTC is not installed")
    return [perform_slide(n, slide) for n, slide in enumerate(lecture.slides, 1) if slide.view]


def perform_slide(number: int, slide: Slide) -> Performed:
    assert slide.view is not None
    view = view_of(slide.view, told=lesson_of(slide))
    measured = {key: run.measurement for key, run in view.runs.items() if run.measurement}
    found = answer(slide.question, view.runs, measured) if slide.question else None
    return Performed(number, slide, view, measured, found)


def minutes_of(slide: Slide) -> float:
    found = _MINUTES.match(slide.notes)
    assert found, f"the notes of {slide.name!r} begin with no [n min]"
    return float(found[1])


def test_all_are_shipped() -> None:
    assert [file.stem for file in FILES] == NAMES


def test_there_are_no_problems(lecture: Lecture, path: Path) -> None:
    assert lecture.all_problems == ()
    assert lecture.title == title(path) and lecture.language == "en"
    assert all(slide.playable and slide.title for slide in lecture.slides)
    assert text_of(lecture, path.parent) == path.read_text(encoding="utf-8")


def test_they_take_as_long_as_they_say(lecture: Lecture) -> None:
    each = [minutes_of(slide) for slide in lecture.slides]
    assert all(0 < minutes <= 4 for minutes in each)
    assert abs(sum(each) - lecture.minutes) <= 0.2 * lecture.minutes


def test_the_speaker_has_something_to_say_on_every_slide(lecture: Lecture) -> None:
    for slide in lecture.slides:
        said = _MINUTES.sub("", slide.notes)
        assert len(said) > 100, slide.name
        if slide.question is not None:  # of every wrong guess what one thinks who makes it
            guesses = [str(guess).lower() for guess in named(slide.question)]
            assert sum(guess in said.lower() for guess in guesses) >= 3, slide.name


def test_it_begins_and_ends_with_words(lecture: Lecture) -> None:
    first, last = lecture.slides[0], lecture.slides[-1]
    assert first.words and first.title == lecture.title
    assert last.title == "What to remember" and "Exercise:" in last.words
    assert [line[:2] for line in last.words.split("\n")[:3]] == ["1.", "2.", "3."]
    for slide in lecture.slides:
        assert len(slide.words.split("\n")) <= MOST_LINES, slide.name


def test_no_slide_repeats_another(lecture: Lecture) -> None:
    shown = [(str(slide.view), slide.stops, slide.words) for slide in lecture.slides]
    assert len(set(shown)) == len(shown)
    assert len({slide.name for slide in lecture.slides}) == len(shown)
    asked = [slide.question.ask for slide in lecture.slides if slide.question]
    assert len(set(asked)) == len(asked)


def test_there_are_questions_with_wrong_choices(lecture: Lecture) -> None:
    questions = [slide.question for slide in lecture.slides if slide.question]
    assert 4 <= len(questions) <= 8
    places = set()
    for question in questions:
        assert 3 <= len(set(question.choices)) == len(question.choices) <= 5, question.ask
        if question.count != LIMITER:
            numbers = [float(guess) for guess in question.choices]
            assert numbers == sorted(numbers), question.ask
        places.add(question.choices)
    assert len(places) > len(questions) / 2


@pytest.mark.slow
def test_every_answer_is_among_the_choices_and_as_recorded(performed: list[Performed]) -> None:
    rights = set()
    for one in performed:
        if one.answer is not None:
            rights.add(one.answer.right)
            asked = one.slide.question
            assert asked is not None
            # No GPU counts the bytes that lanes ask for, what limits, or a line by itself.
            # Of the block shapes a sweep recorded the times alone.
            modelled = "bytes" in asked.count or asked.count in (LIMITER, PHASES) or asked.line
            if one.measured and not modelled and one.slide.title != "The shape of the block":
                assert one.answer.measured == pytest.approx(one.answer.value), one.slide.name
    assert len(rights) > 2  # it is not always the same letter


@pytest.mark.slow
def test_stops_are_within_the_story_and_each_plays_something(performed: list[Performed]) -> None:
    for one in performed:
        stops, last = one.slide.stops, one.view.story.duration
        assert stops and stops[-1] <= last + 0.1, one.slide.name
        found = cues(one.slide, one.view.story)
        assert len(found) == len(stops) > 1, one.slide.name
        assert all(cue.end - cue.start > 0.5 for cue in found[1:]), one.slide.name


@pytest.mark.slow
def test_numbers_below_a_picture_are_recorded(performed: list[Performed]) -> None:
    for one in performed:
        found = one.shown.figures
        assert bool(found) == bool(one.slide.numbers)
        for figure in found:
            assert figure.measured is not None, (one.slide.name, figure.label)
            if figure.predicted is not None:
                assert figure.measured == figure.predicted, (one.slide.name, figure.label)


@pytest.mark.slow
def test_times_that_are_quoted_are_those_recorded(performed: list[Performed]) -> None:
    for one in performed:
        for role, times in QUOTED.get(one.slide.title, {}).items():
            found = [
                m.timing.median
                for key, m in one.measured.items()
                if key.endswith(role) and m.timing
            ]
            assert found == pytest.approx(times, rel=0.005), one.slide.title


def test_the_nine_tenths_are_where_the_lecture_says() -> None:
    """Of the matrix product on an H200: a tenth as recorded, an eighth by its multiprocessors."""
    swept = (outcomes for head, outcomes in table.shipped() if head.on == "gpu")
    times = [one.microseconds for each in swept for o in each.values() for one in o.found]
    arch = architecture("9.0")
    entries = [entry for one in shipped().recordings for entry in one.entries]
    peaks = {entry.measurement.peaks for entry in entries} - {None}
    reached = 2 * 1024**3 / (min(t for t in times if t) * 1e-6)
    assert arch.float_lanes == 128 and arch.banks == 32
    assert arch.float_lanes / (arch.banks / 2) == 8
    assert peaks
    for one in peaks:
        assert one is not None and 0.08 < reached / one.flops_per_second < 0.15


def test_everything_launched_is_recorded(path: Path) -> None:
    """`gpuviz record --lecture` of both files made what --all does not hold."""
    missing = [
        one.id for one, _, plan, _ in of_lecture(path) if shipped().find(plan).measurement is None
    ]
    assert missing == []


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_picture_is_legible(
    performed: list[Performed], lecture: Lecture, size: tuple[int, int]
) -> None:
    """At the scale that a presentation begins with: inside the stage, and nothing over another."""
    at = Stage(*size, THEMES["light"], 1.15)
    words = [SlideState(slide) for slide in lecture.slides if slide.view is None]
    for shown in (*words, *(one.shown for one in performed)):
        for cue in cues(shown.slide, shown.story):
            bad = misplaced(frame(shown, cue, cue.end, at))
            assert [*bad] == [], f"{shown.slide.title} at {cue.end}"


@pytest.mark.slow
def test_what_is_asked_is_not_told(performed: list[Performed]) -> None:
    at = Stage(1920, 1080, THEMES["light"], 1.15)
    for one in performed:
        if one.answer is None or one.slide.question is None:
            continue
        asking = frame(one.shown, cues(one.slide, one.view.story)[0], one.slide.stops[0], at)
        told = [text for text, _ in text_rects(asking)]
        assert one.slide.question.ask in told, one.slide.name
        told.remove(one.slide.question.ask)
        hints = [
            text
            for text in told
            if "µs" in text
            or text in ("model", "recorded")
            or re.search(r"\d (of \d+ )?(sector|segment|wavefront)s?\b|conflict", text)
        ]
        assert hints == [], one.slide.name
