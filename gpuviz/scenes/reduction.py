"""Reduction: the sum of a block's elements, four ways, from idle lanes to shuffled registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpuviz.arch import Architecture, architecture
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.panels.script import Step, StepKind
from gpuviz.runners.base import Run
from gpuviz.scenes import values as of
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.together.reduction_rounds import Round, Rounds, rounds_of
from gpuviz.scenes.together.reduction_view import (
    Cost,
    cost_of,
    cost_table,
    draw,
    lay_out,
    name_of,
    now_figures,
)
from gpuviz.scenes.together.ways import Words, ways
from gpuviz.trace import LANES

_KERNEL = "reduction.cu"
_WAYS = ("interleaved", "packed", "sequential", "shuffled")
_LOAD, _ROUND, _END = 1.5, 1.7, 4.0  # seconds

PARAMETERS = (
    Parameter(
        "way",
        "added",
        "interleaved",
        hint="which thread adds which words",
        choices=(
            Choice("interleaved", "neighbours first"),
            Choice("packed", "neighbours, by whole warps"),
            Choice("sequential", "halves onto halves"),
            Choice("shuffled", "by warp shuffles"),
        ),
    ),
    Parameter(
        "threads",
        "threads per block",
        128,
        compiled=True,
        hint="and elements of its sum",
        choices=tuple(Choice(n, str(n)) for n in (64, 128, 256)),
    ),
    Parameter(
        "blocks",
        "blocks",
        4,
        hint="the times of a GPU mean something for many only",
        choices=tuple(Choice(n, str(n)) for n in (4, 64, 1024, 4096)),
    ),
)

PRESETS = (
    Preset("Neighbours first", {"way": "interleaved", "threads": 128, "blocks": 4}),
    Preset("Whole warps", {"way": "packed", "threads": 128, "blocks": 4}),
    Preset("Halves", {"way": "sequential", "threads": 128, "blocks": 4}),
    Preset("Shuffles", {"way": "shuffled", "threads": 128, "blocks": 4}),
    Preset("A million elements", {"way": "shuffled", "threads": 256, "blocks": 4096}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """All four ways are launched; the story is of one, the table of all."""
    threads, blocks = of.number(values, "threads"), of.number(values, "blocks")
    arguments = f"f32[{threads * blocks}]=rand", f"f32[{blocks}]=zeros"
    return tuple(
        Plan(
            way,
            _KERNEL,
            way,
            (blocks, 1, 1),
            (threads, 1, 1),
            arguments,
            (("THREADS", str(threads)),),
            path=True,
        )
        for way in _WAYS
    )


@dataclass(frozen=True, eq=False)
class _Scene:
    """What the pictures of one story share."""

    rounds: Rounds
    costs: tuple[Cost, ...]
    now: int
    words: Words
    steps: tuple[Step, ...]

    def done(self, t: float) -> float:
        """Rounds that are over at time t, the fraction being the one under way."""
        count = len(self.rounds.rounds)
        now = next((i for i, s in enumerate(self.steps[:count]) if t < s.end), count)
        if now == count:
            return float(count)
        step = self.steps[now]
        return now + (t - step.start) / (step.end - step.start)


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The rounds of block 0, and what each way costs."""
    way, threads = str(values["way"]), of.number(values, "threads")
    every = {name: rounds_of(runs[name], architecture(runs[name].arch)) for name in _WAYS}
    costs = tuple(cost_of(name, runs[name], every[name]) for name in _WAYS)
    rounds, now = every[way], _WAYS.index(way)
    words = Words(_title(way), _sentence(rounds, costs[now]), _compared(costs))
    scene = _Scene(rounds, costs, now, words, _steps(rounds, runs[way], way))
    expected = _expected(way, threads, architecture(runs[way].arch))
    return Story(words.title, words.said, scene.steps, _picture(scene), expected)


def _title(way: str) -> str:
    """What is to be seen."""
    return {
        "interleaved": tr("Neighbours first: the warps stay, their lanes drop out"),
        "packed": tr("The same sums by whole warps: now lanes collide in the banks"),
        "sequential": tr("Halves onto halves: whole warps, words side by side"),
        "shuffled": tr("Shuffles hand registers on: shared memory is hardly needed"),
    }[way]


