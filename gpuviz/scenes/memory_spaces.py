"""Memory spaces: one kernel with a variable in each, and where an automatic array ends up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.arch import architecture
from gpuviz.draw.heading import heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.draw.table import Column, draw, height_of, lay_out
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.panels.script import Step, StepKind
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.measured import badge_of, time_of
from gpuviz.scenes.shared_memory.spaces import (
    SPACES,
    Placement,
    Space,
    order_of,
    placement_of,
    spaces_of,
)
from gpuviz.scenes.shared_memory.spaces_listing import listings
from gpuviz.scenes.shared_memory.spaces_local import LocalLoads, layout, local_loads, registers
from gpuviz.scenes.shared_memory.spaces_view import Tour, array_facts, columns
from gpuviz.scenes.values import number

_KERNEL = "spaces.cu"
VARIANTS = ("indexed", "unrolled")
_STOP, _ALL, _LOCAL, _ARRAY = 1.6, 2.6, 5.0, 5.0  # seconds: a space, all, loads, the array

PARAMETERS = (
    Parameter(
        "variant",
        "the array is",
        "indexed",
        choices=(
            Choice("indexed", "indexed at run time"),
            Choice("unrolled", "indexed by an unrolled loop"),
        ),
    ),
    Parameter(
        "elements",
        "its elements",
        16,
        compiled=True,
        choices=tuple(Choice(n, str(n)) for n in (4, 8, 16, 32)),
    ),
    Parameter("turn", "turn", 3, 0, 31, hint="kept[(k * turn + thread * spread) % elements]"),
    Parameter("spread", "spread", 0, 0, 31, hint="0: all lanes read the same element number"),
    Parameter(
        "threads",
        "threads per block",
        128,
        choices=tuple(Choice(n, str(n)) for n in (32, 64, 128, 256)),
    ),
    Parameter("blocks", "blocks", 16, 1, 1024),
)

PRESETS = (
    Preset("Indexed at run time", {"variant": "indexed", "elements": 16, "spread": 0}),
    Preset("Unrolled", {"variant": "unrolled", "elements": 16}),
    Preset("Each lane another element", {"variant": "indexed", "elements": 16, "spread": 1}),
    Preset("A small array", {"variant": "indexed", "elements": 8, "spread": 0}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """Both kernels."""
    threads, blocks = number(values, "threads"), number(values, "blocks")
    count = threads * blocks
    buffers = (f"f32[{count}]=rand", f"f32[{threads}]=rand", f"f32[{count}]=zeros")
    scalars = (f"i32={number(values, 'turn')}", f"i32={number(values, 'spread')}")
    defines = (("KEPT", str(number(values, "elements"))),)
    return tuple(
        Plan(
            name,
            _KERNEL,
            name,
            (blocks, 1, 1),
            (threads, 1, 1),
            buffers + (scalars if name == "indexed" else ()),
            defines,
        )
        for name in VARIANTS
    )


@dataclass(frozen=True, eq=False)
class _Scene:
    """All that the pictures select from."""

    variant: str
    spaces: dict[str, Space]
    order: tuple[str, ...]
    arrays: tuple[Placement, Placement]
    table: tuple[Column, ...]
    elements: int
    loads: LocalLoads | None

    @property
    def all_seen(self) -> float:
        """When the tour is over."""
        return _STOP * len(self.order)

    @property
    def loading(self) -> float:
        """When the array's loads begin, if they are from local memory."""
        return self.all_seen + _ALL

    @property
    def turn(self) -> float:
        """When both kernels' arrays are compared."""
        return self.loading + (_LOCAL if "local" in self.order else 0.0)


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """A tour of the spaces in the order in which a warp uses them; then the array."""
    variant = str(values["variant"])
    run = runs[variant]
    arch = architecture(run.arch)
    order = order_of(run.trace)
    if len(order) < 2:
        raise InputError("the trace has no request of warp 0 of block 0; record block 0")
    used = "local" if "local" in order else "register"
    spaces = dict(zip(SPACES, spaces_of(run, arch, used), strict=True))
    one, other = (placement_of(runs[name], architecture(runs[name].arch)) for name in VARIANTS)
    scene = _Scene(
        variant,
        spaces,
        order,
        (one, other),
        _table(runs, one, other),
        number(values, "elements"),
        local_loads(runs["indexed"].trace, arch),
    )
    return Story(
        _title(),
        _verdict(scene),
        _steps(scene),
        lambda t, given: _frame(scene, t, given.roomy()),
        _expected(values),
    )


def _table(runs: Mapping[str, Run], one: Placement, other: Placement) -> tuple[Column, ...]:
    """What the two kernels make of the array, and how long they take."""
    rows = array_facts(one, other)
    times = [time_of(runs[name]) for name in VARIANTS]
    cells = [t.text if t else "–" for t in times]
    time = tr("time ({badge})", badge=badge_of(times))
    return (
        Column((tr("array"),), (*(r[0] for r in rows), time), "left"),
        Column((tr("indexed at run time"), tr("indexed")), (*(r[1] for r in rows), cells[0])),
        Column((tr("unrolled"),), (*(r[2] for r in rows), cells[1])),
    )


def _title() -> str:
    return tr("One kernel, a variable in each memory space")


