"""Lectures to text: what was not changed is written as it was read, and all fields come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuviz.base.errors import InputError
from gpuviz.course import lesson
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures.lecture import TIME, Lecture, Question, Slide
from gpuviz.lectures.reading import parse, read
from gpuviz.lectures.slide_fields import slide_of
from gpuviz.lectures.writing import text_of, write
from gpuviz.memory.counts import Count
from gpuviz.views.provenance import Provenance

HERE = Path.cwd()
TEXT = '''# what it is about
gpuviz-lecture = 1
title   =   "T"   # odd spaces
minutes = 20

# the first one
[[slide]]
title = "a"
notes = """
Write
[[slide]]
there."""

[[slide]]
title =

# strides
[[slide]]
lesson = 'coalescing'   # literal
values = {stride=2}
stops = [ 0, 5 ]  # why
[slide.question]
ask = "How many?"
choices = [4, 8]
count = "global_load_sectors"

[[slide]]
words = "the end"
'''
KERNEL = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n"


def parsed(text: str = TEXT) -> Lecture:
    return parse(text, HERE, "a.gpuviz-lecture")


def lines_changed(before: str, after: str) -> list[str]:
    """The lines that are new, and those that are gone, behind a minus."""
    old, new = before.splitlines(), after.splitlines()
    return [
        *(f"-{line}" for line in old if line not in new),
        *(line for line in new if line not in old),
    ]


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace("\n\n[[slide]]", "\n[[slide]]"),  # close together
        TEXT.replace("= 1\n", "= 2\n"),
        TEXT.replace("gpuviz-lecture = 1", 'gpuviz-lecture = 1\ncolour = "red"'),
        TEXT.replace('title   =   "T"', "title ="),
        TEXT.replace("minutes = 20", "minutes = true"),
        "gpuviz-lecture = 1\ntitle = 'T'\n",
    ],
    ids=["spaced", "close", "newer", "strange", "broken", "wrong kind", "no slide"],
)
def test_what_was_read_is_written(text: str) -> None:
    assert text_of(parsed(text), HERE) == text


def test_only_what_changed_is_changed() -> None:
    made = parsed().change(2, lambda slide: replace(slide, stops=(0.0, 3.5), notes="Look.\nAsk."))
    text = text_of(made, HERE)
    assert lines_changed(TEXT, text) == [
        "-stops = [ 0, 5 ]  # why",
        "stops = [0, 3.5]  # why",
        "Look.",
        "Ask.",
        '"""',
    ]
    again = parsed(text)
    assert again.slides[2].stops == (0.0, 3.5) and again.slides[2].notes == "Look.\nAsk."


def test_what_is_taken_away_is_gone() -> None:
    made = parsed().change(2, lambda slide: replace(slide, question=None, stops=()))
    text = text_of(made, HERE)
    assert "question" not in text and "stops" not in text and "# strides" in text
    assert parsed(text).slides[2].question is None


def test_the_head_can_be_changed_and_emptied() -> None:
    text = text_of(replace(parsed(), author="A. Teacher", minutes=0.0), HERE)
    assert lines_changed(TEXT, text) == ["-minutes = 20", 'author = "A. Teacher"']
    assert text_of(replace(parsed(text), author="", minutes=20.0), HERE).count("author") == 0


def test_slides_move_with_their_comments() -> None:
    moved = text_of(parsed().move(2, 0), HERE)
    assert moved.index("# strides") < moved.index("# the first one")
    assert sorted(moved.split("\n")) == sorted(TEXT.split("\n"))
    last = text_of(parsed().move(3, 0), HERE)  # without an empty line behind it
    assert 'words = "the end"\n\n# the first one' in last
    assert last.endswith('"global_load_sectors"\n')
    assert [slide.name for slide in parsed(last).slides][::3] == ["", "Coalescing"]


def test_slides_go_and_come_twice() -> None:
    gone = text_of(parsed().remove(0), HERE)
    assert "the first one" not in gone and "# what it is about" in gone
    both = parsed(text_of(parsed().insert(3, parsed().slides[2]), HERE))
    assert both.slides[2] == both.slides[3] and len(both.slides) == 5


