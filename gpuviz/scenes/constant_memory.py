"""Constant memory: one word for the whole warp is a broadcast, different words take turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import I64
from gpuviz.draw.figures import line_height, sourced
from gpuviz.draw.heading import heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.series import Series, chart
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.measured import Timed, badge_of, device_of, time_of
from gpuviz.scenes.shared_memory.served import Served, costs, served
from gpuviz.scenes.shared_memory.served_view import panels
from gpuviz.scenes.values import number

_KERNEL = "constant.cu"
SPACES = ("constant", "shared", "global")
_COUNT, _LANES, _MOST_STEPS = 256, 32, 8
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
            (_LANES, 1, 1),
            (*table, f"f32[{grid * _LANES}]=zeros", *scalars),
            record=record,
        )

    return tuple(
        one
        for space in SPACES
        for one in (
            launch(space, space, f"{space}_memory", blocks, (distinct, step)),
            launch(space, f"{space} sweep", f"{space}_sweep", _LANES, (step,)),
        )
    )


@dataclass(frozen=True, eq=False)
class _Scene:
    """All that the pictures select from; `slot` is how long one pass takes on the screen."""

    loads: dict[str, Served]
    costs: dict[str, I64]
    distinct: int
    step: int
    slot: float
    title: str
    sentence: str
    times: tuple[Timed | None, ...]
    segments: str

    @property
    def over(self) -> float:
        """When the last of the three has been served."""
        return _SEND + self.slot * max(load.count for load in self.loads.values())

    @property
    def turn(self) -> float:
        """When the chart takes over."""
        return self.over + _END


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The three loads at once, then what each takes for any number of different words."""
    arch = architecture(runs["constant"].arch)
    loads = {space: _load(runs[space], arch, space) for space in SPACES}
    slot = min(_ONE, _ALL / max(load.count for load in loads.values()))
    swept = {space: costs(runs[f"{space} sweep"].trace, arch, space) for space in SPACES}
    distinct, step = number(values, "distinct"), number(values, "step")
    times = tuple(time_of(runs[space]) for space in SPACES)
    scene = _Scene(
        loads,
        swept,
        distinct,
        step,
        slot,
        _title(distinct),
        _sentence(loads),
        times,
        tr("sectors") if arch.has_sectors else tr("segments"),
    )
    return Story(
        scene.title,
        scene.sentence,
        _steps(scene),
        lambda t, given: _frame(scene, t, given.roomy()),
        _expected(distinct, step, arch),
    )


def _load(run: Run, arch: Architecture, space: str) -> Served:
    """The load of the table in block 0: the last one in its space."""
    rows = run.trace.of(space=space, op="load", block=0, warp=0)
    if not len(rows):
        raise InputError(f"the trace has no {space} load of block 0; record block 0")
    return served(run.trace, arch, rows, len(rows) - 1)


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
        "closed form: constant passes {passes}, shared wavefronts {ways}, sectors {sectors}",
        passes=passes,
        ways=ways,
        sectors=sectors,
    )


def _steps(scene: _Scene) -> tuple[Step, ...]:
    """Request, turns, result, chart."""
    load = scene.loads["constant"]
    counts = " · ".join(f"{space} {one.counted}" for space, one in scene.loads.items())
    line, text = load.instruction.line, load.instruction.text
    steps = [Step(0.0, _SEND, "load", tr("request"), f"{text} · {load.counted}", line, "constant")]
    most = max(one.count for one in scene.loads.values())
    edges = np.linspace(0, most, min(most, _MOST_STEPS) + 1).round().astype(int)
    for a, b in zip(edges.tolist(), edges[1:].tolist(), strict=False):
        name = (
            tr("turn {number}", number=b)
            if b == a + 1
            else tr("turns {first} to {last}", first=a + 1, last=b)
        )
        steps.append(
            Step(
                _SEND + a * scene.slot,
                _SEND + b * scene.slot,
                "load",
                name,
                counts,
                line,
                "constant",
            )
        )
    end = scene.turn + _CHART
    sweep = "constant sweep"
    return (
        *steps,
        Step(scene.over, scene.turn, "result", tr("result"), counts, 0, "constant"),
        Step(scene.turn, end, "load", tr("1 to 32 words"), counts, 0, sweep),
        Step(end, end + _CHART_END, "result", tr("the rule"), counts, 0, sweep),
    )


def _frame(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The pure function from time to picture."""
    if t >= scene.turn:
        return _chart(scene, t, stage)
    head, area = heading(stage, scene.title, scene.sentence)
    sent = min(t / _SEND, 1.0)
    now = {
        space: min(max((t - _SEND) / scene.slot, 0.0), float(load.count))
        for space, load in scene.loads.items()
    }
    return stage.frame(*head, *panels(stage, area, scene.loads, sent, now))


def _times(stage: Stage, area: Rect, scene: _Scene) -> tuple[Mark, ...]:
    """How long the launches took, where a GPU has run them."""
    times, palette = scene.times, stage.palette
    device = device_of(times)
    names = (tr("constant"), tr("shared"), tr("global"))
    parts = " · ".join(f"{n} {t.text}" for n, t in zip(names, times, strict=True) if t)
    texts = (f"{parts} · {device}", parts) if parts else (tr("time: {device}", device=device),)
    color = palette.good if parts else palette.muted
    return sourced(stage, area, badge_of(times), color, texts)


def _chart(scene: _Scene, t: float, stage: Stage) -> Frame:
    """Cost over the number of different words, for the three memories."""
    palette = stage.palette
    title = tr("In constant memory different words take turns")
    if (scene.costs["constant"] == np.arange(1, _LANES + 1)).all():
        title = tr("Constant memory takes as many passes as there are different words")
    say = tr(
        "The same kernels with 1 to 32 different words, one block for each; step {step}.",
        step=scene.step,
    )
    head, area = heading(stage, title, say)
    low = line_height(stage)
    words = np.arange(1, _LANES + 1)
    series = (
        Series(tr("constant"), scene.costs["constant"], palette.warn, 7.0),
        Series(tr("global"), scene.costs["global"], palette.good, 4.0),
        Series(tr("shared"), scene.costs["shared"], palette.accent, 2.0),
    )
    titles = (
        tr("different words"),
        tr("passes · {segments} · wavefronts", segments=scene.segments),
    )
    known = (t - scene.turn) / _CHART * (_LANES - 1)
    plot = Rect(area.x, area.y, area.width, area.height - 2 * low)
    marks = chart(stage, plot, words, series, known, scene.distinct, titles)
    first, second = (Rect(area.x, plot.bottom + i * low, area.width, low) for i in (0, 1))
    texts = (
        tr(
            "{source}: one word for the whole warp is a broadcast, different words take turns",
            source=tr("lecture slides on memory sharing and banks, G80"),
        ),
        tr("G80 slides: one word is a broadcast, different words take turns"),
    )
    published = sourced(stage, first, tr("published"), palette.muted, texts)
    return stage.frame(*head, *marks, *published, *_times(stage, second, scene))


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
