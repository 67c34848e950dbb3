"""Roofline, time and what limits are of one model: over the timed launches they never contradict
each other.
"""

from functools import cache

import pytest

from gpuviz.panels.limit_words import limit_sentence
from gpuviz.ptx.options import Options
from gpuviz.run import verification
from gpuviz.run.predicted import _launched
from gpuviz.run.throughput import SECTOR
from gpuviz.story.own_kernel.roof import Under, roof_of
from gpuviz.timing.device import H200
from gpuviz.timing.explanation import Explanation, explained
from gpuviz.timing.prediction import predict
from tests.timing.launches import FILE, MEASURED

QUICK = "copy1_2e18", "fmas_256", "fmas_g1", "gridstride_33"


@cache
def told(name: str) -> tuple[Under | None, Explanation]:
    """A launch under its roof, and explained."""
    measured = verification.load(FILE)
    launch = next(one for one in measured.launches if one.name == name)
    made, run = _launched(verification.job_of(measured, launch), measured.arch, H200, Options())
    return roof_of(run), explained(predict(made, H200))


def agree(name: str) -> None:
    """What may be said of the launch together."""
    under, e = told(name)
    limiter, made = e.limits.limiter, e.prediction
    sentence = limit_sentence(e)
    few = made.circumstances.blocks < H200.multiprocessors
    assert sentence.startswith("Only ") is few
    if under is None:
        assert limiter not in ("fma", "fp64", "tensor"), limiter
        return
    assert under.roof is not None and under.title.startswith("Only ") is few
    seconds = made.cycles / H200.clock_ghz / 1e9
    reached, most = under.flops / seconds, under.roof.attainable(under.intensity)
    assert reached <= 1.05 * most, (reached, most)  # the time never lies above the roof
    if limiter == "dram":
        assert under.by_memory
    if limiter == "fma":
        assert not under.by_memory
    if reached > 0.6 * most:  # at the roof: what limits is what the roof is of
        assert limiter in (("dram", "l2", "latency") if under.by_memory else ("fma", "issue"))
    moved = under.flops / under.intensity
    assert moved >= SECTOR * (made.dram_read - H200.dram_rest - len(made.code)) - 1, name


@pytest.mark.machine_code
@pytest.mark.parametrize("name", QUICK)
def test_roofline_time_and_limiter_agree(name: str) -> None:
    agree(name)


@pytest.mark.slow
@pytest.mark.machine_code
@pytest.mark.parametrize("name", sorted(MEASURED.keys() - set(QUICK)))
def test_they_agree_over_all_timed_launches(name: str) -> None:
    agree(name)
