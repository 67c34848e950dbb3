"""Block shape: the same product with every shape of block, and what makes some of them slow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpuviz.arch import architecture
from gpuviz.draw.figures import figures, line_height
from gpuviz.draw.heading import heading, label
from gpuviz.draw.layout import Rect, cell_size
from gpuviz.draw.marks import Boxes, Frame, Mark
from gpuviz.draw.matrix import Matrix
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.language import tr, trn
from gpuviz.panels.script import Step
from gpuviz.runners import sweep
from gpuviz.runners.base import Run
from gpuviz.scenes import values as of
from gpuviz.scenes.base import Lesson, Parameter, Pick, Plan, Preset, Story, Values
from gpuviz.scenes.request.requests import Request, first_requests
from gpuviz.scenes.request.story import Act, Pace, acts_of, steps_of
from gpuviz.scenes.request.view import draw as draw_request
from gpuviz.scenes.request.view import lay_out as lay_out_request
from gpuviz.scenes.together import block_shape_map, block_shape_tables
from gpuviz.scenes.together.block_atlas import Atlas, gigaflops, in_ms, percent, short
from gpuviz.scenes.together.block_shape_map import Quantity, bands_remark
from gpuviz.trace import LANES, Launch

_ROLE = "shape"
_ROWS, _INNER, _COLUMNS = 32, 32, 64  # every row of M starts a line, as with 1024 columns
_LOADS, _MAP, _FILL, _TABLE = 7.0, 3.5, 1.8, 4.0  # seconds

Page = Literal["sectors", "occupancy", "times", "top", "published"]

PARAMETERS = (
    Parameter("x", "BX, threads along a row", 32, 1, sweep.MOST),
    Parameter("y", "BY, threads along a column", 5, 1, sweep.MOST),
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
    return (Plan(_ROLE, sweep.KERNEL, sweep.ENTRY, grid, (x, y, 1), arguments),)


@dataclass(frozen=True, eq=False)
class _Scene:
    """What the pictures of one story share; pages start at `starts`."""

    launch: Launch
    shape: tuple[int, int]
    acts: tuple[Act, ...]
    atlas: Atlas
    maps: Mapping[Page, Quantity]
    titles: Mapping[Page, tuple[str, str]]
    title: str
    said: str
    starts: tuple[tuple[Page, float], ...]

    def page(self, t: float) -> tuple[Page, float] | None:
        """The page shown at time t and when it began; None while the loads are shown."""
        return next((p for p in reversed(self.starts) if t >= p[1]), None)


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The loads of one warp, the maps over all shapes, and the fastest ones."""
    return told(values, runs, sweep.shipped()[0], runs[_ROLE].shape_times)


