"""wgmma: four warps multiply matrices that lie in shared memory, A in registers if they like.

What is asynchronous on a GPU is done at once here, so that fences and waits have nothing to do.
Sums are those of mma on Hopper; of 8-bit floats 13 fractional bits stay and a sum keeps 13 bits of
fraction (MMA-Sim; see `gpuviz.ptx.tensor.sums`): 134 launches on an H200 left the same bits.
A sparse A holds half of its elements, and metadata as those of mma.sp, 16 rows a warp: 43 launches.
Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.decode.bulk import group_of_transfers
from gpuviz.ptx.decode.matrices import product, registers_of, selector_of, understood, warp_rows
from gpuviz.ptx.decode.operands import Builder, Reader, Site, by_form
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.fragments import left, wide_total
from gpuviz.ptx.tensor.mma import BITS, metadata_of, rule_of
from gpuviz.ptx.tensor.shared_matrix import PIECE, Descriptor
from gpuviz.ptx.tensor.sums import Adder
from gpuviz.ptx.text.ir import Imm, Instruction, Operand, Vec
from gpuviz.traces.observe import Place, Transfer
from gpuviz.traces.trace import LANES

WARPS = 4  # of a warpgroup


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
    if not whole or len(rows) % WARPS or (warp % WARPS != np.arange(len(rows)) % WARPS).any():
        raise KernelFault(
            f"{at.opcode.text} ({at.where}) is executed by part of a warpgroup only, "
            f"{g.who(g.first_active())}: all 128 threads of four neighbouring warps, the first of "
            "them a multiple of 4, have to come to it together"
        )
    found = rows.reshape(-1, WARPS)
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
    """A or B where a descriptor says: `lines` are m or n, `inner` the elements of k that are held,
    `turned` when k goes across lines.
    """

    read: Reader
    lines: int
    inner: int
    bits: int
    turned: bool
    at: Instruction

    def __call__(self, g: Group, groups: Warpgroups) -> Array:
        """(G, m or n, k) the bits of its elements."""
        described = Descriptor.of(groups.first(g, self.read))
        if self.turned:
            address = described.pieces(
                self.lines * self.bits // 8 // PIECE, self.inner, along=False
            )
        else:
            address = described.pieces(self.lines, self.inner * self.bits // 8 // PIECE, along=True)
        raw = _pieces_at(g, groups, address, self.at)
        if self.bits == 1:
            return np.unpackbits(raw, axis=2, bitorder="little")
        lines = raw.view(f"u{self.bits // 8}")
        return lines.transpose(0, 2, 1) if self.turned else lines


def _pieces_at(g: Group, groups: Warpgroups, address: I64, at: Instruction) -> Array:
    """(G, lines, bytes) what lies at addresses (G, lines, pieces) of shared memory."""
    shared = g.machine.memory.shared
    if address.size and int(address.max()) + PIECE > shared.size:
        rank = "; in a cluster addresses have the block's rank from bit 24 on: keep & 0x3ffff"
        clusters = g.machine.execution.program.cluster.size > 1
        raise KernelFault(
            f"{at.opcode.text} ({at.where}) reads {PIECE} bytes at {int(address.max()):#x} of "
            f"shared memory, which has {shared.size:,} bytes, {g.who(g.first_active())}: look at "
            f"the strides of the matrix descriptor{rank * clusters}"
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


_SHAPE = re.compile(r"m64n(\d+)k(\d+)$")
_ROWS = 64  # of A
_BITS = 256  # of k that a row of A holds, of every type
_MOST = 256  # columns
_Matrices = Callable[[Group, Warpgroups], Array]


@dataclass(frozen=True)
class _Form:
    """One form: its types, rows of B, and how many elements of k a row of A holds of `inner`."""

    kinds: tuple[str, str, str]
    columns: int
    inner: int
    held: int

    @classmethod
    def of(cls, site: Site) -> _Form:
        """As the modifiers say; UnsupportedError where nothing is meant."""
        mods, sparse = site.mods, "sp" in site.mods
        shape = next((found for mod in mods if (found := _SHAPE.match(mod))), None)
        kinds = [mod for mod in mods if mod in BITS]
        columns, inner = (int(shape[1]), int(shape[2])) if shape else (0, 0)
        if len(kinds) != 3 or BITS[kinds[1]] != BITS[kinds[2]] or columns % 8 or columns > _MOST:
            raise site.unsupported("this shape of matrices")
        result, first, second = kinds
        held = _BITS // BITS[first]
        if inner != held * (1 + sparse) or (sparse and first == "b1"):
            raise site.unsupported("this shape of matrices")
        return cls((first, second, result), columns, inner, held)

    @property
    def bits(self) -> int:
        """Of an element of A or B."""
        return BITS[self.kinds[0]]


def _multiply(site: Site) -> Step:
    form, at = _Form.of(site), site.instruction
    target, a, b, *scales = site.operands
    told = (scales.pop(0), scales.pop(0)) if form.inner > form.held else None
    bits, result = form.bits, form.kinds[2]
    flags = _immediates(site, scales[1:])
    floating = result in ("f32", "f16")
    negative = [floating and flags[n : n + 1] == [-1] for n in range(2)]
    turns = flags[2:] if bits == 16 else []
    turn_a, turn_b = (False, *map(bool, turns))[-2:] if turns else (False, False)
    made = wide_total(16, form.columns, BITS[result])
    total = registers_of(site, target, made)
    sums = tuple(site.reader(o, f"b{made.container}") for o in total)
    puts = site.writers(target, (f"b{made.container}",) * len(total))
    on = site.reader(scales[0], "pred") if scales else None
    left_side = _left(site, a, form, turn_a)
    right_side = InShared(site.reader(b, "b64"), form.columns, form.inner, bits, turn_b, at)
    multiply = product(rule_of(site.mods, form.kinds, _adder(form.kinds[0])))
    spread = None if told is None else _spread(site, *told, form)

    def step(g: Group) -> None:
        groups = warpgroups(g, at)
        c = made.matrix(groups.gather(g, sums)).reshape(-1, _ROWS, form.columns)
        if on is not None:
            c = np.where(groups.first(g, on)[:, None, None], c, c.dtype.type(0))
        x, y = left_side(g, groups), right_side(g, groups).transpose(0, 2, 1)
        x, y = (_negated(m, bits) if n else m for m, n in zip((x, y), negative, strict=True))
        if spread is not None:  # each row of A with a B of its own
            x, c = (m.reshape(-1, 1, m.shape[2]) for m in (x, c))
            y = spread(g, groups, y)
        held = made.hold(multiply(x, y, c).reshape(-1, 16, form.columns))
        for number, put in enumerate(puts):
            put(g, groups.scatter(g, held[:, :, number]))

    return step


def _left(site: Site, a: Operand, form: _Form, turned: bool) -> _Matrices:
    """(G, 64, held) the elements of A, in registers or where a descriptor says."""
    if not isinstance(a, Vec):
        return InShared(
            site.reader(a, "b64"), _ROWS, form.held, form.bits, turned, site.instruction
        )
    fragment = left(16, form.held, form.bits)
    readers = tuple(site.reader(o, "b32") for o in registers_of(site, a, fragment))

    def held(g: Group, groups: Warpgroups) -> Array:
        return fragment.matrix(groups.gather(g, readers)).reshape(-1, _ROWS, form.held)

    return held


def _spread(
    site: Site, told: Operand, selector: Operand, form: _Form
) -> Callable[[Group, Warpgroups, Array], Array]:
    """What each row of a sparse A meets of B: (G * 64, held, n) of (G, k, n)."""
    number = selector_of(site, selector)
    metadata = understood(site, metadata_of, form.inner, form.bits, number)
    read = site.reader(told, "b32")

    def met(g: Group, groups: Warpgroups, b: Array) -> Array:
        registers = groups.gather(g, (read,))[:, :, 0]
        return metadata.met(b.repeat(WARPS, axis=0), registers).reshape(-1, form.held, b.shape[2])

    return met


def _adder(kind: str) -> Adder:
    return Adder(13, cut=10) if kind in ("e4m3", "e5m2") else Adder(25)


def _negated(matrix: Array, bits: int) -> Array:
    return np.asarray(matrix ^ matrix.dtype.type(1 << (bits - 1)))


def _immediates(site: Site, operands: list[Operand]) -> list[int]:
    if not all(isinstance(o, Imm) for o in operands):
        raise site.unsupported("a scale or a transposition that is not a constant")
    return [o.value for o in operands if isinstance(o, Imm)]


def _group(site: Site) -> Step:
    return group_of_transfers(site, "product")


_FORMS: dict[str, Builder] = {
    "mma_async": _multiply,
    "commit_group": _group,
    "wait_group": _group,
    "fence": lambda site: None,
}
STEPS: dict[str, Builder] = {"wgmma": by_form(_FORMS)}
