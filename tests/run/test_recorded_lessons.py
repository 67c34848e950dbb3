"""The predictions of every lesson against what a GPU counted: recordings that ship, and of smaller
launches of the same kernels.
"""

from functools import cache
from math import prod
from pathlib import Path

import pytest

from gpuviz.arch import architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.cli.launches_to_record import variants
from gpuviz.compile import Resources, nvrtc
from gpuviz.course import SCENES
from gpuviz.ptx.emulator import Options
from gpuviz.recordings import lookup
from gpuviz.recordings.recording import Entry, key_of, read
from gpuviz.run import emulated
from gpuviz.run.verification import compare_run
from gpuviz.story.lesson import Lesson, Plan
from gpuviz.story.perform import job_of

SMALL = Path(__file__).parents[1] / "data" / "h200_small_launches.gpurec"
RACES = {"matmul-barrier"}  # its kernel lacks a barrier: a GPU computes something else, and may


@cache
def known() -> lookup.Recordings:
    return lookup.Recordings((*lookup.shipped().recordings, read(SMALL)))


def lessons() -> list[object]:
    """Each; the quick tests compare some of every kind of access."""
    quick = {"alignment", "banks", "constant-memory", "transpose", "swizzle"}
    marks = {True: [], False: [pytest.mark.slow]}
    return [pytest.param(one, id=one.id, marks=marks[one.id in quick]) for one in SCENES]


@pytest.mark.machine_code
@pytest.mark.parametrize("lesson", lessons())
def test_counts_of_a_lesson_equal_the_hardwares(lesson: Lesson) -> None:
    for plan in lesson.plan(lesson.defaults()):
        found = known().find(plan)
        if found.measurement is None:
            pytest.skip(f"{plan.role}: {found.why}")
        device = found.measurement.device
        run = emulated.run(
            job_of(plan, device.sm), architecture(device.capability), options=Options(record=())
        )
        if run.level != "sass":
            pytest.skip(run.level_note)
        compared = compare_run(lesson.id, run, found.measurement.values())
        assert [c for c in compared if not c.equal] == [] and len(compared) > 20
        if lesson.id not in RACES:
            assert set(found.measurement.differences.values()) == {0.0}


@pytest.mark.slow
@pytest.mark.parametrize("entry", read(SMALL).entries, ids=lambda e: f"{e.lesson} {e.role}")
def test_counts_of_small_launches_equal_the_hardwares(entry: Entry) -> None:
    launch, device = entry.launch, entry.measurement.device
    named = {field: getattr(launch, field) for field in ("entry", "grid", "block", "arguments")}
    plan = Plan(
        entry.role,
        launch.kernel,
        **named,
        defines=launch.defines,
        dynamic_shared=launch.dynamic_shared,
    )
    assert key_of(plan) == launch
    run = emulated.run(
        job_of(plan, device.sm), architecture(device.capability), options=Options(record=())
    )
    compared = compare_run(entry.lesson, run, entry.measurement.values())
    assert [c for c in compared if not c.equal] == [] and len(compared) > 20


def recorded_launches(lessons: tuple[Lesson, ...]) -> list[tuple[str, Plan, int | None]]:
    """Of each preset: the launch, and what the driver said of it."""
    found = []
    for one, _, plan, _ in variants(lessons):
        measurement = lookup.shipped().find(plan).measurement
        if measurement is not None:
            found.append((f"{one.id} {plan.role}", plan, measurement.resident_blocks))
    return found


@pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
@pytest.mark.parametrize("each", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_the_driver_finds_room_for_as_many_blocks_as_predicted(each: int) -> None:
    arch, said = architecture("9.0"), recorded_launches(SCENES[::each])
    for name, plan, driver in said:
        known = resources_of(plan)
        threads, shared = prod(plan.block), known.static_shared_bytes + plan.dynamic_shared
        predicted = occupancy(arch, threads, known.registers, shared)
        assert (name, driver) == (name, predicted.blocks)
    assert len(said) > (60 if each == 1 else 5)


def resources_of(plan: Plan) -> Resources:
    job = job_of(plan, "sm_90")
    return job.program.resources[job.entry]
