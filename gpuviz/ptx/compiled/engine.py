"""A launch on the compiled engine, and what sinks hear of it.

Sums are told in the end, folded. Sinks that keep what some blocks do hear these blocks run on the
NumPy engine, from the memory that the launch began with.
"""

import os
from collections.abc import Iterator, Sequence

import numpy as np

from gpuviz.base.arrays import I64, U32, U64, Array, Bool
from gpuviz.ptx.compiled.accesses import Access as Made
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.launch import Outcome, execute, put_back
from gpuviz.ptx.compiled.memory_map import SOURCE
from gpuviz.ptx.compiled.routines import ALL
from gpuviz.ptx.compiled.worker import Group
from gpuviz.ptx.compiled.writer import Bailout
from gpuviz.ptx.interpreter import chosen_blocks, record
from gpuviz.ptx.options import Options
from gpuviz.ptx.prepare import PreparedLaunch
from gpuviz.ptx.recorders import BlockRecorder, Findings
from gpuviz.traces.observe import Access, Listeners, Many, Place, Sink, Sums
from gpuviz.traces.trace import LANES

_FAR = {"global": 1 << 40}  # a multiple of every period: what is relative may be negative
_NEAR = 1 << 20
_PART = 1 << 18  # sectors whose addresses are told at once


def tell_rows(
    told: Listeners, kernel: Kernel, numbers: Array, masks: Array, addresses: U64
) -> None:
    """Requests as they were made, one row each."""
    for number in np.unique(numbers[numbers < SOURCE]).tolist():
        if kernel.accesses.all[number].space == "param":
            continue
        rows = np.flatnonzero(numbers == number)
        own = masks[rows]
        active = None if (own == np.uint32(ALL)).all() else lanes_of(own)
        made = kernel.accesses.all[number].instruction
        address = addresses[rows].astype(np.uint64, copy=False)
        into = made.op == "copy" and made.space == "shared"
        source = addresses[numbers == number | SOURCE] if into else None
        access = Access(made, address, active, source=source)
        for hear in told.access:
            hear(access)


def lanes_of(masks: Array) -> Bool:
    """(N, 32) bool of (N,) bit sets."""
    return (masks[:, None] >> np.arange(LANES, dtype=np.uint32) & np.uint32(1)).astype(bool)


def tell(told: Listeners, done: Outcome) -> None:
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


def _requests(made: Made, done: Outcome) -> Iterator[Access]:
    """Those of one instruction."""
    shift, start = made.width.bit_length() - 1, _FAR.get(made.space, _NEAR)
    for masks, relative, counts in _patterns(made, done):
        for repeat, pattern, phase in _alike(counts):
            rows = start + (phase[:, None] << shift) + relative[pattern]
            own = masks[pattern]
            lanes = None if (own == np.uint32(ALL)).all() else lanes_of(own)
            address = rows.astype(np.uint64)
            yield Access(made.instruction, address, lanes, repeat, placed=False)


def _patterns(made: Made, done: Outcome) -> Iterator[tuple[U32, I64, I64]]:
    """(P,) sets of lanes, (P, 32) where they go, and (P, phases) how often they started where."""
    if made.number in done.patterns:
        relative = np.array([done.patterns[made.number].pattern], np.int64)
        yield np.full(1, ALL, np.uint32), relative, _phases(made, done)[None]
    for worker in done.workers:
        yield worker.seen(made.number)


def _alike(counts: I64) -> Iterator[tuple[int, I64, I64]]:
    """Patterns and phases that occurred equally often."""
    pattern, phase = counts.nonzero()
    found = counts[pattern, phase]
    order = found.argsort(kind="stable")
    ends = np.flatnonzero(np.diff(found[order])) + 1
    for rows in np.split(order, ends) if len(order) else ():
        yield int(found[rows[0]]), pattern[rows], phase[rows]


