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

from gpuviz.base import errors, resources
from gpuviz.base.errors import Error, KernelFault, UnavailableError

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

_WORDS = resources.table("gpu/faults.toml")
_FATAL: Mapping[str, str] = _WORDS["fatal"]
_REFUSED = {
    name: (_KINDS[kind], said)
    for kind, found in _WORDS["refused"].items()
    for name, said in found.items()
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
