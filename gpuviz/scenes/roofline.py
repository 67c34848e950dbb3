"""Roofline: what bandwidth and arithmetic of a device allow kernels of different intensity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.draw.figures import Figure, figures, line_height, sourced
from gpuviz.draw.heading import steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.panels.script import Step
from gpuviz.roofline import a_float
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Value, Values
from gpuviz.scenes.together.roofline_points import (
    DOCUMENT,
    TILES,
    Point,
    measured_roof,
    point_of,
    rate,
    share,
    speed,
)
from gpuviz.scenes.together.roofline_view import Picture, listed, roofline
from gpuviz.scenes.values import number

_THREADS = 256
_ROOF, _POINT, _SEE, _TABLE, _END = 2.5, 1.5, 1.5, 3.0, 2.0  # seconds
_SOURCE = "GPGPU programming"

PARAMETERS = (
    Parameter(
        "device",
        "device",
        "document",
        choices=(
            Choice("document", "1 TB/s, 12 TFLOP/s (the document's)"),
            Choice("tiles", "150 GB/s (the document's)"),
            Choice("measured", "the GPU that was measured"),
        ),
    ),
    Parameter(
        "basis",
        "bytes",
        "loaded",
        choices=(Choice("loaded", "that lanes load"), Choice("moved", "of sectors moved")),
        hint="loaded: as the document counts; moved: loads and stores, in whole sectors",
    ),
    Parameter(
        "size",
        "matrix size",
        32,
        choices=tuple(Choice(n, f"{n} × {n}") for n in (32, 64, 128, 256)),
    ),
    Parameter(
        "elements",
        "vector elements",
        4096,
        choices=tuple(Choice(1 << n, f"2^{n}") for n in (12, 14, 16, 18, 20)),
    ),
    Parameter("stride", "stride of the strided kernel", 8, 1, 32),
    Parameter(
        "degree",
        "degree of the polynomial",
        64,
        compiled=True,
        choices=tuple(Choice(n, str(n)) for n in (16, 32, 64, 128, 256)),
    ),
)

_FIRST: dict[str, Value] = {"device": "document", "basis": "loaded", "size": 32, "elements": 4096}
PRESETS = (
    Preset("The document's device", _FIRST),
    Preset("150 GB/s", {**_FIRST, "device": "tiles"}),
    Preset("Bytes of whole sectors", {**_FIRST, "basis": "moved"}),
    Preset(
        "The GPU measured",
        {**_FIRST, "device": "measured", "basis": "moved", "size": 128, "elements": 1 << 18},
    ),
)

ROLES = ("strided", "fma4", "naive", "tiled 8", "tiled 16", "polynomial")


def plan(values: Values) -> tuple[Plan, ...]:
    """Six kernels, from hardly any arithmetic to a lot of it."""
    n, count = number(values, "size"), number(values, "elements")
    stride, degree = number(values, "stride"), number(values, "degree")
    grid, block = (count // _THREADS, 1, 1), (_THREADS, 1, 1)
    vector, zeros = f"f32[{count}]=rand", f"f32[{count}]=zeros"
    defines = (("DEGREE", str(degree)),)
    return (
        Plan(
            "strided",
            "roofline.cu",
            "strided_axpy",
            grid,
            block,
            ("f32=2", f"f32[{count * stride}]=rand", vector, f"i32={stride}"),
            defines,
        ),
        Plan(
            "fma4", "fma4.cu", "fma4", grid, block, (vector, vector, vector, zeros, f"i32={count}")
        ),
        _product("naive", "naive", n, 16),
        _product("tiled 8", "tiled", n, 8),
        _product("tiled 16", "tiled", n, 16),
        Plan(
            "polynomial",
            "roofline.cu",
            "polynomial",
            grid,
            block,
            ("f32=0.5", vector, zeros),
            defines,
        ),
    )


def _product(role: str, entry: str, n: int, tile: int) -> Plan:
    """A product of n x n matrices in blocks of tile x tile threads."""
    matrices = (f"f32[{n * n}]=rand", f"f32[{n * n}]=rand", f"f32[{n * n}]=zeros")
    return Plan(
        role,
        "product.cu",
        entry,
        (n // tile, n // tile, 1),
        (tile, tile, 1),
        (*matrices, f"i32={n}", f"i32={n}"),
        dynamic_shared=8 * tile * tile if entry == "tiled" else 0,
    )


def _names(values: Values) -> dict[str, str]:
    """The kernels in words."""
    return {
        "strided": tr("a x + y, stride {n}", n=number(values, "stride")),
        "fma4": tr("a × b + c"),
        "naive": tr("matmul, naive"),
        "tiled 8": tr("matmul, 8 × 8 tiles"),
        "tiled 16": tr("matmul, 16 × 16 tiles"),
        "polynomial": tr("polynomial, degree {n}", n=number(values, "degree")),
    }


@dataclass(frozen=True, eq=False)
class _Scene:
    """All that the pictures select from."""

    shown: Picture
    device: str
    source: str
    steps: tuple[Step, ...]


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The roof; kernel after kernel under it; all of them in numbers."""
    names, basis = _names(values), str(values["basis"])
    every = tuple(
        sorted(
            (point_of(role, names[role], runs[role], basis) for role in ROLES),
            key=lambda p: p.intensity,
        )
    )
    measured, device = measured_roof(runs), str(values["device"])
    if device == "measured":
        roof = measured[0] if measured else None
        shown = Picture(
            roof, (DOCUMENT, tr("the document's")) if roof else None, every, basis, own=True
        )
        name = measured[1] if measured else tr("no GPU and no recording")
        source = _measured_badge(runs) if measured else tr("unavailable")
    else:
        shown = Picture(DOCUMENT if device == "document" else TILES, measured, every, basis)
        name, source = _SOURCE, tr("published")
    steps = _steps(shown, runs)
    scene = _Scene(shown, name, source, steps)
    return Story(
        _title(shown),
        _sentence(shown),
        steps,
        lambda t, given: _frame(scene, t, given.roomy()),
        _expected(values),
    )


