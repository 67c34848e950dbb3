"""A lesson made of a user's own kernel: what can be chosen to be shown of its launch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from gpuviz.run.run import Run
from gpuviz.story.kernel_launch import KernelLaunch, record_of
from gpuviz.story.lesson import Lesson, Parameter, Plan, Story, Values
from gpuviz.story.own_kernel import pictures, story
from gpuviz.story.own_kernel.events import ALL
from gpuviz.story.own_kernel.story import WarpSelection
from gpuviz.story.values import number
from gpuviz.words.language import later, tr

CHAPTER = later("Your kernels")
ROLE = "kernel"
FORMER = ("turn",)  # the how-manieth time around a loop; now all are on the time line
_MOST_BLOCKS = 1 << 20


def parameters_of(block: Parameter, warps: int, runs: bool = True) -> tuple[Parameter, ...]:
    """Which block and warp, or all, in which picture; what happens after faults where it `runs`."""
    warp = Parameter("warp", tr("warp shown"), 0, 0, warps - 1)
    hint = tr("What all warps of the block do, in the order in which they were run here.")
    every = (Parameter("every", tr("all warps"), False, hint=hint),) if warps > 1 else ()
    chosen = (one for one in (block, warp) if len(one.choices) > 1 or one.maximum > one.minimum)
    return (*chosen, *every, *pictures.parameters(runs))


def lesson_of(launch: KernelLaunch) -> Lesson:
    """The launch as a lesson."""
    last = min(launch.blocks, _MOST_BLOCKS) - 1
    block = Parameter("block", tr("block shown"), 0, 0, last)
    plan = Plan(
        ROLE,
        str(launch.path.absolute()),
        launch.entry,
        launch.grid,
        launch.block,
        launch.arguments,
        launch.defines,
        launch.dynamic_shared,
        path=True,
        options=launch.options,
    )
    return Lesson(
        _id(launch),
        f"{launch.name} ({launch.path.name})",
        CHAPTER,
        tr("What the memory system makes of your own kernel, request by request."),
        parameters_of(block, launch.warps),
        (),
        lambda values: (_planned(plan, values),),
        narrate,
        launch=record_of(launch),
        former=FORMER,
    )


def _planned(plan: Plan, values: Values) -> Plan:
    """The launch, of which the block shown is recorded."""
    return replace(plan, record=(_chosen(values, "block"),), goes_on=bool(values.get("goes_on")))


def _id(launch: KernelLaunch) -> str:
    """Of the kernel, however it is launched."""
    told = repr((str(launch.path), launch.name))
    return "kernel-" + hashlib.sha256(told.encode()).hexdigest()[:12]


def _chosen(values: Values, name: str) -> int:
    """A parameter's value; those with one possible value are left out of the lesson."""
    return number(values, name) if name in values else 0


def narrate(values: Values, runs: Mapping[str, Run]) -> Story:
    """All that the chosen warp, or every warp of the block, did, in its order."""
    warp = ALL if values.get("every") else _chosen(values, "warp")
    return story.narrate(ROLE, WarpSelection(_chosen(values, "block"), warp), values, runs)
