"""Telling sinks what a compiled launch did: counts by pattern become events that stand for many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuviz.arrays import U64, Array, Bool
from gpuviz.observe import Access, Listeners, Many, Place
from gpuviz.ptx.compiled.accesses import Access as Made
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.launch import Executed
from gpuviz.ptx.compiled.worker import Group
from gpuviz.trace import LANES

_FAR = {"global": 1 << 40}  # a multiple of every period: what is relative may be negative
_NEAR = 1 << 20


def tell_rows(
    told: Listeners, kernel: Kernel, numbers: Array, masks: Array, addresses: U64
) -> None:
    """Requests as they were made, one row each."""
    for number in np.unique(numbers).tolist():
        if kernel.accesses.all[number].space == "param":
            continue
        rows = np.flatnonzero(numbers == number)
        own = masks[rows]
        active = None if (own == np.uint32(0xFFFFFFFF)).all() else lanes_of(own)
        made = kernel.accesses.all[number].instruction
        access = Access(made, addresses[rows].astype(np.uint64, copy=False), active)
        for hear in told.access:
            hear(access)


def lanes_of(masks: Array) -> Bool:
    """(N, 32) bool of (N,) bit sets."""
    return (masks[:, None] >> np.arange(LANES, dtype=np.uint32) & np.uint32(1)).astype(bool)


def tell(told: Listeners, done: Executed) -> None:
    """Everything but `tell_rows`: instructions, branches, requests that follow patterns."""
    kernel = done.kernel
    tables = {
        name: np.sum([worker.tables[name] for worker in done.workers], axis=0)
        for name in ("full", "part_warps", "part_threads", "taken", "divergent")
    }
    if told.access:
        for made in kernel.accesses.all:
            if made.space != "param":
                for access in _requests(made, done):
                    for hear in told.access:
                        hear(access)
        for access in _visits(done):
            for hear in told.access:
                hear(access)
    for block in kernel.graph.blocks:
        full = int(tables["full"][block.number])
        warps = full + int(tables["part_warps"][block.number])
        threads = LANES * full + int(tables["part_threads"][block.number])
        if not warps:
            continue
        for tell_instructions in told.instructions:
            tell_instructions(block.stretch, Many(threads, warps))
        end = block.end
        if end.how == "branch" and end.at is not None:
            place = Place(end.at.pc, end.at.line, end.at.ptx_line)
            taken = int(tables["taken"][block.number])
            divergent = int(tables["divergent"][block.number])
            for branch in told.branch:
                branch(place, warps, divergent, taken, threads - taken)


def _requests(made: Made, done: Executed) -> Iterator[Access]:
    """Those of one instruction."""
    instruction = made.instruction
    shift = made.width.bit_length() - 1
    start = _FAR.get(made.space, _NEAR)
    number = made.number
    if number in done.patterns:
        relative = np.array(done.patterns[number].pattern, np.int64)
        counts = _phases(made, done)
        for repeat, phases in _alike(counts):
            rows = start + (phases[:, None] << shift) + relative
            yield Access(instruction, rows.astype(np.uint64), None, repeat, placed=False)
    for worker in done.workers:
        for mask, offsets, counted in worker.seen(number):
            active = lanes_of(np.array([mask], np.uint32))
            for repeat, phases in _alike(counted):
                rows = start + (phases[:, None] << shift) + offsets
                lanes = None if active.all() else np.repeat(active, len(rows), axis=0)
                yield Access(instruction, rows.astype(np.uint64), lanes, repeat, placed=False)


def _alike(counts: Array) -> Iterator[tuple[int, Array]]:
    """Phases that occurred equally often."""
    for count in np.unique(counts[counts > 0]).tolist():
        yield int(count), np.flatnonzero(counts == count)


def _visits(done: Executed) -> Iterator[Access]:
    """Where the requests that were counted by pattern went; told with no warp at all.

    Loads of one line of the program share what they visited, and are told the very same array.
    """
    first = done.workers[0]
    rows: dict[Group, U64] = {}
    for made in done.kernel.accesses.all:
        group = first.group(made)
        if group not in first.marks or not _counted(made, done):
            continue
        if group not in rows:
            touched = np.bitwise_or.reduce([worker.marks[group][1] for worker in done.workers])
            rows[group] = _sectors(first.marks[group][0], touched)
        if len(rows[group]):
            yield Access(made.instruction, rows[group], None, 0)


def _counted(made: Made, done: Executed) -> bool:
    patterned = made.number in done.patterns and _phases(made, done).any()
    return bool(patterned) or any(worker.seen(made.number) for worker in done.workers)


def _phases(made: Made, done: Executed) -> Array:
    """How often requests that follow the instruction's pattern started where in a period."""
    counted = done.patterns[made.number]
    counts = np.sum([worker.histograms[counted.first] for worker in done.workers], axis=0)
    return np.roll(counts, counted.ahead // made.width)


def _sectors(start: int, touched: Array) -> U64:
    """(N, 32) an address in each sector that is marked; the last row is filled up."""
    found = np.flatnonzero(touched)
    if not len(found):
        return np.zeros((0, LANES), np.uint64)
    address = np.full(-(-len(found) // LANES) * LANES, found[0], np.int64)
    address[: len(found)] = found
    return np.asarray((address.reshape(-1, LANES) + start) * 32, dtype=np.uint64)
