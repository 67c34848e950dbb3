"""Where a number comes from: in the one word of a badge, and in full."""

from __future__ import annotations

from gpuviz.language import later, tr
from gpuviz.runners.measurement import Measurement

BADGES = {
    "model": later("model"),
    "live": later("live"),
    "recorded": later("recorded"),
    "unavailable": later("unavailable"),
}


def caption(measurement: Measurement) -> str:
    """Where the numbers of a measurement come from, in the language in use."""
    device = measurement.device.name
    if measurement.source == "live":
        return tr("measured on {device}", device=device)
    return tr("recorded on {device}, {date}", device=device, date=measurement.date)
