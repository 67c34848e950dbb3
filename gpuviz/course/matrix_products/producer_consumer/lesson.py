"""Producer and consumers: mbarriers hand stages to and fro, and what is handed back too early."""

from dataclasses import replace

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.course import named
from gpuviz.course.matrix_products.producer_consumer.stages import (
    SIDES,
    Counter,
    Event,
    Mbarrier,
    Ring,
    Slot,
    StageContent,
    StageRing,
    held,
    ring_of,
    spans,
)
from gpuviz.course.matrix_products.stage_launches import (
    BLOCKS,
    COUNTS,
    STAGES,
    TILES,
    WORKERS,
    launches,
    race_words,
    role,
    stage_times,
)
from gpuviz.panels.figures import Figure, FigureRow, Paragraph, TextLine
from gpuviz.panels.layout import Part, rows, share, spare
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import Answer, Ink
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.swimlanes import Bar, Swimlanes
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.script import Script
from gpuviz.traces.trace import Finding
from gpuviz.words.language import tr, trn

_MBARRIER = (8, 0)  # the first capability that has them
_BULK = (9, 0)  # and the first that copies in bulk
_SECONDS, _END = 16.0, 4.5
_EACH = 2  # warps that are drawn of each number of stages

LOOK_FOR = (
    "How mbarriers hand stages between a warp that copies and warps that compute: phases, parity, "
    "who waits for whom, and what happens when a stage is given back too early."
)
WORDS = ("mbarrier", "copy", "barrier", "race", "tile", "phase", "shared-memory")

PARAMETERS = (
    STAGES,
    Parameter(
        "fault",
        "consumers",
        "none",
        offers={
            "none": "wait, read, give back",
            "overwritten": "give back, then read",
            "unawaited": "read, then wait",
        },
        compiled=True,
        hint="in which order consumers wait for a stage, read it, and give it back",
    ),
    TILES,
)