def _visits(done: Outcome) -> Iterator[Access]:
    """Where the requests that were counted by pattern went; told with no warp at all.

    Loads of one line of the program share what they visited, and are told the very same arrays.
    """
    first = done.workers[0]
    groups: dict[Group, list[Made]] = {}
    for made in done.kernel.accesses.all:
        if first.group(made) in first.marks and _counted(made, done):
            groups.setdefault(first.group(made), []).append(made)
    for group, loads in groups.items():
        start = first.marks[group][0]
        touched = first.marks[group][1]
        for worker in done.workers[1:]:
            touched |= worker.marks[group][1]
        for address in _sectors(start, touched):
            for made in loads:
                yield Access(made.instruction, address, None, 0)


def _counted(made: Made, done: Outcome) -> bool:
    patterned = made.number in done.patterns and _phases(made, done).any()
    return bool(patterned) or any(len(worker.seen(made.number)[0]) for worker in done.workers)


def _phases(made: Made, done: Outcome) -> I64:
    """How often requests that follow the instruction's pattern started where in a period."""
    counted = done.patterns[made.number]
    counts = np.sum([worker.histograms[counted.first] for worker in done.workers], axis=0)
    return np.roll(counts, counted.ahead // made.width)


def _sectors(start: int, touched: Array) -> Iterator[U64]:
    """(N, 32) an address in each sector that is marked, part by part; last rows are filled up."""
    for part in range(0, len(touched), _PART):
        found = np.flatnonzero(touched[part : part + _PART])
        if not len(found):
            continue
        if len(found) % LANES:
            rest = np.full(-len(found) % LANES, found[0])
            found = np.concatenate((found, rest))
        found += start + part
        found <<= 5
        yield found.view(np.uint64).reshape(-1, LANES)


def observe(launched: PreparedLaunch, sinks: Sequence[Sink], options: Options) -> None:
    """Run a launch.

    Raises
    ------
    Bailout : it is left to the NumPy engine; memory is as it was, and nothing has been told
    Cancelled : the caller asked to stop
    """
    sums = [sink for sink in sinks if isinstance(sink, Sums)]
    kept = [sink for sink in sinks if isinstance(sink, BlockRecorder | Findings)]
    other = next(
        (sink for sink in sinks if not isinstance(sink, Sums | BlockRecorder | Findings)), None
    )
    if other is not None:
        raise Bailout(f"{type(other).__name__} wants to hear every event in order")
    told, launch = Listeners(sums), launched.launch
    ranges = chosen_blocks(launch.blocks, options.max_blocks)
    for begin in told.launch_begin:
        begin(launch, told.report)

    def hear(kernel: Kernel, numbers: Array, masks: Array, addresses: Array) -> None:
        tell_rows(told, kernel, numbers, masks, addresses)

    def again() -> None:
        for sink in sums:
            sink.start_over()

    try:
        limits = options.limits()
        workers = options.threads or os.cpu_count() or 1
        done = execute(launched.program, launch.buffers, ranges, hear, again, limits, workers)
    except Bailout:
        again()
        raise
    except (LookupError, ValueError, TypeError, AssertionError, AttributeError, OSError) as error:
        again()  # nothing is lost but time
        raise Bailout(f"a mistake of its own, {type(error).__name__}: {error}") from error
    except RuntimeError as error:  # of LLVM
        again()
        raise Bailout(f"LLVM says {str(error).splitlines()[0]}") from error
    for first, count in ranges:
        for blocks_begin in told.blocks_begin:
            blocks_begin(first, count)
    tell(told, done)
    for first, count in ranges:
        for blocks_end in told.blocks_end:
            blocks_end(first, count)
    for end in told.launch_end:
        end()
    _record(launched, kept, done, ranges, options)


def _record(
    launched: PreparedLaunch,
    kept: Sequence[Sink],
    done: Outcome,
    ranges: Sequence[tuple[int, int]],
    options: Options,
) -> None:
    """Run the blocks that are to be kept once more, on the NumPy engine."""
    recorders = [sink for sink in kept if isinstance(sink, BlockRecorder)]
    if not any(len(sink.blocks) for sink in recorders):
        return
    after = put_back(launched.program, done.before)
    try:
        record(launched, kept, options, ranges)
    finally:
        put_back(launched.program, after)