def _measured_badge(runs: Mapping[str, Run]) -> str:
    """Live or recorded."""
    found = next(m for r in runs.values() if (m := r.measurement) is not None)
    return tr("recorded") if found.badge == "recorded" else tr("live")


def _naive(shown: Picture) -> Point:
    """The naive product."""
    return next(p for p in shown.points if p.role == "naive")


def _title(shown: Picture) -> str:
    """What the naive product can reach."""
    naive, roof = _naive(shown), shown.roof
    if roof is None:
        return tr("Where kernels lie is counted; how high the roof is has to be measured")
    part = roof.of_peak(naive.intensity)
    if part is None:
        return tr(
            "{bandwidth} allow the naive product {rate}",
            bandwidth=speed(roof.bandwidth),
            rate=rate(roof.attainable(naive.intensity)),
        )
    return tr("The naive product can reach {share} of the peak", share=share(part))


def _sentence(shown: Picture) -> str:
    """What would be needed."""
    naive, roof = _naive(shown), shown.roof
    if roof is None:
        return tr(
            "No GPU was there and no recording is of these launches: the kernels stay on the "
            "ground."
        )
    if roof.ridge is None:
        tiled = next(p for p in shown.points if p.role == "tiled 16")
        return tr(
            "16 × 16 tiles allow {rate}: {n} operations for each float loaded.",
            rate=rate(roof.attainable(tiled.intensity)),
            n=f"{tiled.ratio:.3g}",
        )
    above = [
        p.name
        for p in shown.points
        if shown.own and p.rate and p.rate > roof.attainable(p.intensity)
    ]
    if above:
        return tr(
            "Faster than this roof, as caches serve what is loaded again: {kernels}.",
            kernels=", ".join(above),
        )
    if shown.basis == "moved":
        return tr(
            "Operations for each float it moves: {has}. To leave the slope: {needed}.",
            has=f"{naive.ratio:.3g}",
            needed=f"{a_float(roof.ridge):.3g}",
        )
    return tr(
        "Operations for each float it loads: {has}. To leave the slope: {needed}.",
        has=f"{naive.ratio:.3g}",
        needed=f"{a_float(roof.ridge):.3g}",
    )


def _expected(values: Values) -> str:
    """The document's figures; closed forms where bytes are those loaded."""
    if values["basis"] == "moved":
        return tr(
            "closed form: {n} FLOP in each matrix product: 2 × {size}³",
            n=f"{2 * number(values, 'size') ** 3:,}",
            size=number(values, "size"),
        )
    published = {
        "document": tr(
            "published ({source}): ratio 1 at 1 TB/s allows 250 Gop/s, 2 % of "
            "12 TFLOP/s; 48 is needed",
            source=_SOURCE,
        ),
        "tiles": tr(
            "published ({source}): 16 × 16 tiles at 150 GB/s allow 600 GFLOP/s", source=_SOURCE
        ),
    }.get(str(values["device"]))
    form = tr("closed form: operations a float are 1 for the naive product, 8 and 16 with tiles")
    return f"{form}; {published}" if published else form


