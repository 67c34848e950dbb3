"""Runs of what readers skip are read in one go: a quadratic reader would need minutes for these."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuviz import arguments
from gpuviz.compile import load_program
from gpuviz.compile.program import kernels, normalise
from gpuviz.lectures.reading import read

RUN = 100_000
PTX = ".version 9.0\n.target sm_90\n{}\n.visible .entry k() {{ ret; }}\n"


@pytest.mark.timeout(30)
@pytest.mark.parametrize("run", ["\n", " ", " \n", ".visible ", ".file "])
@pytest.mark.parametrize("read", [kernels, lambda text: normalise(text, "k.cu")])
def test_ptx(read: Callable[[str], object], run: str) -> None:
    read(PTX.format(run * (RUN // len(run))))


@pytest.mark.timeout(30)
def test_a_file_of_blank_lines(tmp_path: Path) -> None:
    file = tmp_path / "blank.ptx"
    file.write_text(PTX.format("\n" * RUN))
    assert load_program(file).kernels == ("k",)


@pytest.mark.timeout(30)
def test_an_argument_of_spaces() -> None:
    assert str(arguments.parse("f32 [4] =" + " " * RUN + "1" + " " * RUN)) == "f32[4]=1.0"


@pytest.mark.timeout(30)
def test_a_lecture_of_comments(tmp_path: Path) -> None:
    file = tmp_path / "x.gpuviz-lecture"
    file.write_text("gpuviz-lecture = 1\n" + "# a word\n" * RUN + '[[slide]]\nwords = "Hello"\n')
    (slide,) = read(file).slides
    assert slide.words == "Hello"


@pytest.mark.timeout(30)
@pytest.mark.parametrize("part", ["a.", '"a b" . ', "'a'.\t"])
def test_a_name_of_many_parts_breaks_its_slide_alone(part: str, tmp_path: Path) -> None:
    file = tmp_path / "x.gpuviz-lecture"
    dotted = part * 20_000
    file.write_text(f'[[slide]]\n{dotted}a = 1\n[[slide]]\nwords = "Hello"\n')
    broken, good = read(file).slides
    assert "a name of more than 40 parts" in broken.problems[0].text
    assert broken.problems[0].line == 2
    assert good.words == "Hello"
