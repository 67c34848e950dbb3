"""`mov`: between registers, and packing and unpacking of their parts."""

from __future__ import annotations

from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.values import container
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


STEPS: dict[str, Builder] = {"mov": _move}
