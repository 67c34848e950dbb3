"""Every exercise can be solved, is not solved as it is given, and is judged by what is emulated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz.files import folders
from gpuviz.lectures.exercises import (
    Exercise,
    exercise_of,
    exercises,
    guessed,
    guilty,
    judged,
    launch_of,
)
from gpuviz.run.run import Run
from gpuviz.story.kernel_launch import record_of
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import perform
from gpuviz.traces.check_table import ALL
from gpuviz.words import language

SOLUTIONS = Path(__file__).parent.parent / "data" / "exercises"
EVERY = exercises()
QUICK = ("column", "tree")  # the others of a kind are held to the same where there is time


def _those(find: bool) -> list[object]:
    names = (name for name, one in EVERY.items() if bool(one.find) is find)
    return [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "data", lambda: tmp_path)


def run(one: Exercise, path: Path | None = None) -> Run:
    launch = launch_of(one)
    lesson = lesson_of(replace(launch, path=path or launch.path))
    return perform(lesson, lesson.defaults(), level="ptx", checks=ALL).runs["kernel"]


@pytest.mark.parametrize("name", _those(find=False))
def test_it_is_not_solved_as_given_and_is_by_its_solution(name: str) -> None:
    one = EVERY[name]
    given, solved = judged(one, run(one)), judged(one, run(one, SOLUTIONS / f"{name}.cu"))
    assert not given.solved and solved.solved
    assert given.text and solved.text.startswith("✓ Solved")


@pytest.mark.parametrize("name", _those(find=True))
def test_the_line_is_found_by_the_emulator(name: str) -> None:
    one = EVERY[name]
    made = run(one)
    lines = guilty(one, made)
    assert lines and all(1 < line <= len(made.trace.source.splitlines()) for line in lines)
    assert all(guessed(one, made, line).solved for line in lines)
    wrong = guessed(one, made, 1)
    assert not wrong.solved and wrong.text == "✗ It is not line 1."


def test_a_fast_kernel_with_a_wrong_result_is_not_right(tmp_path: Path) -> None:
    """Without the transposition there are no conflicts either."""
    one = EVERY["column"]
    wrong = tmp_path / "wrong.cu"
    source = launch_of(one).path.read_text()
    wrong.write_text(source.replace("= tile[x][y]", "= tile[y][x]"))
    verdict = judged(one, run(one, wrong))
    assert not verdict.solved and "result[1] is 1, not 32" in verdict.text


def test_the_users_copy_stays() -> None:
    one = EVERY["column"]
    path = launch_of(one).path
    path.write_text("// mine")
    assert launch_of(one).path.read_text() == "// mine"
    assert exercise_of(str(record_of(launch_of(one))["file"])) is one
    assert exercise_of("/somewhere/else/column.cu") is None


def test_what_a_check_found_is_said_in_the_readers_language() -> None:
    language.choose("es")
    try:
        (found, *_) = run(EVERY["reverse"]).trace.findings
    finally:
        language.choose(language.ENGLISH)
    assert found.message.startswith("lectura tras escritura: memoria compartida en 0x3fc")
    assert "(línea 5)" in found.message and "__syncthreads()" in found.remedy
    assert found.remedy.startswith("ponga") and found.kind == "race, read after write"