def test_there_is_no_such_slide() -> None:
    for how in (
        lambda made: made.remove(4),
        lambda made: made.move(-1, 0),
        lambda made: made.change(9, lambda slide: slide),
    ):
        with pytest.raises(InputError, match="there is no slide"):
            how(parsed())


def test_a_broken_slide_that_is_mended_is_written_anew() -> None:
    made = parsed().change(1, lambda slide: Slide("mended", words="It says this."))
    again = parsed(text_of(made, HERE))
    assert again.all_problems == () and again.slides[1].title == "mended"
    assert again.slides[0].raw == parsed().slides[0].raw


def test_the_faulty_key_of_a_slide_stays_while_another_is_changed() -> None:
    text = 'gpuviz-lecture = 1\n\n[[slide]]\nlesson = "banks"\nstops = "often"\n'
    made = parsed(text).change(0, lambda slide: replace(slide, notes="Look."))
    assert 'stops = "often"' in text_of(made, HERE) and 'notes = "Look."' in text_of(made, HERE)


def test_windows_lines_stay(tmp_path: Path) -> None:
    file = tmp_path / "a.gpuviz-lecture"
    file.write_bytes(TEXT.replace("\n", "\r\n").encode())
    write(read(file), file)
    assert file.read_bytes() == TEXT.replace("\n", "\r\n").encode()
    write(read(file), tmp_path / "new.gpuviz-lecture")
    assert (tmp_path / "new.gpuviz-lecture").read_text() == TEXT


def test_a_file_that_cannot_be_written_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.gpuviz-lecture"
    file.write_text(TEXT)
    with pytest.raises(InputError):
        write(parsed(), tmp_path / "none" / "a.gpuviz-lecture")
    assert file.read_text() == TEXT and list(tmp_path.iterdir()) == [file]


