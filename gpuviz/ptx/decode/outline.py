"""A function before its instructions are decoded: registers, parameters, variables, blocks."""

from gpuviz.base.errors import LaunchError
from gpuviz.ptx.simt.code import FunctionCode, Slot
from gpuviz.ptx.simt.spaces import LocalMemory
from gpuviz.ptx.text.flow import Span, spans, visiting_order
from gpuviz.ptx.text.ir import Addr, Function, Instruction, Sym, items
from gpuviz.ptx.text.isa import kind_of, value_of
from gpuviz.ptx.text.stream import type_bytes

_SIDES = 2  # of an access: an address, a value


def outline(function: Function, index: int) -> tuple[FunctionCode, tuple[Span, ...]]:
    """The code of a function without its blocks, and the instructions of each block."""
    code = FunctionCode(index, function, list(function.registers))
    _place_slots(code)
    _place_locals(code)
    blocks = spans(_cut_before_synchronised(function))
    code.rank = visiting_order(blocks)
    starts = {span.start: n for n, span in enumerate(blocks)}
    code.label_block = {name: starts[at] for name, at in function.labels.items() if at in starts}
    return code, blocks


def is_synchronised(instruction: Instruction) -> bool:
    """Whether the lanes named by a member mask, or a warpgroup, must arrive together."""
    opcode = instruction.opcode
    return (
        (kind_of(instruction) == "together" and "sync" in opcode.mods)
        or (kind_of(instruction) == "barrier" and "warp" in opcode.mods)
        or (opcode.name == "wgmma" and "mma_async" in opcode.mods)
    )


def _cut_before_synchronised(function: Function) -> Function:
    """The function with a label before each synchronised instruction, so that a block starts there.

    Lanes that arrive early wait at the start of that block for the others.
    """
    extra = {
        f"#{i}": i for i, instruction in enumerate(function.body) if is_synchronised(instruction)
    }
    return Function(**{**function.__dict__, "labels": {**function.labels, **extra}})


def _place_locals(code: FunctionCode) -> None:
    for variable in code.function.variables:
        if variable.space == "local":
            start = -(-code.local_size // variable.align) * variable.align
            code.local_offset[variable.name] = start
            code.local_size = start + variable.size
    code.local_size = -(-code.local_size // 16) * 16
    if code.local_size > LocalMemory.LIMIT:
        raise LaunchError(
            f"the local variables of {code.name} take {code.local_size:,} bytes a thread: there "
            f"are {LocalMemory.LIMIT:,}"
        )


def param_accesses(instruction: Instruction) -> list[Slot]:
    """The parts of parameter variables an ld.param or st.param touches."""
    opcode = instruction.opcode
    if opcode.name not in ("ld", "st") or not any(m.startswith("param") for m in opcode.mods):
        return []
    address = next((o for o in instruction.operands if isinstance(o, Addr)), None)
    if address is None or not isinstance(address.base, Sym):
        return []
    if len(instruction.operands) < _SIDES:
        return []
    size = type_bytes(opcode.mods[-1])
    value = value_of(instruction)
    count = len(items(value))
    return [(address.base.name, address.offset + i * size, size) for i in range(count)]


def _place_slots(code: FunctionCode) -> None:
    """One register for each part of a parameter; single bytes where parts overlap unevenly."""
    parts: dict[str, set[tuple[int, int]]] = {}
    for instruction in code.function.body:
        for name, offset, size in param_accesses(instruction):
            parts.setdefault(name, set()).add((offset, size))
    for name, found in parts.items():
        ordered = sorted(found)
        clash = any(a + n > b for (a, n), (b, _) in zip(ordered, ordered[1:], strict=False))
        if clash:
            ordered = sorted({(o + i, 1) for o, n in ordered for i in range(n)})
        for offset, size in ordered:
            code.slots[name, offset, size] = len(code.registers)
            code.registers.append(f"b{8 * size}")
