"""Block shape: the same product with every shape of block, and what makes some of them slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from gpuviz.arch import architecture
from gpuviz.errors import InputError
from gpuviz.language import tr, trn
from gpuviz.memory.request import Request, first_requests
from gpuviz.panels.figures import Counted, Figure, Paragraph, Sourced
from gpuviz.panels.first_warp import FirstWarp
from gpuviz.panels.heat_map import Axis, HeatMap, Legend
from gpuviz.panels.layout import Node, columns, first, rows, share, spare
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.script import Script, StepKind
from gpuviz.runners import sweep_file
from gpuviz.runners.base import Run
from gpuviz.scenes import values as of
from gpuviz.scenes.base import Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.block_atlas import (
    BANDS,
    Atlas,
    Quantity,
    bands_remark,
    gigaflops,
    in_ms,
    percent,
    short,
)
from gpuviz.scenes.block_shape_tables import BEST, DOCUMENT, TOP, published, top
from gpuviz.scenes.requests.acts import Pace, RequestAct, acts_of
from gpuviz.trace import LANES, Launch

_ROLE = "shape"
_ROWS, _INNER, _COLUMNS = 32, 32, 64  # every row of M starts a line, as with 1024 columns
_LOADS, _MAP, _FILL, _TABLE = 7.0, 3.5, 1.8, 4.0  # seconds
_ZOOM = range(4, 9)

Page = Literal["sectors", "occupancy", "times", "top", "published"]

PARAMETERS = (
    Parameter("x", "BX, threads along a row", 32, 1, sweep_file.MOST),
    Parameter("y", "BY, threads along a column", 5, 1, sweep_file.MOST),
)

PRESETS = (
    Preset("32 × 5, published best", {"x": 32, "y": 5}),
    Preset("2 × 32", {"x": 2, "y": 32}),
    Preset("32 × 2", {"x": 32, "y": 2}),
    Preset("16 × 10", {"x": 16, "y": 10}),
    Preset("13 × 7, no warp is full", {"x": 13, "y": 7}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """A small product with blocks of the shape: its warps read as those of a large one do."""
    x, y = of.number(values, "x"), of.number(values, "y")
    grid = -(-_COLUMNS // x), -(-_ROWS // y), 1
    arguments = (
        f"f32[{_ROWS * _INNER}]=rand",
        f"f32[{_INNER * _COLUMNS}]=rand",
        f"f32[{_ROWS * _COLUMNS}]=zeros",
        f"i32={_ROWS}",
        f"i32={_INNER}",
        f"i32={_COLUMNS}",
    )
    return (Plan(_ROLE, sweep_file.KERNEL, sweep_file.ENTRY, grid, (x, y, 1), arguments),)


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The loads of one warp, the maps over all shapes, and the fastest ones."""
    return told(values, runs, sweep_file.shipped()[0], runs[_ROLE].shape_times)


def told(
    values: Values,
    runs: Mapping[str, Run],
    predictions: sweep_file.Predictions | None,
    times: sweep_file.Times | None,
) -> Story:
    """The story with these maps over all shapes."""
    run = runs[_ROLE]
    shape = of.number(values, "x"), of.number(values, "y")
    loads, script = _loads(run), Script(_ROLE)
    acts = acts_of(script, loads, _pace(loads), 2)
    registers = run.resources.registers if run.resources else 0
    atlas = Atlas(architecture(run.arch), registers, predictions, times)
    title, said = _words(shape, loads)
    maps, titles = _maps(atlas, shape), _titles(atlas, shape)
    names: dict[Page, str] = {
        "sectors": tr("sectors"),
        "occupancy": tr("occupancy"),
        "times": tr("times"),
        "top": tr("fastest"),
        "published": tr("published"),
    }
    kept = [page for page in names if page in titles]
    pages = []
    for page in kept:
        last = page == "published"
        kind: StepKind = "result" if last else "compute"
        act = script.act(_TABLE if last else _MAP, kind, names[page], titles[page][1])
        pages.append((page, act))

    def at(t: float) -> Picture:
        if t < acts[-1].end:
            return Picture(title, said, _loading(acts, run.trace.launch, t))
        page, act = next((p for p in pages if t < p[1].end), pages[-1])
        if page == "published":
            return Picture(*titles[page], published(atlas))
        if page == "top":
            return Picture(*titles[page], top(atlas))
        shown = min((t - act.start) / _FILL, 1.0) * sweep_file.MOST
        return Picture(*titles[page], _map(atlas, maps[page], shape, shown))

    return Story.of(script, at, _expected(shape, run))


