"""The timeline of one multiprocessor: every instruction issued, what each warp waited for, and how
busy what all warps share is.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from gpuviz.base.arrays import F32, F64, I32, I64
from gpuviz.base.errors import InputError
from gpuviz.base.keeping import kept_with_first
from gpuviz.timing import simulation as sim
from gpuviz.timing.device import Device
from gpuviz.timing.facts import facts
from gpuviz.timing.multiprocessor import PARTS, IssueLog, run
from gpuviz.timing.native import native
from gpuviz.timing.prediction import Prediction
from gpuviz.timing.warp_states import Spans, spans_of

MOST = 1 << 20  # instructions that are recorded
_LEAD = 4096.0  # cycles earlier, so that what warps do at the first one shown is known


@dataclass(frozen=True, eq=False)
class Events:
    """Instructions issued (N,), in the order of their cycles `at`.

    `place` is the slot's warp: slot * warps + warp; `number` is that of the warp among all that
    ran: its block's index in `Timeline.blocks` * warps + warp. `instruction` is a row of the code.
    L1 and shared memory work for it from `begin` to `end`; its result is there at `result`. L2
    works `l2_busy` cycles for it until `l2_end`, memory likewise. It finds `hit` sectors in L1 and
    misses `missed`; memory is read for `dram` sectors. `request` is its row of the traffic, -1 for
    none.
    """

    at: I32
    place: I32
    number: I32
    instruction: I32
    request: I32
    begin: F32
    end: F32
    result: F32
    l2_end: F32
    l2_busy: F32
    dram_end: F32
    dram_busy: F32
    hit: I32
    missed: I32
    dram: F32

    def __len__(self) -> int:
        return len(self.at)


@dataclass(frozen=True)
class Instruction:
    """A machine instruction: its text, and its line of the CUDA source (0: not told)."""

    text: str
    line: int

    @property
    def name(self) -> str:
        """Its opcode: `LDG.E`."""
        words = self.text.removeprefix("@").split()
        return words[1 if self.text.startswith("@") and len(words) > 1 else 0].rstrip(";")


@dataclass(frozen=True, eq=False)
class Timeline:
    """What the multiprocessor that takes longest does, cycle by cycle, as modelled."""

    device: Device
    cycles: float  # until all has ended
    scale: float  # times as many for all its blocks, where some stand for all
    since: float  # the cycle from which instructions were recorded
    recorded: float  # up to which
    slots: int  # blocks that reside at once
    warps: int  # of a block; a place is slot * warps + warp
    blocks: I64  # (B,) in the order they came
    begun: F64  # (B,) when
    ended: F64
    code: tuple[Instruction, ...]
    events: Events  # instructions issued
    spans: Spans  # what each place does or waits for
    lines: I32  # (Q,) that each request touches
    turns: I32  # (Q,) its wavefronts or packets

    @property
    def places(self) -> int:
        """Lanes of the picture: warps that can be resident at once."""
        return self.slots * self.warps

    def only(self, warps: int) -> Timeline:
        """The same with the first warps of a block that is alone, where others end at once."""
        assert len(self.blocks) == 1, "warps of several blocks are numbered by their block"
        return replace(self, warps=warps, spans=self.spans.only(warps))

    @property
    def whole(self) -> bool:
        """Whether all blocks of the multiprocessor are there, to the end."""
        return self.scale == 1.0 and self.since == 0.0 and self.recorded >= self.cycles

    def block_and_warp(self, event: int) -> tuple[int, int]:
        """The block, as the grid numbers it, and the warp in it that issued an instruction."""
        index, warp = divmod(int(self.events.number[event]), self.warps)
        return int(self.blocks[index]), warp

    def line(self, event: int) -> int:
        """The line of the source that an instruction issued is of, 0 where that is not told."""
        return self.code[int(self.events.instruction[event])].line

    def turn(self, event: int) -> int:
        """The how-manieth request of its warp on its line this is: 1 for the first, 0 for none."""
        e = self.events
        if e.request[event] < 0:
            return 0
        same = (e.number[: event + 1] == e.number[event]) & (e.request[: event + 1] >= 0)
        lines = np.array([one.line for one in self.code])
        return int((lines[e.instruction[: event + 1][same]] == self.line(event)).sum())


def timeline_of(prediction: Prediction, since: float = 0.0, most: int = MOST) -> Timeline:
    """Simulate a launch's multiprocessor once more, and keep what happens from a cycle on, as far
    as so many instructions reach.

    Raises
    ------
    InputError : all is over before the cycle
    """
    work, device = prediction.work, prediction.device
    known = facts(device, prediction.circumstances, work.code)
    if not 0 <= since < prediction.outcome.cycles:
        end = prediction.outcome.cycles
        raise InputError(f"cycle {since:,.0f}: the multiprocessor works from 0 to {end:,.0f}")
    lead = max(since - _LEAD, 0.0)
    outcome = run(work, known, prediction.near, native(sim.RECORDED), room=most, since=lead)
    log = outcome.log
    assert log is not None
    slots = min(known.slots, len(work.blocks))
    last = float(log.at[-1]) + 1.0 if len(log) == most else outcome.cycles
    return Timeline(
        device,
        outcome.cycles,
        prediction.scale,
        since,
        last,
        slots,
        work.warps,
        np.array(work.blocks, np.int64),
        outcome.begun,
        outcome.ended,
        tuple(Instruction(i.text, i.line) for i in prediction.code),
        _events(log),
        spans_of(log, work, slots, (outcome.begun, outcome.ended), (lead, last)),
        np.diff(work.traffic.first).astype(np.int32),
        work.traffic.turns,
    )


def _events(log: IssueLog) -> Events:
    types = {"F32": np.float32, "I32": np.int32}
    return Events(*(getattr(log, f.name).astype(types[str(f.type)]) for f in fields(Events)))


SECTORS = 4.0  # that L1 can give in a cycle: a line


@dataclass(frozen=True, eq=False)
class Busy:
    """(columns,) the part that is used of what there is, 0 to 1, of `resource`: "issue" (slots),
    "lsu" (L1 and shared memory at work), "l1" (sectors found there), "l2" and "dram" (at work, of
    this multiprocessor's share). `lost` (columns,) of "l1" are sectors that were not there.
    """

    resource: str
    used: F64
    lost: F64 | None = None


def tracks(timeline: Timeline, begin: float, end: float, columns: int) -> tuple[Busy, ...]:
    """The resources between two cycles, in equal columns."""
    edges, curves = np.linspace(begin, end, columns + 1), _curves(timeline)
    wide = (end - begin) / columns

    def share(name: str, most: float = 1.0) -> F64:
        return np.asarray(curves[name].between(edges) / (most * wide), np.float64)

    hit, missed = share("hit", SECTORS), share("missed", SECTORS)
    whole = np.maximum(hit + missed, 1.0)
    return (
        Busy("issue", np.minimum(share("issue", PARTS), 1.0)),
        Busy("lsu", np.clip(share("lsu"), 0.0, 1.0)),
        Busy("l1", hit / whole, missed / whole),
        Busy("l2", np.clip(share("l2"), 0.0, 1.0)),
        Busy("dram", np.clip(share("dram"), 0.0, 1.0)),
    )


@dataclass(frozen=True, eq=False)
class _Curve:
    """An amount that has come by each of some cycles, in order; evenly between where it `flows`."""

    at: F64
    amount: F64
    flows: bool

    def between(self, edges: F64) -> F64:
        """What comes from each edge to the next."""
        if not len(self.at):
            return np.zeros(len(edges) - 1)
        if self.flows:
            return np.diff(np.interp(edges, self.at, self.amount))
        come = np.concatenate([[0.0], self.amount])
        return np.diff(come[np.searchsorted(self.at, edges, side="left")])


@kept_with_first(4)
def _curves(timeline: Timeline) -> dict[str, _Curve]:
    """What is worked and moved, added up once for all zooms."""
    e = timeline.events
    order = np.argsort(e.end, kind="stable")
    ended = e.end[order].astype(np.float64)
    found = {
        name: _Curve(ended, np.cumsum(sectors[order], dtype=np.float64), False)
        for name, sectors in (("hit", e.hit), ("missed", e.missed))
    }
    issued = np.arange(1, len(e) + 1, dtype=np.float64)
    return found | {
        "issue": _Curve(e.at.astype(np.float64), issued, False),
        "lsu": _work(e.begin, e.end),
        "l2": _work(e.l2_end - e.l2_busy, e.l2_end),
        "dram": _work(e.dram_end - e.dram_busy, e.dram_end),
    }


def _work(begin: F32, end: F32) -> _Curve:
    """The cycles worked by something that does one thing after another."""
    some = np.flatnonzero(end > begin)
    order = some[np.argsort(end[some], kind="stable")]
    low, high = begin[order].astype(np.float64), end[order].astype(np.float64)
    done = np.cumsum(high - low)
    at = np.stack([low, high], axis=1).ravel()
    amount = np.stack([done - (high - low), done], axis=1).ravel()
    return _Curve(np.maximum.accumulate(at), amount, True)
