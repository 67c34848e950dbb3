"""`mov`: between registers, and packing and unpacking of their parts; addresses of a state space
made generic, and back.
"""

import numpy as np

from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.cluster import mapped, split
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.spaces import BASES, WINDOW
from gpuviz.ptx.simt.values import constant, container
from gpuviz.ptx.text.ir import Operand, Vec


def _move(site: Site) -> Step:
    target, source = site.operands
    if isinstance(target, Vec) and isinstance(source, Vec):
        return _move_list(site, target, source)
    if site.kind == "b128":
        raise site.unsupported("a 128-bit register")
    if isinstance(target, Vec):
        return _unpack(site, target, source)
    if isinstance(source, Vec):
        return _pack(site, target, source)
    read, write = site.reader(source, site.kind), site.writer(target, site.kind)
    return lambda g: write(g, read(g))


def _move_list(site: Site, target: Vec, source: Vec) -> Step:
    """Lists on both sides: element by element (b128 is two b64)."""
    part = "b64" if site.kind == "b128" else site.kind
    moves = [
        (site.reader(s, part), site.writer(t, part))
        for t, s in zip(target.items, source.items, strict=True)
    ]

    def step(g: Group) -> None:
        values = [read(g) for read, _ in moves]
        for (_, write), value in zip(moves, values, strict=True):
            write(g, value)

    return step


def _part_kind(kind: str, count: int) -> str:
    return f"b{8 * container(kind).itemsize // count}"


def _unpack(site: Site, target: Vec, source: Operand) -> Step:
    """`mov.b64 {lo, hi}, wide`: low part first."""
    part = _part_kind(site.kind, len(target.items))
    dtype = container(part)
    width = container(site.kind).type(8 * dtype.itemsize)
    read = site.reader(source, site.kind)
    puts = site.writers(target, (part,) * len(target.items))

    def step(g: Group) -> None:
        value = read(g)
        for i, put in enumerate(puts):
            put(g, (value >> (width * width.dtype.type(i))).astype(dtype))

    return step


def _pack(site: Site, target: Operand, source: Vec) -> Step:
    """`mov.b64 wide, {lo, hi}`: low part first."""
    part = _part_kind(site.kind, len(source.items))
    dtype = container(site.kind)
    width = dtype.type(8 * container(part).itemsize)
    readers = [site.reader(o, part) for o in source.items]
    write = site.writer(target, site.kind)

    def step(g: Group) -> None:
        value = readers[0](g).astype(dtype)
        for i, read in enumerate(readers[1:], 1):
            value = value | (read(g).astype(dtype) << (width * width.dtype.type(i)))
        write(g, value)

    return step


def _cvta(site: Site) -> Step:
    base = constant(BASES[space_named(site.mods)], site.kind)
    target, source = site.operands[:2]
    read, write = site.reader(source, site.kind), site.writer(target, site.kind)
    if not int(base[0]):
        return lambda g: write(g, read(g))
    if "to" in site.mods:
        return lambda g: write(g, read(g) - base)
    return lambda g: write(g, read(g) + base)


def _isspacep(site: Site) -> Step:
    base = BASES[space_named(site.mods)]
    target, source = site.operands
    read, write = site.reader(source, "u64"), site.writer(target, "pred")
    low = np.uint64(base or BASES["param"] + WINDOW)
    high = np.uint64(base + WINDOW if base else (1 << 64) - 1)

    cluster = site.program.cluster
    own = cluster.size > 1 and "shared::cta" in site.mods

    def step(g: Group) -> None:
        address = read(g)
        inside = (address >= low) & (address < high)
        if own:
            rank = cluster.rank(g.layout.row + g.layout.first_block)
            inside &= split((address & np.uint64(WINDOW - 1)).astype(np.int64))[0] == rank
        write(g, inside)

    return step


def _mapa(site: Site) -> Step:
    """The same place in the shared memory of another block of the cluster."""
    target, source, which = site.operands
    read, rank = site.reader(source, site.kind), site.reader(which, "u32")
    write = site.writer(target, site.kind)
    if site.program.cluster.size == 1:
        return lambda g: write(g, read(g))
    return lambda g: write(g, mapped(read(g), rank(g)))


def _getctarank(site: Site) -> Step:
    """The rank in its cluster of the block that an address belongs to."""
    read, write = site.reader(site.operands[1], site.kind), site.writer(site.operands[0], "u32")
    if not space_named(site.mods):
        read = site.reader(site.operands[1], "u64")

    def step(g: Group) -> None:
        rank, _ = split((read(g) & 0xFFFFFFFF).astype(np.int64))
        write(g, rank.astype(np.uint32))

    return step


STEPS: dict[str, Builder] = {
    "mov": _move,
    "cvta": _cvta,
    "isspacep": _isspacep,
    "mapa": _mapa,
    "getctarank": _getctarank,
}
