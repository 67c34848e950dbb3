"""What the lessons on matrix products ask for: sizes, tile, block, thread, elements."""

from dataclasses import dataclass

from gpuviz.story.lesson import Parameter, Plan, Preset, Values, number
from gpuviz.words.language import tr

KERNEL = "matmul.cu"
WATCHED = (
    Parameter("block_x", "block x", 0, 0, 31, hint="the block whose threads are watched"),
    Parameter("block_y", "block y", 0, 0, 31, hint="the block whose threads are watched"),
    Parameter("thread_x", "thread x", 1, 0, 31, hint="the thread whose sum is followed"),
    Parameter("thread_y", "thread y", 0, 0, 31, hint="the thread whose sum is followed"),
)
FILL = Parameter(
    "fill",
    "elements",
    "arange",
    offers={"arange": "0, 1, 2, …", "ones": "all ones", "twos": "M ones, N twos", "rand": "random"},
)


REAL = Parameter(
    "real",
    "timed at",
    1024,
    offers={n: f"{n} × {n}" for n in (256, 512, 1024, 2048)},
    hint="the same kernels at a size people run, timed and counted beside the picture",
)
_LEAST, _USUAL = 8, 16  # width of a block that people run, and the one taken for narrower ones


@dataclass(frozen=True)
class Sizes:
    """M is rows x inner, N inner x columns, P rows x columns; blocks and tiles are tile x tile."""

    rows: int
    inner: int
    columns: int
    tile: int

    @property
    def phases(self) -> int:
        """Tiles along a row of M, the last one possibly partial."""
        return -(-self.inner // self.tile)

    @property
    def grid(self) -> tuple[int, int]:
        """Blocks in x and y."""
        return -(-self.columns // self.tile), -(-self.rows // self.tile)

    @property
    def whole(self) -> bool:
        """Whether tiles cover the matrices without a rest."""
        return not any(n % self.tile for n in (self.rows, self.inner, self.columns))

    def shape(self, name: str) -> tuple[int, int]:
        """Rows and columns of M, N or P."""
        shapes = {"M": (self.rows, self.inner), "N": (self.inner, self.columns)}
        return shapes.get(name, (self.rows, self.columns))

    @property
    def said(self) -> str:
        """`4 × 4`, or `10 × 3 times 3 × 5`."""
        if self.rows == self.inner == self.columns:
            return f"{self.rows} × {self.rows}"
        left, right = f"{self.rows} × {self.inner}", f"{self.inner} × {self.columns}"
        return tr("{left} times {right}", left=left, right=right)

    def padded(self, name: str) -> tuple[int, int]:
        """Rows and columns, rounded up to whole tiles."""
        rows, columns = self.shape(name)
        return -(-rows // self.tile) * self.tile, -(-columns // self.tile) * self.tile


def extents(size: int) -> tuple[Parameter, ...]:
    """The sizes of the matrices, by default all the same."""
    return (
        Parameter("rows", "rows of M and P", size, 1, 64),
        Parameter("inner", "columns of M, rows of N", size, 1, 64),
        Parameter("columns", "columns of N and P", size, 1, 64),
    )


def width(tiles: tuple[int, ...], hint: str, label: str = "tile width") -> Parameter:
    """The width of a block, a constant of the kernel."""
    offers = {n: f"{n} × {n}" for n in tiles}
    return Parameter("tile", label, tiles[0], compiled=True, hint=hint, offers=offers)


def preset(
    name: str,
    sizes: tuple[int, int, int, int],
    thread: tuple[int, int],
    fill: str = "arange",
    **others: str,
) -> Preset:
    """A size worth showing, with the thread to follow in block (0,0)."""
    rows, inner, columns, tile = sizes
    values = {"rows": rows, "inner": inner, "columns": columns, "tile": tile}
    watched = {"block_x": 0, "block_y": 0, "thread_x": thread[0], "thread_y": thread[1]}
    return Preset(name, {**values, **watched, "fill": fill, **others})


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
        where: dict[str, object] = {"axis": axis, "tile": sizes.tile}
        if block >= blocks:
            return tr(
                "There is no block with {axis} = {block}: blocks of {tile} × {tile} cover P "
                "up to {axis} = {last}.",
                **where,
                block=block,
                last=blocks - 1,
            )
        if thread >= sizes.tile:
            return tr(
                "There is no thread with {axis} = {thread}: a block of {tile} × {tile} "
                "threads goes up to {last}.",
                **where,
                thread=thread,
                last=sizes.tile - 1,
            )
    return ""


def launch(values: Values, role: str) -> Plan:
    """A kernel of matmul.cu, named as its role; the watched block is recorded."""
    sizes, fill = sizes_of(values), str(values["fill"])
    (x, y), (block_x, block_y) = sizes.grid, block_of(values)
    fills = ("ones", "2", "zeros") if fill == "twos" else (fill, fill, "zeros")
    shapes = map(sizes.shape, "MNP")
    return Plan(
        role,
        KERNEL,
        role,
        (x, y, 1),
        (sizes.tile, sizes.tile, 1),
        (
            *(f"f32[{r * c}]={how}" for (r, c), how in zip(shapes, fills, strict=True)),
            *(f"i32={n}" for n in (sizes.rows, sizes.inner, sizes.columns)),
        ),
        (("TILE", str(sizes.tile)),),
        record=(block_y * x + block_x,),
        size=sizes.said,
    )


def real(small: Plan, n: int) -> Plan:
    """The same kernel on n x n matrices, in blocks as people run them."""
    width = small.block[0] if small.block[0] >= _LEAST else _USUAL
    across, own = -(-n // width), small.block[0]
    size = tr("{n} × {n}, blocks of {width} × {width}, loop over k unrolled", n=n, width=width)
    if width != own:
        size = tr(
            "{n} × {n}, blocks of {width} × {width}, not of {own} × {own}, loop over k unrolled",
            n=n,
            width=width,
            own=own,
        )
    tiles = tuple((k, str(width) if k == "TILE" else v) for k, v in small.defines)
    integers = sum(one.startswith("i32=") for one in small.arguments)
    return small.companion(
        size,
        (across, across, 1),
        (
            *(f"f32[{n * n}]={how}" for how in ("rand", "rand", "zeros")),
            *((f"i32={n}",) * min(integers, 3)),
            *((f"i32={width}",) * (integers > 3)),  # a kernel that is told its tiles' width
        ),
        block=(width, width, 1),
        defines=tiles,
        dynamic_shared=8 * width * width if small.dynamic_shared else 0,
    )
