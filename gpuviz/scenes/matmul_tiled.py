"""Tiled matrix multiplication, phase by phase, beside the naive kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpuviz.arch import architecture
from gpuviz.draw.heading import heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.track import Part, track
from gpuviz.errors import InputError
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Value, Values
from gpuviz.scenes.matmul_layout import Areas, Framed, Table, areas, framed, side_by_side
from gpuviz.scenes.matmul_naive_view import access_table, heat_map, table_size
from gpuviz.scenes.matmul_reads import Sizes
from gpuviz.scenes.matmul_scene import Multiplication, multiplication
from gpuviz.scenes.matmul_shared_view import flying, formula, shared_memory
from gpuviz.scenes.matmul_time import Moment, at
from gpuviz.scenes.matmul_totals import totals
from gpuviz.scenes.matmul_view import global_memory
from gpuviz.scenes.matmul_words import expression, ratio, sentence, steps, things

KERNEL = "matmul.cu"
_TILES = (2, 4, 8, 16, 32)
_LEAST_HEIGHT = 320  # of a stage with room for a sentence below the title
_FILLS = (("arange", "0, 1, 2, …"), ("ones", "all ones"), ("twos", "M ones, N twos"),
          ("rand", "random"))  # fmt: skip

PARAMETERS = (
    Parameter("rows", "rows of M and P", 4, 1, 64),
    Parameter("inner", "columns of M, rows of N", 4, 1, 64),
    Parameter("columns", "columns of N and P", 4, 1, 64),
    Parameter("tile", "tile width", 2, compiled=True, hint="width of a block and of its tiles",
              choices=tuple(Choice(n, f"{n} × {n}") for n in _TILES)),
    Parameter("block_x", "block x", 0, 0, 31, hint="the block whose threads are watched"),
    Parameter("block_y", "block y", 0, 0, 31, hint="the block whose threads are watched"),
    Parameter("thread_x", "thread x", 1, 0, 31, hint="the thread whose sum is followed"),
    Parameter("thread_y", "thread y", 0, 0, 31, hint="the thread whose sum is followed"),
    Parameter("fill", "elements", "arange", choices=tuple(Choice(*f) for f in _FILLS)),
)  # fmt: skip


def _preset(name: str, rows: int, inner: int, columns: int, tile: int, thread: tuple[int, int],
            fill: str = "arange") -> Preset:  # fmt: skip
    return Preset(name, {
        "rows": rows, "inner": inner, "columns": columns, "tile": tile, "block_x": 0, "block_y": 0,
        "thread_x": thread[0], "thread_y": thread[1], "fill": fill,
    })  # fmt: skip


PRESETS = (
    _preset("4 × 4, tile 2", 4, 4, 4, 2, (1, 0)),
    _preset("8 × 8, tile 4", 8, 8, 8, 4, (2, 1)),
    _preset("16 × 16, tile 8", 16, 16, 16, 8, (2, 1)),
    _preset("10 × 3 times 3 × 5, tile 4", 10, 3, 5, 4, (2, 1), "twos"),
    _preset("32 × 32, tile 16", 32, 32, 32, 16, (2, 1)),
)


def whole(values: Values, name: str) -> int:
    """A whole-number parameter."""
    value: Value = values[name]
    if isinstance(value, str):
        raise InputError(f"{name} is {value!r}; it has to be a whole number")
    return int(value)


def sizes_of(values: Values) -> Sizes:
    """The sizes the parameters ask for."""
    return Sizes(*(whole(values, name) for name in ("rows", "inner", "columns", "tile")))


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    sizes = sizes_of(values)
    for axis, blocks in zip("xy", sizes.grid, strict=True):
        block, thread = whole(values, f"block_{axis}"), whole(values, f"thread_{axis}")
        if block >= blocks:
            return (f"There is no block with {axis} = {block}: tiles of {sizes.tile} cover P with "
                    f"{things(blocks, 'block')} along {axis}, so {axis} goes up to {blocks - 1}.")
        if thread >= sizes.tile:
            return (f"There is no thread with {axis} = {thread}: a block of {sizes.tile} × "
                    f"{sizes.tile} threads goes up to {sizes.tile - 1}.")
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """The tiled and the naive kernel on the same matrices, in blocks of one tile."""
    sizes = sizes_of(values)
    x, y = sizes.grid
    counts = {n: sizes.shape(n)[0] * sizes.shape(n)[1] for n in "MNP"}
    fill = ("ones", "2") if values["fill"] == "twos" else (values["fill"], values["fill"])
    arguments = (
        f"f32[{counts['M']}]={fill[0]}", f"f32[{counts['N']}]={fill[1]}",
        f"f32[{counts['P']}]=zeros",
        f"i32={sizes.rows}", f"i32={sizes.inner}", f"i32={sizes.columns}",
    )  # fmt: skip
    block = whole(values, "block_y") * x + whole(values, "block_x")
    return tuple(
        Plan(role, KERNEL, role, (x, y, 1), (sizes.tile, sizes.tile, 1), arguments,
             (("TILE", str(sizes.tile)),), record=(block,))
        for role in ("tiled", "naive")
    )  # fmt: skip


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of one block."""
    block = whole(values, "block_x"), whole(values, "block_y")
    thread = whole(values, "thread_x"), whole(values, "thread_y")
    arch = architecture(runs["tiled"].arch)
    about = multiplication(sizes_of(values), block, thread, runs, arch)
    title, words = _title(about), tuple(sentence(about, m) for m in about.line)
    return Story(title, words[0], steps(about), _picture(about, title, words), _expected(about))


