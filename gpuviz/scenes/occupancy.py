"""Occupancy: how many blocks reside on a multiprocessor, what limits them, and where cliffs lie."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.arch import Architecture, architecture
from gpuviz.draw.ease import passed
from gpuviz.draw.figures import Figure, figures, line_height, sourced
from gpuviz.draw.heading import steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.language import tr, trn
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Value, Values
from gpuviz.scenes.together.occupancy_cliffs import cliffs
from gpuviz.scenes.together.occupancy_fit import (
    G80,
    GF100,
    TEXTBOOK,
    Demand,
    Fit,
    Sweep,
    fit_of,
    name_of,
    names,
    percent,
    reason,
    sweeps_of,
)
from gpuviz.scenes.together.occupancy_published import EXAMPLES, SHAPES, examples, shapes
from gpuviz.scenes.together.occupancy_view import slots
from gpuviz.scenes.together.resident import Answer, Resident, answer_of, resident_of
from gpuviz.scenes.values import number

_ROLE, _KERNEL = "kernel", "product.cu"
_INNER = 32
_KIB = 1024
_EMPTY, _BLOCK, _FILL, _TRY, _FULL = 1.0, 0.8, 4.5, 1.5, 1.5  # seconds
_CLIFFS, _SHAPES, _EXAMPLES, _END = 4.5, 4.0, 2.5, 1.5
_MOST_STEPS = 6

PARAMETERS = (
    Parameter(
        "kernel",
        "kernel",
        "naive",
        choices=(Choice("naive", "naive matmul"), Choice("tiled", "tiled matmul")),
        hint="tiled: two square tiles of x × x floats in shared memory",
    ),
    Parameter("x", "threads along x", 32, 1, 1024),
    Parameter("y", "threads along y", 5, 1, 1024),
    Parameter(
        "registers", "registers a thread", 0, 0, 255, hint="0: as many as the compiler takes"
    ),
    Parameter(
        "shared",
        "shared memory a block",
        0,
        0,
        232448,
        hint="bytes; 0: as many as the kernel takes",
    ),
    Parameter(
        "sm",
        "multiprocessor",
        "chosen",
        choices=(
            Choice("chosen", "the architecture chosen"),
            Choice("textbook", "of the tutorials: 1536 threads, 16384 registers"),
            Choice("G80", "G80 (1.0)"),
            Choice("GF100", "Tesla C2070, GF100 (2.0)"),
        ),
        hint="where the blocks are to reside",
    ),
    Parameter("blocks", "blocks in the grid", 32, 1, 4096, hint="of the launch that is run"),
)

_AS_IS: dict[str, Value] = {"kernel": "naive", "registers": 0, "shared": 0, "sm": "chosen"}
_OLD: dict[str, Value] = {**_AS_IS, "sm": "textbook", "x": 16, "y": 16}
PRESETS = (
    Preset("32 × 5 threads", {**_AS_IS, "x": 32, "y": 5}),
    Preset("16 × 16, tiled", {**_AS_IS, "x": 16, "y": 16, "kernel": "tiled"}),
    Preset("One register too many", {**_AS_IS, "x": 16, "y": 16, "registers": 33}),
    Preset("128 threads in 8 block slots", {**_OLD, "x": 128, "y": 1, "registers": 10}),
    Preset("10 registers", {**_OLD, "registers": 10}),
    Preset("12 registers", {**_OLD, "registers": 12}),
    Preset("2 KB tiles", {**_OLD, "registers": 10, "kernel": "tiled"}),
    Preset("G80, 10 registers", {**_OLD, "sm": "G80", "registers": 10}),
    Preset("G80, 11 registers", {**_OLD, "sm": "G80", "registers": 11}),
    Preset("GF100, 2 KB tiles", {**_OLD, "sm": "GF100", "registers": 16, "kernel": "tiled"}),
    Preset("Fill an H200", {**_AS_IS, "x": 32, "y": 5, "blocks": 1584}),
)

_MACHINES = {"textbook": TEXTBOOK, "G80": G80, "GF100": GF100}


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    x, y = number(values, "x"), number(values, "y")
    if x * y > 1024:
        return tr(
            "{x} × {y} = {n} threads: no device takes more than 1024 in a block.", x=x, y=y, n=x * y
        )
    if values["kernel"] == "tiled" and x != y:
        return tr(
            "The tiles are square: the tiled kernel needs as many threads along y as along x."
        )
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """One launch: every block computes its own columns of P, all of them the same rows."""
    x, y, blocks = (number(values, name) for name in ("x", "y", "blocks"))
    tiled = values["kernel"] == "tiled"
    inner, columns = (x if tiled else _INNER), x * blocks
    sizes = ((y * inner, "rand"), (inner * columns, "rand"), (y * columns, "zeros"))
    buffers = (f"f32[{n}]={fill}" for n, fill in sizes)
    return (
        Plan(
            _ROLE,
            _KERNEL,
            str(values["kernel"]),
            (blocks, 1, 1),
            (x, y, 1),
            (*buffers, f"i32={inner}", f"i32={columns}"),
            dynamic_shared=8 * x * x if tiled else 0,
        ),
    )


def demand_of(values: Values, run: Run) -> Demand:
    """What the compiler says of the kernel, and what is given instead."""
    known = run.resources
    registers = number(values, "registers") or (known.registers if known else 0)
    static = known.static_shared_bytes if known else 0
    shared = number(values, "shared") or static + run.trace.launch.dynamic_shared
    return Demand(run.trace.launch.threads_per_block, registers, shared)


@dataclass(frozen=True, eq=False)
class _Scene:
    """All that the pictures select from."""

    fit: Fit
    today: Architecture
    sweeps: tuple[Sweep, ...]
    compiled: int
    own: bool
    origin: str
    resident: Resident
    answer: Answer
    steps: tuple[Step, ...]


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """A multiprocessor fills; the cliffs; the published figures."""
    run = runs[_ROLE]
    arch = architecture(run.arch)
    machine = _MACHINES.get(str(values["sm"]), arch)
    demand = demand_of(values, run)
    fit = fit_of(machine, demand)
    own = machine is arch and not (number(values, "registers") or number(values, "shared"))
    scene = _Scene(
        fit,
        arch,
        sweeps_of(machine, demand),
        run.resources.registers if run.resources else 0,
        own,
        _origin(values, run),
        resident_of(run),
        answer_of(run, fit.found.blocks),
        _steps(fit, run),
    )
    return Story(
        _title(fit),
        reason(fit),
        scene.steps,
        lambda t, given: _frame(scene, t, given.roomy()),
        _expected(fit),
    )


def _origin(values: Values, run: Run) -> str:
    """Where registers and shared memory come from."""
    target = re.search(r"^\.target\s+(\w+)", run.trace.ptx, re.MULTILINE)
    known, given = run.resources, number(values, "registers")
    if known is None:
        return tr("no compiler said how many registers")
    arch = target[1] if target else run.arch
    if given:
        return tr(
            "{given} registers given; compiled for {arch}: {n}",
            given=given,
            arch=arch,
            n=known.registers,
        )
    return tr("{n} registers, compiled for {arch}", n=known.registers, arch=arch)


def _title(fit: Fit) -> str:
    """How full it gets."""
    blocks, threads = fit.found.blocks, fit.demand.threads
    if blocks == 0:
        return tr("No block of {threads} threads fits", threads=threads)
    if blocks == 1:
        return tr(
            "One block of {threads} threads: {percent} of the warp slots",
            threads=threads,
            percent=fit.percent,
        )
    return tr(
        "{blocks} blocks of {threads} threads: {percent} of the warp slots",
        blocks=blocks,
        threads=threads,
        percent=fit.percent,
    )


def _expected(fit: Fit) -> str:
    """The smallest of the limits, as arithmetic."""
    rooms = ", ".join(f"{s.name} {s.room}" for s in fit.slots if s.room is not None)
    return tr(
        "closed form: the least of {rooms} is {n} blocks; {warps} of {most} warps",
        rooms=rooms,
        n=fit.found.blocks,
        warps=fit.found.warps,
        most=fit.found.max_warps,
    )


def _steps(fit: Fit, run: Run) -> tuple[Step, ...]:
    """Empty, filled block by block, one more tried, full; cliffs; the published tables."""
    blocks, text = fit.found.blocks, run.trace.source.splitlines()
    line = next(
        (
            n
            for n, row in enumerate(text, 1)
            if f"__global__ void {run.trace.launch.kernel}(" in row
        ),
        0,
    )
    made = [Step(0.0, _EMPTY, "intro", tr("empty"), name_of(fit.arch), line, _ROLE)]
    slot = _slot(blocks)
    cuts = (
        [round(blocks * i / min(blocks, _MOST_STEPS)) for i in range(min(blocks, _MOST_STEPS) + 1)]
        if blocks
        else [0]
    )
    for a, b in zip(cuts, cuts[1:], strict=False):
        name = tr("block {n}", n=a) if b == a + 1 else tr("blocks {a} to {b}", a=a, b=b - 1)
        warps = b * -(-fit.demand.threads // fit.arch.warp)
        detail = tr("{warps} of {most} warps", warps=warps, most=fit.found.max_warps)
        made.append(
            Step(_EMPTY + a * slot, _EMPTY + b * slot, "compute", name, detail, line, _ROLE)
        )
    held = ", ".join(names()[key] for key in fit.limiters)
    for length, kind, name, detail in (
        (_TRY, "barrier", tr("one block more"), tr("limit: {what}", what=held)),
        (_FULL, "result", tr("full"), fit.percent),
        (_CLIFFS + _END, "load", tr("cliffs"), tr("occupancy over each demand")),
        (_SHAPES, "store", tr("block shapes"), tr("published: CUDA 2da parte")),
        (_EXAMPLES + _END, "result", tr("examples"), tr("published: slides and tutorials")),
    ):
        t = made[-1].end
        made.append(Step(t, t + length, kind, name, detail, 0, _ROLE))  # type: ignore[arg-type]
    return tuple(made)


def _slot(blocks: int) -> float:
    """How long one block takes to arrive."""
    return min(_BLOCK, _FILL / max(blocks, 1))


def _frame(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The pure function from time to picture."""
    if t >= scene.steps[-1].start:
        return _examples(scene, t, stage)
    if t >= scene.steps[-2].start:
        return _shapes(scene, t, stage)
    if t >= scene.steps[-3].start:
        return _cliffs(scene, t, stage)
    return _machine(scene, t, stage)


