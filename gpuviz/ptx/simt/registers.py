"""Register files: one array a register, for all threads of a batch or for some of them."""

from __future__ import annotations

from typing import Any, SupportsIndex

from gpuviz.base.arrays import Array, Bool
from gpuviz.ptx.simt.code import FunctionCode
from gpuviz.ptx.simt.layout import Layout
from gpuviz.ptx.simt.values import zero


class SparseRegisters(list[Any]):
    """A register file of a sparse layout: gathered when first read, marked when written."""

    def __init__(self, dense: list[Array], layout: Layout) -> None:
        super().__init__([None] * len(dense))
        self.dense = dense
        self.layout = layout
        self.dirty: set[int] = set()

    def __getitem__(self, i: SupportsIndex | slice) -> Any:
        value = super().__getitem__(i)
        if value is None and isinstance(i, int):
            value = self.layout.gather(self.dense[i])
            super().__setitem__(i, value)
        return value

    def __setitem__(self, i: SupportsIndex | slice, value: Any) -> None:
        assert isinstance(i, int)
        self.dirty.add(i)
        super().__setitem__(i, value)


class RegisterFiles:
    """The register file of each function, in one layout: the dense one of the batch, or a sparse.

    Those of a sparse layout start from the `dense` ones.
    """

    def __init__(self, layout: Layout, dense: RegisterFiles | None = None) -> None:
        self.layout = layout
        self.dense = dense
        self.files: dict[int, list[Array]] = {}

    def of(self, code: FunctionCode) -> list[Array]:
        """The register file of a function."""
        if code.index not in self.files:
            if self.dense is None:
                self.files[code.index] = [zero(kind) for kind in code.registers]
            else:
                self.files[code.index] = SparseRegisters(self.dense.of(code), self.layout)
        return self.files[code.index]

    def flush(self, mask: Bool | None) -> None:
        """Write what the selected lanes of a sparse layout changed back to the dense one."""
        part = self.layout if mask is None else self.layout.sparse(mask)
        for file in self.files.values():
            assert isinstance(file, SparseRegisters)
            for i in file.dirty:
                value = self.layout.full(file[i])
                picked = value if mask is None else value[self.layout.full(mask)]
                file.dense[i] = part.scatter(picked, file.dense[i])
