"""Whose code may run on a GPU: the one page that says so, and the leave that it gives.

Emulating a kernel needs no leave: it can do nothing but compute. On a GPU it runs for real, so
that a stranger's code does so only when the user has agreed to that very launch: this kernel of
this code, with these sizes and arguments, on this GPU; or to any launch of it there. A launch on a
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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpuviz.arguments import Recipe, check_room
from gpuviz.base import records
from gpuviz.base.errors import Error, UnavailableError
from gpuviz.files import bounded, folders
from gpuviz.files import writing as files
from gpuviz.words.language import brief, tr

if TYPE_CHECKING:  # a window asks nothing as it starts
    from gpuviz.compile.program import Program
    from gpuviz.gpu.wire_arguments import Use, WireArguments
    from gpuviz.launch.job import Job, Whose
    from gpuviz.traces.geometry import Triple

ASKED: Mapping[Whose, bool] = {"course": False, "named": False, "stranger": True}
NOBODY: Container[str] = frozenset()
_SEAL = object()


@dataclass(frozen=True)
class Code:
    """A launch of a stranger's: `digest` is of all that would run, with what, and where; `any` of
    the same kernel on the same GPU with whatever sizes and arguments. `kernel` is its name, `file`
    what brought it, `source` the file it is compiled from here, "" where it came compiled, and
    `launch` its sizes and arguments in words.
    """

    digest: str
    any: str
    kernel: str
    file: str
    source: str = ""
    launch: str = ""

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
    """Leave to run a launch, or any launch of a kernel, of this digest. It is given, not made.

    `agreed` is what the user agreed to for it, and `device` the only GPU it is for; both are "" of
    what runs unasked.
    """

    __slots__ = ("agreed", "device", "digest")

    def __init__(self, digest: str, seal: object, agreed: str = "", device: str = "") -> None:
        if seal is not _SEAL:
            raise TypeError("a permit is given by gpuviz.gpu.consent")
        self.digest, self.agreed, self.device = digest, agreed, device

    def stands(self, agreed: Container[str]) -> bool:
        """Whether what it was given for has not been withdrawn since."""
        return not self.agreed or self.agreed in agreed


def kernel_digest(code: bytes, ptx: str, entry: str) -> str:
    """By what a kernel is known: the machine code, the PTX that places of blocks are noted by, and
    which of its kernels.
    """
    digest = hashlib.sha256(len(code).to_bytes(8, "big") + code)
    digest.update(f"{len(entry)} {entry} {ptx}".encode())
    return digest.hexdigest()


def launch_digest(
    kernel: str, grid: Triple, block: Triple, shared: int, arguments: WireArguments
) -> str:
    """By what a launch is known: its kernel's digest, its sizes, and all that it is given."""
    from gpuviz.gpu import protocol

    said = arguments.parameters, arguments.variables
    digest = hashlib.sha256(repr((kernel, grid, block, shared, said)).encode())
    for one in arguments.buffers:
        if isinstance(one, Recipe):
            digest.update(repr(one).encode())
        else:
            digest.update(f"{one.dtype.str}{one.shape}{protocol.digest(one)}".encode())
    return digest.hexdigest()


def code_of(program: Program) -> bytes:
    """What the driver is given of a program: machine code, or PTX where it came without."""
    return program.cubin or program.ptx.encode()


def arguments_of(job: Job) -> WireArguments:
    """What a job is launched with. LaunchError: too much for the memory, or a pointer into what is
    no buffer.
    """
    check_room(job.arguments)
    from gpuviz.gpu.wire_arguments import wire_arguments

    return wire_arguments(job.arguments, partial(_use, job))


def permit(
    job: Job, given: WireArguments, agreed: Container[str] = NOBODY, device: str = ""
) -> Permit:
    """Leave to run a job with what it is `given`, where the user agreed to launches of these
    digests, or to any of its kernel, on this GPU.

    Raises
    ------
    NotAgreed : it is a stranger's, and not among them
    """
    kernel = kernel_digest(code_of(job.program), job.program.ptx, job.entry)
    if not ASKED[job.whose]:
        return Permit(kernel, _SEAL)
    launch = launch_digest(kernel, job.grid, job.block, job.dynamic_shared, given)
    code = _described(job, _on(device, launch), _on(device, kernel))
    if code.digest in agreed:
        return Permit(launch, _SEAL, code.digest, device)
    if code.any in agreed:
        return Permit(kernel, _SEAL, code.any, device)
    raise NotAgreed(code)


