"""Pipeline: tiles come through a ring of stages while others are worked on; too early is a race."""

from dataclasses import dataclass, replace

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.course.matrix_products.stage_launches import (
    BLOCKS,
    DRAWN,
    STAGES,
    TILES,
    WORKERS,
    launches,
    race_words,
    role,
    stage_times,
)
from gpuviz.panels.figures import Figure, FigureRow, TextLine
from gpuviz.panels.layout import rows, spare
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import Answer, Ink
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.swimlanes import Bar, Swimlanes
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES, Finding
from gpuviz.words.language import tr, trn

_ASYNC = (8, 0)  # the first capability with cp.async
_WAIT, _SECONDS, _END = 0.5, 14.0, 4.5  # slots of a barrier; seconds

LOOK_FOR = (
    "How a ring of stages keeps copies under way while warps work, and what goes wrong too early."
)
WORDS = ("copy", "barrier", "race", "tile", "phase", "shared-memory")

PARAMETERS = (
    STAGES,
    Parameter(
        "fault",
        "order",
        "none",
        offers={
            "none": "wait, barrier, copy, read",
            "overwritten": "copy before the barrier",
            "unawaited": "wait for one copy too few",
        },
        compiled=True,
        hint="what each turn of the loop does first",
    ),
    TILES,
)

PRESETS = (
    Preset("Three stages", {"stages": 3}),
    Preset("No pipeline", {"stages": 1}),
    Preset("Double buffer", {"stages": 2}),
    Preset("Overwritten too early", {"stages": 3, "fault": "overwritten"}),
    Preset("Read too early", {"stages": 3, "fault": "unawaited"}),
)


def problem(values: Values) -> str:
    """One stage has nothing to overlap."""
    if number(values, "stages") == 1 and values["fault"] != "none":
        return tr("With one stage nothing overlaps: choose at least 2 stages for this order.")
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """The sum with each number of stages, small and at real size; the chosen one in its order."""
    return launches(values, "pipeline.cu")


@dataclass(frozen=True)
class Event:
    """What a warp does with a stage: it has a tile copied there, or reads it (`op`).

    `phase` is how many barriers the block had passed; `slot` where it stands in the story.
    """

    warp: int
    op: str
    stage: int
    tile: int
    phase: int
    slot: float
    line: int


@dataclass(frozen=True, eq=False)
class Ring:
    """All events, and the slots at which barriers stand; `end` is the last slot."""

    events: tuple[Event, ...]
    barriers: tuple[float, ...]
    end: float

    def after(self, slot: float) -> float:
        """The first barrier after a slot, or the end."""
        return next((one for one in self.barriers if one >= slot), self.end)