def _steps(shown: Picture, runs: Mapping[str, Run]) -> tuple[Step, ...]:
    """The roof, each kernel, a moment to look, the table."""
    first = shown.points[0].role
    roof = tr("bandwidth, then arithmetic")
    made = [Step(0.0, _ROOF, "intro", tr("the roof"), roof, 0, first)]
    for one in shown.points:
        t = made[-1].end
        detail = tr("{n} operations a float", n=f"{one.ratio:.3g}")
        if shown.roof is not None:
            detail += " · " + rate(shown.roof.attainable(one.intensity))
        made.append(
            Step(t, t + _POINT, "compute", one.name, detail, _line(runs[one.role]), one.role)
        )
    t = made[-1].end
    made.append(Step(t, t + _SEE, "load", tr("all kernels"), "", 0, first))
    end = t + _SEE + _TABLE + _END
    made.append(Step(t + _SEE, end, "result", tr("in numbers"), "", 0, first))
    return tuple(made)


_WORK = {
    "naive": "sum += M[",
    "tiled": "sum += Ms",
    "fma4": "d[i] =",
    "strided_axpy": "y[i] = a *",
    "polynomial": "sum = sum *",
}


def _line(run: Run) -> int:
    """The CUDA line that computes."""
    work = _WORK[run.trace.launch.kernel]
    return next((n for n, text in enumerate(run.trace.source.splitlines(), 1) if work in text), 0)


def _frame(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The pure function from time to picture."""
    head, area = steady_heading(stage, _title(scene.shown), _sentence(scene.shown), ())
    start = scene.steps[-1].start
    if t >= start:
        return _table(scene, t - start, stage)
    drawn = min(t / (_ROOF * 0.8), 1.0)
    arrived = min(max((t - _ROOF) / _POINT, 0.0), float(len(scene.shown.points)))
    low = line_height(stage)
    top = area.above(area.height - 2 * low)[0]
    feet = [Rect(area.x, area.bottom - n * low, area.width, low) for n in (2, 1)]
    return stage.frame(
        *head,
        *roofline(stage, top, scene.shown, drawn, arrived),
        *_point(stage, feet[0], scene, arrived),
        *_source(stage, feet[1], scene),
    )


def _point(stage: Stage, area: Rect, scene: _Scene, arrived: float) -> tuple[Mark, ...]:
    """The kernel under way in figures."""
    palette, shown = stage.palette, scene.shown
    index = min(int(arrived - 1e-9), len(shown.points) - 1)
    if arrived <= 0:
        return ()
    one = shown.points[index]
    per_byte = tr(
        "{flop} FLOP / {bytes} bytes = {n}",
        flop=one.flops,
        bytes=one.bytes,
        n=f"{one.intensity:.3g}",
    )
    pieces: list[Figure] = [(one.name, palette.ink, True)]
    if shown.roof is not None:
        pieces.append(
            (
                tr("at most {rate}", rate=rate(shown.roof.attainable(one.intensity))),
                palette.accent,
                True,
            )
        )
    pieces.append((per_byte, palette.muted, False))
    return figures(stage, area, tuple(pieces), tr("model"), palette.accent)


def _source(stage: Stage, area: Rect, scene: _Scene) -> tuple[Mark, ...]:
    """Where the roof comes from."""
    palette, roof = stage.palette, scene.shown.roof
    if roof is None:
        return sourced(
            stage,
            area,
            scene.source,
            palette.muted,
            (tr("the roof: {device}", device=scene.device), scene.device),
        )
    what = (
        speed(roof.bandwidth)
        if roof.peak is None
        else f"{speed(roof.bandwidth)}, " + rate(roof.peak)
    )
    color = palette.muted if scene.source == tr("published") else palette.good
    texts = (tr("the roof: {what} · {device}", what=what, device=scene.device), what)
    return sourced(stage, area, scene.source, color, texts)


def _table(scene: _Scene, since: float, stage: Stage) -> Frame:
    """All kernels in numbers, and in a high stage the picture above them."""
    head, area = steady_heading(stage, _title(scene.shown), _sentence(scene.shown), ())
    count = len(scene.shown.points)
    rows = min(int(since / _TABLE * count) + 1, count)
    high = stage.text(14) * (4.5 + 1.75 * count)
    now = next(i for i, p in enumerate(scene.shown.points) if p.role == "naive")
    if area.height - high < stage.text(14) * 13:
        return stage.frame(*head, *listed(stage, area, scene.shown, rows, now))
    top, rest = area.above(area.height - high)
    return stage.frame(
        *head,
        *roofline(stage, top, scene.shown, 1.0, float(count)),
        *listed(stage, rest, scene.shown, rows, now),
    )


LESSON = Lesson(
    "roofline",
    "Roofline",
    "Putting it together",
    "Whether bandwidth or arithmetic limits a kernel, and how far from the limit it is.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("roofline", "intensity", "flop", "tile", "sector"),
)
