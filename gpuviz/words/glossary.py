"""The words of the field as gpuviz uses them, from resources/glossary.toml.

Texts are English; show them through `words.tr` (`tr(entry.text)`), as they are in the catalogues.
`python -m gpuviz.words.glossary` writes docs/glossary.md.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpuviz.base import records, resources
from gpuviz.base.errors import FormatError, InputError
from gpuviz.words.language import chosen, tr
from gpuviz.words.terminal import out

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"


@dataclass(frozen=True)
class Entry:
    """One word."""

    id: str  # how lessons and other entries name it
    word: str  # as shown, lower case unless it is a name
    text: str  # one or two sentences
    source: str = ""  # where a figure in the text is published, or ""
    see: tuple[str, ...] = ()  # ids of related words
    classes: tuple[str, ...] = ()  # public classes of the program that hold such things


@cache
def entries() -> Mapping[str, Entry]:
    """All words by id, in the order of the file.

    Raises
    ------
    FormatError : the file is damaged
    """
    try:
        rows = resources.table("glossary.toml")
        return {name: _entry(name, row) for name, row in rows.items()}
    except (OSError, ValueError, FormatError) as error:
        raise FormatError(f"the glossary cannot be read: {error}") from None


def _entry(name: str, row: Mapping[str, object]) -> Entry:
    _, wrong = records.fields(row, Entry)
    for said in wrong.values():
        raise FormatError(f"{name}: {said}")
    return records.record({"id": name, "word": name, **row}, Entry, name)


def entry(name: str) -> Entry:
    """The entry of an id.

    Raises
    ------
    InputError : there is none
    """
    found = entries().get(name)
    if found is None:
        raise InputError(f"the glossary has no word {name!r}; it has: {', '.join(entries())}")
    return found


def words_in(text: str) -> Iterator[tuple[int, int, Entry]]:
    """The glossary's words in a text of the language chosen: from where to where, and which."""
    pattern, found = _spoken(chosen())
    for hit in pattern.finditer(text):
        yield hit.start(), hit.end(), found[hit.group(1).lower()]


def pattern() -> str:
    """What finds the words in a text of the language chosen, as a regular expression."""
    return _spoken(chosen())[0].pattern


@cache
def _spoken(language: str) -> tuple[re.Pattern[str], Mapping[str, Entry]]:
    """What finds all words, with or without a plural's ending, longer ones first."""
    found = {tr(one.word).lower(): one for one in entries().values()}
    longest = sorted(found, key=len, reverse=True)
    words = "|".join(map(re.escape, longest))
    return re.compile(rf"(?<!\w)({words})(?:e?s)?(?!\w)", re.IGNORECASE), found


def explained(one: Entry) -> str:
    """The word and what it means, in the language chosen."""
    return f"{tr(one.word)}: {tr(one.text)}"


def page() -> str:
    """The glossary as a Markdown page, words in alphabetical order."""
    ordered = sorted(entries().values(), key=lambda one: one.word.lower())
    head = (
        "# Glossary\n\nOne word, one meaning: in the window, in the lessons and in the code.\n"
        "Made from resources/glossary.toml by `python -m gpuviz.words.glossary`.\n"
    )
    return "\n".join([head, *(line for one in ordered for line in _paragraph(one))])


def _paragraph(one: Entry) -> Iterator[str]:
    yield f'<a id="{one.id}"></a>**{one.word}**: {one.text}'
    if one.source:
        yield f"Source: {one.source}."
    if one.see:
        yield "See " + ", ".join(f"[{entry(name).word}](#{name})" for name in one.see) + "."
    if one.classes:
        yield "In the code: " + ", ".join(f"`{name}`" for name in one.classes) + "."
    yield ""


def main() -> int:
    """Write the page; exit status 0."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    out(str(PAGE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
