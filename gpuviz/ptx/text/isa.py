"""What opcodes do, and with which of their operands: one table for all that ask.

Source: PTX ISA, "Instruction Set".
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from gpuviz.ptx.text.ir import Addr, Instruction, Not, Operand, Pair, Reg, Vec, items
from gpuviz.traces.trace import Op

Kind = Op | Literal["image", "branch", "leave", "call", "barrier", "together", "hint", "other"]
ACCESSES = frozenset[Kind]({"load", "store", "atomic", "reduction", "copy"})
WRITES = ACCESSES - {"load"}
ATOMICS = ("atomic", "reduction")
VIDEO = ("vadd", "vsub", "vabsdiff", "vmin", "vmax")  # of which operands may be parts of registers
MATRIX_ROWS = ("ldmatrix", "stmatrix")  # each lane names a row of 16 bytes

# Operands: t written, u written after it was read, a address, v value or other source. What is not
# here writes its first operand, unless that is an address.
_OTHER: tuple[Kind, str] = "other", "t"
_TABLE: dict[str, tuple[Kind, str]] = {
    "ld": ("load", "ta"),
    "ldu": ("load", "ta"),
    "ldmatrix": ("load", "ta"),
    "st": ("store", "av"),
    "stmatrix": ("store", "av"),
    "atom": ("atomic", "tav"),
    "red": ("reduction", "av"),
    "cp": ("copy", "aa"),
    "tex": ("image", "ta"),
    "tld4": ("image", "ta"),
    "suld": ("image", "ta"),
    "sust": ("image", "av"),
    "wgmma": ("other", "u"),
    "bra": ("branch", ""),
    "brx": ("branch", "v"),
    "ret": ("leave", ""),
    "exit": ("leave", ""),
    "trap": ("leave", ""),
    "brkpt": ("leave", ""),
    "call": ("call", "t"),
    "bar": ("barrier", "v"),
    "barrier": ("barrier", "v"),
    "shfl": ("together", "t"),
    "vote": ("together", "t"),
    "match": ("together", "t"),
    "redux": ("together", "t"),
    "elect": ("together", "t"),
    "membar": ("hint", ""),
    "fence": ("hint", ""),
    "prefetch": ("hint", "a"),
    "prefetchu": ("hint", "a"),
    "discard": ("hint", "a"),
    "applypriority": ("hint", "a"),
    "pmevent": ("hint", ""),
    "nanosleep": ("other", "v"),
    "stackrestore": ("other", "v"),
}


def kind_of(at: Instruction) -> Kind:
    """What an instruction does, as its opcode says; `bar.warp.sync` is a barrier as well."""
    return _TABLE.get(at.opcode.name, _OTHER)[0]


def targets(at: Instruction) -> tuple[Operand, ...]:
    """The operands that an instruction writes, those of a vector or a pair each."""
    if not _writes(at):
        return ()
    first = at.operands[0]
    if isinstance(first, Pair):
        return first.first, first.second
    return items(first)


def sources(at: Instruction) -> tuple[Operand, ...]:
    """The operands that an instruction reads, its guard aside."""
    kept = _TABLE.get(at.opcode.name, _OTHER)[1] == "u"
    return at.operands if kept or not _writes(at) else at.operands[1:]


def _writes(at: Instruction) -> bool:
    """Whether an instruction writes its first operand."""
    kind, operands = _TABLE.get(at.opcode.name, _OTHER)
    if not at.operands or isinstance(at.operands[0], Addr):
        return False
    if kind == "barrier":
        return "red" in at.opcode.mods
    if kind == "call":
        return isinstance(at.operands[0], Vec)
    return operands[:1] in ("t", "u")


def addresses(at: Instruction) -> tuple[Operand, ...]:
    """The operands that say where an access goes; of a copy first where it writes."""
    letters = _TABLE.get(at.opcode.name, _OTHER)[1]
    return tuple(o for o, letter in zip(at.operands, letters, strict=False) if letter == "a")


def value_of(at: Instruction) -> Operand:
    """The operand that holds what an access loads, stores or combines."""
    return at.operands[max(0, _TABLE[at.opcode.name][1].find("v"))]


def registers_in(operands: Iterable[Operand | None]) -> Iterator[Reg]:
    """The registers in operands, those of addresses too."""
    for one in operands:
        match one:
            case Reg():
                yield one
            case Not():
                yield one.reg
            case Addr(base=Reg() as base):
                yield base
            case Vec():
                yield from registers_in(one.items)
            case Pair():
                yield from registers_in((one.first, one.second))


def registers_written(at: Instruction) -> list[Reg]:
    """The registers that an instruction writes."""
    return list(registers_in(targets(at)))


def registers_read(at: Instruction) -> list[Reg]:
    """The registers that an instruction reads, that of its guard among them."""
    return list(registers_in((at.guard, *sources(at))))
