"""Bulk copies, and what wgmma reads of shared memory, counted as an H200 counts them.

tests/data/bulk_copies_h200.json: the PTX of each form, and of each launch what it was given and
what the counters of `gpuviz.memory.metrics` read; what there was none of is left out. `at` and
`offset` are where the tensor, or the bytes, begin in a buffer that is aligned. Of wgmma the
wavefronts of each form.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.arguments import ByValue, TensorMap
from gpuviz.arguments.filling import Pointer
from gpuviz.memory.bulk import BulkCopies
from gpuviz.memory.counts import Count
from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.options import Options
from gpuviz.ptx.text.ir import Module
from gpuviz.ptx.text.parser import parse

DATA = Path(__file__).parents[1] / "data"
RECORDED: dict[str, Any] = json.loads((DATA / "bulk_copies_h200.json").read_text())
FORMS: dict[str, Module] = {}


def counted(told: dict[str, Any]) -> dict[str, int]:
    """What is predicted of a launch; what there is none of is left out."""
    form = told["form"]
    module = FORMS.setdefault(form, parse(RECORDED["forms"][form]))
    memory, found = np.zeros(1 << 18, np.uint8), BulkCopies()
    if "dtype" in told:
        shape = (tuple(told[k]) for k in ("sizes", "strides", "box", "step"))
        tensor = TensorMap(told["dtype"], 0, *shape, told["swizzle"])
        size, rest = tensor.moved_bytes, [np.int32(x) for x in told["corner"]]
        first = ByValue(tensor.encoded(), (Pointer(8, memory, told["at"], ""),), ())
    else:
        size, rest = told["size"], []
        first = ByValue(bytes(8), (Pointer(0, memory, told["offset"], ""),), ())
    given = [first, np.uint32(told["shared"]), np.uint32(size), *rest]
    options = Options(engine="numpy", checks=())
    shape = (told["grid"], 1, 1), (1, 1, 1)
    emulate(module, "k", *shape, given, dynamic_shared=102400, sinks=(found,), options=options)
    return {count.value: n for count, n in found.counts.items() if n and count.on_gpu}


@pytest.mark.parametrize("form", RECORDED["forms"])
def test_copies_ask_of_l2_what_the_hardware_asked(form: str) -> None:
    of_form = [row for row in RECORDED["copies"] if row[0]["form"] == form]
    for told, wanted in of_form[:6]:
        assert counted(told) == wanted, told


@pytest.mark.slow
def test_all_copies_ask_of_l2_what_the_hardware_asked() -> None:
    for told, wanted in RECORDED["copies"]:
        assert counted(told) == wanted, told


def test_a_product_of_a_warpgroup_reads_128_bytes_in_a_wavefront() -> None:
    met = 0
    for name in ("h200_wgmma.npz", "h200_wgmma_sparse.npz"):
        file = np.load(DATA / name)
        for number, case in enumerate(json.loads(str(file["cases"]))["cases"]):
            wanted = RECORDED["wgmma"].get(" ".join(case["name"].split(" ")[:2]))
            if wanted is None:
                continue
            met, found = met + 1, BulkCopies()
            given = [file[key] for n in (0, 1, 2, 4, 5) if (key := f"{number}_in{n}") in file]
            given.insert(3, np.zeros_like(file[f"{number}_out"]))
            shape = (case["grid"], 1, 1), (case["block"], 1, 1)
            options = Options(engine="numpy", checks=())
            emulate(
                parse(case["ptx"]),
                "k",
                *shape,
                given,
                dynamic_shared=case["shared"],
                sinks=(found,),
                options=options,
            )
            assert found.counts[Count.SHARED_MATRIX_WAVEFRONTS] == wanted * case["grid"]
    assert met >= 2
