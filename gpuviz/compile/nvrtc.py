"""NVRTC through ctypes: one code path for CUDA 12 and 13, nothing loaded before it is needed.

Functions and status codes: NVRTC documentation, "User Interface".
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from gpuviz import records
from gpuviz.disk_cache import DiskCache, key, stamp
from gpuviz.errors import UnavailableError
from gpuviz.processes import nvidia_folders

_KEPT = DiskCache("libraries")
_COMPILATION_FAILED = 6  # NVRTC_ERROR_COMPILATION

MISSING = (
    "NVRTC, NVIDIA's runtime compiler, is not on this machine, so CUDA C cannot be compiled here. "
    + (
        "NVIDIA makes no NVRTC for macOS: the lessons work at their prebuilt sizes, and .ptx files "
        "compiled elsewhere (nvcc -ptx -lineinfo) can be opened."
        if sys.platform == "darwin"
        else "Install it: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt "
        "nvidia-cuda-cccl"
    )
)


@dataclass(frozen=True)
class _Facts:
    """What a compiler says of itself."""

    version: tuple[int, int]
    archs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Output:
    """What NVRTC returns for one source text: `ok`, its log, and the code when ok."""

    ok: bool
    log: str
    ptx: str = ""
    cubin: bytes = b""


@dataclass(frozen=True)
class Library:
    """A loaded NVRTC. `path` is its file; headers of the same release are looked for beside it."""

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
            raise UnavailableError(f"NVRTC cannot be loaded: {error}. {MISSING}") from None

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor version."""
        return self._facts.version

    @property
    def archs(self) -> tuple[int, ...]:
        """Compute capabilities it compiles for, times ten: 75, 80, ..., in order."""
        return self._facts.archs

    @cached_property
    def _facts(self) -> _Facts:
        """What it says of itself; kept, for to ask it is to load 100 MB."""
        name = key("nvrtc", stamp(self.path))
        if (kept := _KEPT.load(name)) is not None:
            return records.read(kept, _Facts, name)
        facts = _Facts(self._ask_version(), self._ask_archs())
        _KEPT.store(name, records.text(facts).encode())
        return facts

    def _ask_version(self) -> tuple[int, int]:
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def _ask_archs(self) -> tuple[int, ...]:
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", found)
        return tuple(sorted(found))

    def compile(
        self,
        source: str,
        name: str,
        options: Sequence[str],
        headers: Mapping[str, str],
        instances: Sequence[str] = (),
    ) -> Output:
        """Compile one source text. `instances` are template kernels to instantiate, `f<float>`."""
        with self._program(source, name, headers) as program:
            for instance in instances:
                self._call("nvrtcAddNameExpression", program, instance.encode())
            status = self._dll.nvrtcCompileProgram(program, len(options), _strings(options))
            log = self._get(program, "ProgramLog").decode(errors="replace").rstrip("\0")
            if status == _COMPILATION_FAILED:
                return Output(False, log)
            if status != 0:
                return Output(False, f"{log}\n{self._status(status)}")
            ptx = self._get(program, "PTX").decode().rstrip("\0")
            return Output(True, log, ptx, self._get(program, "CUBIN"))

    @contextmanager
    def _program(
        self, source: str, name: str, headers: Mapping[str, str]
    ) -> Iterator[ctypes.c_void_p]:
        program = ctypes.c_void_p()
        texts, names = _strings(list(headers.values())), _strings(list(headers))
        arguments = (source.encode(), name.encode(), len(headers), texts, names)
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


def _strings(values: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(values))(*(value.encode() for value in values))


@cache
def libraries() -> tuple[Library, ...]:
    """Every NVRTC found, the preferred one first; none is not an error.

    One of CUDA 12 goes before a newer one: it is only there because somebody's driver or card
    needs it (the extra `cuda12`), and a driver of CUDA 12 cannot load what 13 compiles.
    """
    paths = [*_wheel_of_cuda_12(), *(_wheel() or _by_pathfinder())]
    return tuple(Library(path) for path in dict.fromkeys(paths))


def find(arch: int) -> Library:
    """The NVRTC to use for a compute capability (times ten), else the preferred one.

    UnavailableError when there is none at all.
    """
    found = libraries()
    if not found:
        raise UnavailableError(MISSING)
    return next((library for library in found if arch in library.archs), found[0])


def _wheel_of_cuda_12() -> list[Path]:
    pattern = re.compile(r"(libnvrtc\.so\.12|nvrtc64_12\d_\d\.dll)$")
    folders = [folder / "cuda_nvrtc" for folder in nvidia_folders()]
    files = [file for folder in folders for file in sorted(folder.glob("*/*nvrtc*"))]
    return [file for file in files if pattern.match(file.name)]


def _wheel() -> list[Path]:
    """The library of the wheel, where pathfinder would look first: that loads what it finds."""
    folders = nvidia_folders()
    return [file for folder in folders for file in sorted(folder.glob("cu*/lib/libnvrtc.so.??"))]


def _by_pathfinder() -> list[Path]:
    try:
        from cuda import pathfinder
    except ImportError:
        return []
    try:
        found = pathfinder.load_nvidia_dynamic_lib("nvrtc").abs_path
    except (pathfinder.DynamicLibNotFoundError, RuntimeError, OSError):
        return []
    return [Path(found)] if found else []
