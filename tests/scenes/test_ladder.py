"""The ladder: every rung multiplies rightly, and counts as its idea says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.compile import nvrtc
from gpuviz.compile.archs import with_features
from gpuviz.errors import UnavailableError
from gpuviz.panels.difference import difference
from gpuviz.panels.table import Table
from gpuviz.runners.base import Run
from gpuviz.runners.ladder_times import LadderTime, LadderTimes, read, source_of, write
from gpuviz.scenes.ladder import LESSON, cost_of, least_time
from gpuviz.scenes.ladder_beside import beside_cublas
from gpuviz.scenes.ladder_cells import cells_of
from gpuviz.scenes.ladder_rungs import RUNGS, text_of
from tests.scenes.performed import performed

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
SIDE = 256
QUICK = (2, 7)
EVERY = [
    pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in range(1, len(RUNGS) + 1)
]


def run_of(rung: int) -> Run:
    return performed(LESSON, {"rung": rung}).runs[RUNGS[rung - 1].name]


@pytest.mark.parametrize("rung", EVERY)
def test_every_rung_multiplies_within_the_bound_of_its_sums(rung: int) -> None:
    run = run_of(rung)
    m, n = (run.inputs[name].reshape(SIDE, SIDE).astype(np.float64) for name in "MN")
    p = run.outputs["P"].reshape(SIDE, SIDE)
    assert run.trace.warp_instructions and np.isfinite(p).all()
    bound = SIDE * 2.0**-24 * (np.abs(m) @ np.abs(n))
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
    cost = [cost_of(run_of(n), SIDE, rung.on_tensor_cores) for n, rung in each]
    assert cost[0].sectors > 6 * cost[1].sectors
    assert cost[1].sectors > 15 * cost[2].sectors
    waves = [one.wavefronts for one in cost]
    assert waves[2] > 1.7 * waves[3] > 5 * waves[4]
    assert waves[5] > 1.2 * waves[4], "float4 brings conflicts"
    assert waves[6] <= waves[4] and waves[8] < 0.85 * waves[7]
    assert cost[5].instructions < 0.85 * cost[4].instructions
    assert cost[10].instructions < cost[9].instructions / 10
    assert waves[10] == waves[11] > 4 * waves[12]
    limits = ["read" if one.read > one.multiply else "multiply" for one in cost]
    assert limits[:4] == ["read"] * 4 and limits[5] == "read" and limits[9] == "multiply"


def test_blocks_are_smaller_where_1024_threads_are_too_many() -> None:
    run = performed(LESSON, {"rung": 2}, "sm_12").runs[RUNGS[1].name]
    assert run.trace.launch.block == (16, 16, 1)
    assert cells_of(run.trace, SIDE).tile == (16, 16)


@pytest.mark.slow
def test_rungs_for_tensor_cores_say_what_an_architecture_lacks() -> None:
    with pytest.raises(UnavailableError, match=r"Turing \(7.5\) has none"):
        performed(LESSON, {"rung": 11}, "sm_75")


@pytest.mark.slow
def test_wgmma_is_compiled_for_where_it_is_and_refused_elsewhere() -> None:
    assert with_features("sm_90", "__CUDA_ARCH_FEAT_SM90_ALL") == "sm_90a"
    assert with_features("sm_90", "") == "sm_90"
    assert with_features("sm_100", "__CUDA_ARCH_FEAT_SM90_ALL") == "sm_100"
    with pytest.raises(UnavailableError, match="needs wgmma, which only 9.0 has"):
        performed(LESSON, {"rung": 15}, "sm_100")


def test_least_time_is_that_of_the_units_where_they_are_busiest() -> None:
    arch, cost = architecture("sm_90"), cost_of(run_of(7), SIDE)
    units = 2 * 4096**3 / (132 * 256 * 1.98e9) * 1e6
    assert least_time(cost, arch, 4096) == pytest.approx(units)
    assert least_time(cost, architecture("sm_52"), 4096) is None


def test_times_beside_cublas_are_those_of_the_kernels_as_they_are(tmp_path: Path) -> None:
    rung, file = RUNGS[6], tmp_path / "ladder.json"
    time = LadderTime(rung.kernel, rung.entry, 2048, 400.0, 350.0, 100)
    here = {rung.kernel: source_of(rung.kernel)}
    write(file, LadderTimes("GPU", "2026-11-23", here, (time,)))
    table = beside_cublas(read(file), rung)
    assert isinstance(table, Table) and table.now == 6
    assert [column.cells[6] for column in table.columns[1:]] == ["–", "42.9, 88 %", "–"]
    old = LadderTimes("GPU", "2026-11-23", {rung.kernel: "another"}, (time,))
    assert not isinstance(beside_cublas(old, rung), Table)
    assert not isinstance(beside_cublas(None, rung), Table)


def test_sources_differ_in_what_is_new() -> None:
    assert all(text_of(rung)[-1] == "}" for rung in RUNGS)
    first, second = (text_of(rung) for rung in RUNGS[:2])
    changed = difference(first, second)
    assert [one.text.strip() for one in changed if one.sign == "+"] == [
        'extern "C" __global__ void coalesced(In M, In N, float* P, int n)',
        "int row = blockIdx.y * WIDTH + threadIdx.y;",
        "int column = blockIdx.x * WIDTH + threadIdx.x;",
    ]
