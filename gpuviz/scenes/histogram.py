"""Histogram: atomics in global memory, in shared memory, and in a copy for each lane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import I64
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.panels.script import Step, StepKind
from gpuviz.runners.base import Run
from gpuviz.scenes import values as of
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.together.histogram_count import Counting, counting_of
from gpuviz.scenes.together.histogram_view import (
    Cost,
    Moment,
    cost_in_words,
    cost_of,
    cost_table,
    draw,
    lay_out,
    now_figures,
    requests,
    turn_name,
)
from gpuviz.scenes.together.ways import Words, ways

_KERNEL = "histogram.cu"
_WAYS = ("global_atomics", "shared_atomics", "privatised")
_LOAD, _TURNS, _TURN, _PAUSE, _REST, _MERGE, _END = 1.5, 6.0, 1.2, 0.8, 5.0, 2.0, 4.0  # seconds
_MOST_STEPS = 8

PARAMETERS = (
    Parameter(
        "way",
        "counted in",
        "global_atomics",
        choices=(
            Choice("global_atomics", "global memory"),
            Choice("shared_atomics", "shared memory"),
            Choice("privatised", "a copy for each lane"),
        ),
    ),
    Parameter(
        "used",
        "bins in use",
        64,
        hint="values are spread over so many bins",
        choices=tuple(Choice(n, str(n)) for n in (1, 4, 16, 32, 64, 128)),
    ),
    Parameter(
        "values", "values", "rand", choices=(Choice("rand", "random"), Choice("arange", "in order"))
    ),
    Parameter(
        "bins", "bins", 64, compiled=True, choices=tuple(Choice(n, str(n)) for n in (32, 64, 128))
    ),
    Parameter(
        "copies",
        "copies of each bin",
        32,
        compiled=True,
        hint="where every lane has a copy of its own, or some share one",
        choices=tuple(Choice(n, str(n)) for n in (2, 4, 8, 16, 32)),
    ),
    Parameter(
        "each", "values per thread", 8, choices=tuple(Choice(n, str(n)) for n in (8, 32, 128))
    ),
    Parameter(
        "blocks",
        "blocks",
        4,
        hint="of 128 threads",
        choices=tuple(Choice(n, str(n)) for n in (4, 32, 132)),
    ),
)
_THREADS = 128

PRESETS = (
    Preset("Global atomics", {"way": "global_atomics", "used": 64, "each": 8, "blocks": 4}),
    Preset("Shared atomics", {"way": "shared_atomics", "used": 64, "each": 8, "blocks": 4}),
    Preset("A copy for each lane", {"way": "privatised", "used": 64, "each": 8, "blocks": 4}),
    Preset("One bin for all", {"way": "global_atomics", "used": 1, "each": 8, "blocks": 4}),
    Preset(
        "Half a million values", {"way": "shared_atomics", "used": 64, "each": 32, "blocks": 132}
    ),
)


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    used, bins = of.number(values, "used"), of.number(values, "bins")
    if used > bins:
        return tr(
            "Values cannot be spread over {used} bins: there are {bins}.", used=used, bins=bins
        )
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """All three ways are launched; the story is of one, the table of all."""
    blocks, bins = of.number(values, "blocks"), of.number(values, "bins")
    count = blocks * _THREADS * of.number(values, "each")
    arguments = (
        f"u32[{count}]={values['values']}",
        f"u32[{bins}]=zeros",
        f"i32={of.number(values, 'used') - 1}",
        f"i32={count}",
    )
    defines = ("BINS", str(bins)), ("COPIES", str(of.number(values, "copies")))
    return tuple(
        Plan(way, _KERNEL, way, (blocks, 1, 1), (_THREADS, 1, 1), arguments, defines)
        for way in _WAYS
    )


@dataclass(frozen=True, eq=False)
class _Scene:
    """What the pictures of one story share; times in seconds."""

    counting: Counting
    total: I64
    costs: tuple[Cost, ...]
    now: int
    words: Words
    served: float
    rest: float
    copies: int

    def moment(self, t: float) -> Moment:
        """How far the story has come at time t."""

        def share(start: float, end: float) -> float:
            return min(max((t - start) / (end - start), 0.0), 1.0)

        counted = self.rest + _REST
        count = len(self.counting.cell)
        done = share(_LOAD, self.served) * self.counting.turns
        later = share(self.served, self.rest) >= 1
        return Moment(
            share(0.0, _LOAD),
            done,
            1.0 + share(self.rest, counted) * (count - 1) if later else float(t >= self.served),
            share(counted, counted + _MERGE),
        )


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """One warp's atomic turn by turn, the rest of the block, all blocks, and the costs."""
    way, bins = str(values["way"]), of.number(values, "bins")
    run, arch = runs[way], architecture(runs[way].arch)
    copies = of.number(values, "copies") if way == "privatised" else 1
    counting = counting_of(run, arch, bins, copies)
    costs = tuple(cost_of(name, runs[name]) for name in _WAYS)
    served = _LOAD + min(counting.turns * _TURN, _TURNS)
    scene = _Scene(
        counting,
        run.outputs["bins"].astype(np.int64),
        costs,
        _WAYS.index(way),
        Words(_title(way, counting), _sentence(counting), _compared(costs)),
        served,
        served + _PAUSE,
        of.number(values, "copies"),
    )
    return Story(
        scene.words.title,
        scene.words.said,
        _steps(scene, run, way),
        _picture(scene),
        _expected(values, run, counting),
    )


