"""Tiled matrix multiplication, phase by phase, beside the naive kernel."""

from __future__ import annotations

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
from gpuviz.panels.layout import Node, first
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import Answer
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.table import Column, Table
from gpuviz.panels.time_bars import TimeBars
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Runs, Story, Values, number
from gpuviz.story.measured import Launch, LaunchTime, time_bars, time_of, timed
from gpuviz.story.script import Script, pace
from gpuviz.words.language import grouped, tr

_WIDTHS = (8, 16, 32)  # of tiles, beside the one that is shown
_DYNAMIC, _REAL = "matmul_dynamic.cu", 4.5  # seconds

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
    others = tuple(real(_tiled({**values, "tile": width}), size) for width in _WIDTHS)
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
    ending = script.act(_REAL, "result", tr("at real size"), _real(values, runs, 1.0).title)
    others = longest(words)

    def at(t: float) -> Picture:
        now, over = script.at(t)
        if now == len(moments):
            return _real(values, runs, ending.share(t))
        body, moves = _body(about, moments[now], over), moving(about, moments[now], over)
        return Picture(title, words[now], body, others, moving=moves)

    return Story.of(script, at, _expected(about))


def _real(values: Values, runs: Runs, over: float) -> Picture:
    """The product at the size people run: timed, and what a device allows."""
    large = next(one for one in plan(values) if one.companion_of == "tiled")
    size, width, tiled = number(values, "real"), large.block[0], runs["tiled"]
    query = query_of(tiled.measurement, architecture(tiled.arch))
    title = tr("At {n} × {n}: the wider the tile, the less is loaded twice", n=size)
    said = tr(
        "Tiles of {b} × {b} take {bytes} bytes of shared memory; blocks of {threads} threads allow "
        "tiles of {most} × {most}.",
        b=width,
        bytes=spaced(8 * width * width),
        threads=spaced(query.threads),
        most=query.width,
    )
    return Picture(title, said, _times(size, width, runs["naive"], tiled, over))


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


def _body(about: Multiplication, moment: Moment, over: float) -> Node:
    """Everything below the heading: the access table where it fits, else heat over its elements;
    totals in as many words as there is room for.
    """
    work = at_work(tiles(about, moment, over), statement(about, moment))
    table, bands = access_table(about, moment, True), naive_bands(about, moment, over)
    matrices, phases = tiled_memory(about, moment, over), track(moment, about.phases, about.phases)
    numbers, short, line = _totals(about)
    totals = numbers, short, line
    return arranged(matrices, work, (first(table, bands), table), totals, phases)


def _totals(about: Multiplication) -> tuple[Table, Answer, Answer]:
    """The global loads of both kernels: a table, two lines, one line."""
    naive, tiled = about.totals["naive"], about.totals["tiled"]
    moved = tr("sectors asked for") if about.noun == "sector" else tr("transactions")
    loads, sectors = (naive.loads, tiled.loads), (naive.sectors, tiled.sectors)
    fewer = ratio(*loads), ratio(*sectors)
    counted = [loads, sectors]
    table = Table(
        (
            Column((tr("global loads"), tr("loads")), (tr("whole launch"), moved), "left"),
            Column((tr("naive"),), tuple(spaced(a) for a, _ in counted), bold=True),
            Column((tr("tiled"),), tuple(spaced(b) for _, b in counted), bold=True),
            Column(("",), fewer, "left", tr("model"), bold=True, tone="good"),
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


def _times(n: int, width: int, naive: Run, tiled: Run, over: float) -> TimeBars:
    """The naive kernel, and tiles of each width, on one axis."""
    widths = sorted({*_WIDTHS, width})
    mine = _mine(widths, width, n, tiled)
    names = [(tr("tiles of {b} × {b}", b=b), tr("{b} × {b}", b=b)) for b in widths]
    shared = [tr("{n} bytes of shared memory", n=grouped(8 * b * b)) for b in widths]
    launches: list[Launch] = [(tr("naive"), time_of(naive)), *zip(names, mine, strict=True)]
    blocks = tr("blocks of {b} × {b}", b=width)
    return time_bars(launches, 1 + widths.index(width), [blocks, *shared], over)


def _mine(widths: list[int], width: int, n: int, tiled: Run) -> list[LaunchTime | None]:
    """Our times by the width of a tile: of the launch that is shown, and of those that were timed
    on the same device on the same day.
    """
    own, size = time_of(tiled), tr("{n} × {n}, loop over k unrolled", n=n)
    if own is None:
        return [None] * len(widths)
    found = {width: replace(own, size=size)}
    for b, one in zip(_WIDTHS, tiled.others, strict=False):
        time = timed(one, size, tiled.arch)
        if time is not None and (time.where, time.badge) == (own.where, own.badge):
            found.setdefault(b, time)
    return [found.get(b) for b in widths]


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
