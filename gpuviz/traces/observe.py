"""What can be observed of a run: the events that engines tell, and the `Sink` that hears them.

Whatever wants to know what a launch does (counts, traces, race checks, caches, time) is a sink; an
engine knows sinks only. A sink overrides the events it wants. `Listeners` finds out once, before
the launch, who overrides what: an event that nobody hears is never even made.

Events come in this order, always from one thread:

    launch_begin
        blocks_begin            a batch: some consecutive blocks, run together
            access ...          of the instructions of a stretch, in their order; likewise
            stored | fence | copies | warp_sync | allocated | freed | phase | transfer | transfers
            instructions        the stretch has been executed; then what ends it, if anything:
            branch | barrier | exit
            finding             at any time
        blocks_end              every thread of the batch has ended
        ...                     the next batch: each block is in one, in any order
    launch_end                  left out, as is blocks_end, when a fault or the user stops the run

Each event is of many warps at once, in arrays with one row a warp, or one row for many warps that
do the very same (`Warps`). Events of one warp come in the order in which the warp executes them.
How warps of a batch take turns in between is up to the engine, as it is up to a GPU: but what a
thread does before a barrier is told before that barrier, and what it does after it, after it.
What comes with an event is changed by nobody, neither who tells nor who hears, now or later: arrays
and records may be kept. Only `Lanes` may not, they are those of the moment.

An engine (it may hand out one warp or thousands at a time, the sinks cannot tell):

    told = Listeners(sinks)
    for hear in told.access:                  # and so on for each event
        hear(Access(instruction, address, active, warps=warps))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from gpuviz.base.arrays import I8, I64, U32, U64, Array, Bool
from gpuviz.traces.trace import Finding, Launch, MemoryInstruction, Stretch

Report = Callable[[Finding], None]


@dataclass(frozen=True, slots=True, eq=False)
class Warps:
    """Which warps of the launch the N rows of an event stand for.

    A row stands for one warp, or for `blocks` x `warps` of them that did the very same.
    """

    # (N,) ascending, the first warp of each row, counted over the launch: block * `per_block` +
    # warp within the block.
    first: I64
    per_block: int  # warps of a block
    blocks: int = 1  # a row stands for the same warp of this many consecutive blocks
    warps: int = 1  # a row stands for this many consecutive warps of a block

    @property
    def repeat(self) -> int:
        """How many warps each row stands for."""
        return self.blocks * self.warps

    def of(self, blocks: I64) -> tuple[I64, I64, I64]:
        """The rows of some blocks ((B,) linear ids, ascending), spread out: one entry a warp.

        Three arrays (R,), by block and warp: row of the event, linear block id, warp in the block.
        """
        first = self.first // self.per_block
        low = first.searchsorted(blocks - self.blocks, side="right")
        high = first.searchsorted(blocks, side="right")
        ranges = [np.arange(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        row = np.concatenate(ranges) if ranges else np.zeros(0, np.int64)
        block, warp = blocks.repeat(high - low), self.first[row] % self.per_block
        if self.warps > 1:
            row, block, warp = (column.repeat(self.warps) for column in (row, block, warp))
            warp += np.arange(len(row)) % self.warps
        return row, block, warp


NOBODY = Warps(np.zeros(0, np.int64), 1)


NOTHING = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One memory instruction executed by many warps in step."""

    instruction: MemoryInstruction  # what was executed
    # (N, 32) uint64, first byte each lane accesses; unspecified where the lane is inactive. Global:
    # device address. Shared and constant: offset in the block's shared memory / the constant bank.
    # Local: offset in the thread's own local memory (not interleaved).
    address: U64
    # (N, 32) bool, lanes that access memory, or None when all 32 do in every row.
    active: Bool | None
    repeat: int = 1  # how many warps each row stands for; counts are to be multiplied by it
    # Of an asynchronous copy into shared memory, the (N, 32) global addresses it reads from,
    # `NOTHING` of a lane that reads none and fills with zeros.
    source: U64 | None = None
    warps: Warps = NOBODY  # whose rows these are; `NOBODY` in an access that no launch made
    # False when addresses are right modulo 256 only, and where they were is told apart (see
    # `Sums`).
    placed: bool = True


