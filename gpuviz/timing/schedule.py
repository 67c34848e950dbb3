"""When machine code lets a warp go on: what the assembler wrote beside each instruction, and what
each instruction occupies.

From sm_70 on an instruction's 128 bits hold, from bit 105: cycles until the warp's next instruction
(4 bits), a hint to let others go first (1), the scoreboard that is set until its result is there
(3), the one until its operands have been read (3), and those it waits for (6). Layout: Jia et al.,
"Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, chapter 2; the same on
sm_75 to sm_90, as seen in nvdisasm's encodings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from gpuviz.base.arrays import I32, Bool
from gpuviz.sass.flow import name_of
from gpuviz.sass.listing import SassInstruction
from gpuviz.timing.device import Device

_OF_A_WARP = re.compile(r"([HIBDQ]MMA(?:\.SP)?\.\d+(?:x\d+x\d+)?)\b(.*)")
_OF_A_WARPGROUP = re.compile(r"[HIQB]GMMA(\.SP)?\.64x(\d+)x\d+\b")


def shape_of(instruction: SassInstruction) -> str:
    """The shape of a matrix instruction ("HMMA.16816", "HMMA.1688.TF32", "GMMA.64x128"), "" of any
    other.
    """
    if found := _OF_A_WARPGROUP.match(instruction.opcode):
        return f"GMMA{found[1] or ''}.64x{found[2]}"
    if found := _OF_A_WARP.match(instruction.opcode):
        return found[1] + (".TF32" if ".TF32" in found[2] else "")
    return ""


def busy_cycles(shape: str, device: Device) -> float | None:
    """Cycles that it keeps the tensor core of a scheduler; None where that was not measured."""
    kind, _, columns = shape.rpartition("x")
    if kind == "GMMA.64":
        return max(device.wgmma_column * int(columns), device.wgmma_read * (64 + int(columns)))
    return device.tensor.get(shape)


def not_measured(code: Sequence[SassInstruction], device: Device) -> str:
    """The first matrix instruction of which it is not known what it takes, "" for none."""
    shapes = dict.fromkeys(shape for i in code if (shape := shape_of(i)))
    return next((shape for shape in shapes if busy_cycles(shape, device) is None), "")


NONE = 7
_FROM = 105 - 64

# What an instruction does at an mbarrier.
ARRIVE, WAIT, BULK = 1, 2, 3
_HANDS = (("SYNCS.PHASECHK", WAIT), ("SYNCS.ARRIVE", ARRIVE), ("UBLKCP.S.G", BULK))
# What it does with the groups of asynchronous copies (cp.async), or from PRODUCTS on of matrix
# products (wgmma): it joins the one that is open, closes it, or both; or LEAVES + n, waits for all
# but the n latest. A warp's LDGSTS belong to the group that it has open; LDGDEPBAR closes it, and a
# scoreboard counts those under way; DEPBAR.LE waits until no more than so many, the latest, are.
# Its HGMMA and the like belong to another, which one that names a gsb closes; WARPGROUP.DEPBAR.LE
# waits for those. Groups are over in the order they were closed.
JOINS, CLOSES, LEAVES = 1, 2, 4
PRODUCTS = 128
_LEFT = re.compile(r"(?:SB(\d)|gsb\d), (0x[0-9a-f]+)")


class Kind(IntEnum):
    """What the multiprocessor does with an instruction."""

    COMPUTE = 0
    LOAD = 1
    STORE = 2
    ATOMIC = 3
    SHARED = 4
    BARRIER = 5
    EXIT = 6
    QUEUED = 7
    CONSTANT = 8
    LOCAL_LOAD = 9
    LOCAL_STORE = 10
    PRODUCT = 11
    BYPASS = 12  # a load that L1 neither answers nor keeps


class Pipe(IntEnum):
    """The units of a quarter of a multiprocessor; MIO is the way to what the quarters share."""

    NONE = 0
    ALU = 1
    FMA = 2
    HEAVY = 3
    DOUBLE = 4
    SPECIAL = 5
    MIO = 6
    UNIFORM = 7
    TENSOR = 8


_PIPES: dict[Pipe, str] = {
    Pipe.FMA: "FFMA FADD FMUL FFMA32I FADD32I FMUL32I",
    Pipe.HEAVY: "IMAD IDP HFMA2 HADD2 HMUL2 IMUL FSWZADD",
    Pipe.DOUBLE: "DADD DMUL DFMA DSETP",
    Pipe.SPECIAL: "MUFU I2F F2I F2F FRND I2FP POPC FLO BREV",
    Pipe.NONE: "BRA EXIT NOP BSSY BSYNC WARPSYNC CALL RET BAR BREAK BMOV DEPBAR MEMBAR "
    "LDGDEPBAR WARPGROUP "
    "ERRBAR CCTL YIELD NANOSLEEP JMP BRX",
    Pipe.MIO: "S2R SHFL CS2R S2UR R2UR LDC VOTEU REDUX MATCH",
    Pipe.UNIFORM: "ULDC UMOV UIADD3 UIMAD ULEA ULOP3 USHF UISETP USEL UPLOP3 UPRMT UFLO UPOPC",
}
_FUNCTIONS = frozenset({"MUFU", "POPC", "FLO", "BREV"})
_PIPE = {name: pipe for pipe, names in _PIPES.items() for name in names.split()}
_MEMORY = {
    ("global", "load"): Kind.LOAD,
    ("generic", "load"): Kind.LOAD,
    ("global", "copy"): Kind.LOAD,
    ("global", "store"): Kind.STORE,
    ("generic", "store"): Kind.STORE,
    ("global", "atomic"): Kind.ATOMIC,
    ("generic", "atomic"): Kind.ATOMIC,
    ("global", "reduction"): Kind.ATOMIC,
    ("generic", "reduction"): Kind.ATOMIC,
    ("local", "load"): Kind.LOCAL_LOAD,
    ("local", "store"): Kind.LOCAL_STORE,
    ("constant", "load"): Kind.CONSTANT,
}


@dataclass(frozen=True, eq=False)
class Code:
    """Columns (I,) of a kernel's machine code, one row an instruction.

    `stall` cycles until the warp may go on; `sets` and `reads` name the scoreboard (7: none) held
    until the result is there, or the operands have been read; `waits` has bit i set for scoreboard
    i; `kind` and `pipe` by number; `special` are those of the slow part of that unit, `shape` that
    of a matrix instruction, "" of others; `line` of the CUDA source, `ptx_line` of the PTX; `jumps`
    is 1 where the warp may go elsewhere, `asks` where it asks memory, `swaps` where it is tried
    again until no other lane was sooner; `hands` is what it does at an mbarrier, and `groups` with
    groups, 0 for nothing.
    """

    stall: I32
    sets: I32
    reads: I32
    waits: I32
    kind: I32
    pipe: I32
    line: I32
    ptx_line: I32
    jumps: I32
    asks: I32
    hands: I32
    swaps: I32
    groups: I32
    special: Bool
    shape: tuple[str, ...]


def code_of(instructions: Sequence[SassInstruction]) -> Code:
    """The columns of some instructions."""
    bits = [i.control >> _FROM for i in instructions]
    columns: dict[str, list[int]] = {
        "stall": [b & 15 for b in bits],
        "sets": [b >> 5 & 7 for b in bits],
        "reads": [b >> 8 & 7 for b in bits],
        "waits": [b >> 11 & 63 for b in bits],
        "kind": [kind_of(i) for i in instructions],
        "pipe": [pipe_of(i) for i in instructions],
        "line": [i.line for i in instructions],
        "ptx_line": [i.ptx_line for i in instructions],
        "jumps": [i.target >= 0 for i in instructions],
        "asks": [asks_memory(i) for i in instructions],
        "hands": hands_of(instructions),
        "swaps": [swaps(i) for i in instructions],
    }
    columns["groups"] = groups_of(instructions, columns["sets"])
    return Code(
        **{name: np.array(column, np.int32) for name, column in columns.items()},
        special=np.array([name_of(i) in _FUNCTIONS for i in instructions], bool),
        shape=tuple(shape_of(i) for i in instructions),
    )


def swaps(instruction: SassInstruction) -> bool:
    """Whether it swaps a word of shared memory, and is tried until no other lane was sooner."""
    return instruction.opcode.startswith("ATOMS.CAST")


def hands_of(code: Sequence[SassInstruction]) -> list[int]:
    """What instructions do at mbarriers, 0 for nothing."""
    return [next((hand for name, hand in _HANDS if i.opcode.startswith(name)), 0) for i in code]


def groups_of(code: Sequence[SassInstruction], sets: Sequence[int]) -> list[int]:
    """What instructions do with groups, 0 for nothing; `sets` is the scoreboard each sets."""
    boards = {b for i, b in zip(code, sets, strict=True) if name_of(i) == "LDGDEPBAR"}
    return [_group(i, boards) for i in code]


def _group(instruction: SassInstruction, boards: set[int]) -> int:
    name, operands = name_of(instruction), instruction.operands
    if name == "LDGSTS":
        return JOINS
    if name == "LDGDEPBAR":
        return CLOSES
    if shape_of(instruction).startswith("GMMA"):
        return PRODUCTS + JOINS + (CLOSES if ", gsb" in operands else 0)
    found = _LEFT.match(operands) if "DEPBAR.LE" in instruction.opcode else None
    if found is None or (found[1] and int(found[1]) not in boards):
        return 0
    return (0 if found[1] else PRODUCTS) + LEAVES + int(found[2], 16)


def asks_memory(instruction: SassInstruction) -> bool:
    """Whether it makes a request when lanes take part; those that never do only fill time."""
    return instruction.memory is not None and instruction.guard != "!PT"


def kind_of(instruction: SassInstruction) -> Kind:
    """What the multiprocessor does with it."""
    memory, name = instruction.memory, name_of(instruction)
    if instruction.guard == "!PT":
        return Kind.COMPUTE
    if memory is not None and ".BYPASS" in instruction.opcode:
        return Kind.BYPASS
    if memory is not None:
        return _MEMORY.get((memory.space, memory.op), Kind.SHARED)
    if (shape := shape_of(instruction)).startswith("GMMA"):
        return Kind.PRODUCT
    if shape and int(instruction.control >> _FROM >> 5 & 7) != NONE:
        return Kind.QUEUED  # of doubles; the assembler knows when others are done
    if name == "BAR" and "ARV" not in instruction.opcode:
        return Kind.BARRIER
    if name == "EXIT":
        return Kind.EXIT
    return Kind.QUEUED if pipe_of(instruction) in (Pipe.MIO, Pipe.SPECIAL) else Kind.COMPUTE


def pipe_of(instruction: SassInstruction) -> Pipe:
    """The unit it occupies: integer and logic where nothing else is known."""
    if asks_memory(instruction):
        return Pipe.MIO
    if shape_of(instruction):
        return Pipe.TENSOR
    return _PIPE.get(name_of(instruction), Pipe.ALU)
