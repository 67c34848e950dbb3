"""Hierarchy: grid, blocks, warps and lanes, with the numbers that every thread wrote itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.runners.measurement import Measurement
from gpuviz.scenes.base import Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.organisation.hierarchy_view import Moment, Organisation, Placed, picture
from gpuviz.trace import LANES, Launch

_ROLE, _KERNEL, _ENTRY = "identify", "hierarchy.cu", "identify"
_MOST_STEPS = 8  # of warps; more warps than that are formed several to a step
_GRID, _THREADS, _WARP, _END = 2.5, 4.0, 1.4, 2.5  # seconds

PARAMETERS = (
    Parameter("block_x", "block x", 8, 1, 256, hint="threads along x"),
    Parameter("block_y", "block y", 6, 1, 32, hint="threads along y"),
    Parameter("block_z", "block z", 1, 1, 8, hint="threads along z"),
    Parameter("grid_x", "grid x", 3, 1, 8, hint="blocks along x"),
    Parameter("grid_y", "grid y", 2, 1, 4, hint="blocks along y"),
    Parameter("grid_z", "grid z", 1, 1, 4, hint="blocks along z"),
    Parameter("shown", "block shown", 4, 0, 127, hint="its linear number"),
)

PRESETS = (
    Preset(
        "1-D, 256 threads",
        {
            "block_x": 256,
            "block_y": 1,
            "block_z": 1,
            "grid_x": 4,
            "grid_y": 1,
            "grid_z": 1,
            "shown": 1,
        },
    ),
    Preset(
        "2-D, 8 x 6",
        {
            "block_x": 8,
            "block_y": 6,
            "block_z": 1,
            "grid_x": 3,
            "grid_y": 2,
            "grid_z": 1,
            "shown": 4,
        },
    ),
    Preset(
        "2-D, 16 x 16",
        {
            "block_x": 16,
            "block_y": 16,
            "block_z": 1,
            "grid_x": 4,
            "grid_y": 4,
            "grid_z": 1,
            "shown": 5,
        },
    ),
    Preset(
        "3-D, 4 x 4 x 4",
        {
            "block_x": 4,
            "block_y": 4,
            "block_z": 4,
            "grid_x": 2,
            "grid_y": 2,
            "grid_z": 2,
            "shown": 3,
        },
    ),
    Preset(
        "One thread too many",
        {
            "block_x": 33,
            "block_y": 1,
            "block_z": 1,
            "grid_x": 4,
            "grid_y": 1,
            "grid_z": 1,
            "shown": 0,
        },
    ),
)


def _triple(values: Values, name: str) -> tuple[int, int, int]:
    """Sizes along x, y and z."""
    x, y, z = (int(values[f"{name}_{axis}"]) for axis in "xyz")
    return x, y, z


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    x, y, z = _triple(values, "block")
    gx, gy, gz = _triple(values, "grid")
    if x * y * z > 1024:
        return tr(
            "A block of {x} x {y} x {z} has {n} threads; 1024 is the most a device takes.",
            x=x,
            y=y,
            z=z,
            n=x * y * z,
        )
    if gz > 1 and gx * gy * gz > 64:
        return tr(
            "A grid of {n} blocks in planes is too much to be drawn; take 64 at most.",
            n=gx * gy * gz,
        )
    if int(values["shown"]) >= gx * gy * gz:
        return tr(
            "The grid has no block {shown}: its last one is block {last}.",
            shown=values["shown"],
            last=gx * gy * gz - 1,
        )
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """One launch, in which every thread writes eight numbers."""
    grid, block = _triple(values, "grid"), _triple(values, "block")
    buffer = f"i32[{4 * int(np.prod(grid)) * int(np.prod(block))}]=zeros"
    record = (int(values["shown"]),)
    return (Plan(_ROLE, _KERNEL, _ENTRY, grid, block, (buffer, buffer), record=record),)


def organisation(run: Run, shown: int) -> Organisation:
    """What the threads of a block wrote of themselves, in the order of their numbers."""
    index, number = (run.outputs[name].reshape(-1, 4) for name in ("index", "number"))
    mine = index[:, 3] == shown
    if not mine.any():
        raise InputError(f"no thread of block {shown} wrote its number")
    index, number = index[mine], number[mine]
    order = np.argsort(number[:, 0], kind="stable")
    place = index[order, :3].astype(np.int64)
    thread, warp, lane = (number[order, i].astype(np.int64) for i in range(3))
    return Organisation(run.trace.launch, shown, place, thread, warp, lane, placement(run))


def placement(run: Run) -> Placed | None:
    """The multiprocessor of each block as measured; None when that was not measured."""
    measurement: Measurement | None = run.measurement
    if measurement is None or measurement.placement is None:
        return None
    found = measurement.placement
    sm = dict(zip(found.block.tolist(), found.sm.tolist(), strict=True))
    badge = tr("recorded") if measurement.source == "recorded" else tr("live")
    return Placed(sm, measurement.device.multiprocessors, badge, measurement.device.name)


@dataclass(frozen=True)
class _Part:
    """A stretch of the story, the step and the sentence that belong to it."""

    step: Step
    sentence: str
    moment: Callable[[float], Moment]  # from the share of the stretch that is over


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of one block: numbered, cut into warps."""
    run = runs[_ROLE]
    seen = organisation(run, int(values["shown"]))
    parts = _parts(run, seen)
    title = _title(seen)
    sentences = tuple(part.sentence for part in parts)
    steps = tuple(part.step for part in parts)

    def frame(t: float, given: Stage) -> Frame:
        number = next((i for i, s in enumerate(steps) if t < s.end), len(steps) - 1)
        step = steps[number]
        share = min(max((t - step.start) / (step.end - step.start), 0.0), 1.0)
        return picture(given.roomy(), seen, title, sentences, number, parts[number].moment(share))

    return Story(title, _verdict(seen), steps, frame, _closed_form(seen))


