"""Machine instructions of tensor cores: how many a warp executes for an mma, a wmma, a wgmma.

Most forms are one instruction where the architecture has their shape and type, and several where it
lacks them: bytes are halves on 9.0, 4-bit integers there are made of wider ones. Where there is
machine code its instructions are counted by the PTX lines they come from (those of wgmma have lines
near by, and are one for each warp); else the table says what ptxas (13.0) makes of each form for
sm_75 to sm_120. Those whose guard does not hold are issued, and count. An NVIDIA H200 (9.0) counted
the very same for 243 forms (tests/data/tensor_instructions_h200.json); no other architecture was
measured.
"""

import re
from collections import Counter
from collections.abc import Sequence

from gpuviz.memory.counts import Count
from gpuviz.ptx.tensor.mma import BITS
from gpuviz.ptx.text.ir import Instruction, Module
from gpuviz.sass.listing import Listing
from gpuviz.traces.observe import Lanes, Report, Sums
from gpuviz.traces.trace import Launch, Stretch

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
_MACHINE = re.compile(r"(?:[HIBDQO]|[HIBQ]G)MMA\b")
_PRODUCTS = {"mma": "", "wmma": "mma", "wgmma": "mma_async"}  # opcode and modifier
_OLDEST, _HOPPER, _BLACKWELL = 75, 90, 100
# Of four products at once on 9.0, which is Volta's shape: by layouts, for sums of f16 and of f32.
_QUADS = {("row", "col"): (1, 1), ("col", "row"): (3, 3), ("row", "row"): (2, 3)}
_QUADS |= {("col", "col"): (2, 2)}


def multiplies(instruction: Instruction) -> bool:
    """Whether an instruction is one of tensor cores."""
    opcode = instruction.opcode
    wanted = _PRODUCTS.get(opcode.name)
    return wanted is not None and (not wanted or wanted in opcode.mods)


def per_warp(instruction: Instruction, sm: int) -> int | None:
    """Machine instructions of a warp for one PTX instruction, on a compute capability times ten;
    None where that is not known.
    """
    mods = instruction.opcode.mods
    shape = next((tuple(map(int, x.groups())) for m in mods if (x := _SHAPE.match(m))), None)
    if shape is None or sm < _OLDEST:
        return None
    if instruction.opcode.name == "wgmma":
        return 1
    kinds = [mod for mod in mods if mod in BITS]
    kind = "f16" if len(kinds) < 3 else kinds[1]  # wmma of halves names C and D only
    if shape == (8, 8, 4) and kind == "f16":
        return _of_quads(mods, kinds[0], sm)
    return _times(shape, kind, mods, sm) * _parts(shape, kind, sm)


def _of_quads(mods: Sequence[str], result: str, sm: int) -> int | None:
    if sm == _OLDEST:
        return BITS[result] // 8
    first, second = (mod for mod in mods if mod in ("row", "col"))
    return _QUADS[first, second][result == "f32"] if sm == _HOPPER else None


def _parts(shape: tuple[int, ...], kind: str, sm: int) -> int:
    """Into how many of the shapes that there are a product is divided."""
    rows, columns, inner = shape
    if kind == "f64":
        return rows * columns * inner // 256 if sm >= _BLACKWELL else 1
    whole = rows * columns > 16 * 8  # of wmma
    if sm == _OLDEST and whole:
        return 4
    halved = 2 if whole and kind == "tf32" else 1
    return halved * (2 if whole else 1)


def _times(shape: tuple[int, ...], kind: str, mods: Sequence[str], sm: int) -> int:
    """How often an instruction is repeated for want of its type."""
    if kind == "b1" and sm >= _BLACKWELL:
        return max(4, shape[2] // 32)
    if kind == "b1":
        return 2 if sm >= _HOPPER and "xor" in mods else 1
    if kind in ("s4", "u4"):
        return 2 if sm >= _HOPPER else 1
    if kind in ("e4m3", "e5m2"):
        return 2 if _HOPPER <= sm < 120 else 1
    return 1


class TensorInstructions(Sums):
    """Sums up the machine instructions of tensor cores of a launch: `total`; those of warpgroups,
    `grouped`, read shared memory.

    `unknown` are the PTX lines of which nobody knows how many they are; they count nothing.
    """

    def __init__(self, module: Module, sm: int, listing: Listing | None = None) -> None:
        found = [i for f in module.functions for i in f.body if multiplies(i)]
        self.total = self.grouped = 0
        self._grouped = {i.pc for i in found if i.opcode.name == "wgmma"}
        each = _as_machine_code(found, sm, listing)
        self.unknown = sorted(i.ptx_line for i in found if each[i.pc] is None)
        self._each = {pc: n for pc, n in each.items() if n}
        self._weights: dict[Stretch, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        """Whether there is anything to count."""
        return bool(self._each)

    @property
    def counts(self) -> dict[Count, int]:
        """What has been counted, where there is anything."""
        if not self:
            return {}
        told = {Count.TENSOR_MATRIX_INSTRUCTIONS: self.total}
        return told | {Count.SHARED_MATRIX_REQUESTS: self.grouped} if self._grouped else told

    @property
    def note(self) -> str:
        """What to know of the count, "" where there is nothing."""
        if not self.unknown:
            return ""
        lines = ", ".join(map(str, self.unknown))
        return f"how many tensor instructions PTX lines {lines} are here is not known: none counted"

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """Of one launch."""
        self.start_over()

    def start_over(self) -> None:
        """Nothing has been heard."""
        self.total = self.grouped = 0

    def instructions(self, stretch: Stretch, lanes: Lanes) -> None:
        """Add those of a stretch."""
        if stretch not in self._weights:
            pcs = range(stretch.pc, stretch.pc + stretch.count)
            own = {pc: self._each[pc] for pc in pcs if pc in self._each}
            grouped = sum(n for pc, n in own.items() if pc in self._grouped)
            self._weights[stretch] = sum(own.values()), grouped
        every, grouped = self._weights[stretch]
        if every:
            self.total += every * lanes.warps
            self.grouped += grouped * lanes.warps


def _as_machine_code(
    found: Sequence[Instruction], sm: int, listing: Listing | None
) -> dict[int, int | None]:
    """By pc, how many machine instructions each is; as in the listing where it tells."""
    table = {i.pc: per_warp(i, sm) for i in found}
    if listing is None or not listing.has_ptx_lines:
        return table
    there = Counter(i.ptx_line for i in listing.instructions if _MACHINE.match(i.opcode))
    copies = Counter(i.ptx_line for i in found)
    return {
        i.pc: _in_listing(there[i.ptx_line], copies[i.ptx_line], table[i.pc], _apart(i))
        for i in found
    }


def _apart(instruction: Instruction) -> bool:
    """Whether its machine instructions have other lines: those of wgmma, or of a routine."""
    opcode = instruction.opcode
    return opcode.name == "wgmma" or ("m8n8k4" in opcode.mods and "f64" not in opcode.mods)


def _in_listing(there: int, copies: int, known: int | None, apart: bool) -> int | None:
    """`there` machine instructions stand for so many copies of one of the PTX.

    Loops are unrolled in the PTX as the assembler did, where that was seen; where there are more
    copies in the machine code, each is what is known of the form.
    """
    if apart:
        return known
    if known and there % known == 0 and there > known * copies:
        return known
    return -(-there // copies)
