"""Constant memory: one word for the whole warp is a broadcast, different words take turns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import I64
from gpuviz.draw.ease import passed
from gpuviz.draw.plot import Axis, linear
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.memory.served import Served, served
from gpuviz.panels.figures import Sourced
from gpuviz.panels.lane_words import LaneWords
from gpuviz.panels.layout import Line, rows
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Curve, Plot, Upright
from gpuviz.panels.script import Script
from gpuviz.panels.ticks import Ticks, TicksLine
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.measured import Timed, badge_of, device_of, time_of
from gpuviz.scenes.values import number
from gpuviz.trace import LANES, Trace

_KERNEL = "constant.cu"
SPACES = ("constant", "shared", "global")
_COUNT = 256  # elements of the table
_SEND, _ONE, _ALL, _END, _CHART, _CHART_END = 1.4, 1.6, 7.0, 2.0, 4.5, 3.5  # seconds

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
    """The load in each space, and a launch of each in which block b reads b + 1 words."""
    blocks = number(values, "blocks")
    distinct, step = f"i32={number(values, 'distinct')}", f"i32={number(values, 'step')}"

    def launch(space: str, role: str, entry: str, grid: int, scalars: tuple[str, ...]) -> Plan:
        table = () if space == "constant" else (f"f32[{_COUNT}]=arange",)
        record = (0,) if role == space else tuple(range(grid))
        return Plan(
            role,
            _KERNEL,
            entry,
            (grid, 1, 1),
            (LANES, 1, 1),
            (*table, f"f32[{grid * LANES}]=zeros", *scalars),
            record=record,
        )

    return tuple(
        one
        for space in SPACES
        for one in (
            launch(space, space, f"{space}_memory", blocks, (distinct, step)),
            launch(space, f"{space} sweep", f"{space}_sweep", LANES, (step,)),
        )
    )


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The three loads at once, then what each takes for any number of different words."""
    arch = architecture(runs["constant"].arch)
    loads = {space: _load(runs[space], arch, space) for space in SPACES}
    words = {space: _words(runs[space], load) for space, load in loads.items()}
    swept = {space: costs(runs[f"{space} sweep"].trace, arch, space) for space in SPACES}
    distinct, step = number(values, "distinct"), number(values, "step")
    times = tuple(time_of(runs[space]) for space in SPACES)
    most = max(load.count for load in loads.values())

    script, first = Script("constant"), loads["constant"]
    line, asked = first.instruction.line, f"{first.instruction.text} · {first.counted}"
    counts = " · ".join(f"{space} {one.counted}" for space, one in loads.items())
    send = script.act(_SEND, "load", tr("request"), asked, line)
    serve = script.series(min(_ONE * most, _ALL), most, "load", _turns, counts, line)
    end = script.act(_END, "result", tr("result"), counts)
    sweep = script.act(_CHART, "load", tr("1 to 32 words"), counts, role="constant sweep")
    script.act(_CHART_END, "result", tr("the rule"), counts, role="constant sweep")

    def at(t: float) -> Picture:
        if t >= end.end:
            body = rows(_chart(swept, distinct, arch, sweep.share(t)), _published(), _times(times))
            return Picture(_rule(swept["constant"]), _swept_with(step), body)
        sent, turns = send.share(t), serve.counted(t, most)
        parts = (_served(space, loads[space], words[space], sent, turns) for space in SPACES)
        return Picture(_title(distinct), _sentence(loads), rows(*parts, gap=0.3))

    return Story.of(script, at, _expected(distinct, step, arch))


def _load(run: Run, arch: Architecture, space: str) -> Served:
    """The load of the table in block 0: the last one in its space."""
    rows = run.trace.of(space=space, op="load", block=0, warp=0)
    if not len(rows):
        raise InputError(f"the trace has no {space} load of block 0; record block 0")
    return served(run.trace, arch, rows, len(rows) - 1)


def _words(run: Run, load: Served) -> I64:
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


def _served(space: str, load: Served, words: I64, sent: float, turns: float) -> Line:
    """The load in one memory, of whose turns so many are over."""
    names, turns = _names(), min(turns, float(load.count))
    done = tr("{done} of {all}", done=passed(turns), all=load.counted)
    ticks = Ticks(load.count, load.ideal, turns)
    return rows(
        TicksLine(names[space], tuple(names.values()), done, ticks),
        LaneWords(words, load.turn, load.counted, sent, turns),
    )


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


def _sentence(loads: Mapping[str, Served]) -> str:
    """What the three memories make of it."""
    constant, shared, rest = (loads[s].counted for s in SPACES)
    if loads["constant"].count == 1:
        return tr("A broadcast: constant memory serves the whole warp in one pass.")
    return tr(
        "Constant memory: {constant}. Shared memory: {shared}. Global: {rest}.",
        constant=constant,
        shared=shared,
        rest=rest,
    )


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
    return tr("In constant memory different words take turns")


def _swept_with(step: int) -> str:
    """What was run for the chart."""
    return tr(
        "The same kernels with 1 to 32 different words, one block for each; step {step}.", step=step
    )


def _chart(swept: Mapping[str, I64], distinct: int, arch: Architecture, grown: float) -> Plot:
    """Cost over the number of different words; lines that coincide differ in width."""
    words, most = range(1, LANES + 1), max(int(cost.max()) for cost in swept.values())
    lines: tuple[tuple[str, str, Ink, float], ...] = (
        ("constant", tr("constant"), "warn", 7.0),
        ("global", tr("global"), "good", 4.0),
        ("shared", tr("shared"), "accent", 2.0),
    )
    curves = [
        Curve(words, cost, ink, width, name=name, grown=grown, answers=True, value=str(cost[-1]))
        for cost, name, ink, width in (
            (swept[space].tolist(), name, ink, width) for space, name, ink, width in lines
        )
    ]
    places = (1, *range(4, LANES + 1, 2))
    across = Axis((tr("different words"),), 1, LANES, places, tuple(map(str, places)))
    sectors = tr("sectors") if arch.has_sectors else tr("segments")
    up = linear((tr("passes · {segments} · wavefronts", segments=sectors),), 0, most, most / 4)
    return Plot(across, up, (Upright(distinct, answers=True), *curves), answering=True)


def _published() -> Sourced:
    return Sourced(
        (
            tr(
                "{source}: one word for the whole warp is a broadcast, different words take turns",
                source=tr("lecture slides on memory sharing and banks, G80"),
            ),
            tr("G80 slides: one word is a broadcast, different words take turns"),
        )
    )


def _times(times: tuple[Timed | None, ...]) -> Sourced:
    """How long the launches took, where a GPU has run them."""
    device, names = device_of(times), (tr("constant"), tr("shared"), tr("global"))
    parts = " · ".join(f"{n} {t.whole}" for n, t in zip(names, times, strict=True) if t)
    if not parts:
        return Sourced((tr("time: {device}", device=device),), badge_of(times))
    return Sourced((f"{parts} · {device}", parts), badge_of(times), "good")


LESSON = Lesson(
    "constant-memory",
    "Constant memory",
    "Shared memory",
    "How many passes constant memory takes when lanes read different words, where shared memory "
    "takes one wavefront.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("constant-memory", "broadcast", "wavefront", "cache", "shared-memory"),
)
