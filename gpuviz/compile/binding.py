"""NVRTC through ctypes: one code path for CUDA 12 and 13. Loaded by the compiler's process alone.

Functions and status codes: NVRTC documentation, "User Interface".
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gpuviz.base.errors import UnavailableError

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
