"""Every launch of every lesson, at each preset: both engines see the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuviz.arch import architecture
from gpuviz.ptx.emulator import Options
from gpuviz.runners import emulated
from gpuviz.scenes import SCENES
from gpuviz.scenes.base import Lesson
from gpuviz.scenes.check import check_values
from gpuviz.scenes.perform import accepted, job_of
from tests.ptx.compiled.engines import alike_runs

CASES = [(one, number) for one in SCENES for number in range(-1, len(one.presets))]
IDS = [f"{one.id}-{one.presets[n].label if n >= 0 else 'as it begins'}" for one, n in CASES]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("one, preset", CASES, ids=IDS)
def test_lessons_look_the_same(one: Lesson, preset: int) -> None:
    values = dict(one.presets[preset].values) if preset >= 0 else {}
    for parameter in one.parameters:  # NumPy takes minutes for what people run
        if parameter.id in values and parameter.small is not None:
            values[parameter.id] = parameter.small
    for plan in accepted(one.plan(check_values(one, values)), "sm_90"):
        job = job_of(plan, "sm_90")
        options = Options(record=plan.record, path=plan.path, blocks="all")
        for level in ("sass", "ptx"):
            found = [
                emulated.run(
                    job,
                    architecture("sm_90"),
                    level=level,  # type: ignore[arg-type]
                    options=replace(options, engine=engine),  # type: ignore[arg-type]
                )
                for engine in ("numpy", "compiled")
            ]
            alike_runs(*found)
            print(one.id, preset, plan.role, found[1].engine, found[1].engine_note)