def asked(job: Job, device: str = "") -> Code | None:
    """What the user is to be asked about before a job runs on a GPU; None where nothing is."""
    if not ASKED[job.whose]:
        return None
    try:
        permit(job, arguments_of(job), device=device)
    except NotAgreed as refused:
        return refused.code
    return None


def own_permit(code: bytes, ptx: str, entry: str) -> Permit:
    """Leave to run what gpuviz made itself."""
    return Permit(kernel_digest(code, ptx, entry), _SEAL)


def _on(device: str, digest: str) -> str:
    return hashlib.sha256(f"{device} {digest}".encode()).hexdigest()


def _described(job: Job, digest: str, any_of_it: str) -> Code:
    from gpuviz.source.kernel_names import plain_name

    program = job.program
    compiled = bool(program.cubin) and not program.origin
    file = brief(job.file or program.origin or program.name)
    sizes = (" × ".join(map(str, one)).replace(" × 1", "") for one in (job.grid, job.block))
    launch = brief(f"<<<{', '.join(sizes)}>>>({', '.join(map(str, job.arguments))})", 160)
    source = brief(program.name) if compiled else ""
    return Code(digest, any_of_it, brief(plain_name(job.entry)), file, source, launch)


def _use(job: Job, number: int, at: int) -> Use:
    """What the kernel does with the handle at a byte of a parameter."""
    from gpuviz.launch.signature import image_use
    from gpuviz.ptx.text.parser import parse

    function = parse(job.program.ptx).by_name[job.entry]
    return image_use(function, function.params[number].name, at)


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
    """A container of digests. Without a file it is forgotten with the session; a file is read again
    when it has changed, so that what one window withdraws no other runs.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._now: frozenset[str] = frozenset()
        self._read: tuple[object, frozenset[str]] = None, frozenset()
        self._void: object = None  # the state of a file that could not be emptied
        self._lock = threading.Lock()

    def __contains__(self, digest: object) -> bool:
        """Whether the user agreed to what has this digest, and has not withdrawn it."""
        with self._lock:
            return digest in self._now or digest in self._kept()

    def _kept(self) -> frozenset[str]:
        state = _state(self._file)
        if state != self._read[0]:
            self._read = state, frozenset(one.digest for one in _read(self._file))
        return frozenset() if state is None or state == self._void else self._read[1]

    def for_now(self, codes: Iterable[Code]) -> None:
        """Agree for this session alone."""
        with self._lock:
            self._now |= {code.digest for code in codes}

    def add(self, codes: Iterable[Code], widely: bool = False) -> None:
        """Agree, and remember it; where that cannot be written, for this session alone. `widely`
        is to any launch of these kernels on the same GPU.
        """
        wanted = {code.any if widely else code.digest: code for code in codes}
        today = datetime.now(UTC).date().isoformat()
        with self._lock:
            kept = _read(self._file) if _state(self._file) != self._void else ()
            before = (one for one in kept if one.digest not in wanted)
            new = (_Kept(name, c.kernel, c.file, today) for name, c in wanted.items())
            try:
                self._write((*before, *new)[-_MOST:])
            except Error:
                self._now |= wanted.keys()

    def forget(self) -> None:
        """Ask about everything again.

        Raises
        ------
        InputError : the file cannot be written; until gpuviz ends all is forgotten nevertheless
        """
        with self._lock:
            self._now, self._void = frozenset(), _state(self._file)
            if self._void is not None:
                self._write(())

    def _write(self, kept: Iterable[_Kept]) -> None:
        if self._file is None:
            raise UnavailableError("there is no file to remember it in")
        files.write(self._file, records.text(tuple(kept), 1), parents=True)


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


def _state(file: Path | None) -> object:
    """What tells a file from the one that was there before; None where there is none."""
    try:
        found = file.stat() if file is not None else None
    except OSError:
        return None
    return found and (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
