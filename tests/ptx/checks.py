"""One assertion a line: what an opcode makes of some bits."""

from __future__ import annotations

import struct

import numpy as np

from gpuviz.ptx.arithmetic.kinds import CONTAINERS
from gpuviz.ptx.arithmetic.ops import Operation, operation
from gpuviz.ptx.arithmetic.rounding import double_of
from gpuviz.ptx.text.ir import Opcode

Value = int | float | bool
_FORMATS = {"f16": "e", "f32": "f", "f64": "d"}
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FF8000000000000}


def op(text: str, results: int = 1) -> Operation:
    found = operation(Opcode.parse(text), results)
    assert found is not None, text
    return found


def bits_of(value: Value, kind: str) -> int:
    """Floats as the bits of `kind`, negative integers as two's complement."""
    if isinstance(value, float) and kind in _FORMATS:
        return int.from_bytes(struct.pack("<" + _FORMATS[kind], value), "little")
    if isinstance(value, float):  # bf16 and tf32: the upper part of an f32
        return bits_of(value, "f32") >> (16 if kind == "bf16" else 0)
    return int(value) & ((1 << CONTAINERS[kind].itemsize * 8) - 1)


def array(values: list[Value], kind: str) -> np.ndarray:
    return np.array([bits_of(value, kind) for value in values]).astype(CONTAINERS[kind])


def run(text: str, *operands: Value, results: int = 1) -> tuple[int, ...]:
    """The results of one opcode on one lane, as bits."""
    found = op(text, results)
    arrays = [array([x], kind) for x, kind in zip(operands, found.sources, strict=True)]
    out = found.function(*arrays)
    out = out if isinstance(out, tuple) else (out,)
    for result, kind in zip(out, found.results, strict=True):
        assert result.dtype == CONTAINERS[kind], (text, result.dtype, kind)
    return tuple(int(result[0]) for result in out)


def check(text: str, *operands: Value | tuple[Value, ...], results: int = 1) -> None:
    """The last operand is the expected result, or a tuple of them."""
    *inputs, expected = operands
    wanted = expected if isinstance(expected, tuple) else (expected,)
    kinds = op(text, results).results
    found = run(text, *inputs, results=results)
    assert found == tuple(bits_of(w, k) for w, k in zip(wanted, kinds, strict=True)), (
        f"{text} {inputs}: {[hex(x) for x in found]}"
    )


def numbers(bits: np.ndarray, kind: str) -> np.ndarray:
    """The values as float64; signalling NaN converts without a warning."""
    with np.errstate(invalid="ignore"):
        return double_of(bits, kind)


def interesting(kind: str, count: int, seed: int) -> np.ndarray:
    """Random containers of `kind`, with many special values and near ties among them."""
    rng = np.random.default_rng(seed)
    dtype = CONTAINERS[kind]
    if kind == "pred":
        return rng.random(count) < 0.5
    bits = rng.integers(0, 1 << (dtype.itemsize * 8), count, np.uint64)
    sparse = bits & rng.integers(0, 1 << (dtype.itemsize * 8), count, np.uint64) & (bits >> 1)
    small = rng.integers(0, 70, count, np.uint64)
    chosen = np.choose(rng.integers(0, 4, count), [bits, bits, sparse, small])
    special = rng.random(count) < 0.15
    chosen[special] = rng.choice(np.array(_corners(kind), np.uint64), special.sum())
    return chosen.astype(dtype)


def _corners(kind: str) -> list[int]:
    size = CONTAINERS[kind].itemsize * 8
    top = 1 << (size - 1)
    corners = [0, 1, 2, top - 1, top, top + 1, 2 * top - 1]
    exponents = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52}
    if kind in exponents:
        infinity = exponents[kind]
        one, normal = bits_of(1.0, kind), infinity & -infinity
        corners += [infinity, infinity - 1, infinity + 1, one, one + 1, normal, normal - 1]
        corners += [top | corner for corner in corners[-7:]]
    return corners
