"""Lectures to text. What was not changed is written as it was read: comments, spaces, broken parts.

Of a slide that was changed, only the keys that differ are set anew.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Item

from gpuviz.base import records
from gpuviz.base.errors import InputError
from gpuviz.files import bounded
from gpuviz.files import writing as files
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures.bundle import is_bundle, shipped
from gpuviz.lectures.chunks import Chunk, ChunkError, toml_values
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.own_files import files_of
from gpuviz.lectures.reading import KEY, VERSION, Head, read, slide_in
from gpuviz.lectures.slide_fields import plain_of
from gpuviz.words.language import tr

_LINE = 1 << 16  # bytes of a first line, at most
_INLINE = ("values", "compare", "kernel", "beside")
_UNQUOTABLE = re.compile(r"'''|[^\S\n\t ]|[\x00-\x08\x0b-\x1f\x7f]")  # between ''' and '''
_LONG = ("words", "notes")  # their first and last line ends are no part of them


def write(lecture: Lecture, path: Path) -> None:
    """Write the file, whole or not at all; InputError when that cannot be done."""
    content = text_of(lecture, path.absolute().parent)
    if _windows(path):
        content = content.replace("\n", "\r\n")
    files.write(path, content)


def _windows(path: Path) -> bool:
    """Whether the file that is there has lines that end as on Windows."""
    try:
        with bounded.opened(path, 1 << 30) as file:
            return file.readline(_LINE).endswith(b"\r\n")
    except InputError:  # it is not there yet
        return False


def text_of(lecture: Lecture, folder: Path) -> str:
    """The text; files of kernels in `folder` are named as seen from there."""
    reach = Reach(folder, lecture.agreed)
    parts = [_head(lecture), *(_slide(slide, reach) for slide in lecture.slides)]
    read = {lecture.raw, *(slide.raw for slide in lecture.slides)}
    close = [part for part in parts if not part.endswith("\n\n") and part in read]
    kept = set(close) if len(close) > 1 else set()  # more than the last: as the author likes it
    apart = (_ended(part, "\n" if part in kept else "\n\n") for part in parts)
    return "".join(apart).rstrip("\n") + "\n"


def _ended(part: str, end: str) -> str:
    return part if part.endswith(end) else part.rstrip("\n") + end


def _head(lecture: Lecture) -> str:
    """The head with what was changed; what could not be read of it stays."""
    plain = {
        "title": lecture.title,
        "author": lecture.author,
        "minutes": lecture.minutes,
        "language": lecture.language,
    }
    kept = {key: _number(value) for key, value in plain.items() if value not in ("", 0.0)}
    try:
        before = toml_values(Chunk(1, lecture.raw))
    except ChunkError:
        return lecture.raw
    document = tomlkit.parse(lecture.raw)
    read, _ = records.fields(before, Head)
    other = {key: value for key, value in before.items() if key not in plain or key not in read}
    _update(document, before, {KEY: VERSION, **other, **kept})
    return tomlkit.dumps(document)


def _slide(slide: Slide, reach: Reach) -> str:
    """The text it was read from, if that still says the same; else with what differs set anew."""
    plain = plain_of(slide, reach.folder)
    if not slide.raw:
        return _edited("[[slide]]\n", {}, plain)
    before = slide_in(Chunk(1, slide.raw), reach)
    if replace(before, problems=(), raw="") == replace(slide, problems=(), raw=""):
        return slide.raw
    with suppress(Exception):  # what is no TOML, or only almost, can fail in any way
        made = _edited(slide.raw, plain_of(before, reach.folder), plain)
        if not before.problems or slide.problems or _shows(made, slide, reach):
            return made
    kept = "".join(f"# {line}" for line in slide.raw.splitlines(keepends=True))
    kept = _ended(kept.rstrip("\n# "), "\n")  # it was broken: what it said stays to be read
    return kept + _edited("[[slide]]\n", {}, plain)


def _shows(text: str, slide: Slide, reach: Reach) -> bool:
    """Whether the slide's view is read from the text, in spite of what was broken in there."""
    if slide.view is None:
        return True
    own = Reach(reach.folder, reach.agreed | files_of(slide.view.launch))
    return slide_in(Chunk(1, text), own).view is not None


def _edited(raw: str, before: Mapping[str, Any], plain: Mapping[str, Any]) -> str:
    document = tomlkit.parse(raw)
    rows = document["slide"]
    assert isinstance(rows, AoT)  # as the text begins with [[slide]]
    _update(rows[0], before, plain)
    return tomlkit.dumps(document)


def _update(table: Any, before: Mapping[str, Any], plain: Mapping[str, Any]) -> None:
    """Set what differs, and take away what is no more; the order of the others stays."""
    for key in [key for key in before if key not in plain and key in table]:
        del table[key]
    for key, value in plain.items():
        if before.get(key) != value:
            table[key] = _item(key, value)


def _item(key: str, value: Any) -> Item:
    """A value as people write it: long texts in lines, small tables in one line."""
    if key in _LONG and "\n" in value and "\\" in value and not _UNQUOTABLE.search(value):
        return _made(tomlkit.parse(f"text = '''\n{value}\n'''")["text"])
    if key in _LONG and "\n" in value:
        quoted = tomlkit.string(value + "\n", multiline=True).as_string()
        return _made(tomlkit.parse(f'text = """\n{quoted[3:]}')["text"])
    if isinstance(value, dict) and key in _INLINE:
        row = tomlkit.inline_table()
        row.update(value)
        return row
    return _made([_number(v) for v in value] if isinstance(value, list) else value)


def _made(value: Any) -> Item:
    made = tomlkit.item(value)
    assert isinstance(made, Item)
    return made


def _number(value: Any) -> Any:
    """Whole seconds without a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Change = Callable[[Slide], Slide]
Changes = Mapping[int, Change]  # by the numbers of slides, from 0
Keep = Callable[[Changes], str]  # writes changes down, and says where; InputError when it cannot


def changed(lecture: Lecture, changes: Changes) -> Lecture:
    """The lecture with other slides; InputError when one is not there."""
    for at, how in changes.items():
        lecture = lecture.change(at, how)
    return lecture


def in_file(path: Path, agreed: frozenset[Path] = frozenset()) -> Keep:
    """Keeps them in the lecture's file, as that is by then.

    Raises
    ------
    InputError : it is a bundle, ships with gpuviz, or cannot be written
    """

    def keep(changes: Changes) -> str:
        if path in shipped() or is_bundle(path):
            raise InputError(
                f"{path.name} cannot keep it: open the lecture in the window, and save it there"
            )
        write(changed(read(path, agreed), changes), path)
        return tr("kept in {name}", name=path.name)

    return keep
