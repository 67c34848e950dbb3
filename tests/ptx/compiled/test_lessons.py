"""Every launch of every lesson, at each preset: both engines see the same."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from gpuviz.arch import architecture
from gpuviz.course import SCENES
from gpuviz.launch.job import Job
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated
from gpuviz.story.lesson import Lesson, Plan, check_values
from gpuviz.story.perform import accepted, job_of
from tests.ptx.compiled.engines import alike_runs

CASES = [(one, number) for one in SCENES for number in range(-1, len(one.presets))]
IDS = [f"{one.id}-{one.presets[n].label if n >= 0 else 'as it begins'}" for one, n in CASES]
MOST = 1 << 14  # threads: NumPy takes minutes for what people run
LONG = {"ladder"}  # whose threads make 64 cells each: at real size even so few take it minutes
COMPARED: set[tuple[object, ...]] = set()  # launches that presets share


def part_of(plan: Plan) -> Job:
    """The launch, or as many of its blocks as NumPy runs in some seconds."""
    job = job_of(plan, "sm_90")
    grid = list(job.grid)
    while prod(grid) * prod(job.block) > MOST and prod(grid) > 1:
        axis = max(range(3), key=grid.__getitem__)
        grid[axis] = -(-grid[axis] // 2)
    return replace(job, grid=(grid[0], grid[1], grid[2]))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("one, preset", CASES, ids=IDS)
def test_lessons_look_the_same(one: Lesson, preset: int) -> None:
    values = one.presets[preset].values if preset >= 0 else {}
    for plan in accepted(one.plan(check_values(one, values)), "sm_90"):
        if one.id in LONG and plan.companion_of:
            continue
        job = part_of(plan)
        launch = (job.program.ptx, job.entry, job.grid, job.block, job.arguments, plan.record)
        if launch in COMPARED:
            continue
        COMPARED.add(launch)
        record = tuple(block for block in plan.record if block < prod(job.grid))
        options = Options(record=record, path=plan.path, blocks="all")
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
