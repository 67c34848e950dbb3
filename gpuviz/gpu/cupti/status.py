"""What CUPTI's status codes mean to a user, and what to do about them (cupti_result.h)."""

from __future__ import annotations

import sys

from gpuviz.gpu.faults import CountersUnavailable, Reason

OK = 0
INSUFFICIENT_PRIVILEGES = 35

_REASONS: dict[Reason, tuple[int, ...]] = {
    "denied": (INSUFFICIENT_PRIVILEGES, 40),
    "busy": (7, 26, 36, 39),
    "unsupported": (11, 14, 27, 33, 38, 41, 42, 43, 44, 45, 46),
}
_WHAT = {
    7: "another profiling session is active on this GPU",
    26: "the counters are in use by another process",
    33: "the GPU is virtualised without profiling (a vGPU)",
    36: "an older profiling interface is already in use by this process",
    39: "another profiler is attached to this process",
    40: "this virtual GPU does not let its guest read counters",
    41: "confidential computing is on",
    42: "this is a mining card",
    43: "the GPU is partitioned (MIG)",
    44: "the GPUs are linked by SLI",
    45: "this Windows Subsystem for Linux does not pass counters on",
    46: "this CUPTI does not know the GPU's chip",
}
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
    told = _WHAT.get(status) or (name if reason == "denied" else f"{function}: {name or status}")
    return unavailable(reason, told)
