"""What all lessons on matrix products ask for: sizes, tile, block, thread, elements."""

from __future__ import annotations

from gpuviz.language import tr
from gpuviz.scenes.base import Choice, Parameter, Plan, Preset, Values
from gpuviz.scenes.matmul.reads import Sizes
from gpuviz.scenes.values import number

KERNEL = "matmul.cu"
_FILLS = (
    ("arange", "0, 1, 2, …"),
    ("ones", "all ones"),
    ("twos", "M ones, N twos"),
    ("rand", "random"),
)

WATCHED = (
    Parameter("block_x", "block x", 0, 0, 31, hint="the block whose threads are watched"),
    Parameter("block_y", "block y", 0, 0, 31, hint="the block whose threads are watched"),
    Parameter("thread_x", "thread x", 1, 0, 31, hint="the thread whose sum is followed"),
    Parameter("thread_y", "thread y", 0, 0, 31, hint="the thread whose sum is followed"),
)
FILL = Parameter("fill", "elements", "arange", choices=tuple(Choice(*f) for f in _FILLS))


def extents(rows: int, inner: int, columns: int) -> tuple[Parameter, ...]:
    """The sizes of the matrices, with their defaults."""
    return (
        Parameter("rows", "rows of M and P", rows, 1, 64),
        Parameter("inner", "columns of M, rows of N", inner, 1, 64),
        Parameter("columns", "columns of N and P", columns, 1, 64),
    )


def width(tiles: tuple[int, ...], hint: str, label: str = "tile width") -> Parameter:
    """The width of a block, a constant of the kernel."""
    return Parameter(
        "tile",
        label,
        tiles[0],
        compiled=True,
        hint=hint,
        choices=tuple(Choice(n, f"{n} × {n}") for n in tiles),
    )


def preset(
    name: str,
    rows: int,
    inner: int,
    columns: int,
    tile: int,
    thread: tuple[int, int],
    fill: str = "arange",
    **others: str,
) -> Preset:
    """A size worth showing, with the thread to follow in block (0,0)."""
    return Preset(
        name,
        {
            "rows": rows,
            "inner": inner,
            "columns": columns,
            "tile": tile,
            "block_x": 0,
            "block_y": 0,
            "thread_x": thread[0],
            "thread_y": thread[1],
            "fill": fill,
            **others,
        },
    )


def sizes_of(values: Values) -> Sizes:
    """The sizes the parameters ask for."""
    return Sizes(*(number(values, name) for name in ("rows", "inner", "columns", "tile")))


def block_of(values: Values) -> tuple[int, int]:
    """x and y of the block that is watched."""
    return number(values, "block_x"), number(values, "block_y")


def thread_of(values: Values) -> tuple[int, int]:
    """x and y of the thread that is followed."""
    return number(values, "thread_x"), number(values, "thread_y")


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    sizes = sizes_of(values)
    watched = zip("xy", sizes.grid, block_of(values), thread_of(values), strict=True)
    for axis, blocks, block, thread in watched:
        if block >= blocks:
            return tr(
                "There is no block with {axis} = {block}: blocks of {tile} × {tile} cover P "
                "up to {axis} = {last}.",
                axis=axis,
                block=block,
                tile=sizes.tile,
                last=blocks - 1,
            )
        if thread >= sizes.tile:
            return tr(
                "There is no thread with {axis} = {thread}: a block of {tile} × {tile} "
                "threads goes up to {last}.",
                axis=axis,
                thread=thread,
                tile=sizes.tile,
                last=sizes.tile - 1,
            )
    return ""


def arguments(sizes: Sizes, fill: str) -> tuple[str, ...]:
    """M, N, P and their sizes, as every kernel of matmul.cu takes them."""
    count = {n: sizes.shape(n)[0] * sizes.shape(n)[1] for n in "MNP"}
    m, n = ("ones", "2") if fill == "twos" else (fill, fill)
    return (
        f"f32[{count['M']}]={m}",
        f"f32[{count['N']}]={n}",
        f"f32[{count['P']}]=zeros",
        f"i32={sizes.rows}",
        f"i32={sizes.inner}",
        f"i32={sizes.columns}",
    )


def launches(values: Values, roles: tuple[str, ...]) -> tuple[Plan, ...]:
    """Kernels of matmul.cu on the same matrices, named by role; the watched block is recorded."""
    sizes = sizes_of(values)
    (x, y), (bx, by) = sizes.grid, block_of(values)
    return tuple(
        Plan(
            role,
            KERNEL,
            role,
            (x, y, 1),
            (sizes.tile, sizes.tile, 1),
            arguments(sizes, str(values["fill"])),
            (("TILE", str(sizes.tile)),),
            record=(by * x + bx,),
        )
        for role in roles
    )
