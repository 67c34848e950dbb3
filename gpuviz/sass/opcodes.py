"""The memory opcodes of sm_75 to sm_120, as nvdisasm writes them: space, operation, bytes.

Names and suffixes: "CUDA Binary Utilities", instruction set reference; checked against nvdisasm's
output. Constant operands (`c[0x3][0x10]`) of other instructions are no memory instructions: they
cost no request. LDC reads constant memory at an address that may differ between lanes; ULDC and
LDCU are uniform; reads of bank 0 are kernel parameters, those of bank 4 addresses of variables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gpuviz.traces.trace import Op

SassSpace = Literal["global", "shared", "local", "constant", "generic"]

_TABLE: dict[str, tuple[SassSpace, Op]] = {
    "LDG": ("global", "load"),
    "LDS": ("shared", "load"),
    "LDL": ("local", "load"),
    "LD": ("generic", "load"),
    "LDC": ("constant", "load"),
    "LDSM": ("shared", "load"),
    "STG": ("global", "store"),
    "STS": ("shared", "store"),
    "STL": ("local", "store"),
    "ST": ("generic", "store"),
    "STSM": ("shared", "store"),
    "ATOMG": ("global", "atomic"),
    "ATOMS": ("shared", "atomic"),
    "ATOM": ("generic", "atomic"),
    "RED": ("generic", "reduction"),
    "REDG": ("global", "reduction"),
    "LDGSTS": ("global", "copy"),
}
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16, "256": 32}
_ADDRESS = re.compile(r"\[([^\[\]]*)\]")
_OFFSET = re.compile(r"([+-])(-?)0x([0-9a-f]+)$")
_OWN = {"0x0", "0x4"}  # banks of parameters, and of the addresses of variables


@dataclass(frozen=True)
class Memory:
    """What a memory instruction accesses: `width` bytes a lane at registers `base` + `offset`."""

    space: SassSpace
    op: Op
    width: int
    base: str
    offset: int


def memory_of(opcode: str, operands: str) -> Memory | None:
    """The access of an instruction; None where it is of no memory, or of those banks."""
    name, *suffixes = opcode.split(".")
    if name not in _TABLE:
        return None
    space, op = _TABLE[name]
    if name == "LDC" and (_ADDRESS.findall(operands) or [""])[0] in _OWN:
        return None
    base, offset = _split(_address_bracket(name, operands))
    return Memory(space, op, _width(name, suffixes), base, offset)


def _width(name: str, suffixes: list[str]) -> int:
    if name in ("LDSM", "STSM"):
        return 16
    return next((_WIDTHS[s] for s in reversed(suffixes) if s in _WIDTHS), 4)


def _address_bracket(name: str, operands: str) -> str:
    """The bracket that holds the address; `desc[UR4]` before it describes the memory, not a place.

    LDGSTS names the shared address first and the global one second.
    """
    found: list[str] = _ADDRESS.findall(re.sub(r"desc\[[^\]]*\]", "", operands))
    if not found:
        return ""
    return found[-1] if name in ("LDC", "LDGSTS") else found[0]


def _split(address: str) -> tuple[str, int]:
    """Base registers and immediate offset of `R4.X4+UR8+-0x40`; RZ and URZ are 0, so no base."""
    found = _OFFSET.search(address)
    offset = 0
    if address.startswith("0x"):
        address, offset = "", int(address, 16)
    elif found is not None:
        sign = -1 if (found[1] == "-") != (found[2] == "-") else 1
        address, offset = address[: found.start()], sign * int(found[3], 16)
    return "+".join(r for r in address.split("+") if r not in ("RZ", "URZ")), offset