def ring_of(run: Run, stages: int) -> Ring:
    """What the block did with its stages, in the order it was issued."""
    rows_ = run.trace.of(block=0, space="shared")
    size = run.trace.launch.threads_per_block * 16
    events, barriers = list[Event](), list[float]()
    step, phase, slot, count = -1, 0, -1.0, dict[tuple[int, str], int]()
    for n in range(len(rows_)):
        did = run.trace.instructions[rows_.instruction[n]]
        if rows_.step[n] != step:
            step, slot = int(rows_.step[n]), slot + 1
        while phase < rows_.phase[n]:
            barriers.append(slot)
            phase, slot = phase + 1, slot + _WAIT
        op = "read" if did.op == "load" else "copy"
        warp = int(rows_.warp[n])
        tile = count.get((warp, op), 0)
        count[warp, op] = tile + 1
        first = int(rows_.address[n][rows_.lanes(n)].min())
        events.append(Event(warp, op, first // size, tile, phase, slot, did.line))
    if not events:
        raise InputError("the trace has no shared accesses of block 0; record block 0")
    assert all(event.stage < stages for event in events)
    return Ring(tuple(events), tuple(barriers), slot + 1)


def narrate(values: Values, runs: Runs) -> Story:
    """The ring turns, tile by tile; then what each number of stages gives, or the race."""
    stages, fault = number(values, "stages"), str(values["fault"])
    run = runs[role(stages)]
    ring, arch = ring_of(run, stages), architecture(run.arch)
    races = [one for one in run.trace.findings if one.check == "race"]
    lanes = _lanes(ring, stages, fault, bool(races))
    script, edges = Script(role(stages)), _edges(ring)
    for number_, (begin, end) in enumerate(edges):
        seconds = (end - begin) / ring.end * _SECONDS
        now = [one for one in ring.events if begin <= one.slot < end]
        line = now[-1].line if now else 0
        if number_ == 0 and stages > 1:
            what = tr("the ring is filled")
            script.act(seconds, "load", what, trn("{n} tile", "{n} tiles", stages - 1), line)
        else:
            name = tr("tile {n}", n=number_ - (stages > 1))
            script.act(seconds, "compute", name, tr("wait, barrier, copy, read"), line)
    turning = script.end
    ending = script.act(_END, "result", tr("result"), tr("what stages give"))
    slots = [0.0, *(end for _, end in edges)]
    times = [0.0, *(step.end for step in script.steps[:-1])]
    said = _sentences(stages, fault, arch)
    lines = _report(races)
    title = _title(stages, fault)

    def at(t: float) -> Picture:
        if t >= turning and not races:
            return _times(values, runs, arch, ending.share(t))
        slot = float(np.interp(t, times, slots))
        which = 0 if slot < edges[0][1] and stages > 1 else 2 if t >= turning else 1
        body = rows(
            replace(lanes, now=slot),
            FigureRow(_figures(ring, slot, stages)),
            *((lines,) if lines is not None else ()),
            *((TextLine((said[3],), "warn"),) if said[3] else ()),
            gap=0.8,
        )
        return Picture(title, said[which], body, longest(said[:3]))

    return Story.of(script, at, _expected(stages, number(values, "tiles")), said[2])


def _edges(ring: Ring) -> list[tuple[float, float]]:
    """Slots of the prologue, if any, and of each tile: from the barrier before it is read."""
    reads: dict[int, float] = {}
    for event in ring.events:
        if event.op == "read":
            reads[event.tile] = max(reads.get(event.tile, 0.0), event.slot + 1)
    ends = [reads[tile] for tile in sorted(reads)]
    begun = [0.0, *ends[:-1]]
    filled = ring.barriers[0] if ring.barriers and ring.events[0].phase == 0 else 0.0
    first = [(0.0, filled)] if filled else []
    begun[0] = filled
    return [*first, *zip(begun, ends, strict=True)]


def _figures(ring: Ring, slot: float, stages: int) -> tuple[Figure, ...]:
    """Tiles that have been read, are there, and are on their way."""
    read = len({e.tile for e in ring.events if e.op == "read" and e.slot + 1 <= slot})
    sent = len({e.tile for e in ring.events if e.op == "copy" and e.slot <= slot})
    total = len({e.tile for e in ring.events if e.op == "read"})
    return (
        Figure(tr("{n} of {all} tiles read", n=read, all=total), "accent", True),
        Figure(trn("{n} tile copied ahead", "{n} tiles copied ahead", sent - read)),
        Figure(tr("at most {n} at a time", n=stages), "muted"),
    )


def _lanes(ring: Ring, stages: int, fault: str, race: bool) -> Swimlanes:
    """The stages, and below them the warps."""
    bars = [*_stage_bars(ring, fault, race), *_warp_bars(ring, stages + 1)]
    bars.sort(key=lambda one: one[0].end)
    tips = [tip for _, tip in bars]
    names = (*(tr("stage {n}", n=n) for n in range(stages)), "")
    return Swimlanes(
        (
            tr("Stages: a tile on its way, then there until it is read. Warps: what each issues."),
            tr("Stages and warps"),
        ),
        (*names, *(tr("warp {n}", n=n) for n in range(DRAWN))),
        tuple(bar for bar, _ in bars),
        0.0,
        lambda n: tips[n],
        3.2,
    )


def _stage_bars(ring: Ring, fault: str, race: bool) -> list[tuple[Bar, str]]:
    """Each tile on its way into its stage, and there; what races is hatched."""
    made: list[tuple[Bar, str]] = []
    copies = {e.tile: e for e in reversed(ring.events) if e.op == "copy"}
    last: dict[int, float] = {}
    for event in ring.events:
        if event.op == "read":
            last[event.tile] = max(last.get(event.tile, 0.0), event.slot + 1)
    reads = {e.tile: e for e in reversed(ring.events) if e.op == "read"}
    for tile, copy in sorted(copies.items()):
        there = max((b for b in ring.barriers if b <= reads[tile].slot), default=copy.slot + 1)
        early = race and fault == "overwritten" and _meets(ring, copy)
        late = race and fault == "unawaited"
        name = (tr("tile {n} on its way", n=tile), tr("tile {n}", n=tile), str(tile))
        tip = tr("tile {n} of global memory comes to stage {stage}", n=tile, stage=copy.stage)
        made.append((Bar(copy.stage, copy.slot, there, name, "load", early), tip))
        held = (tr("tile {n}", n=tile), str(tile))
        tip = tr("tile {n} is read from stage {stage}", n=tile, stage=copy.stage)
        made.append((Bar(copy.stage, there, last[tile], held, "shared", late), tip))
    return made


def _meets(ring: Ring, copy: Event) -> bool:
    """Whether a warp may still read what was in the stage: no barrier is between."""
    return any(
        e.op == "read" and e.stage == copy.stage and e.phase == copy.phase and e.tile < copy.tile
        for e in ring.events
    )


def _warp_bars(ring: Ring, first: int) -> list[tuple[Bar, str]]:
    """What each warp issues, and the barriers between; the warps' rows begin with `first`."""
    made: list[tuple[Bar, str]] = []
    tip = tr("the copies that are needed are awaited, then all warps meet")
    for slot in ring.barriers:
        every = (Bar(first + warp, slot, slot + _WAIT, (), "barrier") for warp in range(DRAWN))
        made += [(bar, tip) for bar in every]
    for e in ring.events:
        if e.op == "copy":
            names = (tr("copy {n}", n=e.tile), str(e.tile))
            said = tr("warp {warp} has its part of tile {n} copied", warp=e.warp, n=e.tile)
        else:
            names = (tr("add {n}", n=e.tile), str(e.tile))
            said = tr("warp {warp} reads tile {n}", warp=e.warp, n=e.tile)
        ink: Ink = "load" if e.op == "copy" else "compute"
        made.append((Bar(first + e.warp, e.slot, e.slot + 1, names, ink), said))
    return made


def _title(stages: int, fault: str) -> str:
    if fault == "overwritten":
        return tr("A stage is filled again while a warp may still read it")
    if fault == "unawaited":
        return tr("A stage is read while its copy may still be under way")
    if stages == 1:
        return tr("No pipeline: copy, wait, read, and begin again")
    return tr("A ring of {n} stages: tiles to come are copied while one is read", n=stages)


def _sentences(stages: int, fault: str, arch: Architecture) -> tuple[str, str, str, str]:
    """While the ring is filled, while it turns, at the end; and what the architecture lacks."""
    begun = tr(
        "cp.async copies past the registers: the warp goes on, and waits only for what it needs."
    )
    turns = {
        "overwritten": tr("The copy goes out before the barrier: the other warp has not come yet."),
        "unawaited": tr("cp.async.wait_group lets one group too many be under way."),
        "none": tr("Wait for the oldest copy, meet at the barrier, copy ahead, read."),
    }[fault]
    if stages == 1:
        turns = tr("With one stage every copy is waited for from its beginning to its end.")
    end = {
        "overwritten": tr("The race check finds it: a read, and a copy over it, in no order."),
        "unawaited": tr("The race check finds it: nobody waited for the copy that is read."),
        "none": tr(
            "One stage fills and is read in turn; of several one is read while the others fill."
        ),
    }[fault]
    lack = ""
    if arch.cc < _ASYNC:
        lack = tr(
            "{arch} has no cp.async (8.0 and later): each copy goes through a register.", arch=arch
        )
    return begun, turns, end, lack


def _report(races: list[Finding]) -> Answer | None:
    """What the race check has found, in words."""
    if not races:
        return None
    return Answer(Lines((Line((tr("Race check"),), bold=True), race_words(races[0]))))


def _times(values: Values, runs: Runs, arch: Architecture, over: float) -> Picture:
    """What each number of stages takes."""
    what = {"n": BLOCKS, "threads": WORKERS * LANES}
    note = tr(
        "{n} blocks of {threads} threads: one on each multiprocessor of an H200, so that "
        "nobody else hides the wait.",
        **what,
    )
    said = _sentences(number(values, "stages"), "none", arch)
    body = rows(
        stage_times(runs, values, over),
        spare(TextLine((note,))),
        *((TextLine((said[3],), "warn"),) if said[3] else ()),
        gap=0.8,
    )
    return Picture(tr("The more tiles are on their way, the sooner the sum is done"), said[2], body)


def _expected(stages: int, tiles: int) -> str:
    """What the ring does by arithmetic."""
    barriers = tiles * (2 if stages == 1 else 1)
    return tr(
        "by arithmetic: {n} barriers, tile k in stage k mod {stages}", n=barriers, stages=stages
    )


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