def _title(about: Multiplication) -> str:
    """The claim that the picture shows."""
    sizes, naive, tiled = about.sizes, about.totals["naive"], about.totals["tiled"]
    if sizes.whole:
        return f"Tiling divides global loads by the tile width: {sizes.tile}"
    fewer = ratio(naive.loads, tiled.loads)
    if "×" not in fewer:
        return "Partial tiles may share nothing: here the global loads are as many as without"
    divided = fewer.removesuffix(" × fewer")
    return f"Partial tiles share less: loads divided by {divided}, not by {sizes.tile}"


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
    return f"closed form: {naive:,} elements loaded naively, {tiled:,} with tiles"


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
        *track(stage, at_.track, _parts(stage, sizes), moment.track),
        *_block(stage, at_.shared, matrices, about, moment, share, least),
    )


def _block(
    stage: Stage, area: Rect, matrices: Framed, about: Multiplication, moment: Moment,
    share: float, least: float,
) -> tuple[Mark, ...]:  # fmt: skip
    """Shared memory, the followed thread's formula, and what is on its way; where there is room."""
    tiles, beside = _shared(stage, area, about.sizes.tile)
    if tiles is None:
        return formula(stage, beside, expression(about, moment), least)
    return (
        *shared_memory(stage, tiles, about, moment, share, least),
        *formula(stage, beside, expression(about, moment), least),
        *flying(stage, matrices, tiles, about, moment, share),
    )


def _shared(stage: Stage, area: Rect, tile: int) -> tuple[Framed | None, Rect]:
    """The shared tiles, and the area for the formula: beside or below, as leaves larger tiles."""
    size = stage.text(14)
    gap, below = size * 1.4, size * (6.4 if area.height > size * 15 else 4.8)
    narrow = area._replace(width=area.width - size * 12 - gap)
    low = area._replace(height=area.height - below)
    both = ((narrow, True), (low, False))
    best, beside = max(((framed(stage, room, tile, tile, tile), aside) for room, aside in both),
                       key=lambda choice: choice[0].pitch)  # fmt: skip
    if best.pitch < size * 1.3:  # too small for numbers; side by side may be larger
        flat, aside = max(((side_by_side(stage, room, tile), aside) for room, aside in both),
                          key=lambda choice: choice[0].pitch)  # fmt: skip
        if flat.pitch > best.pitch * 1.15:
            best, beside = flat, aside
    if best.area.right > area.right or best.area.bottom > area.bottom or best.pitch < 1.5:
        return None, area
    if beside:
        left = best.area.right + gap
        return best, Rect(left, area.y, area.right - left, area.height)
    top = best.area.bottom + size * 0.7
    return best, Rect(area.x, top, area.width, area.bottom - top)


def _naive(
    stage: Stage, at_: Areas, about: Multiplication, moment: Moment, share: float, least: float,
    table: Table,
) -> tuple[Mark, ...]:  # fmt: skip
    """The access table where it fits, else heat over the elements read."""
    area = at_.naive
    if area.height < stage.text(14) * 4:
        return ()
    if table.width <= area.width and table.bare <= area.height + 0.5:
        return access_table(stage, area, about, moment)
    return heat_map(stage, area, about, moment, share, least)


def _parts(stage: Stage, sizes: Sizes) -> tuple[Part, ...]:
    """The track: four parts a phase, then the store."""
    palette = stage.palette
    four = (("load", palette.load), ("barrier", palette.barrier), ("multiply", palette.compute),
            ("barrier", palette.barrier))  # fmt: skip
    parts = [Part(name, color, p) for p in range(sizes.phases) for name, color in four]
    return (*parts, Part("store", palette.store, -1))


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
)
