"""A function made ready to run: every instruction decoded once into a step, in basic blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gpuviz.ptx.simt.flow import Span, spans, visiting_order
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.text.ir import Addr, Function, Imm, Instruction, Sym, Vec
from gpuviz.ptx.text.stream import type_bytes

Step = Callable[[Group], None]
End = Callable[[Group], None]
Slot = tuple[str, int, int]  # parameter variable, byte offset, bytes

CONTROL = frozenset({"bra", "brx", "ret", "exit", "trap", "call", "bar", "barrier", "brkpt"})
SYNCHRONISED = frozenset({"shfl", "vote", "match", "redux", "elect"})


@dataclass(frozen=True)
class Block:
    """A basic block: its steps, and what happens at its end (None: fall through)."""

    steps: tuple[Step, ...]
    end: End | None
    count: int  # instructions, the end included
    first: Instruction
    members: Callable[[Group], bool] | None = None  # are all lanes here that must be?
    lines: tuple[int, ...] = ()  # of the CUDA source, each once


@dataclass
class FunctionCode:
    """A decoded function. `rank` orders its blocks; `slots` are registers for its parameters."""

    index: int
    function: Function
    registers: list[str]
    blocks: list[Block] = field(default_factory=list)
    rank: list[int] = field(default_factory=list)
    label_block: dict[str, int] = field(default_factory=dict)
    slots: dict[Slot, int] = field(default_factory=dict)
    local_offset: dict[str, int] = field(default_factory=dict)
    local_size: int = 0
    kept_places: list[Callable[[], None]] = field(default_factory=list)

    def forget_places(self) -> None:
        """Memory has moved: cell indices that instructions keep are no longer right."""
        for forget in self.kept_places:
            forget()

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.name


def ends_block(instruction: Instruction) -> bool:
    """Whether a basic block ends with this instruction."""
    return is_control(instruction)


def is_control(instruction: Instruction) -> bool:
    """Branches, calls, returns and block-wide barriers; not `bar.warp.sync`."""
    opcode = instruction.opcode
    return opcode.name in CONTROL and "warp" not in opcode.mods


def is_synchronised(instruction: Instruction) -> bool:
    """Whether the lanes named by a member mask must arrive together."""
    opcode = instruction.opcode
    return (
        opcode.name in SYNCHRONISED
        and "sync" in opcode.mods
        or (opcode.name in ("bar", "barrier") and "warp" in opcode.mods)
    )


def polls(instruction: Instruction) -> bool:
    """Whether it reads memory as a loop does that waits for others to write there."""
    opcode = instruction.opcode
    if opcode.name == "ld":
        return any(m in opcode.mods for m in ("volatile", "acquire", "relaxed", "mmio"))
    return opcode.name == "nanosleep" or (
        opcode.name == "atom"
        and ("add" in opcode.mods or "or" in opcode.mods)
        and instruction.operands[2] == Imm(0)
    )


def layout(function: Function, index: int) -> tuple[FunctionCode, tuple[Span, ...]]:
    """Registers, parameter slots, local variables and basic blocks of a function, undecoded."""
    cut = _cut_before_synchronised(function)
    code = FunctionCode(index, function, list(function.registers))
    _place_slots(code)
    _place_locals(code)
    blocks = spans(cut, ends_block)
    code.rank = visiting_order(blocks)
    starts = {span.start: n for n, span in enumerate(blocks)}
    code.label_block = {name: starts[at] for name, at in function.labels.items() if at in starts}
    return code, blocks


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


def param_accesses(instruction: Instruction) -> list[Slot]:
    """The parts of parameter variables an ld.param or st.param touches."""
    opcode = instruction.opcode
    if opcode.name not in ("ld", "st") or not any(m.startswith("param") for m in opcode.mods):
        return []
    address = next((o for o in instruction.operands if isinstance(o, Addr)), None)
    if address is None or not isinstance(address.base, Sym):
        return []
    size = type_bytes(opcode.mods[-1])
    value = instruction.operands[0 if opcode.name == "ld" else 1]
    count = len(value.items) if isinstance(value, Vec) else 1
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
