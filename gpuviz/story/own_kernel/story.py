"""A lesson made of a user's own kernel: what can be chosen of its launch, and the story of that."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from gpuviz.arch import architecture
from gpuviz.draw.hit import following
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.run.run import Run, not_checked
from gpuviz.story.kernel_launch import KernelLaunch, record_of
from gpuviz.story.lesson import Lesson, Parameter, Plan, Story, Values, number
from gpuviz.story.own_kernel import findings, pictures
from gpuviz.story.own_kernel.events import ALL, events_of
from gpuviz.story.own_kernel.moment import Moment, shares, steps_of
from gpuviz.story.own_kernel.pictures import FINDINGS, NAME, picture
from gpuviz.story.own_kernel.search import search
from gpuviz.story.script import Script, step_at
from gpuviz.words.language import later, tr

CHAPTER = later("Your kernels")
ROLE = "kernel"
FORMER = ("turn",)  # the how-manieth time around a loop; now all are on the time line
_MOST_BLOCKS = 1 << 20
_END = 1.5  # seconds


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
        parameters_of(block, launch.warps_per_block),
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
    """What the chosen warp, or all warps of the block, did, from the first event to the last."""
    run, block = runs[ROLE], _chosen(values, "block")
    warp = ALL if values.get("every") else _chosen(values, "warp")
    events = events_of(run.trace, architecture(run.arch), block, warp)
    doubt = _doubt(run.unchecked)
    if not len(events):
        return _nothing(block, warp, doubt)
    steps = steps_of(events, ROLE)

    def moment_at(t: float) -> Moment:
        number = step_at(steps, t)
        return Moment(run, events, number, *shares(steps.edges, number, t), values)

    def at(t: float) -> Picture:
        told = picture(moment_at(t))
        return Picture(told.title, told.sentence, rows(told.body, *doubt))

    story = Story.of(steps, at, search=search(events, steps))
    if values.get(NAME) != FINDINGS:
        return story
    frame = story.frame

    def lit(t: float, stage: Stage) -> Frame:
        lane = findings.lane_at(moment_at(t))
        return frame(t, stage) if lane is None else following(frame(t, stage), lane)

    return replace(story, frame=lit)


def _doubt(file: str) -> tuple[Provenance, ...]:
    """Below the picture of a program that a file brought: what it is worth."""
    return (Provenance((not_checked(file),), tr("not checked"), whole=True),) if file else ()


def _nothing(block: int, warp: int, doubt: tuple[Provenance, ...]) -> Story:
    """A warp without requests to show is no error: it may be beyond the data."""
    who: dict[str, object] = {"warp": warp, "block": block}
    words = (
        tr("Block {block} asks nothing of memory", **who)
        if warp == ALL
        else tr("Warp {warp} of block {block} asks nothing of memory", **who)
    )
    said = tr("Choose another warp or block; the counts beside are of the whole launch.")
    script = Script(ROLE)
    script.act(_END, "result", tr("nothing"))
    return Story.of(script, lambda t: Picture(words, said, rows(*doubt)))
