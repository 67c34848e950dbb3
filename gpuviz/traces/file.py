"""Traces on disk: a zip of `manifest.json` and `requests.npz`, so that they can be shown elsewhere.

The manifest holds everything but the arrays, and a version. Nothing in the file is ever executed:
arrays are read without pickle, records are rebuilt field by field, and what they say of each other
has to hold.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.base.arrays import I32, I64
from gpuviz.files import archive
from gpuviz.files.archive import Content, Form
from gpuviz.traces.trace import (
    HANDOVERS,
    LANES,
    Branch,
    Finding,
    Handovers,
    Launch,
    MemoryInstruction,
    Requests,
    Stretch,
    Trace,
)
from gpuviz.traces.trace import Path as Way

FORM = Form("gpuviz trace", 1, "trace", "requests.npz", 640 << 20)
_KINDS: dict[str, type[np.generic]] = {
    "instruction": np.int32,
    "step": np.int64,
    "block": np.int64,
    "warp": np.int32,
    "phase": np.int32,
    "active": np.uint32,
    "address": np.uint64,
    "stretch": np.int32,
}
_ARRAYS = tuple(field.name for field in fields(Requests))
_WAY = tuple(field.name for field in fields(Way))  # stored as way_stretch and so on
_HANDED = tuple(field.name for field in fields(Handovers))  # as handed_kind and so on
_WIDTHS = (1, 2, 4, 8, 16, 32)  # bytes that a lane may access
_THREADS, _BLOCKS = 1024, (1 << 31) - 1  # of a block; along one side of a grid
_MOST = 1 << 48  # beyond any count, line or size


@dataclass(frozen=True)
class _Manifest:
    """Everything but the arrays, by the names that `Trace` has."""

    launch: Launch
    instructions: tuple[MemoryInstruction, ...]
    branches: tuple[Branch, ...]
    findings: tuple[Finding, ...]
    recorded: tuple[int, ...]
    blocks_emulated: int
    thread_instructions: int
    warp_instructions: int
    flops: int
    printed: str
    source: str
    ptx: str
    arch: str
    notes: tuple[str, ...]
    stretches: tuple[Stretch, ...] = ()


def save(trace: Trace, path: Path) -> None:
    """Write a trace; the file appears whole or not at all.

    Raises
    ------
    InputError : the file cannot be written
    """
    kept = {field.name: getattr(trace, field.name) for field in fields(_Manifest)}
    archive.write(path, FORM, _Manifest(**kept), _arrays(trace))


def load(path: Path) -> Trace:
    """Read a trace.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, not a trace, or written by a newer gpuviz
    """
    found = archive.read(path, FORM, _Manifest)
    trace = Trace(
        requests=_requests(found),
        path=_way(found),
        handovers=_handed(found),
        **vars(found.manifest),
    )
    for holds, why in _claims(trace):
        if not holds:
            raise found.damaged(why)
    return trace


def _arrays(trace: Trace) -> dict[str, Any]:
    """The arrays of a trace by the names they are stored under."""
    found = {name: getattr(trace.requests, name) for name in _ARRAYS}
    if trace.path is not None:
        found |= {f"way_{name}": getattr(trace.path, name) for name in _WAY}
    if trace.handovers is not None:
        found |= {f"handed_{name}": getattr(trace.handovers, name) for name in _HANDED}
    return found


def _requests(found: Content[_Manifest]) -> Requests:
    count = len(found.array("step", np.int64, -1))
    shapes = {name: (count, LANES) if name == "address" else (count,) for name in _ARRAYS}
    return Requests(**{n: found.array(n, _KINDS[n], *shape) for n, shape in shapes.items()})


def _way(found: Content[_Manifest]) -> Way | None:
    """The way of warps through the program, if it was recorded."""
    if "way_stretch" not in found.arrays:
        return None
    count = len(found.array("way_stretch", np.int32, -1))
    return Way(**{name: found.array(f"way_{name}", _KINDS[name], count) for name in _WAY})


def _handed(found: Content[_Manifest]) -> Handovers | None:
    """What went on at mbarriers, if anything did."""
    if "handed_kind" not in found.arrays:
        return None
    count = len(found.array("handed_kind", np.int64, -1))
    return Handovers(*(found.array(f"handed_{name}", np.int64, count) for name in _HANDED))


def _claims(trace: Trace) -> Iterator[tuple[bool, str]]:
    """What has to hold of a trace, and what to say where it does not; each relies on the last."""
    launch, rows, way = trace.launch, trace.requests, trace.path
    yield all(1 <= n <= _BLOCKS for n in launch.grid), f"no grid is {launch.grid}"
    yield min(launch.block) >= 1, f"no block is {launch.block}"
    yield launch.threads_per_block <= _THREADS, f"no block is {launch.block}"
    yield (
        all(n in range(_MOST) for n in _counts(trace)),
        "a number in its manifest is negative, or larger than any can be",
    )
    yield len(set(trace.recorded)) == len(trace.recorded), "a block is recorded twice"
    for one in trace.instructions:
        yield one.width in _WIDTHS, f"no lane accesses {one.width} bytes"
    yield max(trace.recorded, default=0) < launch.blocks, "a block that it recorded is not there"
    for block, warp in ((rows.block, rows.warp), *(((way.block, way.warp),) if way else ())):
        yield bool(np.isin(block, trace.recorded).all()), "a block in it was not recorded"
        yield _within(warp, launch.warps_per_block), "a warp in it is not of its blocks"
    yield _within(rows.instruction, len(trace.instructions)), "an instruction in it is not known"
    yield _within(rows.step, _MOST) and _within(rows.phase, _MOST), "a step in it is negative"
    yield not (rows.address >= _MOST).any(), "an address in it is beyond any memory"
    if handed := trace.handovers:
        yield bool(np.isin(handed.block, trace.recorded).all()), "a block in it was not recorded"
        yield _within(handed.warp, launch.warps_per_block), "a warp in it is not of its blocks"
        yield _within(handed.kind, len(HANDOVERS)), "an event at an mbarrier is of no kind"
        yield _within(handed.threads, LANES + 1), "a warp in it has more than 32 lanes"
        columns = handed.step, handed.line, handed.address, handed.size
        signed = handed.mbarrier + 1, handed.source + 1  # -1 for none
        yield all(_within(one, _MOST) for one in (*columns, *signed)), "a number is negative"
    if way:
        yield _within(way.stretch, len(trace.stretches)), "a stretch in it is not known"
        yield all(one.count > 0 for one in trace.stretches), "a stretch in it is empty"


def _counts(trace: Trace) -> Iterator[int]:
    """Every number of the manifest that counts something, or is a place."""
    yield from (trace.blocks_emulated, trace.thread_instructions, trace.warp_instructions)
    yield from (trace.flops, trace.launch.dynamic_shared, *trace.recorded)
    for buffer in trace.launch.buffers:
        yield from (buffer.size, buffer.count, buffer.address)
    for one in trace.instructions:
        yield from (one.pc, one.line, one.ptx_line)
    for branch in trace.branches:
        yield from vars(branch).values()
    for stretch in trace.stretches:
        yield from (stretch.pc, stretch.count, *stretch.lines)
    for finding in trace.findings:
        yield from (finding.line, finding.ptx_line, finding.count, *finding.block, *finding.thread)


def _within(values: I32 | I64, end: int) -> bool:
    """Whether all of them are from 0 up to, and without, an end."""
    return not len(values) or bool(values.min() >= 0 and values.max() < end)
