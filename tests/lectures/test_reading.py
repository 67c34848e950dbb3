"""Lectures from texts: what is broken is told by its line, and the rest still plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuviz.base.errors import FormatError, InputError
from gpuviz.lectures.chunks import chunks
from gpuviz.lectures.lecture import Lecture
from gpuviz.lectures.reading import parse, read

HEAD = 'gpuviz-lecture = 1\ntitle = "T"\n\n'  # three lines
KERNEL = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n"


def lecture(slides: str, head: str = HEAD) -> Lecture:
    return parse(head + slides, Path.cwd(), "a.gpuviz-lecture")


def problems(slides: str, head: str = HEAD) -> list[str]:
    return [str(problem) for problem in lecture(slides, head).all_problems]


def problem(slides: str, head: str = HEAD) -> str:
    [one] = problems(slides, head)
    return one


def test_everything_that_can_be_said() -> None:
    made = lecture(
        '''[[slide]]
title = "Strides"
words = """
One warp.
Two lines."""
[[slide]]
lesson = "coalescing"
values = { stride = 1 }
compare = { stride = 32 }
arch = "sm_80"
compare_arch = "sm_10"
level = "ptx"
stops = [0, 2.5]
numbers = ["time", "global_load_sectors"]
notes = """
Say this."""
[slide.question]
ask = "How many?"
choices = [4, 2.5, "none"]
count = "shared_load_conflicts"
per = "launch"
run = "B"
line = 3
[[slide]]
lesson = "banks"
stops = "steps"
''',
        'gpuviz-lecture = 1\ntitle = "T"\nauthor = "A"\nminutes = 20\nlanguage = "en"\n',
    )
    assert made.all_problems == ()
    assert (made.title, made.author, made.minutes, made.language) == ("T", "A", 20.0, "en")
    words, view, steps = made.slides
    assert words.words == "One warp.\nTwo lines." and words.view is None and words.playable
    assert view.view is not None and view.view.lesson == "coalescing"
    assert view.view.values["stride"] == 1 and view.view.compare_values["stride"] == 32
    assert view.view.values["bytes"] == 4  # as usual
    assert (view.view.arch, view.view.compare_arch, view.view.level) == ("sm_80", "sm_10", "ptx")
    assert view.stops == (0.0, 2.5) and view.numbers == ("time", "global_load_sectors")
    assert view.notes == "Say this." and not view.steps
    asked = view.question
    assert asked is not None and asked.choices == (4, 2.5, "none") and asked.ask == "How many?"
    assert (asked.per, asked.run, asked.line) == ("launch", "B", 3)
    assert asked.count == "shared_load_conflicts"
    assert steps.steps and steps.stops == ()
    assert steps.name == "Shared memory banks"


def test_a_broken_slide_is_named_by_its_line_and_the_others_play() -> None:
    made = lecture('[[slide]]\ntitle = "a"\n\n[[slide]]\ntitle = \n\n[[slide]]\ntitle = "c"\n')
    assert [slide.playable for slide in made.slides] == [True, False, True]
    [one] = made.all_problems
    assert one.line == 8 and made.slides[1].name == str(one)


@pytest.mark.parametrize(
    ("slide", "line", "said"),
    [
        ('title = "a"\nsubtitle = "b"', 6, "subtitle is not known here"),
        ('title = "a"\ntitle = "b"', 6, "overwrite"),
        ("title = 3", 5, "title: expected a text, got 3"),
        ("words = true", 5, "words: expected a text, got true"),
        ('title = "a"\nnotes = """\nnever ends\n', 6, "unterminated"),
        ('title = "a\x00"', 5, "illegal character"),
        ("", 4, "names no lesson, and has no words"),
        ('lesson = "nix"', 5, "there is no lesson 'nix'"),
        ('lesson = "coalescing"\nvalues = [1]', 6, "values: expected a table, got [1]"),
        ('lesson = "coalescing"\nvalues = { strid = 1 }', 5, "has no parameter 'strid'"),
        ('lesson = "coalescing"\nvalues = { stride = 99 }', 5, "it goes from 1 to 32"),
        ('lesson = "coalescing"\nvalues = { stride = 1.5 }', 5, "stride cannot be 1.5"),
        ('lesson = "coalescing"\ncompare = { stride = 0 }', 5, "it goes from 1 to 32"),
        ('lesson = "coalescing"\narch = "sm_9"', 5, "'sm_9' is not known"),
        ('lesson = "coalescing"\ncompare_arch = "x"', 5, "'x' is not known"),
        ('lesson = "coalescing"\nlevel = "c"', 5, "there is no level 'c'"),
        ('lesson = "coalescing"\nstops = [3, 1]', 6, "have to grow"),
        ('lesson = "coalescing"\nstops = [-1]', 6, "list of seconds"),
        ('lesson = "coalescing"\nstops = [nan]', 6, "list of seconds"),
        ('lesson = "coalescing"\nstops = "often"', 6, "list of seconds, or 'steps'"),
        ('lesson = "coalescing"\nnumbers = ["sectors"]', 6, "there is no count 'sectors'"),
        ('lesson = "coalescing"\nnumbers = [["time"]]', 6, "there is no count ['time']"),
        ('lesson = "coalescing"\nnumbers = ["l2_load_sectors_least"]', 6, "there is no count"),
        (
            'kernel = { file = "none.cu", entry = "a", grid = "1", block = "1" }',
            5,
            "no kernel file",
        ),
        ('kernel = { entry = "a" }', 5, "a kernel without a file"),
        ('kernel = { file = "a.cu", size = 3 }', 5, "size is not known of a kernel"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_is_told(slide: str, line: int, said: str) -> None:
    told = problem(f"[[slide]]\n{slide}\n")
    assert told.startswith(f"line {line}: ") and said in told


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ('choices = [1]\ncount = "global_load_sectors"', "needs ask"),
        ('ask = "x"\nchoices = []\ncount = "global_load_sectors"', "needs choices"),
        ('ask = "x"\nchoices = [1]', "needs count"),
        ('ask = "x"\nchoices = [1]\ncount = "nix"', "there is no count 'nix'"),
        ('ask = "x"\nchoices = [1]\ncount = "time"', "there is no count 'time'"),
        ('ask = "x"\nchoices = [1]\ncount = "constant_load_conflicts"', "there is no count"),
        ('ask = "x"\nchoices = [1]\ncount = "global_load_conflicts"', "there is no count"),
        (
            'ask = "x"\nchoices = [[1]]\ncount = "global_load_sectors"',
            "choices/0: expected a number or a text, got [1]",
        ),
        ('ask = "x"\nchoices = [1, inf]\ncount = "global_load_sectors"', "finite"),
        ('ask = "x"\nchoices = [1, nan]\ncount = "global_load_sectors"', "finite"),
        ('ask = "x"\nchoices = [1, 2, 1]\ncount = "global_load_sectors"', "have to differ"),
        (
            'ask = "x"\nchoices = [1]\ncount = "global_load_sectors"\nper = "warp"',
            "request or launch",
        ),
        ('ask = "x"\nchoices = [1]\ncount = "global_load_sectors"\nline = "3"', "a whole number"),
        (
            'ask = "x"\nchoices = [1]\ncount = "global_load_sectors"\nright = 0',
            "right is not known",
        ),
    ],
)
def test_a_question_that_cannot_be_asked_leaves_the_picture(question: str, said: str) -> None:
    made = lecture(f'[[slide]]\nlesson = "coalescing"\n[slide.question]\n{question}\n')
    [one] = made.all_problems
    assert one.line == 6 and said in one.text
    assert made.slides[0].playable and made.slides[0].question is None


