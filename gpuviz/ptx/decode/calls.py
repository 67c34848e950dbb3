"""Calls of device functions, directly or through a pointer, and of CUDA's built-in ones.

Parameters are those of kernels (constant for all threads) and of device functions (registers)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.memory import load_step, store_step
from gpuviz.ptx.decode.operands import Builder, Reader, Site
from gpuviz.ptx.decode.outline import param_accesses
from gpuviz.ptx.simt.builtins import BUILTINS
from gpuviz.ptx.simt.code import FunctionCode, Slot, Step
from gpuviz.ptx.simt.group import Call, Group
from gpuviz.ptx.simt.values import adapter, container
from gpuviz.ptx.text.ir import Addr, Function, Imm, Operand, Reg, Sym, Variable, Vec, items
from gpuviz.traces.observe import Place


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
    count = len(items(target))
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
    readers = [site.reader(o, site.kind) for o in items(site.operands[1])]
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


def call_end(site: Site) -> Step:
    """What a call does."""
    results, target, arguments = _parts(site.operands)
    if not all(isinstance(result, Reg | Sym) for result in results) or not all(
        isinstance(argument, Reg | Imm | Sym) for argument in arguments
    ):
        raise site.unsupported("what is passed by this call")
    if isinstance(target, Reg):
        return _indirect(site, results, target, arguments)
    assert isinstance(target, Sym)
    callee = site.program.module.by_name.get(target.name)
    if callee is not None and callee.defined:
        return _direct(site, results, callee, arguments)
    builtin = BUILTINS.get(target.name)
    if builtin is None:
        raise site.unsupported(f"the function {target.name}, which has no body here,")
    following = site.following
    readers = [_whole(a, site) for a in arguments]
    puts = [_result_slots(r, site.code) for r in results]

    place = Place.of(site.instruction)
    kind = "failed assertion" if target.name == "__assertfail" else "fault"

    def call(g: Group) -> None:
        try:
            value = builtin(g, place, *[read(g) for read in readers])
        except KernelFault as fault:
            at, lane = site.instruction, g.first_active()
            raise g.fault("launch", kind, str(fault), at, lane, "") from None
        if puts and value is not None:
            for index, _ in puts[0]:
                g.write(index, value)
        g.move(following)

    return call


def _parts(operands: Sequence[Operand]) -> tuple[Sequence[Operand], Operand, Sequence[Operand]]:
    """`call (results), target, (arguments), prototype;` with the lists optional."""
    first, *rest = operands
    results: Sequence[Operand] = ()
    if isinstance(first, Vec):
        results, (first, *rest) = first.items, rest
    return results, first, rest[0].items if rest and isinstance(rest[0], Vec) else ()


def _whole(argument: Operand, site: Site) -> Reader:
    """All bytes of an argument of a built-in function, at most eight."""
    if isinstance(argument, Reg | Imm):
        return site.reader(argument, argument.type if isinstance(argument, Reg) else "b64")
    assert isinstance(argument, Sym)
    size = max((o + n for (name, o, n) in site.code.slots if name == argument.name), default=4)
    return slot_reader(site.code, (argument.name, 0, 8 if size > 4 else 4))


def _result_slots(result: Operand, code: FunctionCode) -> list[tuple[int, Slot]]:
    """Registers of the caller that hold the parts of a result."""
    if isinstance(result, Reg):
        return [(result.index, ("", 0, 0))]
    assert isinstance(result, Sym)
    return [(index, slot) for slot, index in code.slots.items() if slot[0] == result.name]


def _argument(argument: Operand, slot: Slot, site: Site) -> Reader:
    """The part of an argument that a slot of the callee wants."""
    _, offset, size = slot
    if isinstance(argument, Sym):
        return slot_reader(site.code, (argument.name, offset, size))
    return site.reader(argument, f"b{8 * size}")


def _direct(
    site: Site, results: Sequence[Operand], callee: Function, arguments: Sequence[Operand]
) -> Step:
    plans: list[_Transfer] = []

    def call(g: Group) -> None:
        if not plans:  # decoded at the first call: functions may call each other in circles
            plans.append(_transfer(site, results, site.decoded(callee), arguments))
        plans[0].enter(g, site)

    return call


class _Transfer:
    """How arguments and results cross one call."""

    def __init__(
        self, target: FunctionCode, into: list[tuple[int, Reader]], back: list[tuple[int, Reader]]
    ) -> None:
        self.target = target
        self.into = into
        self.back = back

    def enter(self, g: Group, site: Site) -> None:
        """Move a group into the callee."""
        values = [read(g) for _, read in self.into]
        caller = g.code
        recursive = caller is self.target or any(c.code is self.target for c in g.stack)
        rank = caller.rank[g.block]
        g.stack.append(Call(caller, site.following, rank, g.local_base, None, self._results))
        g.local_base += caller.local_size
        g.enter(self.target)
        if recursive:
            g.stack[-1].saved = [g.regs[i] for i in range(len(g.regs))]
        top = g.local_base + self.target.local_size
        g.machine.memory.reserve_local(g, top, site.instruction)
        for (index, _), value in zip(self.into, values, strict=True):
            g.write(index, value)
        g.move(0)

    def _results(self, g: Group, callee: FunctionCode) -> list[tuple[int, Array]]:
        """Read while the callee's registers are still current."""
        return [(index, read(g)) for index, read in self.back]


def _transfer(
    site: Site, results: Sequence[Operand], target: FunctionCode, arguments: Sequence[Operand]
) -> _Transfer:
    into: list[tuple[int, Reader]] = []
    for parameter, argument in zip(target.function.params, arguments, strict=False):
        for slot, index in target.slots.items():
            if slot[0] == parameter.name:
                into.append((index, _argument(argument, slot, site)))
    back: list[tuple[int, Reader]] = []
    for result, returned in zip(results, target.function.returns, strict=False):
        for index, slot in _result_slots(result, site.code):
            back.append((index, _returned(result, slot, returned, target)))
    return _Transfer(target, into, back)


def _returned(result: Operand, slot: Slot, returned: Variable, target: FunctionCode) -> Reader:
    if not isinstance(result, Reg):
        return slot_reader(target, (returned.name, slot[1], slot[2]))
    read = slot_reader(target, (returned.name, 0, returned.size))
    adapt = adapter(f"b{8 * returned.size}", result.type)
    return read if adapt is None else lambda g: adapt(read(g))


def _indirect(
    site: Site, results: Sequence[Operand], target: Reg, arguments: Sequence[Operand]
) -> Step:
    calls: dict[int, Step] = {}
    read = site.reader(target, "u64")

    def call_at(g: Group, address: int) -> Step:
        if address not in calls:
            callee = site.program.function_at(address)
            if callee is None or not callee.defined:
                raise KernelFault(
                    f"a call through the pointer {address:#x}, which is not a function "
                    f"({site.instruction.where}, {g.who(g.first_active())})"
                )
            calls[address] = _direct(site, results, callee, arguments)
        return calls[address]

    def call(g: Group) -> None:
        for address, part in g.split_by(read(g)):
            call_at(part, address)(part)

    return call
