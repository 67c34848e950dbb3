"""How far off a modelled time may be: as far as measured launches of its class were."""

from __future__ import annotations

import numpy as np

from gpuviz.timing.device import Device
from gpuviz.timing.prediction import Prediction
from gpuviz.timing.schedule import Pipe

SHORT_US = 5.0  # less than this is mostly launch
GROUPS = {
    **dict.fromkeys(("issue", "alu", "fma", "fp64", "special", "tensor"), "compute"),
    **dict.fromkeys(("lines", "wavefronts"), "l1"),
    **dict.fromkeys(("latency", "barrier", "launch"), "waits"),
}
"""Limiters that are one class."""


def class_of(prediction: Prediction, limiter: str) -> str:
    """The class of launches whose times err alike: "short", "tensor" (cores are used), else what
    limits: "compute", "l1", "l2", "dram", "atomics" or "waits".
    """
    if prediction.microseconds < SHORT_US:
        return "short"
    code = prediction.work.code
    if np.any(prediction.outcome.issued[code.pipe == Pipe.TENSOR] > 0):
        return "tensor"
    return GROUPS.get(limiter, limiter)


def interval(prediction: Prediction, limiter: str) -> tuple[float, float]:
    """Microseconds between which eight of ten measured launches of its class would lie."""
    low, high = ratios(prediction.device, class_of(prediction, limiter))
    return prediction.microseconds * low, prediction.microseconds * high


def ratios(device: Device, name: str) -> tuple[float, float]:
    """What launches of a class took for each microsecond modelled: of ten, one less, one more. Of a
    class that nobody measured they are those of all.
    """
    return device.interval.get(name, device.interval["all"])
