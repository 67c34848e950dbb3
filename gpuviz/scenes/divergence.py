"""Divergence: groups of lanes take two paths; who is at work while a warp's instructions go out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpuviz.arrays import I32, Bool
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.base import (
    Choice,
    Lesson,
    Parameter,
    Plan,
    Preset,
    Step,
    StepKind,
    Story,
    Values,
)
from gpuviz.scenes.global_memory.divergence_view import Cost, Way, picture
from gpuviz.scenes.values import no_such_warp as problem
from gpuviz.trace import LANES, Stretch, lane_mask

_KERNEL, _ENTRY, _BLOCKS = "divergence.cu", "two_paths", 4
_SHOWN, _OTHER = "groups", "compared"
_WAYS = ("", "path A", "path B")  # how the kernel's text marks its lines
_COMMON, _PATH, _END = 2.0, 4.0, 3.0  # seconds

PARAMETERS = (
    Parameter(
        "group",
        "lanes in a group",
        16,
        choices=tuple(Choice(n, str(n)) for n in (1, 2, 4, 8, 16, 32, 64)),
        hint="groups take path A and path B in turn",
    ),
    Parameter("first", "repetitions of path A", 6, 1, 24),
    Parameter("second", "repetitions of path B", 6, 1, 24),
    Parameter(
        "threads",
        "threads per block",
        128,
        choices=tuple(Choice(n, str(n)) for n in (64, 128, 256)),
    ),
    Parameter("warp", "warp shown", 0, 0, 7, hint="of block 0"),
)

PRESETS = (
    Preset("Groups of 16", {"group": 16, "first": 6, "second": 6, "warp": 0}),
    Preset("Groups of 1", {"group": 1, "first": 6, "second": 6, "warp": 0}),
    Preset("Groups of 32", {"group": 32, "first": 6, "second": 6, "warp": 0}),
    Preset("A short and a long path", {"group": 8, "first": 2, "second": 16, "warp": 0}),
)


def compared_with(group: int) -> int:
    """The group size to compare with: whole warps, or half warps when those are shown."""
    return LANES if group < LANES else LANES // 2


def plan(values: Values) -> tuple[Plan, ...]:
    """The launch shown, and one with groups of another size."""
    group = int(values["group"])
    return _launch(_SHOWN, values, group), _launch(_OTHER, values, compared_with(group))


def _launch(role: str, values: Values, group: int) -> Plan:
    threads = int(values["threads"])
    count = threads * _BLOCKS
    arguments = (
        f"f32[{count}]=rand",
        f"f32[{count}]=zeros",
        f"i32={group}",
        f"i32={values['first']}",
        f"i32={values['second']}",
    )
    return Plan(
        role, _KERNEL, _ENTRY, (_BLOCKS, 1, 1), (threads, 1, 1), arguments, path=role == _SHOWN
    )


def way_of(run: Run, warp: int) -> Way:
    """The way of a warp of block 0 through the program."""
    if run.trace.path is None:
        raise InputError("the run has no path; ask for it in the plan")
    mine = run.trace.path.of(0, warp)
    steps = [run.trace.stretches[i] for i in mine.stretch.tolist()]
    active = lane_mask(mine.active)
    count = np.array([s.count for s in steps], np.int64)
    text = run.trace.source.splitlines()
    path = _paths(steps, active, text)
    line = np.array([_line(s, text, int(p)) for s, p in zip(steps, path, strict=True)], np.int32)
    return Way(warp, np.cumsum(count) - count, count, active, path, line)


def _paths(steps: list[Stretch], active: Bool, text: list[str]) -> I32:
    """(P,) 0 for what all do, 1 for path A, 2 for path B, by the lines of each stretch.

    Stretches that belong to no marked line go with those of the same lanes beside them.
    """
    path = [_marked(step, text) for step in steps]
    for i, step in enumerate(steps):
        if path[i] == 0 and i and not step.lines:
            path[i] = path[i - 1]
    for i in range(len(steps) - 2, -1, -1):
        if path[i] == 0 and not active[i].all() and (active[i] == active[i + 1]).all():
            path[i] = path[i + 1]
    return np.array(path, np.int32)


def _marked(step: Stretch, text: list[str]) -> int:
    """Which path the lines of a stretch are marked with, 0 for none."""
    return next((way for way in (1, 2) for line in step.lines if _WAYS[way] in text[line - 1]), 0)


def _line(step: Stretch, text: list[str], path: int) -> int:
    """The line that stands for a stretch: the computation of a path, or its last one."""
    body = [line for line in step.lines if path and "x = " in text[line - 1]]
    own = [line for line in step.lines if text[line - 1].strip() not in ("}", "{")]
    return next(iter(body), own[-1] if own else 0)


def cost_of(run: Run, group: int) -> Cost:
    """What a launch costs: instructions that each warp issues, and how many lanes they serve."""
    warps = run.trace.launch.warps_per_block * run.trace.launch.blocks
    fork = min(run.trace.branches, key=lambda b: b.line)
    ran = sum(b.warps for b in run.trace.branches)
    split = sum(b.divergent for b in run.trace.branches)
    return Cost(
        group,
        run.trace.warp_instructions / warps,
        run.trace.thread_instructions / (LANES * warps),
        fork.warps,
        fork.divergent,
        (ran - split) / ran,
    )


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of one warp."""
    group = int(values["group"])
    way = way_of(runs[_SHOWN], int(values["warp"]))
    costs = (cost_of(runs[_SHOWN], group), cost_of(runs[_OTHER], compared_with(group)))
    steps = _steps(way)
    title, sentence = _title(way), _sentence(way, costs)

    def frame(t: float, given: Stage) -> Frame:
        return picture(given.roomy(), way, costs, title, sentence, _slot(steps, way, t))

    return Story(title, sentence, steps, frame, _expected(runs[_SHOWN], group))