def _loads(run: Run) -> tuple[Request, ...]:
    """The first load of M and the first of N of warp 0 of block 0."""
    found = first_requests(run.trace, architecture(run.arch), 0, 0)
    loads = {r.name: r for r in reversed(found) if not r.is_store}
    if not {"M", "N"} <= loads.keys():
        raise InputError("the trace has no loads of M and N by block 0; record block 0")
    return loads["M"], loads["N"]


def _pace(loads: tuple[Request, ...]) -> Pace:
    """As much time for each load, whatever its transactions."""
    each = _LOADS / len(loads)
    return Pace(each * 0.35, each * 0.65 / min(r.count for r in loads), each * 0.65)


def _words(shape: tuple[int, int], loads: tuple[Request, ...]) -> tuple[str, str]:
    """Title and sentence of the loads."""
    m, n = loads
    rows, columns = (len(np.unique(r.address[r.active])) for r in loads)
    x, y = shape
    title = trn(
        "A warp of {x} × {y} blocks reads {rows} rows of M and {n} column of N",
        "A warp of {x} × {y} blocks reads {rows} rows of M and {n} columns of N",
        columns,
        x=x,
        y=y,
        rows=rows,
    )
    if rows == 1:
        title = trn(
            "A warp of {x} × {y} blocks reads one row of M and {n} column of N",
            "A warp of {x} × {y} blocks reads one row of M and {n} columns of N",
            columns,
            x=x,
            y=y,
        )
    said = tr(
        "For one product of every lane: {a} of M and {b} of N.",
        a=m.counted(m.count),
        b=n.counted(n.count),
    )
    return title, said


def _maps(atlas: Atlas, shape: tuple[int, int]) -> dict[Page, Quantity]:
    """What the maps show."""
    return {
        "sectors": _sectors(atlas, shape),
        "occupancy": Quantity(
            atlas.resident,
            tr("occupancy {share}", share=percent(atlas.occupancy(*shape).fraction)),
            percent,
            tr("model"),
            False,
            False,
            (
                tr("Symmetric: only the number of threads counts, in whole warps."),
                tr(
                    "Small blocks: no more than {n} fit on a multiprocessor.",
                    n=atlas.arch.max_blocks,
                ),
            ),
        ),
        "times": _times(atlas, shape),
    }


def _sectors(atlas: Atlas, shape: tuple[int, int]) -> Quantity:
    """The map of sectors."""
    traffic, requests = atlas.traffic, atlas.sectors
    if atlas.predictions is None or traffic is None or requests is None:
        return Quantity(
            None,
            "",
            short,
            tr("unavailable"),
            False,
            True,
            (),
            tr(
                "The file with the predictions is missing: python -m gpuviz.runners.sweep "
                "block-shape --model makes it."
            ),
        )
    x, y = shape
    own = tr(
        "{m} sectors for 32 products, {n} a request",
        m=short(float(traffic[y - 1, x - 1])),
        n=short(float(requests[y - 1, x - 1])),
    )
    known = architecture(atlas.predictions.arch)
    return Quantity(
        traffic,
        own,
        short,
        tr("model, CC {arch}", arch=known.version),
        False,
        True,
        (
            tr(
                "Not symmetric: lanes along BX read neighbours of N, lanes along BY read rows of M "
                "that lie far apart."
            ),
            tr("16, 24 and 32 floats are whole sectors: no row of a block begins inside one."),
            bands_remark(atlas, short, traffic),
            tr("Blocks of few threads waste lanes, and ask again for the same sectors."),
        ),
    )


