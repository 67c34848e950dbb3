"""Pipelines: the ring turns as it is told, sums are right, and what comes too early is a race."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.matrix_products.pipeline.lesson import LESSON, ring_of
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.story.lesson import Story, check_values
from tests.course.performed import performed

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
STAGE = Stage(1600, 1000, DARK)


def words(story: Story, t: float) -> str:
    return " ".join(
        s for m in story.frame(t, STAGE).marks if isinstance(m, Texts) for s in m.strings
    )


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_every_tile_is_added_once_and_goes_through_its_stage(stages: int) -> None:
    run = performed(LESSON, {"stages": stages}).runs[f"{stages} stage{'s' * (stages > 1)}"]
    given, out = run.inputs["in"].reshape(8, 64, 4), run.outputs["out"].reshape(64, 4)
    assert np.allclose(out, np.roll(given.sum(axis=0), -32, axis=0), rtol=1e-5)
    ring = ring_of(run, stages)
    assert all(e.stage == e.tile % stages for e in ring.events)
    assert {(e.warp, e.op, e.tile) for e in ring.events} == {
        (warp, op, tile) for warp in (0, 1) for op in ("copy", "read") for tile in range(8)
    }
    assert len(ring.barriers) == 8 * (2 if stages == 1 else 1)
    for a, b in pairwise(sorted({e.slot for e in ring.events})):
        assert b - a in (1.0, 1.5, 2.0)
    assert not run.trace.findings


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("overwritten", "race, write after read", "copies over what line"),
        ("unawaited", "race, read after write", "reads what line"),
    ],
)
@pytest.mark.parametrize("stages", [2, 3])
def test_what_comes_too_early_is_found(stages: int, fault: str, kind: str, said: str) -> None:
    made = performed(LESSON, {"stages": stages, "fault": fault})
    findings = made.runs[f"{stages} stages"].trace.findings
    assert [one.kind for one in findings] == [kind]
    assert said in words(made.story, made.story.duration)
    assert all(not run.trace.findings for role, run in made.runs.items() if str(stages) not in role)
    assert f"{stages} stages" not in {plan.companion_of for plan in made.plans}


def test_one_stage_has_no_such_order() -> None:
    with pytest.raises(InputError, match="at least 2 stages"):
        check_values(LESSON, {"stages": 1, "fault": "unawaited"})


def test_what_an_architecture_lacks_is_said() -> None:
    story = performed(LESSON, {}, "sm_75").story
    assert "Turing (7.5) has no cp.async" in words(story, 1.0)
    assert "has no cp.async" in words(story, story.duration)
    assert "has no cp.async" not in words(performed(LESSON, {}, "sm_80").story, 1.0)