def told(
    values: Values,
    runs: Mapping[str, Run],
    predictions: sweep.Predictions | None,
    times: sweep.Times | None,
) -> Story:
    """The story with these maps over all shapes."""
    run = runs[_ROLE]
    shape = of.number(values, "x"), of.number(values, "y")
    loads = _loads(run)
    acts = acts_of(loads, _pace(loads))
    registers = run.resources.registers if run.resources else 0
    atlas = Atlas(architecture(run.arch), registers, predictions, times)
    pages: tuple[Page, ...] = ("sectors", "occupancy", "published")
    if times is not None:
        pages = ("sectors", "occupancy", "times", "top", "published")
    starts = tuple((p, acts[-1].end + _MAP * n) for n, p in enumerate(pages))
    title, said = _words(shape, loads)
    scene = _Scene(
        run.trace.launch,
        shape,
        acts,
        atlas,
        _maps(atlas, shape),
        _titles(atlas, shape),
        title,
        said,
        starts,
    )
    return Story(title, said, _steps(scene), _picture(scene), _expected(shape, run), _pick(scene))


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
    title = tr(
        "A warp of {x} × {y} blocks reads {rows} rows of M and {columns} columns of N",
        x=x,
        y=y,
        rows=rows,
        columns=columns,
    )
    if rows == 1:
        title = tr(
            "A warp of {x} × {y} blocks reads one row of M and {columns} columns of N",
            x=x,
            y=y,
            columns=columns,
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
        wide = sum(x == sweep.MOST for x, _ in atlas.order[: block_shape_tables.TOP])
        made["top"] = (
            tr("The sixteen fastest shapes on {device}", device=atlas.times.device),
            tr(
                "{n} of them are 32 wide; of the seven published for a Tesla C2070, {m} are.",
                n=wide,
                m=sum(x == sweep.MOST for x, *_ in block_shape_tables.BEST),
            ),
        )
    return made


def _steps(scene: _Scene) -> tuple[Step, ...]:
    """The loads, then the pages."""
    steps = [s for act in scene.acts for s in steps_of(act, _ROLE, 2)]
    names: dict[Page, str] = {
        "sectors": tr("sectors"),
        "occupancy": tr("occupancy"),
        "times": tr("times"),
        "top": tr("fastest"),
        "published": tr("published"),
    }
    for page, start in scene.starts:
        last = page == "published"
        end = start + (_TABLE if last else _MAP)
        steps.append(
            Step(
                start,
                end,
                "result" if last else "compute",
                names[page],
                scene.titles[page][1],
                0,
                _ROLE,
            )
        )
    return tuple(steps)


def _expected(shape: tuple[int, int], run: Run) -> str:
    """Sectors of the loads by arithmetic, and what was published of the shape."""
    published = next((t for x, y, t in block_shape_tables.BEST if (x, y) == shape), None)
    parts = []
    if architecture(run.arch).has_sectors:
        m, n = expected_sectors(*shape)
        parts.append(tr("closed form: {m} sectors of M and {n} of N", m=m, n=n))
    if published is not None:
        parts.append(
            tr(
                "published (\u201c{document}\u201d, Tesla C2070): {t} ms at N = 1024",
                document=block_shape_tables.DOCUMENT,
                t=published,
            )
        )
    return "; ".join(parts)


def expected_sectors(x: int, y: int) -> tuple[int, int]:
    """Sectors of M and N that the first warp asks for: a sector a row, eight columns a sector."""
    lanes = min(x * y, LANES)
    return -(-lanes // x), -(-min(x, lanes) // 8)


def _picture(scene: _Scene) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""

    def frame(t: float, given: Stage) -> Frame:
        stage = given.roomy()
        page = scene.page(t)
        if page is None:
            head, area = heading(stage, scene.title, scene.said)
            return stage.frame(*head, *_loading(stage, area, scene, t))
        name, start = page
        head, area = heading(stage, *scene.titles[name])
        if name == "published":
            marks = block_shape_tables.published(stage, area, scene.atlas)
        elif name == "top":
            marks = block_shape_tables.top(stage, area, scene.atlas)
        else:
            marks = block_shape_map.draw(
                stage, area, scene.atlas, scene.maps[name], scene.shape, _shown(t - start)
            )
        return stage.frame(*head, *marks)

    return frame


def _shown(t: float) -> float:
    """How many columns of a map are filled so many seconds after its page began."""
    return min(t / _FILL, 1.0) * sweep.MOST


def _pick(scene: _Scene) -> Pick:
    """The pure function from a cell of a map to its shape."""

    def pick(t: float, given: Stage, x: float, y: float) -> Values | None:
        page = scene.page(t)
        if page is None or page[0] not in scene.maps:
            return None
        name, start = page
        stage = given.roomy()
        _, area = heading(stage, *scene.titles[name])
        found = block_shape_map.shape_at(
            stage, area, scene.maps[name], scene.shape, _shown(t - start), x, y
        )
        return None if found is None else {"x": found[0], "y": found[1]}

    return pick


def _loading(stage: Stage, area: Rect, scene: _Scene, t: float) -> tuple[Mark, ...]:
    """The block and its warp at the left, the load under way beside it."""
    act = next(a for a in scene.acts if t < a.end)
    low, size = line_height(stage), stage.text(14)
    body, foot = area.above(area.height - low)
    left, right = body.beside(max(body.width * 0.17, size * 7), size * 1.5)
    m, n = (a.request for a in scene.acts)
    mean = (m.count + n.count) / 2
    pieces = (
        (tr("M {count}", count=m.counted(m.count)), stage.palette.ink, act.request is m),
        (tr("N {count}", count=n.counted(n.count)), stage.palette.ink, act.request is n),
        (tr("{n} a request", n=short(mean)), stage.palette.accent, True),
    )
    return (
        *_block(stage, left, scene.launch),
        *draw_request(
            stage, lay_out_request(act.request, stage, right), act.sent_at(t), act.served_at(t)
        ),
        *figures(stage, foot, pieces, tr("model"), stage.palette.accent),
    )


def _block(stage: Stage, area: Rect, launch: Launch) -> tuple[Mark, ...]:
    """The threads of a block, those of its first warp in the colours of their lanes."""
    size, palette = stage.text(14), stage.palette
    head, body = area.above(size * 1.5)
    foot = size * 1.5
    x, y, _ = launch.block
    room = Rect(body.x, body.y, body.width, body.height - foot)
    cells = Matrix(body.x, body.y, y, x, max(cell_size(room, y, x, 0.0, 22 * stage.scale), 1.0))
    fill = np.broadcast_to(palette.cell, (x * y, 4)).copy()
    first = min(x * y, LANES)
    fill[:first] = palette.lanes[:first]
    warps = launch.warps_per_block
    spare = warps * LANES - x * y
    text = "" if stage.asks else trn("{n} warp", "{n} warps", warps)
    idle = tr("{n} lanes idle", n=spare) if spare and not stage.asks else ""
    return (
        label(head.x, head.y + size * 0.55, tr("block, warp 0"), palette.muted, size),
        Boxes(
            cells.cells,
            fill,
            tip=lambda i: tr(
                "thread {n} of its block: lane {lane} of warp {warp}",
                n=i,
                lane=i % LANES,
                warp=i // LANES,
            ),
        ),
        label(head.x, cells.area.bottom + size * 0.95, idle or text, palette.muted, size),
    )


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
