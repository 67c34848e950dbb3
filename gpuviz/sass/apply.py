"""Execute a plan: the emulator's PTX accesses become those of the machine code, then counts."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from gpuviz.memory.counting import CountRow, Counts
from gpuviz.memory.counts import Count, Quantity, of_kind, requests_of
from gpuviz.ptx.decode.locate import describe
from gpuviz.ptx.recorders import BranchTotals
from gpuviz.ptx.text.ir import Instruction
from gpuviz.sass.plan import Emit, Plan
from gpuviz.traces.observe import Access, Report, Sums
from gpuviz.traces.trace import LANES, Branch, Launch, MemoryInstruction, Op, Trace


class Replay(Sums):
    """A sink that passes on each access as the machine code makes it.

    `misaligned` collects PTX lines whose merged access did not lie on a multiple of its width, as
    the hardware requires: there the match is wrong. `unmatched` are those executed without a match.
    """

    def __init__(self, plan: Plan, sink: Sums) -> None:
        self._plan = plan
        self._sink = sink
        self._last: dict[int, tuple[Access, tuple[Access, ...]]] = {}
        self.misaligned: set[int] = set()
        self.unmatched: set[int] = set()

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """The sink behind this one is told, too."""
        self._sink.launch_begin(launch, report)

    def start_over(self) -> None:
        """Of one launch: nothing has been heard."""
        self._last.clear()
        self.misaligned.clear()
        self.unmatched.clear()
        self._sink.start_over()

    def access(self, access: Access) -> None:
        """Pass on one access: as it is, changed, as several, or not at all."""
        pc = access.instruction.pc
        last = self._last.get(pc)
        # The counter knows a repeated record by its identity, so a changed one is kept as well.
        if last is None or last[0] is not access:
            last = self._last[pc] = access, tuple(self._changed(access))
        for changed in last[1]:
            self._sink.access(changed)

    def _changed(self, access: Access) -> Iterable[Access]:
        at = access.instruction
        match = self._plan.matches.get(at.pc)
        if match is None or match.kind == "unmatched":
            self.unmatched.add(at.ptx_line)
            yield access
        elif match.kind == "same":
            yield access
        elif match.kind == "summed":
            yield _of_leader(access)
        else:
            for emit in match.emits:
                yield self._as(access, emit)

    def _as(self, access: Access, emit: Emit) -> Access:
        if not access.repeat:  # sectors that were visited, within which machine code merges
            return replace(access, instruction=_named(access.instruction, emit))
        address = access.address + np.uint64(emit.shift % (1 << 64))
        wrong = address & np.uint64(emit.width - 1) != 0
        if wrong.any() if access.active is None else (wrong & access.active).any():
            self.misaligned.add(access.instruction.ptx_line)
            address = address & ~np.uint64(emit.width - 1)
        return replace(access, instruction=_named(access.instruction, emit), address=address)


def _of_leader(access: Access) -> Access:
    """The access of the first active lane of each warp."""
    if access.active is None:
        return replace(access, active=np.arange(LANES) == np.zeros((len(access.address), 1)))
    return replace(access, active=access.active & (access.active.cumsum(axis=1) == 1))


def _named(instruction: MemoryInstruction, emit: Emit) -> MemoryInstruction:
    return replace(instruction, text=emit.sass.opcode, width=emit.width)


def finish(plan: Plan, counts: Counts, executed: Mapping[int, int]) -> Counts:
    """Counts of the machine code: guarded instructions as often as they are issued, copies summed.

    `executed` tells how often warps executed each basic block, by the pc of its first instruction.
    """
    rows = [_issued(row, plan, executed) for row in counts.rows]
    rows += _silent(plan, {row.instruction.pc for row in counts.rows}, executed)
    rows += [_spilled(pc, emit, executed[pc]) for pc, emit in plan.spills if executed.get(pc)]
    sums: dict[MemoryInstruction, dict[Count, int]] = {}
    silent: dict[MemoryInstruction, int] = {}
    for row in rows:
        at = row.instruction
        at = replace(at, pc=plan.origin.get(at.pc, at.pc))
        total = sums.setdefault(at, {})
        silent[at] = silent.get(at, 0) + row.silent
        for key, value in row.counts.items():
            total[key] = total.get(key, 0) + value
    ordered = sorted(sums, key=lambda i: (i.pc, i.function, i.space, i.text))
    return replace(counts, rows=tuple(CountRow(i, sums[i], silent[i]) for i in ordered))


def _issued(row: CountRow, plan: Plan, executed: Mapping[int, int]) -> CountRow:
    """A row with the machine code's opcode and its requests as issued."""
    at, match = row.instruction, plan.matches.get(row.instruction.pc)
    if match is None or not match.emits:
        return row
    own = [
        e
        for e in match.emits
        if e.width == at.width and at.text in (e.sass.opcode, row.instruction.text)
    ]
    guarded = [e for e in own if e.owner >= 0]
    counts, silent = dict(row.counts), 0
    key = requests_of(at)
    if guarded and at.space == "shared" and key in counts:
        active = counts[key] * (len(own) - len(guarded)) // len(own)
        issued = sum(executed.get(e.owner, 0) for e in guarded)
        silent = max(0, active + issued - counts[key])
        counts[key] = active + issued
    text = own[0].sass.opcode if own else at.text
    return CountRow(replace(at, text=text), counts, silent)


