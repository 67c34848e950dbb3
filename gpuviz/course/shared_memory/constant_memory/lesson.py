"""Constant memory: one word for the whole warp is a broadcast, others come one by one."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import I64
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.draw.axis import Axis, linear
from gpuviz.draw.ease import passed
from gpuviz.memory.passes import ServedRequest, served
from gpuviz.memory.units import nouns
from gpuviz.panels.lane_words import LaneWords
from gpuviz.panels.layout import Line, columns, first, rows, share
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Curve, Plot, Upright
from gpuviz.panels.ticks import Ticks, TicksLine
from gpuviz.panels.time_bars import TimeBars
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.measured import LaunchTime, time_bars, time_of
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES, Trace
from gpuviz.words.language import grouped, tr, trn

_KERNEL = "constant.cu"
SPACES = ("constant", "shared", "global")
_NARROW = 13.0  # letters: three plots side by side in a small window
_COUNT = 256  # elements of the table
_BLOCKS, _THREADS, _READS = 2048, 256, 256  # of the launches that are timed
_SEND, _ONE, _ALL, _END, _CHART, _CHART_END = 1.4, 1.6, 7.0, 2.0, 4.5, 3.5  # seconds

LOOK_FOR = (
    "How many passes constant memory takes when lanes read different words, where shared memory "
    "takes one wavefront."
)
WORDS = ("constant-memory", "broadcast", "wavefront", "cache", "shared-memory")

PARAMETERS = (
    Parameter("distinct", "different words", 8, 1, 32, hint="that the 32 lanes read together"),
    Parameter("step", "step", 1, 1, 8, hint="elements from one of them to the next"),
    Parameter("blocks", "blocks", 64, 1, 1024, hint="of one warp each; block 0 is shown"),
)

PRESETS = (
    Preset("8 words", {"distinct": 8, "step": 1}),
    Preset("One word", {"distinct": 1, "step": 1}),
    Preset("Two words", {"distinct": 2, "step": 1}),
    Preset("32 words", {"distinct": 32, "step": 1}),
    Preset("32 words, far apart", {"distinct": 32, "step": 8}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The load in each space, many of them beside it, and one launch for 1 to 32 words."""
    blocks = number(values, "blocks")
    pattern = f"i32={number(values, 'distinct')}", f"i32={number(values, 'step')}"
    made = []
    for space in SPACES:
        small = _launch(space, blocks, LANES, (*pattern, "i32=1"), 1)
        large = _launch(space, _BLOCKS, _THREADS, (*pattern, f"i32={_READS}"), _READS)
        beside = small.companion(large.size, large.grid, large.arguments, block=large.block)
        swept = _launch(space, LANES, LANES, pattern[1:], 1)
        role, entry, record = f"{space} sweep", f"{space}_sweep", tuple(range(LANES))
        made += [small, beside, replace(swept, role=role, entry=entry, record=record)]
    return tuple(made)


def _launch(space: str, blocks: int, threads: int, scalars: tuple[str, ...], reads: int) -> Plan:
    table = () if space == "constant" else (f"f32[{_COUNT}]=arange",)
    warps, count = blocks * threads // LANES, blocks * threads
    each = trn("{n} load a lane", "{n} loads a lane", reads)
    shape = (blocks, 1, 1), (threads, 1, 1)
    arguments = (*table, f"f32[{count}]=zeros", *scalars)
    size = f"{trn('{n} warp', '{n} warps', warps, n=grouped(warps))}, {each}"
    return Plan(space, _KERNEL, f"{space}_memory", *shape, arguments, size=size)


