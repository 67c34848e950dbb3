from dataclasses import replace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import UnavailableError
from gpuviz.course import lesson
from gpuviz.course.matrix_products.ladder.rungs import RUNGS
from gpuviz.ptx.options import Options
from gpuviz.run.predicted import launched
from gpuviz.sass.flow import sass_blocks
from gpuviz.sass.listing import read_listings
from gpuviz.story.perform import job_of
from gpuviz.timing.device import H200
from gpuviz.timing.prediction import Prediction, predict
from gpuviz.timing.streams import Visit, mended
from gpuviz.timing.timeline import timeline_of
from gpuviz.timing.warp_states import FAR, State

_POLLING = """\
.section .text.k
        /*0000*/  SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R8+URZ], R9 ;
        /*0010*/  @!P0 BRA `(.L_again) ;
.L_on:
        /*0020*/  EXIT ;
.L_again:
        /*0030*/  SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R8+URZ], R9 ;
        /*0040*/  @!P0 BRA `(.L_again) ;
        /*0050*/  BRA `(.L_on) ;
"""


def _predicted(stages: int, tiles: int = 24, blocks: int = 4) -> Prediction:
    one = lesson("producer-consumer")
    plans = one.plan({**one.defaults(), "stages": stages})
    plan = next(p for p in plans if p.role.startswith(f"{stages} stage") and "STAGES" in str(p))
    made = replace(
        plan,
        grid=(blocks, 1, 1),
        arguments=(
            f"f32[{tiles * blocks * 256}]=rand",
            f"f32[{blocks * 256}]=zeros",
            f"i32={tiles}",
        ),
        checks=(),
    )
    arch = architecture("9.0")
    return predict(launched(job_of(made, "sm_90"), arch, H200, Options()), H200)


def test_a_warp_that_polls_asks_once() -> None:
    code = sass_blocks(read_listings(_POLLING)["k"])
    asks, on, again, back = range(4)
    way = [Visit(n) for n in (asks, again, again, again, back, on)]
    assert [visit.block for visit in mended(way, code)] == [asks, on]
    assert [visit.block for visit in mended([Visit(asks), Visit(on)], code)] == [asks, on]


@pytest.mark.machine_code
def test_stages_hide_what_copies_take() -> None:
    alone, both = _predicted(1), _predicted(2)
    assert 1.5 < alone.cycles / both.cycles < 2.2
    sectors = 24 * 256 * 4 / 32 * 4
    assert alone.l2_to_l1 == both.l2_to_l1 == sectors


@pytest.mark.machine_code
def test_consumers_wait_for_memory() -> None:
    made = timeline_of(_predicted(1))
    taken = made.spans.time_in(0.0, made.recorded)
    assert taken[list(FAR)].sum() > 0.5 * taken[State.DONE + 1 :].sum()
    waits = np.array(["PHASECHK" in one.text for one in made.code])
    assert waits[made.events.instruction].sum() == 3 * 24


@pytest.mark.machine_code
def test_what_is_not_known_gets_no_time() -> None:
    plan = RUNGS[-1].plan("tma", 256)
    with pytest.raises(UnavailableError, match="boxes of tensors"):
        launched(job_of(plan, "sm_90"), architecture("9.0"), H200, Options())
