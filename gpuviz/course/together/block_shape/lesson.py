"""Block shape: the same product with every shape of block, and what makes some of them slow."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.course.together.block_shape.atlas import (
    AXES,
    MOST,
    Atlas,
    Quantity,
    agreement,
    few,
    in_ms,
)
from gpuviz.course.together.block_shape.bands import FirstWarp, bands
from gpuviz.course.together.block_shape.bands import words as words_of_bands
from gpuviz.course.together.block_shape.times import BEST, DOCUMENT, modelled, on_one_axis
from gpuviz.draw.axis import short
from gpuviz.memory.request import Request, first_requests
from gpuviz.panels.figures import Figure, FigureRow, Paragraph, Provenance
from gpuviz.panels.layout import Node, columns, rows, share, spare
from gpuviz.panels.legend import Legend
from gpuviz.panels.picture import Picture
from gpuviz.panels.value_map import MapAxis, ValueMap
from gpuviz.run.run import Run
from gpuviz.story import lesson as of
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values
from gpuviz.story.requests.acts import Pace, RequestAct, acts_of
from gpuviz.story.script import Script, StepKind
from gpuviz.traces.trace import LANES, Launch
from gpuviz.words.language import grouped, percent, three, tr, trn

_ROLE, _KERNEL, _ENTRY = "shape", "block_shape.cu", "sgemm"
_LOADS, _MAP, _FILL, _TABLE = 6.0, 3.2, 1.8, 2.3  # seconds
_SOME = 8  # shapes with a modelled time, for them to have a page
_TICKS = (8, 16, 24, 32)
_FIRM, _LOOSE = 0.9, 0.5  # rank correlations that are called "follows", and "in part"

Page = Literal["sectors", "lines", "occupancy", "bands", "times", "shapes"]
_MAPS: tuple[Page, ...] = ("sectors", "lines", "occupancy")

LOOK_FOR = "Why a block of 32 × 2 threads multiplies matrices faster than one of 2 × 32."
WORDS = ("block", "warp", "sector", "line", "occupancy", "limiter", "row-major")

PARAMETERS = (
    Parameter("x", "BX, threads along a row", 32, 1, MOST),
    Parameter("y", "BY, threads along a column", 5, 1, MOST),
    Parameter("n", "N, rows and columns", 1024, offers=(256, 512, 1024, 2048)),
)

PRESETS = (
    Preset("32 × 5, published best", {"x": 32, "y": 5}),
    Preset("2 × 32", {"x": 2, "y": 32}),
    Preset("32 × 2", {"x": 32, "y": 2}),
    Preset("16 × 10", {"x": 16, "y": 10}),
    Preset("13 × 7, no warp is full", {"x": 13, "y": 7}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The product of two N x N matrices with blocks of the shape, covering the edges."""
    x, y, n = (of.number(values, name) for name in ("x", "y", "n"))
    grid = -(-n // x), -(-n // y), 1
    buffers = tuple(f"f32[{n * n}]={fill}" for fill in ("rand", "rand", "zeros"))
    sizes = (f"i32={n}",) * 3
    size = tr("N = {n}, blocks of {x} × {y}, loop over k unrolled", n=n, x=x, y=y)
    shape = grid, (x, y, 1)
    arguments = buffers + sizes
    made = Plan(
        _ROLE, _KERNEL, _ENTRY, *shape, arguments, size=size, outputs=False, run_blocks="classes"
    )
    return (made,)


def narrate(values: Values, runs: Runs) -> Story:
    """The loads of one warp, what is predicted of all shapes beside the times, the fastest ones."""
    run = runs[_ROLE]
    shape = of.number(values, "x"), of.number(values, "y")
    loads, script = _loads(run), Script(_ROLE)
    acts = acts_of(script, loads, _pace(loads), 2)
    registers, known = run.resources.registers if run.resources else 0, run.swept
    size = of.number(values, "n")
    of_arch = architecture(run.arch), registers, size
    atlas = Atlas(*of_arch, known.get("emulator"), known.get("gpu"))
    (title, said), names = _words(shape, loads), _pages(atlas)
    maps = {page: _quantity(atlas, page) for page in _MAPS}
    titles: dict[Page, tuple[str, str]] = {}
    for page in names:
        shown = modelled(atlas, shape, 1.0) if page == "times" else None
        titles[page] = (shown.title, shown.sentence) if shown else _title(atlas, page, maps)
    pages = []
    for page, name in names.items():
        last = name == [*names.values()][-1]
        kind: StepKind = "result" if last else "compute"
        act = script.act(_MAP if page in maps else _TABLE, kind, name, titles[page][0])
        pages.append((page, act))

    def at(t: float) -> Picture:
        if t < acts[-1].end:
            return Picture(title, said, _loading(acts, run.trace.launch, t))
        page, act = next((p for p in pages if t < p[1].end), pages[-1])
        if page == "times":
            return modelled(atlas, shape, min((t - act.start) / _FILL, 1.0))
        if page == "shapes":
            return Picture(*titles[page], on_one_axis(atlas, shape, act.share(t)))
        if page == "bands":
            return Picture(*titles[page], bands(atlas, _times(atlas), shape))
        shown = min((t - act.start) / _FILL, 1.0)
        return Picture(*titles[page], _both(atlas, maps[page], shape, shown))

    return Story.of(script, at, _expected(shape, run, size))


def _pages(atlas: Atlas) -> dict[Page, str]:
    """The pages there are, and what they are called on the time line."""
    names: dict[Page, str] = {
        "sectors": tr("sectors"),
        "lines": tr("lines"),
        "occupancy": tr("occupancy"),
        "bands": tr("bands"),
        "times": tr("modelled"),
        "shapes": tr("fastest"),
    }
    lacking: tuple[Page, ...] = ("times",) if atlas.both.sum() < _SOME else ()
    if not atlas.order:
        lacking = "bands", "times", "shapes"
    return {page: name for page, name in names.items() if page not in lacking}


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
    what = {"a": m.counted(m.count), "b": n.counted(n.count)}
    said = tr("For one product of every lane: {a} of M and {b} of N.", **what)
    return title, said


def _quantity(atlas: Atlas, page: Page) -> Quantity:
    """What the left map shows."""
    badge, predicted = tr("model, CC {arch}", arch=atlas.arch.version), atlas.predicted
    if page == "occupancy":
        return Quantity(atlas.resident, tr("occupancy"), percent, percent, badge)
    missing = tr(
        "Nobody has predicted all shapes for N = {n} on CC {arch}: press Sweep, beside the "
        "parameters.",
        n=atlas.size,
        arch=atlas.arch.version,
    )
    if predicted is not None and predicted.done and not predicted.whole:
        badge = tr("{done} of {all}", done=grouped(predicted.done), all=grouped(MOST**2))
    if page == "sectors":
        return Quantity(atlas.sectors, tr("sectors"), short, _sectors, badge, True, missing)
    return Quantity(atlas.lines, tr("lines"), short, _lines, badge, True, missing)


def _sectors(count: float) -> str:
    return tr("{n} sectors", n=short(count))


def _lines(count: float) -> str:
    return tr("{n} lines", n=short(count))


def _times(atlas: Atlas) -> Quantity:
    """What the right map shows."""
    missing = tr("No GPU has measured all shapes for N = {n}.", n=atlas.size)
    times, brief = atlas.milliseconds, three
    return Quantity(times, tr("time"), brief, in_ms, tr("recorded"), True, missing)


def _title(atlas: Atlas, page: Page, maps: Mapping[Page, Quantity]) -> tuple[str, str]:
    """Title and sentence of a page."""
    if page == "shapes":
        x, y = atlas.order[0]
        ratio = atlas.milliseconds[31, 1] / atlas.milliseconds[1, 31]
        return (
            tr("2 × 32 against 32 × 2: as many threads, {n} times the time", n=three(float(ratio))),
            tr("Of {n} shapes the fastest is {x} × {y}.", n=grouped(len(atlas.order)), x=x, y=y),
        )
    if page == "bands":
        return words_of_bands(atlas)
    compared = atlas.order and np.isfinite(maps[page].values).all()
    if not compared:
        return _alone(page), tr("Of the whole launch, for each BX and BY.")
    values = maps[page].values if page != "occupancy" else -maps[page].values
    alike = agreement(values, atlas.milliseconds)
    said = tr(
        "The order of the shapes by {what} and that by time agree to {alike}; 1 is the same order.",
        alike=f"{alike:.2f}".replace("-", "−"),
        what=maps[page].name,
    )
    return _verdict(page, alike), said


def _alone(page: Page) -> str:
    """The title of a map that there is nothing to compare with."""
    titles: dict[Page, str] = {
        "sectors": tr("Sectors that the loads ask for"),
        "lines": tr("Lines that the loads touch"),
        "occupancy": tr("Occupancy: only the number of threads counts"),
    }
    return titles[page]


def _verdict(page: Page, alike: float) -> str:
    """How far times follow what is predicted."""
    titles: dict[Page, tuple[str, str, str]] = {
        "sectors": (
            tr("Time follows the sectors that loads ask for"),
            tr("Time follows sectors in part only"),
            tr("Time does not follow sectors"),
        ),
        "lines": (
            tr("Time follows the lines that each load touches"),
            tr("Time follows lines in part only"),
            tr("Time does not follow lines"),
        ),
        "occupancy": (
            tr("Time follows occupancy"),
            tr("Time follows occupancy in part only"),
            tr("Time does not follow occupancy"),
        ),
    }
    return titles[page][(alike < _FIRM) + (alike < _LOOSE)]


def _both(atlas: Atlas, what: Quantity, shape: tuple[int, int], shown: float) -> Node:
    """What is predicted and what was measured, of the same shapes in the same places: as often the
    least value is as warm in either map.
    """
    times = _times(atlas)
    often = max((one.often for one in (what, times) if one.log and one.known), default=1.0)
    pair = (share(1, _map(atlas, one, shape, shown, often)) for one in (what, times))
    own = _own(what, times, shape)
    return rows(share(1, columns(*pair, gap=1.6)), own, spare(_conditions(atlas)), gap=0.3)


def _map(atlas: Atlas, what: Quantity, shape: tuple[int, int], shown: float, often: float) -> Node:
    """A map with its legend; what is to be done, where nothing is known."""
    x, y = (MapAxis(axis.name, f"B{axis.name.upper()}", _SIDE, _TICKS) for axis in AXES)
    cells = ValueMap(
        x,
        y,
        what.values,
        np.zeros((MOST, MOST), bool),
        (shape[0] - 1, shape[1] - 1),
        lambda column, row: atlas.tip(column + 1, row + 1),
        what.log,
        what.least * often if what.log and what.known else None,
        shown,
        square=True,
        link="shapes",
    )
    if (ends := cells.ends) is None:
        return rows(Provenance((what.empty,), tr("unavailable"), whole=True), share(1, cells))
    low, high = what.brief(ends[0]), what.words(ends[1])
    return rows(Legend(low, f"≥ {high}" if what.log else high, what.badge), share(1, cells))


_SIDE = tuple(range(1, MOST + 1))


def _own(what: Quantity, times: Quantity, shape: tuple[int, int]) -> FigureRow:
    """Both numbers of the shape that is set."""
    x, y = shape
    predicted, timed = (float(one.values[y - 1, x - 1]) for one in (what, times))
    figures = [Figure(f"{x} × {y}", bold=True)]
    if np.isfinite(predicted):
        said = what.words(predicted)
        named = said if what.log else f"{what.name} {said}"
        figures.append(Figure(named, "accent", shorter=(said,)))
    if np.isfinite(timed):
        figures.append(Figure(times.words(timed), "good", badge=times.badge))
    return FigureRow(tuple(figures))


def _conditions(atlas: Atlas) -> Paragraph:
    """Under which the times were measured."""
    made = atlas.made
    if made is None:
        return Paragraph("")
    return Paragraph(
        tr(
            "{device}, driver {driver}, {clock} MHz, {date}: median of {n} launches",
            device=made.gpu.name,
            driver=made.gpu.driver,
            clock=atlas.clocks,
            date=made.date,
            n=made.repeats,
        ),
        "muted",
    )


def _expected(shape: tuple[int, int], run: Run, size: int) -> str:
    """Sectors of the loads by arithmetic, and what was published of the shape."""
    published = next((t for x, y, t in BEST if (x, y) == shape), None)
    parts = []
    if architecture(run.arch).has_sectors:
        m, n = expected_sectors(*shape)
        parts.append(
            trn(
                "by arithmetic: {n} sector of M and {other} of N",
                "by arithmetic: {n} sectors of M and {other} of N",
                m,
                other=n,
            )
        )
    if published is not None and size == 1024:
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
    mean = tr("{n} a request", n=few((m.count + n.count) / 2))
    figures = (
        *(
            Figure(
                f"{one.name} {one.counted(one.count)}",
                bold=act.request is one,
                shorter=(f"{one.name} {one.count}",),
            )
            for one in (m, n)
        ),
        Figure(mean, "accent", bold=True),
    )
    block = columns(share(0.17, _block(launch)), share(0.83, act.map(t)))
    return rows(share(1, block), FigureRow(figures))


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
    *named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS, swept=AXES
)
