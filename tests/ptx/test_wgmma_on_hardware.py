"""wgmma against what an NVIDIA H200 made of the same bits: sums of several types, base offsets.

tests/data/h200_wgmma.npz: `cases` tells each kernel's PTX and launch; `N_in0` is the image of
shared memory of each block, then A as registers, C, and the two descriptors; `N_out` what the
kernel left in its fourth array.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.options import Options
from gpuviz.ptx.text.parser import parse

RECORDED = np.load(Path(__file__).parents[1] / "data" / "h200_wgmma.npz")
CASES: list[dict[str, Any]] = json.loads(str(RECORDED["cases"]))["cases"]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case["name"] for case in CASES])
def test_bits_are_those_of_the_hardware(number: int) -> None:
    case, wanted = CASES[number], RECORDED[f"{number}_out"]
    image, held, start, said = (RECORDED[f"{number}_in{n}"] for n in (0, 1, 2, 4))
    found = emulate(
        parse(case["ptx"]),
        "k",
        (case["grid"], 1, 1),
        (case["block"], 1, 1),
        [image, held, start, np.zeros_like(wanted), said],
        dynamic_shared=case["shared"],
        options=Options(engine="numpy"),
    )
    assert (found.outputs["arg3"] == wanted).all()
