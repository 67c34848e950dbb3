"""What is known of a kernel over all block shapes, and the files it is kept in.

Shapes are BX x BY with 1 to 32 threads each way; arrays are (32, 32), rows BY, columns BX. The
files that gpuviz ships lie in resources/recordings; `gpuviz.runners.sweep` makes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gpuviz import bounded, checksums, files, records, resources
from gpuviz.arrays import F64, I64
from gpuviz.compile.compiler import read_text
from gpuviz.compile.source_hash import source_hash
from gpuviz.errors import Error, FormatError

KERNEL, ENTRY = "block_shape.cu", "sgemm"
MOST, SIZE = 32, 1024  # threads each way; rows and columns of the matrices
INNER = 8  # columns of M that are emulated: its rows are a sector apart, and every k is alike
TIMES, MODEL = "recordings/block_shape.json", "recordings/block_shape_model.json"
_FORMAT, _VERSION = "gpuviz-block-shapes", 1


@dataclass(frozen=True, eq=False)
class Times:
    """How long the product of two SIZE x SIZE matrices took: the median of `launches`, in
    milliseconds. `clocks` are the lowest and highest of the multiprocessors, in MHz.
    """

    milliseconds: F64
    device: str
    capability: str
    driver: str
    cuda: str
    clocks: tuple[float, float]
    date: str
    launches: int
    largest_difference: float


@dataclass(frozen=True, eq=False)
class Predictions:
    """What emulation says of the loads of all k: requests of warps, and the sectors they take.

    The numbers are those of SIZE rows and columns and INNER columns of M.
    """

    requests: I64
    sectors: I64
    arch: str

    @property
    def per_request(self) -> F64:
        """Sectors a request."""
        return np.asarray(self.sectors / self.requests)

    @property
    def for_products(self) -> F64:
        """Sectors for 32 products, what a full warp computes with two loads."""
        return np.asarray(self.sectors * (32 / (SIZE**2 * INNER)))


_KINDS: Mapping[Literal["Times", "Predictions"], type[Times | Predictions]] = {
    "Times": Times,
    "Predictions": Predictions,
}


@dataclass(frozen=True)
class _Head:
    """What says what a file is."""

    format: str
    version: int
    kind: Literal["Times", "Predictions"]
    source_hash: str


def write(path: Path, found: Times | Predictions, *, parents: bool = False) -> None:
    """Keep a sweep as JSON, one row of shapes a line; `parents` makes its folder.

    Raises
    ------
    InputError : the file cannot be written
    """
    head = {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": type(found).__name__,
        "kernel": KERNEL,
        "source_hash": _source(),
        "size": SIZE,
    }
    plain = {**head, **vars(found)}
    lines = [f" {json.dumps(key)}: {_text(value)}" for key, value in plain.items()]
    files.write(path, "{\n" + ",\n".join(lines) + "\n}\n", parents=parents)
    checksums.seal_again(path)


def _text(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return json.dumps(value)
    rows = np.round(value, 5).tolist()
    return "[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "]"


def _source() -> str:
    return source_hash(read_text(resources.path(f"kernels/{KERNEL}")))


def read(path: Path) -> Times | Predictions:
    """A sweep from its file.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, no sweep, or of another kernel than the one that is there now
    """
    text = bounded.read(path)
    name = f"{path} is damaged, or no sweep over block shapes"
    plain = records.parsed(text, name)
    head = records.record(plain, _Head, name)
    if (head.format, head.version) != (_FORMAT, _VERSION):
        raise FormatError(f"{path} is no sweep over block shapes that this gpuviz reads")
    if head.source_hash != _source():
        raise FormatError(
            f"{path} is of an older {KERNEL}: make it again with "
            "python -m gpuviz.runners.sweep block-shape"
        )
    return _checked(records.record(plain, _KINDS[head.kind], name), name)


def _checked(found: Times | Predictions, name: str) -> Times | Predictions:
    for key, value in vars(found).items():
        if isinstance(value, np.ndarray) and (value.shape != (MOST, MOST) or not (value > 0).all()):
            raise FormatError(f"{name}: {key}: expected {MOST} x {MOST} numbers above 0")
    return found


@cache
def shipped() -> tuple[Predictions | None, Times | None]:
    """The sweeps that came with gpuviz; None for one that is missing or of an older kernel."""
    found: dict[type[Any], Any] = {}
    for name in (MODEL, TIMES):
        try:
            checksums.check(resources.path(name))
            sweep = read(resources.path(name))
        except Error:
            continue
        found[type(sweep)] = sweep
    return found.get(Predictions), found.get(Times)
