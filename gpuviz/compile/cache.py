"""Compiled programs on disk, found by what they were asked for, and true to the files they read.

They are JSON: nothing in them is ever executed or unpickled. The compiler itself names the files
that it opened; nothing is guessed from the text.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from gpuviz.base import records
from gpuviz.base.errors import FormatError, InputError
from gpuviz.compile.program import Program
from gpuviz.files import bounded, disk_cache
from gpuviz.files.disk_cache import DiskCache

_SPLICE = re.compile(r"\\[ \t\r]*\n")
_READS = re.compile("include|import|embed")
_OWN = "__nv_"  # names of what NVRTC makes up itself


@dataclass(frozen=True)
class Dependencies:
    """Checksums of the files by name, and names that would have been found before them."""

    files: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the compiler would read the same today."""
        return all(_checksum(file) == known for file, known in self.files.items()) and not any(
            map(_exists, self.absent)
        )


def reading(
    names: Sequence[str] | None,
    texts: Sequence[str],
    given: Collection[str],
    own: Sequence[Path],
    foreign: Sequence[Path],
    since: int,
) -> Dependencies | None:
    """What to keep of a compilation that opened these files; None when it cannot be known.

    `texts` are the source and its macros, `given` the names of headers handed over as text, `own`
    the user's include folders, which are searched before the `foreign` ones. A file that has
    changed `since` then (in ns) may not be what was read.
    """
    joined = [_SPLICE.sub("", text) for text in texts]
    if names is None:
        return None if any(map(_READS.search, joined)) else Dependencies()
    opened = _opened(names, given)
    folders = tuple(map(str, foreign))
    users = users_own(names, texts, given, foreign) or ()
    files = {name: _checksum(name, since) for name in opened}
    known = {name: checksum for name, checksum in files.items() if checksum}
    asks = any("__has_include" in text for text in (*joined, *map(_text, users)))
    if asks or len(known) < len(files) or not all(Path(name).is_absolute() for name in opened):
        return None
    places = _earlier(opened, users, [*map(str, own), *folders], len(own))
    return Dependencies(known, tuple(sorted({place for place in places if not _exists(place)})))


def users_own(
    names: Sequence[str] | None,
    texts: Sequence[str],
    given: Collection[str],
    foreign: Sequence[Path],
) -> tuple[str, ...] | None:
    """Those of the files that are the user's, and no header of the compiler's or the system's.

    None when it cannot be known; for the rest see `reading`.
    """
    if names is None:
        return None if any(_READS.search(_SPLICE.sub("", text)) for text in texts) else ()
    whole = {name: Path(os.path.normpath(name)) for name in _opened(names, given)}
    return tuple(name for name, path in whole.items() if not any(map(path.is_relative_to, foreign)))


def _opened(names: Sequence[str], given: Collection[str]) -> list[str]:
    return [name for name in names if name not in given and not name.startswith(_OWN)]


def _earlier(
    opened: Sequence[str], users: Sequence[str], folders: Sequence[str], own: int
) -> Iterator[str]:
    """Names under which another file would have been opened in place of one of these."""
    beside = [str(Path(name).parent) for name in users]
    for name in opened:
        for number, folder in enumerate(folders):
            if name.startswith(folder + "/"):
                before = [*folders[: min(number, own)], *(beside if name in users else ())]
                yield from (place + name[len(folder) :] for place in before)


def _text(file: str) -> str:
    return _SPLICE.sub("", bounded.text(Path(file)))


def _checksum(file: str, since: int = 0) -> str:
    """Of a file's content; "" when it cannot be read, or has changed since then."""
    try:
        path = Path(file)
        content = bounded.read(path)
        return "" if since and path.stat().st_mtime_ns >= since else sha256(content).hexdigest()
    except (InputError, OSError):
        return ""


def _exists(file: str) -> bool:
    try:
        return Path(file).is_file()
    except OSError:
        return False


_FORMAT = 5
KEPT = DiskCache("compile")
NOTHING = Dependencies()


@dataclass(frozen=True, eq=False)
class _Entry:
    program: Program
    reading: Dependencies


def key(*parts: object) -> str:
    """A name made of everything that decides the result, but for the headers read."""
    return disk_cache.key(_FORMAT, *parts)


def load(name: str) -> Program | None:
    """The program kept under a key; None when there is none, it is damaged, or a file that it was
    compiled from has changed.
    """
    try:
        entry = records.read(KEPT.load(name) or b"", _Entry, name)
    except FormatError:
        return None
    return entry.program if entry.reading.holds else None


def store(name: str, program: Program, reading: Dependencies | None = NOTHING) -> None:
    """Keep a program under a key; not where it is unknown what was read."""
    if reading is not None:
        KEPT.store(name, records.text(_Entry(program, reading)).encode())