def _steps(way: Way) -> tuple[Step, ...]:
    """One step for each part in which the same lanes are on the same path, then the result."""
    made: list[Step] = []
    for part in way.parts:
        t = made[-1].end if made else 0.0
        lanes = int(way.active[part.start].sum())
        rows = slice(part.start, part.stop)
        detail = tr("{n} instructions, {lanes} lanes", n=int(way.count[rows].sum()), lanes=lanes)
        kind: StepKind = "compute" if part.path else "load" if part.start == 0 else "store"
        made.append(
            Step(
                t,
                t + (_PATH if part.path else _COMMON),
                kind,
                way.name(part),
                detail,
                int(way.line[rows].max()),
                _SHOWN,
            )
        )
    t = made[-1].end
    share = 100 * way.active.T.dot(way.count).sum() / (LANES * way.total)
    detail = tr("{share} % of lanes at work", share=f"{share:.0f}")
    return *made, Step(t, t + _END, "result", tr("result"), detail, role=_SHOWN)


def _slot(steps: tuple[Step, ...], way: Way, t: float) -> float:
    """How many instructions have been issued at time t."""
    ends = [int(way.start[p.stop - 1] + way.count[p.stop - 1]) for p in way.parts]
    return float(np.interp(t, [0.0, *(s.end for s in steps[:-1])], [0, *ends]))


def _title(way: Way) -> str:
    """Whether the warp splits."""
    if len({p.path for p in way.parts} - {0}) == 2:
        return tr("Two paths in one warp: it goes both, one after the other")
    return tr("All lanes of the warp take the same path, so nobody waits")


def _sentence(way: Way, costs: tuple[Cost, Cost]) -> str:
    """What it costs beside the other group size."""
    mine, other = costs
    if mine.group < LANES:
        more = 100 * (mine.issued / other.issued - 1)
        return tr(
            "Lanes of the other path wait: {more} % more instructions than with groups of {n}.",
            more=f"{more:.0f}",
            n=other.group,
        )
    return tr(
        "Groups of {n} part between warps, not within them: no lane is switched off.", n=mine.group
    )


def _expected(run: Run, group: int) -> str:
    """How many warps part, by arithmetic alone."""
    launch = run.trace.launch
    warps = launch.warps_per_block * launch.blocks
    return tr(
        "closed form: groups of {group} part {n} of {warps} warps",
        group=group,
        n=warps if group < LANES else 0,
        warps=warps,
    )


LESSON = Lesson(
    "divergence",
    "Divergence",
    "Global memory",
    "Which lanes are switched off while a warp goes two paths, and why groups of 32 are free.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("divergence", "active-lane", "branch", "branch-efficiency", "path", "warp"),
)