def _parts(run: Run, seen: Organisation) -> tuple[_Part, ...]:
    """Grid, threads, warps, result."""
    text = run.trace.source.splitlines()

    def line(declared: str) -> int:
        return next((n for n, row in enumerate(text, 1) if declared in row), 0)

    launch, count, t = seen.launch, len(seen.thread), _GRID + _THREADS
    blocks = Step(
        0.0,
        _GRID,
        "intro",
        tr("grid"),
        tr("{n} blocks", n=launch.blocks),
        line("int block ="),
        _ROLE,
    )
    threads = Step(
        _GRID, t, "compute", tr("threads"), tr("{n} threads", n=count), line("int thread ="), _ROLE
    )
    made = [
        _Part(blocks, _of_grid(launch, seen.shown), lambda s: Moment(s, 0.0, 0, 0.0)),
        _Part(threads, _of_threads(seen), lambda s: Moment(1.0, s, 0, 0.0)),
    ]
    edges = np.linspace(0, seen.warps, min(seen.warps, _MOST_STEPS) + 1).round().astype(int)
    for first, last in zip(edges.tolist(), edges[1:].tolist(), strict=False):
        name = (
            tr("warp {n}", n=first)
            if last == first + 1
            else (tr("warps {a} to {b}", a=first, b=last - 1))
        )
        lanes = int(((seen.warp >= first) & (seen.warp < last)).sum())
        step = Step(
            t,
            t + _WARP,
            "compute",
            name,
            tr("{n} lanes at work", n=lanes),
            line("int warp ="),
            _ROLE,
        )
        made.append(_Part(step, _of_warps(seen, first, last), _forming(first, last)))
        t = step.end
    detail = tr("{used} of {all} lanes have a thread", used=count, all=seen.warps * LANES)
    result = Step(t, t + _END, "result", tr("result"), detail, role=_ROLE)
    whole = Moment(1.0, 1.0, seen.warps, 0.0)
    return *made, _Part(result, _verdict(seen), lambda s: whole)


