"""What becomes of each PTX memory instruction in machine code, as records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gpuviz.ptx.text.ir import Module
from gpuviz.sass.listing import SassInstruction

Kind = Literal["same", "merged", "dropped", "split", "widened", "summed", "unmatched"]


@dataclass(frozen=True)
class Emit:
    """One machine instruction that stands for a PTX one."""

    sass: SassInstruction  # the instruction (of several copies, the first)
    shift: int  # bytes to add to the PTX instruction's address
    width: int  # bytes per lane
    # Pc of the first PTX instruction of the basic block that is executed as often as this
    # instruction is issued, or -1 when it is issued only by warps with an active lane.
    owner: int = -1


@dataclass(frozen=True)
class Match:
    """The machine instructions of one PTX memory instruction; none when it was dropped.

    `into` is the pc of the PTX instruction that a merged one became part of.
    """

    pc: int
    kind: Kind
    emits: tuple[Emit, ...] = ()
    into: int = -1


@dataclass(frozen=True)
class Difference:
    """One place where machine code and PTX differ, in words, for the CUDA and the PTX line."""

    line: int
    ptx_line: int
    kind: Kind | Literal["issued", "unrolled", "spill"]
    text: str


@dataclass(frozen=True, eq=False)
class Plan:
    """How to execute a kernel's PTX so that its memory accesses are those of the machine code."""

    module: Module  # the PTX, its loops unrolled as the assembler did
    matches: Mapping[int, Match]  # by pc of `module`
    # Pc of an unrolled copy to the pc of the instruction it was copied from.
    origin: Mapping[int, int] = field(default_factory=dict)
    # Machine instructions that never access memory but are issued (`@!PT LDS`, which goes before an
    # asynchronous copy on sm_90), with the pc of the PTX instruction they come with.
    idle: tuple[tuple[int, Emit], ...] = ()
    # Machine instructions that save and restore registers, with the pc of the first instruction of
    # the PTX block they belong to.
    spills: tuple[tuple[int, Emit], ...] = ()
    differences: tuple[Difference, ...] = ()  # in the order of the PTX text
    # Machine instructions that stand for no PTX memory instruction (jump tables).
    unaccounted: tuple[SassInstruction, ...] = ()