PRESETS = (
    Preset("Three stages", {"stages": 3}),
    Preset("Taking turns", {"stages": 1}),
    Preset("Two stages", {"stages": 2}),
    Preset("Four stages", {"stages": 4}),
    Preset("Given back too early", {"stages": 3, "fault": "overwritten"}),
    Preset("Read too early", {"stages": 3, "fault": "unawaited"}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The sum with each number of stages, small and at real size; the chosen one in its order."""
    return launches(values, "producer_consumer.cu", 1)


def narrate(values: Values, runs: Runs) -> Story:
    """Stages go to and fro, tile by tile; then what each number of stages gives, or the race."""
    stages, fault = number(values, "stages"), str(values["fault"])
    run = runs[role(stages)]
    arch = architecture(run.arch)
    if arch.cc < _MBARRIER:
        return _without(arch)
    ring = ring_of(run.trace)
    races = [one for one in run.trace.findings if one.check == "race"]
    lanes = _lanes(ring, stages)
    beside = _beside(tuple(ring_of(runs[role(n)].trace) for n in COUNTS))
    script, edges = _script(ring, stages)
    turning = script.end
    ending = script.act(_END, "result", tr("result"), tr("what stages give"))
    slots = [0.0, *(end for _, end in edges)]
    times = [0.0, *(step.end for step in script.steps[:-1])]
    said, title = _sentences(stages, fault), _title(stages, fault)
    report = _report(races)

    def at(t: float) -> Picture:
        if t >= turning and not races:
            return _result(values, runs, beside, ending.share(t))
        now = float(np.interp(t, times, slots))
        which = 2 if t >= turning else int(now >= edges[0][1])
        body = rows(
            StageRing(tuple(_slot(ring, stage, now) for stage in range(stages))),
            replace(lanes, now=now),
            spare(FigureRow(_figures(ring, now, stages)), 2),
            spare(_drawn(arch), 3),
            *report,
            gap=0.8,
        )
        return Picture(title, said[which], body, longest(said))

    return Story.of(script, at, _expected(stages, number(values, "tiles")), said[2])


def _script(ring: Ring, stages: int) -> tuple[Script, list[tuple[float, float]]]:
    """An act until the first tile is there, one for each tile; and their steps."""
    ends = dict[int, float]()
    for one in ring.of("read"):
        ends[one.fact.number] = max(ends.get(one.fact.number, 0.0), one.end)
    begun = min(one.start for one in ring.of("read"))
    points = [0.0] * (begun > 0) + [begun, *(ends[tile] for tile in sorted(ends))]
    edges = list(zip(points, points[1:], strict=False))
    script = Script(role(stages))
    for number_, (start, end) in enumerate(edges):
        seconds = (end - start) / ring.end * _SECONDS
        line = next((e.fact.line for e in reversed(ring.events) if start <= e.start < end), 0)
        if number_ == 0 and begun > 0:
            script.act(seconds, "load", tr("the ring is filled"), tr("wait, copy"), line)
        else:
            name = tr("tile {n}", n=number_ - (begun > 0))
            script.act(seconds, "compute", name, tr("wait, read, give back"), line)
    return script, edges


# What is in a stage, and at its mbarriers


def _slot(ring: Ring, stage: int, now: float) -> Slot:
    """What is in a stage, and at its mbarriers."""
    what = held(ring, stage, now)
    names, ink = _names(what, empty=tr("empty"))
    both = tuple(_mbarrier(ring, (side, stage), now) for side in SIDES)
    return Slot(tr("stage {n}", n=stage), names, ink, what.wrong, both)


def _names(what: StageContent, empty: str = "") -> tuple[tuple[str, ...], Ink]:
    """What a stage holds, in words from the longest, and its colour."""
    if what.read >= 0 and what.coming not in (-1, what.read):
        said = tr("tile {n} is read, tile {m} comes", n=what.read, m=what.coming)
        return (said, f"{what.read}, {what.coming}"), "compute"
    tile = max(what.coming, what.there, what.read)
    short = tr("tile {n}", n=tile), str(tile)
    if what.read >= 0 and what.coming >= 0:
        return (tr("tile {n} is read, not there yet", n=tile), *short), "compute"
    if what.coming >= 0:
        return (tr("tile {n} on its way", n=tile), *short), "load"
    if what.read >= 0:
        return (tr("tile {n} is read", n=tile), *short), "compute"
    return (
        ((tr("tile {n} is there", n=tile), *short), "shared") if tile >= 0 else ((empty,), "cell")
    )


def _mbarrier(ring: Ring, which: Mbarrier, now: float) -> Counter:
    """What has come to the phase that is under way."""
    side, stage = which
    over = ring.over.get(which, ())
    phase = sum(end <= now for end in over)
    mine = [e for e in ring.of("arrive") if e.fact.mbarrier == which]
    every = [sum(e.fact.lanes for e in mine if e.fact.number == n) for n in range(len(over))]
    came = sum(e.fact.lanes for e in mine if e.fact.number == phase and e.start <= now)
    missing = sum(
        e.fact.counted and e.start < now < e.end
        for e in ring.of("copy")
        if side == "full" and e.fact.stage == stage
    )
    return Counter(side, phase, came, max(every, default=1), ring.tile_bytes * missing)


def _figures(ring: Ring, now: float, stages: int) -> tuple[Figure, ...]:
    """Tiles that have been read, and those copied ahead."""
    ends = {one.fact.number: one.end for one in ring.of("read")}
    read = sum(end <= now for end in ends.values())
    sent = sum(one.start <= now for one in ring.of("copy"))
    return (
        Figure(tr("{n} of {all} tiles read", n=read, all=len(ends)), "accent", True),
        Figure(trn("{n} tile copied ahead", "{n} tiles copied ahead", max(sent - read, 0))),
        Figure(tr("at most {n} at a time", n=stages), "muted"),
    )


# What is drawn along time


def _lanes(ring: Ring, stages: int) -> Swimlanes:
    """The stages, and below them the producer and the consumers."""
    bars = [*_stage_bars(ring, stages), *_warp_bars(ring, stages + 1)]
    bars.sort(key=lambda one: one[0].end)
    tips = [tip for _, tip in bars]
    warps = (tr("producer"), *(tr("consumer {n}", n=n) for n in range(ring.producer)))
    return Swimlanes(
        (
            tr("Stages: a tile on its way, then there until it is read. Warps: what each does."),
            tr("Stages and warps"),
        ),
        (*(tr("stage {n}", n=n) for n in range(stages)), "", *warps),
        tuple(bar for bar, _ in bars),
        0.0,
        lambda n: tips[n],
        2.0,
    )


def _beside(rings: tuple[Ring, ...]) -> Swimlanes:
    """The producer and the first consumer with each number of stages, when all is over."""
    every = [
        (replace(bar, names=bar.names[-1:]), tip)
        for number_, ring in enumerate(rings)
        for bar, tip in _warp_bars(ring, 0)
        if bar.row < _EACH
        for bar in (replace(bar, row=bar.row + number_ * (_EACH + 1)),)
    ]
    bars = sorted(every, key=lambda one: one[0].end)
    names = [(trn("{n} stage", "{n} stages", n), *[""] * _EACH) for n in COUNTS]
    return Swimlanes(
        (
            tr("With each number of stages: the producer, a consumer below it; grey is waiting."),
            tr("The producer, a consumer below it; grey is waiting."),
        ),
        tuple(name for group in names for name in group)[:-1],
        tuple(bar for bar, _ in bars),
        bars[-1][0].end,
        lambda n: bars[n][1],
        1.4,
    )


def _stage_bars(ring: Ring, stages: int) -> list[tuple[Bar, str]]:
    """Each tile on its way into its stage, and there; where two meet it is hatched."""
    made: list[tuple[Bar, str]] = []
    for stage in range(stages):
        for start, end, what in spans(ring, stage):
            names, ink = _names(what)
            tip = tr("stage {n}", n=stage) + ": " + names[0]
            made.append(
                (
                    Bar(
                        stage, start, end, names[1:] if ink == "shared" else names, ink, what.wrong
                    ),
                    tip,
                )
            )
    return made


def _warp_bars(ring: Ring, first: int) -> list[tuple[Bar, str]]:
    """What each warp waits for, has copied and reads; the producer's row is `first`."""
    made: list[tuple[Bar, str]] = []
    for one in ring.events:
        row = first if one.fact.warp == ring.producer else first + 1 + one.fact.warp
        if told := _event_words(one):
            names, ink, tip = told
            made.append((Bar(row, one.start, one.issued, names, ink), tip))
    return made


def _event_words(one: Event) -> tuple[tuple[str, ...], Ink, str] | None:
    """Names, colour and tip of what a warp does; None of what takes no time."""
    fact = one.fact
    side, stage = fact.mbarrier
    if fact.op == "copy":
        tip = tr("the producer has tile {n} copied to stage {stage}", n=fact.number, stage=stage)
        return (tr("copy {n}", n=fact.number), str(fact.number)), "load", tip
    if fact.op == "read":
        tip = tr("warp {warp} reads tile {n}", warp=fact.warp, n=fact.number)
        return (tr("add {n}", n=fact.number), str(fact.number)), "compute", tip
    if fact.op == "wait" and one.end > one.start:
        what = {"side": side, "stage": stage, "n": fact.number, "parity": fact.number % 2}
        tip = tr(
            "waits until phase {n} of {side} of stage {stage} is over: parity {parity}", **what
        )
        said = tr("waits: {side} {stage}, parity {parity}", **what)
        return (said, tr("waits: {side} {stage}", **what), tr("waits"), ""), "barrier", tip
    return None


# What is said


def _title(stages: int, fault: str) -> str:
    if fault == "overwritten":
        return tr("A stage is given back before it has been read")
    if fault == "unawaited":
        return tr("A stage is read before anybody waited for its bytes")
    if stages == 1:
        return tr("Producer and consumers with one stage: they take turns")
    return tr("Producer and consumers: mbarriers hand {n} stages to and fro", n=stages)


def _sentences(stages: int, fault: str) -> tuple[str, str, str]:
    """While the ring is filled, while it turns, at the end."""
    begun = tr("full counts the bytes that come to a stage, empty the warps that have read it.")
    turns = {
        "overwritten": tr("Consumers arrive at empty first: the producer may fill what they read."),
        "unawaited": tr("Consumers read first and wait for full then: the bytes may not be there."),
        "none": tr("When all have come a phase is over: its parity flips, and who waits goes on."),
    }[fault]
    end = {
        "overwritten": tr("The race check finds it: a read, and a copy over it, in no order."),
        "unawaited": tr("The race check finds it: nobody waited for the copy that is read."),
        "none": tr("The more stages, the further ahead the producer, and the less anybody waits."),
    }[fault]
    if stages == 1 and fault == "none":
        turns = tr("With one stage somebody always waits: the copy for the reads, they for it.")
    return begun, turns, end


def _drawn(arch: Architecture) -> TextLine:
    """What is the trace's, and what is only drawn; what an architecture lacks."""
    scale = tr("Order and waits are the trace's; how long a copy and a read last is only drawn.")
    if arch.cc >= _BULK:
        return TextLine((scale,))
    lack = tr("{arch} has no bulk copies (9.0 and later): each lane copies.", arch=arch)
    return TextLine((f"{lack} {scale}", lack), "warn")


def _report(races: list[Finding]) -> tuple[Part | Answer, ...]:
    """What the race check has found, in words; the first of it always."""
    made: list[Part | Answer] = []
    for one in races:
        head = () if made else (Line((tr("Race check"),), bold=True),)
        answer = Answer(Lines((*head, race_words(one))))
        made.append(spare(answer) if made else answer)
    return tuple(made)


def _result(values: Values, runs: Runs, beside: Swimlanes, over: float) -> Picture:
    """What each number of stages takes."""
    note = tr(
        "{n} blocks of {consumers} consumers and a producer: one on each multiprocessor of "
        "an H200.",
        n=BLOCKS,
        consumers=WORKERS,
    )
    times = stage_times(runs, values, over)
    body = rows(share(1, times), spare(TextLine((note,))), spare(beside), gap=0.8)
    title = tr("What stages give: a producer that is ahead, and consumers that need not wait")
    return Picture(title, _sentences(number(values, "stages"), "none")[2], body)


def _without(arch: Architecture) -> Story:
    """The story on an architecture without mbarriers."""
    script = Script()
    script.act(_END, "result", tr("result"))
    title = tr("{arch} has no mbarriers: 8.0 and later have", arch=arch)
    sentence = tr("Warps of a block can only meet at barriers, all of them or some.")
    text = tr("Choose a later architecture; here each thread loads by itself what it adds up.")
    return Story.of(script, lambda t: Picture(title, sentence, rows(Paragraph(text))))


def _expected(stages: int, tiles: int) -> str:
    """What the ring does by arithmetic."""
    return tr(
        "by arithmetic: tile k goes to stage k mod {stages}; who wants it waits for parity "
        "(k / {stages}) mod 2; {n} phases of full in all",
        n=tiles,
        stages=stages,
    )


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
