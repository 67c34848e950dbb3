"""Tiled matrix multiplication, phase by phase, beside the naive kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpuviz.arch import Architecture, architecture
from gpuviz.course import named
from gpuviz.course.together.matmul_common.block import (
    LASTING,
    SECONDS,
    Moment,
    Multiplication,
    multiplication,
)
from gpuviz.course.together.matmul_common.block import moments as moments_of
from gpuviz.course.together.matmul_common.panels import (
    access_table,
    arranged,
    at_work,
    moving,
    naive_bands,
    tiled_memory,
    tiles,
    track,
)
from gpuviz.course.together.matmul_common.phases import act, ratio, sentence, statement
from gpuviz.course.together.matmul_common.results import at_real_size, outcome
from gpuviz.course.together.matmul_common.sizes import (
    FILL,
    REAL,
    WATCHED,
    Sizes,
    extents,
    launch,
    preset,
    problem,
    real,
    width,
)
from gpuviz.course.together.matmul_common.tips import spaced
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import Node, first, rows, spare
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import Answer, Ink
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.table import Column, Columns, Table
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Runs, Story, Values, number
from gpuviz.story.measured import LaunchTime, time_column, time_of, timed
from gpuviz.story.script import Script, pace
from gpuviz.words.language import grouped, tr

_DOCUMENT, _CARD, _SIZE = "CUDA 2da parte", "Tesla C2070", 1024
# "CUDA 2da parte": sgemm through tiles in shared memory, N = 1024, by the width of a tile, in ms.
TILED_MS: Mapping[int, float] = {8: 20.0, 16: 12.1, 32: 12.2}
_TILED_RATE = 166  # GFLOP/s that it gives for the fastest: more are due to 12.1 ms
# The same: the largest difference of its sgemm from a sequential version, by N.
DIFFERENCE: Mapping[int, float] = {256: 0.000023, 512: 0.000046, 1024: 0.000092, 2048: 0.000183}
_DYNAMIC, _REAL = "matmul_dynamic.cu", 3.0  # seconds

LOOK_FOR = (
    "How each element, loaded once into shared memory, serves a whole row or column of threads."
)
WORDS = ("tile", "phase", "barrier", "shared-memory", "dynamic-shared-memory", "conflict")

PARAMETERS = (
    *extents(4),
    width((2, 4, 8, 16, 32), "width of a block and of its tiles"),
    *WATCHED,
    FILL,
    Parameter(
        "shared",
        "shared memory",
        "static",
        offers={
            "static": "static, a constant of the kernel",
            "dynamic": "dynamic, said at the launch",
        },
        hint="how the kernel comes by its two tiles",
    ),
    REAL,
)

PRESETS = (
    preset("4 × 4, tile 2", (4, 4, 4, 2), (1, 0)),
    preset("8 × 8, tile 4", (8, 8, 8, 4), (2, 1)),
    preset("16 × 16, tile 8", (16, 16, 16, 8), (2, 1)),
    preset("10 × 3 times 3 × 5, tile 4", (10, 3, 5, 4), (2, 1), "twos"),
    preset("32 × 32, tile 16", (32, 32, 32, 16), (2, 1)),
    preset("64 × 64, tile 32", (64, 64, 64, 32), (2, 1)),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The tiled and the naive kernel on the same matrices, in blocks of one tile."""
    tiled, naive = _tiled(values), launch(values, "naive")
    size = number(values, "real")
    others = tuple(real(_tiled({**values, "tile": width}), size) for width in TILED_MS)
    both = replace(tiled, others=others), naive
    return *both, *(real(one, size) for one in both)


def _tiled(values: Values) -> Plan:
    """The tiled kernel, with tiles as they are asked for."""
    tiled = launch(values, "tiled")
    return tiled if values["shared"] == "static" else _dynamic(tiled)


def _dynamic(tiled: Plan) -> Plan:
    """The same launch, with the tile's width and the bytes of both tiles given at the launch."""
    tile = tiled.block[0]
    return replace(
        tiled,
        kernel=_DYNAMIC,
        arguments=(*tiled.arguments, f"i32={tile}"),
        defines=(),
        dynamic_shared=2 * tile * tile * 4,
    )


