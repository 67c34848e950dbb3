"""What L1 serves in a cycle, where code comes from, how a launch goes on beyond the sample."""

import gzip
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base import resources
from gpuviz.base.arrays import U64
from gpuviz.course.together.block_shape.lesson import plan as block_shape
from gpuviz.ptx.options import Options
from gpuviz.run.predicted import launched
from gpuviz.story.lesson import Plan
from gpuviz.story.perform import job_of
from gpuviz.timing.device import H200, KIB
from gpuviz.timing.explanation import explained
from gpuviz.timing.facts import Circumstances, l1_bytes
from gpuviz.timing.multiprocessor import Outcome, Sum
from gpuviz.timing.prediction import SampledLaunch, _longer, predict
from gpuviz.timing.traffic import _turns
from gpuviz.timing.warp_states import State

_HOPPER = architecture("sm_90")
_LANES = np.arange(32, dtype=np.uint64)


@cache
def _known(plan: Plan) -> SampledLaunch:
    return launched(job_of(plan, "sm_90"), _HOPPER, H200, Options(blocks="classes"))


def _product(n: int) -> Plan:
    buffers = tuple(f"f32[{n * n}]={how}" for how in ("rand", "rand", "zeros"))
    grid = n // 16, n // 16, 1
    return Plan("tiled", "caches.cu", "tiled", grid, (16, 16, 1), (*buffers, f"i32={n}"))


@pytest.mark.parametrize(
    ("address", "width", "cycles"),
    [  # as measured on an H200, where they took 1.01, 1.14, 2.01, 4.01, 31.9, 2.02 and 4.03
        (4 * _LANES, 4, 1),
        (4 * _LANES + np.uint64(64), 4, 1),
        (128 * (_LANES // np.uint64(16)), 4, 2),
        (4096 * (_LANES // np.uint64(8)) + 4 * (_LANES % np.uint64(8)), 4, 4),
        (4096 * _LANES, 4, 32),
        (0 * _LANES, 8, 2),
        (16 * _LANES, 16, 4),
    ],
)
def test_l1_serves_banks_and_lines_at_once(address: U64, width: int, cycles: int) -> None:
    every = np.ones((1, 32), bool)
    assert _turns(_HOPPER, address[None, :], every, width).tolist() == [cycles]


def test_each_block_takes_some_of_l1() -> None:
    around = Circumstances(4096, 32, 0, 0, 0, 0, 1.0)  # counted: 32 KB with 32 blocks, 8 with 2
    assert l1_bytes(H200, around) == 224 * KIB
    assert l1_bytes(H200, replace(around, resident=2)) == 248 * KIB


def test_a_launch_goes_on_at_the_pace_before_places_are_empty() -> None:
    nothing = np.zeros(0)
    sums = np.zeros(len(Sum))
    ended = np.array([10.0, 20, 30, 40, 50, 100])  # the last is alone for long
    outcome = Outcome(100.0, sums, *(nothing,) * 4, ended, nothing)
    assert _longer(outcome, 2, 6) == 1.0
    assert _longer(outcome, 2, 26) == pytest.approx((100 + 20 * 10) / 100)


@pytest.mark.slow
def test_straight_code_is_fetched_ahead() -> None:
    found = predict(_known(_product(128)), H200, cold=False)
    waits = explained(found).waits
    assert len(found.code) > 8 * 16 and waits.get(State.FETCH, 0.0) < 0.1


def _map(of: str, quantity: str) -> dict[tuple[int, int], float]:
    """A map of block shapes that ships: a quantity in microseconds, by shape."""
    packed = (resources.path("recordings") / f"block-shape-{of}.jsonl.gz").read_bytes()
    rows = [json.loads(line) for line in gzip.decompress(packed).decode().splitlines()[1:]]
    found = {(int(r["cell"]["x"]), int(r["cell"]["y"])): r["found"][0].get(quantity) for r in rows}
    return {shape: us for shape, us in found.items() if us is not None}


def test_modelled_block_shapes_are_close_to_recorded_ones() -> None:
    modelled, recorded = _map("sm_90", "modelled"), _map("nvidia-h200", "microseconds")
    apart = np.abs([us / recorded[shape] - 1 for shape, us in modelled.items()])
    assert len(apart) == 1024
    assert np.median(apart) < 0.035 and np.quantile(apart, 0.9) < 0.1


@pytest.mark.slow
def test_shipped_times_of_block_shapes_are_those_of_the_model() -> None:
    shipped = _map("sm_90", "modelled")  # benchmarks/shape_times.py makes them anew
    for x, y in ((16, 2), (31, 3), (8, 8)):
        made = predict(_known(block_shape({"x": x, "y": y, "n": 1024})[0]), H200)
        # Made before the numbers of stores were read anew, which are 0.4 % of these at the most.
        assert made.microseconds == pytest.approx(shipped[x, y], rel=5e-3), (x, y)
