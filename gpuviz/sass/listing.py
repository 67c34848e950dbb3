"""The machine code (SASS) of a kernel as records: instructions, lines, memory operands."""

import re
import subprocess
import tempfile
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from gpuviz.base.errors import UnavailableError
from gpuviz.compile.program import FOLDER, HEADERS
from gpuviz.files.disk_cache import DiskCache, key, stamp
from gpuviz.processes import programs as processes
from gpuviz.traces.trace import Op

# --- memory opcodes ------------------------------------------------------------------------------
#
# Those of sm_75 to sm_120, as nvdisasm writes them: space, operation, bytes. Names and suffixes:
# "CUDA Binary Utilities", instruction set reference; checked against nvdisasm's output. Constant
# operands (`c[0x3][0x10]`) of other instructions are no memory instructions: they cost no request.
# LDC reads constant memory at an address that may differ between lanes; ULDC and LDCU are uniform;
# reads of bank 0 are kernel parameters, those of bank 4 addresses of variables.

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
    """One machine instruction."""

    address: int  # byte offset in the kernel's code
    text: str  # as nvdisasm writes it, the guard included
    guard: str  # "", or the predicate it is executed under: `P0`, `!P0`
    opcode: str
    operands: str
    # line, ptx_line: line of the CUDA source (of the call, when inlined from a header), and of the
    # PTX text; 0 when the compiler does not tell.
    line: int
    ptx_line: int
    target: int = -1  # address it may jump to, -1 when it does not jump
    spill: bool = False  # whether it saves or restores a register that was short
    # The upper half of its encoding, which says when it may be issued (sm_70 and later; see
    # `gpuviz.timing.schedule`); 0 when nvdisasm was not asked for it.
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
    reader = _Reader(any(f'//## File "{FOLDER}' in line for line in lines))
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

    def __init__(self, by_nvrtc: bool) -> None:
        self._by_nvrtc = by_nvrtc
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
        if not self._new_place:
            self._line = 0
        if not self._line and self._is_own(file):
            self._line = line
        self._new_place = True

    def _is_own(self, file: str) -> bool:
        """Whether a file is the one compiled: what is inlined from a header has the line of its
        call, which follows; what is called there has none.
        """
        if self._by_nvrtc:
            return file.startswith(FOLDER)
        return PurePosixPath(file.replace("\\", "/")).suffix not in ("", *HEADERS)

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


# --- nvdisasm ------------------------------------------------------------------------------------

MISSING = (
    "nvdisasm, NVIDIA's disassembler, is not on this machine. Install it: "
    "pip install nvidia-cuda-nvdisasm"
)
_SECONDS = 60
_MEMORY = 4 * processes.GIB
_OPTIONS = ("-c", "-gi", "-gp", "-hex")
_KEPT = DiskCache("machine-code")


@cache
def find_nvdisasm() -> Path | None:
    """The nvdisasm of the wheel `nvidia-cuda-nvdisasm`, else the one on PATH, else None."""
    for folder in processes.nvidia_folders():
        for file in sorted(folder.glob("*/bin/nvdisasm*"), reverse=True):
            if file.name in ("nvdisasm", "nvdisasm.exe"):
                return file
    return processes.find("nvdisasm")


def disassemble(cubin: bytes) -> str:
    """The code sections of a cubin as text, with lines and encodings; kept for the next time.

    Raises
    ------
    UnavailableError : nvdisasm is missing, or it does not understand this cubin
    """
    command = find_nvdisasm()
    if command is None:
        raise UnavailableError(MISSING)
    name = key(sha256(cubin).hexdigest(), _OPTIONS, stamp(command))
    if (kept := _KEPT.load(name)) is not None:
        return kept.decode()
    text = _run(command, cubin)
    _KEPT.store(name, text.encode())
    return text


def _run(command: Path, cubin: bytes) -> str:
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "code.cubin"
            file.write_bytes(cubin)
            line = [str(command), *_OPTIONS, str(file)]
            done = processes.run(line, Path(folder), _SECONDS, _MEMORY)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{command} could not be run: {error}") from error
    if done.returncode != 0:
        how = processes.ended(done.returncode)
        raise UnavailableError(f"{command} ended {how}: {done.stderr.strip()}")
    return done.stdout
