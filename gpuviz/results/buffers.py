"""What a launch made of its buffers: before, after, and how far from what was expected."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.arguments.array_expressions import evaluate
from gpuviz.base.arrays import F64, Array, Bool
from gpuviz.base.errors import InputError
from gpuviz.files import npy
from gpuviz.files.bounded import read
from gpuviz.run.run import Run

_LARGEST = 1 << 32  # bytes of a file
# How far from what is expected, as a share of the largest number expected: rounding, and sums.
_TOLERANCE = {2: 1e-2, 4: 1e-4, 8: 1e-9}


@dataclass(frozen=True, eq=False)
class BufferResult:
    """A buffer before and after a launch, as plain rows of numbers; `expected` where it is known.

    `before` is None where it was not kept.
    """

    name: str
    after: Array
    before: Array | None = None
    expected: Array | None = None

    @cached_property
    def changed(self) -> int | None:
        """How many elements are other bits than before."""
        if self.before is None:
            return None
        bits = np.dtype(f"u{self.after.itemsize}")
        return int(np.count_nonzero(self.after.view(bits) != self.before.view(bits)))

    @cached_property
    def apart(self) -> F64 | None:
        """How far each element is from what is expected; infinite where just one is no number."""
        if self.expected is None:
            return None
        with np.errstate(all="ignore"):
            after, expected = self.after.astype(np.float64), self.expected.astype(np.float64)
            apart = np.abs(after - expected)
        same: Bool = (after == expected) | (np.isnan(after) & np.isnan(expected))
        return np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))

    @cached_property
    def worst(self) -> int | None:
        """The element that is farthest from what is expected; None where all are equal to it."""
        if self.apart is None or not len(self.apart):
            return None
        at = int(self.apart.argmax())
        return at if self.apart[at] else None

    @cached_property
    def bound(self) -> float:
        """How far an element may be: 0 for whole numbers."""
        if self.expected is None or self.after.dtype.kind != "f":
            return 0.0
        size = np.abs(self.expected.astype(np.float64))
        size = size[np.isfinite(size)]
        return _TOLERANCE[self.after.itemsize] * float(size.max() if len(size) else 0.0)

    @cached_property
    def wrong(self) -> int:
        """How many elements are farther off than rounding explains."""
        return 0 if self.apart is None else int(np.count_nonzero(self.apart > self.bound))


def results_of(run: Run, expected: Mapping[str, str] | None = None) -> tuple[BufferResult, ...]:
    """The buffers of a run; `expected` are expressions and files, by name (see `expectation`).

    Raises
    ------
    InputError : there is no such buffer, or what is expected of it cannot be read or is not as long
    """
    wanted = expected or {}
    for name in wanted:
        if name not in run.outputs:
            known = ", ".join(run.outputs) or "none"
            raise InputError(
                f"there is no buffer {name!r} to expect something of; there are: {known}"
            )
    return tuple(
        BufferResult(
            name,
            after.reshape(-1),
            run.inputs[name].reshape(-1) if name in run.inputs else None,
            expectation(run, name, wanted[name]) if name in wanted else None,
        )
        for name, after in run.outputs.items()
    )


def expectation(run: Run, name: str, text: str) -> Array:
    """What is expected of a buffer: a .npy or .bin file, or an expression over the arguments, in
    which a buffer's name stands for what it was before the launch.

    Raises
    ------
    InputError : it cannot be read or evaluated, or has another number of elements
    """
    after = run.outputs[name]
    if text.endswith((".npy", ".bin")):
        found = _of_file(Path(text), after.dtype)
    else:
        found = evaluate(text, {**dict(run.trace.launch.scalars), **run.inputs})
    if found.size == 1:
        found = np.broadcast_to(found.reshape(()), after.size)
    if found.size != after.size:
        raise InputError(
            f"{text!r} has {found.size:,} elements, the buffer {name!r} has {after.size:,}"
        )
    return found.reshape(-1)


def _of_file(path: Path, dtype: np.dtype[Any]) -> Array:
    if path.suffix == ".npy":
        with npy.opened(path, _LARGEST) as stored:
            return stored.values()
    data = read(path, _LARGEST)
    if len(data) % dtype.itemsize:
        raise InputError(f"{path} has {len(data):,} bytes, no whole number of {dtype} elements")
    return np.frombuffer(data, dtype)


def number(value: Any) -> str:
    """An element as text: a float in as few digits as tell it apart."""
    if np.asarray(value).dtype.kind != "f" or not np.isfinite(value):
        return str(value)
    plain = value == 0 or 1e-4 <= abs(value) < 1e7
    write = np.format_float_positional if plain else np.format_float_scientific
    return write(value, unique=True, trim="-")
