"""The sinks that a trace is made of: what some blocks do in full, and totals of the launch."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gpuviz.base.arrays import I32, I64, Array
from gpuviz.traces.observe import (
    Access,
    BarrierEvent,
    Lanes,
    PhaseEvent,
    Place,
    Report,
    Sink,
    Sums,
    Transfer,
    TransferKind,
)
from gpuviz.traces.trace import (
    HANDOVERS,
    LANES,
    Branch,
    Finding,
    HandoverKind,
    Handovers,
    Launch,
    MemoryInstruction,
    Path,
    Requests,
    Stretch,
    Trace,
    lane_bits,
)
from gpuviz.words.language import tr

_ALL = np.uint32(0xFFFFFFFF)


class BlockRecorder(Sink):
    """Keeps rows of the blocks asked for, until there are `limit` of them."""

    def __init__(self, blocks: Iterable[int], limit: int) -> None:
        self.blocks: I64 = np.unique(np.fromiter(blocks, np.int64))
        self.limit = limit
        self.full = False
        self.gathered = False  # they are run as if there were no others
        self._here = self.blocks[:0]  # those of the batch
        self._parts: list[tuple[Array, ...]] = []
        self._rows = 0

    def blocks_begin(self, first: int, count: int) -> None:
        """A batch begins: which of its blocks are asked for?"""
        known = np.arange(len(self.blocks)) if self.gathered else self.blocks
        self._here = known[(known >= first) & (known < first + count)]

    def _number(self, block: I64) -> I64:
        """Which blocks of the launch they are."""
        return self.blocks[block] if self.gathered else block

    @property
    def _listening(self) -> bool:
        return len(self._here) > 0 and not self.full

    def _keep(self, *columns: Array) -> None:
        self._parts.append(columns)
        self._rows += len(columns[0])
        self.full = self._rows >= self.limit

    def _columns(self, *types: Any) -> list[Any]:
        """Everything kept, one read-only array a column of a type."""
        empty = [np.zeros(0, one) for one in types]
        columns = [np.concatenate(column) for column in zip(empty, *self._parts, strict=True)]
        for column in columns:
            column.setflags(write=False)
        return columns


class RequestRecorder(BlockRecorder):
    """Keeps every request of the blocks asked for; with `space`, those to one space only."""

    def __init__(self, blocks: Iterable[int], limit: int, space: str = "") -> None:
        super().__init__(blocks, limit)
        self._space = space
        self._numbers: dict[MemoryInstruction, int] = {}
        self._step = 0
        self._first = 0
        self._phase: I32 = np.zeros(0, np.int32)
        self._handovers: list[tuple[Array, ...]] = []
        self._warps = 1  # of a block

    @property
    def memory_instructions(self) -> tuple[MemoryInstruction, ...]:
        """The instructions that made the requests, by number."""
        return tuple(self._numbers)

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """A launch begins."""
        self._warps = launch.warps_per_block

    def blocks_begin(self, first: int, count: int) -> None:
        """A batch begins: no block of it has passed a barrier."""
        super().blocks_begin(first, count)
        self._first, self._phase = first, np.zeros(count, np.int32)

    def barrier(self, at: Place, blocks: I64, meeting: BarrierEvent | None = None) -> None:
        """Blocks go on to their next phase."""
        self._phase[blocks - self._first] += 1

    def access(self, access: Access) -> None:
        """Keep the requests of the blocks asked for."""
        self._step += 1
        at = access.instruction
        if not self._listening or self._space not in ("", at.space):
            return
        row, block, warp = access.warps.of(self._here)
        if not len(row):
            return
        address, bits = access.address[row], np.full(len(row), _ALL)
        if access.active is not None:
            lanes = access.active[row]
            address, bits = np.where(lanes, address, np.uint64(0)), lane_bits(lanes)
        self._keep(
            np.full(len(row), self._numbers.setdefault(at, len(self._numbers)), np.int32),
            np.full(len(row), self._step, np.int64),
            self._number(block),
            warp.astype(np.int32),
            self._phase[block - self._first],
            bits,
            address,
        )

    def phase(self, event: PhaseEvent) -> None:
        """Keep what warps do at mbarriers of these blocks."""
        where = np.stack([event.block, event.thread // LANES % self._warps, event.address], 1)
        some = np.isin(event.block, self._here)
        which, threads = np.unique(where[some], axis=0, return_counts=True)
        if event.kind == "over":  # by all that arrived together
            which = which[np.unique(which[:, [0, 2]], axis=0, return_index=True)[1]]
            threads = np.ones(len(which), np.int64)
        nothing = np.full(len(which), -1)
        self._hand_over(event.at, event.kind, *which.T, threads, nothing + 1, nothing, nothing)

    def transfer(self, transfer: Transfer) -> None:
        """Keep what is moved in the shared memory of these blocks; what wgmma reads is too much."""
        if transfer.kind == "product":
            return
        some = np.isin(transfer.block, self._here)
        columns = (
            transfer.block,
            transfer.thread // LANES % self._warps,
            transfer.address,
            np.ones_like(transfer.block),
            transfer.size,
            transfer.mbarrier,
            transfer.source,
        )
        self._hand_over(transfer.at, transfer.kind, *(column[some] for column in columns))

    def _hand_over(self, at: Place, kind: HandoverKind, block: I64, *columns: I64) -> None:
        if not self._listening or not len(block):
            return
        first = HANDOVERS.index(kind), self._step, at.line
        self._rows += len(block)
        self._handovers.append((*(np.full(len(block), one) for one in first), block, *columns))

    def handovers(self) -> Handovers | None:
        """What went on at mbarriers so far, read-only; None when nothing did."""
        if not self._handovers:
            return None
        columns = [np.concatenate(column) for column in zip(*self._handovers, strict=True)]
        for column in columns:
            column.setflags(write=False)
        return Handovers(*columns)

    def requests(self) -> Requests:
        """Everything kept so far, read-only."""
        lanes = np.dtype((np.uint64, LANES))
        return Requests(*self._columns("i4", "i8", "i8", "i4", "i4", "u4", lanes))

    def clear(self) -> None:
        """Forget what was kept so far; steps go on."""
        self._parts.clear()
        self._handovers.clear()
        self._rows, self.full = 0, False


class EnoughError(Exception):
    """What was to be recorded has been."""


class PathRecorder(BlockRecorder):
    """Keeps the way of the warps of the blocks asked for through the program; after `steps`
    instructions, whoever executes them, it has enough (0: never).
    """

    def __init__(self, blocks: Iterable[int], limit: int) -> None:
        super().__init__(blocks, limit)
        self.steps = 0
        self._done = 0
        self._numbers: dict[Stretch, int] = {}

    def blocks_begin(self, first: int, count: int) -> None:
        """A batch begins, which is followed anew."""
        super().blocks_begin(first, count)
        self._done = 0

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """What the path refers to, by number."""
        return tuple(self._numbers)

    def instructions(self, stretch: Stretch, lanes: Lanes) -> None:
        """Keep that warps of these blocks executed a stretch of the program."""
        if not self._listening:
            return
        if self.steps and self._done >= self.steps:
            raise EnoughError
        self._done += stretch.count
        warps, active = lanes.rows()
        row, block, warp = warps.of(self._here)
        if len(row):
            self._keep(
                np.full(len(row), self._numbers.setdefault(stretch, len(self._numbers)), np.int32),
                self._number(block),
                warp.astype(np.int32),
                np.full(len(row), _ALL) if active is None else lane_bits(active[row]),
            )

    def path(self) -> Path:
        """The way so far, read-only."""
        return Path(*self._columns("i4", "i8", "i4", "u4"))


class Tally(Sums):
    """How much was executed: blocks, and each stretch of the program."""

    def __init__(self) -> None:
        self.blocks = 0
        self._totals: dict[int, tuple[Stretch, int, int]] = {}  # by pc: warps, threads

    def blocks_end(self, first: int, count: int) -> None:
        """Count blocks."""
        self.blocks += count

    def instructions(self, stretch: Stretch, lanes: Lanes) -> None:
        """Add to the totals of a stretch."""
        _, warps, threads = self._totals.get(stretch.pc, (stretch, 0, 0))
        self._totals[stretch.pc] = stretch, warps + lanes.warps, threads + lanes.threads

    @property
    def executed(self) -> dict[int, int]:
        """How often warps executed each stretch, by the pc of its first instruction."""
        return {pc: warps for pc, (_, warps, _) in self._totals.items()}

    @property
    def threads(self) -> dict[Stretch, int]:
        """How often threads executed each stretch."""
        return {stretch: threads for stretch, _, threads in self._totals.values()}

    @property
    def thread_instructions(self) -> int:
        """Instructions executed, by every thread."""
        return sum(stretch.count * threads for stretch, _, threads in self._totals.values())

    @property
    def warp_instructions(self) -> int:
        """Instructions executed, by every warp."""
        return sum(stretch.count * warps for stretch, warps, _ in self._totals.values())


class BranchTotals(Sums):
    """How often branches ran, and split warps."""

    def __init__(self) -> None:
        self._totals: dict[int, tuple[Place, int, int, int, int]] = {}  # by pc

    def branch(self, at: Place, warps: int, divergent: int, taken: int, not_taken: int) -> None:
        """Add to the totals of a branch."""
        _, a, b, c, d = self._totals.get(at.pc, (at, 0, 0, 0, 0))
        self._totals[at.pc] = at, a + warps, b + divergent, c + taken, d + not_taken

    def add(self, one: Branch, times: int = 1) -> None:
        """Add those of a branch, so many times over."""
        own = one.warps, one.divergent, one.taken, one.not_taken
        self.branch(Place(one.pc, one.line, one.ptx_line), *(times * n for n in own))

    def branches(self) -> tuple[Branch, ...]:
        """The totals, in the order of the program."""
        ordered = (self._totals[pc] for pc in sorted(self._totals))
        return tuple(Branch(at.pc, at.line, at.ptx_line, *total) for at, *total in ordered)


class Findings(Sink):
    """Keeps the first finding of a kind at a place, and counts the others."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, int], Finding] = {}

    def finding(self, finding: Finding) -> None:
        """Keep or count a finding."""
        key = finding.kind, finding.ptx_line
        first = self._first.get(key)
        self._first[key] = (
            finding if first is None else replace(first, count=first.count + finding.count)
        )

    def findings(self) -> tuple[Finding, ...]:
        """What was found, in the order in which it was first seen."""
        return tuple(self._first.values())