def _times(atlas: Atlas, shape: tuple[int, int]) -> Quantity:
    """The map of measured times."""
    times, found = atlas.milliseconds, atlas.times
    if times is None or found is None:
        return Quantity(None, "", in_ms, tr("unavailable"), True, True, ())
    x, y = shape
    mine = float(times[y - 1, x - 1])
    own = tr("{time}, {rate} GFLOP/s", time=in_ms(mine), rate=f"{gigaflops(mine):.0f}")
    return Quantity(
        times,
        own,
        lambda v: f"{v:.3g}",
        tr("recorded"),
        True,
        True,
        (
            bands_remark(atlas, in_ms, times),
            tr(
                "2 × 32 takes {a}, 32 × 2 {b}; published, on a Tesla C2070: 182 and 49 ms.",
                a=in_ms(float(times[31, 1])),
                b=in_ms(float(times[1, 31])),
            ),
            tr(
                "{device}, driver {driver}, {clock} MHz, {date}: median of {n} launches",
                device=found.device,
                driver=found.driver,
                clock=_span(*found.clocks),
                date=found.date,
                n=found.launches,
            ),
        ),
    )


def _span(low: float, high: float) -> str:
    """`1980`, or `1900–1980` when they differ."""
    ends = f"{low:.0f}", f"{high:.0f}"
    return ends[0] if ends[0] == ends[1] else "–".join(ends)


def _titles(atlas: Atlas, shape: tuple[int, int]) -> dict[Page, tuple[str, str]]:
    """Titles and sentences of the pages."""
    x, y = shape
    made: dict[Page, tuple[str, str]] = {
        "sectors": (
            tr("Wide blocks need few sectors, tall ones many"),
            tr("Sectors that 32 products take, for each BX and BY."),
        ),
        "occupancy": (
            tr("Occupancy asks how many threads, not how they lie"),
            tr(
                "{x} × {y}: {share}, limit: {limit}.",
                x=x,
                y=y,
                share=percent(atlas.occupancy(x, y).fraction),
                limit=atlas.limit(x, y),
            ),
        ),
        "published": (
            tr("The fastest blocks, published and here"),
            tr("Warps along a row and enough of them: neither alone is fast."),
        ),
    }
    if atlas.times is not None and atlas.milliseconds is not None:
        (a, b), (c, d) = atlas.order[0], atlas.order[-1]
        ratio = atlas.milliseconds.max() / atlas.milliseconds.min()
        made["times"] = (
            tr("Measured: {a} × {b} is the fastest, {c} × {d} the slowest", a=a, b=b, c=c, d=d),
            tr(
                "N = 1024 on {device}: the slowest shape takes {n} times as long as the fastest.",
                device=atlas.times.device,
                n=f"{ratio:.3g}",
            ),
        )
        wide = sum(x == sweep_file.MOST for x, _ in atlas.order[:TOP])
        made["top"] = (
            tr("The sixteen fastest shapes on {device}", device=atlas.times.device),
            tr(
                "{n} of them are 32 wide; of the seven published for a Tesla C2070, {m} are.",
                n=wide,
                m=sum(x == sweep_file.MOST for x, *_ in BEST),
            ),
        )
    return made


