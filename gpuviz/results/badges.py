"""Where a number comes from: in the one word of a badge, and in full."""

from __future__ import annotations

from gpuviz.draw.source_inks import BADGES as BADGES
from gpuviz.language import tr
from gpuviz.runners.measurement import Measurement


def caption(measurement: Measurement) -> str:
    """Where the numbers of a measurement come from, in the language in use."""
    device, date, file = measurement.device.name, measurement.date, measurement.file
    if measurement.source == "live":
        return tr("measured on {device}", device=device)
    if file:
        return tr("recorded on {device}, {date}, from {file}", device=device, date=date, file=file)
    return tr("recorded on {device}, {date}", device=device, date=date)