def test_words_ask_nothing() -> None:
    told = problem(
        '[[slide]]\nwords = "a"\n[slide.question]\nask = "x"\nchoices = [1]\n'
        'count = "global_load_sectors"\n'
    )
    assert told.startswith("line 6: a slide of words asks nothing")


def test_several_problems_of_a_slide_come_in_order() -> None:
    said = problems('[[slide]]\nlesson = "banks"\nstops = [2, 1]\nwhy = 1\nnumbers = ["a"]\n')
    assert [text.split(":")[0] for text in said] == ["line 6", "line 7", "line 8"]


def test_a_table_behind_a_slide_is_no_part_of_it() -> None:
    told = problem('[[slide]]\ntitle = "a"\n\n[other]\nb = 1\n')
    assert "other belongs to no slide" in told and told.startswith("line 7")


def test_a_newer_format_is_told_and_shown_as_far_as_it_goes() -> None:
    head = HEAD.replace("= 1", "= 2")
    made = lecture('[[slide]]\nlesson = "banks"\n', head)
    [one] = made.all_problems
    assert one.line == 1 and "format 2 of a newer gpuviz" in one.text
    assert made.slides[0].playable


def test_a_head_that_cannot_be_read_keeps_no_slide_from_playing() -> None:
    made = lecture('[[slide]]\ntitle = "a"\n', "gpuviz-lecture = 1\ntitle = \n\n")
    assert [problem.line for problem in made.problems] == [2]
    assert made.title == "a" and made.slides[0].playable  # of the file's name
    assert "should be gpuviz-lecture = 1" in problem('[[slide]]\ntitle = "a"\n', 'title = "T"\n')
    for key, value in [("minutes", "true"), ("author", "3"), ("colour", '"red"')]:
        told = problem('[[slide]]\ntitle = "a"\n', f"{HEAD}{key} = {value}\n\n")
        assert told.startswith(f"line 4: {key}")


@pytest.mark.parametrize("text", ["", "\n\n", "hello world\n", "[a]\nb = 1\n", "# a lecture\n"])
def test_what_is_no_lecture(text: str) -> None:
    with pytest.raises(FormatError, match=r"a\.gpuviz-lecture is no lecture"):
        lecture("", text)


