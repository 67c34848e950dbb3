"""Tensor instructions and conversions against what an NVIDIA H200 made of the same bits.

tests/data/h200_tensor.npz: `cases` tells each kernel's PTX, grid, block, and how many arrays it is
given; `N_inM` are these, `N_outM` what the kernel left in its last ones. Operands are of one size,
random, subnormal, infinite and no number, cancelling, far apart, mostly zero, and large.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.base.arrays import Array
from gpuviz.ptx.emulator import Result, emulate
from gpuviz.ptx.options import Options
from gpuviz.ptx.text.parser import parse

RECORDED = np.load(Path(__file__).parents[1] / "data" / "h200_tensor.npz")
CASES: list[dict[str, Any]] = json.loads(str(RECORDED["cases"]))["cases"]
NAMES = [f"{number} {case['name']}" for number, case in enumerate(CASES)]
LEFT = ("mma.sp", "cvt.rn.tf32", "cvt.rz", "cvt.rn.relu.tf32")  # to the NumPy engine
QUICK = ("f16.f16.f16.f16", "f32.tf32.tf32.f32", "f32.e4m3.e5m2.f32", "f64.f64", "m8n32k16.f32.f32")


def arrays(number: int, kind: str) -> list[Array]:
    count = CASES[number]["inputs" if kind == "in" else "outputs"]
    return [RECORDED[f"{number}_{kind}{n}"] for n in range(count)]


def launched(number: int, engine: str) -> tuple[Result, list[Array], list[Array]]:
    """The launch, what it left, and what the GPU left."""
    case, wanted = CASES[number], arrays(number, "out")
    given = [*arrays(number, "in"), *(np.zeros_like(x) for x in wanted)]
    grid, block = (case["grid"], 1, 1), (case["block"], 1, 1)
    options = Options(engine=engine)  # type: ignore[arg-type]
    found = emulate(parse(case["ptx"]), "k", grid, block, given, options=options)
    return found, list(found.outputs.values())[-len(wanted) :], wanted


def check(number: int, engine: str) -> Result:
    found, made, wanted = launched(number, engine)
    for one, other in zip(made, wanted, strict=True):
        assert (one.view(other.dtype) == other).all(), CASES[number]["name"]
    return found


@pytest.mark.parametrize(
    "number", [n for n, name in enumerate(NAMES) if any(x in name for x in QUICK)]
)
def test_bits_are_those_of_the_hardware(number: int) -> None:
    check(number, "numpy")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CASES)), ids=NAMES)
@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_all_bits_are_those_of_the_hardware(number: int, engine: str) -> None:
    found = check(number, engine)
    if not CASES[number]["name"].startswith(LEFT):
        assert found.engine == engine, found.engine_note


def test_the_compiled_engine_multiplies_as_the_hardware_does() -> None:
    number = next(n for n, x in enumerate(NAMES) if "m16n8k8.row.col.f32.tf32" in x)
    assert check(number, "compiled").engine == "compiled"


def test_the_compiled_engine_mixes_types_of_c_and_d() -> None:
    number = next(n for n, x in enumerate(NAMES) if "m16n16k16.f16.f32 c" in x)
    assert check(number, "compiled").engine == "compiled"