def _steps(scene: _Scene) -> tuple[Step, ...]:
    """A step a space, all of them, the array."""
    steps = []
    for place, key in enumerate(scene.order):
        space = scene.spaces[key]
        first, start = space.first, place * _STOP
        kind: StepKind = (
            "compute"
            if first is None
            else (
                "shared" if first.space == "shared" else "store" if first.op == "store" else "load"
            )
        )
        detail = f"{space.each} {space.unit}"
        if first is not None:
            detail = f"{first.text} · {space.requests} × {detail}"
        steps.append(
            Step(
                start,
                start + _STOP,
                kind,
                space.name,
                detail,
                first.line if first else 0,
                scene.variant,
            )
        )
    over, turn = scene.all_seen, scene.turn
    line = _array_line(scene)
    return (
        *steps,
        Step(over, scene.loading, "result", tr("all spaces"), "", 0, scene.variant),
        *_loading_step(scene, line),
        Step(turn, turn + _ARRAY, "result", tr("the array"), "", line, scene.variant),
    )


def _loading_step(scene: _Scene, line: int) -> tuple[Step, ...]:
    """The loads of the array, where these are from local memory."""
    if scene.turn == scene.loading or scene.loads is None:
        return ()
    detail = f"{len(scene.loads.counted)} × {scene.loads.counted[0]}"
    return (
        Step(
            scene.loading, scene.turn, "load", tr("loads of the array"), detail, line, scene.variant
        ),
    )


def _array_line(scene: _Scene) -> int:
    """The line that reads the array."""
    return scene.arrays[VARIANTS.index(scene.variant)].line


def _sentence(scene: _Scene, place: int) -> str:
    """What is to be said about a stop of the tour."""
    key = scene.order[place]
    return {
        "register": tr("Plain variables live in registers, which only their thread sees."),
        "shared": tr("__shared__ row: every thread of the block reads what another one wrote."),
        "constant": tr("__constant__ scale: written by the host, read by all threads, cached."),
        "texture": tr("__ldg(table): global memory that nobody writes, read by the texture path."),
        "global": tr("in and out: device memory that all threads and the host share."),
        "local": tr("kept has run-time indices: each thread has its own in device memory."),
    }[key]


def _verdict(scene: _Scene) -> str:
    """Where the array went, by the PTX and by the assembler."""
    indexed = scene.arrays[0]
    if indexed.stack == 0 and indexed.requests:
        return tr(
            "The PTX keeps it in local memory, but it is small: the assembler chooses among "
            "registers instead."
        )
    if indexed.requests:
        return tr(
            "Registers have no addresses: indexed at run time, it has to lie in local memory."
        )
    return tr("All indices are known when it is compiled: it is in registers.")


def _expected(values: Values) -> str:
    """Local requests of a warp: stores of four elements at once, loads one by one."""
    elements = number(values, "elements")
    warps = number(values, "threads") // 32 * number(values, "blocks")
    if values["variant"] == "unrolled":
        return tr("closed form: no local request, {count} shared loads", count=elements * warps)
    return tr(
        "closed form: {loads} local loads by the PTX, one for each element and warp",
        loads=elements * warps,
    )


def _frame(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The pure function from time to picture."""
    if t >= scene.turn:
        return _array(scene, stage, (t - scene.turn) / _ARRAY)
    if t >= scene.loading and scene.loads is not None:
        return _loading(scene, scene.loads, stage, (t - scene.loading) / _LOCAL)
    place = min(int(t / _STOP), len(scene.order))
    said = (
        _sentence(scene, place)
        if place < len(scene.order)
        else tr("On the chip it is small and fast; in device memory large, and slow to reach.")
    )
    head, area = heading(stage, _title(), said)
    tour = Tour(scene.order, place, t / _STOP - place)
    return stage.frame(*head, *columns(stage, area, scene.spaces, tour))


def _loading(scene: _Scene, loads: LocalLoads, stage: Stage, share: float) -> Frame:
    """The array's loads, one after another, where its copies lie in local memory."""
    done = min(share * 1.1 * len(loads.word), float(len(loads.word)))
    now = min(int(done), len(loads.word) - 1)
    said = tr(
        "Equal elements of all lanes lie side by side. Load {number} of {count}: {counted}.",
        number=now + 1,
        count=len(loads.word),
        counted=loads.counted[now],
    )
    head, area = heading(stage, tr("Local memory: each lane has its own kept, interleaved"), said)
    return stage.frame(*head, *layout(stage, area, loads, done))


def _array(scene: _Scene, stage: Stage, share: float) -> Frame:
    """The array indexed at run time and by an unrolled loop: log, PTX, requests."""
    title = tr("float kept[{count}]: where does an automatic array live?", count=scene.elements)
    head, area = heading(stage, title, _verdict(scene))
    size = stage.text(14)
    rows = len(scene.table[0].cells)
    tall = min(height_of(stage, rows, badges=False) + size, area.height * 0.62)
    top, rest = area.inset(size * 0.5, 0).above(tall, size * 0.5)
    table = lay_out(stage, top, scene.table)
    shown = min(int(share * 2.5 * rows) + 1, rows)
    code, left = listings(stage, rest, scene.arrays)
    return stage.frame(*head, *draw(stage, table, shown), *code, *_places(scene, stage, left))


def _places(scene: _Scene, stage: Stage, area: Rect) -> tuple[Mark, ...]:
    """Local memory and registers below the listings, where there is room."""
    if scene.loads is None or area.height < 130 * stage.scale:
        return ()
    one, other = area.columns(2, stage.text(14))
    done = float(len(scene.loads.word))
    return (*layout(stage, one, scene.loads, done), *registers(stage, other, scene.elements))


LESSON = Lesson(
    "memory-spaces",
    "Memory spaces",
    "Shared memory",
    "Where each variable of a kernel lives, who sees it, how long it lasts, what its access costs.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=(
        "register",
        "local-memory",
        "shared-memory",
        "global-memory",
        "constant-memory",
        "spill",
        "host",
    ),
)
