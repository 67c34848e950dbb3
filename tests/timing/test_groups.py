"""Waits for groups of asynchronous copies and products, as machine code has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.course import lesson
from gpuviz.ptx.options import Options
from gpuviz.recordings import lookup
from gpuviz.run.predicted import launched
from gpuviz.sass.listing import read_listings
from gpuviz.story.lesson import Plan
from gpuviz.story.perform import job_of
from gpuviz.timing.device import H200
from gpuviz.timing.prediction import Prediction, predict
from gpuviz.timing.schedule import CLOSES, JOINS, LEAVES, PRODUCTS, groups_of
from gpuviz.timing.timeline import timeline_of
from gpuviz.timing.warp_states import FAR, State

_CODE = """\
.section .text.k
        /*0000*/  @!PT LDS RZ, [RZ] ;
        /*0010*/  @P0 LDGSTS.E.BYPASS.128 [R13], desc[UR6][R6.64] ;
        /*0020*/  LDGDEPBAR ;
        /*0030*/  DEPBAR.LE SB0, 0x2 ;
        /*0040*/  DEPBAR.LE SB3, 0x1 ;
        /*0050*/  HGMMA.64x64x16.F32 R24, gdesc[UR8], R24 ;
        /*0060*/  HGMMA.64x64x16.F32 R24, gdesc[UR8], R24, gsb0 ;
        /*0070*/  WARPGROUP.DEPBAR.LE gsb0, 0x1 ;
        /*0080*/  EXIT ;
"""


def test_machine_code_closes_groups_and_waits_for_all_but_the_latest() -> None:
    code = read_listings(_CODE)["k"].instructions
    sets = [7, 7, 0, 7, 7, 7, 7, 7, 7]
    found = groups_of(code, sets)
    assert found == [
        *(0, JOINS, CLOSES, LEAVES + 2, 0),
        *(PRODUCTS + one for one in (JOINS, JOINS + CLOSES, LEAVES + 1)),
        0,
    ]
    assert not any(groups_of(code[3:5], sets[3:5]))


def _plans(stages: int) -> dict[bool, Plan]:
    """The lesson's launches of a ring: the one it draws, and that of real size."""
    one = lesson("pipeline")
    plans = one.plan({**one.defaults(), "stages": stages})
    mine = [p for p in plans if p.role.startswith(f"{stages} stage")]
    return {p.companion_of is not None and "real" in p.role: p for p in mine}


def _predicted(plan: Plan) -> Prediction:
    arch = architecture("9.0")
    return predict(launched(job_of(plan, "sm_90"), arch, H200, Options()), H200)


@pytest.mark.machine_code
def test_warps_wait_for_what_they_copied() -> None:
    made = timeline_of(_predicted(replace(_plans(1)[False], checks=())))
    taken = made.spans.time_in(0.0, made.recorded)
    assert taken[list(FAR)].sum() > 0.3 * taken[State.DONE + 1 :].sum()
    far = np.isin(made.spans.state, FAR)
    by = made.events.instruction[made.spans.cause[far]]
    assert {made.code[i].name for i in by.tolist()} == {"LDGSTS.E.BYPASS.128"}


@pytest.mark.slow
@pytest.mark.machine_code
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_a_ring_takes_what_it_takes_on_an_h200(stages: int) -> None:
    """No number of the model was chosen by these launches."""
    plan = _plans(stages)[True]
    measured = lookup.shipped().find(plan).measurement
    assert measured is not None and measured.timing is not None
    assert _predicted(plan).microseconds == pytest.approx(measured.timing.median, rel=0.15)