def _silent(plan: Plan, seen: set[int], executed: Mapping[int, int]) -> list[CountRow]:
    """Rows of shared accesses that were issued, but never with an active lane."""
    by_pc = {i.pc: (i, f.name) for f in plan.module.functions for i in f.body}
    out: list[CountRow] = []
    for match in plan.matches.values():
        emits = [e for e in match.emits if executed.get(e.owner, 0)]
        if match.pc not in seen:
            out += [_quiet(*by_pc[match.pc], e, executed) for e in emits]
    for pc, emit in plan.idle:
        if executed.get(emit.owner, 0):
            out.append(_quiet(*by_pc[pc], emit, executed))
    return out


def _quiet(at: Instruction, function: str, emit: Emit, executed: Mapping[int, int]) -> CountRow:
    op = emit.sass.memory.op if emit.sass.memory else "load"
    row = replace(describe(at, function, "shared", op, emit.width), text=emit.sass.opcode)
    issued = executed.get(emit.owner, 0)
    found: dict[Quantity, int] = {"requests": issued, "wavefronts": 0, "wavefronts_ideal": 0}
    return CountRow(row, of_kind(("shared", op), found), issued)


def _spilled(pc: int, emit: Emit, warps: int) -> CountRow:
    """A spill: one word after the other of all lanes, so as many sectors as bytes a lane."""
    sass, width = emit.sass, emit.width
    op: Op = sass.memory.op if sass.memory else "load"
    at = MemoryInstruction(pc, sass.line, sass.ptx_line, sass.opcode, op, "local", width)
    found: dict[Quantity, int] = {
        "requests": warps,
        "sectors": warps * width,
        "lines": warps * max(1, width // 4),
        "sectors_ideal": warps * width,
        "bytes": warps * width * LANES,
    }
    return CountRow(at, of_kind(("local", op), found))


def original(trace: Trace, plan: Plan) -> Trace:
    """The trace with the pc of each unrolled copy replaced by that of its original.

    Tests that unrolling put before its chunks are no branches of the program, and are left out.
    """
    if not plan.origin:
        return trace
    origin = plan.origin
    return replace(
        trace,
        instructions=tuple(replace(i, pc=origin.get(i.pc, i.pc)) for i in trace.instructions),
        branches=_branches(trace.branches, plan),
        stretches=tuple(replace(s, pc=origin.get(s.pc, s.pc)) for s in trace.stretches),
    )


def _branches(branches: Iterable[Branch], plan: Plan) -> tuple[Branch, ...]:
    """The branches of the PTX, those of copies added to them."""
    by_pc: dict[int, Instruction] = {i.pc: i for f in plan.module.functions for i in f.body}
    totals = BranchTotals()
    for one in branches:
        pc = plan.origin.get(one.pc, one.pc)
        if pc == one.pc or by_pc[pc].opcode.name == "bra":
            totals.add(replace(one, pc=pc))
    return totals.branches()
