"""Order through flags: who published what it did by an atomic or a volatile store, and who saw it.

A thread publishes when, after a fence, it changes a word in a way that others may see at once
(atomic, volatile, relaxed or release); what its warp did before the fence is then published, and
what its block did before a barrier before that. Whoever later reads a word of the same array in
such a way has seen it, and after the next barrier its block has. That holds for the classic forms:
the last block done, a lock, look-back, a barrier of the grid.

Assumed: a flag that is read says what its reader acts upon; which element of an array of flags it
was is not looked at, and a reader needs no fence of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.ptx.checks.batch import Batch
from gpuviz.ptx.checks.happens_before import Order
from gpuviz.traces.observe import Warps
from gpuviz.traces.trace import MemoryInstruction

_STRONG = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "sc"})
SHARED = -1  # the array that stands for all of shared memory


@dataclass(frozen=True)
class Strength:
    """What a memory instruction does to the order of threads.

    `strong`: others see it at once, and it may be raced with by others of the kind; `releases`: it
    is its own fence; `wide`: blocks may speak through it.
    """

    strong: bool
    releases: bool
    wide: bool

    @classmethod
    def of(cls, at: MemoryInstruction) -> Strength:
        """As its opcode says."""
        mods = set(at.text.split("."))
        strong = at.op in ("atomic", "reduction") or bool(mods & _STRONG)
        return cls(strong, bool(mods & {"release", "acq_rel"}), "cta" not in mods)


@dataclass(eq=False)
class _Log:
    """Publications: by whom (a warp or a block), of what was done up to which step, and when."""

    parts: list[tuple[I64, I64, I64]] = field(default_factory=list)
    _sorted: tuple[I64, I64] | None = None

    def add(self, who: I64, upto: I64, step: int) -> None:
        some = upto > 0
        if some.any():
            self.parts.append((who[some], upto[some], np.full(int(some.sum()), step)))
            self._sorted = None

    def first(self, who: I64, step: I64) -> I64:
        """(n,) when each first published what it did at a step; far off for never."""
        if not self.parts:
            return np.full(len(step), NEVER)
        if self._sorted is None:
            by, upto, at = (np.concatenate(column) for column in zip(*self.parts, strict=True))
            order = np.lexsort((at, upto, by))
            self._sorted = (by << 32 | upto)[order], at[order]
            self.parts = [(by, upto, at)]
        keys, at = self._sorted
        place = keys.searchsorted(who << 32 | step, side="right")
        place = np.minimum(place, len(keys) - 1)
        found = (keys[place] >> 32 == who) & (keys[place] & 0xFFFFFFFF > step)
        return np.where(found, at[place], NEVER)


_Key = TypeVar("_Key")
NEVER = np.int64(1 << 62)


class Flags:
    """Who published what, and who saw it, of a launch; `begin` a batch of it."""

    def __init__(self) -> None:
        self._by_warp: dict[tuple[int, bool], _Log] = {}
        self._by_block: dict[tuple[int, bool], _Log] = {}
        self._itself: dict[tuple[int, bool], _Log] = {}
        self._seen: dict[int, I64] = {}  # by array: (H * W,) steps
        self._seen_by_block: dict[int, I64] = {}  # (H,) as of the last barrier
        self._fences: dict[bool, I64] = {}  # wide or not: (H * W,) steps

    def begin(self, batch: Batch) -> None:
        """Other blocks run now."""
        self._batch = batch
        self._seen.clear()
        self._seen_by_block.clear()
        self._fences.clear()
        batch.on_unfold(self._unfold)

    def _unfold(self, blocks: int) -> None:
        self._seen = {k: np.tile(v, blocks) for k, v in self._seen.items()}
        self._fences = {k: np.tile(v, blocks) for k, v in self._fences.items()}
        self._seen_by_block = {k: v.repeat(blocks) for k, v in self._seen_by_block.items()}

    def _of_warps(self, kept: dict[_Key, I64], key: _Key) -> I64:
        size = self._batch.height * self._batch.warps
        return kept.setdefault(key, np.zeros(size, np.int64))

    def fence(self, step: int, wide: bool, warps: Warps) -> None:
        """Warps order what they did before a step."""
        which, *_ = self._batch.spread(warps)
        for scope in {False, wide}:
            self._of_warps(self._fences, scope)[which] = step

    def barrier(self, rows: slice | I64) -> None:
        """What a warp of a block has seen, its block has."""
        for array, seen in self._seen.items():
            whole = seen.reshape(-1, self._batch.warps).max(axis=1)
            kept = self._seen_by_block.setdefault(array, np.zeros(len(whole), np.int64))
            kept[rows] = np.maximum(kept[rows], whole[rows])

    def changed(
        self, step: int, array: int, strength: Strength, warps: Warps, order: Order
    ) -> None:
        """Warps change flags of an array, since the last barriers of their blocks."""
        if strength.releases:
            self.fence(step, strength.wide, warps)
        if not self._fences:
            return
        batch = self._batch
        which, *_ = batch.spread(warps)
        row = which // batch.warps
        barrier = order.barriers[row]  # now that each block may have its own
        # With one block's state for all, each block has published the same.
        alike = batch.blocks if batch.height == 1 else 1
        first = (batch.first + np.arange(alike))[:, None] * batch.warps
        warp = (first + which).reshape(-1)
        self._log(self._itself, array, True).add(warp, np.full(len(warp), step + 1), step)
        for scope, fence in self._fences.items():
            if strength.wide or not scope:
                of_block = fence.reshape(-1, batch.warps).max(axis=1)[row]
                upto = np.where(fence[which] > barrier, barrier, np.minimum(of_block, barrier))
                of_warps = self._log(self._by_warp, array, scope)
                of_warps.add(warp, np.tile(fence[which], alike), step)
                of_blocks = self._log(self._by_block, array, scope)
                of_blocks.add(warp // batch.warps, np.tile(upto, alike), step)

    def _log(self, logs: dict[tuple[int, bool], _Log], array: int, wide: bool) -> _Log:
        return logs.setdefault((array, wide), _Log())

    def read(self, step: int, array: int, warps: Warps) -> None:
        """Warps see the flags of an array."""
        if self._by_warp or self._fences:
            which, *_ = self._batch.spread(warps)
            self._of_warps(self._seen, array)[which] = step

    def ordered(self, step: I64, other: I64, warp: I64, strong: Bool) -> Bool:
        """(n,) whether what warps (`other`) did at some steps has been published and then seen by
        other warps, all numbered over the launch; `strong` where it was the change of a flag.
        """
        found = np.zeros(len(step), bool)
        size = self._batch.warps
        row = warp // size - self._batch.first if self._batch.height > 1 else np.zeros_like(warp)
        within = warp // size == other // size
        for (array, wide), log in self._by_warp.items():
            if array not in self._seen:
                continue
            seen = self._seen[array][row * size + warp % size]
            if array in self._seen_by_block:
                seen = np.maximum(seen, self._seen_by_block[array][row])
            when = np.minimum(
                log.first(other, step), self._by_block[array, wide].first(other // size, step)
            )
            if strong.any():
                itself = self._itself[array, True].first(other, step)
                when = np.where(strong, np.minimum(when, itself), when)
            # Of one event, warps took their turns in their order.
            before = (when < seen) | ((when == seen) & (other < warp))
            found |= before & (within | (wide and array != SHARED))
        return found
