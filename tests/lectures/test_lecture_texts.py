"""Lectures that ship, in another language: complete, with the same numbers, the same slides."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz.base.errors import FormatError
from gpuviz.lectures.bundle import opened, shipped
from gpuviz.lectures.lecture_texts import catalogue_of, lines, title_in, translated
from gpuviz.lectures.reading import parse, read
from gpuviz.lectures.writing import text_of
from gpuviz.run.session import Session

TEXT = """gpuviz-lecture = 1
title = "Two words"
language = "en"

[[slide]]
title = "Two words"
words = \"\"\"
One line.
And 8.\"\"\"

[[slide]]
lesson = "banks"

[slide.question]
ask = "How many?"
choices = [4, "more"]
count = "shared_load_wavefronts"
"""
KNOWN = {"Two words": "Dos palabras", "One line.": "Una línea.", "more": "más"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.gpuviz-lecture"
    path.write_text(TEXT)
    catalogue_of(path, "es").write_text(json.dumps(KNOWN))
    return path


def test_lines_are_translated_and_others_stay(file: Path) -> None:
    told = translated(read(file), file, "es")
    assert (told.title, told.language) == ("Dos palabras", "es")
    assert told.slides[0].words == "Una línea.\nAnd 8."
    asked = told.slides[1].question
    assert asked is not None and (asked.ask, asked.choices) == ("How many?", (4, "más"))
    assert title_in(file, "es") == "Dos palabras" and title_in(file, "en") == "Two words"
    assert translated(read(file), file, "en") == read(file)


def test_what_is_saved_of_it_is_in_its_language(file: Path) -> None:
    told = translated(read(file), file, "es")
    again = parse(text_of(told, file.parent), file.parent)
    assert again.all_problems == ()
    assert (again.title, again.language) == (told.title, "es")
    assert [replace(s, raw="") for s in again.slides] == [replace(s, raw="") for s in told.slides]


def test_a_lecture_of_ones_own_stays_as_it_is_written(file: Path) -> None:
    assert opened(file, Session(), language="es").title == "Two words"


def test_what_ships_is_opened_in_the_language_asked_for() -> None:
    path = next(path for path in shipped() if path.stem == "coalescing-and-banks")
    told, written = opened(path, Session(), language="es"), opened(path, Session())
    assert (told.language, written.language) == ("es", "en")
    assert told.slides[1].title == "En fila: 4 sectores"
    assert [slide.view for slide in told.slides] == [slide.view for slide in written.slides]


def test_a_damaged_catalogue_is_named(file: Path) -> None:
    catalogue_of(file, "es").write_text('{"Two words": 2}')
    with pytest.raises(FormatError, match="the translation two.es.json"):
        translated(read(file), file, "es")


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_what_ships_is_whole(path: Path) -> None:
    """Each line has its translation, with the numbers of the line, and there are no others."""
    known = json.loads(catalogue_of(path, "es").read_text(encoding="utf-8"))
    wanted = list(dict.fromkeys(lines(read(path))))
    assert [line for line in wanted if line not in known] == []
    assert [line for line in known if line not in wanted] == []
    for line, said in known.items():
        assert numbers(said) == numbers(line), line


def numbers(text: str) -> list[str]:
    """The numbers of a text, however thousands are set apart, in the order of their size."""
    joined = re.sub(r"(?<=\d)[, \u202f](?=\d{3}\b)", "", text)
    return sorted(re.findall(r"\d+(?:\.\d+)?", joined))
