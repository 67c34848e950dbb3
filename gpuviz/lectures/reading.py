"""Lectures from files and texts. A broken slide is told by its line; the others still play."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from gpuviz.base import records
from gpuviz.base.errors import FormatError, failure_of
from gpuviz.files import bounded
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures.chunks import Chunk, ChunkError, beginnings, chunks, line_of, toml_values
from gpuviz.lectures.lecture import Lecture, Problem, Slide
from gpuviz.lectures.slide_fields import Fault, slide_of

KEY, VERSION = "gpuviz-lecture", 1
_LONGEST = 400  # letters of a problem
_TOLD = 100  # problems of a slide
_LARGEST = 1 << 20  # bytes of a text that is believed to be a lecture
Head = TypedDict(
    "Head",
    {
        "gpuviz-lecture": int,
        "title": str,
        "author": str,
        "minutes": Annotated[float, Meta(ge=0, le=1e6)],
        "language": str,
    },
)


def read(path: Path, agreed: frozenset[Path] = frozenset(), folder: Path | None = None) -> Lecture:
    """The lecture in a text file, in its folder or, if it is a copy, another one's; `agreed` are
    files outside of the folder that it may name.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is no lecture at all
    """
    return parse(_text(path), folder or path.absolute().parent, path.name, agreed)


def title(path: Path) -> str:
    """The title of the lecture in a text file, without reading its slides; errors as `read`."""
    text = _text(path)
    return _head(Chunk(1, text[: next(beginnings(text), len(text))]), path.name).title


def _text(path: Path) -> str:
    content = bounded.read(path, _LARGEST)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{path} is no lecture: line {line} is no text in UTF-8") from None
    return text.replace("\r\n", "\n")


def parse(
    text: str, folder: Path, name: str = "", agreed: frozenset[Path] = frozenset()
) -> Lecture:
    """The lecture of a text; kernels are looked for in `folder`, and among the files `agreed`.

    Raises
    ------
    FormatError : it has neither the head of a lecture nor a slide
    """
    head, *slides = chunks(text)
    if not slides and KEY not in head.text:
        raise FormatError(
            f"{name or 'this'} is no lecture of gpuviz: line 1 has to be {KEY} = {VERSION}"
        )
    made = _head(head, name)
    reach = Reach(folder, agreed)
    told = tuple(slide_in(chunk, reach) for chunk in slides)
    return replace(made, slides=told, agreed=agreed)


def slide_in(chunk: Chunk, reach: Reach) -> Slide:
    """The slide of a chunk, with its problems."""
    try:
        found = toml_values(chunk)
    except ChunkError as error:
        return Slide(problems=(_problem(error.line, error.text),), raw=chunk.text)
    rows = found.pop("slide")
    assert isinstance(rows, list)  # as [[slide]] begins every chunk but the first
    try:
        slide, faults = slide_of(rows[0], reach)
    except Exception as error:  # what nobody thought of breaks this slide, and no other
        said = f"this slide cannot be read: {failure_of(error).message}"
        slide, faults = Slide(), (Fault("slide", said),)
    problems = [_problem(line_of(chunk, one.key), one.text, one.files) for one in faults]
    problems += [
        _problem(
            line_of(chunk, key), f"{key} belongs to no slide: write it before the first [[slide]]"
        )
        for key in found
    ]
    ordered = sorted(problems, key=lambda problem: problem.line)
    return replace(slide, problems=tuple(ordered[:_TOLD]), raw=chunk.text)


def _problem(line: int, text: str, files: tuple[Path, ...] = ()) -> Problem:
    """What is wrong in a line, without the end of what repeats a value of thousands of letters."""
    return Problem(line, text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …", files)


def _head(chunk: Chunk, name: str) -> Lecture:
    """What stands before the slides; a head that cannot be read keeps no slide from playing."""
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    try:
        found = toml_values(chunk)
    except ChunkError as error:
        problems.append(_problem(error.line, error.text))
    problems += _strange(chunk, found)
    good, wrong = records.fields(found, Head)
    problems += [_problem(line_of(chunk, key), said) for key, said in wrong.items()]
    title = good.get("title") or Path(name).stem
    return Lecture(
        title,
        (),
        good.get("author", ""),
        good.get("minutes", 0.0),
        good.get("language", ""),
        tuple(problems),
        chunk.text,
    )


def _strange(chunk: Chunk, found: dict[str, Any]) -> list[Problem]:
    said = []
    if found and KEY not in found:
        said.append(Problem(chunk.line, f"the first line should be {KEY} = {VERSION}"))
    version = found.get(KEY, VERSION)
    if isinstance(version, int) and version > VERSION:
        said.append(
            Problem(
                line_of(chunk, KEY),
                f"written for format {version} of a newer gpuviz; "
                f"this one knows {VERSION}, and shows what it can",
            )
        )
    return said