def narrate(values: Values, runs: Runs) -> Story:
    """The story of one block."""
    about = multiplication(values, runs["naive"], runs["tiled"])
    moments = tuple(moments_of(about.sizes))
    seconds = (*(SECONDS[moment.part] for moment in moments), _REAL)
    script = Script("tiled", pace(seconds, *LASTING))
    for moment in moments:
        act(script, about, moment)
    title, words = _title(about), tuple(sentence(about, m) for m in moments)
    timed = at_real_size(((tr("naive"), runs["naive"]), (tr("tiled"), runs["tiled"])))
    last = _real(about, values, runs["tiled"])
    script.act(_REAL, "result", tr("at real size"), last.title)
    others = longest(words)

    def at(t: float) -> Picture:
        now, over = script.at(t)
        if now == len(moments):
            return last
        body, moves = _body(about, moments[now], over, timed), moving(about, moments[now], over)
        return Picture(title, words[now], body, others, moving=moves)

    return Story.of(script, at, _expected(about))


def _real(about: Multiplication, values: Values, tiled: Run) -> Picture:
    """The product at the size people run: published, timed, checked, and what a device allows."""
    large = next(one for one in plan(values) if one.companion_of == "tiled")
    m, n = (operand.value for operand in about.operands)
    drawn = outcome((), tiled.outputs["P"].reshape(about.sizes.shape("P")), m, n)
    size, width = number(values, "real"), large.block[0]
    query = query_of(tiled.measurement, architecture(tiled.arch))
    title = tr("At {n} × {n}: published, timed, and checked", n=size)
    said = tr(
        "Tiles of {b} × {b} take {bytes} bytes of shared memory; blocks of {threads} threads allow "
        "tiles of {most} × {most}.",
        b=width,
        bytes=spaced(8 * width * width),
        threads=spaced(query.threads),
        most=query.width,
    )
    return Picture(
        title, said, page(width, size, tiled, (about.sizes.said, drawn.difference), query)
    )


def _title(about: Multiplication) -> str:
    """The claim that the picture shows."""
    sizes, naive, tiled = about.sizes, about.totals["naive"], about.totals["tiled"]
    if sizes.whole:
        return tr("Tiling divides global loads by the tile width: {tile}", tile=sizes.tile)
    if tiled.loads >= naive.loads:
        return tr("Partial tiles may share nothing: here the global loads are as many as without")
    what = {"n": f"{naive.loads / tiled.loads:.3g}", "tile": sizes.tile}
    return tr("Partial tiles share less: loads divided by {n}, not by {tile}", **what)


def expected_loads(sizes: Sizes) -> tuple[int, int]:
    """Elements loaded from global memory by the naive and by the tiled kernel, in all.

    Each product needs two. Each block of the tiled kernel loads its rows of M and its columns of
    N once.
    """
    across, down = sizes.grid
    naive = 2 * sizes.rows * sizes.inner * sizes.columns
    return naive, sizes.inner * (sizes.rows * across + sizes.columns * down)


def _expected(about: Multiplication) -> str:
    naive, tiled = expected_loads(about.sizes)
    what = {"naive": spaced(naive), "tiled": spaced(tiled)}
    return tr("by arithmetic: {naive} elements loaded naively, {tiled} with tiles", **what)


def _body(
    about: Multiplication, moment: Moment, over: float, timed: tuple[Provenance, ...]
) -> Node:
    """Everything below the heading: the access table where it fits, else heat over its elements;
    totals in as many words as there is room for.
    """
    work = at_work(tiles(about, moment, over), statement(about, moment))
    table, bands = access_table(about, moment, True), naive_bands(about, moment, over)
    matrices, phases = tiled_memory(about, moment, over), track(moment, about.phases, about.phases)
    numbers, short, line = _totals(about, moment, over)
    totals = rows(numbers, *timed), rows(short, *timed), line
    return arranged(matrices, work, (first(table, bands), table), totals, phases)


