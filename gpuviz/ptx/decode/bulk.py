"""cp.async.bulk: many bytes that one thread has moved between global and shared memory.

The bytes are moved at once; an mbarrier that counts them is told so, and waits have nothing to
wait for. Source: PTX ISA, "Data Movement and Conversion Instructions: Bulk copy".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.mbarrier import address_of, change
from gpuviz.ptx.decode.operands import Reader, Site
from gpuviz.ptx.simt import atomic
from gpuviz.ptx.simt.cluster import mapped
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.shared_addresses import SharedAddresses, active, of_lanes, shared_addresses
from gpuviz.ptx.simt.spaces import GLOBAL
from gpuviz.ptx.text.ir import Imm, Instruction, Operand
from gpuviz.ptx.text.stream import type_bytes
from gpuviz.traces.observe import Place, Transfer, TransferKind

Copies = list[tuple[I64, Array, Array]]
Everywhere = Callable[[Group, I64, Array, Array], Copies]
ALIGNMENT = 16
_LARGEST_CLUSTER = 16
_OPERATIONS = ("add", "and", "or", "xor", "min", "max", "inc", "dec")


@dataclass(frozen=True)
class Reduction:
    """What is done with what is there already."""

    name: str
    kind: str

    @classmethod
    def of(cls, site: Site) -> Reduction | None:
        """As `cp.reduce` says; None of plain copies."""
        if site.mods[0] != "reduce":
            return None
        name = cls.named(site)
        kind = site.kind
        try:
            atomic.step_of(name, kind)
        except KeyError:
            raise site.unsupported("this reduction") from None
        return cls(name, kind)

    @staticmethod
    def named(site: Site) -> str:
        """The operation."""
        return next(mod for mod in site.mods if mod in _OPERATIONS)

    def into(self, there: Array, moved: Array) -> None:
        """Bytes combined with those that are there, in place."""
        unit = f"u{type_bytes(self.kind)}"
        cells = there.view(unit)
        atomic.apply(self.name, self.kind, cells, np.arange(len(cells)), moved.view(unit))


def global_bytes(g: Group, start: int, size: int, at: Instruction, lane: int) -> slice:
    """Where bytes lie among the cells of global memory; KernelFault outside of all buffers."""
    memory = g.machine.execution.program.memory
    low, high = memory.bounds()
    slot = int(low.searchsorted(start, side="right")) - 1
    if slot < 0 or start + size > high[slot] or start % ALIGNMENT:
        why = (
            f"no multiple of {ALIGNMENT}"
            if start % ALIGNMENT
            else f"{size:,} bytes {memory.describe(start + size - 1)}"
        )
        message = (
            f"illegal global access at {at.where} ({at.opcode.text}): {why}, "
            f"address {start:#x}, {g.who(lane)}"
        )
        raise KernelFault(
            message,
            g.finding(
                "memory", "illegal global access", message, at, lane,
                "copy as many bytes as the buffer has, from a multiple of 16 on", start,
            ),
        )  # fmt: skip
    return slice(start - GLOBAL, start - GLOBAL + size)


def tell(
    g: Group,
    at: Instruction,
    kind: TransferKind,
    where: SharedAddresses,
    size: I64,
    mbarrier: I64 | None = None,
    source: I64 | None = None,
    **more: Any,
) -> None:
    """Tell sinks what lanes have moved; `more` is of boxes and of several blocks."""
    if g.machine.told.transfer and len(where.lane):
        none = np.full(len(where.lane), -1)
        first = g.layout.first_block
        moved = Transfer(
            Place.of(at),
            at.opcode.text,
            kind,
            g.layout.thread.reshape(-1)[where.lane] + first * g.layout.threads,
            where.row + first,
            where.offset,
            size,
            none if mbarrier is None else mbarrier,
            none if source is None else source,
            **more,
        )
        for hear in g.machine.told.transfer:
            hear(moved)


def complete(g: Group, where: SharedAddresses, moved: I64, at: Instruction) -> None:
    """mbarriers are told of bytes that have come."""
    change(g, at, where, np.zeros(len(moved), np.int64), -moved)


def size_reader(site: Site, operand: Operand) -> Reader:
    """How many bytes: a multiple of 16."""
    if isinstance(operand, Imm) and operand.value % ALIGNMENT:
        raise site.unsupported(f"a copy of {operand.value} bytes")
    return site.reader(operand, "u32")


def _sizes(g: Group, size: Reader, lane: I64, at: Instruction) -> I64:
    found = of_lanes(g, size(g), lane).astype(np.int64)
    if (found % ALIGNMENT).any():
        raise KernelFault(
            f"{at.opcode.text} ({at.where}) moves {int(found.max())} bytes, which is no multiple "
            f"of {ALIGNMENT}, {g.who(int(lane[0]))}"
        )
    return found


def plain(site: Site) -> Step:
    """Bytes side by side: `[to], [from], size` and, into shared memory, the mbarrier."""
    mods, at = site.mods, site.instruction
    spaces = [space for m in mods if (space := space_named((m,)))]
    if "prefetch" in mods:
        return lambda g: None
    to, source, count, *rest = site.operands
    reads, writes, size = address_of(site, source), address_of(site, to), size_reader(site, count)
    reduction = Reduction.of(site)
    if spaces[:2] == ["shared", "global"]:
        mbarrier = address_of(site, rest[0])
        copies = everywhere(site, rest[1:])

        def load(g: Group) -> None:
            lane = active(g)
            bytes_, start = _sizes(g, size, lane, at), of_lanes(g, reads(g), lane).astype(np.int64)
            sources = [
                global_bytes(g, int(a), int(n), at, int(k))
                for a, n, k in zip(start, bytes_, lane, strict=True)
            ]
            memory = g.machine.execution.program.memory.cells.bytes
            before = np.zeros(0, np.int64)
            for some, address, barrier in copies(g, lane, writes(g), mbarrier(g)):
                chosen = np.isin(lane, some)
                where = shared_addresses(g, address, bytes_[chosen], ALIGNMENT, at, some)
                shared = g.machine.memory.shared.cells.bytes
                picked = [one for one, yes in zip(sources, chosen, strict=True) if yes]
                for begin, part in zip(where.byte(g), picked, strict=True):
                    shared[begin : begin + part.stop - part.start] = memory[part]
                counted = shared_addresses(g, barrier, 8, 8, at, some)
                several = several_blocks(site, some, before)
                first = start[chosen]
                tell(g, at, "load", where, bytes_[chosen], counted.offset, first, **several)
                before = np.append(before, some)
                complete(g, counted, bytes_[chosen], at)
            g.machine.polling.idle = 0

        return load
    if spaces[:2] == ["global", "shared"]:

        def store(g: Group) -> None:
            lane = active(g)
            bytes_, start = _sizes(g, size, lane, at), of_lanes(g, writes(g), lane).astype(np.int64)
            where = shared_addresses(g, reads(g), bytes_, ALIGNMENT, at, lane)
            shared = g.machine.memory.shared.cells.bytes
            memory = g.machine.execution.program.memory.cells.bytes
            for a, n, k, begin in zip(start, bytes_, lane, where.byte(g), strict=True):
                part = global_bytes(g, int(a), int(n), at, int(k))
                moved = shared[begin : begin + int(n)]
                if reduction:
                    reduction.into(memory[part], moved.copy())
                else:
                    memory[part] = moved
            tell(g, at, "reduce" if reduction else "store", where, bytes_, None, start)
            g.machine.polling.idle = 0

        return store
    if spaces[:2] == ["shared", "shared"]:
        mbarrier = address_of(site, rest[0])

        def between(g: Group) -> None:
            lane = active(g)
            bytes_ = _sizes(g, size, lane, at)
            where = shared_addresses(g, writes(g), bytes_, ALIGNMENT, at, lane)
            origin = shared_addresses(g, reads(g), bytes_, ALIGNMENT, at, lane)
            shared = g.machine.memory.shared.cells.bytes
            for a, b, n in zip(where.byte(g), origin.byte(g), bytes_, strict=True):
                moved = shared[b : b + int(n)].copy()
                if reduction:
                    reduction.into(shared[a : a + int(n)], moved)
                else:
                    shared[a : a + int(n)] = moved
            counted = shared_addresses(g, mbarrier(g), 8, 8, at, lane)
            tell(g, at, "load", where, bytes_, counted.offset)
            complete(g, counted, bytes_, at)
            g.machine.polling.idle = 0

        return between
    raise site.unsupported("this copy")


def _named_by(mask: Operand | None, site: Site) -> Everywhere:
    """Where a copy goes: lanes, and the addresses of data and mbarrier, of each block that the mask
    names; those of the instruction itself without one.
    """
    if mask is None:
        return lambda g, lane, to, barrier: [(lane, to, barrier)]
    read = site.reader(mask, "u16")

    def several(g: Group, lane: I64, to: Array, barrier: Array) -> Copies:
        wanted = of_lanes(g, read(g), lane).astype(np.int64)
        found: Copies = []
        for rank in range(_LARGEST_CLUSTER):
            some = lane[wanted >> rank & 1 == 1]
            if len(some):
                number = np.array([rank], np.uint32)
                found.append((some, mapped(to, number), mapped(barrier, number)))
        return found

    return several


def several_blocks(site: Site, lanes: I64, before: I64) -> dict[str, Any]:
    """What is told of copies of some lanes into one block of several; other blocks were told of the
    lanes `before`.
    """
    if "multicast::cluster" not in site.mods:
        return {}
    return {"multicast": True, "before": np.isin(lanes, before)}


def everywhere(site: Site, rest: Sequence[Operand]) -> Everywhere:
    """As the operands behind the mbarrier say."""
    return _named_by(rest[0] if "multicast::cluster" in site.mods else None, site)


def group_of_transfers(site: Site, kind: TransferKind = "store") -> Step:
    """commit_group and wait_group of bulk copies, or of products: sinks are told."""
    first = site.operands[0] if site.operands else None
    left = None if "commit_group" in site.mods else first.value if isinstance(first, Imm) else 0

    def step(g: Group) -> None:
        for hear in g.machine.told.transfers:
            hear(kind, left, g)

    return step
