"""A small launch is drawn; the same kernel at real size is timed and counted beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from gpuviz.export.counts import _plain
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Timing
from gpuviz.results.count_columns import views_of
from gpuviz.results.rows import HEAD, table
from gpuviz.run import emulated
from gpuviz.run.run import Companion, Run
from gpuviz.story.exhibit import Variant, showing
from gpuviz.story.lesson import Lesson, Plan, Story, Values
from gpuviz.story.measured import time_bars, time_of
from gpuviz.story.perform import perform
from gpuviz.traces.geometry import size_of
from gpuviz.views.make_view import badges

H200 = DeviceFacts(0, "NVIDIA H200", "9.0", "", "", 132, 0, 0)


def product(side: int) -> tuple[str, ...]:
    return (*(f"f32[{side * side}]={fill}" for fill in ("rand", "rand", "zeros")),) + (
        f"i32={side}",
        f"i32={side}",
    )


def plan(values: Values) -> tuple[Plan, ...]:
    small = Plan("naive", "product.cu", "naive", (1, 1, 1), (4, 4, 1), product(4), size="4 × 4")
    return small, small.companion("64 × 64", (4, 4, 1), product(64), block=(16, 16, 1))


def narrate(values: Values, runs: Mapping[str, Run]) -> Story:
    return Story(", ".join(runs), "", (), lambda t, stage: stage.frame())


LESSON = Lesson("small", "Small", "", "", (), (), plan, narrate)


def measured(plan: Plan) -> Measurement:
    time = 4.6 if not plan.companion_of else 250.0
    return Measurement("recorded", "2026-01-01", H200, timing=Timing(np.array([time])))


def test_the_companion_is_the_same_kernel_drawn_nowhere() -> None:
    small, real = plan({})
    assert (real.kernel, real.entry, real.role) == (small.kernel, small.entry, "naive, real size")
    assert real.companion_of == "naive" and real.record == () and real.size_words == "64 × 64"


def test_a_story_does_not_wait_for_it_but_has_its_time() -> None:
    made = perform(LESSON, {}, measured=measured)
    assert list(made.runs) == ["naive"]
    assert [one.role for one in made.waiting] == ["naive, real size"]
    time = time_of(made.runs["naive"])
    assert time is not None
    assert (time.microseconds, time.size) == (250.0, "64 × 64")
    shown = time_bars([("naive", time)])
    assert shown.where[0] == "time of a launch: NVIDIA H200, 2026-01-01 · 64 × 64"


def test_the_record_of_a_picture_names_the_measurement_that_it_shows() -> None:
    """That of the companion, which is not counted yet."""
    (run,) = perform(LESSON, {}, measured=lambda plan: None).runs.values()
    beside = replace(run, companion=Companion("r", "64 × 64", measured(plan({})[0])))
    assert "measured" not in badges({"naive": run})
    assert badges({"naive": beside})["measured"] == "recorded on NVIDIA H200, 2026-01-01"


def test_it_is_counted_whole_and_its_arrays_are_let_go() -> None:
    begun = perform(LESSON, {}, measured=measured)
    made = perform(LESSON, {}, begun=begun, measured=measured)
    run = made.runs["naive, real size"]
    assert made.waiting == () and run.companion_of == "naive" and run.outputs == {}
    assert run.counts.totals["global_store_requests"] == 64 * 64 // 32
    assert made.runs["naive"].counts.totals["global_store_requests"] == 1
    assert made.runs["naive"].companion.run is run  # type: ignore[union-attr]
    assert made.story.title == "naive, naive, real size"  # told again, by all runs


def test_what_was_counted_once_is_not_emulated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = perform(LESSON, {})
    first = perform(LESSON, {}, begun=begun).runs["naive, real size"]
    monkeypatch.setattr(emulated, "run", None)
    assert perform(LESSON, {}, begun=begun).runs["naive, real size"].counts is first.counts


def test_sizes_stand_beside_counts_and_times() -> None:
    made = perform(LESSON, {}, begun=perform(LESSON, {}, measured=measured), measured=measured)
    column = HEAD.index("size")
    assert {(row[0], row[column]) for row in table(made.runs).rows} == {
        ("naive", "4 × 4"),
        ("naive, real size", "64 × 64"),
    }
    assert _plain(made.runs["naive"])["size"] == "4 × 4"
    shown = showing((Variant(LESSON, {}, "sm_90", "sass"),), (made,))
    assert shown.timed == ("naive, real size",) and shown.companions == {
        "naive, real size": "naive"
    }
    assert [view.title for view in views_of(shown)] == ["naive", "naive, 64 × 64"]


def test_a_launch_nobody_has_named_is_as_big_as_its_blocks() -> None:
    assert size_of((4, 4, 1), (16, 16, 1)) == "16 blocks of 256 threads"
    assert Plan("r", "k", "e", (1, 1, 1), (1, 1, 1), ()).size_words == "1 block of 1 thread"


def test_a_companion_that_an_architecture_refuses_is_left_out_there() -> None:
    def with_many_blocks(values: Values) -> tuple[Plan, ...]:
        small = plan({})[0]
        return small, small.companion("70 000 blocks", (70_000, 1, 1), product(4))

    one = Lesson("wide", "Wide", "", "", (), (), with_many_blocks, narrate)
    assert [p.role for p in perform(one, {}, arch="sm_20").plans] == ["naive"]
    assert len(perform(one, {}, arch="sm_90").plans) == 2


def _several(values: Values) -> tuple[Plan, ...]:
    small, real = plan(values)
    first, last = (replace(small, role=role, later=True) for role in ("before", "after"))
    return first, small, last, real


SEVERAL = replace(LESSON, plan=_several)


def test_what_only_a_table_needs_is_run_when_the_picture_is_there() -> None:
    made = perform(SEVERAL, {}, hasty=True)
    assert (made.story.title, list(made.runs)) == ("naive", ["naive"])
    assert [one.role for one in made.waiting] == ["before", "after"]
    made = perform(SEVERAL, {}, begun=made, hasty=True)
    assert list(made.runs) == ["before", "naive", "after"]  # as if nothing had been put off
    assert made.story.title == "before, naive, after"
    assert [one.role for one in made.waiting] == ["naive, real size"]
    made = perform(SEVERAL, {}, begun=made, hasty=True)
    assert list(made.runs)[-1] == "naive, real size" and made.waiting == ()


def test_who_does_not_hurry_gets_all_of_it_at_once() -> None:
    assert list(perform(SEVERAL, {}).runs) == ["before", "naive", "after"]


def test_a_launch_that_was_put_off_is_known_where_it_is_not() -> None:
    late = perform(SEVERAL, {}).runs["before"]
    now = replace(SEVERAL, plan=lambda v: (replace(_several(v)[0], later=False),))
    assert perform(now, {}).runs["before"].trace is late.trace