def test_kernels_are_named_as_seen_from_the_lecture(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    kernel = tmp_path / "deep" / "twice.cu"
    kernel.write_text(KERNEL)
    launch = {
        "file": "twice.cu",
        "entry": "twice",
        "grid": "1",
        "block": "32",
        "arguments": "f32[32]=arange",
        "shared": 0,
    }
    slide, faults = slide_of({"kernel": launch, "notes": "Mine."}, Reach(tmp_path / "deep"))
    assert faults == ()
    for folder, name in [
        (tmp_path, "deep/twice.cu"),
        (tmp_path / "deep", "twice.cu"),
        (tmp_path / "else", kernel.as_posix()),
    ]:
        text = text_of(Lecture("T", (slide,)), folder)
        assert f'file = "{name}"' in text
        [again] = parse(text, folder, agreed=frozenset({kernel})).slides
        assert again.view == slide.view and again.problems == ()
    beside = parse(text_of(Lecture("T", (slide,)), tmp_path), tmp_path)
    assert f'file = "{kernel.as_posix()}"' in text_of(beside, tmp_path / "else")  # saved elsewhere


# Texts as an editor gives them: no carriage returns, no half characters, nothing to trim.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\r")
LINES = st.text(LETTERS, max_size=40).map(lambda text: text.strip("\n"))
HARD = st.sampled_from(
    [
        '"""',
        "'''",
        "a\\",
        '"',
        "[[slide]]\nx",
        "a\n\n[[slide]]\n\nb",
        "# x",
        "\\",
        '""""\n[[slide]]\n"""',
        "a \n b ",
        "\\u0041",
        "x = 1\n[y]",
    ]
)
TEXTS = LINES | HARD
SECONDS = st.floats(0, 100, allow_nan=False).map(lambda t: round(t, 3))
GUESSES = st.lists(
    st.integers(-9, 10**9) | st.sampled_from([0.5, 2.25, 1e-3]) | TEXTS.filter(bool),
    min_size=1,
    max_size=5,
    unique_by=str,
)
COUNTS = st.sampled_from(
    [key.value for key in Count if not key.startswith("l2_")] + ["shared_load_conflicts"]
)
QUESTIONS = st.builds(
    Question,
    ask=TEXTS.filter(bool),
    choices=GUESSES.map(tuple),
    count=COUNTS,
    per=st.sampled_from(["request", "launch"]),
    run=TEXTS,
    line=st.integers(0, 99),
)


@st.composite
def views(draw: st.DrawFn) -> Provenance:
    """A view of a lesson, complete, as reading makes it."""

    def values() -> dict[str, int | str | bool]:
        return {
            **lesson("coalescing").defaults(),
            "stride": draw(st.integers(1, 32)),
            "pattern": draw(st.sampled_from(["strided", "random"])),
        }

    compared = draw(st.booleans())
    return Provenance(
        "coalescing",
        values(),
        draw(st.sampled_from(["sm_90", "sm_20"])),
        draw(st.sampled_from(["sass", "ptx"])),
        values() if compared else {},
        draw(st.sampled_from(["", "sm_10"])) if compared else "",
    )


@st.composite
def slides(draw: st.DrawFn) -> Slide:
    """A slide without problems: of a lesson, or of words."""
    if draw(st.booleans()):
        return Slide(draw(TEXTS), words=draw(TEXTS.filter(str.strip)), notes=draw(TEXTS))
    steps = draw(st.booleans())
    stops = () if steps else tuple(sorted(draw(st.lists(SECONDS, max_size=4))))
    return Slide(
        draw(TEXTS),
        draw(views()),
        stops,
        steps,
        draw(st.none() | QUESTIONS),
        tuple(draw(st.lists(COUNTS | st.just(TIME), max_size=3))),
        notes=draw(TEXTS),
    )


LECTURES = st.builds(
    Lecture,
    title=TEXTS.filter(bool),
    slides=st.lists(slides(), max_size=4).map(tuple),
    author=TEXTS,
    minutes=st.sampled_from([0.0, 20.0, 7.5]),
    language=st.sampled_from(["", "en"]),
)


def bare(made: Lecture) -> Lecture:
    """Without what it was read from."""
    return replace(made, raw="", slides=tuple(replace(slide, raw="") for slide in made.slides))


@pytest.mark.slow
@settings(max_examples=150)
@given(LECTURES)
def test_every_field_comes_back(made: Lecture) -> None:
    text = text_of(made, HERE)
    again = parsed(text)
    assert again.all_problems == () and bare(again) == made
    assert text_of(again, HERE) == text


@pytest.mark.slow
@settings(max_examples=100)
@given(LECTURES.filter(lambda made: made.slides), slides(), st.data())
def test_a_changed_slide_comes_back_and_the_others_stay(
    made: Lecture, new: Slide, data: st.DataObject
) -> None:
    before = parsed(text_of(made, HERE))
    at = data.draw(st.integers(0, len(made.slides) - 1))
    after = parsed(text_of(before.change(at, lambda old: replace(new, raw=old.raw)), HERE))
    assert bare(after) == made.change(at, lambda _: new)
    same = [i for i in range(len(made.slides)) if i != at]
    for i in same:
        assert after.slides[i].raw.strip() == before.slides[i].raw.strip()


def test_the_text_of_a_broken_slide_can_be_read_when_something_is_changed() -> None:
    text = 'gpuviz-lecture = 1\n\n[[slide]]\nlesson = "banks"\nwords = "long\nstops = [\n'
    made = parsed(text).change(0, lambda slide: replace(slide, notes="Look."))
    written = text_of(made, HERE)
    assert '# lesson = "banks"\n# words = "long\n# stops = [\n' in written
    again = parsed(written)
    assert again.slides[0].notes == "Look." and len(again.slides) == 1


def test_backslashes_of_formulas_are_written_as_they_are_typed(tmp_path: Path) -> None:
    words = "One $\\frac{1}{s}$.\nTwo."
    text = text_of(Lecture("T", (Slide("F", words=words, markdown=True),)), tmp_path)
    assert "words = '''\nOne $\\frac{1}{s}$.\nTwo.\n'''" in text
    (again,) = parse(text, tmp_path).slides
    assert again.words == words and again.markdown
