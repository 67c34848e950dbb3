"""Parameters: of kernels (constant for all threads) and of device functions (registers)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.memory import load_step, store_step
from gpuviz.ptx.decode.operands import Builder, Reader, Site
from gpuviz.ptx.decode.outline import param_accesses
from gpuviz.ptx.simt.code import FunctionCode, Slot, Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.values import container
from gpuviz.ptx.text.ir import Addr, Sym, Vec


def slot_reader(code: FunctionCode, slot: Slot) -> Reader:
    """The value of a part of a parameter, put together from smaller parts where need be."""
    if slot in code.slots:
        index = code.slots[slot]
        return lambda g: g.regs[index]
    name, offset, size = slot
    found = {o: (n, i) for (v, o, n), i in code.slots.items() if v == name}
    dtype = container(f"b{8 * size}")
    pieces = [
        (o - offset, i) for o, (n, i) in found.items() if o < offset + size and o + n > offset
    ]

    def read(g: Group) -> Array:
        value: Array = np.zeros(1, np.uint64)
        for at, index in pieces:
            part = g.regs[index].astype(np.uint64)
            value = value | (part << np.uint64(8 * at) if at >= 0 else part >> np.uint64(-8 * at))
        return value.astype(dtype)

    return read


def _load(site: Site) -> Step:
    """`ld`, `ldu`."""
    if space_named(site.mods) != "param":
        return load_step(site)
    target, address = site.operands[:2]
    assert isinstance(address, Addr)
    if site.code.function.entry and (
        not isinstance(address.base, Sym) or address.base.name in site.program.parameter_offset
    ):
        return _kernel_param(site)
    if not isinstance(address.base, Sym):
        raise site.unsupported("the address of a function's parameter")
    slots = param_accesses(site.instruction)
    readers = [slot_reader(site.code, slot) for slot in slots]
    puts = site.writers(target, (site.kind,) * len(slots))
    loads = list(zip(puts, readers, strict=True))

    def step(g: Group) -> None:
        for put, read in loads:
            put(g, read(g))

    return step


def _kernel_param(site: Site) -> Step:
    """Parameters of the kernel are the same for all threads: read when decoded."""
    target, address = site.operands[:2]
    assert isinstance(address, Addr)
    if not isinstance(address.base, Sym):
        return load_step(site)
    dtype = container(site.kind)
    start = site.program.parameter_offset[address.base.name] + address.offset
    count = len(target.items) if isinstance(target, Vec) else 1
    content = site.program.parameters.cells.bytes.tobytes()
    values = [np.frombuffer(content, dtype, 1, start + i * dtype.itemsize) for i in range(count)]
    puts = site.writers(target, (site.kind,) * count)

    def step(g: Group) -> None:
        for put, value in zip(puts, values, strict=True):
            put(g, value)

    return step


def _store(site: Site) -> Step:
    """`st`; to a parameter: an argument of a call, or a return value."""
    if space_named(site.mods) != "param":
        return store_step(site)
    source = site.operands[1]
    items = source.items if isinstance(source, Vec) else (source,)
    readers = [site.reader(o, site.kind) for o in items]
    targets = [_slot_indices(site.code, slot) for slot in param_accesses(site.instruction)]
    stores = list(zip(readers, targets, strict=True))

    def step(g: Group) -> None:
        for read, parts in stores:
            value = read(g)
            for index, shift, dtype in parts:
                part = value if shift is None else (value >> shift).astype(dtype)
                g.write(index, part)

    return step


def _slot_indices(code: FunctionCode, slot: Slot) -> list[tuple[int, Any, Any]]:
    """Where a stored value goes: its own slot, or the byte slots it covers."""
    if slot in code.slots:
        return [(code.slots[slot], None, None)]
    name, offset, size = slot
    dtype = container(f"b{8 * size}")
    return [(code.slots[name, offset + i, 1], dtype.type(8 * i), np.uint8) for i in range(size)]


STEPS: dict[str, Builder] = {"ld": _load, "ldu": _load, "st": _store}
