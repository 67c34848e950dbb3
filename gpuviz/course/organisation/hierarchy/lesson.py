"""Hierarchy: grid, blocks, warps and lanes, with the numbers that every thread wrote itself."""

from functools import partial

import numpy as np

from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.course.organisation.hierarchy.block_to_warps import (
    BlockToWarps,
    GridOfBlocks,
    SmAssignment,
    Threads,
    WarpFormation,
)
from gpuviz.panels.figures import Figure, FigureRow, Provenance, published
from gpuviz.panels.layout import columns, rows, spare
from gpuviz.panels.picture import Picture
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.script import Act, Script, line_with
from gpuviz.traces.geometry import size_of
from gpuviz.traces.trace import LANES, Launch
from gpuviz.words.language import tr, trn

_ROLE, _KERNEL, _ENTRY = "identify", "hierarchy.cu", "identify"
_TIMED = 1 << 23  # threads
_MOST_STEPS = 8  # of warps; more warps than that are formed several to a step
_GRID, _THREADS, _WARP, _END = 2.5, 4.0, 1.4, 2.5  # seconds

LOOK_FOR = "How the threads of a block are numbered, and which of them share a warp."
WORDS = ("grid", "block", "thread", "linear-id", "warp", "lane", "multiprocessor")

PARAMETERS = (
    Parameter("block_x", "block x", 8, 1, 256, hint="threads along x"),
    Parameter("block_y", "block y", 6, 1, 32, hint="threads along y"),
    Parameter("block_z", "block z", 1, 1, 8, hint="threads along z"),
    Parameter("grid_x", "grid x", 3, 1, 8, hint="blocks along x"),
    Parameter("grid_y", "grid y", 2, 1, 4, hint="blocks along y"),
    Parameter("grid_z", "grid z", 1, 1, 4, hint="blocks along z"),
    Parameter("shown", "block shown", 4, 0, 127, hint="its linear number"),
)


def _preset(label: str, block: tuple[int, int, int], grid: tuple[int, int, int], n: int) -> Preset:
    """A block and a grid along x, y and z, and the number of the block shown."""
    sizes = zip(("block", "grid"), (block, grid), strict=True)
    axes = {f"{name}_{a}": d for name, size in sizes for a, d in zip("xyz", size, strict=True)}
    return Preset(label, {**axes, "shown": n})


