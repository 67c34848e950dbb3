"""Why a launch takes the time it takes, from the launch itself: emulate, simulate, ask what if."""

from __future__ import annotations

from dataclasses import replace

from gpuviz.arch import Architecture
from gpuviz.launch.job import Job
from gpuviz.ptx.options import Options
from gpuviz.run.predicted import launched
from gpuviz.run.run import Cancel, Progress, go_on, quiet
from gpuviz.timing.device import device_of
from gpuviz.timing.explanation import Explanation, explained
from gpuviz.timing.prediction import predict

_EMULATING = 0.6  # of the time it takes


def explain(
    job: Job,
    arch: Architecture,
    *,
    cold: bool = True,
    options: Options | None = None,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
) -> Explanation:
    """Explain a launch on the device that stands for its architecture; `cold` when its data is in
    memory only.

    Raises
    ------
    UnavailableError : no device of the architecture is known, or there is no machine code
    Cancelled : `cancel` said so
    and whatever emulating the launch raises
    """
    device = device_of(arch)

    def emulated(share: float) -> None:
        progress(share * _EMULATING)

    given = replace(options or Options(), progress=emulated, cancel=cancel)
    known = launched(job, arch, device, given)
    prediction = predict(known, device, cold)
    return explained(
        prediction, lambda share: progress(_EMULATING + share * (1 - _EMULATING)), cancel
    )
