"""The process that NVRTC works in, as a hostile source can crash it or make it take all memory.

    python -m gpuviz.compile.worker BYTES    of memory at most

It answers one line of JSON on standard input with one on standard output, and ends when standard
input does, even in the middle of a compilation. What NVRTC writes itself goes to standard error,
which is a file: there it lists the headers that it opens. NVRTC is called through ctypes, one way
for CUDA 12 and 13; its functions and status codes: NVRTC documentation, "User Interface".
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from gpuviz.base.errors import Error, UnavailableError
from gpuviz.processes.worker import serve

_COMPILATION_FAILED = 6  # NVRTC_ERROR_COMPILATION


@dataclass(frozen=True, eq=False)
class Output:
    """What a compiler returns for one source text: `ok`, its log, and the code when ok.

    `read` names the files that it opened; None when it did not say.
    """

    ok: bool
    log: str
    ptx: str = ""
    cubin: bytes = b""
    read: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Nvrtc:
    """A loaded NVRTC. `path` is its file."""

    path: Path

    @cached_property
    def _dll(self) -> ctypes.CDLL:
        if sys.platform == "win32":  # NVRTC finds its builtins library by the search path
            os.add_dll_directory(str(self.path.parent))
        try:
            for beside in self.path.parent.glob("libnvrtc-builtins.so.*"):  # it does not look there
                ctypes.CDLL(str(beside))
            return ctypes.CDLL(str(self.path))
        except OSError as error:
            raise UnavailableError(f"NVRTC cannot be loaded: {error}.") from None

    def version(self) -> tuple[int, int]:
        """Major and minor version."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def archs(self) -> tuple[int, ...]:
        """Compute capabilities it compiles for, times ten: 75, 80, ..., in order."""
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", found)
        return tuple(sorted(found))

    def compile(self, task: Task) -> Output:
        """Compile one source text."""
        with self._program(task) as program:
            for instance in task.instances:
                self._call("nvrtcAddNameExpression", program, _bytes(instance))
            status = self._dll.nvrtcCompileProgram(
                program, len(task.options), _strings(task.options)
            )
            log = self._get(program, "ProgramLog").decode(errors="replace").replace("\0", "")
            if status == _COMPILATION_FAILED:
                return Output(False, log)
            if status != 0:
                return Output(False, f"{log}\n{self._status(status)}")
            ptx = self._get(program, "PTX").decode().rstrip("\0")
            return Output(True, log, ptx, self._get(program, "CUBIN"))

    @contextmanager
    def _program(self, task: Task) -> Iterator[ctypes.c_void_p]:
        program, headers = ctypes.c_void_p(), task.headers
        texts, names = _strings(list(headers.values())), _strings(list(headers))
        arguments = (*_strings((task.source, task.name)), len(headers), texts, names)
        self._call("nvrtcCreateProgram", ctypes.byref(program), *arguments)
        try:
            yield program
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))

    def _get(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(max(size.value, 1))
        self._call(f"nvrtcGet{what}", program, text)
        return text.raw[: size.value]

    def _call(self, function: str, *arguments: object) -> None:
        status = getattr(self._dll, function)(*arguments)
        if status != 0:
            raise UnavailableError(f"{function} of {self.path} failed: {self._status(status)}.")

    def _status(self, status: int) -> str:
        text = self._dll.nvrtcGetErrorString
        text.restype = ctypes.c_char_p
        return bytes(text(status)).decode()


def _strings(values: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:  # a zero byte ends each
    return (ctypes.c_char_p * len(values))(*(_bytes(v.replace("\0", " ")) for v in values))


def _bytes(text: str) -> bytes:
    """In UTF-8, whatever the locale; bytes of a name that are no text, as they are."""
    return text.encode(errors="surrogateescape")


_FILE = 2**28  # of a list of headers, which can be endless
_LIST_HEADERS = "-Xcudafe=--trace_includes"
_ALWAYS_READ = "__nv_nvrtc_builtin_header.h"


@dataclass(frozen=True)
class Task:
    """A source text to compile, with its options, headers by name, and template kernels to make of
    it, `f<float>`.
    """

    source: str
    name: str
    options: tuple[str, ...]
    headers: Mapping[str, str]
    instances: tuple[str, ...]

    def with_options(self, *more: str) -> Task:
        """With further options."""
        return replace(self, options=(*self.options, *more))


@dataclass(frozen=True)
class Request:
    """Compile with the NVRTC of a path; without a task, it is asked for its facts."""

    path: str
    task: Task | None = None


@dataclass(frozen=True)
class Facts:
    """What an NVRTC says of itself: capabilities are times ten."""

    version: tuple[int, int]
    archs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Reply:
    """What was asked for, or why there is none."""

    facts: Facts | None = None
    output: Output | None = None
    unavailable: str = ""


def _bound(memory: int) -> None:
    """Bound what this process takes, where the system can."""
    if sys.platform == "win32":
        return
    import resource

    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))
        except (OSError, ValueError):  # macOS does not bound the address space
            continue


@cache
def _library(path: str) -> Nvrtc:
    return Nvrtc(Path(path))


def _answer(request: Request) -> Reply:
    library = _library(request.path)
    try:
        if request.task is None:
            return Reply(Facts(library.version(), library.archs()))
        return Reply(output=_compile(library, request.task))
    except Error as error:
        return Reply(unavailable=str(error))


def _compile(library: Nvrtc, task: Task) -> Output:
    """The output, with the files that were opened where this NVRTC can tell."""
    _clear_words()
    output = library.compile(task.with_options(_LIST_HEADERS))
    if not output.ok and _LIST_HEADERS.partition("=")[0] in output.log:
        return library.compile(task)
    names = [line.strip() for line in _words().splitlines()]
    told = _ALWAYS_READ in names
    return replace(output, read=tuple(dict.fromkeys(names)) if told else None)


def _clear_words() -> None:
    os.ftruncate(2, 0)
    os.lseek(2, 0, os.SEEK_SET)


def _words() -> str:
    size = os.lseek(2, 0, os.SEEK_END)
    os.lseek(2, 0, os.SEEK_SET)
    return os.read(2, size).decode(sys.getfilesystemencoding(), "surrogateescape")


def main() -> None:
    """Answer requests until the other side is gone."""
    _bound(int(sys.argv[1]))
    serve(Request, _answer)


if __name__ == "__main__":
    main()
