"""The texts of a lecture that people read: in another language, or with some replaced.

The translation of one that ships stands in NAME.es.json beside NAME.gpuviz-lecture. This catalogue
has the lines that people read (titles, words, notes, questions, choices) as they are
written in the lecture, each with its translation. Lessons, values and stops stand in the lecture
alone; a line that is not in the catalogue stays as it is.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from gpuviz.base import records
from gpuviz.files import bounded
from gpuviz.lectures.lecture import LIMITER, Lecture, Question, Slide
from gpuviz.lectures.reading import title
from gpuviz.words.language import ENGLISH


def catalogue_of(file: Path, language: str) -> Path:
    """Where the translation of a lecture's file stands, if there is one."""
    return file.with_name(f"{file.stem}.{language}.json")


def translated(lecture: Lecture, file: Path, language: str) -> Lecture:
    """The lecture in a language; as it is written where it is in that, or nobody has translated it.

    Raises
    ------
    FormatError : the catalogue is damaged
    """
    if not (known := _lines(file, language)):
        return lecture
    say = partial(re.sub, r".+", lambda line: known.get(line[0], line[0]))
    return replace(_with_texts(lecture, say), language=language)


def replaced(lecture: Lecture, find: str, by: str, case: bool = False) -> tuple[Lecture, int]:
    """The lecture with one text in place of another, and how often it was found.

    Without `case` large letters are found as small ones. Nothing is found of an empty text.
    """
    if not find:
        return lecture, 0
    pattern = re.compile(re.escape(find), 0 if case else re.IGNORECASE)
    count = 0

    def put(text: str) -> str:
        nonlocal count
        made, found = pattern.subn(lambda _: by, text)
        count += found
        return made

    made = _with_texts(lecture, put)
    return (made, count) if count else (lecture, 0)


@lru_cache
def title_in(file: Path, language: str) -> str:
    """The title of a lecture that ships; errors as `reading.title`."""
    found = title(file)
    return _lines(file, language).get(found, found)


def lines(lecture: Lecture) -> Iterator[str]:
    """The lines that people read, in order; some come again. Those without letters are left out."""
    for text in _texts(lecture):
        yield from (line for line in text.split("\n") if any(map(str.isalpha, line)))


def _texts(lecture: Lecture) -> Iterator[str]:
    yield lecture.title
    for slide in lecture.slides:
        yield from (slide.title, slide.words, slide.notes)
        if slide.question is not None:
            yield slide.question.ask
            yield from map(str, _read(slide.question))


def _read(question: Question) -> tuple[str, ...]:
    """The choices that are texts; resources have their names in the program."""
    return tuple(c for c in question.choices if isinstance(c, str) and question.count != LIMITER)


def _with_texts(lecture: Lecture, say: Callable[[str], str]) -> Lecture:
    """The lecture with its texts said in another way."""
    slides = tuple(_slide(slide, say) for slide in lecture.slides)
    return replace(lecture, title=say(lecture.title), slides=slides)


def _slide(slide: Slide, say: Callable[[str], str]) -> Slide:
    question = slide.question
    if question is not None:
        texts = _read(question)
        choices = tuple(say(str(c)) if c in texts else c for c in question.choices)
        question = replace(question, ask=say(question.ask), choices=choices)
    title, words, notes = map(say, (slide.title, slide.words, slide.notes))
    return replace(slide, question=question, title=title, words=words, notes=notes)


@lru_cache
def _lines(file: Path, language: str) -> Mapping[str, str]:
    """The catalogue, empty where there is none."""
    path = catalogue_of(file, language)
    if language in ("", ENGLISH) or not path.is_file():
        return {}
    return records.read(bounded.read(path), dict[str, str], f"the translation {path.name}")