def test_a_lecture_without_slides_yet() -> None:
    assert lecture("").slides == () and lecture("").all_problems == ()


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_notes_may_tell_of_slides(quotes: str) -> None:
    notes = f"notes = {quotes}\nWrite\n[[slide]]\ntitle = 1\n{quotes}\n"
    made = lecture(f'[[slide]]\ntitle = "a"\n{notes}\n[[slide]]\ntitle = "c"\n')
    assert [slide.title for slide in made.slides] == ["a", "c"] and made.all_problems == ()
    assert made.slides[0].notes == "Write\n[[slide]]\ntitle = 1"


def test_quotes_in_comments_texts_and_escapes_open_nothing() -> None:
    made = lecture(
        '# it\'s """ odd\n[[slide]]\ntitle = "a" # """\n\n'
        '[[slide]]\ntitle = \'say """ now\'\n\n'
        '[[slide]]\nnotes = """\n\\"""\n[[slide]]\n"""\nwords = "c"\n\n'
        '[[slide]]\ntitle = "d"\nnotes = """\nhe said \'\'\'x\n"""\n'
    )
    assert [slide.name for slide in made.slides] == ["a", 'say """ now', "", "d"]
    assert made.slides[2].notes == '"""\n[[slide]]' and made.all_problems == ()


def test_a_string_that_never_ends_takes_no_other_slide_along() -> None:
    made = lecture(
        '[[slide]]\ntitle = "a"\nnotes = """\nx\n\n[[slide]]\ntitle = "b"\n'
        'notes = """\ny\n"""\n\n[[slide]]\ntitle = "c"\n'
    )
    assert [slide.name for slide in made.slides][1:] == ["b", "c"]
    assert [problem.line for problem in made.all_problems] == [6]
    assert [slide.playable for slide in made.slides] == [False, True, True]


def test_chunks_are_the_text() -> None:
    text = HEAD + "# about a\n[[slide]]\nx\n  [[ slide ]] # b\n[[slide]]\nnotes = '''\n[[slide]]"
    parts = chunks(text)
    assert "".join(part.text for part in parts) == text
    assert [part.line for part in parts] == [1, 4, 7, 8, 10]


def test_many_broken_slides_are_soon_told() -> None:
    made = lecture(
        '[[slide]]\nnotes = """\nx\n' * 1000 + "[[slide]]\nnotes = '''\n" + "[[slide]]\nx\n" * 1000
    )
    assert len(made.slides) == len(made.all_problems) == 2001


def test_windows_lines_and_a_mark_at_the_beginning(tmp_path: Path) -> None:
    file = tmp_path / "a.gpuviz-lecture"
    text = HEAD + '[[slide]]\nwords = """\none\ntwo"""\n\n[[slide]]\nlesson = "nix"\n'
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    made = read(file)
    assert made.slides[0].words == "one\ntwo"
    assert [problem.line for problem in made.all_problems] == [10]


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read(tmp_path / "none.gpuviz-lecture")
    with pytest.raises(InputError, match="cannot read"):
        read(tmp_path)
    file = tmp_path / "a.gpuviz-lecture"
    file.write_bytes(b"")
    with pytest.raises(FormatError, match="is no lecture"):
        read(file)
    file.write_bytes(b"gpuviz-lecture = 1\n\x89PNG\xff\xfe\n")
    with pytest.raises(FormatError, match="line 2 is no text in UTF-8"):
        read(file)
    file.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(FormatError, match="larger than 1 MiB"):
        read(file)


def test_kernels_lie_beside_the_lecture(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "twice.cu").write_text(KERNEL)
    file = tmp_path / "a.gpuviz-lecture"
    file.write_text(
        HEAD + '[[slide]]\nkernel = { file = "own/twice.cu", entry = "twice", '
        'grid = "1", block = "32", arguments = "f32[32]=arange" }\n'
    )
    made = read(file)
    assert made.all_problems == ()
    view = made.slides[0].view
    assert view is not None and view.launch["file"] == (tmp_path / "own" / "twice.cu").as_posix()
    (tmp_path / "own" / "twice.cu").unlink()
    assert "there is no kernel file" in str(read(file).all_problems[0])
    assert made.slides[0].name  # its file went away meanwhile: still to be listed


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("stops", f"[{10**400}]"),
        ("stops", "[inf]"),
        ("question", f"{{ ask = '?', choices = [{10**400}], count = 'global_load_sectors' }}"),
        ("stops", "[" + "1" * 5000 + "]"),
    ],
)
def test_numbers_beyond_all_use_are_problems(key: str, value: str) -> None:
    made = parse(f'gpuviz-lecture = 1\n\n[[slide]]\nlesson = "banks"\n{key} = {value}\n', Path())
    assert made.all_problems


@pytest.mark.parametrize("minutes", [str(10**400), "nan", "inf", "-5"])
def test_minutes_that_are_none(minutes: str) -> None:
    made = parse(f"gpuviz-lecture = 1\nminutes = {minutes}\n[[slide]]\nwords = 'w'\n", Path())
    assert made.minutes == 0 and made.all_problems
