"""Where a number comes from: in the one word of a badge, and in full."""

from __future__ import annotations

from collections.abc import Iterable

from gpuviz.draw.source_inks import BADGES as BADGES
from gpuviz.recordings.measurement import Measurement
from gpuviz.words.language import tr


def caption(measurement: Measurement) -> str:
    """Where the numbers of a measurement come from, in the language in use."""
    return captions([measurement])[0]


def captions(found: Iterable[Measurement]) -> tuple[str, ...]:
    """Where the numbers of measurements come from: once for each device and file, with all days."""
    dates: dict[tuple[bool, str, str], set[str]] = {}
    for one in found:
        dates.setdefault((one.source == "live", one.device.name, one.file), set()).add(one.date)
    return tuple(_caption(*whose, ", ".join(sorted(days))) for whose, days in dates.items())


def _caption(live: bool, device: str, file: str, date: str) -> str:
    if live:
        return tr("measured on {device}", device=device)
    if file:
        return tr("recorded on {device}, {date}, from {file}", device=device, date=date, file=file)
    return tr("recorded on {device}, {date}", device=device, date=date)
