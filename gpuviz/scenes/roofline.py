"""Roofline: what bandwidth and arithmetic of a device allow kernels of different intensity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpuviz.language import grouped, tr
from gpuviz.panels.figures import Counted, Figure, Sourced
from gpuviz.panels.layout import rows
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.roofline import Kernel, Roofline, rate, share, speed
from gpuviz.panels.script import Act, Script
from gpuviz.panels.table import Column, Table
from gpuviz.roofline import Roof, a_float
from gpuviz.runners.base import Run
from gpuviz.scenes.base import (
    Choice,
    Lesson,
    Parameter,
    Plan,
    Preset,
    Story,
    Value,
    Values,
    offered,
)
from gpuviz.scenes.measured import badge_of, device_of
from gpuviz.scenes.roofline_points import DOCUMENT, TILES, Point, measured_roof, point_of
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
        choices=offered(16, 32, 64, 128, 256),
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
class _Shown:
    """What is drawn: the roof (None when it is not known), another one, and the kernels; where the
    roof comes from. `own` says that it is of the GPU that ran the kernels.
    """

    roof: Roof | None
    other: tuple[Roof, str] | None
    points: tuple[Point, ...]
    basis: str
    device: str
    source: str
    own: bool = False


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The roof; kernel after kernel under it; all of them in numbers."""
    shown = _shown(values, runs)
    title, sentence, count = _title(shown), _sentence(shown), len(shown.points)
    first, script = shown.points[0].role, Script()
    roof = script.act(_ROOF, "intro", tr("the roof"), tr("bandwidth, then arithmetic"), role=first)
    for one in shown.points:
        script.act(
            _POINT, "compute", one.name, _detail(shown, one), _line(runs[one.role]), one.role
        )
    script.act(_SEE, "load", tr("all kernels"), role=first)
    listed = script.act(_TABLE + _END, "result", tr("in numbers"), role=first)
    under = _roofline(shown)
    naive = next(i for i, p in enumerate(shown.points) if p.role == "naive")

    def at(t: float) -> Picture:
        if t >= listed.start:
            seen = min(int((t - listed.start) / _TABLE * count) + 1, count)
            numbers = _table(shown, seen, naive), _reached(shown)
            low = Picture(title, sentence, rows(*numbers))
            return Picture(title, sentence, rows(under, *numbers), low=low)
        arrived = Act(roof.end, roof.end + _POINT * count).counted(t, count)
        chart = replace(under, drawn=min(t / (_ROOF * 0.8), 1.0), arrived=arrived)
        now = _figures(shown, arrived)
        return Picture(title, sentence, rows(chart, now, _source(shown)))

    return Story.of(script, at, _expected(values))


def _shown(values: Values, runs: Mapping[str, Run]) -> _Shown:
    """The kernels by intensity, under the roof that was chosen."""
    names, basis = _names(values), str(values["basis"])
    every = (point_of(role, names[role], runs[role], basis) for role in ROLES)
    points = tuple(sorted(every, key=lambda p: p.intensity))
    measured, device = measured_roof(runs), str(values["device"])
    if device != "measured":
        roof = DOCUMENT if device == "document" else TILES
        return _Shown(roof, measured, points, basis, _SOURCE, tr("published"))
    if measured is None:
        none = tr("no GPU and no recording"), tr("unavailable")
        return _Shown(None, None, points, basis, *none, own=True)
    roof, name = measured
    other = DOCUMENT, tr("the document's")
    return _Shown(roof, other, points, basis, name, _measured_badge(runs), own=True)


def _measured_badge(runs: Mapping[str, Run]) -> str:
    """Live, or recorded where."""
    return next(m for r in runs.values() if (m := r.measurement) is not None).badge


def _naive(shown: _Shown) -> Point:
    """The naive product."""
    return next(p for p in shown.points if p.role == "naive")


def _title(shown: _Shown) -> str:
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


def _sentence(shown: _Shown) -> str:
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