def _machine(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The rows of slots, and what is known of this kernel."""
    fit = scene.fit
    tried = min(max((t - scene.steps[-5].start) / _TRY, 0.0), 1.0)
    arriving = tr(
        "Blocks come to {name} until one of its resources is used up.", name=name_of(fit.arch)
    )
    said = reason(fit) if tried > 0 else arriving
    head, area = steady_heading(stage, _title(fit), said, (reason(fit), arriving))
    arrived = min(max((t - _EMPTY) / _slot(fit.found.blocks), 0.0), float(fit.found.blocks))
    low = line_height(stage)
    top = area.above(area.height - 3 * low - stage.text(14) * 0.3)[0]
    feet = [Rect(area.x, area.bottom - n * low, area.width, low) for n in (3, 2, 1)]
    return stage.frame(
        *head,
        *slots(stage, top, fit, arrived, tried),
        *_figures(stage, feet[0], scene, passed(arrived)),
        *_measured(stage, feet[1:], scene),
    )


def _figures(stage: Stage, area: Rect, scene: _Scene, arrived: int) -> tuple[Mark, ...]:
    """Warps of the slots, and where the registers come from."""
    palette, fit = stage.palette, scene.fit
    warps = arrived * -(-fit.demand.threads // fit.arch.warp)
    share = percent(warps / fit.found.max_warps)
    pieces: tuple[Figure, ...] = (
        (trn("{n} block", "{n} blocks", arrived), palette.ink, False),
        (
            tr(
                "{warps} of {most} warps: {percent}",
                warps=warps,
                most=fit.found.max_warps,
                percent=share,
            ),
            palette.accent,
            True,
        ),
        (scene.origin, palette.muted, False),
    )
    return figures(stage, area, pieces, tr("model"), palette.accent)


def _measured(stage: Stage, rows: list[Rect], scene: _Scene) -> tuple[Mark, ...]:
    """What a GPU, its driver and its counter say, where it is of this kernel as it is."""
    palette, seen, answer = stage.palette, scene.resident, scene.answer
    if not scene.own:
        texts = (
            tr("measured: only the kernel as compiled, on the architecture chosen"),
            tr("measured: the kernel as compiled only"),
        )
        return sourced(stage, rows[0], tr("unavailable"), palette.muted, texts)
    ink = {True: palette.good, False: palette.bad, None: palette.muted}[answer.agrees]
    color = palette.good if seen.blocks is not None else palette.muted
    return (
        *sourced(stage, rows[0], answer.badge, ink, answer.texts),
        *sourced(stage, rows[1], seen.badge, color, seen.texts),
    )


def _cliffs(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The three curves."""
    share = min((t - scene.steps[-3].start) / _CLIFFS, 1.0)
    head, area = steady_heading(
        stage,
        _cliff_title(scene),
        tr("The ring is this kernel; the broken line, where fewer warps begin to fit."),
        (),
    )
    low = line_height(stage)
    top = area.above(area.height - low)[0]
    foot = Rect(area.x, area.bottom - low, area.width, low)
    texts = (
        tr(
            "{name}; {threads} threads, {registers} registers, {shared} bytes a block",
            name=name_of(scene.fit.arch),
            threads=scene.fit.demand.threads,
            registers=scene.fit.demand.registers,
            shared=scene.fit.demand.shared,
        ),
        name_of(scene.fit.arch),
    )
    return stage.frame(
        *head,
        *cliffs(stage, top, scene.fit, scene.sweeps, share),
        *sourced(stage, foot, tr("model"), stage.palette.accent, texts),
    )


def _cliff_title(scene: _Scene) -> str:
    """How near the next cliff in registers is."""
    sweep = next(s for s in scene.sweeps if s.id == "registers")
    if sweep.cliff is None:
        return tr("Occupancy falls in steps, not in slopes")
    more, there = sweep.cliff - sweep.now, percent(sweep.at(sweep.cliff).fraction)
    if more == 1:
        return tr("One register more, and occupancy falls to {percent}", percent=there)
    return tr("{n} registers more, and occupancy falls to {percent}", n=more, percent=there)


def _shapes(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The published block shapes."""
    shown = min(int((t - scene.steps[-2].start) / (_SHAPES * 0.6) * len(SHAPES)) + 1, len(SHAPES))
    head, area = steady_heading(
        stage,
        tr("Occupancy is not performance"),
        tr(
            "32 × 5 is the fastest at .83; 2 × 32 and 32 × 2, both at .33, differ almost four "
            "times."
        ),
        (),
    )
    return stage.frame(*head, *shapes(stage, area, scene.today, scene.compiled, shown))


def _examples(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The tutorials' examples."""
    since = (t - scene.steps[-1].start) / _EXAMPLES
    shown = min(int(since * len(EXAMPLES)) + 1, len(EXAMPLES))
    head, area = steady_heading(
        stage,
        tr("The cliffs of the documents"),
        tr("A few threads or registers decide whether a whole block more fits."),
        (),
    )
    return stage.frame(*head, *examples(stage, area, shown))


LESSON = Lesson(
    "occupancy",
    "Occupancy",
    "Putting it together",
    "Which resource runs out first when blocks fill a multiprocessor, and how near the next cliff "
    "is.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("occupancy", "slot", "limiter", "register", "shared-memory", "multiprocessor"),
)