def _totals(about: Multiplication, moment: Moment, over: float) -> tuple[Table, Answer, Answer]:
    """The global loads of both kernels, so far and in all: a table, two lines, one line."""
    naive, tiled = about.totals["naive"], about.totals["tiled"]
    moved = tr("sectors asked for") if about.noun == "sector" else tr("transactions")
    loads, sectors = (naive.loads, tiled.loads), (naive.sectors, tiled.sectors)
    fewer = ratio(*loads), ratio(*sectors)
    counted = [_so_far(about, moment, over), loads, sectors]
    table = Table(
        (
            Column(
                (tr("global loads"), tr("loads")),
                (tr("this block so far"), tr("whole launch"), moved),
                "left",
            ),
            Column((tr("naive"),), tuple(spaced(a) for a, _ in counted), bold=True),
            Column((tr("tiled"),), tuple(spaced(b) for _, b in counted), bold=True),
            Column(("",), ("", *fewer), "left", tr("model"), bold=True, tone="good"),
        )
    )
    name = tr("global loads")
    both = [tr("naive {a} · tiled {b}", a=spaced(a), b=spaced(b)) for a, b in (loads, sectors)]
    arrow = [f"{spaced(a)} → {spaced(b)}" for a, b in (loads, sectors)]
    short = Lines(
        tuple(
            Line((f"{what}: {b} · {r}", f"{what}: {b}", f"{what}: {a}", a), bold=True)
            for what, b, a, r in zip((name, moved), both, arrow, fewer, strict=True)
        )
    )
    few, more = f"{tr('loads')} {arrow[0]}", f"{moved} {arrow[1]}"
    long = f"{name}: {both[0]} · {fewer[0]}"
    forms = (f"{long} · {more}", f"{few}, {fewer[0]} · {more}", long, f"{few}, {fewer[0]}", few)
    return table, Answer(short), Answer(Lines((Line(forms, bold=True),)))


def _so_far(about: Multiplication, moment: Moment, over: float) -> tuple[int, int]:
    """Elements that the watched block has loaded from global memory, in both kernels."""
    half = over >= 0.5
    step = moment.naive + (half and moment.step >= 0)
    naive = sum(int(o.naive[step].sum()) for o in about.operands)
    done = zip(about.operands, moment.tiles, strict=True)
    return naive, sum(
        int(o.tiled[n + (half and moment.part == f"load {o.name}")].sum()) for o, n in done
    )


def page(width: int, n: int, tiled: Run, drawn: tuple[str, float], query: Query) -> Node:
    """Times by the width of a tile, differences by size, what the device's own table allows.

    Of tiles of a width, at n x n; `drawn` is how big the product in the pictures is, and how far
    from double precision.
    """
    ms = min(TILED_MS.values())
    what = {"ms": ms, "due": f"{2 * _SIZE**3 / ms / 1e6:.0f}", "rate": _TILED_RATE}
    rates = tr("{ms} ms are {due} GFLOP/s, of which it says {rate}", **what)
    named = f"“{_DOCUMENT}”, {_CARD}, N = {_SIZE}"
    source = Provenance((f"{named}: {rates}", named, f"{_DOCUMENT}, {_CARD}"))
    times, far = _times(width, n, tiled), _differences(n, tiled, drawn)
    said = [tr("tiles of {b} × {b}: {ms} ms", b=b, ms=f"{ms:g}") for b, ms in TILED_MS.items()]
    few = Provenance((", ".join(said), said[1]))
    return first(
        rows(times, spare(query.provenance, 2), far, spare(source), gap=0.5),
        rows(times, spare(query.provenance), spare(source), gap=0.5),
        few,
    )


def _times(width: int, n: int, tiled: Run) -> Table:
    """Published times of three widths, and ours."""
    widths = sorted({*TILED_MS, width})
    of, shared = Columns(widths), (tr("shared memory"), tr("shared"))

    def published(b: int) -> str | None:
        return tr("{n} ms", n=f"{TILED_MS[b]:g}") if b in TILED_MS else None

    made = (
        of(tr("tiles of"), lambda b: f"{b} × {b}", "left"),
        of(shared, lambda b: tr("{n} bytes", n=grouped(8 * b * b)), badge=tr("model")),
        of(tr("N = {n}", n=_SIZE), published, badge=tr("published"), ink="muted", bold=True),
        *time_column(_mine(widths, width, n, tiled), always=True, named=True),
    )
    return Table(made, widths.index(width))


