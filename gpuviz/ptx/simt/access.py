"""Memory instructions as they are executed: rows for the sinks, requests for the record."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import Array, Bool
from gpuviz.ptx.simt.view import LANES, View
from gpuviz.trace import Access, MemoryInstruction, Path, Requests, Stretch, lane_bits

_Rows = tuple[Array, Bool | None, Array, Array]  # addresses, lanes, block, warp: one row a warp


def make_access(
    instruction: MemoryInstruction,
    view: View,
    address: Array,
    mask: Bool | None,
    source: Array | None = None,
) -> Access | None:
    """The access of a group of lanes, with alike blocks folded; None when no lane is active.

    `source` are the global addresses of an asynchronous copy.
    """
    if source is not None:
        return _copy_access(instruction, view, address, mask, source)
    if view.dense:
        rows, active, repeat = _dense_rows(view, address, mask)
    else:
        rows = view.warp_rows(view.full(address))
        active = view.present if mask is None else view.warp_rows(view.full(mask))
        repeat = 1
    rows = rows.astype(np.uint64, copy=False)
    if active is not None:
        some = active.any(axis=1)
        if not some.all():
            rows, active = rows[some], active[some]
        if not len(rows):
            return None
    return Access(instruction, rows, active, repeat)


def _copy_access(
    instruction: MemoryInstruction, view: View, address: Array, mask: Bool | None, source: Array
) -> Access | None:
    """A copy's access: nothing is folded, as both sides count together."""
    rows, sources = (
        view.warp_rows(view.full(value)).astype(np.uint64, copy=False)
        for value in (address, source)
    )
    active = view.present if mask is None else view.warp_rows(view.full(mask))
    some = np.ones(len(rows), bool) if active is None else active.any(axis=1)
    if not some.any():
        return None
    return Access(
        instruction, rows[some], None if active is None else active[some], source=sources[some]
    )


