"""The additions of one block's sum, round by round, as its trace tells them.

A *place* is a word of shared memory, or a thread's register where lanes hand registers on. What
lanes do that nothing of the sum depends on is found from the end: a place counts when a later round
or the result reads it.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64, Bool
from gpuviz.base.errors import InputError
from gpuviz.memory.banks import wavefronts
from gpuviz.ptx.simt.warp_ops import shfl
from gpuviz.ptx.text.ir import Function, Imm, Instruction, Reg
from gpuviz.ptx.text.parser import parse
from gpuviz.run.run import Run
from gpuviz.traces.trace import LANES, Requests, Trace, lane_mask

Kind = Literal["load", "add", "move"]
_WORD = 4


@dataclass(frozen=True, eq=False)
class Round:
    """What happens between two barriers, or with one shuffle."""

    kind: Kind  # `load` fills the places, `add` adds `source` to `target`, `move` copies it there
    # thread, target, source: (A,) who does it, and between which places.
    thread: I64
    target: I64
    source: I64
    useful: Bool  # (A,) whether the sum depends on it
    warps: int  # how many warps take part
    # wavefronts, ideal: of its requests to shared memory, and how few there could be.
    wavefronts: int
    ideal: int
    line: int  # of the CUDA source

    @property
    def apart(self) -> int:
        """How far apart the places are that are added."""
        return int(np.abs(self.source - self.target).max(initial=0))

    @property
    def lanes(self) -> int:
        """Lanes whose work counts."""
        return int(self.useful.sum())

    @property
    def issued(self) -> int:
        """Lanes of the warps that take part, at work or not."""
        return LANES * self.warps


@dataclass(frozen=True, eq=False)
class Rounds:
    """All rounds of one block: `places` of them, which hold sums of (P,) elements after each.

    `elements` (R, P) counts the elements each place stands for after each round.
    """

    rounds: tuple[Round, ...]
    places: int
    elements: I64
    shuffles: bool

    @property
    def steps(self) -> tuple[Round, ...]:
        """The rounds that add."""
        return tuple(r for r in self.rounds if r.kind == "add")


def rounds_of(run: Run, arch: Architecture, block: int = 0) -> Rounds:
    """The rounds of one recorded block.

    Raises
    ------
    InputError : the run has no requests of that block to shared memory, or no path
    """
    shared = run.trace.of(block=block, space="shared")
    if not len(shared):
        raise InputError(f"the trace has no shared request of block {block}; record that block")
    handed = _shuffles(run.trace, block)
    made = (
        _with_shuffles(run.trace, arch, shared, handed)
        if handed
        else _in_memory(run.trace, arch, shared)
    )
    places = run.trace.launch.threads_per_block
    rounds = _marked(made, places)
    return Rounds(tuple(rounds), places, _elements(rounds, places), bool(handed))


def _in_memory(trace: Trace, arch: Architecture, shared: Requests) -> list[Round]:
    """One round a phase that stores to shared memory: the first fills it, the others add."""
    rounds = []
    for phase in range(int(shared.phase.max()) + 1):
        rows = shared.select(shared.phase == phase)
        stores = rows.select(_is(trace, rows, "store"))
        if not len(stores):
            continue
        thread, target = _who(stores)
        reader, word = _who(rows.select(_is(trace, rows, "load")))
        source = target.copy()
        other = word != target[np.searchsorted(thread, reader)]
        source[np.searchsorted(thread, reader[other])] = word[other]
        rounds.append(
            _round(trace, arch, "add" if len(reader) else "load", rows, thread, target, source)
        )
    return rounds


def _round(
    trace: Trace,
    arch: Architecture,
    kind: Kind,
    rows: Requests,
    thread: I64,
    target: I64,
    source: I64,
) -> Round:
    """A round that consists of these requests."""
    count = ideal = 0
    for row in range(len(rows)):
        did = trace.instructions[rows.instruction[row]]
        found = wavefronts(arch, rows.address[row][None], rows.lanes(row)[None], did.width, did.op)
        count, ideal = count + int(found.count[0]), ideal + int(found.ideal[0])
    line = trace.instructions[rows.instruction[-1]].line
    return Round(
        kind,
        thread,
        target,
        source,
        np.ones(len(thread), bool),
        len(np.unique(thread // LANES)),
        count,
        ideal,
        line,
    )


def _is(trace: Trace, rows: Requests, op: str) -> Bool:
    """(R,) which requests are loads, or stores."""
    return np.array([i.op == op for i in trace.instructions], bool)[rows.instruction]


def _who(rows: Requests) -> tuple[I64, I64]:
    """(A,) threads in order, and the word each asks for."""
    row, lane = np.nonzero(lane_mask(rows.active))
    thread = rows.warp[row].astype(np.int64) * LANES + lane
    order = np.argsort(thread, kind="stable")
    return thread[order], rows.address[row, lane].astype(np.int64)[order] // _WORD


@dataclass(frozen=True, eq=False)
class _Shuffle:
    """One shuffle: (A,) threads that got a register of `source`; `phase` barriers before it."""

    thread: I64
    source: I64
    line: int


def _shuffles(trace: Trace, block: int) -> list[_Shuffle]:
    """The shuffles of a block in the order of the program, from the way of its warps."""
    if trace.path is None:
        raise InputError("the run has no path; ask for it in the plan")
    function = parse(trace.ptx).by_name[trace.launch.kernel]
    constants = _constants(function)
    found = []
    for one in (i for i in function.body if i.opcode.name == "shfl"):
        ran = [s.pc <= one.pc < s.pc + s.count for s in trace.stretches]
        mine = (trace.path.block == block) & np.array(ran, bool)[trace.path.stretch]
        active = lane_mask(trace.path.active[mine])
        if len(active):
            found.append(_handed(one, constants, trace.path.warp[mine].astype(np.int64), active))
    return found


def _handed(one: Instruction, constants: dict[int, int], warp: I64, active: Bool) -> _Shuffle:
    """Who gets whose register, by the very function that emulates the instruction."""
    amount, clamp = (np.array([[_value(o, constants)]]) for o in one.operands[2:4])
    lane = np.broadcast_to(np.arange(LANES), active.shape)
    source, _ = shfl(one.opcode.mods[1], lane, amount, clamp, active)
    first = warp[:, None] * LANES
    return _Shuffle((lane + first)[active], (source + first)[active], one.line)


def _constants(function: Function) -> dict[int, int]:
    """What registers hold that are set to a literal once: by index."""
    moves = (i for i in function.body if i.opcode.name == "mov")
    return {
        i.operands[0].index: i.operands[1].value
        for i in moves
        if isinstance(i.operands[0], Reg) and isinstance(i.operands[1], Imm)
    }


def _value(operand: object, constants: dict[int, int]) -> int:
    if isinstance(operand, Imm):
        return operand.value
    if isinstance(operand, Reg) and operand.index in constants:
        return constants[operand.index]
    raise InputError("a shuffle goes by a distance that is not known from the program")


def _with_shuffles(
    trace: Trace, arch: Architecture, shared: Requests, handed: list[_Shuffle]
) -> list[Round]:
    """Each shuffle adds; what goes through shared memory moves from thread to thread."""
    everyone = np.arange(trace.launch.threads_per_block)
    line = min(i.line for i in trace.instructions if i.op == "load" and i.space == "global")
    rounds = [
        Round(
            "load",
            everyone,
            everyone,
            everyone,
            np.ones(len(everyone), bool),
            trace.launch.warps_per_block,
            0,
            0,
            line,
        )
    ]
    adds = [
        Round(
            "add",
            h.thread,
            h.thread,
            h.source,
            np.ones(len(h.thread), bool),
            len(np.unique(h.thread // LANES)),
            0,
            0,
            h.line,
        )
        for h in handed
    ]
    last = max(h.line for h in handed)
    rounds += [a for a in adds if a.line != last]
    writer, word = _who(shared.select(_is(trace, shared, "store")))
    reader, wanted = _who(shared.select(_is(trace, shared, "load")))
    source = writer[np.searchsorted(word, wanted)]
    rounds.append(_round(trace, arch, "move", shared, reader, reader, source))
    return rounds + [a for a in adds if a.line == last]


def _marked(rounds: list[Round], places: int) -> list[Round]:
    """The rounds, told which of their additions the sum in place 0 depends on."""
    wanted = np.zeros(places, bool)
    wanted[0] = True
    marked = []
    for one in reversed(rounds):
        useful = wanted[one.target]
        if one.kind == "move":
            wanted = np.zeros(places, bool)
        wanted[one.source[useful]] = True
        marked.append(replace(one, useful=useful))
    return marked[::-1]


def _elements(rounds: list[Round], places: int) -> I64:
    """(R, P) how many elements the sum in each place is of, after each round."""
    now, after = np.zeros(places, np.int64), []
    for one in rounds:
        before = now.copy()
        if one.kind == "load":
            now[one.target] = 1
        elif one.kind == "move":
            now[:] = 0
            now[one.target] = before[one.source]
        else:
            now[one.target] = before[one.target] + np.where(
                one.source != one.target, before[one.source], 0
            )
        after.append(now.copy())
    return np.stack(after)
