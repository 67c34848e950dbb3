"""Roofline: what bandwidth and arithmetic of a device allow a product in tiles of any width."""

from dataclasses import dataclass, replace
from math import ceil

from gpuviz.arch import architecture
from gpuviz.arch.roofline import Roof, a_float
from gpuviz.course import named
from gpuviz.course.together.matmul_common.sizes import KERNEL
from gpuviz.course.together.roofline.points import DOCUMENT, TILES, Point, measured_roof, point_of
from gpuviz.draw.ease import smooth
from gpuviz.panels.figures import Figure, FigureRow, Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.roofline import Climb, Kernel, Roofline, rate, share, speed
from gpuviz.panels.time_bars import TimeBars
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.measured import time_bars
from gpuviz.story.script import Act, Script, line_with
from gpuviz.words.language import grouped, tr, trn

_THREADS, _DEGREE = 256, 64
_ROOF, _POINT, _NAIVE, _TILE, _END = 2.5, 1.0, 2.0, 2.0, 4.5  # seconds
_SOURCE = "GPGPU programming"
WIDTHS = 1, 8, 16, 32  # of tiles; 1: none, the naive kernel

LOOK_FOR = "Whether bandwidth or arithmetic limits a kernel, and how far from the limit it is."
WORDS = ("roofline", "intensity", "flop", "tile", "sector")

PARAMETERS = (
    Parameter(
        "device",
        "roof",
        "measured",
        offers={
            "document": "1 TB/s, 12 TFLOP/s (published)",
            "tiles": "150 GB/s (published)",
            "measured": "of the GPU that was measured",
        },
    ),
    Parameter(
        "tile",
        "tile width",
        16,
        offers={1: "none: naive", **{n: str(n) for n in WIDTHS[1:]}},
        hint="how far the product climbs; drag its dot",
    ),
    Parameter(
        "basis",
        "bytes",
        "loaded",
        offers={"loaded": "that lanes load", "moved": "of whole sectors"},
        hint="loaded: as the document counts; of sectors: loads and stores that lanes ask for",
    ),
    Parameter(
        "size",
        "matrix size",
        1024,
        offers={n: f"{n} × {n}" for n in (256, 512, 1024, 2048)},
        small=256,
    ),
    Parameter(
        "elements",
        "vector elements",
        1 << 22,
        offers={1 << n: f"2^{n}" for n in (16, 20, 22, 24)},
        small=1 << 16,
    ),
    Parameter("stride", "stride of the strided kernel", 8, 1, 32),
    Parameter(
        "degree", "degree of the polynomial", _DEGREE, compiled=True, offers=(16, 32, 64, 128, 256)
    ),
)

PRESETS = (
    Preset("1 TB/s, 12 TFLOP/s, as published", {"device": "document", "tile": 16}),
    Preset("150 GB/s, as published", {"device": "tiles", "tile": 16}),
    Preset("Bytes of whole sectors", {"device": "document", "basis": "moved", "tile": 16}),
    Preset("The GPU measured", {"device": "measured", "tile": 32}),
)

ENDS = ("strided", "fma4", "polynomial")
ROLES = (*ENDS, *("naive" if width == 1 else f"tiled {width}" for width in WIDTHS))