def _map(atlas: Atlas, what: Quantity, shape: tuple[int, int], shown: float) -> Node:
    """The map with so many of its columns filled, and everything beside it."""
    ticks, most = (1, 8, *BANDS), sweep_file.MOST
    x, y = Axis("x", "BX", ticks, BANDS), Axis("y", "BY", ticks)
    whole = HeatMap(x, y, 1, most, what.heat, shown, shape, atlas.tip)
    if what.values is None or what.heat is None:
        said = Sourced((what.empty,), what.badge, whole=True)
        return columns(whole, share(0.44, rows(said)), gap=1.6)
    low, high = map(what.brief, what.ends)
    legend = Legend(low, f"≥ {high}" if what.log else high, what.badge, _ink(what))
    own = Paragraph(f"{shape[0]} × {shape[1]}: {what.own}", bold=True)
    remarks = [Paragraph(remark, "muted") for remark in what.remarks]
    most_wanted, *others = remarks or [Paragraph("")]
    few = rows(most_wanted, *(spare(one, rank) for rank, one in enumerate(others, 1)), gap=0.3)
    part = slice(_ZOOM[0] - 1, _ZOOM[-1])
    words = tuple(what.brief(v) for v in what.values[part, part].ravel().tolist())
    axes = Axis("x", "", tuple(_ZOOM)), Axis("y", "", tuple(_ZOOM))
    heat = what.heat[part, part]
    zoom = HeatMap(*axes, _ZOOM[0], _ZOOM[-1], heat, shown, shape, atlas.tip, words)
    rest = first(rows(*remarks, share(1, zoom), gap=0.3), columns(share(1, few), zoom, gap=1), few)
    return columns(whole, share(0.44, rows(own, legend, share(1, rest), gap=0.3)), gap=1.6)


def _ink(what: Quantity) -> Ink:
    return "good" if what.measured else "accent"


def _expected(shape: tuple[int, int], run: Run) -> str:
    """Sectors of the loads by arithmetic, and what was published of the shape."""
    published = next((t for x, y, t in BEST if (x, y) == shape), None)
    parts = []
    if architecture(run.arch).has_sectors:
        m, n = expected_sectors(*shape)
        parts.append(
            trn(
                "closed form: {n} sector of M and {other} of N",
                "closed form: {n} sectors of M and {other} of N",
                m,
                other=n,
            )
        )
    if published is not None:
        parts.append(
            tr(
                "published (\u201c{document}\u201d, Tesla C2070): {t} ms at N = 1024",
                document=DOCUMENT,
                t=published,
            )
        )
    return "; ".join(parts)


def expected_sectors(x: int, y: int) -> tuple[int, int]:
    """Sectors of M and N that the first warp asks for: a sector a row, eight columns a sector."""
    lanes = min(x * y, LANES)
    return -(-lanes // x), -(-min(x, lanes) // 8)


def _loading(acts: tuple[RequestAct, ...], launch: Launch, t: float) -> Node:
    """The block and its warp at the left, the load under way beside it."""
    act = next(a for a in acts if t < a.end)
    m, n = (a.request for a in acts)
    mean = tr("{n} a request", n=short((m.count + n.count) / 2))
    figures = (
        Figure(tr("M {count}", count=m.counted(m.count)), bold=act.request is m),
        Figure(tr("N {count}", count=n.counted(n.count)), bold=act.request is n),
        Figure(mean, "accent", bold=True),
    )
    block = columns(share(0.17, _block(launch)), share(0.83, act.map(t)))
    return rows(share(1, block), Counted(figures))


def _block(launch: Launch) -> FirstWarp:
    """The threads of a block, and its lanes that stay idle."""
    x, y, _ = launch.block
    idle_lanes = launch.warps_per_block * LANES - x * y

    def tip(i: int) -> str:
        lane, warp = i % LANES, i // LANES
        return tr("thread {n} of its block: lane {lane} of warp {warp}", n=i, lane=lane, warp=warp)

    idle = trn("{n} lane idle", "{n} lanes idle", idle_lanes) if idle_lanes else ""
    return FirstWarp(x, y, tr("block, warp 0"), idle, tip)


LESSON = Lesson(
    "block-shape",
    "Block shapes",
    "Putting it together",
    "Why a block of 32 × 2 threads multiplies matrices faster than one of 2 × 32.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("block", "warp", "sector", "occupancy", "limiter", "row-major"),
)
