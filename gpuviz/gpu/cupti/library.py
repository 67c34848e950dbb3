"""The CUPTI library: found, loaded, its functions called, and its status codes in words.

Each function takes one structure that begins with its own size and a null pointer; what follows is
listed as `name:type` in resources/gpu/cupti.toml. Later versions may append fields; the size tells
the library which layout it gets.
"""

import ctypes
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gpuviz.base import resources
from gpuviz.gpu.faults import CountersUnavailable, Reason

OK = 0

_TABLE = resources.table("gpu/cupti.toml")
_REASONS: Mapping[Reason, Sequence[int]] = _TABLE["reasons"]
_ALLOW = {
    "win32": "open the NVIDIA Control Panel, Developer, Manage GPU Performance Counters, and allow "
    "access to all users",
    "linux": "put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into a file in "
    "/etc/modprobe.d and restart, or run as root",
}
_REMEDIES: dict[Reason, str] = {
    "denied": "this user may not read the GPU's performance counters: "
    + _ALLOW.get(sys.platform, _ALLOW["linux"]),
    "busy": "close other profilers (Nsight, DCGM, a second gpuviz) and try again",
    "unsupported": "hardware counters need a GPU of compute capability 7.0 or later, a driver that "
    "passes them on, and a CUPTI that knows the chip",
    "missing": "install CUPTI: pip install nvidia-cuda-cupti",
    "failed": "timings do not need them",
}


def reason_of(status: int) -> Reason:
    """Which kind of obstacle a status code is."""
    return next((reason for reason, codes in _REASONS.items() if status in codes), "failed")


def unavailable(reason: Reason, what: str = "") -> CountersUnavailable:
    """The error for an obstacle, with its remedy."""
    cause = f" ({what})" if what else ""
    return CountersUnavailable(
        f"hardware counters are {_STATES[reason]}{cause}: {_REMEDIES[reason]}", reason
    )


_STATES: dict[Reason, str] = {
    "denied": "denied",
    "busy": "busy",
    "unsupported": "not supported here",
    "missing": "not to be had",
    "failed": "not available",
}


def failure(function: str, status: int, name: str) -> CountersUnavailable:
    """The error for a status code that a function returned."""
    reason = reason_of(status)
    told = _TABLE["status"].get(str(status)) or (
        name if reason == "denied" else f"{function}: {name or status}"
    )
    return unavailable(reason, told)


_TYPES: dict[str, Any] = {
    "byte": ctypes.c_uint8,
    "short": ctypes.c_uint16,
    "int": ctypes.c_int,
    "uint": ctypes.c_uint32,
    "size": ctypes.c_size_t,
    "ptr": ctypes.c_void_p,
    "text": ctypes.c_char_p,
}

FIELDS: Mapping[str, str] = _TABLE["fields"]


@cache
def structure(function: str) -> type[ctypes.Structure]:
    """The parameter structure of a function."""
    pairs = (field.split(":") for field in FIELDS[function].split())
    fields = [("struct_size", ctypes.c_size_t), ("private", ctypes.c_void_p)]
    fields += [(name, _TYPES[kind]) for name, kind in pairs]
    return type(function, (ctypes.Structure,), {"_fields_": fields})


@cache
def size_of(function: str) -> int:
    """Size CUPTI expects: up to the last field, without the padding after it."""
    made: Any = structure(function)
    last, kind = made._fields_[-1]
    return int(getattr(made, last).offset + ctypes.sizeof(kind))


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
        parameters = structure(function)(struct_size=size_of(function), **given)
        try:
            entry = getattr(self._dll, function)
        except AttributeError:
            raise unavailable("unsupported", f"this CUPTI has no {function}") from None
        code = int(entry(ctypes.byref(parameters)))
        if code != OK:
            raise failure(function, code, self._name(code))
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
    raise unavailable("missing", "libcupti was not found")


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
