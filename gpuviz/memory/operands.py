"""Which part of its line each memory instruction comes from.

The compiler tells lines alone. So the text is compiled once more with each memory expression on a
line of its own: where that gives the same accesses, their lines there say which is which.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gpuviz.base.errors import Error
from gpuviz.compile import Program, again
from gpuviz.memory.spread import Place, Spread, spread
from gpuviz.ptx.text.ir import Addr, Function, Instruction, Operand, Sym
from gpuviz.ptx.text.isa import ACCESSES, kind_of, registers_in, registers_written, sources
from gpuviz.ptx.text.parser import parse
from gpuviz.source.kernel_names import source_parameters

Operands = Mapping[int, Place]
"""By line of the PTX text; what comes from nowhere in the source is left out."""

_DEEP = 64  # instructions that an address is followed back through


def operands_of(program: Program) -> Operands:
    """The operands of a program's memory instructions.

    None are known without a source, or where the text does not compile spread out; those of lines
    that it makes other accesses of are left out.
    """
    if not program.source:
        return {}
    spread_out = spread(program.source)
    try:
        other = again(program, spread_out.text)
    except Error:
        return {}
    twins = {function.name: function for function in parse(other.ptx).functions}
    found: dict[int, Place] = {}
    for function in parse(program.ptx).functions:
        if function.name in twins:
            found |= _of_function(function, twins[function.name], spread_out)
            found |= _moved(function, found, spread_out, program.source)
    return found


def line_of(line: int, place: Place | None, written: Sequence[str]) -> int:
    """The line that an access of a place belongs to: what was moved out of a loop is compiled to
    the line of its neighbours. `written` are the lines of the source.
    """
    if place is None or not 0 < line <= len(written):
        return line
    here = re.search(rf"(?<![\w.]){place.array}\b", written[line - 1])
    return line if here else place.line


def lines_of(program: Program, ptx_lines: Iterable[tuple[int, int]]) -> Mapping[int, int]:
    """Of accesses (PTX line, line) on lines where the source has none: PTX line to line."""
    written = program.source.splitlines()
    lost = {
        ptx_line: line
        for ptx_line, line in ptx_lines
        if 0 < line <= len(written) and not _ACCESS.search(written[line - 1])
    }
    places = operands_of(program) if lost else {}
    return {at: line_of(line, places.get(at), written) for at, line in lost.items()}


_ACCESS = re.compile(r"\[|->|[\w>]\(|(?:^|[^\w\s)\]])\s*\*")


def _moved(function: Function, known: Operands, text: Spread, source: str) -> dict[int, Place]:
    """Accesses of lines that have no such expression: the only expression of what they access."""
    ours = _Accesses(function)
    lines = [one.line for one in function.body if one.line]
    symbols = [one.name for one in function.params]
    named = dict(zip(symbols, source_parameters(source, function.name, len(symbols)), strict=False))
    found: dict[int, Place] = {}
    if not lines:
        return found
    for line, accesses in ours.by_line().items():
        for access in (one for one in accesses if one.ptx_line not in known):
            names = {named.get(n, n) for n in ours._behind(access, frozenset())[1]}
            fits = [
                place
                for chain in text.places.values()
                for place in chain
                if {place.array} == names and min(lines) <= place.line <= max(lines)
            ]
            if len({one.text for one in fits}) == 1 and all(one.line != line for one in fits):
                found[access.ptx_line] = fits[0]
    return found


def _of_function(one: Function, twin: Function, text: Spread) -> dict[int, Place]:
    ours, theirs = _Accesses(one), _Accesses(twin)
    groups: dict[int, list[tuple[Instruction, Instruction]]] = {}
    known = theirs.by_line(text.line)
    for line, found in ours.by_line().items():
        others = known.get(line, [])
        if list(map(ours.looks, found)) == list(map(theirs.looks, others)):
            for access, other in zip(found, others, strict=True):
                groups.setdefault(other.line, []).append((access, other))
    told_of: dict[int, Place] = {}
    for line, pairs in groups.items():
        if chain := text.places.get(line):
            depths = theirs.depths([other for _, other in pairs])
            told = max(depths) + 1 == len(chain)
            for (access, _), depth in zip(pairs, depths, strict=True):
                told_of[access.ptx_line] = chain[depth if told else -1]
    return told_of


def _same(line: int) -> int:
    return line


@dataclass(eq=False)
class _Accesses:
    """The memory instructions of a function, and what their addresses are made of."""

    function: Function
    _made: dict[int, Instruction] = field(init=False)  # the last that writes each register

    def __post_init__(self) -> None:
        self._made = {
            register.index: instruction
            for instruction in self.function.body
            for register in registers_written(instruction)
        }

    def by_line(self, line_of: Callable[[int], int] = _same) -> dict[int, list[Instruction]]:
        """By line of the source, in the order of the program."""
        found: dict[int, list[Instruction]] = {}
        for one in self.function.body:
            if kind_of(one) in ACCESSES and "param" not in one.opcode.mods:
                found.setdefault(line_of(one.line), []).append(one)
        return found

    def looks(self, access: Instruction) -> tuple[str, frozenset[str]]:
        """What does not depend on how addresses are computed: opcode, parameters and variables."""
        return access.opcode.text, frozenset(self._behind(access, frozenset())[1])

    def depths(self, group: Sequence[Instruction]) -> list[int]:
        """How many others of a group each address is made of, one after the other."""
        pcs = frozenset(one.pc for one in group)
        found: dict[int, int] = {}
        for one in group:
            before = self._behind(one, pcs - {one.pc})[0]
            found[one.pc] = 1 + max((found.get(pc, -1) for pc in before), default=-1)
        return [found[one.pc] for one in group]

    def _behind(self, access: Instruction, stops: frozenset[int]) -> tuple[set[int], set[str]]:
        """What an address is made of: instructions of `stops`, the nearest; names."""
        waiting: list[Operand] = [o for o in access.operands if isinstance(o, Addr)]
        pcs, names, seen = set[int](), set[str](), set[int]()
        while waiting and len(seen) < _DEEP:
            operand = waiting.pop()
            names |= set(_names(operand))
            for register in {one.index for one in registers_in([operand])} - seen:
                seen.add(register)
                source = self._made.get(register)
                if source is not None and source.pc in stops:
                    pcs.add(source.pc)
                elif source is not None:
                    waiting += sources(source)
        return pcs, names


def _names(operand: Operand) -> Iterable[str]:
    """The parameter or variable that an operand names; no special registers."""
    symbol = operand.base if isinstance(operand, Addr) else operand
    if isinstance(symbol, Sym) and not symbol.name.startswith("%"):
        yield symbol.name
