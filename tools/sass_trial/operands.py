"""Operands of machine code as nvdisasm writes them, and how each is read from the machine's state.

A state (`machine.State`) holds one row a warp: registers (256, W, 32) uint32, uniform registers
(64, W, 1) uint32, predicates (8, W, 32) and uniform predicates (8, W, 1) bool, constant banks as
bytes. Register 255 (RZ), 63 (URZ) and predicate 7 (PT) are kept at 0 and true.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]
Read = Callable[[Any], Values]  # of a State

_REGISTER = re.compile(r"([-~!|]*)(U?)R(Z|\d+)\|?(?:\.(?:reuse|H0_H0|H1_H1|64|U32))*$")
_PREDICATE = re.compile(r"(!?)(U?)P(T|\d)(?:\.reuse)?$")
_CONSTANT = re.compile(r"([-~|]*)c\[0x([0-9a-f]+)\]\[(.*?)\]\|?(?:\.reuse)?$")
_ADDRESS = re.compile(r"\[([^\[\]]*)\]")
_SPECIAL = {"+INF": np.inf, "-INF": -np.inf, "INF": np.inf, "+QNAN": np.nan, "-QNAN": -np.nan}
_SIGN = {32: np.uint32(1 << 31), 64: np.uint64(1 << 63)}


class UnknownError(Exception):
    """An opcode, modifier or operand that the tables do not have."""


def split(operands: str) -> list[str]:
    """The operands of one instruction, brackets kept together."""
    found = re.findall(r"(?:[^,\[\]`()]|\[[^\]]*\]|`?\([^)]*\))+", operands)
    return [one.strip() for one in found]


def is_predicate(text: str) -> bool:
    """Whether an operand is a predicate, uniform or not."""
    return _PREDICATE.match(text) is not None


@dataclass(frozen=True)
class Target:
    """Where a result goes: the register file by name, and the index in it."""

    file: str  # R, UR, P or UP
    index: int


def target(text: str) -> Target:
    """The register or predicate that an operand names as a result."""
    if found := _PREDICATE.match(text):
        return Target(found[2] + "P", 7 if found[3] == "T" else int(found[3]))
    found = _REGISTER.match(text)
    if found is None:
        raise UnknownError(text)
    zero = 63 if found[2] else 255
    return Target(found[2] + "R", zero if found[3] == "Z" else int(found[3]))


def predicate(text: str) -> Read:
    """How a predicate operand is read."""
    found = _PREDICATE.match(text)
    if found is None:
        raise UnknownError(text)
    at = target(text)
    if found[1]:
        return lambda s: ~s.files[at.file][at.index]
    return lambda s: s.files[at.file][at.index]


def source(text: str, kind: str) -> Read:
    """How an operand is read as `kind`.

    i, l: integers of 32 and 64 bits; c: of 33; f, d: floats; h: two halves; w: a d's high word.
    """
    wide = kind in "ld"
    if (found := _REGISTER.match(text)) is not None:
        read = _register(target(text), wide)
    elif (found := _CONSTANT.match(text)) is not None:
        read = constant(int(found[2], 16), found[3], 8 if wide else 4)
    else:
        return _immediate(text, kind)
    if kind == "c":
        return _of_33_bits(read, found[1])
    return _signed(read, found[1], kind, text)


def _of_33_bits(read: Read, marks: str) -> Read:
    """An addend with its carry: -x is ~x + 1, which is 2^32 where x is 0."""
    if not marks:
        return lambda s: read(s).astype(np.uint64)
    one = np.uint64(marks == "-")
    return lambda s: (~read(s)).astype(np.uint64) + one


def _register(at: Target, wide: bool) -> Read:
    if not wide:
        return lambda s: s.files[at.file][at.index]
    return lambda s: joined(s.files[at.file], at.index)


def joined(file: Values, index: int) -> Values:
    """Two registers as one of 64 bits; the zero register stays zero."""
    low: Values = file[index].astype(np.uint64)
    return (
        low if index == len(file) - 1 else low | file[index + 1].astype(np.uint64) << np.uint64(32)
    )


def constant(bank: int, text: str, width: int) -> Read:
    """How `width` bytes of a constant bank are read at `0x28`, `R4+0x10` or `UR4`."""
    base = address(text)
    kind = np.dtype(f"u{width}")

    def read(s: Any) -> Values:
        at, data = base(s).astype(np.int64), s.banks.get(bank)
        lanes = np.arange(width)
        out = data[np.minimum(at[..., None] + lanes, len(data) - 1)]
        return np.ascontiguousarray(out).view(kind)[..., 0]

    return read


def address(text: str) -> Read:
    """The sum that stands in a bracket, as 64 bits: `R4.64+UR8+-0x40`, `R1+0x8`, `UR5+0x1000`."""
    parts = [_term(part) for part in text.split("+") if part]

    def read(s: Any) -> Values:
        total = parts[0](s)
        for part in parts[1:]:
            total = total + part(s)
        return total

    return read


def _term(text: str) -> Read:
    if re.match(r"-?0x", text):
        value = np.array([[int(text, 16) % (1 << 64)]], np.uint64)
        return lambda s: value
    name, _, shape = text.partition(".")
    at = target(name)
    if shape == "64" or at.file == "UR" and shape == "64":
        return _register(at, True)
    if shape in ("X4", "X8", "X16"):
        scale = np.uint64(shape[1:])
        return lambda s: s.files[at.file][at.index].astype(np.uint64) * scale
    if shape not in ("", "U32", "reuse"):
        raise UnknownError(text)
    return lambda s: s.files[at.file][at.index].astype(np.uint64)


def bracket(operand: str) -> Read:
    """The address of a memory operand; a descriptor before it says nothing of the place."""
    inner = _ADDRESS.findall(re.sub(r"desc\[[^\]]*\]", "", operand))
    return address(inner[0])


def _immediate(text: str, kind: str) -> Read:
    if "&" in text:
        high, low = (_bits(part, "h") for part in text.split("&"))
        both = np.array([[high << 16 | low]], np.uint32)
        return lambda s: both
    value = np.array([[_bits(text, kind)]], np.uint64 if kind in "ldc" else np.uint32)
    return lambda s: value


def _bits(text: str, kind: str) -> int:
    size = 64 if kind in "ld" else 32
    if re.match(r"-?0x", text):
        return int(text, 16) % (1 << size)
    if text not in _SPECIAL and not re.match(r"-?\d", text):
        raise UnknownError(text)
    number = _SPECIAL[text] if text in _SPECIAL else float(text)
    if kind in "ilc":
        return int(np.float32(number).view(np.uint32))
    if kind == "w":
        return int(np.float64(number).view(np.uint64) >> np.uint64(32))
    size = {"f": 4, "d": 8, "h": 2}[kind]
    return int(np.array(number, f"f{size}").view(f"u{size}"))


def _signed(read: Read, marks: str, kind: str, text: str) -> Read:
    """The operand with its marks: `-` negates, `|` takes the magnitude, `~` inverts."""
    if kind == "h":
        return _of_halves(read, marks, text)
    if not marks:
        return read
    if kind in "fd":
        bit: Any = _SIGN[64 if kind == "d" else 32]
        magnitude = (lambda s: read(s) & ~bit) if "|" in marks else read
        return (lambda s: magnitude(s) ^ bit) if "-" in marks else magnitude
    if marks == "-":
        return lambda s: (~read(s)) + read(s).dtype.type(1)
    if marks == "~":
        return lambda s: ~read(s)
    raise UnknownError(text)


def _of_halves(read: Read, marks: str, text: str) -> Read:
    """Two halves: the one that the operand names taken twice, their signs as marked."""
    if "~" in marks or "|" in marks:
        raise UnknownError(text)
    flip = np.uint32(0x80008000 if "-" in marks else 0)
    by = np.uint32(16)
    if "H0_H0" in text:
        return lambda s: ((read(s) << by) | (read(s) & np.uint32(0xFFFF))) ^ flip
    if "H1_H1" in text:
        return lambda s: ((read(s) >> by) | (read(s) & np.uint32(0xFFFF0000))) ^ flip
    return lambda s: read(s) ^ flip
