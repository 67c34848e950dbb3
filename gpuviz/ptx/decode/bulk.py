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
        remedy = "copy as many bytes as the buffer has, from a multiple of 16 on"
        raise g.fault("memory", "illegal global access", message, at, lane, remedy, start)
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


@dataclass(frozen=True, eq=False)
class _Copy:
    """A plain copy: `[to], [from], size`, and what is done with what is there already."""

    at: Instruction
    writes: Reader
    reads: Reader
    size: Reader
    reduction: Reduction | None

    def sizes(self, g: Group, lane: I64) -> I64:
        """How many bytes lanes copy."""
        found, at = of_lanes(g, self.size(g), lane).astype(np.int64), self.at
        if (found % ALIGNMENT).any():
            raise KernelFault(
                f"{at.opcode.text} ({at.where}) moves {int(found.max())} bytes, which is no "
                f"multiple of {ALIGNMENT}, {g.who(int(lane[0]))}"
            )
        return found

    def in_global(self, g: Group, address: Reader, size: I64, lane: I64) -> tuple[I64, list[slice]]:
        """Addresses in global memory, and where their bytes lie among its cells."""
        start = of_lanes(g, address(g), lane).astype(np.int64)
        every = zip(start.tolist(), size.tolist(), lane.tolist(), strict=True)
        return start, [global_bytes(g, one, count, self.at, by) for one, count, by in every]

    def put(self, there: Array, moved: Array) -> None:
        """Write bytes, or combine them with those that are there."""
        if self.reduction:
            self.reduction.into(there, moved.copy())
        else:
            there[:] = moved


def plain(site: Site) -> Step:
    """Bytes side by side: `[to], [from], size` and, into shared memory, the mbarrier."""
    if "prefetch" in site.mods:
        return lambda g: None
    to, source, count, *rest = site.operands
    writes, reads, size = address_of(site, to), address_of(site, source), size_reader(site, count)
    copy = _Copy(site.instruction, writes, reads, size, Reduction.of(site))
    spaces = [space for m in site.mods if (space := space_named((m,)))][:2]
    if spaces == ["shared", "global"]:
        return _load(site, copy, address_of(site, rest[0]), everywhere(site, rest[1:]))
    if spaces == ["global", "shared"]:
        return _store(copy)
    if spaces == ["shared", "shared"]:
        return _between(copy, address_of(site, rest[0]))
    raise site.unsupported("this copy")


def _load(site: Site, copy: _Copy, mbarrier: Reader, copies: Everywhere) -> Step:
    """From global memory to shared memory, of several blocks perhaps."""
    at = copy.at

    def load(g: Group) -> None:
        lane = active(g)
        size = copy.sizes(g, lane)
        start, sources = copy.in_global(g, copy.reads, size, lane)
        memory = g.machine.execution.program.memory.cells.bytes
        shared = g.machine.memory.shared.cells.bytes
        before = np.zeros(0, np.int64)
        for some, address, barrier in copies(g, lane, copy.writes(g), mbarrier(g)):
            chosen = np.flatnonzero(np.isin(lane, some))
            where = shared_addresses(g, address, size[chosen], ALIGNMENT, at, some)
            for begin, number in zip(where.byte(g), chosen, strict=True):
                shared[begin : begin + size[number]] = memory[sources[number]]
            counted = shared_addresses(g, barrier, 8, 8, at, some)
            several = several_blocks(site, some, before)
            tell(g, at, "load", where, size[chosen], counted.offset, start[chosen], **several)
            before = np.append(before, some)
            complete(g, counted, size[chosen], at)
        g.machine.polling.idle = 0

    return load


def _store(copy: _Copy) -> Step:
    """From shared memory to global memory."""
    kind: TransferKind = "reduce" if copy.reduction else "store"

    def store(g: Group) -> None:
        lane = active(g)
        size = copy.sizes(g, lane)
        start, targets = copy.in_global(g, copy.writes, size, lane)
        where = shared_addresses(g, copy.reads(g), size, ALIGNMENT, copy.at, lane)
        shared = g.machine.memory.shared.cells.bytes
        memory = g.machine.execution.program.memory.cells.bytes
        for target, begin, count in zip(targets, where.byte(g), size, strict=True):
            copy.put(memory[target], shared[begin : begin + count])
        tell(g, copy.at, kind, where, size, None, start)
        g.machine.polling.idle = 0

    return store


def _between(copy: _Copy, mbarrier: Reader) -> Step:
    """From the shared memory of a block to that of another."""
    at = copy.at

    def between(g: Group) -> None:
        lane = active(g)
        size = copy.sizes(g, lane)
        where = shared_addresses(g, copy.writes(g), size, ALIGNMENT, at, lane)
        origin = shared_addresses(g, copy.reads(g), size, ALIGNMENT, at, lane)
        shared = g.machine.memory.shared.cells.bytes
        for to, source, count in zip(where.byte(g), origin.byte(g), size, strict=True):
            copy.put(shared[to : to + count], shared[source : source + count].copy())
        counted = shared_addresses(g, mbarrier(g), 8, 8, at, lane)
        tell(g, at, "load", where, size, counted.offset)
        complete(g, counted, size, at)
        g.machine.polling.idle = 0

    return between


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
