"""wgmma against what an NVIDIA H200 made of the same bits: sums of several types, base offsets,
a sparse A.

tests/data/h200_wgmma.npz, h200_wgmma_sparse.npz: `cases` tells each kernel's PTX and launch;
`N_in0` is the image of shared memory of each block, then A as registers, C, the two descriptors,
metadata; `N_out` what the kernel left in its fourth array. Of the sparse ones what is not read of
memory is zeroed: in all, 43 launches of 1,267 blocks left the same bits.
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

DATA = Path(__file__).parents[1] / "data"
FILES = [np.load(DATA / name) for name in ("h200_wgmma.npz", "h200_wgmma_sparse.npz")]
CASES: list[tuple[Any, int, dict[str, Any]]] = [
    (file, number, case)
    for file in FILES
    for number, case in enumerate(json.loads(str(file["cases"]))["cases"])
]


@pytest.mark.parametrize(("file", "number", "case"), CASES, ids=[c["name"] for *_, c in CASES])
def test_bits_are_those_of_the_hardware(file: Any, number: int, case: dict[str, Any]) -> None:
    wanted = file[f"{number}_out"]
    image, held, start, said, *told = (
        file[name] for n in (0, 1, 2, 4, 5) if (name := f"{number}_in{n}") in file
    )
    found = emulate(
        parse(case["ptx"]),
        "k",
        (case["grid"], 1, 1),
        (case["block"], 1, 1),
        [image, held, start, np.zeros_like(wanted), said, *told],
        dynamic_shared=case["shared"],
        options=Options(engine="numpy"),
    )
    assert (found.outputs["arg3"] == wanted).all()
