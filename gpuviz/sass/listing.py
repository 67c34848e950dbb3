"""The machine code (SASS) of a kernel as records: instructions, lines, memory operands."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from gpuviz.sass.opcodes import Memory, memory_of

_SECTION = re.compile(r"^//-+ \.text\.(\S+)\s+-+$|^\s*\.section\s+\.text\.([^\s,]+)")
_LABEL = re.compile(r"^([.$\w]+):$")
_PLACE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)')
_CODE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
_ENCODED = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/$")
_PARTS = re.compile(r"(?:@(!?U?P\w+)\s+)?(\S+)\s*(.*)$")
_REMARK = re.compile(r'\s*\(\*"(\w+)"\*\)')
_TARGET = re.compile(r"`\(([^)]+)\)")
_PTX = ".nv_debug_ptx_txt"


@dataclass(frozen=True)
class SassInstruction:
    """One machine instruction.

    Attributes
    ----------
    address : byte offset in the kernel's code
    text : as nvdisasm writes it, the guard included
    guard : "", or the predicate it is executed under: `P0`, `!P0`
    line, ptx_line : line of the CUDA source (of the call, when inlined from a header), and of the
        PTX text; 0 when the compiler does not tell
    target : address it may jump to, -1 when it does not jump
    spill : whether it saves or restores a register that was short
    control : the upper half of its encoding, which says when it may be issued (sm_70 and later; see
        `gpuviz.timing.schedule`); 0 when nvdisasm was not asked for it
    """

    address: int
    text: str
    guard: str
    opcode: str
    operands: str
    line: int
    ptx_line: int
    target: int = -1
    spill: bool = False
    control: int = 0

    @cached_property
    def memory(self) -> Memory | None:
        """What it accesses, None when it accesses no memory."""
        return memory_of(self.opcode, self.operands)


@dataclass(frozen=True)
class Listing:
    """The machine code of one kernel, device functions it calls included, in address order.

    `labels` names jump targets by address.
    """

    kernel: str
    instructions: tuple[SassInstruction, ...]
    labels: dict[int, str]

    @property
    def memory(self) -> tuple[SassInstruction, ...]:
        """The instructions that access memory."""
        return tuple(i for i in self.instructions if i.memory is not None)

    @property
    def has_ptx_lines(self) -> bool:
        """Whether the compiler told which PTX line each instruction comes from."""
        return any(i.ptx_line for i in self.instructions)


def read_listings(text: str) -> dict[str, Listing]:
    """The kernels in nvdisasm's text (options -c -gi -gp), by mangled name."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if found := _SECTION.match(line):
            current = sections.setdefault(found[1] or found[2], [])
        elif line.startswith("//-----"):
            current = []
        else:
            current.append(line)
    return {name: _listing(name, lines) for name, lines in sections.items()}


def _listing(kernel: str, lines: list[str]) -> Listing:
    reader = _Reader()
    for line in lines:
        reader.take(line)
    places = {name: address for address, names in reader.labels.items() for name in names}
    found = tuple(_with_target(raw, places) for raw in reader.instructions)
    return Listing(kernel, found, {at: names[-1] for at, names in reader.labels.items()})


def _with_target(raw: SassInstruction, places: dict[str, int]) -> SassInstruction:
    name = _TARGET.search(raw.operands)
    target = places.get(name[1], -1) if name else -1
    return SassInstruction(**{**raw.__dict__, "target": target}) if target >= 0 else raw


class _Reader:
    """Follows the text line by line; a place holds until the next one."""

    def __init__(self) -> None:
        self.instructions: list[SassInstruction] = []
        self.labels: dict[int, list[str]] = {}
        self._waiting: list[str] = []
        self._line = self._ptx_line = 0
        self._new_place = False

    def take(self, text: str) -> None:
        if found := _CODE.match(text):
            self._instruction(int(found[1], 16), found[2])
        elif found := _PLACE.match(text):
            self._place(found[1], int(found[2]))
        elif self.instructions and (found := _ENCODED.match(text)):
            self.instructions[-1] = replace(self.instructions[-1], control=int(found[1], 16))
        elif (found := _LABEL.match(text)) and not found[1].startswith(".text."):
            self._waiting.append(found[1])

    def _place(self, file: str, line: int) -> None:
        if file == _PTX:
            self._ptx_line = line
            return
        if not self._new_place or "." not in file.rpartition("/")[2]:
            self._line = line
        self._new_place = True

    def _instruction(self, address: int, text: str) -> None:
        for name in self._waiting:
            self.labels.setdefault(address, []).append(name)
        self._waiting.clear()
        self._new_place = False
        parts = _PARTS.match(_REMARK.sub("", text))
        if parts is not None:
            self.instructions.append(
                SassInstruction(
                    address,
                    parts[0],
                    parts[1] or "",
                    parts[2],
                    parts[3],
                    self._line,
                    self._ptx_line,
                    spill="SpillRefill" in text,
                )
            )