def plan(values: Values) -> tuple[Plan, ...]:
    """The product without tiles and with wider and wider ones, and kernels at both ends."""
    n, count = number(values, "size"), number(values, "elements")
    stride, degree = number(values, "stride"), number(values, "degree")
    grid, block = (count // _THREADS, 1, 1), (_THREADS, 1, 1)
    vector, zeros = f"f32[{count}]=rand", f"f32[{count}]=zeros"
    defines, power = (("DEGREE", str(degree)),), count.bit_length() - 1
    what = tr("2^{n} elements", n=power)
    ends = (
        Plan(
            "strided",
            "roofline.cu",
            "strided_axpy",
            grid,
            block,
            ("f32=2", f"f32[{count * stride}]=rand", vector, f"i32={stride}"),
            (("DEGREE", str(_DEGREE)),),  # whatever it is, this kernel is the same
        ),
        Plan(
            "fma4", "fma4.cu", "fma4", grid, block, (vector, vector, vector, zeros, f"i32={count}")
        ),
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
    products = (
        replace(_product(role, n, width), optional=width == WIDTHS[-1])
        for role, width in zip(ROLES[len(ENDS) :], WIDTHS, strict=True)
    )
    return (*(replace(one, size=what, record=(), outputs=False) for one in ends), *products)


def _product(role: str, n: int, width: int) -> Plan:
    """A product of n x n matrices, in tiles so wide; without tiles in blocks of 16 x 16."""
    matrices = (f"f32[{n * n}]=rand", f"f32[{n * n}]=rand", f"f32[{n * n}]=zeros")
    block = 16 if width == 1 else width
    return Plan(
        role,
        KERNEL,
        "naive" if width == 1 else "tiled",
        (n // block, n // block, 1),
        (block, block, 1),
        (*matrices, *(f"i32={n}",) * 3),
        (("TILE", str(block)),),
        record=(),
        size=tr("{n} × {n}, blocks of {width} × {width}, loop over k unrolled", n=n, width=block),
        outputs=False,
        run_blocks="classes",
    )


def _names(values: Values) -> dict[str, str]:
    """The kernels in words."""
    ends = (
        tr("a x + y, stride {n}", n=number(values, "stride")),
        tr("a × b + c"),
        tr("polynomial, degree {n}", n=number(values, "degree")),
    )
    tiled = (tr("matmul, {n} × {n} tiles", n=width) for width in WIDTHS[1:])
    return dict(zip(ROLES, (*ends, tr("matmul, naive"), *tiled), strict=True))


@dataclass(frozen=True, eq=False)
class _RooflinePoints:
    """What is drawn: the roof (None when it is not known) and where it comes from, the kernels at
    both ends by intensity, and the product, without tiles and with wider and wider ones.

    `tile` is the width it climbs to; `own` says that the roof is of the GPU that ran the kernels,
    whose L1 may be a further one.
    """

    roof: Roof | None
    ends: tuple[Point, ...]
    products: tuple[Point, ...]
    tile: int
    size: int
    basis: str
    device: str
    source: str
    own: bool = False
    l1: Roof | None = None

    @property
    def naive(self) -> Point:
        """The product without tiles."""
        return self.products[0]

    @property
    def chosen(self) -> int:
        """Number of the product that is climbed to."""
        return WIDTHS.index(self.tile)


def narrate(values: Values, runs: Runs) -> Story:
    """The roof; kernels at both ends; the product, climbing tile by tile; all of it in numbers."""
    shown = _shown(values, runs)
    title, sentence, climbers = _title(shown), _sentence(shown), shown.products[: shown.chosen + 1]
    if len(shown.products) < len(WIDTHS):
        left_out = tr("Blocks of {n} × {n} threads are refused here.", n=WIDTHS[-1])
        sentence = f"{left_out} {sentence}"
    first, script = shown.ends[0].role, Script()
    roof = script.act(_ROOF, "intro", tr("the roof"), tr("bandwidth, then arithmetic"), role=first)

    def act(seconds: float, one: Point) -> Act:
        return script.act(
            seconds, "compute", one.name, _detail(shown, one), _line(runs[one.role]), one.role
        )

    ends = [act(_POINT, one) for one in shown.ends]
    climb = [act(_NAIVE if one is shown.naive else _TILE, one) for one in climbers]
    listed = script.act(_END, "result", tr("how long they take"), role=climbers[-1].role)
    under = _roofline(shown)

    def at(t: float) -> Picture:
        arrived = ends[0].until(ends[-1]).counted(t, len(ends))
        along = float(sum(smooth(one.share(t)) for one in climb[1:])) - (t < climb[0].start)
        chart = replace(
            under,
            drawn=min(roof.share(t) * 1.25, 1.0),
            arrived=arrived,
            climb=replace(under.climb, along=along),
        )
        if t >= listed.start and shown.own:
            return Picture(title, sentence, _times(shown, listed.share(t)))
        now = shown.products[ceil(along - 1e-6)] if along >= 0 else _last(shown.ends, arrived)
        return Picture(title, sentence, rows(chart, _figures(shown, now), _source(shown)))

    return Story.of(script, at, _expected(values))


def _last(points: tuple[Point, ...], arrived: float) -> Point | None:
    """The kernel that came last, None before the first."""
    return points[min(int(arrived - 1e-9), len(points) - 1)] if arrived > 0 else None


def _shown(values: Values, runs: Runs) -> _RooflinePoints:
    """The kernels, under the roof that was chosen."""
    names, basis = _names(values), str(values["basis"])
    every = {role: point_of(role, names[role], runs[role], basis) for role in ROLES if role in runs}
    products = tuple(every[role] for role in ROLES[len(ENDS) :] if role in every)
    widest = WIDTHS[len(products) - 1]
    shown = _RooflinePoints(
        None,
        tuple(sorted((every[role] for role in ENDS), key=lambda p: p.intensity)),
        products,
        min(number(values, "tile"), widest),
        number(values, "size"),
        basis,
        tr("no GPU and no recording"),
        tr("unavailable"),
        own=True,
    )
    if values["device"] != "measured":
        roof = DOCUMENT if values["device"] == "document" else TILES
        return replace(shown, roof=roof, device=_SOURCE, source=tr("published"), own=False)
    if (found := measured_roof(runs)) is None:
        return shown
    roof, device, badge = found
    l1 = _l1(device, roof) if basis == "loaded" else None
    return replace(shown, roof=roof, device=device.name, source=badge, l1=l1)


def _l1(device: DeviceFacts, roof: Roof) -> Roof | None:
    """What L1 hands out: a word of every bank, in every multiprocessor, at every cycle."""
    arch = architecture(device.capability)
    each = arch.banks * arch.bank_widths[0] * device.multiprocessors
    speed = each * device.clock_mhz * 1e6
    return Roof(speed, roof.peak) if speed else None


def _title(shown: _RooflinePoints) -> str:
    """What the product can reach, or has reached."""
    roof, naive, tiled = shown.roof, shown.naive, shown.products[shown.chosen]
    if roof is None:
        return tr("Where kernels lie is counted; how high the roof is has to be measured")
    if shown.own and naive.rate and tiled.rate:
        return _reached(shown, naive.rate, tiled.rate)
    if roof.peak is None:
        allowed = [rate(roof.attainable(p.intensity)) for p in (naive, tiled)]
        what: dict[str, object] = {"bandwidth": speed(roof.bandwidth), "rate": allowed[0]}
        if tiled is naive:
            return tr("{bandwidth} allow the naive product {rate}", **what)
        return tr(
            "{bandwidth} allow the naive product {rate}, with {n} × {n} tiles {more}",
            **what,
            n=shown.tile,
            more=allowed[1],
        )
    parts = [share(roof.attainable(p.intensity) / roof.peak) for p in (naive, tiled)]
    if tiled is naive:
        return tr(
            "From memory alone the naive product can reach {share} of the peak", share=parts[0]
        )
    given = {"share": parts[0], "n": shown.tile, "more": parts[1]}
    return tr(
        "From memory alone the naive product can reach {share} of the peak, with {n} × {n} tiles "
        "{more}",
        **given,
    )


def _reached(shown: _RooflinePoints, naive: float, tiled: float) -> str:
    """What a GPU made of it."""
    what: dict[str, object] = {"device": shown.device, "rate": rate(naive)}
    if shown.chosen == 0:
        return tr("{device}: the naive product reached {rate}", **what)
    return tr(
        "{device}: the naive product reached {rate}, with {n} × {n} tiles {more}",
        **what,
        n=shown.tile,
        more=rate(tiled),
    )


def _sentence(shown: _RooflinePoints) -> str:
    """What would be needed, or what helped."""
    naive, tiled, roof = shown.naive, shown.products[shown.chosen], shown.roof
    if roof is None:
        return tr(
            "No GPU was there and no recording is of these launches: it is not known how high the "
            "roof is."
        )
    allowed = roof.attainable(naive.intensity)
    if shown.own and naive.rate and naive.rate > allowed:
        return tr(
            "Without tiles memory alone allows {rate}: caches answer the loads that repeat.",
            rate=rate(allowed),
        )
    has = f"{tiled.ratio:.3g}"
    if roof.ridge is None:
        what = {"n": has, "rate": rate(roof.attainable(tiled.intensity))}
        return tr("{n} operations for each float: at most {rate}.", **what)
    needed = f"{a_float(roof.ridge):.3g}"
    if shown.basis == "moved":
        return tr(
            "Operations for each float in its sectors: {has}. To leave the slope: {needed}.",
            has=has,
            needed=needed,
        )
    what = {"has": has, "needed": needed}
    return tr("Operations for each float it loads: {has}. To leave the slope: {needed}.", **what)


def _expected(values: Values) -> str:
    """The document's figures; what arithmetic says where bytes are those loaded."""
    size = number(values, "size")
    if values["basis"] == "moved":
        what = {"n": grouped(2 * size**3), "size": size}
        return tr("by arithmetic: {n} FLOP in each matrix product: 2 × {size}³", **what)
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
    form = tr(
        "by arithmetic: operations a float are 1 for the naive product, with tiles their width"
    )
    return f"{form}; {published}" if published else form


def _operations(one: Point) -> str:
    count = 1 if one.ratio == 1 else 2
    said = f"{one.ratio:.3g}"
    return trn("{n} operation a float", "{n} operations a float", count, n=said)


def _detail(shown: _RooflinePoints, one: Point) -> str:
    """A kernel in a few words."""
    detail = _operations(one)
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
    return line_with(run.trace.source, _WORK[run.trace.launch.kernel])


def _roofline(shown: _RooflinePoints) -> Roofline:
    """Roofs and kernels, all of them there; rates of a GPU only under its own roof."""
    titles = (tr("operations for each byte loaded"), tr("FLOP a byte"))
    if shown.basis == "moved":
        titles = (tr("operations for each byte of sectors asked for"), tr("FLOP a byte"))
    measured = shown.own and any(p.rate for p in (*shown.ends, *shown.products))
    return Roofline(
        shown.roof,
        ((shown.l1, tr("L1: {speed}", speed=speed(shown.l1.bandwidth))),) if shown.l1 else (),
        tuple(_kernel(shown, p, p.name) for p in shown.ends),
        Climb(
            tr("matmul, {n} × {n}", n=shown.size),
            tuple(
                _kernel(shown, p, tr("naive") if width == 1 else str(width))
                for p, width in zip(shown.products, WIDTHS, strict=False)
            ),
            -1.0,
            (tr("tile width: drag it"), tr("tile width"), tr("tile")),
            lambda number: {"tile": WIDTHS[number]},
        ),
        titles,
        shown.source if measured else "",
    )


def _kernel(shown: _RooflinePoints, one: Point, name: str) -> Kernel:
    return Kernel(name, one.intensity, one.rate if shown.own else None)


def _figures(shown: _RooflinePoints, one: Point | None) -> FigureRow:
    """The kernel under way in figures."""
    if one is None:
        return FigureRow(())
    per_byte = tr(
        "{flop} / {bytes} = {n} a byte",
        flop=_scaled(one.flops, "FLOP"),
        bytes=_scaled(one.bytes, "B"),
        n=f"{one.intensity:.3g}",
    )
    figures = [Figure(one.name, bold=True), Figure(per_byte, "muted")]
    if shown.roof is not None:
        allowed = rate(shown.roof.attainable(one.intensity))
        most = tr("without caches {rate}", rate=allowed) if shown.own else None
        brief = () if most else (f"≤ {allowed}",)
        said = most or tr("at most {rate}", rate=allowed)
        figures.insert(1, Figure(said, "accent", True, shorter=brief))
    if shown.own and one.rate:
        got = tr("reached {rate}", rate=rate(one.rate))
        figures.append(Figure(got, "good", badge=shown.source))
    return FigureRow(tuple(figures))


def _source(shown: _RooflinePoints) -> Provenance:
    """Where the roof comes from."""
    roof = shown.roof
    if roof is None:
        none = tr("the roof: {device}", device=shown.device), shown.device
        return Provenance(none, shown.source)
    what = speed(roof.bandwidth)
    if roof.peak is not None:
        what += f", {rate(roof.peak)}"
    if not shown.own:
        return Provenance((tr("the roof: {what} · {device}", what=what, device=shown.device), what))
    texts = (
        tr(
            "the roof: what a copy and a loop of multiply-adds reached, {what} · {device}",
            what=what,
            device=shown.device,
        ),
        tr("the roof: {what} · {device}", what=what, device=shown.device),
        what,
    )
    return Provenance(texts, shown.source, "good")


def _times(shown: _RooflinePoints, over: float) -> TimeBars:
    """The product, without tiles and with wider and wider ones, on one axis of time."""
    launches = [(p.name, p.time) for p in shown.products]
    notes = [
        (f"{_operations(p)} · {rate(p.rate or 0)}", _operations(p))[not p.rate :]
        for p in shown.products
    ]
    picks = [{"tile": width} for width in WIDTHS]
    return time_bars(launches, shown.chosen, notes, over, picks=picks)


def _scaled(value: int, unit: str) -> str:
    """`2.15 GFLOP`, `512 B`."""
    for least, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= least:
            return f"{value / (1e3 if letter == 'k' else least):.3g} {letter}{unit}"
    return f"{value} {unit}"


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
