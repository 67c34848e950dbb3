"""What can go wrong while a GPU runs a kernel, as errors that can cross a pipe.

KernelFault            illegal address, launch failure (see gpuviz.base.errors)
├── TimeLimit          the kernel did not end in the time it was given
UnavailableError
├── NoDevice           no GPU, no driver, or no CuPy
├── CountersUnavailable  hardware counters are denied, busy or not supported; timings go on
WorkerLost             the process that owned the GPU is gone
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from gpuviz.base import errors
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
