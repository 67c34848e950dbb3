"""The lessons in Spanish: longer words still have their place, and none is left in English."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from gpuviz import language
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.scenes import SCENES
from gpuviz.scenes.base import Lesson
from gpuviz.scenes.perform import perform
from tests.scenes.pictures import MOMENTS, check_text, frame
from tests.scenes.pictures import words as strings

# Words that no Spanish sentence of the program has.
ENGLISH = re.compile(
    r"\b(the|of|is|are|and|with|lanes?|threads?|blocks?|requests?|lines?|sectors|words?|banks?)\b",
    re.IGNORECASE,
)
# What stays as it is: titles of documents, and code.
NAMES = re.compile(
    r"“[^”]*”|Threads and blocks[^·]*|CUDA memory considerations|sum \+= .*|fma4<<<.*>>>"
)


@pytest.fixture(autouse=True)
def spanish(qapp: QApplication) -> Iterator[None]:
    load_fonts()
    language.choose("es")
    yield
    language.choose(language.ENGLISH)


@pytest.mark.parametrize("lesson", SCENES, ids=lambda lesson: lesson.id)
def test_pictures_in_spanish(lesson: Lesson) -> None:
    story = perform(lesson, {}).story
    for stage in ("window", "half"):
        check_text(story, stage)
    shown = [text for share in MOMENTS for text in strings(frame(story, share, "full"))]
    said = {story.title, story.sentence, story.expected, *(s.label for s in story.steps), *shown}
    english = {text for text in said if ENGLISH.search(NAMES.sub("", text))}
    assert english == set(), "wrap it in tr(), and translate it"
