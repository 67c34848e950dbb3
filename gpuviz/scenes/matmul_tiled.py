"""Tiled matrix multiplication, phase by phase, beside the naive kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gpuviz.arch import architecture
from gpuviz.draw.heading import heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.track import track
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Story, Values
from gpuviz.scenes.matmul.block_view import block, phase_parts
from gpuviz.scenes.matmul.heat_view import heat_map
from gpuviz.scenes.matmul.layout import Areas, Table, areas, framed
from gpuviz.scenes.matmul.parameters import (
    FILL,
    WATCHED,
    block_of,
    extents,
    launches,
    preset,
    problem,
    sizes_of,
    thread_of,
    width,
)
from gpuviz.scenes.matmul.reads import Sizes
from gpuviz.scenes.matmul.scene import Multiplication, multiplication
from gpuviz.scenes.matmul.table import access_table, table_size
from gpuviz.scenes.matmul.time import Moment, at
from gpuviz.scenes.matmul.totals import totals
from gpuviz.scenes.matmul.view import global_memory
from gpuviz.scenes.matmul.words import sentence, steps

_DYNAMIC = "matmul_dynamic.cu"
_LEAST_HEIGHT = 320  # of a stage with room for a sentence below the title

PARAMETERS = (
    *extents(4, 4, 4),
    width((2, 4, 8, 16, 32), "width of a block and of its tiles"),
    *WATCHED,
    FILL,
    Parameter(
        "shared",
        "shared memory",
        "static",
        choices=(
            Choice("static", "static, a constant of the kernel"),
            Choice("dynamic", "dynamic, said at the launch"),
        ),
        hint="how the kernel comes by its two tiles",
    ),
)

PRESETS = (
    preset("4 × 4, tile 2", 4, 4, 4, 2, (1, 0)),
    preset("8 × 8, tile 4", 8, 8, 8, 4, (2, 1)),
    preset("16 × 16, tile 8", 16, 16, 16, 8, (2, 1)),
    preset("10 × 3 times 3 × 5, tile 4", 10, 3, 5, 4, (2, 1), "twos"),
    preset("32 × 32, tile 16", 32, 32, 32, 16, (2, 1)),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The tiled and the naive kernel on the same matrices, in blocks of one tile."""
    tiled, naive = launches(values, ("tiled", "naive"))
    return (tiled if values["shared"] == "static" else _dynamic(tiled), naive)


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


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of one block."""
    arch = architecture(runs["tiled"].arch)
    about = multiplication(sizes_of(values), block_of(values), thread_of(values), runs, arch)
    title, words = _title(about), tuple(sentence(about, m) for m in about.line)
    return Story(title, words[0], steps(about), _picture(about, title, words), _expected(about))


def _title(about: Multiplication) -> str:
    """The claim that the picture shows."""
    sizes, naive, tiled = about.sizes, about.totals["naive"], about.totals["tiled"]
    if sizes.whole:
        return tr("Tiling divides global loads by the tile width: {tile}", tile=sizes.tile)
    if tiled.loads >= naive.loads:
        return tr("Partial tiles may share nothing: here the global loads are as many as without")
    return tr(
        "Partial tiles share less: loads divided by {n}, not by {tile}",
        n=f"{naive.loads / tiled.loads:.3g}",
        tile=sizes.tile,
    )


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
    return tr(
        "closed form: {naive} elements loaded naively, {tiled} with tiles",
        naive=f"{naive:,}",
        tiled=f"{tiled:,}",
    )


def _picture(
    about: Multiplication, title: str, words: tuple[str, ...]
) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""
    longest = sorted(dict.fromkeys(words), key=lambda said: text_width(said, 16))[-3:]

    def frame(t: float, given: Stage) -> Frame:
        stage, least = given.roomy(), given.text(14)
        now = at(about.line, t)
        moment = about.line[now]
        talks = stage.height >= _LEAST_HEIGHT * stage.scale
        head, _ = heading(stage, title, words[now] if talks else "")
        # The picture stays where it is whatever the sentence: the longest decide.
        bodies = (heading(stage, title, s if talks else "")[1] for s in longest)
        body = min(bodies, key=lambda area: area.height)
        scene = _draw(stage, body, about, moment, moment.share(t), least)
        return stage.frame(*head, *scene)

    return frame


def _draw(
    stage: Stage, body: Rect, about: Multiplication, moment: Moment, share: float, least: float
) -> tuple[Mark, ...]:
    """Everything below the heading."""
    table = table_size(stage, about)
    sizes = about.sizes
    (rows, inner), (_, columns) = sizes.padded("M"), sizes.padded("N")
    at_ = areas(stage, body, table, (inner + columns) / (inner + rows))
    matrices = framed(stage, at_.whole, rows, inner, columns)
    return (
        *global_memory(stage, matrices, about, moment, share, least),
        *_naive(stage, at_, about, moment, share, least, table),
        *totals(stage, at_.totals, about, moment, share),
        *track(stage, at_.track, phase_parts(stage, about.phases), moment.track),
        *block(stage, at_.shared, matrices, about, moment, share, least),
    )


def _naive(
    stage: Stage,
    at_: Areas,
    about: Multiplication,
    moment: Moment,
    share: float,
    least: float,
    table: Table,
) -> tuple[Mark, ...]:
    """The access table where it fits, else heat over the elements read."""
    area = at_.naive
    if area.height < stage.text(14) * 4:
        return ()
    if table.width <= area.width and table.bare <= area.height + 0.5:
        return access_table(stage, area, about, moment)
    return heat_map(stage, area, about, moment, share, least)


LESSON = Lesson(
    "matmul-tiled",
    "Matmul: tiled",
    "Putting it together",
    "How each element, loaded once into shared memory, serves a whole row or column of threads.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("tile", "phase", "barrier", "shared-memory", "dynamic-shared-memory", "conflict"),
)