def narrate(values: Values, runs: Runs) -> Story:
    """The three loads at once, then what each takes for any number of different words."""
    arch = architecture(runs["constant"].arch)
    loads = {space: _load(runs[space], arch, space) for space in SPACES}
    words = {space: _words(runs[space], load) for space, load in loads.items()}
    swept = {space: costs(runs[f"{space} sweep"].trace, arch, space) for space in SPACES}
    distinct, step = number(values, "distinct"), number(values, "step")
    times = tuple(time_of(runs[space]) for space in SPACES)
    most = max(load.count for load in loads.values())

    script, main = Script("constant"), loads["constant"]
    line, asked = main.instruction.line, f"{main.instruction.text} · {main.counted}"
    brief = dict(zip(SPACES, (tr("constant"), tr("shared"), tr("global")), strict=True))
    counts = " · ".join(f"{brief[space]} {one.counted}" for space, one in loads.items())
    send = script.act(_SEND, "load", tr("request"), asked, line)
    serve = script.series(min(_ONE * most, _ALL), most, "load", _turns, counts, line)
    end = script.act(_END, "result", tr("result"), counts)
    sweep = script.act(_CHART, "load", tr("1 to 32 words"), counts, role="constant sweep")
    last = tr("how long they take")
    ending = script.act(_CHART_END, "result", last, counts, role="constant sweep")

    def at(t: float) -> Picture:
        if t >= end.end:
            rule = _rule(swept["constant"])
            if t >= ending.start:
                only = tr("A pass, a wavefront and a sector differ: only times can be compared.")
                return Picture(rule, only, _bars(loads, times, ending.share(t)))
            plots = _plots(swept, distinct, arch, sweep.share(t))
            wide = columns(*(share(1, plot) for plot in plots), gap=0.2)
            said = tr("1 to 32 different words, step {step}.", step=step)
            body = first(wide, rows(*plots, gap=0.3))
            return Picture(rule, said, body, low=Picture(rule, said, plots[0]))
        sent, turns = send.share(t), serve.counted(t, most)
        parts = (_served(space, loads[space], words[space], arch, sent, turns) for space in SPACES)
        return Picture(_title(distinct), _sentence(loads), rows(*parts, gap=0.3))

    return Story.of(script, at, _expected(distinct, step, arch))


def _load(run: Run, arch: Architecture, space: str) -> ServedRequest:
    """The load of the table in block 0: the last one in its space."""
    rows = run.trace.of(space=space, op="load", block=0, warp=0)
    if not len(rows):
        raise InputError(f"the trace has no {space} load of block 0; record block 0")
    return served(run.trace, arch, rows, len(rows) - 1)


def _words(run: Run, load: ServedRequest) -> I64:
    """(32,) the element each lane reads, counted from where the table starts."""
    buffer = run.trace.launch.buffer_at(int(load.address[0]))
    first = buffer.address if buffer and load.instruction.space == "global" else 0
    return (load.address - first) // load.instruction.width


def costs(trace: Trace, arch: Architecture, space: str) -> I64:
    """(B,) what each recorded block's load in a space takes, by block."""
    loads = trace.of(space=space, op="load", warp=0)
    order = np.argsort(loads.block, kind="stable").tolist()
    return np.array([served(trace, arch, loads, row).count for row in order], np.int64)


def _names() -> dict[str, str]:
    return {
        "constant": tr("constant memory"),
        "shared": tr("shared memory"),
        "global": tr("global memory"),
    }


def _served(
    space: str, load: ServedRequest, words: I64, arch: Architecture, sent: float, turns: float
) -> Line:
    """The load in one memory, of whose turns so many are over, and the ports of that memory."""
    names = {one: (said, _names()[one]) for one, said in _ported(arch).items()}
    turns = min(turns, float(load.count))
    done = tr("{done} of {all}", done=passed(turns), all=load.counted)
    ticks = Ticks(load.count, load.ideal, turns)
    port, ports = _ports(space, words, load, arch)
    return rows(
        TicksLine(names[space], tuple(names.values()), done, ticks),
        LaneWords(words, load.turn, load.counted, sent, turns, port, ports),
    )


def _ports(space: str, words: I64, load: ServedRequest, arch: Architecture) -> tuple[I64, int]:
    """(32,) where each lane's word leaves its memory, and through how many ports words may."""
    if space == "constant":
        return np.zeros(LANES, np.int64), 1
    if space == "shared":
        return words % arch.banks, arch.banks
    return load.turn, load.count


