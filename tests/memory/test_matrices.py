"""ldmatrix, stmatrix and copies past L1, counted as an H200 counts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.arch import architecture
from gpuviz.memory.counts import Count
from gpuviz.memory.other_spaces import past_l1
from gpuviz.memory.request_counts import measure
from gpuviz.traces.trace import MATRICES, MemoryInstruction

FILE = Path(__file__).parents[1] / "data" / "matrix_counts_h200.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text())
HOPPER = architecture("sm_90")


def test_wavefronts_of_matrices_are_phases_of_eight_rows() -> None:
    for op, matrices, offsets, wanted in RECORDED["matrices"]:
        load = op == "ldmatrix"
        kind, form = ("load", MATRICES) if load else ("store", "")
        did = MemoryInstruction(0, 1, 1, op, kind, "shared", 16, form=form)  # type: ignore[arg-type]
        on = np.arange(32)[None] < 8 * matrices
        found = measure(HOPPER, did, np.array([offsets], np.uint64), on)
        key = Count.SHARED_LOAD_WAVEFRONTS if load else Count.SHARED_STORE_WAVEFRONTS
        assert found[key].tolist() == [wanted], (op, matrices, offsets)


def test_copies_past_l1_pair_what_they_read_and_write() -> None:
    source, target, sectors, lines = (list(x) for x in zip(*RECORDED["copies"], strict=True))
    on = np.array(source) >= 0
    found = past_l1(np.array(target, np.uint64), np.array(source).astype(np.uint64), on)
    assert [x.tolist() for x in found] == [sectors, lines]
