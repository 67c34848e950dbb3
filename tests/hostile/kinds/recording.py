"""Recordings of measurements, like those that ship."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

from tests.hostile import arrays, zips
from tests.hostile.kind import Kind

_SMALL = Path(__file__).parents[2] / "data" / "h200_small_launches.gpurec"
_KEPT = 6  # entries: all of them would be slow to change


@cache
def ours() -> bytes:
    """The first entries of some small launches, with their arrays."""
    manifest, name, found = arrays.taken(_SMALL.read_bytes())
    entries = [one for one in manifest["entries"] if one["lesson"] == "coalescing"][:_KEPT]
    named = {one["timing"]["array"] for one in entries if one["timing"]}
    named |= {one["placement"] for one in entries if one["placement"]}
    head = json.dumps({**manifest, "entries": entries}).encode()
    kept = {key: found[key] for key in sorted(named)}
    return zips.plain([("manifest.json", head), (name, arrays.npz(kept))])


def make(random: Random) -> bytes:
    """A file like it."""
    return arrays.changed(random, ours())


def record(file: Path) -> Sequence[str]:
    """Is it complete?"""
    return "record", "--scene", "coalescing", "--check", "-o", str(file)


def present(file: Path) -> Sequence[str]:
    """For a lecture."""
    return "present", "coalescing-and-banks", "--recording", str(file), "--check"


def shown(file: Path) -> None:
    """As the window shows it: tables of counts and times, where blocks ran."""
    from gpuviz.draw.palette import THEMES
    from gpuviz.draw.stage import Stage
    from gpuviz.export.reading import read_any
    from gpuviz.recordings.recording import Recording
    from gpuviz.results import placements, rows, timings
    from gpuviz.run.session import Session
    from gpuviz.traces.trace import Launch
    from gpuviz.views.make_view import view_of
    from gpuviz.views.provenance import Provenance

    session = Session()
    recording = read_any(file)
    if not isinstance(recording, Recording):
        return
    session.open_recording(file, recording)
    view = view_of(Provenance("coalescing", {"blocks": 64}, "sm_90"), session.library())
    rows.table(view.runs)
    rows.summary(view.runs)
    for entry in recording.entries:
        found = timings.series_of(entry.measurement, None)
        if found is not None:
            timings.lines_of((found, found))
        if entry.measurement.placement is not None:
            chart = placements.chart_of(entry.measurement.placement)
            placements.summary(chart, entry.measurement)
            placements.picture(
                chart, Launch("k", (1, 1, 1), (32, 1, 1)), Stage(600, 400, THEMES["dark"])
            )


KIND = Kind("recording", 150, ".gpurec", make, (record, present), calls=(shown,))
