"""Addresses of PTX memory instructions as a base and a constant offset, within one basic block.

Two accesses whose bases are equal differ by a known number of bytes, whatever registers hold them:
`[%r8+4]`, and `[%r9]` after `add.s32 %r9, %r8, 8`. Sums are taken without regard to overflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuviz.ptx.text.flow import Span
from gpuviz.ptx.text.ir import Addr, Function, Imm, Instruction, Operand, Reg, Sym
from gpuviz.ptx.text.isa import registers_written

Terms = tuple[tuple[str, int], ...]  # atom and factor, sorted; no factor is 0


@dataclass(frozen=True)
class Form:
    """The sum of some atoms times constants, plus a constant."""

    terms: Terms
    constant: int = 0

    def plus(self, other: Form) -> Form:
        """The sum of two forms."""
        found = dict(self.terms)
        for atom, factor in other.terms:
            found[atom] = found.get(atom, 0) + factor
        terms = tuple(sorted((a, f) for a, f in found.items() if f))
        return Form(terms, self.constant + other.constant)

    def times(self, factor: int) -> Form:
        """The form times a constant."""
        terms = tuple((a, f * factor) for a, f in self.terms) if factor else ()
        return Form(terms, self.constant * factor)


def atom(name: str) -> Form:
    """A value nothing is known of but its name."""
    return Form(((name, 1),))


class Values:
    """Forms of registers and addresses in a function's basic blocks.

    A register that a block reads before it writes it is an atom of that block, unless it has a
    single definition, in another block: then it is what that block makes of it.
    """

    def __init__(self, function: Function, blocks: Sequence[Span]) -> None:
        self._body = function.body
        self._blocks = blocks
        self._home = _single_homes(function, blocks)
        self._ends: dict[int, dict[int, Form]] = {}
        self._busy: set[int] = set()

    def addresses(self, block: int) -> dict[int, Form]:
        """Forms of the address operands of one block's instructions, by pc."""
        here: dict[int, Form] = {}
        found: dict[int, Form] = {}
        for instruction in self._instructions(block):
            for operand in instruction.operands:
                if isinstance(operand, Addr):
                    found.setdefault(instruction.pc, self._address(operand, here, block))
            self._execute(instruction, here, block)
        return found

    def end(self, block: int) -> dict[int, Form]:
        """Forms of the registers a block writes, at its end."""
        if block not in self._ends:
            self._busy.add(block)
            here: dict[int, Form] = {}
            for instruction in self._instructions(block):
                self._execute(instruction, here, block)
            self._busy.remove(block)
            self._ends[block] = here
        return self._ends[block]

    def _instructions(self, block: int) -> tuple[Instruction, ...]:
        span = self._blocks[block]
        return self._body[span.start : span.end]

    def _execute(self, at: Instruction, here: dict[int, Form], block: int) -> None:
        written = registers_written(at)
        for register in written:
            known = self._value(at, here, block) if len(written) == 1 else None
            here[register.index] = known or atom(f"pc{at.pc}.{register.index}")

    def _address(self, operand: Addr, here: Mapping[int, Form], block: int) -> Form:
        if operand.base is None:
            return Form((), operand.offset)
        return self.of(operand.base, here, block).plus(Form((), operand.offset))

    def of(self, operand: Operand, here: Mapping[int, Form], block: int) -> Form:
        """The form of a register, a symbol or an integer."""
        if isinstance(operand, Imm):
            return Form((), operand.value) if operand.form == "int" else atom(str(operand))
        if isinstance(operand, Sym):
            return atom(operand.name).plus(Form((), operand.offset))
        if not isinstance(operand, Reg):
            return atom(str(operand))
        if operand.index in here:
            return here[operand.index]
        home = self._home.get(operand.index, block)
        if home == block or home in self._busy:
            return atom(f"{operand.name}@{block}")
        return self.end(home).get(operand.index, atom(operand.name))

    def _value(self, at: Instruction, here: Mapping[int, Form], block: int) -> Form | None:
        """What an instruction writes to its only target; None when that is no plain sum."""
        name, operands = at.opcode.name, at.operands
        if at.guard is not None or _floating(at):
            return None
        found = [self.of(o, here, block) for o in operands[1:]]
        if name in ("mov", "cvta") and len(found) == 1:
            return found[0]
        if name in ("add", "sub") and len(found) == 2:
            return found[0].plus(found[1].times(1 if name == "add" else -1))
        if name == "cvt" and at.opcode.mods[-2:] in (("s64", "s32"), ("u64", "u32")):
            return _widened(found[0])
        return _product(name, at.opcode.mods, found)


def _widened(value: Form) -> Form:
    """A 32-bit value as 64 bits: its terms become one atom, its constant stays a constant."""
    return atom(f"wide{value.terms}").plus(Form((), value.constant))


def _single_homes(function: Function, blocks: Sequence[Span]) -> dict[int, int]:
    """The block that defines a register, for registers with one definition."""
    homes: dict[int, list[int]] = {}
    for number, span in enumerate(blocks):
        for instruction in function.body[span.start : span.end]:
            for register in registers_written(instruction):
                homes.setdefault(register.index, []).append(number)
    return {register: found[0] for register, found in homes.items() if len(found) == 1}


def _product(name: str, mods: tuple[str, ...], found: list[Form]) -> Form | None:
    """shl, mul.lo, mad.lo by a constant; a widening product keeps its operand as one atom."""
    if name == "shl" and not found[1].terms:
        return found[0].times(1 << found[1].constant)
    if name not in ("mul", "mad") or found[1].terms or "hi" in mods:
        return None
    first = _widened(found[0]) if "wide" in mods else found[0]
    product = first.times(found[1].constant)
    return product.plus(found[2]) if name == "mad" else product


def _floating(at: Instruction) -> bool:
    return bool(at.opcode.mods) and at.opcode.mods[-1][0] in "f" or "bf16" in at.opcode.mods
