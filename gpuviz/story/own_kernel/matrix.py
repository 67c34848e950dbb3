"""The elements of a buffer as rows and columns of cells; of too many, several are one cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.traces.trace import Launch

_MOST = 256  # cells beside each other
_LINE = 64  # elements that are one row
_COLUMNS = 32


@dataclass(frozen=True)
class Cells:
    """`count` elements in rows of `wide`; `step` by `step` of them are one cell."""

    count: int
    wide: int

    @property
    def tall(self) -> int:
        """Rows of elements."""
        return -(-self.count // self.wide)

    @property
    def step(self) -> int:
        """Elements that a cell is wide and high."""
        return max(1, -(-max(self.wide, self.tall) // _MOST))

    @property
    def rows(self) -> int:
        """Rows of cells."""
        return -(-self.tall // self.step)

    @property
    def columns(self) -> int:
        """Columns of cells."""
        return -(-self.wide // self.step)

    @cached_property
    def there(self) -> Bool:
        """(rows * columns,) the cells that hold an element: the last row may not be full."""
        return np.asarray(self.most(np.ones(self.count, np.int8), np.int8) > 0)

    def of(self, elements: I64) -> I64:
        """The cells that elements are in."""
        row, column = elements // self.wide, elements % self.wide
        return np.asarray(row // self.step * self.columns + column // self.step, np.int64)

    def elements(self, cell: int) -> I64:
        """The elements in a cell."""
        row, column = divmod(cell, self.columns)
        down = np.arange(row * self.step, min((row + 1) * self.step, self.tall))
        across = np.arange(column * self.step, min((column + 1) * self.step, self.wide))
        every = (down[:, None] * self.wide + across).ravel()
        return every[every < self.count]

    def most(self, values: Array, dtype: npt.DTypeLike = np.int64) -> Array:
        """(rows * columns,) the largest value of the elements in each cell, 0 without any."""
        step = self.step
        padded = np.zeros((self.rows * step, self.columns * step), dtype)
        whole = self.count // self.wide
        flat = np.asarray(values, dtype)
        padded[:whole, : self.wide] = flat[: whole * self.wide].reshape(whole, self.wide)
        rest = flat[whole * self.wide :]
        padded[whole : whole + 1, : len(rest)] = rest
        blocks = padded.reshape(self.rows, step, self.columns, step)
        return np.asarray(blocks.max(axis=(1, 3)).ravel())


def columns_of(launch: Launch, count: int, of_buffer: bool) -> int:
    """How long the rows of so many elements are, as a size among the arguments suggests, or not."""
    sizes = [int(value) for _, value in launch.scalars if isinstance(value, int)]
    fitting = [n for n in sizes if 1 < n < count and count % n == 0 and n <= count // 2]
    if fitting and of_buffer:
        return min(fitting, key=lambda n: abs(n - isqrt(count)))
    if count <= _LINE and of_buffer:
        return max(count, 1)
    flat = launch.grid[1] == 1 and launch.block[1] == 1
    if of_buffer and not flat and isqrt(count) ** 2 == count:
        return isqrt(count)
    wide = _COLUMNS
    while wide * wide < count // 2 and of_buffer:
        wide *= 2
    return wide
