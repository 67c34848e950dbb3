"""A slide of two lessons beside each other, or of one beside a plot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz.cli.launches_to_record import of_lecture
from gpuviz.lectures.answer import answer, figures
from gpuviz.lectures.bundle import TEXT as TEXT_FILE
from gpuviz.lectures.bundle_contents import gather
from gpuviz.lectures.lecture import Lecture
from gpuviz.lectures.pages import Page, pages
from gpuviz.lectures.plot_beside import plot_of
from gpuviz.lectures.reading import parse
from gpuviz.lectures.variation import Variation, fields
from gpuviz.lectures.writing import text_of
from gpuviz.story.lesson import Plan
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance

TEXT = """gpuviz-lecture = 1

[[slide]]
lesson = "coalescing"
values = { stride = 4 }
numbers = ["global_load_sectors"]
beside = { lesson = "banks", values = { stride = 8 }, arch = "sm_80" }

[slide.question]
ask = "How many sectors?"
choices = [8, 16]
count = "global_load_sectors"
"""
LOOKS = Provenance("", {}, "sm_90")


def lecture(text: str = TEXT) -> Lecture:
    return parse(text, Path())


def beside(text: str) -> str:
    """The lecture with something else beside its lesson."""
    line = next(line for line in TEXT.splitlines() if line.startswith("beside"))
    return TEXT.replace(line, text)


def test_it_is_read_and_written() -> None:
    one = lecture()
    assert one.all_problems == ()
    view = one.slides[0].view
    assert view is not None and view.compared
    assert (view.compare_lesson, view.compare_arch) == ("banks", "sm_80")
    assert view.compare_values["stride"] == 8 and view.values["stride"] == 4
    assert text_of(one, Path()) == TEXT
    new = replace(one, slides=(replace(one.slides[0], raw=""),))
    assert lecture(text_of(new, Path())).slides[0].view == view


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('beside = { lesson = "nonsense" }', "there is no lesson 'nonsense'"),
        ("beside = { values = { stride = 8 } }", "beside needs the id of a lesson"),
        ('beside = { lesson = "banks", values = { stride = 99 } }', "stride"),
        ('beside = { lesson = "banks", values = { tile = 8 } }', "tile"),
        ('beside = { lesson = "banks", arch = "sm_1" }', "sm_1"),
        ('beside = { lesson = "banks", grid = 8 }', "grid"),
        ('beside = { lesson = "/etc/passwd" }', "there is no lesson"),
        ('beside = "banks"', "beside"),
        ('beside = { vary = "stride=1..8", count = "sectors" }', "no count 'sectors'"),
        ('beside = { vary = "tile=1..8", count = "global_load_sectors" }', "no parameter 'tile'"),
        ('beside = { vary = "stride=1..99", count = "global_load_sectors" }', "2 to 32 values"),
        ('beside = { vary = "stride=30..40", count = "global_load_sectors" }', "stride"),
        ('beside = { vary = "stride=1..9999999999", count = "global_load_sectors" }', "stride"),
        ('beside = { vary = "stride", count = "global_load_sectors" }', "names no values"),
        ('beside = { count = "global_load_sectors" }', "names no values"),
        (
            'beside = { vary = "stride=1,2", count = "global_load_sectors", per = "warp" }',
            "request or launch",
        ),
        (
            'beside = { vary = "stride=1,2", count = "global_load_sectors", lesson = "banks" }',
            "own lesson",
        ),
        ('compare = { stride = 1 }\nbeside = { lesson = "banks" }', "either compare or beside"),
    ],
)
def test_what_cannot_be_is_told_at_its_line_and_the_first_lesson_plays(
    given: str, said: str
) -> None:
    slide = lecture(beside(given)).slides[0]
    (problem,) = slide.problems
    assert said in problem.text
    assert problem.line == 7 + given.count("\n")
    assert slide.view is not None and slide.plot is None and not slide.view.compare_lesson


def test_words_have_nothing_beside_them() -> None:
    slide = lecture('[[slide]]\nwords = "x"\nbeside = { lesson = "banks" }\n').slides[0]
    assert "needs a lesson that it is beside of" in slide.problems[0].text


def test_both_are_told_on_one_clock_and_the_first_is_asked() -> None:
    small = TEXT.replace("stride = 4", "stride = 4, blocks = 1")
    slide = lecture(small).slides[0]
    assert slide.view is not None and slide.question is not None
    view = view_of(slide.view)
    alone = view_of(replace(slide.view, compare_lesson="", compare_values={}, compare_arch=""))
    assert view.story.duration >= alone.story.duration
    assert {key[0] for key in view.runs} == {"A", "B"}
    assert answer(slide.question, view.runs, {}).value == 16
    assert [one.run for one in figures(slide.numbers, view.runs, {}, slide.counted)] == ["A", "B"]


def test_its_pages_name_both_side_by_side_or_one_above_the_other() -> None:
    for width, height in ((1280, 720), (720, 1280)):
        found = list(pages(lecture(), replace(LOOKS, width=width, height=height)))
        assert len(found) == 2
        for page in found:
            assert isinstance(page, Page)
            names = {
                text: mark.at[0]
                for mark in page.view.still.marks
                for text in getattr(mark, "strings", ())
                if text.startswith(("A · ", "B · "))
            }
            a, b = names.values()
            (x, y), (u, v) = a.tolist(), b.tolist()
            assert (y == v) is (width > height) and (x == u) is (width < height)


def test_either_side_is_changed_while_it_is_shown() -> None:
    view = lecture().slides[0].view
    assert view is not None
    b = Variation.of(view).beside(1)
    stride = next(one for one in fields(b) if one.id == "stride")
    assert stride.value == "8"
    other = stride.put(3)
    assert other.view.compare_values["stride"] == 3 and other.view.values["stride"] == 4
    assert "stride" in other.words.lower() or "3" in other.words
    alone = other.beside(None)
    assert (alone.view.lesson, alone.view.compared) == ("banks", False)
    assert alone.beside(0).view == view


def test_launches_of_both_are_to_be_recorded(tmp_path: Path) -> None:
    file = tmp_path / "two.gpuviz-lecture"
    file.write_text(TEXT.replace("stride = 8", "stride = 61").replace("stride = 4", "stride = 29"))
    assert {one.id for one, *_ in of_lecture(file)} == {"coalescing", "banks"}


def test_a_bundle_holds_both(tmp_path: Path) -> None:
    measured: list[str] = []

    def note(plan: Plan) -> None:
        measured.append(plan.kernel)

    packing = gather(lecture(), measured=note)
    assert not packing.problems and {"coalescing.cu", "banks.cu"} <= {*measured}
    (text,) = (file.content.decode() for file in packing.files if file.name == TEXT_FILE)
    assert lecture(text).slides[0].view == lecture().slides[0].view


PLOT = 'beside = { vary = "stride=1,2,8", count = "global_load_sectors" }'
SMALL = beside(PLOT).replace("stride = 4", "stride = 4, blocks = 1")


def test_a_plot_is_read_and_written() -> None:
    one = lecture(SMALL)
    assert one.all_problems == () and text_of(one, Path()) == SMALL
    new = replace(one, slides=(replace(one.slides[0], raw=""),))
    assert lecture(text_of(new, Path())).slides[0].plot == one.slides[0].plot
    launch = PLOT.replace(" }", ', per = "launch" }')
    plot = lecture(beside(launch)).slides[0].plot
    assert plot is not None and plot.per == "launch"


def test_a_plot_counts_each_value_marks_the_one_shown_and_does_not_tell_the_answer() -> None:
    asked, told = pages(lecture(SMALL), LOOKS)
    assert isinstance(asked, Page) and isinstance(told, Page)
    assert {"B 1", "B 2", "B 4", "B 8"} <= set(told.view.runs)
    before, after = (set(written(page)) for page in (asked, told))
    assert {"1", "2", "4", "8"} <= before & after
    assert "stride 4: 16 sectors a request" in after - before
    assert "30" in after and "30" not in before  # a number of the axis
    assert [one.run for one in figures(("time",), told.view.runs, {}, "A")] == [""]


def test_a_plot_goes_with_what_the_slide_is_changed_to() -> None:
    slide = lecture(SMALL).slides[0]
    assert slide.view is not None
    other = replace(slide, view=replace(slide.view, values={**slide.view.values, "stride": 3}))
    made = plot_of(other)
    assert made is not None and other.view is not None
    assert [plan.role for plan in made.plan(other.view.values)] == ["1", "2", "3", "8"]
    both = replace(slide, view=replace(slide.view, compare_values=slide.view.values))
    assert plot_of(both) is None


def test_another_lesson_takes_the_plot_away() -> None:
    slide = lecture(SMALL).slides[0]
    assert slide.view is not None
    assert slide.with_view(replace(slide.view, time=1.0)).plot == slide.plot
    assert slide.with_view(replace(slide.view, lesson="banks")).plot is None


def written(page: Page) -> list[str]:
    """The texts of a page."""
    return [text for mark in page.view.still.marks for text in getattr(mark, "strings", ())]
