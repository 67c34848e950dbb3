"""Counts at the sass level against the counters of an H200 (tests/data/h200_sass_launches.json)."""

import pytest

from gpuviz.arch import architecture
from gpuviz.run.emulated import run
from tests.sass.kernels import MEASURED, job

pytestmark = pytest.mark.machine_code

# One of each kind: merged loads and stores, trimmed and split ones, guards, unrolled loops whose
# lanes go round unequally often, idle loads before an asynchronous copy, atomics, device code.
FEW = ("mmt32", "mm_regtile", "red_serial_dyn", "hist_priv", "aos_shared", "guard_nested")
MORE = """
    mmt10 mm_guarded red_index red_seq red_lastwarp scan_blelloch stencil2d conv_const shared_short
    div_shared div_loop early_exit nbody3 dead3 half2_add cp_async bitonic softmax_row local_array
"""
NAMES = (*FEW, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE.split()))


@pytest.mark.parametrize("name", NAMES)
def test_equal_to_the_hardware(name: str) -> None:
    result = run(job(name), architecture("sm_90"))
    assert result.level == "sass"
    totals = result.counts.totals
    measured = {k: v for k, v in MEASURED[name]["measured"].items() if k in totals}
    assert len(measured) > 20
    assert {k: totals[k] for k in measured} == measured


def test_the_levels_differ_where_the_assembler_merged() -> None:
    ptx = run(job("mmt32"), architecture("sm_90"), level="ptx").counts.totals
    sass = run(job("mmt32"), architecture("sm_90")).counts.totals
    assert ptx["shared_load_requests"] > sass["shared_load_requests"]
    assert ptx["global_load_sectors"] == sass["global_load_sectors"]