def relative_to_first(address: U64, active: Bool | None) -> tuple[U64, U64]:
    """(N,) address of the first active lane, and all addresses relative to it (0 if inactive)."""
    if active is None:
        return address[:, 0], address - address[:, :1]
    base = address[np.arange(len(address)), active.argmax(axis=1)]
    return base, (address - base[:, None]) * active


class Values(Protocol):
    """What a plain store is about to do, for whom it interests: nothing is computed before."""

    def written(self, warps: I64) -> tuple[Array, ...]:
        """What some warps (K,) of the access write, counted over the launch: one (K, 32) array an
        element, bits as an unsigned number of the element's width.
        """

    def before(self, warps: I64) -> tuple[Array, ...]:
        """What is there until then, likewise."""


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction of the program: its index in the module, CUDA line (0: unknown), PTX line."""

    pc: int
    line: int
    ptx_line: int

    @classmethod
    def of(cls, at: At) -> Place:
        """Where an instruction stands."""
        return cls(at.pc, at.line, at.ptx_line)


class At(Protocol):
    """Whatever stands at a place of the program."""

    @property
    def pc(self) -> int:
        """Index in the module's instructions."""

    @property
    def line(self) -> int:
        """Line of the CUDA source, 0 when unknown."""

    @property
    def ptx_line(self) -> int:
        """Line of the PTX text."""


@dataclass(frozen=True, slots=True, eq=False)
class BarrierEvent:
    """A barrier of some blocks at which not simply every thread waited."""

    # The barriers in the program that threads came to; `waits` which of them make wait (bar.arrive
    # does not).
    places: tuple[Place, ...]
    waits: tuple[bool, ...]
    # (B, T) int8: at which of the places each thread is (1 for the first), 0 for nowhere; T is the
    # threads of a block in whole warps.
    came: I8
    count: int  # threads that the barrier waits for, 0 for all of the block that have not ended
    least: int = 0  # the smallest such number that a thread gave


@dataclass(frozen=True, slots=True, eq=False)
class WarpSync:
    """Lanes of many warps that execute a synchronising instruction together."""

    at: Place  # the instruction: __syncwarp, a shuffle, a vote, a match, a reduction
    warps: Warps  # whose rows these are
    active: Bool | None  # (N, 32) bool, lanes that execute it, None for all 32 in every row
    members: U32  # (N, 32) uint32, the member mask that each of them names; bit i is lane i
    running: Bool  # (N, 32) bool, lanes that exist and have not ended
    sources: I64 | None = None  # of a shuffle, (N, 32) the lane that each reads from; None else


PhaseKind = Literal["init", "arrive", "over", "wait"]


@dataclass(frozen=True, slots=True, eq=False)
class PhaseEvent:
    """Threads at mbarriers: one begins its first phase, arrives, ends it, or has waited for that.

    (K,) threads, numbered over the launch with warps padded to 32 lanes; the linear ids of the
    blocks that the mbarriers belong to, and their offsets in shared memory.
    """

    at: Place
    kind: PhaseKind
    thread: I64
    block: I64
    address: I64


