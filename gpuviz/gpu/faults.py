"""What can go wrong while a GPU runs a kernel, as errors that can cross a pipe.

KernelFault            illegal address, launch failure (see gpuviz.base.errors)
├── TimeLimit          the kernel did not end in the time it was given
UnavailableError
├── NoDevice           no GPU, no driver, or no CuPy
├── CountersUnavailable  hardware counters are denied, busy or not supported; timings go on
WorkerLost             the process that owned the GPU is gone
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

from gpuviz.base import errors
from gpuviz.base.errors import Error, KernelFault, LaunchError, UnavailableError

Reason = Literal["denied", "busy", "unsupported", "missing", "failed"]


class TimeLimit(KernelFault):
    """A kernel that did not end in the time it was given."""


class NoDevice(UnavailableError):
    """No GPU that can run kernels."""


class WorkerLost(Error):
    """The process that owned the GPU ended by itself."""


class CountersUnavailable(UnavailableError):
    """Hardware counters cannot be read; `reason` says which kind of obstacle it is."""

    def __init__(self, message: str, reason: Reason = "failed") -> None:
        super().__init__(message)
        self.reason: Reason = reason


_KINDS: dict[str, type[Error]] = {
    kind.__name__: kind
    for kind in (
        Error,
        errors.InputError,
        errors.LaunchError,
        KernelFault,
        UnavailableError,
        TimeLimit,
        NoDevice,
        WorkerLost,
        CountersUnavailable,
    )
}


def to_wire(error: Exception) -> dict[str, Any]:
    """An error as plain values; one that is none of ours is told as a failure of the worker."""
    kind = type(error).__name__
    if kind not in _KINDS:
        return {"kind": "Error", "message": f"{kind}: {error}", "reason": ""}
    return {"kind": kind, "message": str(error), "reason": getattr(error, "reason", "")}


def from_wire(plain: Mapping[str, Any]) -> Error:
    """The error `to_wire` made plain."""
    kind, message = _KINDS.get(str(plain.get("kind")), Error), str(plain.get("message"))
    if kind is CountersUnavailable:
        return CountersUnavailable(
            message,
            next(
                (reason for reason in get_args(Reason) if reason == plain.get("reason")), "failed"
            ),
        )
    return kind(message)


_NAME = re.compile(r"\b(cudaError\w+|CUDA_ERROR_\w+)")

# By the name without its prefix, in small letters and without underscores, as the runtime and the
# driver spell the same errors differently.
_FATAL: dict[str, str] = {
    "illegaladdress": "the kernel accessed an illegal address: outside every buffer, or freed",
    "misalignedaddress": "the kernel accessed an address that is not aligned to the access's width",
    "illegalinstruction": "the kernel reached an illegal instruction (trap)",
    "invalidaddressspace": "the kernel used an address in a memory space it does not belong to",
    "invalidpc": "the kernel jumped to an address that holds no code",
    "assert": "an assertion in the kernel failed",
    "hardwarestackerror": "the kernel's call stack overflowed or was overwritten",
    "launchfailed": "the kernel failed while it ran (a shared or local access out of range?)",
    "launchfailure": "the kernel failed while it ran (a shared or local access out of range?)",
    "launchtimeout": "the system stopped the kernel, which ran too long for a GPU with a display",
    "eccuncorrectable": "the GPU's memory has an error that could not be corrected",
    "devicesunavailable": "the GPU is in use by another process in exclusive mode",
}
_REFUSED: dict[str, tuple[type[Error], str]] = {
    "launchoutofresources": (
        LaunchError,
        "the launch needs more registers or shared memory than a multiprocessor has",
    ),
    "invalidconfiguration": (LaunchError, "this GPU takes no launch of this shape"),
    "invalidvalue": (LaunchError, "the GPU's driver refused the launch (a size out of range?)"),
    "memoryallocation": (UnavailableError, "the GPU has too little free memory for the buffers"),
    "outofmemory": (UnavailableError, "the GPU has too little free memory for the buffers"),
    "nobinaryforgpu": (UnavailableError, "the machine code is for another GPU architecture"),
    "nokernelimagefordevice": (
        UnavailableError,
        "the machine code is for another GPU architecture",
    ),
    "unsupportedptxversion": (
        UnavailableError,
        "the driver is older than the compiler that wrote "
        "this PTX: update the driver, or install an older NVRTC",
    ),
    "invalidimage": (UnavailableError, "the driver does not load this machine code"),
    "invalidptx": (UnavailableError, "the driver does not assemble this PTX"),
    "insufficientdriver": (NoDevice, "the NVIDIA driver is missing, or older than CuPy needs"),
    "nodevice": (NoDevice, "no NVIDIA GPU is there"),
}


def name_of(error: Exception) -> str:
    """CUDA's name for an error, reduced; "" when it is no error of CUDA."""
    found = _NAME.search(str(error))
    if found is None:
        return ""
    return re.sub(r"^cuda_?error|_", "", found[1].lower())


def is_fatal(error: Exception) -> bool:
    """Whether the context is lost."""
    return name_of(error) in _FATAL


def in_words(error: Exception) -> Exception:
    """The error as one of ours, when CUDA's name for it is known."""
    name = name_of(error)
    if name in _FATAL:
        return KernelFault(f"{_FATAL[name]} ({_first_line(error)})")
    if name in _REFUSED:
        kind, text = _REFUSED[name]
        return kind(f"{text} ({_first_line(error)})")
    return error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].strip()
