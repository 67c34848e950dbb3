"""What the lesson of swizzles lays out: the layout and swizzle asked for, and where pieces lie."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.base.errors import InputError
from gpuviz.course.matrix_products.swizzle.layout import NONE, TMA, Layout, Swizzle
from gpuviz.story.lesson import Values, number
from gpuviz.traces.trace import Trace
from gpuviz.words.language import tr

LINE, ROW = 128, 16  # bytes of all banks, and of what is moved at once
_MODES, _MOST = 3, 16384  # parts of a direction that the kernel takes; bytes of a tile
_UNIT = 1024  # bytes within which swizzles stay


@dataclass(frozen=True, eq=False)
class Tile:
    """A layout of elements of `element` bytes, its swizzle in bytes, and how it is read."""

    layout: Layout
    element: int
    swizzle: Swizzle
    access: str

    @property
    def rows(self) -> int:
        """Of the tile."""
        return self.layout.modes[0].size

    @property
    def columns(self) -> int:
        """Of the tile, in elements."""
        return self.layout.modes[1].size

    @property
    def by_pieces(self) -> bool:
        """Whether 16 bytes are moved at once, as ldmatrix does."""
        return self.access == "matrices"

    @property
    def each(self) -> int:
        """Elements of a piece."""
        return ROW // self.element if self.by_pieces else 1

    @property
    def across(self) -> int:
        """Pieces of a row."""
        return self.columns // self.each

    @cached_property
    def plain(self) -> I64:
        """(rows, across) byte of each piece before the swizzle."""
        made: I64 = self.layout.table()[:, :: self.each] * self.element
        return made

    @property
    def shared(self) -> int:
        """Bytes of shared memory: whole units within which a swizzle stays."""
        return -(-self.layout.cosize * self.element // _UNIT) * _UNIT

    @property
    def passed(self) -> str:
        """The layout as the kernel takes it: shape and stride of three modes, twice."""
        numbers = [n for mode in self.layout.modes for n in _padded(mode)]
        return f"i32*12=[{','.join(map(str, numbers))}]"

    @cached_property
    def swizzles(self) -> tuple[Swizzle, ...]:
        """None, those of the tensor memory accelerator, and the one asked for if it is another."""
        return tuple(dict.fromkeys((*(TMA[n] for n in (0, 32, 64, 128)), self.swizzle)))

    @property
    def chosen(self) -> int:
        """Which of them is shown: the block that runs with it."""
        return self.swizzles.index(self.swizzle)


def _padded(mode: Layout) -> Iterator[int]:
    for count, stride in (*mode.flat, *[(1, 0)] * (_MODES - len(mode.flat))):
        yield from (count, stride)


def tile_of(values: Values) -> Tile:
    """The tile of the values.

    Raises
    ------
    InputError : the layout cannot be read, or the kernel cannot take it
    """
    layout, element = Layout.parse(str(values["layout"])), number(values, "element")
    if len(layout.modes) != 2 or any(len(mode.flat) > _MODES for mode in layout.modes):
        raise InputError(
            tr(
                "The layout {layout} has to have two parts, rows and columns, of at most {n} "
                "numbers each, such as (8,64):(64,1).",
                layout=layout,
                n=_MODES,
            )
        )
    made = Tile(layout, element, _swizzle(values, element), str(values["access"]))
    if why := _refused(made):
        raise InputError(why)
    return made


def _swizzle(values: Values, element: int) -> Swizzle:
    name = str(values["swizzle"])
    if name != "own":
        return TMA[int(name)]
    own = Swizzle(*(number(values, key) for key in ("bits", "base", "shift")))
    if not own.bits:
        return NONE
    return own if values["unit"] == "bytes" else own.in_bytes(element)


def _refused(tile: Tile) -> str:
    """Why the kernel cannot run with it, or ""."""
    layout, swizzle = tile.layout, tile.swizzle
    size = layout.cosize * tile.element
    if size > _MOST:
        return tr("The tile reaches {n} bytes far: at most {most} are shown.", n=size, most=_MOST)
    if not layout.one_to_one:
        return tr("In the layout {layout} two elements have one place.", layout=layout)
    if swizzle.bits > swizzle.shift:
        return tr(
            "{swizzle} would change the bits that it looks at: choose B no larger than S.",
            swizzle=swizzle,
        )
    if swizzle.base + swizzle.bits > 10:
        what = {"swizzle": swizzle, "n": _UNIT}
        return tr("{swizzle} of bytes reaches beyond {n} bytes: choose a smaller M or B.", **what)
    if not tile.by_pieces:
        return ""
    if tile.rows % 8 or tile.columns * tile.element % ROW:
        return tr(
            "ldmatrix reads 8 rows of 16 bytes: a tile of {rows} × {columns} elements of {n} "
            "bytes has no such pieces.",
            rows=tile.rows,
            columns=tile.columns,
            n=tile.element,
        )
    if swizzle.bits and swizzle.base < 4:
        return tr(
            "{swizzle} of bytes tears 16 bytes apart, which ldmatrix wants in one piece: choose an "
            "M of at least 4 for bytes.",
            swizzle=swizzle,
        )
    parts = layout.table().reshape(tile.rows, -1, tile.each) * tile.element
    if (np.diff(parts, axis=2) != tile.element).any() or (parts[..., 0] % ROW).any():
        return tr(
            "In the layout {layout} 16 bytes of a row do not lie together: read it down a column, "
            "one element a lane.",
            layout=layout,
        )
    return ""


def problem(values: Values) -> str:
    """Why these values make no tile, or ""."""
    try:
        tile_of(values)
    except InputError as error:
        return str(error)
    return ""


def placed(trace: Trace, block: int, tile: Tile) -> I64:
    """(rows, across) byte of each piece as the kernel stored them; lanes take piece after piece."""
    stores = trace.of(block=block, warp=0, space="shared", op="store")
    taken = [stores.address[n][stores.lanes(n)] for n in range(len(stores))]
    made: I64 = np.concatenate(taken).astype(np.int64).reshape(tile.rows, tile.across)
    return made
