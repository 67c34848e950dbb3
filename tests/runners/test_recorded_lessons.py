"""The predictions of every lesson against what a GPU counted, from the recordings that ship."""

import pytest

from gpuviz.arch import architecture
from gpuviz.ptx.emulator import Options
from gpuviz.runners import emulated, recorded
from gpuviz.runners.verification import compare_run
from gpuviz.scenes import SCENES
from gpuviz.scenes.base import Lesson
from gpuviz.scenes.perform import job_of


RACES = {"matmul-barrier"}  # its kernel lacks a barrier: a GPU computes something else, and may


@pytest.mark.parametrize("lesson", SCENES, ids=lambda one: one.id)
def test_counts_of_a_lesson_equal_the_hardwares(lesson: Lesson) -> None:
    for plan in lesson.plan(lesson.defaults()):
        found = recorded.shipped().find(plan)
        if found.measurement is None:
            pytest.skip(f"{plan.role}: {found.why}")
        device = found.measurement.device
        run = emulated.run(job_of(plan, device.sm), architecture(device.capability),
                           options=Options(record=()))  # fmt: skip
        if run.level != "sass":
            pytest.skip(run.level_note)
        compared = compare_run(lesson.id, run, found.measurement.values())
        assert [c for c in compared if not c.equal] == [] and len(compared) > 20
        if lesson.id not in RACES:
            assert set(found.measurement.differences.values()) == {0.0}
