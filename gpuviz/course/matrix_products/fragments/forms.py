"""The forms of mma that the lesson of fragments runs: shapes, types, and who holds what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.ptx.tensor.fragments import Fragment, left, right, total

FIRST = (7, 5)  # the first capability with ldmatrix and mma of these shapes


@dataclass(frozen=True)
class Form:
    """mma of one shape and type; `since` is the first capability that has it (PTX ISA, "mma").

    `kind` and `result` are the types of A and B, and of C and D; `halves` what 7.5 runs in its
    place, twice.
    """

    rows: int
    inner: int
    kind: str
    bits: int
    result: str
    since: tuple[int, int]
    halves: str = ""

    @property
    def shape(self) -> str:
        """As PTX writes it."""
        return f"m{self.rows}n8k{self.inner}"

    @property
    def name(self) -> str:
        """What it is chosen by."""
        return f"{self.shape} {self.kind}"

    @property
    def types(self) -> str:
        """What follows the shape in PTX."""
        logic = ".and.popc" if self.kind == "b1" else ""
        return f"row.col.{self.result}.{self.kind}.{self.kind}.{self.result}{logic}"

    @property
    def bytes(self) -> int:
        """Of a row of A."""
        return self.inner * self.bits // 8

    @property
    def defines(self) -> tuple[tuple[str, str], ...]:
        """The kernel's macros."""
        cc = self.since[0] * 100 + self.since[1] * 10
        made = {
            "FORM": f"{self.shape}.{self.types}",
            "NEEDS": str(cc),
            "ROWS": str(self.rows),
            "BYTES": str(self.bytes),
            "ELEMENT_BITS": str(self.bits),
        }
        made |= {"FLOAT": "1"} if self.bits == 8 and self.result == "f32" else {}
        made |= {"HALVES": f"{self.halves}.{self.types}"} if self.halves else {}
        return tuple(made.items())

    def given(self, rows: int) -> str:
        """The argument that fills so many rows of A, or columns of B."""
        if self.bits < 8 or self.kind == "s8":
            return f"u8[{rows * self.bytes}]=rand"
        kind = "f32" if self.kind == "tf32" else self.kind
        return f"{kind}[{rows * self.inner}]=rand"

    def taken(self, warps: int) -> str:
        """The argument that takes D of so many warps."""
        kind = {"s32": "i32"}.get(self.result, self.result)
        return f"{kind}[{warps * self.rows * 8}]=zeros"

    @cached_property
    def a(self) -> Fragment:
        """Who holds what of A."""
        return left(self.rows, self.inner, self.bits)

    @cached_property
    def b(self) -> Fragment:
        """Who holds what of B."""
        return right(self.inner, 8, self.bits)

    @cached_property
    def d(self) -> Fragment:
        """Who holds what of C and D."""
        return total(self.rows, 64 if self.result == "f64" else 32)

    @property
    def grouped(self) -> int:
        """Neighbours along k that one cell of a picture stands for: those below a byte."""
        return 32 // self.bits if self.bits < 8 else 1


def _forms() -> tuple[Form, ...]:
    new, hopper = (8, 0), (9, 0)
    half = "m16n8k8"
    return (
        Form(16, 16, "f16", 16, "f32", new, half),
        Form(16, 8, "f16", 16, "f32", FIRST),
        Form(16, 16, "bf16", 16, "f32", new),
        Form(16, 8, "bf16", 16, "f32", new),
        Form(16, 8, "tf32", 32, "f32", new),
        Form(16, 4, "tf32", 32, "f32", new),
        Form(8, 4, "f64", 64, "f64", new),
        Form(16, 4, "f64", 64, "f64", hopper),
        Form(16, 8, "f64", 64, "f64", hopper),
        Form(16, 16, "f64", 64, "f64", hopper),
        Form(16, 32, "e4m3", 8, "f32", (8, 9)),
        Form(16, 32, "e5m2", 8, "f32", (8, 9)),
        Form(16, 32, "s8", 8, "s32", new),
        Form(16, 16, "s8", 8, "s32", new),
        Form(8, 16, "s8", 8, "s32", FIRST),
        Form(16, 64, "s4", 4, "s32", new),
        Form(16, 32, "s4", 4, "s32", new),
        Form(8, 32, "s4", 4, "s32", FIRST),
        Form(16, 256, "b1", 1, "s32", new),
        Form(16, 128, "b1", 1, "s32", new),
        Form(8, 128, "b1", 1, "s32", new),
    )


FORMS = {form.name: form for form in _forms()}


def owners(fragment: Fragment, columns: int, grouped: int, along_rows: bool) -> I64:
    """(cells, 3) lane, register and place in it of each cell of a matrix, row by row.

    A cell is `grouped` neighbours, down a column where they lie `along_rows`.
    """
    lane, register, place = (
        np.broadcast_to(x, fragment.row.shape)[..., ::grouped].ravel()
        for x in np.ogrid[: len(fragment.row), : fragment.registers, : fragment.row.shape[2]]
    )
    row, column = fragment.row[..., ::grouped].ravel(), fragment.column[..., ::grouped].ravel()
    row, column = (row // grouped, column) if along_rows else (row, column // grouped)
    made = np.zeros((len(row), 3), np.int64)
    made[row * columns + column] = np.stack([lane, register, place // grouped], axis=1)
    return made