def _title(way: str, counting: Counting) -> str:
    """What becomes of the first request."""
    turns, cost = counting.turns, cost_in_words(counting, int(counting.cost[0]))
    if counting.locks:
        return tr(
            "{cost} a request at least: what locks cost before 5.0 is not modelled", cost=cost
        )
    if way == "global_atomics":
        if turns == 1:
            return tr("Global atomics: every lane wants a bin of its own")
        return tr("Global atomics: lanes that want the same bin take {n} rounds", n=turns)
    if way == "shared_atomics":
        if turns == 1:
            return tr("Shared atomics: one wavefront counts for all lanes")
        if counting.lanes_meet:
            return tr("Shared atomics: {n} wavefronts, as lanes meet in a bank", n=turns)
        return tr("Shared atomics: {n} wavefronts, as bins meet in a bank", n=turns)
    if turns == 1:
        return tr("A copy for each lane: nobody ever waits")
    return tr("{copies} copies of each bin: {n} wavefronts", copies=counting.copies, n=turns)


def _sentence(counting: Counting) -> str:
    """What the block's requests cost."""
    ideal, count = int(counting.ideal.sum()), len(counting.cell)
    cost = cost_in_words(counting, int(counting.cost.sum()))
    if counting.shared:
        return tr(
            "The block's {count} atomic requests take {cost} of shared memory, {ideal} at best.",
            count=count,
            cost=cost,
            ideal=ideal,
        )
    return tr(
        "The block's {count} atomic requests take {cost}; neighbours in order would take {ideal}.",
        count=count,
        cost=cost,
        ideal=ideal,
    )


def _compared(costs: tuple[Cost, ...]) -> tuple[str, str]:
    """Title and sentence of the table."""
    first, shared, private = costs
    if private.wavefronts > shared.wavefronts:
        said = tr(
            "Copies need {a} wavefronts less to count, and {b} more to clear and merge: they "
            "pay for many values.",
            a=shared.atomic - private.atomic,
            b=private.around - shared.around,
        )
    else:
        said = tr(
            "Copies count in {a} wavefronts instead of {b}; to clear and merge them takes {c}.",
            a=private.atomic,
            b=shared.atomic,
            c=private.around,
        )
    return tr("Three places to count in"), said


def _expected(values: Values, run: Run, counting: Counting) -> str:
    """Additions in global memory, by arithmetic alone."""
    launch = run.trace.launch
    count = launch.blocks * launch.threads_per_block * of.number(values, "each")
    if counting.shared:
        return tr(
            "closed form: {bins} × {blocks} additions in global memory instead of {count}",
            bins=counting.bins,
            blocks=launch.blocks,
            count=count,
        )
    sectors = expected_sectors(values, architecture(run.arch))
    if sectors is None:
        return tr("closed form: {count} additions in global memory", count=count)
    return tr("closed form: {n} sectors a request", n=sectors)


def expected_sectors(values: Values, arch: Architecture) -> int | None:
    """Sectors of an atomic request of values in order: a round for each lane of a bin."""
    used = of.number(values, "used")
    if not arch.has_sectors or (values["values"] != "arange" and used > 1):
        return None
    rounds = max(32 // used, 1)
    return rounds * max(min(used, 32) // 8, 1)


def _steps(scene: _Scene, run: Run, way: str) -> tuple[Step, ...]:
    """Load, turns, the rest of the block, all blocks, the costs."""
    counting = scene.counting
    did, kind = counting.instruction, _kind(counting)
    detail = f"{did.text} · {cost_in_words(counting, int(counting.cost[0]))}"
    edges = np.linspace(0, counting.turns, min(counting.turns, _MOST_STEPS) + 1).round()
    steps = [Step(0.0, _LOAD, "load", tr("values"), counting.load.text, counting.load.line, way)]
    for a, b in zip(edges, edges[1:], strict=False):
        start, end = (_LOAD + (scene.served - _LOAD) * float(e) / counting.turns for e in (a, b))
        name = turn_name(counting, int(a) + 1)
        steps.append(Step(start, end, kind, name, detail, did.line, way))
    counted, merged = scene.rest + _REST, scene.rest + _REST + _MERGE
    rest = requests(len(counting.cell))
    merge = [i for i in run.trace.instructions if i.space == "global" and i.op == "reduction"][-1:]
    line = merge[0].line if merge else did.line
    return (
        *steps,
        Step(scene.served, counted, kind, tr("rest of the block"), rest, did.line, way),
        Step(
            counted,
            merged,
            "store",
            tr("all blocks"),
            tr("{n} blocks", n=run.trace.launch.blocks),
            line,
            way,
        ),
        Step(merged, merged + _END, "result", tr("result"), scene.words.over[0], 0, way),
    )


def _kind(counting: Counting) -> StepKind:
    return "shared" if counting.shared else "store"


def _names(copies: int) -> tuple[str, ...]:
    """The ways in words."""
    return (tr("global memory"), tr("shared memory"), tr("{n} copies in shared memory", n=copies))


def _picture(scene: _Scene) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""
    last = scene.rest + _REST + _MERGE
    counting, names = scene.counting, _names(scene.copies)

    def frame(t: float, given: Stage) -> Frame:
        now = scene.moment(t)
        return ways(
            given,
            scene.words,
            len(_WAYS),
            t >= last,
            lambda stage, area: draw(
                stage, lay_out(stage, area, counting), counting, scene.total, now
            ),
            lambda stage, area: now_figures(stage, area, counting, now),
            lambda stage, area: cost_table(stage, area, scene.costs, names, scene.now),
        )

    return frame


LESSON = Lesson(
    "histogram",
    "Histogram",
    "Putting it together",
    "How lanes that count in the same bin take turns, in global memory, in shared memory, and not "
    "at all.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("atomic", "privatisation", "shared-memory", "conflict", "barrier"),
)
