"""A lecture in one file with all that it needs: kernels, their programs, recordings.

    lecture.gpuviz-lecture   the text; kernels are named as seen from here
    kernels/                 kernels of the user's own, with their headers and data
    traces/                  saved traces
    pictures/                those of slides of words
    programs/                what the compiler made of every launch, for machines without one
    recordings/              what GPUs measured of them

The bundle is a zip, named like a plain lecture; nothing in it is executed or unpickled.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import IO

from gpuviz.base import resources
from gpuviz.base.errors import FormatError, InputError
from gpuviz.compile import Program, bundled
from gpuviz.compile.bundled import ProgramKey
from gpuviz.files import bounded, folders, zips
from gpuviz.files.allowed_paths import Reach
from gpuviz.files.disk_cache import Kept, surplus, touch
from gpuviz.lectures.lecture import SUFFIX, Lecture
from gpuviz.lectures.lecture_texts import translated
from gpuviz.lectures.markdown.files import FOLDER as PICTURES
from gpuviz.lectures.reading import read
from gpuviz.recordings import recording
from gpuviz.run.session import LectureContents, Session

ROOM = 1 << 30  # bytes of all bundles
_PART = ".part"
_SHARED_MEMORY = Path("/dev/shm")
Contents = Callable[[], Iterable[tuple[str, bytes]]]

_held: dict[Path, IO[bytes]] = {}  # what this process uses, and the locks that say so


def folder_of(digest: str, contents: Contents) -> Path:
    """The folder with exactly these files, by their names; `digest` is of them all.

    Raises
    ------
    OSError : there is no place to write to
    whatever `contents` raises
    """
    try:
        return _in(folders.cache() / "lectures", digest, contents)
    except OSError:  # full, read-only, or no folder at all
        return _in(_memory(), digest, contents)


def _in(root: Path, digest: str, contents: Contents) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    folder = root / digest
    _hold(folder)
    if not _same(folder, contents):
        _make(folder, contents)
        _prune(root)
    touch(folder)
    return folder


def _same(folder: Path, contents: Contents) -> bool:
    """Whether the folder holds these files and no others; a link is none of them."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    there = set(_files(folder))
    for name, content in contents():
        file = _place(folder, name)
        if file not in there or file.is_symlink() or not _holds(file, content):
            return False
        there.remove(file)
    return not there


def _holds(file: Path, content: bytes) -> bool:
    with file.open("rb") as opened:
        there = hashlib.file_digest(opened, "sha256")
    return there.digest() == hashlib.sha256(content).digest()


def _make(folder: Path, contents: Contents) -> None:
    """All or nothing: a bundle that was half unpacked would be taken for whole."""
    part = Path(tempfile.mkdtemp(dir=folder.parent, suffix=_PART))
    try:
        made = part / "made"
        made.mkdir()
        for name, content in contents():
            file = _place(made, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        with suppress(FileNotFoundError):
            os.replace(folder, part / "before")
        try:
            os.replace(made, folder)
        except OSError:
            if not _same(folder, contents):  # else another gpuviz has unpacked it meanwhile
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _place(folder: Path, name: str) -> Path:
    return folder.joinpath(*PurePosixPath(name).parts)


def _files(folder: Path) -> Iterable[Path]:
    """Everything below it that is no folder; what links to one is a file."""
    for place, inner, files in os.walk(folder):
        links = [name for name in inner if (Path(place) / name).is_symlink()]
        yield from (Path(place) / name for name in (*files, *links))


def _prune(root: Path) -> None:
    """Let go what was used longest ago, but for what somebody uses."""
    every = [_kept(folder) for folder in root.iterdir() if folder.is_dir()]
    idle = [one for one in every if one.path not in _held]
    room = ROOM - sum(one.size for one in every if one.path in _held)
    for folder in surplus(idle, max(room, 0)):
        lock = None if folder.suffix == _PART else _alone(folder)
        if lock is not None or folder.suffix == _PART:
            shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            lock.close()


def _kept(folder: Path) -> Kept:
    size = 0
    for file in _files(folder):
        with suppress(OSError):
            size += file.lstat().st_size
    used = 0.0
    with suppress(OSError):
        used = folder.stat().st_mtime
    return Kept(folder, size, used)


def _hold(folder: Path) -> None:
    """Keep others from letting it go, as long as this process runs."""
    if folder not in _held:
        lock = _lock_of(folder).open("ab")
        if sys.platform != "win32":  # where a file that is open cannot be removed
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_SH)
        _held[folder] = lock


def _alone(folder: Path) -> IO[bytes] | None:
    """The lock of a folder that nobody uses, to be closed; None when somebody does."""
    lock = _lock_of(folder)
    try:
        if sys.platform == "win32":
            lock.unlink(missing_ok=True)
            return lock.open("ab")
        import fcntl

        file = lock.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return file
    except OSError:
        return None


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


