"""The timed launches, as the model of time wants them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from gpuviz.machine.device import H200
from gpuviz.machine.prediction import Launched, Prediction, predict
from gpuviz.machine.timeline import Timeline, timeline_of
from gpuviz.ptx.options import Options
from gpuviz.runners import verification
from gpuviz.runners.predicted import launched

FILE = Path(__file__).parent.parent / "data" / "timing" / "h200_timing.json"
MEASURED: dict[str, Any] = {
    launch["name"]: launch for launch in json.loads(FILE.read_text())["launches"]
}


@cache
def known(name: str) -> Launched:
    """One launch of the file, emulated."""
    measured = verification.load(FILE)
    launch = next(one for one in measured.launches if one.name == name)
    return launched(verification.job_of(measured, launch), measured.arch, H200, Options())


@cache
def made(name: str) -> tuple[Prediction, Timeline]:
    """Its prediction and timeline."""
    prediction = predict(known(name), H200)
    return prediction, timeline_of(prediction)
