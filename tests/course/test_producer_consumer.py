"""Producer and consumers: sums are right, phases and parities are the trace's, races are named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course import lesson
from gpuviz.course.matrix_products.producer_consumer.lesson import LESSON
from gpuviz.course.matrix_products.producer_consumer.stages import (
    COPY,
    ISSUE,
    READ,
    Ring,
    held,
    ring_of,
)
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.lectures.answer import answer, asked_anew
from gpuviz.lectures.desk_question import desk_question
from gpuviz.run.predicted import explain
from gpuviz.story.lesson import Story
from gpuviz.story.perform import job_of
from gpuviz.timing.warp_states import FAR
from tests.course.performed import performed

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
STAGE = Stage(1600, 1000, DARK)


def words(story: Story, t: float, stage: Stage = STAGE) -> str:
    marks = story.frame(t, stage).marks
    return " ".join(s for m in marks if isinstance(m, Texts) for s in m.strings)


def ring(stages: int, fault: str = "none", arch: str = "sm_90") -> Ring:
    made = performed(LESSON, {"stages": stages, "fault": fault}, arch)
    return ring_of(made.runs[f"{stages} stage{'s' * (stages > 1)}"].trace)


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
@pytest.mark.parametrize("stages", [1, 3])
def test_every_tile_goes_through_its_stage_and_its_phase(stages: int, arch: str) -> None:
    run = performed(LESSON, {"stages": stages}, arch).runs[f"{stages} stage{'s' * (stages > 1)}"]
    right = run.inputs["in"].reshape(8, -1).sum(axis=0)
    assert np.allclose(run.outputs["out"], right, rtol=1e-5) and not run.trace.findings
    found = ring(stages, arch=arch)
    copies, reads, waits = (found.of(op) for op in ("copy", "read", "wait"))  # type: ignore[arg-type]
    assert [one.fact.number for one in copies] == list(range(8))
    assert all(one.fact.stage == one.fact.number % stages for one in (*copies, *reads))
    assert sorted((one.fact.warp, one.fact.number) for one in reads) == [
        (warp, tile) for warp in (0, 1) for tile in range(8)
    ]
    rounds = [tile // stages for tile in range(8)]
    for warp in (0, 1, 2):
        phases = [one.fact.number for one in waits if one.fact.warp == warp]
        assert phases == (rounds if warp < 2 else [n - 1 for n in rounds])
        sides = {one.fact.mbarrier[0] for one in waits if one.fact.warp == warp}
        assert sides == ({"full"} if warp < 2 else {"empty"})
    assert all(
        len(found.over[side, s]) == len(range(s, 8, stages))
        for side in ("full", "empty")
        for s in range(stages)
    )
    assert not any(one.early for one in found.events)


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_what_is_drawn_waits_for_what_the_trace_says(stages: int) -> None:
    """A copy is not issued before its stage was read, a read not begun before its copy is there."""
    found = ring(stages)
    copied = {one.fact.number: one for one in found.of("copy")}
    for read in found.of("read"):
        assert read.start >= copied[read.fact.number].end and read.end - read.start == READ
        if later := copied.get(read.fact.number + stages):
            assert later.start >= read.end
    assert all(one.end - one.start == ISSUE + COPY for one in found.of("copy"))
    assert found.end == {1: 8 * (ISSUE + COPY + READ), 2: 17.0, 4: 11.0}[stages]


@pytest.mark.parametrize(
    ("fault", "kinds", "said"),
    [
        ("overwritten", ["race, write after read"], "copies over what line"),
        ("unawaited", ["race, read after write", "race, write after read"], "reads what line"),
    ],
)
def test_what_is_handed_over_too_early_is_a_race(fault: str, kinds: list[str], said: str) -> None:
    made = performed(LESSON, {"stages": 3, "fault": fault})
    run = made.runs["3 stages"]
    assert [one.kind for one in run.trace.findings] == kinds
    source = run.trace.source.splitlines()
    lines = {source[n - 1] for one in run.trace.findings for n in (one.line, one.other_line)}
    assert any("ring[" in line for line in lines) and len(lines) == 2
    found = ring(3, fault)
    assert {one.fact.op for one in found.events if one.early} == {
        "copy" if fault == "overwritten" else "read"
    }
    assert said in words(made.story, made.story.duration)
    assert said not in words(made.story, made.story.duration, Stage(1600, 1000, DARK, question="?"))
    assert "3 stages" not in {plan.companion_of for plan in made.plans}
    wrong = [held(found, one.fact.stage, one.start + 0.01) for one in found.of("read")]
    assert any(one.wrong and one.coming >= 0 for one in wrong)


def test_parities_are_kept_back_while_a_class_is_asked() -> None:
    story = performed(LESSON, {}).story
    t = story.duration / 2
    assert "arrived" in words(story, t)
    assert "arrived" not in words(story, t, Stage(1600, 1000, DARK, question="Which parity?"))


def test_what_an_architecture_lacks_is_said() -> None:
    older = words(performed(LESSON, {}, "sm_80").story, 1.0)
    assert "Ampere (8.0) has no bulk copies" in older
    assert "0 of 32 arrived" in older and "bytes to come" not in older
    assert "bytes to come" in words(performed(LESSON, {}).story, 3.0)
    assert "has no mbarriers" in words(performed(LESSON, {}, "sm_75").story, 1.0)
    assert "no bulk copies" not in words(performed(LESSON, {}).story, 1.0)


def test_phases_are_asked_for_and_counted() -> None:
    """At the desk, too: no request takes more than it has to, so that is what there is to guess."""
    made = performed(LESSON, {"tiles": 6})
    runs, asked = made.runs, desk_question(made.runs, made.story)
    assert asked is not None and asked.choices == (1, 6, 12, 24)
    found = answer(asked, runs, {})
    assert (found.value, found.right, found.unit) == (12, 2, "phases of mbarriers")
    anew = asked_anew(replace(asked, choices=(1, 5)), runs, "six tiles")
    assert anew.choices == (1, 12) and "How many phases of mbarriers?" in anew.ask
    with pytest.raises(InputError, match="no mbarriers"):
        answer(replace(asked, run=""), performed(lesson("pipeline"), {}).runs, {})


@pytest.mark.machine_code
def test_what_warps_wait_for_is_modelled() -> None:
    one, *_ = LESSON.plan(LESSON.defaults())
    found = explain(job_of(one, "sm_90"), architecture("sm_90"))
    assert found.limits.limiter == "latency" and found.reason in FAR
