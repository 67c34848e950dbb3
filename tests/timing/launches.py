"""The timed launches, as the model of time wants them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from gpuviz.ptx.options import Options
from gpuviz.run import verification
from gpuviz.run.predicted import launched
from gpuviz.timing.device import H200
from gpuviz.timing.prediction import Prediction, SampledLaunch, predict
from gpuviz.timing.timeline import Timeline, timeline_of

FILE = Path(__file__).parent.parent / "data" / "timing" / "h200_timing.json"
MEASURED: dict[str, Any] = {
    launch["name"]: launch for launch in json.loads(FILE.read_text())["launches"]
}


@cache
def known(name: str) -> SampledLaunch:
    """One launch of the file, emulated."""
    measured = verification.load(FILE)
    launch = next(one for one in measured.launches if one.name == name)
    return launched(verification.job_of(measured, launch), measured.arch, H200, Options())


@cache
def made(name: str) -> tuple[Prediction, Timeline]:
    """Its prediction and timeline."""
    prediction = predict(known(name), H200)
    return prediction, timeline_of(prediction)
