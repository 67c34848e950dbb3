"""Registers that a device function saves when it is called, and restores before it returns.

A function that is called keeps what its caller has in the registers R16 to R31 in local memory:

    $k$_Z5stepsii:                     BSYNC B6;
    VIADD R1, R1, 0xfffffff0;          LDL R20, [R1+0x8];
    STL [R1+0xc], R21;                 LDL R21, [R1+0xc];
    STL [R1+0x8], R20;                 RET.REL.NODEC R20;

PTX has nothing of it. So the stores are put before the first PTX instruction of the function and
the loads before its `ret`: emulating it gives the requests, of the lanes that were called.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpuviz.ptx.text.ir import Addr, Function, Imm, Instruction, Opcode, Reg, Sym, Variable, Vec
from gpuviz.sass.flow import SassBlock, name_of
from gpuviz.sass.listing import Listing, SassInstruction

_STACK, _NAME = "R1", "__frame"
_TYPES = {4: ("b32",), 8: ("b64",), 16: ("v4", "b32")}


def framed(
    function: Function, listing: Listing, code: Sequence[SassBlock], next_pc: int
) -> Function:
    """The function with the saving and restoring of registers; pcs count from `next_pc`."""
    own = _blocks(function, listing, code)
    returns = [n for n, i in enumerate(function.body) if i.opcode.name == "ret"]
    local = any("local" in i.opcode.mods for i in function.body)
    if function.entry or not own or local or returns != [len(function.body) - 1]:
        return function
    saved = _moves(own[0], "store")
    restored = [i for b in own if name_of(b.instructions[-1]) == "RET" for i in _moves(b, "load")]
    if not saved or len(saved) != len(restored):
        return function
    made = list(_made(saved + restored, len(function.registers), next_pc))
    first, last = made[: len(saved)], made[len(saved) :]
    size = max(i.memory.offset + i.memory.width for i in saved + restored if i.memory)
    return replace(
        function,
        body=(*first, *function.body[:-1], *last, function.body[-1]),
        labels={name: at + len(first) for name, at in function.labels.items()},
        registers=(*function.registers, "b32", "b64"),
        variables=(*function.variables, Variable(_NAME, "local", "b8", 16, -(-size // 16) * 16)),
    )


def _blocks(function: Function, listing: Listing, code: Sequence[SassBlock]) -> list[SassBlock]:
    """The blocks of machine code from the function's label to the next function's."""
    starts = sorted(at for at, name in listing.labels.items() if name.startswith("$"))
    start = next((at for at in starts if listing.labels[at].endswith(f"${function.name}")), None)
    if start is None:
        return []
    end = next((at for at in starts if at > start), listing.instructions[-1].address + 1)
    return [b for b in code if start <= b.instructions[0].address < end]


def _moves(block: SassBlock, op: str) -> list[SassInstruction]:
    """Loads or stores of a block that go by the stack pointer."""
    return [
        i
        for i in block.instructions
        if i.memory is not None
        and (i.memory.space, i.memory.op, i.memory.base) == ("local", op, _STACK)
        and not i.spill
        and not i.guard
    ]


def _made(found: Sequence[SassInstruction], register: int, pc: int) -> Iterator[Instruction]:
    """PTX instructions that access what the machine code's do, on the lines that it names."""
    for number, sass in enumerate(found):
        memory = sass.memory
        assert memory is not None
        kind = _TYPES[memory.width]
        place = Addr(Sym(_NAME), memory.offset)
        count = 4 if memory.width == 16 else 1
        value: Reg | Imm = Imm(0)
        if memory.op == "load":
            value = Reg(register + (kind == ("b64",)), kind[-1], "%frame")
        operand = value if count == 1 else Vec((value,) * count)
        name, operands = (
            ("ld", (operand, place)) if memory.op == "load" else ("st", (place, operand))
        )
        opcode = Opcode(name, ("local", *kind))
        yield Instruction(pc + number, opcode, operands, None, sass.line, sass.ptx_line)
