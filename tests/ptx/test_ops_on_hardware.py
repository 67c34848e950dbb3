"""Every opcode against what an NVIDIA H200 made of the same bits.

tests/data/hardware_opcodes.npz: `opcodes` (n,), `results` (n, 2, 40) uint64, and the operands
`KIND_PLACE` (40,). Recorded through the driver's PTX compiler for sm_90, one kernel an opcode.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuviz.ptx.arithmetic.kinds import CONTAINERS
from tests.ptx.checks import numbers, op

RECORDED = dict(np.load(Path(__file__).parents[1] / "data" / "hardware_opcodes.npz"))
# The hardware approximates by tables of its own: how far apart results may be, relatively.
APPROXIMATE = {"f16": 2**-9, "bf16": 2**-7, "f32": 2**-20, "f64": 2**-18}
NAMES = tuple(str(name) for name in RECORDED["opcodes"])


def _operation(name: str):
    text, *extra = name.split(" ")
    found = op(text, 2 if extra == ["p|q"] else 1)
    operands = [RECORDED[f"{kind}_{place}"] for place, kind in enumerate(found.sources)]
    if text.startswith("lop3"):
        operands[3] = np.array([int(extra[0], 16)], np.uint32)
    return found, operands


def _unspecified(name: str, operands: list[np.ndarray]) -> np.ndarray:
    """Lanes whose result PTX leaves open, where ours is not that of the hardware."""
    none = np.zeros(40, np.bool_)
    if name.startswith(("div.u", "div.s", "rem.")):
        return operands[1] == 0
    if name.startswith("fns"):
        return operands[2] == 0x80000000
    if name.startswith("cvt.rna.tf32"):
        return np.isnan(operands[0].view(np.float32))
    return none


def _is_approximate(name: str) -> bool:
    return ".approx" in name or ".full" in name


@pytest.mark.parametrize("family", sorted({name.split(".")[0] for name in NAMES}))
def test_same_bits_as_the_hardware(family: str) -> None:
    wrong = []
    for place, name in enumerate(NAMES):
        if name.split(".")[0] != family or _is_approximate(name):
            continue
        found, operands = _operation(name)
        results = found.function(*operands)
        results = results if isinstance(results, tuple) else (results,)
        open_lanes = _unspecified(name, operands)
        for kind, ours, theirs in zip(
            found.results, results, RECORDED["results"][place], strict=False
        ):
            same = (ours == theirs.astype(CONTAINERS[kind])) | open_lanes
            if not same.all():
                wrong.append((name, [hex(x[~same][0]) for x in (*operands, ours, theirs)]))
    assert not wrong


@pytest.mark.parametrize("name", [n for n in NAMES if _is_approximate(n) and "x2" not in n])
def test_near_the_hardware(name: str) -> None:
    found, operands = _operation(name)
    kind = found.results[0]
    place = NAMES.index(name)
    ours = numbers(found.function(*operands), kind)
    theirs = numbers(RECORDED["results"][place, 0].astype(CONTAINERS[kind]), kind)
    limit = 2**-10 if name == "tanh.approx.f32" else APPROXIMATE[kind]
    smallest = limit if name.startswith(("sin", "cos", "lg2")) else 2.0**-126
    usual = np.abs(numbers(operands[0], kind)) < 6 if name[:3] in ("sin", "cos") else True
    with np.errstate(invalid="ignore"):
        near = np.abs(ours - theirs) <= limit * np.abs(theirs) + smallest
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    assert np.all(near | same | ~np.asarray(usual)), (name, ours, theirs)
