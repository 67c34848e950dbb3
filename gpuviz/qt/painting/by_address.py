"""Arrays of numbers handed to Qt by address, in blocks of memory that are never given back.

Shiboken knows objects by their addresses: what is wrapped where Qt had an object before can turn
out as that very object, which Qt has deleted since. So a block is made once, looked at, and used
again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar, cast

import numpy as np
from PySide6.QtCore import QLineF, QRectF
from shiboken6.Shiboken import wrapInstance

from gpuviz.base.arrays import F64

_ROWS = 4096

Kind = TypeVar("Kind", QRectF, QLineF)


class Blocks(Generic[Kind]):
    """Blocks of what is four doubles. They may be used in several threads."""

    def __init__(self, kind: type[Kind]) -> None:
        self._kind: type[Kind] = kind
        self._free: SimpleQueue[tuple[F64, Kind]] = SimpleQueue()
        self._kept: list[F64] = []

    def pieces(self, rows: F64) -> Iterator[tuple[Kind, int]]:
        """(N, 4) numbers in pieces: the first of each and how many follow it, itself included.

        A piece lasts until the next one is asked for.
        """
        try:
            block = self._free.get_nowait()
        except Empty:
            block = self._made()
        numbers, first = block
        try:
            for start in range(0, len(rows), _ROWS):
                count = min(_ROWS, len(rows) - start)
                numbers[:count] = rows[start : start + count]
                yield first, count
        finally:
            self._free.put(block)

    def _made(self) -> tuple[F64, Kind]:
        while True:
            numbers = np.zeros((_ROWS, 4))
            self._kept.append(numbers)
            first = cast(Kind, wrapInstance(numbers.ctypes.data, self._kind))
            if type(first) is self._kind:  # else something else was there, and is not forgotten yet
                return numbers, first


RECTS, LINES = Blocks(QRectF), Blocks(QLineF)
