"""Occupancy: how many blocks reside on a multiprocessor, what limits them, and where cliffs lie."""

import re
from dataclasses import dataclass, replace

from gpuviz.arch import Architecture, architecture
from gpuviz.arch.occupancy_fit import (
    G80,
    GF100,
    TEXTBOOK,
    Demand,
    Fit,
    fit_of,
    name_of,
    names,
    percent,
    reason,
    sweeps_of,
)
from gpuviz.course import named
from gpuviz.course.together.occupancy.resident_blocks import (
    Answer,
    MeasuredBlocks,
    answer_of,
    resident_of,
)
from gpuviz.draw.ease import passed
from gpuviz.panels.figures import Figure, FigureRow, Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.occupancy_cliffs import cliffs as cliffs_at
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.slots import slots_of, title_of
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Value, Values, number
from gpuviz.story.measured import LaunchTime, time_bars, timed
from gpuviz.story.script import Act, Script, line_with
from gpuviz.traces.geometry import size_of
from gpuviz.words.language import three, tr, trn

_ROLE, _KERNEL = "kernel", "product.cu"
_INNER, _SIZE = 32, 1024  # of the launch that is counted; of the product that is timed
_EMPTY, _BLOCK, _FILL, _TRY, _FULL = 1.0, 0.8, 4.5, 1.5, 1.5  # seconds
_CLIFFS, _HOLD, _END = 4.5, 1.5, 4.5
_SHAPES = (8, 8), (16, 16), (32, 32), (8, 16), (16, 8), (2, 32), (32, 2), (32, 5)  # in the end
_MOST_STEPS = 6

LOOK_FOR = (
    "Which resource runs out first when blocks fill a multiprocessor, and how near the next cliff "
    "is."
)
WORDS = ("occupancy", "slot", "limiter", "register", "shared-memory", "multiprocessor")

