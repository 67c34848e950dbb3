"""The headers of a project: found as its build would find them, and split like the file itself."""

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.files import bounded
from gpuviz.source.parts import Text, read

_FOLDERS = ("", "include", "inc", "common", "Common", "common/inc", "src", "util", "utils")
_ABOVE = 5  # folders above the file's own that may still be its project
_ENTRIES, _SECONDS = 40_000, 0.5  # of a project, looked at
_KEPT = 5.0  # seconds
_NO_SOURCES = ("build", "node_modules", "CMakeFiles", "__pycache__")
_LARGE = 150_000  # letters, of which a library for the host alone is
_DEVICE = re.compile(r"__(?:device|global|host|constant|CUDACC|CUDA_ARCH)__")
_HOSTS = re.compile(r"#[ \t]*include[ \t]*<(?:stdio\.h|cstdio|string|vector|map|memory|iostream)>")
_NAMES = 10_000  # of headers, in one text
_FILES = 400  # headers of one file; more is a library, which belongs to -I
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\r]*\n")
_ROOTS = (".git", ".hg", ".svn")


@dataclass
class Unit:
    """A file and the project's headers that it reads, each in parts, by the name given to NVRTC.

    `names` says, for each of them, what its includes are called there: None for those that are
    nowhere, which `missing` lists. `files` are the headers as files; `bounds` says so where not all
    of the project was looked at.
    """

    texts: dict[str, Text] = field(default_factory=dict)
    names: dict[str, dict[str, str | None]] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    bounds: str = ""


_last: dict[str, Text] = {}  # what was read of the last file: its launches are asked for after it


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
    made, before = Unit(), dict(_last)
    texts = {source: before.get(source) or read(source)}
    made.texts[name] = texts[source]
    waiting = [(name, folder)]
    while waiting:
        user, place = waiting.pop()
        renamed: dict[str, str | None] = made.names.setdefault(user, {})
        for include in made.texts[user].includes:
            if include.name in renamed:
                continue
            file = _found(include.name, include.quoted, place, folder, own, known)
            if file is None and not known(include.name):
                index = _index(folder)
                file, made.bounds = index.nearest(include.name, folder), index.bounds
            if file is None and known(include.name):
                continue
            called = _called(file, folder) if file else ""
            text = bounded.text(file) if file and called not in made.texts else ""
            if file is None or _of_the_host(text):
                renamed[include.name] = None
                made.missing.append(include.name)
                continue
            renamed[include.name] = called
            if called not in made.texts and len(made.texts) < _FILES:
                made.texts[called] = before.get(text) or read(text)
                made.files[called] = file
                waiting.append((called, file.parent))
                texts[text] = made.texts[called]
    _last.clear()
    _last.update(texts)
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


@dataclass(frozen=True)
class _Index:
    """The files of a project by name; `bounds` says how many were looked at, if not all."""

    made: float  # seconds
    files: Mapping[str, Sequence[Path]]
    bounds: str = ""

    def nearest(self, name: str, folder: Path) -> Path | None:
        """The file whose path ends so that has most of its folders with a folder."""
        wanted = Path(name).parts
        fits = (f for f in self.files.get(wanted[-1], ()) if f.parts[-len(wanted) :] == wanted)

        def far(file: Path) -> int:
            return len(Path(os.path.relpath(file, folder)).parts)

        return next(filter(None, map(_file, sorted(fits, key=far))), None)


_indices: dict[Path, _Index] = {}


def _index(folder: Path) -> _Index:
    """All files of the project that a folder is in, where something marks its root; they are
    looked at once for all files that are opened within some seconds.
    """
    root = (list(_project(folder)) or [folder])[-1]
    if not any((root / mark).exists() for mark in _ROOTS):
        return _Index(0, {})
    now = time.monotonic()
    kept = _indices.get(root)
    if kept is None or now - kept.made > _KEPT:
        _indices.clear()
        kept = _indices[root] = _walked(root, now)
    return kept


def defining(functions: Collection[str], stems: Collection[str], folder: Path) -> list[str]:
    """The other .cu files of a project that define functions of these names, the nearest first, or
    are called as the headers that declare them.
    """
    every = [f for n, fs in _index(folder).files.items() if n.endswith(".cu") for f in fs]
    names = "|".join(map(re.escape, functions))
    defined = re.compile(rf"__device__[^;{{}}]*\b(?:{names})\s*\([^;{{}}]*\)[^;{{}}]*\{{")
    near = sorted(every, key=lambda file: len(_called(file, folder)))[:_FILES]
    found = (f for f in near if f.stem in stems or (_file(f) and defined.search(bounded.text(f))))
    return [_called(file, folder) for file in found]


def _walked(root: Path, since: float) -> _Index:
    found: dict[str, list[Path]] = {}
    count = 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if one[0] != "." and one not in _NO_SOURCES)
        count += len(names) + len(folders)
        for name in names:
            found.setdefault(name, []).append(Path(place, name))
        if count > _ENTRIES or time.monotonic() - since > _SECONDS:
            return _Index(since, found, f" (looked for in {count:,} files of the project, not all)")
    return _Index(since, found)


def _of_the_host(text: str) -> bool:
    """Whether a header is a large library without device code, such as one that reads JSON: it
    would be compiled in vain, and for seconds.
    """
    return len(text) > _LARGE and not _DEVICE.search(text) and bool(_HOSTS.search(text))


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
