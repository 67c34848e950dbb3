"""Which files the pictures of a lecture are: in its own folder or bundle, and nowhere else."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from gpuviz.base.errors import InputError
from gpuviz.files import bounded
from gpuviz.files import writing as files
from gpuviz.files.allowed_paths import Reach
from gpuviz.words.language import tr

FOLDER = "pictures"  # of a bundle, and beside a lecture
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
LARGEST = 16 << 20  # bytes of one
_FORBIDDEN = frozenset('\\:\0"*?<>|')  # in names that lead elsewhere on some system, or nowhere
_LONGEST = 80  # letters of a name that is told


def find(words: str, folder: Path) -> tuple[dict[str, Path], list[str]]:
    """The files of the pictures in words by their names, and what is wrong with the others."""
    if "![" not in words:
        return {}, []
    from gpuviz.lectures.markdown.blocks import pictures  # a reader that few lectures need

    found: dict[str, Path] = {}
    wrong: list[str] = []
    for name in pictures(words):
        try:
            found[name] = place(name, folder)
        except InputError as error:
            wrong.append(str(error))
    return found, wrong


def place(name: str, folder: Path) -> Path:
    """The file of a picture beside a lecture, or among the pictures of its bundle.

    Raises
    ------
    InputError : it is not there, or lies elsewhere: a lecture never shows what it does not carry
    """
    told = name[:_LONGEST]
    if not name or name[0] in "/~" or ".." in PurePosixPath(name).parts or set(name) & _FORBIDDEN:
        raise _elsewhere(told)
    if not name.lower().endswith(SUFFIXES):
        raise _no_picture(told)
    for file in (folder / name, folder / FOLDER / name):
        try:
            there = file.is_file()
        except (OSError, ValueError):  # no name of a file
            there = False
        if there and Reach(folder).elsewhere(file) is not None:  # by a link
            raise _elsewhere(told)
        if there:
            return file
    raise InputError(tr("there is no picture {name} beside the lecture", name=told))


def packed_as(name: str) -> str:
    """Where a picture of that name lies in a bundle."""
    plain = PurePosixPath(name)
    return (plain if plain.parts[0] == FOLDER else FOLDER / plain).as_posix()


def taken(file: Path, folder: Path) -> str:
    """The name by which slides in a folder show a picture; one from elsewhere is copied there.

    Raises
    ------
    InputError : it is no picture, cannot be read, or not be copied
    """
    file = file.absolute()
    with suppress(InputError, ValueError):
        name = file.relative_to(folder.absolute()).as_posix()
        if place(name, folder).samefile(file):
            return name
    if file.suffix.lower() not in SUFFIXES:
        raise _no_picture(file.name)
    content, number = bounded.read(file, LARGEST), 1
    stem = "".join("-" if c in _FORBIDDEN else c for c in file.stem)
    name = f"{FOLDER}/{stem}{file.suffix}"
    while (folder / name).exists() and bounded.read(folder / name, LARGEST) != content:
        number += 1
        name = f"{FOLDER}/{stem}-{number}{file.suffix}"
    files.write(folder / name, content, parents=True)
    return name


def carry(pictures: Iterable[tuple[str, Path]], folder: Path) -> None:
    """Copy pictures to where a lecture is written, unless some of that name are there."""
    for name, file in pictures:
        try:
            place(name, folder)
        except InputError:
            files.write(folder / name, bounded.read(file, LARGEST), parents=True)


def _no_picture(name: str) -> InputError:
    kinds = ", ".join(SUFFIXES)
    return InputError(tr("{name} is no picture: these end in {kinds}", name=name, kinds=kinds))


def _elsewhere(name: str) -> InputError:
    said = tr("the picture {name} lies elsewhere: put it beside the lecture", name=name or "“”")
    return InputError(said)
