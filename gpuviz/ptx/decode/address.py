"""Conversions between addresses of a state space and generic ones."""

from __future__ import annotations

import numpy as np

from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.cluster import mapped, split
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.spaces import BASES, WINDOW
from gpuviz.ptx.simt.values import constant


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
    "cvta": _cvta,
    "isspacep": _isspacep,
    "mapa": _mapa,
    "getctarank": _getctarank,
}
