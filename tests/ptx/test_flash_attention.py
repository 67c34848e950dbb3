"""The attention of docs/examples, from its file's host code to results in double precision."""

import json

import numpy as np
import pytest

import gpuviz
from tests.test_layers import ROOT

FILE = ROOT / "docs/examples/flash_attention.cu"


def exact(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    weights = np.exp(q.astype(float) @ k.astype(float).transpose(0, 2, 1) / 8)
    return weights / weights.sum(-1, keepdims=True) @ v


@pytest.mark.machine_code
def test_attention_is_traced_end_to_end() -> None:
    heads, n = 2, 128
    made = np.random.default_rng(3).standard_normal((3, heads, n, 64)).astype("f2")
    out = np.zeros((heads, n, 64), "f2")
    run = gpuviz.trace(FILE, (n // 64, heads), 128, (*made, out, n, 0.18033688))
    assert run.level == "sass"
    assert run.notes == ("its host code was set aside",), "each ldmatrix is an LDSM"
    assert not run.findings
    result = run.arrays["O"].reshape(out.shape)
    # Weights are rounded to halves, 2^-11 each, and so is the result.
    assert np.abs(result - exact(*made)).max() < 2**-11 * (np.abs(made[2]).max() + 1)
    counts = run.counts
    blocks, tiles = heads * n // 64, n // 64
    # 4 warps: 4 fragments of queries once; of keys and values 16 each a tile. 4 wavefronts each:
    # no bank twice. Machine code issues more loads, with every lane off: they move nothing.
    assert counts["shared_load_wavefronts"] == blocks * 4 * (4 + tiles * 32) * 4
    assert counts["shared_load_wavefronts"] == counts["shared_load_wavefronts_ideal"]
    # A tile is 64 x 128 bytes: 256 sectors; queries once, keys and values once a tile.
    assert counts["global_copy_sectors"] == blocks * (1 + 2 * tiles) * 256


@pytest.mark.slow
def test_its_counts_are_those_that_an_h200_read() -> None:
    read = json.loads((ROOT / "tests/data/attention_h200.json").read_text())
    for launch in read["launches"]:
        n, heads = launch["n"], launch["heads"]
        whole = f"f16[{heads * n * 64}]"
        arguments = (f"{whole}=rand", f"{whole}=rand", f"{whole}=rand", f"{whole}=zeros")
        counts = gpuviz.count(FILE, (n // 64, heads), 128, (*arguments, n, 0.18033688))
        assert {k: counts[k] for k, v in launch["counters"].items() if v} == {
            k: v for k, v in launch["counters"].items() if v
        }