def _forming(first: int, last: int) -> Callable[[float], Moment]:
    """Warps from `first` to before `last` are formed together."""
    return lambda share: Moment(1.0, 1.0, first, share, last - first)


def _shape(size: tuple[int, int, int]) -> str:
    """`8 × 6`: without the axes at the end that have one place."""
    kept = size[: max((i + 1 for i, n in enumerate(size) if n > 1), default=1)]
    return " × ".join(map(str, kept))


def _title(seen: Organisation) -> str:
    """What becomes of the block."""
    size, warps = seen.launch.block, seen.warps
    if warps == 1:
        return tr("A block of {shape} threads is one warp", shape=_shape(size))
    how = tr("plane by plane") if size[2] > 1 else tr("row by row") if size[1] > 1 else ""
    text = tr(
        "A block of {shape} threads is cut into {warps} warps", shape=_shape(size), warps=warps
    )
    return f"{text}, {how}" if how else text


def _of_grid(launch: Launch, shown: int) -> str:
    x, y, z = launch.block_index(shown)
    return tr(
        "A grid of {shape} blocks: number {block} is blockIdx ({x}, {y}, {z}), x counts fastest.",
        shape=_shape(launch.grid),
        block=shown,
        x=x,
        y=y,
        z=z,
    )


def _of_threads(seen: Organisation) -> str:
    """The rule with the numbers of one thread."""
    at = min(len(seen.thread) - 1, (len(seen.thread) * 2) // 5)
    x, y, z = seen.place[at].tolist()
    sx, sy, _ = seen.launch.block
    return tr(
        "threadIdx ({x}, {y}, {z}) is thread ({z} × {sy} + {y}) × {sx} + {x} = {thread}: x "
        "counts fastest.",
        x=x,
        y=y,
        z=z,
        sx=sx,
        sy=sy,
        thread=seen.thread[at],
    )


def _of_warps(seen: Organisation, first: int, last: int) -> str:
    """Which threads become lanes of which warps."""
    mine = seen.thread[(seen.warp >= first) & (seen.warp < last)]
    low, high, empty = int(mine.min()), int(mine.max()), (last - first) * LANES - len(mine)
    if last > first + 1:
        text = tr(
            "Warps {a} to {b} take threads {low} to {high}, 32 each.",
            a=first,
            b=last - 1,
            low=low,
            high=high,
        )
    else:
        text = tr(
            "Warp {a} takes threads {low} to {high} as its lanes 0 to {lane}.",
            a=first,
            low=low,
            high=high,
            lane=int(seen.lane[seen.warp == first].max()),
        )
    return f"{text} {tr('{n} lanes are left without a thread.', n=empty)}" if empty else text


def _verdict(seen: Organisation) -> str:
    """How full the warps are."""
    lanes, used = seen.warps * LANES, len(seen.thread)
    if lanes == used:
        return tr("Every lane of its {warps} warps has a thread.", warps=seen.warps)
    share = f"{100 * (lanes - used) / lanes:.0f}"
    return tr(
        "{empty} of {lanes} lanes have no thread: {share} % of what its warps could do is lost.",
        empty=lanes - used,
        lanes=lanes,
        share=share,
    )


def _closed_form(seen: Organisation) -> str:
    """Warps and stores by arithmetic alone."""
    launch = seen.launch
    threads = launch.threads_per_block
    warps = -(-threads // LANES)
    return tr(
        "closed form: {threads} / 32, rounded up = {warps} warps a block, {all} in the grid; "
        "2 stores each = {stores} store requests",
        threads=threads,
        warps=warps,
        all=warps * launch.blocks,
        stores=2 * warps * launch.blocks,
    )


LESSON = Lesson(
    "hierarchy",
    "Threads, warps, lanes",
    "Organisation",
    "How the threads of a block are numbered, and which of them share a warp.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("grid", "block", "thread", "linear-id", "warp", "lane", "multiprocessor"),
)
