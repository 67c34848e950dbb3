"""Which part of its line each memory instruction comes from.

The compiler tells lines alone. So the text is compiled once more with each memory expression on a
line of its own: where that gives the same accesses, their lines there say which is which.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gpuviz.base.errors import Error
from gpuviz.compile import Program, again
from gpuviz.memory.spread import Place, Spread, spread
from gpuviz.ptx.text.ir import Addr, Function, Instruction, Operand, Sym
from gpuviz.ptx.text.isa import ACCESSES, kind_of, registers_in, registers_written, sources
from gpuviz.ptx.text.parser import parse

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
    return {
        ptx_line: place
        for function in parse(program.ptx).functions
        if function.name in twins
        for ptx_line, place in _of_function(function, twins[function.name], spread_out)
    }


def _of_function(one: Function, twin: Function, text: Spread) -> Iterable[tuple[int, Place]]:
    ours, theirs = _Accesses(one), _Accesses(twin)
    groups: dict[int, list[tuple[Instruction, Instruction]]] = {}
    known = theirs.by_line(text.line)
    for line, found in ours.by_line().items():
        others = known.get(line, [])
        if list(map(ours.looks, found)) == list(map(theirs.looks, others)):
            for access, other in zip(found, others, strict=True):
                groups.setdefault(other.line, []).append((access, other))
    for line, pairs in groups.items():
        if chain := text.places.get(line):
            depths = theirs.depths([other for _, other in pairs])
            told = max(depths) + 1 == len(chain)
            for (access, _), depth in zip(pairs, depths, strict=True):
                yield access.ptx_line, chain[depth if told else -1]


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