def _mine(widths: list[int], width: int, n: int, tiled: Run) -> list[LaunchTime | None]:
    """Our times by the width of a tile: of the launch that is shown, and of those that were timed
    on the same device on the same day.
    """
    own, size = time_of(tiled), tr("{n} × {n}, loop over k unrolled", n=n)
    if own is None:
        return [None] * len(widths)
    found = {width: replace(own, size=size)}
    for b, one in zip(TILED_MS, tiled.others, strict=False):
        time = timed(one, size, tiled.arch)
        if time is not None and (time.where, time.badge) == (own.where, own.badge):
            found.setdefault(b, time)
    return [found.get(b) for b in widths]


def _differences(n: int, tiled: Run, drawn: tuple[str, float]) -> Table:
    """Published differences from a sequential version, the drawn product's, and the timed one's."""
    found = tiled.companion.measurement if tiled.companion else None
    given = found.differences.get("P") if found else None
    of = Columns([0, *sorted({*DIFFERENCE, n})])  # 0: the product that is drawn
    sizes, there = (tr("largest difference"), tr("difference")), given is not None
    sequential = tr("from a sequential version"), tr("sequential")
    double, gpu = (tr("from double precision"), tr("double")), tr("the GPU from the emulator")
    badge = found.badge if found else tr("unavailable")
    ink: Ink = "muted" if given is None else "good"

    def published(m: int) -> str | None:
        return f"{DIFFERENCE[m]:.6f}" if m in DIFFERENCE else "" if not m else None

    made = (
        of(sizes, lambda m: f"{m} × {m}" if m else drawn[0], "left"),
        of(sequential, published, badge=tr("published"), ink="muted", bold=True),
        of(double, lambda m: "" if m else f"{drawn[1]:.2g}", badge=tr("model")),
        of(
            (gpu, tr("GPU")),
            lambda m: f"{given:g}" if there and m == n else "",
            badge=badge,
            ink=ink,
        ),
    )
    return Table(made)


@dataclass(frozen=True)
class Query:
    """What a device says of itself, by which a program chooses the size of its tiles."""

    device: str
    badge: str
    threads: int
    shared: int

    @property
    def width(self) -> int:
        """Of the largest tile, a power of two, of which two fit and whose threads are a block."""
        width = 1
        while 4 * width * width <= self.threads and 2 * 4 * 4 * width * width <= self.shared:
            width *= 2
        return width

    @property
    def said(self) -> str:
        """The query's numbers and what they allow."""
        return tr(
            "{device}: sharedMemPerBlock {shared}, maxThreadsPerBlock {threads}: tiles of up to "
            "{b} × {b}, {bytes} bytes a block",
            device=self.device,
            shared=grouped(self.shared),
            threads=grouped(self.threads),
            b=self.width,
            bytes=grouped(8 * self.width**2),
        )

    @property
    def provenance(self) -> Provenance:
        """The same where it is shown."""
        what = {"device": self.device, "shared": grouped(self.shared), "b": self.width}
        brief = tr("{device}: sharedMemPerBlock {shared}: tiles of up to {b} × {b}", **what)
        whole = tr("device query · {said}", said=self.said)
        return Provenance((whole, self.said, brief), self.badge, "good")


_NO_OPTION = 48 << 10  # bytes of shared memory that a block has without asking for more


def query_of(found: Measurement | None, arch: Architecture) -> Query:
    """What the device that was measured says, or the architecture's table where there is none."""
    limits = found.device.limits if found else {}
    if found and {"maxThreadsPerBlock", "sharedMemPerBlock"} <= limits.keys():
        both = limits["maxThreadsPerBlock"], limits["sharedMemPerBlock"]
        return Query(found.gpu, found.badge, *both)
    shared = min(arch.shared_per_block_optin, _NO_OPTION)
    return Query(str(arch), tr("model"), arch.max_threads_per_block, shared)


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
