"""How a matrix lies in shared memory for wgmma, and what a swizzle makes of addresses.

A swizzle of 32, 64 or 128 bytes exchanges the 16-byte pieces of a row of so many bytes: bits 4 to 6
of an address are xored with bits 7 to 9, as many of them as it takes to name the pieces. It is of
the address itself, not of the distance from the start of a matrix; the base offset of a descriptor
is taken from bits 7 to 9 first (seen on an H200, where the bits of products were so).

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout" and "Matrix Descriptor
Format"; canonical layouts as in the comments of CUTLASS, cute/arch/mma_sm90_desc.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, U64

PIECE = 16  # bytes that stay together
_ROWS = 8  # of a core matrix
_MODES = np.array([0, 128, 64, 32])  # of a descriptor, to the bytes of a swizzled row


def swizzled(address: I64, size: int, base: int = 0) -> I64:
    """Addresses as a swizzle of `size` bytes (0: none) moves them that begins `base` rows late."""
    pieces = size // PIECE
    if pieces < 2:
        return address
    return np.asarray(address ^ (((address >> 7) - base & (pieces - 1)) << 4))


@dataclass(frozen=True, eq=False)
class Descriptor:
    """What a wgmma descriptor (G,) says: where it starts, its two strides, all in bytes; the bytes
    of a swizzled row, 0 for none; the base offset.
    """

    start: I64
    leading: I64
    stride: I64
    swizzle: I64
    base: I64

    @classmethod
    def of(cls, bits: U64) -> Descriptor:
        """The fields of 64 bits."""
        raw = bits.astype(np.uint64)

        def field(low: int, width: int) -> I64:
            return (raw >> np.uint64(low) & np.uint64((1 << width) - 1)).astype(np.int64)

        start, leading, stride = (field(low, 14) << 4 for low in (0, 16, 32))
        return cls(start, leading, stride, _MODES[field(62, 2)], field(49, 3))

    def pieces(self, extent: int, inner: int, along: bool) -> I64:
        """(G, lines, pieces) the addresses of the 16-byte pieces of a matrix.

        `extent` is that of m or n. Where k lies `along` a line, lines go with m or n, and `inner`
        is the pieces of k: two, or four of what a sparse A meets; else lines go with k, of which
        there are `inner`, and pieces with m or n, `extent` counted in pieces.
        """
        made = [self._of_one(n, extent, inner, along) for n in range(len(self.start))]
        return np.stack(made) if made else np.zeros((0, extent, inner), np.int64)

    def _of_one(self, n: int, extent: int, inner: int, along: bool) -> I64:
        size, leading, stride = int(self.swizzle[n]), int(self.leading[n]), int(self.stride[n])
        each = max(1, size // PIECE)
        if along:
            line, piece = np.arange(extent)[:, None], np.arange(inner)
            offset = piece % each * PIECE + piece // each * leading
            offset = offset + line % _ROWS * (size or PIECE) + line // _ROWS * stride
        else:
            line, piece = np.arange(inner)[:, None], np.arange(extent)
            if size:
                down, across = stride, leading
            else:
                down, across = leading, stride
            offset = piece % each * PIECE + piece // each * across
            offset = offset + line % _ROWS * (size or PIECE) + line // _ROWS * down
        return swizzled(int(self.start[n]) + offset, size, int(self.base[n]))
