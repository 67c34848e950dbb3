"""The ladder: every rung multiplies rightly, and counts as its idea says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import UnavailableError
from gpuviz.compile import nvrtc
from gpuviz.compile.archs import with_features
from gpuviz.course.matrix_products.ladder.lesson import LESSON
from gpuviz.course.matrix_products.ladder.panels import SIZES, cells_of, gained, idle, on_one_axis
from gpuviz.course.matrix_products.ladder.rungs import FP32, RUNGS
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.memory.counts import Count
from gpuviz.panels.layout import panels
from gpuviz.panels.time_bars import TimeBars
from gpuviz.recordings.ladder_times import LadderTime, LadderTimes, read, shipped, source_of, write
from gpuviz.run.run import Run
from gpuviz.traces.trace import LANES
from tests.course.performed import performed

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
SIDE = 256
_EACH = 64  # products of each lane that costs are told for
# Products that a multiprocessor of an H100 or H200 makes a cycle: of floats, and on 4 tensor cores
# (NVIDIA H100 Tensor Core GPU Architecture, 2022).
_UNITS = {"fp32": 128, "tf32": 4 * 256, "fp16": 4 * 512}
QUICK = (2, 7)
EVERY = [
    pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in range(1, len(RUNGS) + 1)
]


@dataclass(frozen=True)
class Cost:
    """What a launch costs for 64 products of each lane of a warp.

    `cycles` are those that multiplying and that reading keep a multiprocessor busy for.
    """

    instructions: float
    wavefronts: float
    sectors: float
    multiply: float
    read: float


_READS = (Count.SHARED_LOAD_WAVEFRONTS, Count.SHARED_STORE_WAVEFRONTS, Count.SHARED_COPY_WAVEFRONTS)


def cost_of(run: Run, side: int, numbers: str = "fp32") -> Cost:
    """Of a launch that multiplies matrices of so many rows and columns."""
    totals = run.counts.totals
    share = _EACH * LANES / side**3
    waves = sum(totals[name] for name in _READS)
    lines = totals[Count.GLOBAL_LOAD_LINES] + totals[Count.GLOBAL_COPY_LINES]
    sectors = totals[Count.GLOBAL_LOAD_SECTORS] + totals[Count.GLOBAL_COPY_SECTORS]
    return Cost(
        run.trace.warp_instructions * share,
        waves * share,
        sectors * share,
        _EACH * LANES / _UNITS[numbers],
        max(waves, lines) * share,  # stages of L1 that work side by side
    )


def run_of(rung: int) -> Run:
    return performed(LESSON, {"rung": rung}).runs[RUNGS[rung - 1].name]


@pytest.mark.parametrize("rung", EVERY)
def test_a_rung_tells_what_64_products_of_a_lane_take(rung: int) -> None:
    """As counted here, from the launch that is drawn; nothing of what TMA and wgmma ask for."""
    one, cost = RUNGS[rung - 1], cost_of(run_of(rung), SIDE, RUNGS[rung - 1].numbers)
    story = performed(LESSON, {"rung": rung}).story
    (line,) = (
        text
        for mark in story.frame(story.duration, Stage(1920, 1080, DARK)).marks
        if isinstance(mark, Texts)
        for text in mark.strings
        if text.startswith(f"{one.name}: ") and "busiest" in text
    )
    told = [
        None if text == "–" else float(text.replace("\N{NARROW NO-BREAK SPACE}", ""))
        for text in re.findall(r"([\d.\u202f]+|–) (?:sectors|shared|PTX)", line)
    ]
    wanted = (
        None if one.boxes else cost.sectors,
        None if one.unread else cost.wavefronts,
        cost.instructions,
    )
    assert [n is None for n in told] == [n is None for n in wanted]
    assert [n for n in told if n is not None] == pytest.approx(
        [n for n in wanted if n is not None], rel=0.01, abs=0.051
    )
    assert line.endswith("reading" if cost.read > cost.multiply else "multiplying")


@pytest.mark.parametrize("rung", EVERY)
def test_every_rung_multiplies_within_the_bound_of_its_sums(rung: int) -> None:
    run = run_of(rung)
    m, n = (run.inputs[name].reshape(SIDE, SIDE).astype(np.float64) for name in "MN")
    p = run.outputs["P"].reshape(SIDE, SIDE)
    assert run.trace.warp_instructions and np.isfinite(p).all()
    each = 2.0**-10 if RUNGS[rung - 1].numbers == "tf32" else SIDE * 2.0**-24
    bound = each * (np.abs(m) @ np.abs(n))
    assert (np.abs(p - m @ n) <= bound).all()
    assert np.count_nonzero(p) == SIDE**2


@pytest.mark.parametrize("rung", EVERY)
def test_a_warp_has_its_cells_once(rung: int) -> None:
    cells = cells_of(run_of(rung).trace, SIDE)
    mine = np.bincount(cells.lane[cells.lane >= 0], minlength=32)
    assert len(set(mine)) == 1
    rows, columns = cells.of_lane
    assert rows * columns == mine[0]


@pytest.mark.slow
def test_each_idea_does_what_is_said_of_it() -> None:
    each = enumerate(RUNGS, 1)
    cost = [cost_of(run_of(n), SIDE, rung.numbers) for n, rung in each]
    assert cost[0].sectors > 6 * cost[1].sectors
    assert cost[1].sectors > 15 * cost[2].sectors
    waves = [one.wavefronts for one in cost]
    assert waves[2] > 1.7 * waves[3] > 5 * waves[4]
    assert waves[5] > 1.2 * waves[4], "float4 brings conflicts"
    assert waves[6] <= waves[4] and waves[8] < 0.85 * waves[7]
    assert cost[5].instructions < 0.85 * cost[4].instructions
    assert waves[9] < 0.9 * waves[8] and cost[9].instructions < cost[8].instructions
    assert cost[10].instructions < cost[9].instructions / 8
    assert cost[11].instructions < cost[9].instructions / 10
    assert waves[11] == waves[12] > 4 * waves[13]
    assert waves[15] < 1.15 * waves[14] and cost[15].instructions < 1.1 * cost[14].instructions
    limits = ["read" if one.read > one.multiply else "multiply" for one in cost]
    assert limits[:4] == ["read"] * 4 and limits[5] == "read" and limits[9] == "multiply"


def test_blocks_are_smaller_where_1024_threads_are_too_many() -> None:
    run = performed(LESSON, {"rung": 2}, "sm_12").runs[RUNGS[1].name]
    assert run.trace.launch.block == (16, 16, 1)
    assert cells_of(run.trace, SIDE).tile == (16, 16)


@pytest.mark.slow
def test_rungs_for_tensor_cores_say_what_an_architecture_lacks() -> None:
    with pytest.raises(UnavailableError, match=r"Turing \(7.5\) has none"):
        performed(LESSON, {"rung": 13}, "sm_75")


@pytest.mark.slow
def test_wgmma_is_compiled_for_where_it_is_and_refused_elsewhere() -> None:
    assert with_features("sm_90", "__CUDA_ARCH_FEAT_SM90_ALL") == "sm_90a"
    assert with_features("sm_90", "") == "sm_90"
    assert with_features("sm_100", "__CUDA_ARCH_FEAT_SM90_ALL") == "sm_100"
    with pytest.raises(UnavailableError, match="needs wgmma, which only 9.0 has"):
        performed(LESSON, {"rung": 17}, "sm_100")


def test_times_beside_cublas_are_those_of_the_kernels_as_they_are(tmp_path: Path) -> None:
    rung, file = RUNGS[6], tmp_path / "ladder.json"
    time = LadderTime(rung.kernel, rung.entry, 2048, 400.0, 350.0, 100)
    here = {rung.kernel: source_of(rung.kernel)}
    write(file, LadderTimes("GPU", "2026-11-23", here, (time,), 635.0))
    shown = on_one_axis(read(file), RUNGS, rung, 2048, {})
    assert shown.now == 6 and shown.log and shown.bars[6].us == 400.0
    assert [(bar.names, bar.us) for bar in shown.bars if bar.ink] == [(("cuBLAS, fp32",), 350.0)]
    assert shown.picks[6] == {"rung": 7} and "2048 × 2048: GPU" in shown.where[0]
    old = LadderTimes("GPU", "2026-11-23", {rung.kernel: "another"}, (time,))
    for unknown in (old, None):
        assert not any(bar.us for bar in on_one_axis(unknown, RUNGS, rung, 2048, {}).bars)


def test_every_rung_stands_on_one_axis_from_the_first_moment() -> None:
    story = performed(LESSON, {"rung": 2}).story
    assert story.at is not None
    first, last = (story.at(t).body for t in (0.0, story.duration))
    assert isinstance(first, TimeBars) and first.log and first.over == 1
    assert [bar.names[0] for bar in first.bars if not bar.ink] == [rung.name for rung in RUNGS]
    pair = next(panel for panel in panels(last) if isinstance(panel, TimeBars))
    assert [bar.names[0] for bar in pair.bars] == ["down a column", "coalesced", "cuBLAS, fp32"]
    assert not pair.log and pair.now == 1


def times_of(*microseconds: float) -> LadderTimes:
    """Times of the first rungs at 1024."""
    each = zip(RUNGS, microseconds, strict=False)
    every = tuple(LadderTime(r.kernel, r.entry, 1024, us, 80.0, 9) for r, us in each)
    return LadderTimes("GPU", "2026-11-23", {FP32: source_of(FP32)}, every)


def test_what_a_rung_gains_is_told_from_the_times() -> None:
    times = times_of(400.0, 100.0, 99.5, 199.0, 398.0)
    told = [gained(times, RUNGS[n - 1 : n], RUNGS[n], 1024) for n in range(1, 5)]
    assert told[0] == f"4 times as fast as the rung below at 1024 × 1024. {RUNGS[1].why}"
    assert told[1].startswith("As fast as the rung below at 1024 × 1024. ")
    assert told[2].startswith("Slower than the rung below at 1024 × 1024: 50 % of its speed. ")
    assert told[3].endswith("It has 64 blocks; of 132 multiprocessors 68 do nothing.")
    assert gained(times, RUNGS[:1], RUNGS[1], 4096) == RUNGS[1].why == gained(None, [], RUNGS[1], 1)


def test_who_is_slower_than_the_rung_below_says_why() -> None:
    times = shipped()
    assert times is not None and "H200" in times.device
    assert all(times.of(r.kernel, r.entry, n) for r in RUNGS for n in SIZES), "timed as they are"
    for below, rung in pairwise(RUNGS):
        for size in SIZES:
            mine, theirs = (times.of(r.kernel, r.entry, size) for r in (rung, below))
            if mine and theirs and mine.microseconds > 1.01 * theirs.microseconds:
                assert idle(rung, size) or rung.cost, (rung.entry, size)