def _dense_rows(view: View, address: Array, mask: Bool | None) -> tuple[Array, Bool | None, int]:
    """(N, 32) addresses and mask, and for how many blocks (or warps) each row stands."""
    height = max(_height(address), 1 if mask is None else _height(mask))
    wide = _width(address) > 1 or (mask is not None and _width(mask) > 1)
    width = view.threads if wide else LANES  # a block-uniform access: one warp stands for all
    repeat = (view.blocks // height) * (view.threads // width)

    def rows(value: Array) -> Array:
        return np.broadcast_to(value, (height, width)).reshape(-1, LANES)

    return rows(address), None if mask is None else rows(mask), repeat


def _height(value: Array) -> int:
    return value.shape[0] if value.ndim == 2 else 1


def _width(value: Array) -> int:
    return int(value.shape[-1])


class Recorder:
    """Keeps every request of the blocks asked for, until `limit` rows are reached."""

    def __init__(self, blocks: tuple[int, ...], limit: int, walking: bool = False) -> None:
        self.blocks = frozenset(blocks)
        self.limit = limit
        self.walking = walking
        self.stretches: dict[Stretch, int] = {}
        self._walked: list[tuple[Array, ...]] = []
        self.instructions: list[MemoryInstruction] = []
        self.full = False
        self._number: dict[MemoryInstruction, int] = {}
        self._parts: list[tuple[Array, ...]] = []
        self._rows = 0

    def number(self, instruction: MemoryInstruction) -> int:
        """Index of an instruction in the trace's list."""
        if instruction not in self._number:
            self._number[instruction] = len(self.instructions)
            self.instructions.append(instruction)
        return self._number[instruction]

    def record(
        self,
        instruction: MemoryInstruction,
        view: View,
        address: Array,
        mask: Bool | None,
        first_block: int,
        phases: Array,
        step: int,
    ) -> None:
        """Keep the rows that belong to recorded blocks."""
        if self.full:
            return
        chosen = (
            self._dense(view, address, mask, first_block)
            if view.dense
            else self._sparse(view, address, mask, first_block)
        )
        rows, active, blocks, warps = chosen
        lanes = np.ones_like(rows, bool) if active is None else active
        some = lanes.any(axis=1)
        rows, lanes = np.where(lanes, rows, np.uint64(0))[some], lanes[some]
        block, warp = blocks[some], warps[some]
        count = len(rows)
        self._parts.append(
            (
                np.full(count, self.number(instruction), np.int32),
                np.full(count, step, np.int64),
                block,
                warp.astype(np.int32),
                phases[block - first_block].astype(np.int32),
                lane_bits(lanes),
                rows,
            )
        )
        self._rows += count
        self.full = self._rows >= self.limit

    def walk(self, stretch: Stretch, view: View, mask: Bool | None, first_block: int) -> None:
        """Keep that the recorded blocks' warps executed a stretch of the program."""
        if self.full:
            return
        nowhere = np.zeros(1, np.uint64) if view.dense else np.zeros(view.size, np.uint64)
        pick = self._dense if view.dense else self._sparse
        rows, active, blocks, warps = pick(view, nowhere, mask, first_block)
        lanes = lane_bits(np.ones_like(rows, bool) if active is None else active)
        some = lanes != 0
        number = self.stretches.setdefault(stretch, len(self.stretches))
        self._walked.append(
            (
                np.full(int(some.sum()), number, np.int32),
                blocks[some],
                warps[some].astype(np.int32),
                lanes[some],
            )
        )
        self._rows += len(rows)
        self.full = self._rows >= self.limit

    def path(self) -> Path | None:
        """The way of the recorded blocks' warps, read-only; None when it was not asked for."""
        if not self.walking:
            return None
        empty = (
            np.zeros(0, np.int32),
            np.zeros(0, np.int64),
            np.zeros(0, np.int32),
            np.zeros(0, np.uint32),
        )
        columns = [np.concatenate(c) for c in zip(empty, *self._walked, strict=True)]
        for column in columns:
            column.setflags(write=False)
        return Path(*columns)

    def _dense(self, view: View, address: Array, mask: Bool | None, first_block: int) -> _Rows:
        """Rows of the recorded blocks of a batch, without spreading out the others."""
        inside = [b for b in sorted(self.blocks) if first_block <= b < first_block + view.blocks]
        per_block = view.threads // LANES

        def rows(value: Array) -> Array:
            table = value if value.ndim == 2 else value[None, :]
            picked = table[
                [b - first_block for b in inside] if len(table) > 1 else [0] * len(inside)
            ]
            return np.broadcast_to(picked, (len(inside), view.threads)).reshape(-1, LANES)

        blocks = np.repeat(np.array(inside, np.int64), per_block)
        warps = np.tile(np.arange(per_block), len(inside))
        return rows(address).astype(np.uint64), None if mask is None else rows(mask), blocks, warps

    def _sparse(self, view: View, address: Array, mask: Bool | None, first_block: int) -> _Rows:
        warps = view.warp_numbers()
        per_block = view.threads // LANES
        blocks = warps // per_block + first_block
        wanted = np.isin(blocks, np.fromiter(self.blocks, np.int64))
        rows = view.warp_rows(view.full(address))[wanted].astype(np.uint64)
        active = view.present if mask is None else view.warp_rows(view.full(mask))
        return (
            rows,
            None if active is None else active[wanted],
            blocks[wanted],
            (warps % per_block)[wanted],
        )

    def requests(self) -> Requests:
        """Everything kept so far, read-only."""
        empty = (
            np.zeros(0, np.int32),
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
            np.zeros(0, np.int32),
            np.zeros(0, np.int32),
            np.zeros(0, np.uint32),
            np.zeros((0, LANES), np.uint64),
        )
        columns = [np.concatenate(c) for c in zip(empty, *self._parts, strict=True)]
        for column in columns:
            column.setflags(write=False)
        return Requests(*columns)
