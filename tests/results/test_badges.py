from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from gpuviz.recordings.measurement import Measurement
from gpuviz.results.badges import captions


def test_days_of_recordings_of_one_device_are_told_together() -> None:
    device: Any = SimpleNamespace(name="NVIDIA H200")
    days = ("2026-11-22", "2026-11-20", "2026-11-22")
    found = [Measurement("recorded", day, device) for day in days]
    assert captions(found) == ("recorded on NVIDIA H200, 2026-11-20, 2026-11-22",)
    assert len(captions([*found, replace(found[0], file="mine.gpurec")])) == 2