def _sentence(rounds: Rounds, cost: Cost) -> str:
    """What the sum costs."""
    adds = sum(r.lanes for r in rounds.steps)
    return tr(
        "{n} additions in {steps} steps: {issued} lanes issued, {waves} wavefronts of "
        "shared memory.",
        n=adds,
        steps=len(rounds.steps),
        issued=cost.issued,
        waves=f"{cost.wavefronts:g}",
    )


def _compared(costs: tuple[Cost, ...]) -> tuple[str, str]:
    """Title and sentence of the table."""
    first, last = costs[0], costs[-1]
    return (
        tr("Four ways to the same sum"),
        tr(
            "From neighbours to shuffles: {a} wavefronts become {b}, {c} instructions {d}.",
            a=f"{first.wavefronts:g}",
            b=f"{last.wavefronts:g}",
            c=f"{first.instructions:g}",
            d=f"{last.instructions:g}",
        ),
    )


def _steps(rounds: Rounds, run: Run, way: str) -> tuple[Step, ...]:
    """Load, the rounds, and the sum."""
    made: list[Step] = []
    for number, one in enumerate(rounds.rounds):
        t = made[-1].end if made else 0.0
        end = t + (_LOAD if one.kind == "load" else _ROUND)
        kind: StepKind = (
            "load"
            if one.kind == "load"
            else ("compute" if rounds.shuffles and one.kind == "add" else "shared")
        )
        made.append(Step(t, end, kind, name_of(rounds, number), _detail(one), one.line, way))
    line = next(i.line for i in run.trace.instructions if i.space == "global" and i.op == "store")
    t = made[-1].end
    return *made, Step(t, t + _END, "result", tr("result"), tr("one sum a block"), line, way)


def _detail(one: Round) -> str:
    """A round in a few words."""
    if one.kind == "load":
        return tr("{n} elements", n=one.lanes)
    if one.kind == "move":
        return tr("{n} words through shared memory", n=one.lanes)
    lanes = tr("{a} of {b} lanes add, {apart} apart", a=one.lanes, b=one.issued, apart=one.apart)
    if not one.wavefronts:
        return lanes
    return tr("{lanes} · {n} wavefronts", lanes=lanes, n=one.wavefronts)


def _expected(way: str, threads: int, arch: Architecture) -> str:
    """What arithmetic alone says of a block."""
    steps = threads.bit_length() - 1
    additions = tr("closed form: {n} additions in {steps} steps", n=threads - 1, steps=steps)
    if not arch.has_sectors:  # banks of other widths, or half warps: another rule
        return additions
    waves = expected_wavefronts(way, threads)
    return tr("{additions}, {n} wavefronts a block", additions=additions, n=waves)


def expected_wavefronts(way: str, threads: int) -> int:
    """Wavefronts of a block with 32 banks of 32 bits.

    A step is two loads and a store: one wavefront for each warp that takes part, times the lanes
    that meet in a bank. Around it, a store of each warp and the load of the sum (or of all sums of
    the warps).
    """
    warps = threads // LANES
    if way == "shuffled":
        return warps + 1
    aparts = [1 << k for k in range(threads.bit_length() - 1)]
    adders = [threads // (2 * apart) for apart in aparts]
    each = {
        "interleaved": [min(warps, n) for n in adders],
        "packed": [
            max(n * min(2 * a, LANES) // LANES, 1) for n, a in zip(adders, aparts, strict=True)
        ],
        "sequential": [max(n // LANES, 1) for n in adders],
    }[way]
    return 3 * sum(each) + warps + 1


def _names() -> tuple[str, ...]:
    """The ways in words."""
    return (
        tr("neighbours first"),
        tr("neighbours, whole warps"),
        tr("halves onto halves"),
        tr("warp shuffles"),
    )


def _picture(scene: _Scene) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""

    def frame(t: float, given: Stage) -> Frame:
        done = scene.done(t)
        return ways(
            given,
            scene.words,
            len(_WAYS),
            t >= scene.steps[-1].start,
            lambda stage, area: draw(stage, lay_out(stage, area, scene.rounds), done),
            lambda stage, area: now_figures(stage, area, scene.rounds, done),
            lambda stage, area: cost_table(stage, area, scene.costs, _names(), scene.now),
        )

    return frame


LESSON = Lesson(
    "reduction",
    "Reduction",
    "Putting it together",
    "Which lanes are still at work in every step of a sum, and how often the banks are asked.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("reduction", "divergence", "bank", "conflict", "shuffle", "barrier"),
)
