"""Atomics against one lane after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpuviz.ptx.arithmetic.kinds import CONTAINERS, dtype_of
from gpuviz.ptx.simt import atomic
from tests.ptx.checks import interesting, op

INTEGER_OPS = [(o, k) for o in ("add", "min", "max") for k in ("u32", "s32", "u64", "s64")]
BIT_OPS = [(o, k) for o in ("and", "or", "xor", "exch", "cas") for k in ("b32", "b64")]
FLOAT_OPS = [("add", k) for k in ("f32", "f64", "f16", "f16x2", "bf16", "bf16x2")]
CASES = [
    *INTEGER_OPS,
    *BIT_OPS,
    *FLOAT_OPS,
    ("inc", "u32"),
    ("dec", "u32"),
    ("cas", "b16"),
    ("exch", "b16"),
]
INDICES = {
    "distinct": lambda rng: rng.permutation(50),
    "equal": lambda rng: np.full(50, 3),
    "few": lambda rng: rng.integers(0, 4, 50),
    "many": lambda rng: rng.integers(0, 40, 50),
    "one": lambda rng: np.array([7]),
    "none": lambda rng: np.array([], np.int64),
}


def _number(bits: int, kind: str) -> int:
    return int(np.array([bits], CONTAINERS[kind]).view(dtype_of(kind))[0])


def _float_sum(old: int, b: int, kind: str) -> int:
    lane = np.array([old, b], CONTAINERS[kind])
    return int(op(f"add.{'rn.' if kind != 'f64' else ''}{kind}").function(lane[:1], lane[1:])[0])


def _new(name: str, kind: str, old: int, b: int, c: int) -> int:
    x, y = _number(old, kind), _number(b, kind)
    steps: dict[str, Callable[[], int]] = {
        "add": lambda: _float_sum(old, b, kind) if "f" in kind else old + b,
        "min": lambda: b if y < x else old,
        "max": lambda: b if y > x else old,
        "and": lambda: old & b,
        "or": lambda: old | b,
        "xor": lambda: old ^ b,
        "exch": lambda: b,
        "cas": lambda: c if old == b else old,
        "inc": lambda: 0 if old >= b else old + 1,
        "dec": lambda: b if old == 0 or old > b else old - 1,
    }
    return steps[name]() & ((1 << CONTAINERS[kind].itemsize * 8) - 1)


@pytest.mark.parametrize("pattern", INDICES)
@pytest.mark.parametrize("name, kind", CASES)
def test_like_one_lane_after_the_other(name: str, kind: str, pattern: str) -> None:
    index = INDICES[pattern](np.random.default_rng(1)).astype(np.int64)
    cells = interesting(kind, 50, 2)
    b, c = (interesting(kind, len(index), seed) for seed in (3, 4))
    if name in ("cas", "inc", "dec"):
        cells, b = cells & 3, b & 3  # so that comparisons meet
    wanted, found = cells.tolist(), []
    for place, lane in enumerate(index.tolist()):
        found.append(wanted[lane])
        wanted[lane] = _new(name, kind, wanted[lane], int(b[place]), int(c[place]))
    old = atomic.apply(name, kind, cells, index, b, c if name == "cas" else None)
    assert old.dtype == CONTAINERS[kind]
    assert old.tolist() == found
    assert cells.tolist() == wanted


def test_floats_add_in_single_precision_in_lane_order() -> None:
    cells = np.zeros(1, np.float32).view(np.uint32)
    addends = np.array([1.0, *[2.0**-24] * 4], np.float32).view(np.uint32)
    atomic.apply("add", "f32", cells, np.zeros(5, np.int64), addends)
    assert cells.view(np.float32)[0] == 1.0
    cells[:] = 0
    atomic.apply("add", "f32", cells, np.zeros(5, np.int64), addends[::-1].copy())
    assert cells.view(np.float32)[0] == np.float32(1.0 + 2.0**-22)


def test_no_such_atomic() -> None:
    with pytest.raises(KeyError, match=r"atom\.nand\.b32"):
        one = np.zeros(1, np.uint32)
        atomic.apply("nand", "b32", one, np.zeros(1, np.int64), one)
