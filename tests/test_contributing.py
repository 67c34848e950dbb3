"""The lesson that CONTRIBUTING.md tells how to add is one, word for word."""

import re
from pathlib import Path
from typing import Any

import pytest

from gpuviz import course
from gpuviz.course import LessonEntry
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.memory.counts import Count
from gpuviz.story.lesson import Lesson
from gpuviz.story.perform import perform

GUIDE = Path(__file__).parent.parent / "CONTRIBUTING.md"


def block(language: str) -> str:
    """The one block of code in a language."""
    text = GUIDE.read_text(encoding="utf-8")
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return str(found)


def test_files_it_names_are_there() -> None:
    named = re.findall(r"[\[(`]((?:gpuviz|docs|tests)/[\w/.]+)[\])`]", GUIDE.read_text("utf-8"))
    later = {"gpuviz/course/global_memory/reversed/lesson.py", "tests/course/test_reversed.py"}
    assert len(named) > 15
    assert {name for name in named if not (GUIDE.parent / name).exists()} <= later


@pytest.mark.slow
def test_the_lesson_of_the_guide_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = LessonEntry("reversed", "Reversed", "Global memory", lambda: lesson)
    monkeypatch.setattr(course, "COURSE", (entry,))
    kernel = tmp_path / "reversed.cu"
    kernel.write_text(block("cuda"))
    made: dict[str, Any] = {"__name__": "gpuviz.course.global_memory.reversed.lesson"}
    exec(block("python").replace('"reversed.cu"', repr(str(kernel))), made)
    lesson: Lesson = made["LESSON"]
    assert lesson.title == "Reversed" and lesson.chapter == "Global memory"
    shown = perform(lesson, lesson.defaults())
    totals = shown.runs["copy"].counts.totals
    assert totals[Count.GLOBAL_LOAD_SECTORS] == totals[Count.GLOBAL_STORE_SECTORS] > 0
    stage = Stage(1280, 720, DARK)
    assert all(shown.story.frame(t, stage).marks for t in (0.0, 2.0, shown.story.duration))
