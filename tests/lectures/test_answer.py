"""Answers and figures: counted from traces of real kernels, beside what a GPU counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from gpuviz.base.errors import InputError
from gpuviz.course import lesson
from gpuviz.lectures.answer import Answer, answer, figures, label, run_of, shown, unit
from gpuviz.lectures.lecture import Guess, Per, Question
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement, Timing
from gpuviz.run.run import Run
from gpuviz.story.perform import perform
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance

Runs = Mapping[str, Run]
DEVICE = DeviceFacts(0, "A GPU", "9.0", "1", "13.0", 132, 1 << 30, 1 << 20)


def runs_of(name: str, values: dict[str, int | str | bool], arch: str = "sm_90") -> Runs:
    made = perform(lesson(name), values, arch=arch, level="ptx", measured=lambda plan: None)
    return made.runs


@pytest.fixture(scope="module")
def strided() -> Runs:
    return runs_of("coalescing", {"stride": 2, "threads": 64, "blocks": 2})


@pytest.fixture(scope="module")
def banks() -> Runs:
    return runs_of("banks", {"stride": 8, "blocks": 2})


@pytest.fixture(scope="module")
def products() -> Runs:
    return runs_of("matmul-tiled", {})


def ask(
    count: str, choices: tuple[Guess, ...], per: Per = "request", run: str = "", line: int = 0
) -> Question:
    return Question("?", choices, count, per, run, line)


def measured(**counters: float) -> Measurement:
    found = {key: CounterValue(value) for key, value in counters.items()}
    return Measurement("recorded", "2026-11-20", DEVICE, found, Timing(np.array([3.0, 5.0, 4.0])))


def test_per_request_and_launch(strided: Runs) -> None:
    asked = ask("global_load_sectors", (4, 8, 16))
    assert answer(asked, strided, {}) == Answer(8.0, 1, "sectors a request")
    whole = answer(replace(asked, choices=(8, 32), per="launch"), strided, {})
    assert whole == Answer(32.0, 1, "sectors in the whole launch")  # of four warps


def test_the_line_of_an_instruction(products: Runs) -> None:
    lines = {
        row.instruction.line
        for row in products["tiled"].counts.rows
        if row.counts.get("global_load_requests")
    }
    each = [
        answer(ask("global_load_requests", (8, 16), "launch", line=line), products, {}).value
        for line in lines
    ]
    assert len(lines) == 2 and sum(each) == 16  # one of M, one of N
    with pytest.raises(InputError, match=r"tiled makes no request .* in line 1$"):
        answer(ask("global_load_requests", (8,), "launch", line=1), products, {})


def test_runs_go_by_role_and_side(products: Runs) -> None:
    requests = ask("global_load_requests", (16, 32), "launch")
    assert answer(requests, products, {}).value == 16  # the first
    assert answer(replace(requests, run="naive"), products, {}).value == 32
    with pytest.raises(InputError, match="there is no run 'padded'; there are: tiled, naive"):
        answer(replace(requests, run="padded"), products, {})
    both = {"A naive": products["naive"], "B naive": products["naive"]}
    assert [run_of(wanted, both) for wanted in ("", "A", "B", "B naive", "naive")] == [
        "A naive",
        "A naive",
        "B naive",
        "B naive",
        "A naive",
    ]


def test_conflicts_are_wavefronts_beyond_the_ideal(banks: Runs) -> None:
    wavefronts = answer(ask("shared_load_wavefronts", (8,)), banks, {})
    assert wavefronts == Answer(8.0, 0, "wavefronts a request")
    assert answer(ask("shared_load_conflicts", (1, 7)), banks, {}).value == 7


def test_one_of_a_thing_is_said_so(strided: Runs) -> None:
    run = strided["copy"]
    asked = ask("global_load_sectors", (1,))
    assert unit(asked, run, 1.0) == "sector a request"
    assert unit(replace(asked, per="launch"), run, 1.0) == "sector in the whole launch"
    assert unit(ask("shared_load_wavefronts", (1,)), run, 1.0) == "wavefront a request"


def test_old_architectures_move_segments() -> None:
    old = runs_of("coalescing", {"pattern": "pair", "threads": 64, "blocks": 1}, "sm_10")
    assert answer(ask("global_load_sectors", (4, 17)), old, {}).unit == "segments a request"
    assert label("global_load_sectors", sectors=False) == "load segments"


def test_no_choice_is_right(strided: Runs) -> None:
    with pytest.raises(InputError, match="the answer is 8, which is none of the choices 4, 9, 88"):
        answer(ask("global_load_sectors", (4, 9, "88")), strided, {})


def test_texts_and_fractions_can_be_right() -> None:
    runs = runs_of("block-shape", {"x": 2, "y": 32})
    assert answer(ask("global_load_sectors", (8, 8.5)), runs, {}).right == 1
    assert answer(ask("global_load_sectors", ("many", "8.5")), runs, {}).right == 1


def test_nothing_of_the_kind_is_counted(strided: Runs) -> None:
    with pytest.raises(InputError, match="makes no request that shared_load_wavefronts counts"):
        answer(ask("shared_load_wavefronts", (1,)), strided, {})


def test_what_a_gpu_counted_stands_beside_it(strided: Runs, banks: Runs) -> None:
    found = measured(global_load_sectors=32, global_load_requests=4)
    asked = ask("global_load_sectors", (8,))
    got = answer(asked, strided, {"copy": found})
    assert (got.measured, got.origin) == (8.0, found)
    assert (
        answer(replace(asked, per="launch", choices=(32,)), strided, {"copy": found}).measured == 32
    )
    line = strided["copy"].counts.rows[0].instruction.line
    assert answer(replace(asked, line=line), strided, {"copy": found}).measured is None
    ideal = banks["warp"].counts.totals["shared_load_wavefronts_ideal"]
    other = measured(shared_load_wavefronts=ideal + 14.0, shared_load_requests=2)
    assert answer(ask("shared_load_conflicts", (7,)), banks, {"warp": other}).measured == 7


def test_what_no_gpu_counted_is_absent(strided: Runs) -> None:
    asked = ask("global_load_sectors", (8,))
    for found in (
        {},
        {"copy": measured()},
        {"copy": measured(global_load_requests=4)},
        {"other": measured(global_load_sectors=32, global_load_requests=4)},
    ):
        assert answer(asked, strided, found).measured is None


def test_figures_of_every_run(products: Runs, banks: Runs) -> None:
    found = {"tiled": measured(global_load_sectors=16)}
    made = figures(("global_load_sectors", "time"), products, found)
    assert [(f.label, f.run, f.predicted, f.measured) for f in made] == [
        ("load sectors", "tiled", 16, 16),
        ("load sectors", "naive", 32, None),
        ("time of a launch", "tiled", None, 4.0),
        ("time of a launch", "naive", None, None),
    ]
    [one] = figures(
        ("shared_load_conflicts",),
        {"warp": banks["warp"]},
        {"warp": measured(shared_load_wavefronts=16, shared_load_requests=2)},
    )
    assert (one.run, one.predicted, one.measured) == ("", 14, 14)
    assert one.label == "Shared memory: load conflicts"
    [none] = figures(
        ("shared_load_wavefronts",),
        {"naive": products["naive"]},
        {"naive": measured(shared_load_wavefronts=0)},
    )
    assert (none.predicted, none.measured) == (None, None)


def test_sides_have_short_names(products: Runs) -> None:
    one = products["naive"]
    assert [f.run for f in figures(("time",), {"A naive": one, "B naive": one}, {})] == ["A", "B"]
    assert [f.run for f in figures(("time",), {"A naive": one, "B tiled": one}, {})] == [
        "A naive",
        "B tiled",
    ]


def test_numbers_as_they_are_read() -> None:
    assert [shown(n) for n in (8, 8.0, 2.5, 1234567, 0)] == [
        "8",
        "8",
        "2.5",
        "1\u202f234\u202f567",
        "0",
    ]


def test_a_compared_view_answers_for_its_sides() -> None:
    view = view_of(
        Provenance("coalescing", {"stride": 1, "blocks": 2}, "sm_90", "ptx", {"stride": 32})
    )
    assert list(view.runs) == ["A copy", "B copy"]
    asked = ask("global_load_sectors", (4, 32))
    assert answer(asked, view.runs, {}).value == 4
    assert answer(replace(asked, run="B"), view.runs, {}).value == 32


def test_what_would_be_ideal_no_gpu_has_counted(strided: Runs) -> None:
    key = "global_load_sectors_ideal"
    found = {next(iter(strided)): measured(global_load_sectors=64.0, global_load_requests=4.0)}
    (figure,) = figures((key,), strided, found)
    assert figure.predicted and figure.measured is None
    assert answer(ask(key, (4,)), strided, found).measured is None


def test_a_count_that_a_kernel_has_no_ideal_of_is_an_error_in_words(banks: Runs) -> None:
    name, run = next(iter(banks.items()))
    rows = tuple(
        replace(row, counts={k: n for k, n in row.counts.items() if "ideal" not in k})
        for row in run.counts.rows
    )
    looped = {name: replace(run, counts=replace(run.counts, rows=rows))}
    with pytest.raises(InputError, match="shared_load_wavefronts_ideal"):
        answer(ask("shared_load_conflicts", (7,)), looped, {})
