"""The headers of a project: found as its build would find them, and split like the file itself."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.files import bounded
from gpuviz.source.parts import Text, read

_FOLDERS = ("", "include", "inc", "common", "Common", "common/inc", "src", "util", "utils")
_ABOVE = 5  # folders above the file's own that may still be its project
_FOLDERS_LOOKED_AT = 4_000
_NAMES = 10_000  # of headers, in one text
_FILES = 400  # headers of one file; more is a library, which belongs to -I
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\r]*\n")
_ROOTS = (".git", ".hg", ".svn")


@dataclass(frozen=True)
class Unit:
    """A file and the project's headers that it reads, each in parts, by the name given to NVRTC.

    `names` says, for each of them, what its includes are called there: None for those that are
    nowhere, which `missing` lists. `files` are the headers as files.
    """

    texts: dict[str, Text] = field(default_factory=dict)
    names: dict[str, dict[str, str | None]] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def unit(
    source: str, name: str, folder: Path, own: Collection[Path], known: Callable[[str], bool]
) -> Unit:
    """A source text with its headers.

    Parameters
    ----------
    folder : where the file lies
    own : the user's folders of headers (-I), searched after the project's
    known : whether the compiler itself finds a header of this name
    """
    made, tree = Unit(), _Tree(folder)
    made.texts[name] = read(source)
    waiting = [(name, folder)]
    while waiting:
        user, place = waiting.pop()
        renamed: dict[str, str | None] = made.names.setdefault(user, {})
        for include in made.texts[user].includes:
            if include.name in renamed:
                continue
            file = _found(include.name, include.quoted, place, folder, own, known)
            if file is None and not known(include.name):
                file = tree.nearest(include.name)
            if file is None:
                if not known(include.name):
                    renamed[include.name] = None
                    made.missing.append(include.name)
                continue
            called = _called(file, folder)
            renamed[include.name] = called
            if called not in made.texts and len(made.texts) < _FILES:
                made.texts[called] = read(bounded.text(file))
                made.files[called] = file
                waiting.append((called, file.parent))
    return made


def _found(
    name: str,
    quoted: bool,
    place: Path,
    folder: Path,
    own: Collection[Path],
    known: Callable[[str], bool],
) -> Path | None:
    """The project's file of this name: beside the one that asks, in its tree, then of -I."""
    if quoted and (file := _file(place / name)):
        return file
    if known(name):  # no file of a project goes before NVIDIA's own and the language's
        return None
    folders = [root / below for root in _project(folder) for below in _FOLDERS]
    return next(filter(None, (_file(root / name) for root in (*folders, *own))), None)


def _project(folder: Path) -> Iterator[Path]:
    """The folder of a file and those above it, up to the project's root; no further than home."""
    for count, place in enumerate((folder, *folder.parents)):
        if count > _ABOVE or place == Path.home() or place.parent == place:
            return
        yield place
        if any((place / root).exists() for root in _ROOTS):
            return


class _Tree:
    """All files of the project that a folder is in, where something marks its root."""

    def __init__(self, folder: Path) -> None:
        """Nothing is looked at before it is asked for."""
        self._folder = folder

    @cached_property
    def _files(self) -> dict[str, list[Path]]:
        root = list(_project(self._folder))[-1:]
        found: dict[str, list[Path]] = {}
        if not root or not any((root[0] / mark).exists() for mark in _ROOTS):
            return found
        for count, (place, folders, names) in enumerate(os.walk(root[0])):
            folders[:] = sorted(one for one in folders if not one.startswith("."))
            for name in names:
                found.setdefault(name, []).append(Path(place, name))
            if count > _FOLDERS_LOOKED_AT:
                break
        return found

    def nearest(self, name: str) -> Path | None:
        """The file whose path ends so that has most of its folders with this one."""
        wanted = Path(name).parts
        fits = (f for f in self._files.get(wanted[-1], ()) if f.parts[-len(wanted) :] == wanted)

        def far(file: Path) -> int:
            return len(Path(os.path.relpath(file, self._folder)).parts)

        return next(filter(None, map(_file, sorted(fits, key=far))), None)


def _file(path: Path) -> Path | None:
    """A file that can be read; InputError for what is there and is none, such as a pipe."""
    try:
        whole = Path(os.path.normpath(path))
        there = whole.exists() and not whole.is_dir()
    except (OSError, ValueError):
        return None
    if not there:
        return None
    try:
        with bounded.opened(whole):
            return whole
    except InputError:
        if whole.is_file():
            return None
        raise


# What a directive names; that of another macro's may be what an include asks for.
_WORDS, _MARKS = ("include", "define", "import"), ("#", "%:", "??=")
_NAMED = re.compile(r'["<]([^"<>\n]+)[">]')


def refuse_devices(texts: Iterable[str], folders: Sequence[Path]) -> None:
    """InputError, by name, for a pipe, a socket or a device among the headers that texts and their
    headers name in these folders: a compiler would wait for ever, or never come to an end.
    """
    text, places = "\n#".join(texts), tuple(folders)
    waiting: list[Path] = []
    seen: set[Path] = set()
    for _ in range(_FILES):
        lines = "\n".join(filter(_may_name, spliced(text).split("\n")))
        files = {place / name for name in _NAMED.findall(lines)[:_NAMES] for place in places} - seen
        seen |= files
        waiting += filter(None, map(_file, files))
        if not waiting:
            return
        file = waiting.pop()
        text, places = bounded.text(file), (file.parent, *folders)


def _may_name(line: str) -> bool:
    return any(mark in line for mark in _MARKS) and any(word in line for word in _WORDS)


def spliced(text: str) -> str:
    """A text whose lines are joined where the compiler joins them."""
    return _SPLICE.sub("", text)


def _called(file: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # another drive
        return file.as_posix()