def _ported(arch: Architecture) -> dict[str, str]:
    """The memories, and what their words leave through."""
    return {
        "constant": tr("constant memory: one word a pass"),
        "shared": tr("shared memory: {n} banks", n=arch.banks),
        "global": tr("global memory: {nouns}", nouns=nouns(arch.transaction())),
    }


def _turns(first: int, last: int) -> str:
    """The turns of one act."""
    if first == last:
        return tr("turn {number}", number=first + 1)
    return tr("turns {first} to {last}", first=first + 1, last=last + 1)


def _title(distinct: int) -> str:
    """What the lanes ask for."""
    if distinct == 1:
        return tr("All lanes read one word")
    return tr("32 lanes read {count} different words", count=distinct)


def _sentence(loads: Mapping[str, ServedRequest]) -> str:
    """What the three memories make of it."""
    constant, shared, rest = (loads[s].counted for s in SPACES)
    if loads["constant"].count == 1:
        return tr("A broadcast: constant memory serves the whole warp in one pass.")
    what = {"constant": constant, "shared": shared, "rest": rest}
    return tr("Constant memory: {constant}. Shared memory: {shared}. Global: {rest}.", **what)


def expected(distinct: int, step: int) -> tuple[int, int, int]:
    """Passes, wavefronts and sectors from 5.0 on, when the table starts on a sector."""
    ways = np.bincount(np.arange(distinct) * step % 32).max()
    sectors = len(set((np.arange(distinct) * step // 8).tolist()))
    return distinct, int(ways), sectors


def _expected(distinct: int, step: int, arch: Architecture) -> str:
    """The closed form, for architectures with sectors."""
    if not arch.has_sectors:
        return ""
    passes, ways, sectors = expected(distinct, step)
    return tr(
        "by arithmetic: constant passes {passes}, shared wavefronts {ways}, sectors {sectors}",
        passes=passes,
        ways=ways,
        sectors=sectors,
    )


def _rule(constant: I64) -> str:
    """What the chart shows of constant memory."""
    if (constant == np.arange(1, LANES + 1)).all():
        return tr("Constant memory takes as many passes as there are different words")
    return tr("In constant memory different words come one after the other")


def _plots(
    swept: Mapping[str, I64], distinct: int, arch: Architecture, grown: float
) -> tuple[Plot, ...]:
    """Cost over the number of different words, for each memory in its own unit."""
    units = {
        "constant": tr("passes"),
        "shared": tr("wavefronts"),
        "global": nouns(arch.transaction()),
    }
    inks: dict[str, Ink] = {"constant": "warn", "shared": "accent", "global": "good"}
    most = max(4, *(-(-int(swept[s].max()) // 4) * 4 for s in SPACES))  # as steep as they are
    return tuple(
        _plot(swept[s], distinct, _names()[s], units[s], inks[s], grown, most) for s in SPACES
    )


def _plot(
    cost: I64, distinct: int, name: str, unit: str, ink: Ink, grown: float, most: int
) -> Plot:
    """One memory, on a scale up to `most`."""
    words = range(1, LANES + 1)
    places = (1, 8, 16, 24, 32)
    across = Axis((tr("different words"),), 1, LANES, places, tuple(map(str, places)))
    curve = Curve(words, cost.tolist(), ink, 3.0, grown=grown, answers=True)
    return Plot(
        across,
        linear((unit,), 0, most, most / 4),
        (Upright(distinct, answers=True), curve),
        (name,),
        ink,
        answering=True,
        wide=_NARROW,
    )


def _bars(
    loads: Mapping[str, ServedRequest], times: tuple[LaunchTime | None, ...], over: float
) -> TimeBars:
    """The three memories on one axis of time, with what one load takes in each."""
    notes = [loads[space].counted for space in SPACES]
    return time_bars(zip(_names().values(), times, strict=True), None, notes, over)


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
