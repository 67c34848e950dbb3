"""The state of a launch's warps, and one decoded instruction after the other applied to it.

All warps of the launch are rows of the same arrays; an instruction is applied to the lanes of a
mask (W, 32). Where each warp is and which of its lanes are together is `flow`'s.
"""

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuviz.sass.listing import SassInstruction
from tools.sass_trial import memory
from tools.sass_trial.alu import ROWS, UNIFORM, Row
from tools.sass_trial.operands import (
    Read,
    Target,
    UnknownError,
    Values,
    is_predicate,
    predicate,
    source,
    split,
    target,
)

STACK, SHARED_FROM, PARAMETERS = 8192, 0x400, 0x210
Step = Callable[["State", Values], None]


@dataclass
class State:
    """Registers, predicates, memories and constant banks of all warps of a launch."""

    warps: int
    warps_of_block: int
    banks: dict[int, Values]
    arena: Values  # global memory, uint8, from `memory.BASE` on
    special: dict[str, Values]
    shared_bytes: int
    hear: Callable[..., None]  # told of each access: instruction, addresses, lanes
    files: dict[str, Values] = field(init=False)
    shared: Values = field(init=False)
    local: Values = field(init=False)

    def __post_init__(self) -> None:
        """Registers at 0, PT true."""
        shape = self.warps, 32
        self.files = {
            "R": np.zeros((256, *shape), np.uint32),
            "UR": np.zeros((64, self.warps, 1), np.uint32),
            "P": np.zeros((8, *shape), bool),
            "UP": np.zeros((8, self.warps, 1), bool),
        }
        self.files["P"][7] = self.files["UP"][7] = True
        blocks = -(-self.warps // self.warps_of_block)
        self.shared = np.zeros((blocks, SHARED_FROM + self.shared_bytes), np.uint8)
        self.local = np.zeros((*shape, STACK), np.uint8)
        self.block = np.arange(self.warps)[:, None] // self.warps_of_block

    def write(self, at: Target, value: Values, lanes: Values) -> None:
        """Put a value into a register or predicate of some lanes; nothing changes RZ or PT."""
        zero = {"R": 255, "UR": 63, "P": 7, "UP": 7}[at.file]
        if at.index == zero:
            return
        if at.file[0] == "U":
            lanes = np.logical_or.reduce(lanes, axis=1, keepdims=True)
            value = value[:, :1] if value.shape[-1] == 32 else value
        np.copyto(self.files[at.file][at.index], value, where=lanes, casting="same_kind")

    def write_wide(self, at: Target, value: Values, lanes: Values) -> None:
        """Put 64 bits into two registers."""
        self.write(at, value.astype(np.uint32), lanes)
        if at.index < len(self.files[at.file]) - 1:
            high = (value >> np.uint64(32)).astype(np.uint32)
            self.write(Target(at.file, at.index + 1), high, lanes)


def guarded(guard: str, step: Step) -> Step:
    """The step for the lanes whose guard holds."""
    if not guard:
        return step
    read = predicate(guard)
    return lambda s, lanes: step(s, lanes & read(s))


def decode(at: SassInstruction) -> Step:
    """What an instruction that neither jumps nor waits does.

    Raises
    ------
    UnknownError : an opcode, modifier or operand that is not in the tables
    """
    name, *mods = at.opcode.split(".")
    operands = split(at.operands)
    if name in ("NOP", "DEPBAR", "NANOSLEEP", "MEMBAR", "ERRBAR", "CCTL"):
        return lambda s, lanes: None
    if (make := _OTHERS.get(name) or memory.MAKERS.get(name)) is not None:
        return guarded(at.guard, make(at, tuple(mods), operands))
    key = f"{name}.{mods[0]}" if mods and f"{name}.{mods[0]}" in _ALL else name
    if key not in _ALL:
        raise UnknownError(at.opcode)
    rest = tuple(mods[1:] if key != name else mods)
    return guarded(at.guard, _arithmetic(_ALL[key], rest, operands, at.opcode))


_ALL: dict[str, Row] = ROWS | UNIFORM


def _kinds(row: Row, mods: tuple[str, ...]) -> tuple[str, str]:
    """Kinds of result and source; of conversions by the types among the modifiers."""
    if row.result != "?":
        return row.result, "w" if mods[:1] in (("RCP64H",), ("RSQ64H",)) else row.sources
    types = [m for m in mods if re.fullmatch(r"(BF|[FUS])\d+", m)]
    wide = [t for t in types if t.endswith("64")]
    if row is ROWS["F2F"]:
        return "l" if types[0] == "F64" else "i", "d" if types[1] == "F64" else "f"
    if row is ROWS["I2F"]:
        return "l" if "F64" in wide else "i", "l" if {"U64", "S64"} & set(wide) else "i"
    if row is ROWS["F2I"]:
        return "l" if {"U64", "S64"} & set(wide) else "i", "d" if "F64" in wide else "f"
    return ("l", "d") if wide else ("i", "f")


def _arithmetic(row: Row, mods: tuple[str, ...], operands: list[str], opcode: str) -> Step:
    unknown = set(mods) - set(row.mods.split())
    if unknown:
        raise UnknownError(opcode)
    result, sources = _kinds(row, mods)
    first = next((i for i, one in enumerate(operands) if not is_predicate(one)), len(operands))
    outs = [target(one) for one in operands[:first]]
    rest = operands[first:]
    if not result and not sources.strip("i") and "LUT" in mods:  # PLOP3: all are predicates
        outs, rest = outs[:2], operands[2:]
    place = target(rest.pop(0)) if result else None
    while place and any(not is_predicate(one) for one in rest) and is_predicate(rest[0]):
        outs.append(target(rest.pop(0)))
    predicates = [predicate(one) for one in rest if is_predicate(one)]
    values = [one for one in rest if not is_predicate(one)]
    if sources.startswith("h"):
        values = _halves(values)
    if len(values) != len(sources):
        if row.function is not ROWS["LEA"].function or len(values) != 3:
            raise UnknownError(f"{opcode} {', '.join(operands)}")
        sources = "iii"
    reads = [source(one, kind) for one, kind in zip(values, sources, strict=True)]
    return _applied(row, mods, place if result else None, result, outs, reads, predicates)


def _halves(values: list[str]) -> list[str]:
    """Two immediates in a row are the high and the low half of one operand."""
    out: list[str] = []
    for one in values:
        if out and _is_number(one) and _is_number(out[-1]) and "&" not in out[-1]:
            out[-1] = f"{out[-1]}&{one}"
        else:
            out.append(one)
    return out


def _is_number(text: str) -> bool:
    return re.match(r"[-+]?(\d|INF|QNAN)", text) is not None


def _applied(
    row: Row,
    mods: tuple[str, ...],
    place: Target | None,
    result: str,
    outs: list[Target],
    reads: list[Read],
    predicates: list[Read],
) -> Step:
    function = row.function

    def step(s: State, lanes: Values) -> None:
        found = function(mods, [r(s) for r in reads], [r(s) for r in predicates])
        value, *flags = found if isinstance(found, tuple) else (found,)
        if place is not None:
            (s.write_wide if result == "l" else s.write)(place, value, lanes)
        for at, flag in zip(outs, flags, strict=False):
            s.write(at, flag, lanes)

    return step


# --- between lanes, and registers of their own ---------------------------------------------------


def _special_register(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
    place, name = target(operands[0]), operands[1]
    if name == "SRZ":
        wide = "32" not in mods
        zero = np.zeros((1, 1), np.uint64)
        return lambda s, lanes: (s.write_wide if wide else s.write)(
            place, zero if wide else zero.astype(np.uint32), lanes
        )
    return lambda s, lanes: s.write(place, s.special[name], lanes)


def _to_uniform(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
    place, read = target(operands[0]), source(operands[1], "i")

    def step(s: State, lanes: Values) -> None:
        value = np.broadcast_to(read(s), (s.warps, 32))
        s.write(place, np.take_along_axis(value, lanes.argmax(1)[:, None], 1), lanes)

    return step


def _bits_of(lanes: Values) -> Values:
    weights = np.uint32(1) << np.arange(32, dtype=np.uint32)
    out: Values = np.where(lanes, weights, np.uint32(0)).sum(1, dtype=np.uint32)
    return out[:, None]


def _vote(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
    *outs, last = operands
    places, read, every = [target(one) for one in outs], predicate(last), "ALL" in mods

    def step(s: State, lanes: Values) -> None:
        holds = np.broadcast_to(read(s), lanes.shape)
        found = holds | ~lanes if every else holds & lanes
        any_or_all = (np.logical_and if every else np.logical_or).reduce(found, axis=1)
        for place in places:
            if place.file in ("R", "UR"):
                s.write(place, _bits_of(holds & lanes), lanes)
            else:
                s.write(place, any_or_all[:, None], lanes)

    return step


_REDUCE: dict[str, tuple[Any, int]] = {
    "SUM": (np.add, 0),
    "OR": (np.bitwise_or, 0),
    "XOR": (np.bitwise_xor, 0),
    "AND": (np.bitwise_and, 0xFFFFFFFF),
    "MIN": (np.minimum, 0xFFFFFFFF),
    "MAX": (np.maximum, 0),
}


def _reduce(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
    place, read = target(operands[0]), source(operands[1], "i")
    name = mods[0] if mods else "AND"
    function, neutral = _REDUCE[name]
    signed = "S32" in mods and name in ("MIN", "MAX")

    def step(s: State, lanes: Values) -> None:
        flip = np.uint32(0x80000000 if signed else 0)
        value = np.where(lanes, read(s) ^ flip, np.uint32(neutral))
        out = function.reduce(value, axis=1, dtype=np.uint32)[:, None] ^ flip
        s.write(place, out, lanes)

    return step


def _match(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
    if mods[0] != "ANY":
        raise UnknownError(at.opcode)
    place, read = target(operands[0]), source(operands[-1], "i")

    def step(s: State, lanes: Values) -> None:
        value = np.broadcast_to(read(s), lanes.shape)
        same = (value[:, :, None] == value[:, None, :]) & lanes[:, None, :]
        weights = np.uint32(1) << np.arange(32, dtype=np.uint32)
        s.write(place, np.where(same, weights, np.uint32(0)).sum(2, dtype=np.uint32), lanes)

    return step


def _shuffle(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
    inside, place = target(operands[0]), target(operands[1])
    read, by, limits = (source(one, "i") for one in operands[2:])
    lane, mode = np.arange(32)[None, :], mods[0]

    def step(s: State, lanes: Values) -> None:
        value = np.broadcast_to(read(s), lanes.shape)
        b, c = by(s).astype(np.int64) & 31, limits(s).astype(np.int64)
        clamp, parts = c & 31, (c >> 8) & 31
        least, most = lane & parts, (lane & parts) | (clamp & ~parts)
        at_lane = {"IDX": least | (b & ~parts), "UP": lane - b, "DOWN": lane + b, "BFLY": lane ^ b}[
            mode
        ]
        good = at_lane >= most if mode == "UP" else at_lane <= most
        chosen = np.broadcast_to(np.where(good, at_lane, lane), lanes.shape)
        s.write(place, np.take_along_axis(value, chosen, 1), lanes)
        s.write(inside, good, lanes)

    return step


def _predicates_to_register(
    at: SassInstruction, mods: tuple[str, ...], operands: list[str]
) -> Step:
    place, base, mask = target(operands[0]), source(operands[2], "i"), int(operands[3], 16)
    file = "UP" if operands[1] == "UPR" else "P"

    def step(s: State, lanes: Values) -> None:
        value = base(s) & np.uint32(~mask & 0xFFFFFFFF)
        for i in range(7):
            if mask >> i & 1:
                value = value | (s.files[file][i].astype(np.uint32) << np.uint32(i))
        s.write(place, value, lanes)

    return step


def _register_to_predicates(
    at: SassInstruction, mods: tuple[str, ...], operands: list[str]
) -> Step:
    read, mask = source(operands[1], "i"), int(operands[2], 16)

    def step(s: State, lanes: Values) -> None:
        value = read(s)
        for i in range(7):
            if mask >> i & 1:
                s.write(Target("P", i), value >> np.uint32(i) & np.uint32(1) != 0, lanes)

    return step


_OTHERS: dict[str, Callable[..., Step]] = {
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), _special_register),
    "R2UR": _to_uniform,
    **dict.fromkeys(("VOTE", "VOTEU"), _vote),
    "REDUX": _reduce,
    "MATCH": _match,
    "SHFL": _shuffle,
    **dict.fromkeys(("P2R", "UP2UR"), _predicates_to_register),
    "R2P": _register_to_predicates,
}


# --- cubins --------------------------------------------------------------------------------------


def sections(cubin: bytes) -> dict[str, tuple[int, bytes]]:
    """The sections of an ELF file of 64 bits by name: size in memory, and content."""
    (start,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    heads = [struct.unpack_from("<IIQQQQ", cubin, start + i * size) for i in range(count)]
    table = heads[names][4]
    out = {}
    for name, kind, _, _, at, length in heads:
        text = cubin[table + name : cubin.index(b"\0", table + name)].decode()
        out[text] = length, b"" if kind == 8 else cubin[at : at + length]
    return out
