"""Cells of memory, read and written by index, and how an access is checked."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.ptx.simt.layout import Layout
from gpuviz.words.language import tr


class Violation(Exception):
    """An illegal access: which lanes of the layout are `bad`, and all their addresses."""

    def __init__(self, reason: str, bad: Bool, address: Array, misaligned: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.bad = bad
        self.address = address
        self.misaligned = misaligned


def check_inside(layout: Layout, address: Array, width: int, size: int, what: str) -> None:
    """Raise `Violation` when an access of an offset is not within the first `size` bytes."""
    if int(address.max()) + width > size:
        bad = address > size - width if size >= width else np.ones_like(address, bool)
        raise Violation(
            tr("{n}-byte access outside the {size} bytes of {what}", n=width, size=size, what=what),
            layout.full(bad),
            layout.full(address),
        )


def check_alignment(layout: Layout, address: Array, width: int) -> None:
    """Raise `Violation` when an address is not a multiple of the access width."""
    if width > 1:
        low = address & address.dtype.type(width - 1)
        if low.any():
            raise Violation(
                tr("misaligned {n}-byte access", n=width),
                layout.full(low) != 0,
                layout.full(address),
                True,
            )


class Cells:
    """Bytes seen as unsigned integers of 1, 2, 4 or 8 bytes."""

    def __init__(self, size: int) -> None:
        self.bytes = np.zeros(-(-max(size, 1) // 16) * 16, np.uint8)
        self._views: dict[int, Array] = {}

    def of(self, width: int) -> Array:
        """All cells of one width, writable."""
        if width not in self._views:
            self._views[width] = self.bytes.view(f"u{width}")
        return self._views[width]

    def replace(self, data: npt.NDArray[np.uint8]) -> None:
        """Put other bytes in the place of these."""
        self.bytes = data
        self._views = {}


class Memory(Protocol):
    """A memory of one of the state spaces."""

    cells: Cells

    def index(self, layout: Layout, address: Array, width: int, unit: int) -> I64:
        """Cell index of every address; raises `Violation`."""

    def beside(
        self, layout: Layout, violation: Violation, width: int, unit: int, writes: bool
    ) -> I64 | None:
        """Cell index of accesses some of which are outside: theirs is where there is 0, or where
        nobody reads what they write. None where a run cannot go on after that; raises `Violation`.
        """
