"""Kernel arguments that are there already: an array of this process, or a number."""

from __future__ import annotations

from dataclasses import dataclass

from gpuviz.base.arrays import Array


@dataclass(frozen=True, eq=False)
class ArrayArgument:
    """An argument as its values: an array of one dimension or more is a buffer, a zero-dimensional
    one is passed by value. The same array given twice is one buffer.
    """

    values: Array

    def __str__(self) -> str:
        """As a SPEC would begin."""
        kind = self.values.dtype.name
        return f"{kind}[{self.values.size}]" if self.values.ndim else f"{kind}={self.values}"
