"""Lessons as they ship: their launches are long, and count what small ones do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuviz.compile import nvrtc
from gpuviz.course import SCENES, lesson
from gpuviz.course.together.latency.lesson import Chase
from gpuviz.run.run import Run
from gpuviz.story.perform import perform
from tests.course.performed import performed, real

LONG = 1 << 20  # threads, or elements: what an H200 needs tens of microseconds for
PRODUCTS = {"roofline", "thread-coarsening"}  # of n x n matrices: loads grow with the cube of n
OTHERS = {"caches", "latency"}  # what grows is not the number of blocks alone
SIZED = {one.id for one in SCENES if any(p.small is not None for p in one.parameters)}
SCALES = ("requests", "sectors", "lines", "wavefronts", "bytes")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed"),
]


@pytest.mark.parametrize("name", sorted(SIZED - PRODUCTS - OTHERS))
def test_a_large_launch_counts_what_its_small_one_does_times_its_size(name: str) -> None:
    shown = lesson(name)
    large = perform(real(shown), {}, level="ptx", measured=lambda plan: None)
    whole = perform(real(shown), {}, level="ptx", measured=lambda plan: None, begun=large)
    few = performed(shown, {}).runs
    for role, run in large.runs.items():
        launch, other = run.trace.launch, few[role].trace.launch
        times, rest = divmod(launch.blocks, other.blocks)
        assert rest == 0
        for count, value in run.counts.totals.items():
            if count.quantity in SCALES:
                assert value == few[role].counts.totals[count] * times, (role, count)
        timed = whole.runs.get(run.companion.role) if run.companion else run
        assert timed is not None
        threads = timed.trace.launch.blocks * timed.trace.launch.threads_per_block
        assert threads >= LONG and timed.engine == "compiled"


@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_a_large_product_loads_as_much_for_each_multiplication_as_a_small_one(name: str) -> None:
    shown = real(lesson(name))
    large = perform(shown, {}, level="ptx", measured=lambda plan: None).runs
    few = performed(lesson(name), {}).runs
    times = (shown.defaults()["size"] // lesson(name).defaults()["size"]) ** 3
    assert times == 64
    for role, run in large.items():
        by_classes = not run.outputs  # the product of another lesson, beside these
        whole = run.size.startswith(f"{shown.defaults()['size']} × {shown.defaults()['size']}")
        if whole and not by_classes:
            assert run.engine == "compiled" and run.trace.flops == 2 * 1024**3
            for count, value in run.counts.totals.items():
                if str(count).startswith("global_load_") and count.quantity in SCALES:
                    assert value == few[role].counts.totals[count] * times, (role, count)


def _grown(large: Run, few: Run, loads: float, stores: float) -> None:
    """A large launch counts so many times what a small one does."""
    for count, value in few.counts.totals.items():
        if count.quantity in SCALES:
            times = stores if str(count).startswith("global_store") else loads
            assert large.counts.totals[count] == value * times, (large.size, count)


def test_products_of_the_lesson_on_caches_load_as_much_for_each_multiplication() -> None:
    shown = real(lesson("caches"))
    large = perform(shown, {}, level="ptx", measured=lambda plan: None).runs
    few = performed(lesson("caches"), {}).runs
    times = int(shown.defaults()["size"]) // int(lesson("caches").defaults()["size"])
    assert times == 4 and large.keys() == few.keys() == {"naive", "tiled"}
    for role, run in large.items():
        assert run.trace.launch.blocks == few[role].trace.launch.blocks * times**2
        _grown(run, few[role], times**3, times**2)


def test_longer_chains_of_the_lesson_on_latency_ask_for_more_and_wait_as_long() -> None:
    shown = real(lesson("latency"))
    large = perform(shown, {}, level="ptx", measured=lambda plan: None).runs
    few = performed(lesson("latency"), {}).runs
    hops, fewer = (int(one.defaults()["hops"]) for one in (shown, lesson("latency")))
    assert set(few) < set(large) and {"16 × 1", "32 × 1", "64 × 1"} <= set(large)
    for role, run in few.items():
        assert run.trace.launch == replace(
            large[role].trace.launch,
            buffers=run.trace.launch.buffers,
            scalars=run.trace.launch.scalars,
        )
        _grown(large[role], run, hops / fewer, 1)
        warps, chains = map(int, role.split(" × "))
        long, short = (Chase(warps, chains, one.timelines[0], one) for one in (large[role], run))
        assert long.latency == pytest.approx(short.latency, rel=0.05), role
        assert long.under_way == pytest.approx(short.under_way, rel=0.15), role
