"""Bundles: lectures with kernels, programs, traces and recordings in one zip."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from gpuviz.base import resources
from tests.hostile import arrays, trees, zips
from tests.hostile.kind import Kind
from tests.hostile.kinds import lecture, recording, trace
from tests.hostile.kinds.lecture import check, pack, render

_TEXT = """gpuviz-lecture = 1
title = "Mine"

[[slide]]
[slide.kernel]
file = "kernels/mine.cu"
entry = "in_order"
grid = "2"
block = "64"
arguments = "f32[256]=rand f32[256]=zeros"

[[slide]]
trace = "traces/t.gputrace"
"""
Member = tuple[str, bytes]


@cache
def members() -> tuple[Member, ...]:
    """What a bundle of ours holds."""
    from gpuviz.lectures.bundle_contents import gather, write
    from gpuviz.lectures.reading import read

    with TemporaryDirectory() as folder:
        base = Path(folder)
        (base / "kernels").mkdir()
        (base / "traces").mkdir()
        (base / "kernels" / "mine.cu").write_bytes(
            resources.path("kernels/coalescing.cu").read_bytes()
        )
        (base / "traces" / "t.gputrace").write_bytes(trace.a_trace())
        (base / "mine.gpuviz-lecture").write_text(_TEXT)
        write(gather(read(base / "mine.gpuviz-lecture")), base / "out.gpuviz-lecture")
        with zipfile.ZipFile(base / "out.gpuviz-lecture") as archive:
            found = [(name, archive.read(name)) for name in archive.namelist()]
    return (*found, ("recordings/mine.gpurec", recording.ours()))


def make(random: Random) -> bytes:
    """A bundle of which the zip or a member is changed."""
    found = list(members())
    if random.random() < 0.5:
        return zips.packed(random, found)
    at = random.randrange(len(found))
    name, content = found[at]
    found[at] = name, _changed(random, name, content)
    return zips.plain(found)


def _changed(random: Random, name: str, content: bytes) -> bytes:
    import json

    if name.endswith(".json"):
        return trees.as_json(random, json.loads(content))
    if zipfile.is_zipfile(io.BytesIO(content)):
        return arrays.changed(random, content)
    if name.endswith(".gpuviz-lecture"):
        return lecture.make(random)
    return content[: random.randrange(len(content) + 1)]


def packed(file: Path) -> Sequence[str]:
    """Packed again."""
    return pack(file)


def recorded(file: Path) -> Sequence[str]:
    """What of it is recorded?"""
    return "record", "--lecture", str(file), "--check", "-o", "none.gpurec"


KIND = Kind("bundle", 220, ".gpuviz-lecture", make, (check, packed, render, recorded))