PARAMETERS = (
    Parameter(
        "kernel",
        "kernel",
        "naive",
        offers={"naive": "1 cell a thread", "tiled": "1 cell a thread, tiles"},
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
        offers={
            "chosen": "the architecture chosen",
            "textbook": "of the tutorials: 1536 threads, 16384 registers",
            "G80": "G80 (1.0)",
            "GF100": "Tesla C2070, GF100 (2.0)",
        },
        hint="where the blocks are to reside",
    ),
    Parameter("blocks", "blocks in the grid", 1584, 1, 4096, hint="of the launch that is counted"),
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
    """Blocks that fill a device once, each with columns of P of its own, all with the same rows.

    What is timed is a product of the size that the lecture published.
    """
    x, y, blocks = (number(values, name) for name in ("x", "y", "blocks"))
    tiled = values["kernel"] == "tiled"
    inner, columns = (x if tiled else _INNER), x * blocks
    drawn = Plan(
        _ROLE,
        _KERNEL,
        str(values["kernel"]),
        (blocks, 1, 1),
        (x, y, 1),
        _arguments(y, inner, columns),
        dynamic_shared=8 * x * x if tiled else 0,
        size=size_of((blocks, 1, 1), (x, y, 1)),
        outputs=False,
    )
    others = tuple(_timed(drawn, *shape, False) for shape in _SHAPES)
    return replace(drawn, others=others), _timed(drawn, x, y, tiled)


def _timed(drawn: Plan, x: int, y: int, tiled: bool) -> Plan:
    """The product that is timed, in blocks of a shape."""
    wide, high = -(-_SIZE // x), -(-_SIZE // y)
    inner = x * wide if tiled else _SIZE
    what = {"rows": y * high, "columns": x * wide, "x": x, "y": y}
    size = tr("{rows} × {columns}, blocks of {x} × {y}, loop over k not unrolled", **what)
    arguments = _arguments(y * high, inner, x * wide)
    name = "tiles, not unrolled" if tiled else "one cell, not unrolled"
    more: dict[str, object] = {"block": (x, y, 1), "role": f"{name}, real size"}
    more |= {} if tiled else {"entry": "naive", "dynamic_shared": 0}
    return drawn.companion(size, (wide, high, 1), arguments, **more)


def _arguments(rows: int, inner: int, columns: int) -> tuple[str, ...]:
    """M, N and P, and the sizes that the kernel asks for."""
    sizes = ((rows * inner, "rand"), (inner * columns, "rand"), (rows * columns, "zeros"))
    return (*(f"f32[{n}]={fill}" for n, fill in sizes), f"i32={inner}", f"i32={columns}")


def demand_of(values: Values, run: Run) -> Demand:
    """What the compiler says of the kernel, and what is given instead."""
    known = run.resources
    registers = number(values, "registers") or (known.registers if known else 0)
    static = known.static_shared_bytes if known else 0
    shared = number(values, "shared") or static + run.trace.launch.dynamic_shared
    return Demand(run.trace.launch.threads_per_block, registers, shared)


@dataclass(frozen=True, eq=False)
class _Evidence:
    """What is known of the kernel as compiled: registers in words, and what a GPU says, unless
    (`own` is false) other demands or another multiprocessor than the one measured were asked for.
    """

    origin: str
    own: bool
    resident: MeasuredBlocks
    answer: Answer


def narrate(values: Values, runs: Runs) -> Story:
    """A multiprocessor fills; the cliffs; how long blocks of other shapes take."""
    run = runs[_ROLE]
    arch = architecture(run.arch)
    machine, demand = _MACHINES.get(str(values["sm"]), arch), demand_of(values, run)
    fit, sweeps = fit_of(machine, demand), sweeps_of(machine, demand)
    own = machine is arch and not (number(values, "registers") or number(values, "shared"))
    answer = answer_of(run, fit.found.blocks)
    known = _Evidence(_origin(values, run), own, resident_of(run), answer)
    compiled = run.resources.registers if run.resources else 0
    script = Script(_ROLE)
    empty = script.act(_EMPTY, "intro", tr("empty"), name_of(fit.arch), _line(run))
    _arrivals(script, fit, _line(run))
    filled = script.end
    held = ", ".join(names()[key] for key in fit.limiters)
    tried = script.act(_TRY, "barrier", tr("one block more"), tr("limit: {what}", what=held))
    full = script.act(_FULL, "result", tr("full"), fit.percent)
    cliffs = script.act(_CLIFFS + _HOLD, "load", tr("cliffs"), tr("occupancy over each demand"))
    ending = script.act(_END, "result", tr("block shapes"), tr("occupancy and time"))
    shapes = _shapes(run, arch, compiled)

    def at(t: float) -> Picture:
        if t < full.end:
            arrived = Act(empty.end, filled).counted(t, fit.found.blocks)
            return _machine(fit, known, arrived, tried.share(t))
        if t < cliffs.end:
            return cliffs_at(fit, sweeps, min((t - cliffs.start) / _CLIFFS, 1.0))
        return _times(shapes, values, ending.share(t))

    return Story.of(script, at, _expected(fit), reason(fit))


def _line(run: Run) -> int:
    """The CUDA line at which the kernel begins."""
    return line_with(run.trace.source, f"__global__ void {run.trace.launch.kernel}(")


def _origin(values: Values, run: Run) -> str:
    """Where registers and shared memory come from."""
    target = re.search(r"^\.target\s+(\w+)", run.trace.ptx, re.MULTILINE)
    known, given = run.resources, number(values, "registers")
    if known is None:
        return tr("no compiler said how many registers")
    arch = target[1] if target else run.arch
    if given:
        return trn(
            "{n} register given; compiled for {arch}: {made}",
            "{n} registers given; compiled for {arch}: {made}",
            given,
            arch=arch,
            made=known.registers,
        )
    return trn(
        "{n} register, compiled for {arch}",
        "{n} registers, compiled for {arch}",
        known.registers,
        arch=arch,
    )


def _expected(fit: Fit) -> str:
    """The smallest of the limits, as arithmetic."""
    rooms = ", ".join(f"{s.name} {s.room}" for s in fit.slots if s.room is not None)
    return trn(
        "by arithmetic: the least of {rooms} is {n} block; {warps} of {most} warps",
        "by arithmetic: the least of {rooms} is {n} blocks; {warps} of {most} warps",
        fit.found.blocks,
        rooms=rooms,
        warps=fit.found.warps,
        most=fit.found.max_warps,
    )


def _arrivals(script: Script, fit: Fit, line: int) -> None:
    """Filled block by block, or by several at once."""
    blocks, each = fit.found.blocks, -(-fit.demand.threads // fit.arch.warp)
    parts, slot = min(blocks, _MOST_STEPS), min(_BLOCK, _FILL / max(blocks, 1))
    cuts = [round(blocks * i / parts) for i in range(parts + 1)] if blocks else []
    for a, b in zip(cuts, cuts[1:], strict=False):
        name = tr("block {n}", n=a) if b == a + 1 else tr("blocks {a} to {b}", a=a, b=b - 1)
        detail = tr("{warps} of {most} warps", warps=b * each, most=fit.found.max_warps)
        script.act((b - a) * slot, "compute", name, detail, line)


def _machine(fit: Fit, known: _Evidence, arrived: float, tried: float) -> Picture:
    """The rows of slots, and what is known of this kernel."""
    arriving = tr(
        "Blocks come to {name} until one of its resources is used up.", name=name_of(fit.arch)
    )
    blocks = passed(arrived)
    body = rows(
        slots_of(fit, arrived, tried),
        _figures(fit, known.origin, blocks),
        *_measured(known),
        gap=0.1,
    )
    said = reason(fit) if tried > 0 else arriving
    return Picture(title_of(fit), said, body, (reason(fit), arriving))


def _figures(fit: Fit, origin: str, arrived: int) -> FigureRow:
    """Warps of the slots, and where the registers come from."""
    warps = arrived * -(-fit.demand.threads // fit.arch.warp)
    taken = tr(
        "{warps} of {most} warps: {percent}",
        warps=warps,
        most=fit.found.max_warps,
        percent=percent(warps / fit.found.max_warps),
    )
    blocks = trn("{n} block", "{n} blocks", arrived)
    return FigureRow((Figure(blocks), Figure(taken, "accent", True), Figure(origin, "muted")))


def _measured(known: _Evidence) -> tuple[Provenance, Provenance]:
    """What a GPU, its driver and its counter say, where it is of this kernel as it is."""
    if not known.own:
        texts = (
            tr("measured: only the kernel as compiled, on the architecture chosen"),
            tr("measured: the kernel as compiled only"),
        )
        return Provenance(texts, tr("unavailable")), Provenance(())
    inks: dict[bool | None, Ink] = {True: "good", False: "bad", None: "muted"}
    seen, answer = known.resident, known.answer
    return (
        Provenance(answer.texts, answer.badge, inks[answer.agrees]),
        Provenance(seen.texts, seen.badge, "good" if seen.blocks is not None else "muted"),
    )


@dataclass(frozen=True)
class _Shape:
    """A block shape: its occupancy, and the time of the product in blocks of it."""

    x: int
    y: int
    occupancy: float
    time: LaunchTime | None


def _shapes(run: Run, arch: Architecture, registers: int) -> list[_Shape]:
    """Shapes of the product that has a cell a thread, the fastest first."""
    made = list[_Shape]()
    for (x, y), found in zip(_SHAPES, run.others, strict=False):
        held = Demand(x * y, registers, 0).on(arch).fraction
        size = tr("{n} × {n}, loop over k not unrolled", n=_SIZE)
        made.append(_Shape(x, y, held, timed(found, size, run.arch)))
    return sorted(made, key=lambda one: one.time.microseconds if one.time else 0.0)


def _times(shapes: list[_Shape], values: Values, over: float) -> Picture:
    """Shapes on one axis of time, with their occupancies."""
    own = number(values, "x"), number(values, "y")
    places = [(one.x, one.y) for one in shapes]
    bars = time_bars(
        [(f"{one.x} × {one.y}", one.time) for one in shapes],
        places.index(own) if own in places else None,
        [tr("occupancy {share}", share=percent(one.occupancy)) for one in shapes],
        over,
        picks=[{"x": x, "y": y} for x, y in places],
    )
    return Picture(tr("Occupancy is not performance"), _unlike(shapes), bars)


def _unlike(shapes: list[_Shape]) -> str:
    """Of shapes that fill as many warp slots, those whose times differ most."""
    known = [(one, one.time.microseconds) for one in shapes if one.time]
    pairs = [(b / a, one, two) for one, a in known for two, b in known if _alike(one, two)]
    if not pairs:
        return tr("Blocks of other shapes: no GPU has run them.")
    ratio, one, two = max(pairs, key=lambda pair: pair[0])
    what = {"a": f"{one.x} × {one.y}", "b": f"{two.x} × {two.y}", "n": three(ratio)}
    what["share"] = percent(one.occupancy)
    return tr(
        "{a} and {b} both fill {share} of the warp slots, and {b} takes {n} times as long.", **what
    )


def _alike(one: _Shape, other: _Shape) -> bool:
    return one.occupancy == other.occupancy


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
