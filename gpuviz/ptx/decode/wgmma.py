"""wgmma: four warps multiply matrices that lie in shared memory, A in registers if they like.

What is asynchronous on a GPU is done at once here, so that fences and waits have nothing to do.
Sums are those of mma on Hopper; of 8-bit floats 13 fractional bits stay and a sum keeps 13 bits of
fraction (MMA-Sim; see `gpuviz.ptx.tensor.sums`): 134 launches on an H200 left the same bits.
Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import I64, Array
from gpuviz.errors import KernelFault
from gpuviz.observe import Place, Transfer
from gpuviz.ptx.decode.bulk import group_of_transfers
from gpuviz.ptx.decode.matrices import items, product, warp_rows
from gpuviz.ptx.decode.operands import Builder, Reader, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.forms import BITS, rule_of
from gpuviz.ptx.tensor.fragments import Fragment, left, wide_total
from gpuviz.ptx.tensor.shared_matrix import PIECE, Descriptor
from gpuviz.ptx.tensor.sums import Adder
from gpuviz.ptx.text.ir import Imm, Instruction, Operand, Vec
from gpuviz.traces import LANES

_SHAPE = re.compile(r"m64n(\d+)k(\d+)$")
_WARPS = 4  # of a warpgroup
_INNER = {32: 8, 16: 16, 8: 32, 1: 256}  # k, by the bits of an element
_BYTES = 32  # of k, of every type
_MOST = 256  # columns


@dataclass(frozen=True)
class Warpgroups:
    """The warpgroups of a group of lanes: rows of its warps, (G, 4), and their blocks (G,)."""

    rows: I64
    block: I64
    height: int

    def gather(self, g: Group, readers: tuple[Reader, ...]) -> Array:
        """(G * 4, 32, registers)."""
        return np.stack([warp_rows(g, read(g)) for read in readers], 2)[self.rows.reshape(-1)]

    def first(self, g: Group, read: Reader) -> Array:
        """(G,) what the first lane has."""
        return np.asarray(warp_rows(g, read(g))[self.rows[:, 0], 0])

    def scatter(self, g: Group, held: Array) -> Array:
        """(G * 4, 32) to the values of the group."""
        rows = np.zeros((self.height, LANES), held.dtype)
        rows[self.rows.reshape(-1)] = held
        return g.layout.from_warp_rows(rows)


def warpgroups(g: Group, at: Instruction) -> Warpgroups:
    """The warpgroups that execute an instruction together; KernelFault unless they are whole."""
    layout, per_block = g.layout, g.layout.threads // LANES
    active = None if g.mask is None else warp_rows(g, g.mask)
    present = layout.present
    if present is not None:
        active = present if active is None else active & present
    numbers = layout.warp_numbers()
    rows = np.arange(len(numbers)) if active is None else np.flatnonzero(active.any(axis=1))
    warp = numbers[rows] % per_block
    whole = active is None or bool(active[rows].all())
    if not whole or len(rows) % _WARPS or (warp % _WARPS != np.arange(len(rows)) % _WARPS).any():
        raise KernelFault(
            f"{at.opcode.text} ({at.where}) is executed by part of a warpgroup only, "
            f"{g.who(g.first_active())}: all 128 threads of four neighbouring warps, the first of "
            "them a multiple of 4, have to come to it together"
        )
    found = rows.reshape(-1, _WARPS)
    return Warpgroups(found, numbers[found[:, 0]] // per_block, len(numbers))


def together(site: Site) -> Callable[[Group], bool]:
    """A check that no running lane of the warpgroups of a group is elsewhere."""

    def check(g: Group) -> bool:
        layout, running = g.layout, g.machine.running
        per_block = layout.threads // LANES
        active = layout.present if g.mask is None else warp_rows(g, g.mask)
        numbers = layout.warp_numbers()
        here = np.zeros((layout.blocks * per_block, LANES), bool)
        here[numbers] = True if active is None else active
        alive = running.rows(g.machine.layout)
        group = (
            np.arange(len(here)) // per_block * per_block + np.arange(len(here)) % per_block // 4
        )
        missing = (alive & ~here).any(axis=1)
        return not np.isin(group[missing], group[here.any(axis=1)]).any()

    return check


@dataclass(frozen=True)
class InShared:
    """A or B where a descriptor says: `lines` are m or n, `turned` when k goes across lines."""

    read: Reader
    lines: int
    bits: int
    turned: bool
    at: Instruction

    def __call__(self, g: Group, groups: Warpgroups) -> Array:
        """(G, m or n, k) the bits of its elements."""
        described = Descriptor.of(groups.first(g, self.read))
        if self.turned:
            address = described.pieces(self.lines * self.bits // 8 // PIECE, 16, along=False)
        else:
            address = described.pieces(self.lines, _BYTES // PIECE, along=True)
        raw = _pieces_at(g, groups, address, self.at)
        if self.bits == 1:
            return np.unpackbits(raw, axis=2, bitorder="little")
        lines = raw.view(f"u{self.bits // 8}")
        return lines.transpose(0, 2, 1) if self.turned else lines


def _pieces_at(g: Group, groups: Warpgroups, address: I64, at: Instruction) -> Array:
    """(G, lines, bytes) what lies at addresses (G, lines, pieces) of shared memory."""
    shared = g.machine.memory.shared
    if address.size and int(address.max()) + PIECE > shared.size:
        raise KernelFault(
            f"{at.opcode.text} ({at.where}) reads {PIECE} bytes at {int(address.max()):#x} of "
            f"shared memory, which has {shared.size:,} bytes, {g.who(g.first_active())}: look at "
            "the strides of the matrix descriptor"
        )
    if g.machine.told.transfer:
        _tell(g, groups, address, at)
    cells = shared.cells.of(8)
    index = (address >> 3) + (groups.block * (shared.stride >> 3))[:, None, None]
    words = np.stack([cells.take(index), cells.take(index + 1)], axis=3)
    return np.ascontiguousarray(words).view(np.uint8).reshape(*address.shape[:2], -1)


def _tell(g: Group, groups: Warpgroups, address: I64, at: Instruction) -> None:
    """Tell sinks what a warpgroup reads, in the name of its first thread."""
    layout, each = g.layout, address[0].size
    first = layout.warp_numbers()[groups.rows[:, 0]] * LANES + layout.first_block * layout.threads
    none = np.full(address.size, -1)
    read = Transfer(
        Place.of(at),
        at.opcode.text,
        "product",
        first.repeat(each),
        (groups.block + layout.first_block).repeat(each),
        address.reshape(-1),
        np.full(address.size, PIECE),
        none,
        none,
    )
    for hear in g.machine.told.transfer:
        hear(read)


def _multiply(site: Site) -> Step:
    mods = site.mods
    shape = next((found for mod in mods if (found := _SHAPE.match(mod))), None)
    kinds = [mod for mod in mods if mod in BITS]
    if shape is None or len(kinds) != 3 or "sp" in mods:
        raise site.unsupported("this shape of matrices")
    result, first, second = kinds
    bits, columns, inner = BITS[first], int(shape[1]), int(shape[2])
    if _INNER.get(bits) != inner or columns % 8 or columns > _MOST or BITS[second] != bits:
        raise site.unsupported("this shape of matrices")
    target, a, b, *scales = site.operands
    in_registers = isinstance(a, Vec)
    flags = _immediates(site, scales[1:])
    floating = result in ("f32", "f16")
    negative = [floating and flags[n : n + 1] == [-1] for n in range(2)]
    turns = flags[2:] if bits == 16 else []
    turn_a, turn_b = (False, *map(bool, turns))[-2:] if turns else (False, False)
    made = wide_total(16, columns, BITS[result])
    total = _registers(site, target, made)
    sums = tuple(site.reader(o, f"b{made.container}") for o in total)
    puts = site.writers(target, (f"b{made.container}",) * len(total))
    on = site.reader(scales[0], "pred") if scales else None
    right_side = InShared(site.reader(b, "b64"), columns, bits, turn_b, site.instruction)
    left_side: Callable[[Group, Warpgroups], Array]
    if in_registers:
        fragment = left(16, inner, bits)
        readers = tuple(site.reader(o, "b32") for o in _registers(site, a, fragment))

        def left_side(g: Group, groups: Warpgroups) -> Array:
            return fragment.matrix(groups.gather(g, readers)).reshape(-1, 64, inner)

    else:
        left_side = InShared(site.reader(a, "b64"), 64, bits, turn_a, site.instruction)
    multiply = product(rule_of(mods, (first, second, result), _adder(first)))
    at = site.instruction

    def step(g: Group) -> None:
        groups = warpgroups(g, at)
        c = made.matrix(groups.gather(g, sums)).reshape(-1, 64, columns)
        if on is not None:
            c = np.where(groups.first(g, on)[:, None, None], c, c.dtype.type(0))
        x, y = left_side(g, groups), right_side(g, groups).transpose(0, 2, 1)
        x, y = (_negated(m, bits) if n else m for m, n in zip((x, y), negative, strict=True))
        held = made.hold(multiply(x, y, c).reshape(-1, 16, columns))
        for number, put in enumerate(puts):
            put(g, groups.scatter(g, held[:, :, number]))

    return step


def _adder(kind: str) -> Adder:
    return Adder(13, cut=10) if kind in ("e4m3", "e5m2") else Adder(25)


def _negated(matrix: Array, bits: int) -> Array:
    return np.asarray(matrix ^ matrix.dtype.type(1 << (bits - 1)))


def _immediates(site: Site, operands: list[Operand]) -> list[int]:
    if not all(isinstance(o, Imm) for o in operands):
        raise site.unsupported("a scale or a transposition that is not a constant")
    return [o.value for o in operands if isinstance(o, Imm)]


def _registers(site: Site, operand: Operand, fragment: Fragment) -> tuple[Operand, ...]:
    found = items(operand)
    if len(found) != fragment.registers:
        raise site.unsupported(f"a matrix in {len(found)} registers")
    return found


def _any(site: Site) -> Step | None:
    if site.mods[0] == "fence":
        return None
    if site.mods[0] in ("commit_group", "wait_group"):
        return group_of_transfers(site, "product")
    if site.mods[0] != "mma_async":
        raise site.unsupported("this form")
    return _multiply(site)


STEPS: dict[str, Builder] = {"wgmma": _any}
