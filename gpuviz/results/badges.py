"""Where a number comes from: in the one word of a badge, and in full."""

from __future__ import annotations

from collections.abc import Mapping

from gpuviz.language import later, tr
from gpuviz.runners.measurement import WORDS, Measurement

BADGES: Mapping[str, str] = {
    "model": later("model"),
    "unchecked": later("model, not checked"),
    **WORDS,
    "unavailable": later("unavailable"),
}


def caption(measurement: Measurement) -> str:
    """Where the numbers of a measurement come from, in the language in use."""
    device, date, file = measurement.device.name, measurement.date, measurement.file
    if measurement.source == "live":
        return tr("measured on {device}", device=device)
    if file:
        return tr("recorded on {device}, {date}, from {file}", device=device, date=date, file=file)
    return tr("recorded on {device}, {date}", device=device, date=date)
