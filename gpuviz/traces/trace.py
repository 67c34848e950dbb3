"""The seam: what a launch did to memory, as immutable records.

Everything that runs kernels ends here; everything that counts or draws starts here.

A *request* is one memory instruction executed by one warp. While a launch runs, what happens can be
observed (`gpuviz.traces.observe`). What is kept afterwards, for the blocks asked for, is a `Trace`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import I32, I64, U32, U64, Bool
from gpuviz.traces.geometry import LANES as LANES
from gpuviz.traces.geometry import Geometry, Triple
from gpuviz.words.language import english

Op = Literal["load", "store", "atomic", "reduction", "copy"]
Space = Literal["global", "shared", "local", "constant"]

OUTSIDE = "illegal global access"  # kinds of the findings that a run may go on after
BESIDE = "illegal shared access"


@dataclass(frozen=True)
class MemoryInstruction:
    """One memory instruction of the program, as written in the PTX."""

    pc: int  # index of the instruction in its module's instruction list
    line: int  # line of the CUDA source it comes from, 0 when unknown
    ptx_line: int  # line of the PTX text, counted from 1
    text: str  # the opcode with its qualifiers, `ld.global.nc.v4.f32`
    # Load, store, atomic (the old value is used), reduction (it is not, whether PTX says atom or
    # red: the assembler makes the same of both), or copy (cp.async: recorded once for each side).
    op: Op
    # The state space accessed; a generic access is resolved to the space its lanes hit.
    space: Space
    # Bytes per lane, all vector elements together: 1, 2, 4, 8 or 16 (32 on sm_100 and later).
    width: int
    kind: str = "b32"  # PTX type of one element, `f32`
    # "" or "nc" for loads through the read-only (texture) path, "cg" for copies past L1.
    path: str = ""
    function: str = ""  # kernel or device function that holds it
    # Of an atomic, its operation and type, `add.u32`; `increment.u32` when it adds the constant 1
    # and nobody uses the result; of a load of matrices "ldmatrix".
    form: str = ""
    unused: int = 0  # bit i set when nothing uses byte i of what a vector load brings


MATRICES = "ldmatrix"  # the form of their loads


@dataclass(frozen=True)
class Buffer:
    """A buffer in global memory: `size` bytes from `address`, `count` elements of `dtype`.

    `unset` when nobody gave it content before the launch.
    """

    name: str
    address: int
    size: int
    dtype: str
    count: int
    unset: bool = False


@dataclass(frozen=True)
class Launch(Geometry):
    """What was launched: kernel, geometry, and where its buffers lie."""

    kernel: str
    grid: Triple
    block: Triple
    dynamic_shared: int = 0
    buffers: tuple[Buffer, ...] = ()
    scalars: tuple[tuple[str, float | int], ...] = ()

    def block_index(self, block: int) -> Triple:
        """blockIdx of a linear block id (x fastest)."""
        x, y, _ = self.grid
        return block % x, block // x % y, block // (x * y)

    def thread_index(self, thread: int) -> Triple:
        """threadIdx of a linear thread id within its block (x fastest)."""
        x, y, _ = self.block
        return thread % x, thread // x % y, thread // (x * y)

    def buffer_at(self, address: int) -> Buffer | None:
        """The buffer that holds a device address, or None."""
        return next((b for b in self.buffers if b.address <= address < b.address + b.size), None)


@dataclass(frozen=True, eq=False)
class Requests:
    """Memory requests of the recorded blocks, one row a request, in the order they were issued."""

    instruction: I32  # (R,) index into `Trace.instructions`
    step: I64  # (R,) number of the issue slot; rows of one step were issued together
    # block, warp: (R,) linear block id, warp within the block.
    block: I64
    warp: I32
    phase: I32  # (R,) barriers the block had passed before
    active: U32  # (R,) bit i set when lane i accesses memory
    address: U64  # (R, 32) first byte each lane accesses, as in `observe.Access`; 0 where inactive

    def __len__(self) -> int:
        """Number of requests."""
        return len(self.instruction)

    def select(self, rows: npt.NDArray[np.bool_] | I64 | slice) -> Requests:
        """The rows picked by a mask, an index array or a slice."""
        return Requests(*(getattr(self, field.name)[rows] for field in fields(self)))

    def lanes(self, row: int) -> Bool:
        """(32,) bool: the lanes of one request that access memory."""
        return np.asarray(lane_mask(self.active[row : row + 1])[0])


HandoverKind = Literal["init", "arrive", "over", "wait", "load", "store", "reduce"]
HANDOVERS: tuple[HandoverKind, ...] = get_args(HandoverKind)


@dataclass(frozen=True, eq=False)
class Handovers:
    """What warps and copies did at mbarriers, and without them, in the shared memory of a block.

    One row a warp and event of `observe.PhaseEvent` (a phase that is over: one), or a piece that a
    bulk copy moves (see `observe.Transfer`), in the order in which they happened in the emulator.
    """

    kind: I64  # (H,) index into `HANDOVERS`
    step: I64  # (H,) issue slot of the last request before it
    line: I64  # (H,) CUDA line, 0 when unknown
    block: I64  # (H,) linear id of the block whose shared memory it is
    # (H,) who did it, within its own block; of a phase that is over, one of the last to come.
    warp: I64
    address: I64  # (H,) offset of the mbarrier, or of the first byte moved
    threads: I64  # (H,) how many of the warp's lanes did so
    size: I64  # (H,) bytes moved, 0 at mbarriers
    mbarrier: I64  # (H,) offset of the mbarrier that counts the bytes, -1 for none
    source: I64  # (H,) global address of the first byte moved, -1 for none or several

    def __len__(self) -> int:
        """Number of events."""
        return len(self.kind)


@dataclass(frozen=True)
class Stretch:
    """Instructions executed one after another without a branch between them (a basic block).

    `pc` is that of the first of `count` instructions; `lines` the CUDA lines they come from, in the
    order of the instructions, each once.
    """

    pc: int
    count: int
    lines: tuple[int, ...]
    function: str


@dataclass(frozen=True, eq=False)
class Path:
    """The way of the recorded blocks' warps through the program, one row a stretch executed.

    Rows of one warp are in the order in which it issues them: lanes that went apart take turns.
    """

    stretch: I32  # (P,) index into `Trace.stretches`
    # block, warp: (P,) linear block id, warp within the block.
    block: I64
    warp: I32
    active: U32  # (P,) bit i set when lane i took part

    def of(self, block: int, warp: int) -> Path:
        """The rows of one warp."""
        rows = (self.block == block) & (self.warp == warp)
        return Path(self.stretch[rows], self.block[rows], self.warp[rows], self.active[rows])


@dataclass(frozen=True)
class Branch:
    """How often one branch instruction ran, and how often it split a warp.

    `warps` counts warp executions, `divergent` those in which lanes went both ways,
    `taken` and `not_taken` count threads.
    """

    pc: int
    line: int
    ptx_line: int
    warps: int
    divergent: int
    taken: int
    not_taken: int


@dataclass(frozen=True)
class Finding:
    """Something the emulator saw that a sanitizer would report.

    `kind` is a short name ("uninitialised shared read"); `message` the whole sentence; `count` how
    many times it was seen in all; the place is that of the first one. `check` is which of the
    checks saw it (memory, race, init, sync; a trap or an assertion, which end a "launch", nobody
    looks for), `remedy` what to do about it. `phase` is how many
    barriers the block had passed, -1 where nobody knows. Of a race, `other_line`, `other_block` and
    `other_thread` say who was first; the thread is empty where nobody was.
    """

    severity: Literal["error", "warning"]
    kind: str
    message: str
    line: int
    ptx_line: int
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    address: int
    count: int = 1
    check: str = ""
    remedy: str = ""
    phase: int = -1
    other_line: int = 0
    other_block: tuple[int, ...] = ()
    other_thread: tuple[int, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """From how many of its `blocks` the counts of a launch are: `run` were executed."""

    # All of them; one of each class of blocks that provably do the same ("classes": the counts are
    # exact, but only the blocks that were run have left their outputs); a "sample" that stands for
    # all (counts are estimates); "some", as many as were asked for; or those up to the fault at
    # which the run "ended".
    how: Literal["all", "classes", "sample", "some", "ended"]
    run: int
    blocks: int
    classes: int = 0  # how many of them there are
    why: str = ""  # it is not what was wanted, in words

    @property
    def whole(self) -> bool:
        """Whether all blocks have left their outputs."""
        return self.run == self.blocks and self.how != "ended"

    @property
    def share(self) -> str:
        """How many of the blocks were executed: `12 %`."""
        share = 100 * self.run / self.blocks
        return f"{share:.0f} %" if share >= 1 else f"{max(share, 1e-4):.1g} %"

    @property
    def note(self) -> str:
        """What to know of the counts, in a sentence; "" when all blocks were executed."""
        if self.how == "sample":
            because = f" ({self.why})" if self.why else ""
            return (
                f"estimated from a sample of {self.run:,} of {self.blocks:,} blocks "
                f"({self.share}), at corners and edges of the grid and at random inside{because}: "
                "no number is exact"
            )
        if self.how == "ended":
            return f"of what ran until {self.why}, where the launch ended"
        if self.how != "classes":
            return ""
        many = english("{n} class", "{n} classes", self.classes)
        only = english("that one block", "those {n} blocks", self.run)
        return (
            f"counted exactly from {many} of blocks that provably do the same, of {self.blocks:,} "
            f"blocks in all; outputs are of {only} only"
        )


@dataclass(frozen=True, eq=False)
class Trace:
    """What one launch did. Arrays are read-only."""

    launch: Launch
    instructions: tuple[MemoryInstruction, ...]  # memory instructions that made the requests
    requests: Requests  # every request of the blocks in `recorded`
    recorded: tuple[int, ...]  # linear ids of the blocks whose requests were kept
    # How many of `launch.blocks` the numbers are of (all, unless fewer were asked for): those that
    # were executed, or belong to the class of one that was.
    blocks_emulated: int
    # thread_instructions, warp_instructions: PTX instructions executed by lanes and by warps.
    thread_instructions: int
    warp_instructions: int
    branches: tuple[Branch, ...] = ()
    findings: tuple[Finding, ...] = ()
    printed: str = ""  # what the kernel wrote with printf
    source: str = ""
    ptx: str = ""
    arch: str = ""
    notes: tuple[str, ...] = field(default=())
    # stretches, path: which instructions the recorded blocks' warps executed, with which lanes;
    # None unless asked for.
    stretches: tuple[Stretch, ...] = ()
    path: Path | None = None
    flops: int = 0  # floating-point operations executed (see `gpuviz.ptx.flops`)
    # What went on at mbarriers of the recorded blocks; None when nothing did.
    handovers: Handovers | None = None

    def of(
        self,
        *,
        line: int | None = None,
        block: int | None = None,
        warp: int | None = None,
        space: str | None = None,
        op: str | None = None,
    ) -> Requests:
        """The recorded requests that fit every condition given."""
        keep = np.ones(len(self.requests), dtype=bool)
        for wanted, actual in (("line", line), ("space", space), ("op", op)):
            if actual is not None:
                fits = np.array([getattr(i, wanted) == actual for i in self.instructions], bool)
                keep &= fits[self.requests.instruction]
        if block is not None:
            keep &= self.requests.block == block
        if warp is not None:
            keep &= self.requests.warp == warp
        return self.requests.select(keep)


def lane_mask(bits: U32) -> Bool:
    """(R,) lane bit sets to an (R, 32) bool array."""
    set_bits = (bits[:, None] >> np.arange(LANES, dtype=np.uint32)) & np.uint32(1)
    return np.asarray(set_bits != 0)


def lane_bits(mask: Bool) -> U32:
    """(R, 32) bool array to (R,) lane bit sets."""
    weights = np.uint32(1) << np.arange(LANES, dtype=np.uint32)
    return np.asarray((mask * weights).sum(axis=1), dtype=np.uint32)