TransferKind = Literal["load", "store", "reduce", "product"]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Bytes side by side in global memory that pieces of a transfer are made of: lines of a box.

    (R,) each: which piece it is of, its address and bytes, and where it begins in its piece, which
    lies in shared memory line by line.
    """

    piece: I64
    address: I64
    size: I64
    into: I64


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """What is done to shared memory without a thread's own loads and stores.

    Bulk copies into shared memory (load), out of it (store, reduce), and matrices that wgmma reads
    (product). Pieces (K,): the thread that began it (see `PhaseEvent`), the linear id of the block
    whose shared memory it is, offset and bytes there, the mbarrier in the same memory that counts
    its bytes (-1: none), and the global address of its first byte (-1: none or several); `runs`
    are those of boxes. What goes to several blocks of a cluster is `multicast`: one event for each
    block, of which the pieces that were told `before` came with the same instruction. `repeat` is
    how many alike there were, of blocks that this one stands for (see `Sums`).
    """

    at: Place
    text: str
    kind: TransferKind
    thread: I64
    block: I64
    address: I64
    size: I64
    mbarrier: I64
    source: I64
    runs: Runs | None = None
    multicast: bool = False
    before: Bool | None = None
    repeat: int = 1


class Lanes(Protocol):
    """The lanes that execute something together, of any number of warps."""

    @property
    def threads(self) -> int:
        """How many lanes there are in all."""

    @property
    def warps(self) -> int:
        """How many warps have at least one of them."""

    def rows(self) -> tuple[Warps, Bool | None]:
        """The warps, and which of their lanes: (N, 32) bool, None when it is all 32 in every row.

        Rows without any lane are left out.
        """


@dataclass(frozen=True, slots=True)
class Many:
    """Lanes of many warps, of which only the number is known (see `Sums`)."""

    threads: int
    warps: int

    def rows(self) -> tuple[Warps, Bool | None]:
        """Which they are is not known."""
        raise NotImplementedError


class Sink:
    """Hears what a launch does; every event that is not overridden costs nothing."""

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """A launch begins. What a sink finds wrong it may `report`, up to `launch_end`."""

    def launch_end(self) -> None:
        """All blocks of the launch (or all that are to be run) have ended."""

    def blocks_begin(self, first: int, count: int) -> None:
        """Blocks `first` to `first + count - 1` (linear ids) begin to run."""

    def blocks_end(self, first: int, count: int) -> None:
        """Every thread of these blocks has ended."""

    def instructions(self, stretch: Stretch, lanes: Lanes) -> None:
        """Lanes have executed a stretch of the program, its branch, call or barrier included.

        Guards are not looked at: lanes whose predicate is off executed the instruction, too. Lanes
        of a warp that have parted come in an event each.
        """

    def access(self, access: Access) -> None:
        """A memory instruction was executed: each row a request. Rows without a lane are left out.

        Lanes whose guard is off take no part. A generic access comes once for each space that its
        lanes hit; an asynchronous copy once for the shared memory it writes (with `source`), then
        once for the global memory it reads. Parameters are no memory. An access may come many times
        over as the very same object, from a loop that uses the same addresses: what was computed
        from it can be kept.
        """

    def branch(self, at: Place, warps: int, divergent: int, taken: int, not_taken: int) -> None:
        """A guarded `bra` was executed by `warps` warps, in `divergent` of which lanes part.

        `taken` and `not_taken` count lanes.
        """

    def barrier(self, at: Place, blocks: I64, meeting: BarrierEvent | None = None) -> None:
        """All threads that a block-wide barrier waits for have come: they go on.

        `blocks` (B,) are the linear ids of the blocks in which this is so, ascending; `at` is the
        barrier that their first threads came to. A block's phase is how many it has passed: those
        of part of a block (`bar.sync 1, 64`) count, those of a warp (`bar.warp.sync`) do not.
        `meeting` tells who came; it is None when all threads that have not ended wait at `at`.
        """

    def stored(self, access: Access, values: Values) -> None:
        """A plain store, of which `access` was just told, is about to write. `values` are good for
        the duration of the call.
        """

    def warp_sync(self, sync: WarpSync) -> None:
        """Lanes of warps synchronise. Costs a look at who still runs, each time."""

    def fence(self, at: Place, wide: bool, lanes: Lanes) -> None:
        """A memory fence; `wide` when it orders beyond the block (gpu, system)."""

    def proxy_fence(self, lanes: Lanes) -> None:
        """What lanes did, or know of, is there for asynchronous copies, too (fence.proxy.async)."""

    def copies(self, left: int | None, lanes: Lanes) -> None:
        """Asynchronous copies: lanes close a group of them (None), or wait until at most `left`
        groups of their own are under way (-1: nothing is, groups or not).
        """

    def phase(self, event: PhaseEvent) -> None:
        """Threads begin an mbarrier, arrive at it, bring a phase to its end, or go on after one."""

    def transfer(self, transfer: Transfer) -> None:
        """Bytes are moved, or read, asynchronously: it is done now, and may be any time until it
        is waited for.
        """

    def transfers(self, kind: TransferKind, left: int | None, lanes: Lanes) -> None:
        """Lanes close a group of transfers out of shared memory or of products (None), or wait
        until at most `left` of their groups are under way.
        """

    def allocated(self, address: U64, size: I64) -> None:
        """Device-side malloc gave (K,) bytes at (K,) addresses of the heap; content undefined."""

    def freed(self, at: Place, address: U64, thread: I64) -> None:
        """Device-side free took (K,) pieces back, of (K,) threads as in `PhaseEvent`; null pointers
        are left out.
        """

    def exit(self, stretch: Stretch, lanes: Lanes) -> None:
        """Lanes have ended, at the end of a stretch."""

    def finding(self, finding: Finding) -> None:
        """The engine, or a sink, has found something wrong; the same may be told many times."""


class Sums(Sink):
    """A sink whose results are sums over a launch: it need not hear events one by one.

    An engine may tell such a sink, and no other, what a launch did in any order and folded:
    requests that look alike (see `gpuviz.memory.counting`) once, with `Access.repeat` saying how
    many there were, and transfers likewise; where those went, in accesses with a repeat of 0 that
    count nothing; a stretch once, with `Lanes` that only count. It may also give a launch up and
    tell it anew.
    """

    def start_over(self) -> None:
        """Forget what was heard since the launch began: all of it is told again."""


class Listeners:
    """Who hears which event: for each, the methods of those sinks that override it."""

    launch_begin: tuple[Callable[[Launch, Report], None], ...]
    launch_end: tuple[Callable[[], None], ...]
    blocks_begin: tuple[Callable[[int, int], None], ...]
    blocks_end: tuple[Callable[[int, int], None], ...]
    instructions: tuple[Callable[[Stretch, Lanes], None], ...]
    access: tuple[Callable[[Access], None], ...]
    branch: tuple[Callable[[Place, int, int, int, int], None], ...]
    barrier: tuple[Callable[[Place, I64, BarrierEvent | None], None], ...]
    stored: tuple[Callable[[Access, Values], None], ...]
    warp_sync: tuple[Callable[[WarpSync], None], ...]
    fence: tuple[Callable[[Place, bool, Lanes], None], ...]
    proxy_fence: tuple[Callable[[Lanes], None], ...]
    copies: tuple[Callable[[int | None, Lanes], None], ...]
    phase: tuple[Callable[[PhaseEvent], None], ...]
    transfer: tuple[Callable[[Transfer], None], ...]
    transfers: tuple[Callable[[TransferKind, int | None, Lanes], None], ...]
    allocated: tuple[Callable[[U64, I64], None], ...]
    freed: tuple[Callable[[Place, U64, I64], None], ...]
    exit: tuple[Callable[[Stretch, Lanes], None], ...]
    finding: tuple[Report, ...]

    def __init__(self, sinks: Iterable[Sink]) -> None:
        sinks = tuple(sinks)
        for event in Listeners.__annotations__:
            setattr(self, event, _hearing(sinks, event))

    def report(self, finding: Finding) -> None:
        """Tell all who hear findings."""
        for hear in self.finding:
            hear(finding)


def _hearing(sinks: tuple[Sink, ...], event: str) -> Any:
    silent = getattr(Sink, event)
    return tuple(getattr(s, event) for s in sinks if getattr(type(s), event) is not silent)