def _detail(shown: _Shown, one: Point) -> str:
    """A kernel in a few words."""
    detail = tr("{n} operations a float", n=f"{one.ratio:.3g}")
    if shown.roof is None:
        return detail
    return f"{detail} · {rate(shown.roof.attainable(one.intensity))}"


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


def _roofline(shown: _Shown) -> Roofline:
    """Roofs and kernels, all of them there."""
    titles = (tr("operations for each byte loaded"), tr("FLOP a byte"))
    if shown.basis == "moved":
        titles = (tr("operations for each byte moved in sectors"), tr("FLOP a byte"))
    kernels = tuple(Kernel(p.name, p.intensity, p.rate) for p in shown.points)
    return Roofline(shown.roof, shown.other, kernels, titles)


def _figures(shown: _Shown, arrived: float) -> Counted:
    """The kernel under way in figures."""
    if arrived <= 0:
        return Counted(())
    one = shown.points[min(int(arrived - 1e-9), len(shown.points) - 1)]
    per_byte = tr(
        "{flop} FLOP / {bytes} bytes = {n}",
        flop=one.flops,
        bytes=one.bytes,
        n=f"{one.intensity:.3g}",
    )
    figures = [Figure(one.name, bold=True), Figure(per_byte, "muted")]
    if shown.roof is not None:
        most = tr("at most {rate}", rate=rate(shown.roof.attainable(one.intensity)))
        figures.insert(1, Figure(most, "accent", True))
    return Counted(tuple(figures))


def _source(shown: _Shown) -> Sourced:
    """Where the roof comes from."""
    roof = shown.roof
    if roof is None:
        texts = (tr("the roof: {device}", device=shown.device), shown.device)
        return Sourced(texts, shown.source)
    what = speed(roof.bandwidth)
    if roof.peak is not None:
        what += f", {rate(roof.peak)}"
    ink: Ink = "muted" if shown.source == tr("published") else "good"
    texts = (tr("the roof: {what} · {device}", what=what, device=shown.device), what)
    return Sourced(texts, shown.source, ink)


def _table(shown: _Shown, count: int, now: int) -> Table:
    """Operations, bytes, intensity, what the roof allows, what was measured."""
    every, roof, model = shown.points, shown.roof, tr("model")
    bound = tuple(rate(roof.attainable(p.intensity)) if roof else "–" for p in every)
    part = tuple(
        "–" if roof is None or (f := roof.of_peak(p.intensity)) is None else share(f) for p in every
    )
    times = [p.time for p in every]
    got = tuple(rate(p.rate) if p.rate else "–" for p in every)
    moved = tr("bytes moved") if shown.basis == "moved" else tr("bytes loaded")
    operations, moved_by = (
        tuple(map(_many, n)) for n in zip(*((p.flops, p.bytes) for p in every), strict=True)
    )
    ratios = tuple(f"{p.ratio:.3g}" for p in every)
    ink: Ink = "good" if any(times) else "muted"
    columns = (
        Column((tr("kernel"),), tuple(p.name for p in every), "left"),
        Column((tr("operations"), tr("FLOP")), operations, badge=model, optional=3),
        Column((moved, tr("bytes")), moved_by, badge=model, optional=2),
        Column((tr("operations a float"), tr("a float")), ratios, badge=model, bold=True),
        Column((tr("at most"),), bound, badge=model, bold=True),
        Column((tr("of the peak"), tr("of peak")), part),
        Column(
            (tr("reached"),),
            got,
            badge=badge_of(times),
            ink=ink,
            optional=1,
            remarks=tuple(t.overhead if t else "" for t in times),
        ),
    )
    return Table(columns, now, count)


def _reached(shown: _Shown) -> Sourced:
    """Where measured rates come from."""
    times = [p.time for p in shown.points]
    texts = (tr("measured rates: {device}", device=device_of(times)), device_of(times))
    return Sourced(texts, badge_of(times), "good" if any(times) else "muted")


def _many(value: int) -> str:
    """Digits in groups, millions cut short."""
    return f"{value / 1e6:.3g} M" if value >= 1e6 else grouped(value)


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