@cache
def _memory() -> Path:
    """A folder of this process alone, which goes with it: in memory where the system has that."""
    there = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else None
    made = Path(tempfile.mkdtemp(prefix="gpuviz-", dir=there))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


TEXT = "lecture" + SUFFIX
KERNELS, TRACES, PROGRAMS, RECORDINGS = "kernels", "traces", "programs", "recordings"
_FOLDERS = ((KERNELS,), (TRACES,), (PROGRAMS,), (RECORDINGS,), (PICTURES,))
_ZIPS = (b"PK\x03\x04", b"PK\x05\x06")  # with files, and empty
LARGEST = 1 << 29  # bytes a bundle may unpack to
_MOST = 2000  # files in it


@dataclass(frozen=True, eq=False)
class BundleFile:
    """A file of a bundle: its name in there, and the file it is from; None: it was made for it."""

    name: str
    content: bytes
    origin: Path | None = None


@dataclass(frozen=True, eq=False)
class BundleContents:
    """What goes into a bundle, and what of the lecture will not play from it, in words.

    `outside` are the files from outside of the lecture's own folder.
    """

    files: tuple[BundleFile, ...]
    outside: tuple[Path, ...]
    problems: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes, before they are compressed."""
        return sum(len(file.content) for file in self.files)


def shipped() -> tuple[Path, ...]:
    """The files of the lectures that came with gpuviz."""
    return tuple(sorted(resources.path("lectures").glob("*" + SUFFIX)))


def find(name: str) -> Path:
    """The file of a name: a path, or that of a lecture that ships; InputError lists these."""
    path = Path(name)
    if path.exists():
        return path
    found = next((file for file in shipped() if name in (file.stem, file.name)), None)
    if found is None:
        known = ", ".join(file.stem for file in shipped())
        raise InputError(f"there is no lecture {name}; those that ship are: {known}")
    return found


def opened(
    path: Path, session: Session, agreed: frozenset[Path] = frozenset(), language: str = ""
) -> Lecture:
    """The lecture in a file; what the file carries is had by the session, until it is forgotten.

    `agreed` are files outside of its folder that it may read; one that ships is told in `language`.

    Raises
    ------
    InputError, FormatError : as `unpacked`, and as `reading.read`; the session is as it was
    """
    text, carried = unpacked(path)
    lecture = read(text, agreed)
    if path in shipped():  # of anybody else's what is read is what is saved
        lecture = translated(lecture, path, language)
    own = any(slide.view is not None and slide.view.launch for slide in lecture.slides)
    reach = Reach(text.absolute().parent, agreed) if own else None
    session.open_lecture(path, replace(carried, reach=reach))
    return lecture


def unpacked(path: Path) -> tuple[Path, LectureContents]:
    """The text file of a lecture (the file itself, or that of a bundle, which is unpacked), and
    what else it carries.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : the bundle is damaged, or holds what a bundle does not
    """
    try:
        if not is_bundle(path):
            return path, LectureContents()
        with bounded.opened(path, LARGEST) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:20]
        folder = folder_of(digest, partial(_contents, path))
        return folder / TEXT, _carried(folder)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def is_bundle(path: Path) -> bool:
    """Whether a file holds more than the text; InputError when it cannot be read."""
    with bounded.opened(path, LARGEST) as file:
        return file.read(4) in _ZIPS


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a bundle, one after another."""
    with zips.opened(path, LARGEST, _MOST) as archive:
        for name in _members(path, archive):
            yield name, archive.read(name)


def _members(path: Path, archive: zips.Zip) -> list[str]:
    """The names of a bundle's files, none of which may lie elsewhere."""
    found = [name for name in archive.sizes if not name.endswith("/")]
    if TEXT not in found:
        raise FormatError(f"{path} is no lecture of gpuviz: it holds no {TEXT}")
    for name in found:
        parts = PurePosixPath(name.replace("\\", "/")).parts
        known = name == TEXT or parts[:1] in _FOLDERS
        if not known or ".." in parts or PurePosixPath(name).is_absolute() or ":" in name:
            raise FormatError(f"{path} holds {name!r}, which no lecture does")
    return found


def _carried(folder: Path) -> LectureContents:
    """The recordings and programs of an unpacked bundle."""
    files = sorted((folder / RECORDINGS).glob("*" + recording.SUFFIX))
    programs = sorted((folder / PROGRAMS).glob("*.json"))
    return LectureContents(tuple(map(recording.read, files)), dict(map(_program, programs)))


def _program(file: Path) -> tuple[ProgramKey, Program]:
    return bundled.unpack(bounded.read(file, LARGEST))