PRESETS = (
    _preset("1-D, 256 threads", (256, 1, 1), (4, 1, 1), 1),
    _preset("2-D, 8 x 6", (8, 6, 1), (3, 2, 1), 4),
    _preset("2-D, 16 x 16", (16, 16, 1), (4, 4, 1), 5),
    _preset("3-D, 4 x 4 x 4", (4, 4, 4), (2, 2, 2), 3),
    _preset("One thread too many", (33, 1, 1), (4, 1, 1), 0),
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
        what: dict[str, object] = {"x": x, "y": y, "z": z, "n": x * y * z}
        return tr(
            "A block of {x} x {y} x {z} has {n} threads; 1024 is the most a device takes.", **what
        )
    if gz > 1 and gx * gy * gz > 64:
        return tr(
            "A grid of {n} blocks in planes is too much to be drawn; take 64 at most.",
            n=gx * gy * gz,
        )
    if number(values, "shown") >= gx * gy * gz:
        what = {"shown": values["shown"], "last": gx * gy * gz - 1}
        return tr("The grid has no block {shown}: its last one is block {last}.", **what)
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """One launch, in which every thread writes eight numbers; it is timed with eight million."""
    grid, block = _triple(values, "grid"), _triple(values, "block")
    drawn = Plan(
        _ROLE,
        _KERNEL,
        _ENTRY,
        grid,
        block,
        _buffers(int(np.prod(grid)) * int(np.prod(block))),
        record=(number(values, "shown"),),
        size=size_of(grid, block),
    )
    blocks = max(_TIMED // int(np.prod(block)), 1)
    real = (blocks, 1, 1)
    arguments = _buffers(blocks * int(np.prod(block)))
    return drawn, drawn.companion(size_of(real, block), real, arguments)


def _buffers(threads: int) -> tuple[str, str]:
    """Four numbers of each thread, twice."""
    return (f"i32[{4 * threads}]=zeros",) * 2


def threads_of(run: Run, shown: int) -> Threads:
    """What the threads of a block wrote of themselves, in the order of their numbers."""
    index, of_thread = (run.outputs[name].reshape(-1, 4) for name in ("index", "number"))
    mine = index[:, 3] == shown
    if not mine.any():
        raise InputError(f"no thread of block {shown} wrote its number")
    index, of_thread = index[mine], of_thread[mine]
    order = np.argsort(of_thread[:, 0], kind="stable")
    thread, warp, lane = (of_thread[order, i].astype(np.int64) for i in range(3))
    place = index[order, :3].astype(np.int64)
    return Threads(run.trace.launch.block, place, thread, warp, lane)


def placement(run: Run) -> SmAssignment | None:
    """The multiprocessor of each block as measured; None when that was not measured."""
    measurement = run.measurement
    if measurement is None or measurement.placement is None:
        return None
    found = measurement.placement
    sm = dict(zip(found.block.tolist(), found.sm.tolist(), strict=True))
    return SmAssignment(sm, measurement.device.multiprocessors, measurement.badge, measurement.gpu)


def narrate(values: Values, runs: Runs) -> Story:
    """The story of one block: numbered, cut into warps."""
    run, shown = runs[_ROLE], number(values, "shown")
    launch, seen, placed = run.trace.launch, threads_of(run, shown), placement(run)
    script, title = Script(_ROLE), _title(seen)
    count, blocks = len(seen.thread), launch.blocks
    line = partial(line_with, run.trace.source)
    said = trn("{n} block", "{n} blocks", blocks)
    grid = script.act(_GRID, "intro", tr("grid"), said, line("int block ="))
    said = trn("{n} thread", "{n} threads", count)
    numbered = script.act(_THREADS, "compute", tr("threads"), said, line("int thread ="))
    forming = _warps(script, seen, line("int warp ="))
    used = tr("{used} of {all} lanes have a thread", used=count, all=seen.warps * LANES)
    script.act(_END, "result", tr("result"), used)
    of_warps = (_of_warps(seen, first, last) for _, first, last in forming)
    sentences = (_of_grid(launch, shown), _of_threads(seen), *of_warps, _verdict(seen))

    def at(t: float) -> Picture:
        step = next((i for i, s in enumerate(script.steps) if t < s.end), len(sentences) - 1)
        moment = WarpFormation(numbered.share(t))
        for act, first, last in forming:
            if t >= act.start:
                moment = WarpFormation(1.0, first, act.share(t), last - first)
        if step == len(sentences) - 1:
            moment = WarpFormation(1.0, seen.warps)
        body = rows(
            columns(
                GridOfBlocks(launch, shown, placed, grid.share(t)),
                BlockToWarps(shown, seen, moment),
            ),
            _counted(launch, seen, moment.over(seen.warps)),
            spare(_published()),
        )
        return Picture(title, sentences[step], body, sentences)

    return Story.of(script, at, _closed_form(launch), _verdict(seen))


def _warps(script: Script, seen: Threads, line: int) -> list[tuple[Act, int, int]]:
    """Acts in which warps are formed, one or several in each: from `first` to before `last`."""
    edges = np.linspace(0, seen.warps, min(seen.warps, _MOST_STEPS) + 1).round().astype(int)
    acts = []
    for first, last in zip(edges.tolist(), edges[1:].tolist(), strict=False):
        name = tr("warp {n}", n=first)
        if last > first + 1:
            name = tr("warps {a} to {b}", a=first, b=last - 1)
        lanes = int(((seen.warp >= first) & (seen.warp < last)).sum())
        act = script.act(
            _WARP, "compute", name, trn("{n} lane at work", "{n} lanes at work", lanes), line
        )
        acts.append((act, first, last))
    return acts


def _counted(launch: Launch, seen: Threads, formed: int) -> FigureRow:
    """Warps formed, lanes used, and all of the grid."""
    used, lanes = len(seen.thread), seen.warps * LANES
    share = f"{100 * used / lanes:.0f}"
    of_lanes = tr("{used} of {all} lanes used ({share} %)", used=used, all=lanes, share=share)
    return FigureRow(
        (
            Figure(
                trn("{done} of {n} warp", "{done} of {n} warps", seen.warps, done=formed),
                "accent",
                True,
            ),
            Figure(of_lanes),
            Figure(
                trn("{n} thread in the grid", "{n} threads in the grid", used * launch.blocks),
                "muted",
            ),
            Figure(trn("{n} warp", "{n} warps", seen.warps * launch.blocks), "muted"),
        )
    )


def _published() -> Provenance:
    where = tr("Threads and blocks in detail (2013)")
    return published(tr("8 cores × 4 cycles of the fastest instruction = a warp of 32"), where)


def _shape(size: tuple[int, int, int]) -> str:
    """`8 × 6`: without the axes at the end that have one place."""
    kept = size[: max((i + 1 for i, n in enumerate(size) if n > 1), default=1)]
    return " × ".join(map(str, kept))


def _title(seen: Threads) -> str:
    """What becomes of the block."""
    size, warps = seen.size, seen.warps
    if warps == 1:
        return tr("A block of {shape} threads is one warp", shape=_shape(size))
    how = tr("plane by plane") if size[2] > 1 else tr("row by row") if size[1] > 1 else ""
    text = tr(
        "A block of {shape} threads is cut into {warps} warps", shape=_shape(size), warps=warps
    )
    return f"{text}, {how}" if how else text


def _of_grid(launch: Launch, shown: int) -> str:
    x, y, z = launch.block_index(shown)
    what = {"shape": _shape(launch.grid), "block": shown, "x": x, "y": y, "z": z}
    return tr(
        "A grid of {shape} blocks: number {block} is blockIdx ({x}, {y}, {z}), x counts fastest.",
        **what,
    )


def _of_threads(seen: Threads) -> str:
    """The rule with the numbers of one thread."""
    at = min(len(seen.thread) - 1, (len(seen.thread) * 2) // 5)
    x, y, z = seen.place[at].tolist()
    sx, sy, _ = seen.size
    what = {"x": x, "y": y, "z": z, "sx": sx, "sy": sy, "thread": seen.thread[at]}
    return tr(
        "threadIdx ({x}, {y}, {z}) is thread ({z} × {sy} + {y}) × {sx} + {x} = {thread}: x "
        "counts fastest.",
        **what,
    )


def _of_warps(seen: Threads, first: int, last: int) -> str:
    """Which threads become lanes of which warps."""
    mine = seen.thread[(seen.warp >= first) & (seen.warp < last)]
    low, high, empty = int(mine.min()), int(mine.max()), (last - first) * LANES - len(mine)
    if last > first + 1:
        what = {"a": first, "b": last - 1, "low": low, "high": high}
        text = tr("Warps {a} to {b} take threads {low} to {high}, 32 each.", **what)
    else:
        text = tr(
            "Warp {a} takes threads {low} to {high} as its lanes 0 to {lane}.",
            a=first,
            low=low,
            high=high,
            lane=int(seen.lane[seen.warp == first].max()),
        )
    return f"{text} {tr('{n} lanes are left without a thread.', n=empty)}" if empty else text


def _verdict(seen: Threads) -> str:
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


def _closed_form(launch: Launch) -> str:
    """Warps and stores by arithmetic alone."""
    threads = launch.threads_per_block
    warps = -(-threads // LANES)
    return tr(
        "by arithmetic: {threads} / 32, rounded up = {warps} warps a block, {all} in the grid; "
        "2 stores each = {stores} store requests",
        threads=threads,
        warps=warps,
        all=warps * launch.blocks,
        stores=2 * warps * launch.blocks,
    )


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