class TransferTotals(Sums):
    """Bytes that were moved, or read, asynchronously."""

    def __init__(self) -> None:
        self._bytes: dict[TransferKind, int] = {}

    def transfer(self, transfer: Transfer) -> None:
        """Add to the total of its kind."""
        moved = int(transfer.size.sum()) * transfer.repeat
        self._bytes[transfer.kind] = self._bytes.get(transfer.kind, 0) + moved

    def notes(self) -> Iterator[str]:
        """What there was, and what of it is not modelled."""
        into, read = self._bytes.get("load", 0), self._bytes.get("product", 0)
        out = self._bytes.get("store", 0) + self._bytes.get("reduce", 0)
        if into or out:
            yield tr(
                "bulk copies moved {into} bytes into shared memory and {out} out of it: their "
                "wavefronts in shared memory are not modelled",
                into=f"{into:,}",
                out=f"{out:,}",
            )
        if read:
            yield tr("wgmma read {n} bytes of shared memory", n=f"{read:,}")


class Tracer:
    """The sinks that a trace needs, and the trace that they make."""

    def __init__(self, record: tuple[int, ...], limit: int, path: bool) -> None:
        self.tally = Tally()
        self._limit = limit
        self._branches, self._findings = BranchTotals(), Findings()
        self._transfers = TransferTotals()
        self._requests = RequestRecorder(record, limit)
        self._path = PathRecorder(record, limit) if path else None

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """Those that are to listen."""
        requests = (self._requests,) if len(self._requests.blocks) else ()
        path = () if self._path is None else (self._path,)
        own = self.tally, self._branches, self._findings, self._transfers
        return *own, *requests, *path

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What has been found wrong so far."""
        return self._findings.findings()

    def trace(self, launch: Launch, ended: bool = False, **more: Any) -> Trace:
        """What they have heard of a launch, which may have `ended` at a fault; `more` are fields of
        the trace that nobody can hear.
        """
        requests, path, tally = self._requests, self._path, self.tally
        notes = []
        if tally.blocks < launch.blocks and not ended:
            some = {"done": tally.blocks, "blocks": launch.blocks}
            notes.append(
                tr("{done} of {blocks} blocks were emulated, spread over the grid", **some)
            )
        if requests.full or (path is not None and path.full):
            rows = f"{self._limit:,}"
            notes.append(tr("the record of requests was cut at {rows} rows", rows=rows))
        notes += self._transfers.notes()
        return Trace(
            launch,
            requests.memory_instructions,
            requests.requests(),
            tuple(requests.blocks.tolist()),
            tally.blocks,
            tally.thread_instructions,
            tally.warp_instructions,
            self._branches.branches(),
            self.findings,
            notes=tuple(notes),
            stretches=() if path is None else path.stretches,
            path=None if path is None else path.path(),
            handovers=requests.handovers(),
            **more,
        )
