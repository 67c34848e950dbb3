"""PTX memory instructions as accesses: a base nobody knows, an offset from it, bytes a lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuviz.ptx.text.flow import Span
from gpuviz.ptx.text.ir import Function, Instruction, items
from gpuviz.ptx.text.isa import MATRIX_ROWS, kind_of, value_of
from gpuviz.ptx.text.stream import type_bytes
from gpuviz.sass.listing import SassInstruction
from gpuviz.sass.merge import Piece
from gpuviz.sass.shape import is_memory
from gpuviz.sass.symbolic import Terms, Values

_SPACES = ("global", "shared", "local")


@dataclass(frozen=True)
class Access:
    """A PTX memory instruction: its block, its base, and where it lies from there."""

    instruction: Instruction
    block: int
    terms: Terms
    piece: Piece

    @property
    def pc(self) -> int:
        """The place of the instruction in the program."""
        return self.instruction.pc

    @property
    def line(self) -> int:
        """The line of the PTX text it stands in."""
        return self.instruction.ptx_line


def accesses_of(function: Function, span: Span, block: int, values: Values) -> list[Access]:
    """The accesses of one basic block, in program order."""
    forms = values.addresses(block)
    return [
        Access(
            i, block, forms[i.pc].terms, Piece(i.pc, i.ptx_line, forms[i.pc].constant, width_of(i))
        )
        for i in function.body[span.start : span.end]
        if is_memory(i) and i.pc in forms
    ]


def width_of(instruction: Instruction) -> int:
    """Bytes per lane of a PTX memory instruction."""
    name, mods = instruction.opcode.name, instruction.opcode.mods
    if name == "cp":
        size = instruction.operands[2]
        return int(getattr(size, "value", 4))
    if name in MATRIX_ROWS:
        return 16  # a lane names a row; what it gets is of other lanes' rows
    value = value_of(instruction)
    count = len(items(value))
    return count * (16 if mods[-1] == "b128" else type_bytes(mods[-1]))


def by_base(members: Sequence[Access]) -> list[list[Access]]:
    """Accesses of one kind to one base in one block, in program order."""
    found: dict[tuple[object, ...], list[Access]] = {}
    for member in members:
        opcode = member.instruction.opcode
        key = (
            member.block,
            member.terms,
            opcode.name,
            "shared" in opcode.text,
            "local" in opcode.text,
        )
        found.setdefault(key, []).append(member)
    return list(found.values())


def may_be(sass: SassInstruction, instruction: Instruction) -> bool:
    """Whether machine code on the line of a PTX instruction may be its access."""
    if sass.memory is None or sass.spill:
        return False
    kind = kind_of(instruction)
    spaces = {m.partition("::")[0] for m in instruction.opcode.mods}
    known = sass.memory.space if sass.memory.space in _SPACES else ""
    if kind in ("load", "store") and kind != sass.memory.op:
        return False
    return (
        not known
        or known in spaces
        or kind not in ("load", "store")
        or spaces.isdisjoint((*_SPACES, "const"))
    )
