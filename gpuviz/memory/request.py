"""Executed requests to global memory: what a trace has of them, and the transactions they need."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64, Bool
from gpuviz.memory.coalescing import Segment, groups_of, segments, transactions
from gpuviz.memory.units import counted, nouns, numbered
from gpuviz.traces.trace import LANES, Buffer, MemoryInstruction, Requests, Trace

LINE = 128  # bytes


@dataclass(frozen=True, eq=False)
class Strip:
    """The transactions of one request. Byte positions are relative to the buffer's start."""

    # start, size: (S,) first byte and bytes of each transaction.
    start: I64
    size: I64
    unit: int  # bytes of a cell: a word, or an element where that is smaller
    # cell_box, cell_at, cell_lane: (C,) transaction of each cell, its first byte within it, and the
    # lane that asks for it (the lowest one; -1: nobody).
    cell_box: I64
    cell_at: I64
    cell_lane: I64
    # lane_box, lane_at: (32,) transaction that serves each lane (-1: inactive), byte within it.
    lane_box: I64
    lane_at: I64
    width: int  # bytes a lane asks for

    @property
    def used(self) -> I64:
        """(S,) bytes of each transaction that some lane asks for."""
        cells = np.bincount(self.cell_box[self.cell_lane >= 0], minlength=len(self.start))
        return np.asarray(cells * self.unit, dtype=np.int64)


def cut(start: I64, size: I64, serves: Bool, address: I64, width: int) -> Strip:
    """What lanes ask of each transaction: (S,) `start` and `size`, (S, 32) `serves`, (32,) address.

    A lane is served by one transaction, or by none when it takes no part.
    """
    unit = min(width, 4)
    box, at = _cells(size // unit)
    at = at * unit
    lane_box = np.where(serves.any(axis=0), serves.argmax(axis=0), -1)
    byte = (start[box] + at)[:, None]
    asked = serves[box] & (byte >= address) & (byte < address + width)
    lane = np.where(asked.any(axis=1), asked.argmax(axis=1), -1)
    return Strip(start, size, unit, box, at, lane, lane_box, address - start[lane_box], width)


def _cells(counts: I64) -> tuple[I64, I64]:
    """For boxes of so many cells: the box of each cell, and its number within it."""
    box = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return box, np.arange(len(box)) - first[box]


@dataclass(frozen=True, eq=False)
class Request:
    """A request to global memory, its addresses relative to the buffer it goes to.

    `noun` (sector, line or segment) is what the architecture's transactions are called, `groups`
    into how many parts it splits the warp, each served by itself, and `ordered` whether lanes have
    to ask for words in order (1.0 and 1.1). `record` is the size of the structs that the buffer
    holds, 0 when it holds plain elements.
    `turn` (S,) is the place of each transaction of the strip in the order of delivery; `ideal`
    how many transactions the same lanes would need if they asked for consecutive elements;
    `blocks` how many the launch has.
    """

    instruction: MemoryInstruction
    buffer: Buffer
    block: int
    warp: int
    address: I64
    active: Bool
    strip: Strip
    turn: I64
    ideal: int
    noun: str
    groups: int = 1
    ordered: bool = False
    record: int = 0
    blocks: int = 1

    @property
    def name(self) -> str:
        """The buffer."""
        return self.buffer.name

    @property
    def is_store(self) -> bool:
        """Whether data goes to memory."""
        return self.instruction.op == "store"

    @property
    def is_update(self) -> bool:
        """Whether memory reads, changes and writes the data: an atomic."""
        return self.instruction.op in ("atomic", "reduction")

    @property
    def count(self) -> int:
        """Transactions."""
        return len(self.turn)

    @cached_property
    def moved(self) -> int:
        """Bytes of all transactions."""
        return int(self.strip.size.sum())

    @cached_property
    def used(self) -> int:
        """Bytes of them that some lane asks for."""
        return int(self.strip.used.sum())

    @cached_property
    def line(self) -> I64:
        """(S,) number of each transaction's 128-byte line among those touched, in address order."""
        return np.unique(self.strip.start // LINE, return_inverse=True)[1]

    @cached_property
    def steps(self) -> I64:
        """(L - 1,) elements from each active lane to the next one; empty for a single lane."""
        return np.diff(self.address[self.active]) // self.instruction.width

    def counted(self, number: int) -> str:
        """`8 sectors`, `1 sector`."""
        return counted(self.noun, number)

    def numbered(self, number: int) -> str:
        """`sector 3`."""
        return numbered(self.noun, number)

    @property
    def nouns(self) -> str:
        """`sectors`."""
        return nouns(self.noun)

    def place(self, lane: int) -> str:
        """What a lane asks for, as an expression: `in[10]`; in a struct also where: `p[2] + 16`."""
        if self.record:
            index, byte = divmod(int(self.address[lane]), self.record)
            return f"{self.name}[{index}] + {byte}"
        return f"{self.name}[{self.address[lane] // self.instruction.width}]"


def requests_of(trace: Trace, arch: Architecture, block: int, warp: int) -> tuple[Request, ...]:
    """The global-memory requests of one warp, in the order it made them."""
    return _made(trace, arch, trace.of(block=block, warp=warp, space="global"))


def first_requests(trace: Trace, arch: Architecture, block: int, warp: int) -> tuple[Request, ...]:
    """The first global-memory request that each instruction made for a warp, in order."""
    rows = trace.of(block=block, warp=warp, space="global")
    first = np.sort(np.unique(rows.instruction, return_index=True)[1]).astype(np.int64)
    return _made(trace, arch, rows.select(first))


def _made(trace: Trace, arch: Architecture, rows: Requests) -> tuple[Request, ...]:
    made = (one_request(trace, arch, rows, row) for row in range(len(rows)))
    return tuple(request for request in made if request is not None)


def one_request(trace: Trace, arch: Architecture, rows: Requests, row: int) -> Request | None:
    """One row of requests to global memory; None where its buffer is not known, or no lane took
    part.
    """
    did = trace.instructions[rows.instruction[row]]
    address, active = rows.address[row], rows.lanes(row)
    buffer = trace.launch.buffer_at(int(address[active.argmax()])) if active.any() else None
    if buffer is None:
        return None
    parts = segments(arch, address, active, did.width, did.op, did.path)
    cost = transactions(arch, address[None], active[None], did.width, did.op, did.path)
    order = sorted(range(len(parts)), key=lambda i: (parts[i].base, i))
    relative = address.astype(np.int64) - buffer.address
    return Request(
        did,
        buffer,
        int(rows.block[row]),
        int(rows.warp[row]),
        np.where(active, relative, 0),
        active,
        _strip([parts[i] for i in order], relative, buffer, did.width),
        np.array(order, np.int64),
        int(cost.ideal[0]),
        arch.transaction(parts[0].size),
        groups_of(arch, did.width),
        arch.needs_order,
        blocks=trace.launch.blocks,
    )


def _strip(parts: list[Segment], address: I64, buffer: Buffer, width: int) -> Strip:
    """The strip of transactions given in address order."""
    start = np.array([p.base for p in parts], np.int64) - buffer.address
    size = np.array([p.size for p in parts], np.int64)
    serves = np.array([np.isin(np.arange(LANES), p.lanes) for p in parts])
    return cut(start, size, serves, address, width)
