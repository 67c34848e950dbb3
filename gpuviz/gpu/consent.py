"""Whose code may run on a GPU: the one page that says so, and the leave that it gives.

Emulating a kernel needs no leave: it can do nothing but compute. On a GPU it runs for real, so
that the code of a stranger does so only when the user has agreed to that very code. A launch on a
GPU cannot be made without a `Permit`, and only this page gives one, by this table:

course     kernels that ship, and what gpuviz makes itself to measure with      runs
named      a file that the user named on the command line to be run             runs
stranger   all else: kernels of a lecture, a bundle, a link, a picture's         runs when agreed
           record, a file of measurements, a file opened in the window
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gpuviz.base import records
from gpuviz.base.errors import Error, UnavailableError
from gpuviz.files import bounded, folders
from gpuviz.files import writing as files
from gpuviz.words.language import brief, tr

if TYPE_CHECKING:
    from gpuviz.compile.program import Program
    from gpuviz.launch.job import Job, Whose

ASKED: Mapping[Whose, bool] = {"course": False, "named": False, "stranger": True}
NOBODY: Container[str] = frozenset()
_SEAL = object()


@dataclass(frozen=True)
class Code:
    """Code of a stranger: `digest` is of all that would run, `kernel` the name of it, `file` what
    brought it, `source` the file it is compiled from here, "" where it came compiled.
    """

    digest: str
    kernel: str
    file: str
    source: str = ""

    @property
    def what(self) -> str:
        """What would run, in words."""
        if self.source:
            return tr("compiled here from {file}", file=self.source)
        return tr("came compiled: nobody has held it against its source")

    @property
    def refused(self) -> str:
        """Why there is no measurement of it."""
        return tr("not run on the GPU: from {file}, not agreed", file=self.file)


class NotAgreed(UnavailableError):
    """Code of a stranger that the user has not agreed to run on a GPU."""

    def __init__(self, code: Code) -> None:
        super().__init__(code.refused)
        self.code = code


class Permit:
    """Leave to run on a GPU what has this digest. It is given, not made."""

    __slots__ = ("digest",)

    def __init__(self, digest: str, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("a permit is given by gpuviz.gpu.consent")
        self.digest = digest


def digest_of(code: bytes, ptx: str) -> str:
    """By what code is known: the machine code, and the PTX that places of blocks are noted by."""
    digest = hashlib.sha256(len(code).to_bytes(8, "big") + code)
    digest.update(ptx.encode())
    return digest.hexdigest()


def code_of(program: Program) -> bytes:
    """What the driver is given of a program: machine code, or PTX where it came without."""
    return program.cubin or program.ptx.encode()


def permit(job: Job, agreed: Container[str] = NOBODY) -> Permit:
    """Leave to run a job, where the user agreed to code of these digests.

    Raises
    ------
    NotAgreed : it is a stranger's, and not among them
    """
    digest = digest_of(code_of(job.program), job.program.ptx)
    if ASKED[job.whose] and digest not in agreed:
        raise NotAgreed(_described(job, digest))
    return Permit(digest, _SEAL)


def asked(job: Job) -> Code | None:
    """What the user is to be asked about before a job runs on a GPU; None where nothing is."""
    try:
        permit(job)
    except NotAgreed as refused:
        return refused.code
    return None


def own_permit(code: bytes, ptx: str) -> Permit:
    """Leave to run what gpuviz made itself."""
    return Permit(digest_of(code, ptx), _SEAL)


def _described(job: Job, digest: str) -> Code:
    from gpuviz.source.kernel_names import plain_name

    program = job.program
    compiled = bool(program.cubin) and not program.origin
    file = brief(job.file or program.origin or program.name)
    return Code(digest, brief(plain_name(job.entry)), file, brief(program.name) if compiled else "")


FILE = "agreed.json"
_MOST = 1000  # that are remembered; the oldest are asked about again
_LARGEST = 1 << 20  # bytes of the file


@dataclass(frozen=True)
class _Kept:
    """What the user agreed to, and when; `kernel` and `file` are for who reads the file."""

    digest: str
    kernel: str
    file: str
    date: str


class ConsentList:
    """A container of digests. Without a file it is forgotten with the session."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._now: frozenset[str] = frozenset()
        self._kept: tuple[_Kept, ...] | None = None
        self._lock = threading.Lock()

    def __contains__(self, digest: object) -> bool:
        """Whether the user agreed to code of this digest."""
        with self._lock:
            if self._kept is None:
                self._kept = _read(self._file)
            return digest in self._now or any(one.digest == digest for one in self._kept)

    def for_now(self, codes: Iterable[Code]) -> None:
        """Agree for this session alone."""
        with self._lock:
            self._now |= {code.digest for code in codes}

    def add(self, codes: Iterable[Code]) -> None:
        """Agree, and remember it; where that cannot be written, for this session alone."""
        wanted = {code.digest: code for code in codes}
        self.for_now(wanted.values())
        today = datetime.now(UTC).date().isoformat()
        with self._lock:
            before = (one for one in _read(self._file) if one.digest not in wanted)
            new = (_Kept(c.digest, c.kernel, c.file, today) for c in wanted.values())
            self._kept = (*before, *new)[-_MOST:]
            self._write()

    def forget(self) -> None:
        """Ask about everything again."""
        with self._lock:
            self._now, self._kept = frozenset(), ()
            self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        try:
            files.write(self._file, records.text(self._kept or (), 1), parents=True)
        except Error:
            return


def kept() -> ConsentList:
    """What this user agreed to, for all windows and commands."""
    return ConsentList(folders.data() / FILE)


def _read(file: Path | None) -> tuple[_Kept, ...]:
    """A file that is missing or damaged agrees to nothing."""
    if file is None:
        return ()
    try:
        return records.read(bounded.read(file, _LARGEST), tuple[_Kept, ...], str(file))
    except Error:
        return ()
