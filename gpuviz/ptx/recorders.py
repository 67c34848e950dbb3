"""Sinks that keep all that some blocks do: their requests, and their way through the program."""

from __future__ import annotations

from collections.abc import Iterable
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
    Transfer,
)
from gpuviz.traces.trace import (
    HANDOVERS,
    LANES,
    HandoverKind,
    Handovers,
    Launch,
    MemoryInstruction,
    Path,
    Requests,
    Stretch,
    lane_bits,
)

_ALL = np.uint32(0xFFFFFFFF)


class OfBlocks(Sink):
    """Keeps rows of the blocks asked for, until there are `limit` of them."""

    def __init__(self, blocks: Iterable[int], limit: int) -> None:
        self.blocks: I64 = np.unique(np.fromiter(blocks, np.int64))
        self.limit = limit
        self.full = False
        self._here = self.blocks[:0]  # those of the batch
        self._parts: list[tuple[Array, ...]] = []
        self._rows = 0

    def blocks_begin(self, first: int, count: int) -> None:
        """A batch begins: which of its blocks are asked for?"""
        self._here = self.blocks[(self.blocks >= first) & (self.blocks < first + count)]

    @property
    def _listening(self) -> bool:
        return len(self._here) > 0 and not self.full

    def _keep(self, *columns: Array) -> None:
        self._parts.append(columns)
        self._rows += len(columns[0])
        self.full = self._rows >= self.limit

    def _columns(self, *empty: Array) -> list[Any]:
        """Everything kept, one read-only array a column; `empty` says of which types."""
        columns = [np.concatenate(column) for column in zip(empty, *self._parts, strict=True)]
        for column in columns:
            column.setflags(write=False)
        return columns


class RequestRecorder(OfBlocks):
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
            block,
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
        return Requests(
            *self._columns(
                np.zeros(0, np.int32),
                np.zeros(0, np.int64),
                np.zeros(0, np.int64),
                np.zeros(0, np.int32),
                np.zeros(0, np.int32),
                np.zeros(0, np.uint32),
                np.zeros((0, LANES), np.uint64),
            )
        )

    def clear(self) -> None:
        """Forget what was kept so far; steps go on."""
        self._parts.clear()
        self._handovers.clear()
        self._rows, self.full = 0, False


class PathRecorder(OfBlocks):
    """Keeps the way of the warps of the blocks asked for through the program."""

    def __init__(self, blocks: Iterable[int], limit: int) -> None:
        super().__init__(blocks, limit)
        self._numbers: dict[Stretch, int] = {}

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """What the path refers to, by number."""
        return tuple(self._numbers)

    def instructions(self, stretch: Stretch, lanes: Lanes) -> None:
        """Keep that warps of these blocks executed a stretch of the program."""
        if not self._listening:
            return
        warps, active = lanes.rows()
        row, block, warp = warps.of(self._here)
        if len(row):
            self._keep(
                np.full(len(row), self._numbers.setdefault(stretch, len(self._numbers)), np.int32),
                block,
                warp.astype(np.int32),
                np.full(len(row), _ALL) if active is None else lane_bits(active[row]),
            )

    def path(self) -> Path:
        """The way so far, read-only."""
        return Path(
            *self._columns(
                np.zeros(0, np.int32),
                np.zeros(0, np.int64),
                np.zeros(0, np.int32),
                np.zeros(0, np.uint32),
            )
        )
