"""What is moved or read asynchronously, as accesses that a race check can compare.

A copy into shared memory writes when it begins, for all it matters: whoever used the place before
has to be done. What is read (by copies out of shared memory, by products of warpgroups) is read
until somebody has waited for it, and so it is told then.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.traces.observe import Lanes, Transfer, TransferKind
from gpuviz.traces.trace import LANES, MemoryInstruction, Op

UNIT = 16  # bytes: the least that is moved
_OPS: dict[TransferKind, Op] = {"load": "copy"}


def pieces(transfer: Transfer) -> tuple[I64, I64]:
    """(n,) offsets of the 16-byte pieces in shared memory, and their threads."""
    count = transfer.size // UNIT
    first = np.repeat(transfer.address, count)
    within = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    return first + within * UNIT, np.repeat(transfer.thread, count)


def select(transfer: Transfer, some: Bool) -> Transfer:
    """Some of the pieces of a transfer."""
    names = ("thread", "block", "address", "size", "mbarrier", "source")
    columns = (getattr(transfer, name)[some] for name in names)
    return Transfer(transfer.at, transfer.text, transfer.kind, *columns)


def instruction_of(transfer: Transfer) -> MemoryInstruction:
    """As loads and stores have it."""
    at, op = transfer.at, _OPS.get(transfer.kind, "load")
    return MemoryInstruction(at.pc, at.line, at.ptx_line, transfer.text, op, "shared", UNIT)


@dataclass(frozen=True, eq=False)
class Reading:
    """Bytes of one thread that are being read since a step."""

    step: int
    transfer: Transfer

    @property
    def key(self) -> int:
        """Of the step and the thread, as a number."""
        return self.step << 32 | int(self.transfer.thread[0])


@dataclass(eq=False)
class _Queue:
    """The groups of one thread, or warpgroup: those closed, and what is in none yet."""

    closed: deque[list[Reading]] = field(default_factory=deque)
    open: list[Reading] = field(default_factory=list)


class Reads:
    """Reads that nobody has waited for, by kind and thread; `under_way` are their keys."""

    def __init__(self) -> None:
        self._queues: dict[tuple[TransferKind, int], _Queue] = {}
        self.under_way: set[int] = set()

    def unfinished(self, step: I64, thread: I64) -> Bool:
        """(n,) which steps of threads are reads that may go on."""
        if not self.under_way:
            return np.zeros(len(step), bool)
        return np.isin(step << 32 | thread, list(self.under_way))

    def begin(self, step: int, transfer: Transfer) -> None:
        """A read begins."""
        for thread in np.unique(transfer.thread).tolist():
            some = transfer.thread == thread
            queue = self._queues.setdefault((transfer.kind, thread), _Queue())
            reading = Reading(step, select(transfer, some))
            queue.open.append(reading)
            if transfer.kind != "product":  # of those several threads wait, and each for all
                self.under_way.add(reading.key)

    def group(self, kind: TransferKind, left: int | None, lanes: Lanes) -> list[Transfer]:
        """Lanes close a group, or wait until `left` are under way: what has now been read."""
        kinds: tuple[TransferKind, ...] = (kind,) if kind == "product" else ("store", "reduce")
        warps, active = lanes.rows()
        first = warps.first[:, None, None] + np.arange(warps.blocks)[:, None] * warps.per_block
        number = ((first + np.arange(warps.warps)) * LANES)[..., None] + np.arange(LANES)
        if active is not None:
            number = number[np.broadcast_to(active[:, None, None], number.shape)]
        here = set(number.reshape(-1).tolist())
        over: list[Reading] = []
        for (one, thread), queue in self._queues.items():
            if one not in kinds or thread not in here:
                continue
            if left is None:
                queue.closed.append(queue.open)
                queue.open = []
            else:
                while len(queue.closed) > left:
                    over += queue.closed.popleft()
        self.under_way.difference_update(one.key for one in over)
        return [one.transfer for one in over]
