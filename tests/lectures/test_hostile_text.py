"""Texts of lectures that would take gigabytes or minutes to read."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuviz.lectures.reading import parse

HEAD = 'gpuviz-lecture = 1\ntitle = "x"\n'


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 40_000 + " = 1",
        "[" + "a." * 40_000 + "a]",
        "a = {" + "b . " * 40_000 + "c = 1}",
        "b = {x = '#', y" + ".a" * 40_000 + " = 1}",
        "'a'" + '."a"' * 40_000 + " = 1",
    ],
)
@pytest.mark.parametrize("before", ["", "[[slide]]\n"])
def test_a_key_of_thousands_of_parts(text: str, before: str) -> None:
    """It took 9.4 GB and 61 s."""
    lecture = parse(f"{HEAD}{before}{text}\n", Path())
    (problem,) = (*lecture.problems, *(p for slide in lecture.slides for p in slide.problems))
    assert problem.text == "a name of more than 40 parts: take some out"
    assert problem.line == (4 if before else 3)


def test_texts_that_look_like_long_keys_are_fine() -> None:
    dotted = "a" + ".a" * 99
    comment = f'# {dotted} = 1\nwords = """\n{dotted} = 1\n"""\n'
    assert not parse(f"{HEAD}[[slide]]\n{comment}", Path()).slides[0].problems
    words = "see a.b.c.d, 1.2.3 and " + "x. " * 20 + "." * 99 + " a" * 99 + "e.g. "
    lecture = parse(f'{HEAD}[[slide]]\nwords = "{words}"\n', Path())
    assert lecture.slides[0].words == words and not lecture.problems


def test_a_slide_of_thousands_of_unknown_keys_tells_some() -> None:
    keys = "".join(f"k{number} = 1\n" for number in range(20_000))
    (slide,) = parse(f"{HEAD}[[slide]]\n{keys}", Path()).slides
    lines = [problem.line for problem in slide.problems]
    assert lines == list(range(4, 104))


@pytest.mark.parametrize("text", ["a = " + "[" * 9999, "values = " + "[" * 500 + "]" * 500])
def test_lists_within_lists(text: str) -> None:
    (slide,) = parse(f"{HEAD}[[slide]]\n{text}\n", Path()).slides
    assert "brackets within brackets" in slide.problems[0].text


def test_thousands_of_slides() -> None:
    assert len(parse(HEAD + "[[slide]]\n" * 10_000, Path()).slides) == 10_000
