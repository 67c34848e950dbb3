"""One text in place of another, everywhere in a lecture; and the notes of a lecture on paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpuviz.base.waiting import go_on, quiet
from gpuviz.lectures.lecture import LIMITER, Lecture, Question, Slide
from gpuviz.lectures.lecture_texts import replaced
from gpuviz.lectures.notes_pages import PAGE, notes_pages
from gpuviz.lectures.writing import text_of
from gpuviz.run.session import shipped
from tests.course.pictures import misplaced, words

ASKED = Question("How many sectors?", (4, "all Sectors"), "global_load_sectors")
LECTURE = Lecture(
    "Sectors",
    (
        Slide("Sectors", words="A sector.", notes="Say: sectors."),
        Slide("Other", words="$x$ [a-z]*", question=ASKED),
    ),
)


def test_a_text_is_replaced_everywhere(tmp_path: Path) -> None:
    made, count = replaced(LECTURE, "sectors", "lines")
    assert count == 5 and made.title == "lines"
    assert [slide.title for slide in made.slides] == ["lines", "Other"]
    assert made.slides[0].words == "A sector." and made.slides[0].notes == "Say: lines."
    asked = made.slides[1].question
    assert asked is not None and asked.ask == "How many lines?"
    assert asked.choices == (4, "all lines") and asked.count == "global_load_sectors"
    assert "lines" in text_of(made, tmp_path)


def test_letters_and_signs_are_meant_as_they_are() -> None:
    assert replaced(LECTURE, "Sectors", "x", case=True)[1] == 3
    made, count = replaced(LECTURE, "[a-z]*", r"\1\g<0>")
    assert count == 1 and made.slides[1].words == r"$x$ \1\g<0>"
    assert replaced(LECTURE, "", "x") == (LECTURE, 0)
    assert replaced(LECTURE, "nowhere", "x")[0] is LECTURE


def test_names_of_resources_are_no_words_of_the_lecture() -> None:
    asked = Question("What limits: the memory?", ("memory", "issue"), LIMITER)
    made, count = replaced(Lecture("", (Slide(question=asked),)), "memory", "cache")
    assert count == 1 and made.slides[0].question == replace(asked, ask="What limits: the cache?")


class Pages:
    """A painter that keeps the pages."""

    def pdf(self, frames, title="", record=""):  # type: ignore[no-untyped-def]
        self.frames = [*frames]
        return b"%PDF"


def test_notes_are_printed_beside_small_pictures() -> None:
    long = "\n".join(f"line {n} of what is said" for n in range(150))
    slides = (Slide("One", words="First.", notes="Ask.\n\nWait."), Slide("Two", notes=long))
    painter = Pages()
    made = notes_pages(Lecture("T", slides), shipped(), painter, quiet, go_on)  # type: ignore[arg-type]
    assert made == b"%PDF"
    assert all((frame.width, frame.height) == PAGE for frame in painter.frames)
    told = [text for frame in painter.frames for text in words(frame)]
    assert "1 One" in told and "Ask." in told and "First." in told
    assert [text for text in told if text.startswith("line ")] == long.split("\n")
    assert [bad for frame in painter.frames for bad in misplaced(frame)] == []
