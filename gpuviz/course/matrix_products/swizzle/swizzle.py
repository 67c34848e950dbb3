"""Swizzle<B,M,S>: B bits of an offset are exchanged by XOR with those S places further up.

The lowest M bits stay. Sources: NVIDIA CUTLASS, include/cute/swizzle.hpp; the modes of the tensor
memory accelerator: CUDA C++ Programming Guide 12.6, "Tensor Memory Access, Shared memory bank
swizzling" (16-byte pieces within 32, 64 or 128 bytes, repeated after 256, 512 or 1024).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import I64


@dataclass(frozen=True)
class Swizzle:
    """`bits`, `base` and `shift` are B, M and S; a negative S takes its bits from below."""

    bits: int
    base: int
    shift: int

    def __str__(self) -> str:
        return f"Swizzle<{self.bits},{self.base},{self.shift}>"

    @property
    def source(self) -> range:
        """The bits that are looked at."""
        first = self.base + max(self.shift, 0)
        return range(first, first + self.bits)

    @property
    def target(self) -> range:
        """The bits that change."""
        first = self.base - min(self.shift, 0)
        return range(first, first + self.bits)

    def __call__(self, offset: I64) -> I64:
        """Offsets of any shape to those of the swizzled layout; it is its own inverse."""
        mask = ((1 << self.bits) - 1) << self.source.start
        seen = offset & mask
        moved = seen >> self.shift if self.shift >= 0 else seen << -self.shift
        return np.asarray(offset ^ moved, np.int64)

    def in_bytes(self, element: int) -> Swizzle:
        """What a swizzle of elements does to offsets in bytes; `element` bytes, a power of two."""
        return replace(self, base=self.base + element.bit_length() - 1)

    def in_elements(self, element: int) -> Swizzle:
        """The same of elements, for a swizzle of bytes."""
        return replace(self, base=self.base - element.bit_length() + 1)


NONE = Swizzle(0, 4, 3)
# Of the tensor memory accelerator, by the bytes of its span: swizzles of offsets in bytes.
TMA = {0: NONE, 32: Swizzle(1, 4, 3), 64: Swizzle(2, 4, 3), 128: Swizzle(3, 4, 3)}
