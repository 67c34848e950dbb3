"""The CUPTI library: found, loaded, and its functions called with their parameter structures."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from gpuviz.gpu.cupti import functions, status

_FILE = re.compile(r"(libcupti\.so(\.\d+)*|cupti64_[\d.]+\.dll)$")


class Library:
    """Functions of a loaded CUPTI. `dll` is anything with CUPTI's functions as attributes."""

    def __init__(self, dll: Any) -> None:
        self._dll = dll

    def call(self, function: str, **given: Any) -> Any:
        """Call a function; its parameter structure afterwards, with what the function wrote.

        Raises
        ------
        CountersUnavailable : CUPTI refuses, or this version lacks the function
        """
        parameters = functions.structure(function)(struct_size=functions.size_of(function), **given)
        try:
            entry = getattr(self._dll, function)
        except AttributeError:
            raise status.unavailable("unsupported", f"this CUPTI has no {function}") from None
        code = int(entry(ctypes.byref(parameters)))
        if code != status.OK:
            raise status.failure(function, code, self._name(code))
        return parameters

    def _name(self, code: int) -> str:
        text = ctypes.c_char_p()
        try:
            self._dll.cuptiGetResultString(code, ctypes.byref(text))
        except AttributeError:
            return ""
        return text.value.decode() if text.value else ""


@cache
def load() -> Library:
    """The CUPTI of this machine.

    Raises
    ------
    CountersUnavailable : there is none, or it does not load
    """
    for path in candidates():
        try:
            return Library(_open(path))
        except OSError:
            continue
    raise status.unavailable("missing", "libcupti was not found")


def _open(path: Path) -> ctypes.CDLL:
    if sys.platform == "win32":  # its companion libraries lie beside it
        os.add_dll_directory(str(path.parent))
        return ctypes.CDLL(str(path))
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def candidates() -> Iterator[Path]:
    """Files that may be CUPTI: of NVIDIA's wheels, then of a toolkit."""
    for folder in _folders():
        found = [path for path in folder.glob("*cupti*") if _FILE.match(path.name)]
        yield from sorted(found, key=lambda path: len(path.name), reverse=True)


def _folders() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for root in map(Path, (spec.submodule_search_locations or ()) if spec else ()):
        for package in ("cu13", "cuda_cupti"):
            yield from (root / package / part for part in ("lib", "bin", "bin/x86_64"))
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        if os.environ.get(variable):
            toolkit = Path(os.environ[variable])
            yield from (toolkit / "extras" / "CUPTI" / "lib64", toolkit / "lib64")
    if sys.platform != "win32":
        yield Path("/usr/local/cuda/extras/CUPTI/lib64")
