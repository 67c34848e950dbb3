"""A lecture in one file with all that it needs: kernels, their programs, recordings.

    lecture.gpuviz-lecture   the text; kernels are named as seen from here
    kernels/                 kernels of the user's own, with their headers and data
    traces/                  saved traces
    pictures/                those of slides of words
    programs/                what the compiler made of every launch, for machines without one
    recordings/              what GPUs measured of them

The bundle is a zip, named like a plain lecture; nothing in it is executed or unpickled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from gpuviz.base import resources
from gpuviz.base.errors import FormatError, InputError
from gpuviz.compile import Program, bundled
from gpuviz.compile.bundled import ProgramKey
from gpuviz.files import bounded, zips
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures import unpack_cache as unpacked_to
from gpuviz.lectures.lecture import SUFFIX, Lecture
from gpuviz.lectures.lecture_texts import translated
from gpuviz.lectures.markdown.files import FOLDER as PICTURES
from gpuviz.lectures.reading import read
from gpuviz.recordings import recording
from gpuviz.run.session import LectureContents, Session

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
        folder = unpacked_to.folder_of(digest, partial(_contents, path))
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
