"""The lesson of limits: what is refused, what is copied, what a check then finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import FormatError
from gpuviz.compile import nvrtc
from gpuviz.course.organisation.launch_attempt import (
    CORRECTED,
    FMA,
    PUBLISHED,
    SET,
    Attempt,
    attempt_of,
    attempted,
    gates,
    refusal,
    sequential,
)
from gpuviz.course.organisation.launch_limits import lesson as launch_limits
from gpuviz.course.organisation.launch_limits.lesson import LESSON
from gpuviz.draw.marks import Boxes
from gpuviz.recordings import launch_calls
from gpuviz.recordings.launch_calls import CopyCall, LaunchCall, LaunchCalls
from gpuviz.story.lesson import Value
from gpuviz.story.measured import LaunchTime
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

CASES = {p.label: dict(p.values) for p in LESSON.presets if p.label != "2^18 blocks along x"} | {
    "along x": {"elements": 1 << 25, "threads": 512, "along": "x", "shared": 0},
    "shared beyond 48 KiB": {"elements": 4096, "shared": 100, "copy": "symbol"},
    "never ran, well copied": {"copy": "symbol"},
}
RAN = ("1000 elements: 24 threads too many", "shared beyond 48 KiB")
cases = pytest.mark.parametrize("case", [name for name in CASES if name != "along x"])
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    """Told anew: what is recorded may have changed since it was performed."""
    made = performed(LESSON, CASES[case], arch=arch)
    return replace(made, story=LESSON.narrate({**LESSON.defaults(), **CASES[case]}, made.runs))


def given(case: str) -> dict[str, Value]:
    return {**LESSON.defaults(), **CASES[case]}


def attempt(case: str, arch: str = "sm_90") -> Attempt:
    return attempt_of(given(case), played(case, arch).runs)


@pytest.fixture(autouse=True)
def nothing_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the calls, but where a test brings its own."""
    monkeypatch.setattr(launch_calls, "shipped", lambda: None)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[LaunchCalls]:
    """What a GPU might have returned."""
    plan = attempted(given("The silent kernel"))
    refused = LaunchCall(plan.grid, plan.block, 0, 1 << 25, "cudaErrorThat", "cudaSuccess", False)
    nothing = (0.0, 0.0, 0.0, 0.0)
    found = LaunchCalls(
        "a GPU",
        "9.0",
        "13.0",
        "2026-11-22",
        (refused,),
        (
            CopyCall("default", False, "cudaSuccess", nothing, 0, 4, ("host to host",)),
            CopyCall("directed", True, "cudaErrorOther", (-1.0,) * 4, 4, 4, ()),
        ),
    )
    monkeypatch.setattr(launch_calls, "shipped", lambda: found)
    yield found


@pytest.mark.parametrize("case", RAN)
def test_the_kernels_fill_and_compute(case: str) -> None:
    runs = played(case).runs
    written = [runs[SET].outputs[name] for name in "abc"]
    a, b, c = (runs[FMA].outputs[name] for name in "abc")
    assert all(np.array_equal(x, y) for x, y in zip(written, (a, b, c), strict=True))
    exact = a.astype(np.float64) * b + c
    assert np.abs(runs[FMA].outputs["d"] - exact).max() <= np.spacing(np.float32(exact.max())) / 2
    assert np.abs(sequential(a, b, c) - exact).max() < 2e-7


@pytest.mark.parametrize(
    ("case", "arch", "reason"),
    [
        ("The silent kernel", "sm_90", "grid y is 262 144: Hopper (9.0) allows at most 65 535"),
        ("along x", "sm_90", ""),
        ("along x", "sm_20", "grid x is 65 536: Fermi (2.0) allows at most 65 535"),
        ("2048 threads a block", "sm_90", "block x is 2 048: Hopper (9.0) allows at most 1 024"),
        ("Too much shared memory", "sm_90", "allows at most 232 448"),
        ("shared beyond 48 KiB", "sm_90", ""),
        ("shared beyond 48 KiB", "sm_75", "allows at most 65 536"),
    ],
)
def test_the_reason_is_that_of_the_launch_check(case: str, arch: str, reason: str) -> None:
    found = refusal(attempted(given(case)), arch).replace("\u202f", " ")
    assert reason in found and bool(found) == bool(reason)


@cases
def test_a_gate_is_shut_exactly_where_the_check_refuses(case: str) -> None:
    plan, registers = attempted(given(case)), 16
    for arch in ("sm_11", "sm_20", "sm_90"):
        rows = gates(plan, architecture(arch), registers)
        assert any(row.refused(0) for row in rows) == bool(refusal(plan, arch))


def test_the_published_limits_are_those_of_the_architectures() -> None:
    plan = attempted(given("2^22 elements, as published"))
    for column, arch in enumerate(("sm_20", "sm_11"), 1):
        for row in gates(plan, architecture(arch), 16):
            said = row.allowed[column]
            assert said is None or said == row.allowed[0], (arch, row.name)
    assert PUBLISHED["8600 GTS"]["shared"] == 16384
    assert PUBLISHED["GF100"] | {"grid z": 65535, "registers": 32768} == PUBLISHED["GF100"]


@pytest.mark.parametrize(
    ("case", "arch"),
    [
        ("The silent kernel", "sm_90"),
        ("2048 threads a block", "sm_90"),
        ("2^22 elements, as published", "sm_90"),
        ("shared beyond 48 KiB", "sm_90"),
        ("shared beyond 48 KiB", "sm_20"),
    ],
)
def test_what_is_counted_is_what_ran(case: str, arch: str) -> None:
    """A number stands under its launch: refused ones have none, the corrected ones are named."""
    made, plan = played(case, arch), attempted(given(case))
    refused = bool(refusal(plan, arch))
    assert list(made.runs) == ([*CORRECTED.values()] if refused else [SET, FMA])
    run = made.runs[CORRECTED[FMA] if refused else FMA]
    elements = 1 << 22 if refused else int(given(case)["elements"])
    assert len(run.outputs["d"]) == elements and run.size.replace("\u202f", "") == (
        f"{elements} elements"
    )
    assert run.counts.totals["global_store_requests"] == -(-elements // 32)


@pytest.mark.parametrize(
    ("case", "passes", "proven"),
    [
        ("The silent kernel", True, False),
        ("It runs, but a shadow is copied", True, False),
        ("never ran, well copied", True, False),
        ("Filled with NaN: it is noticed", False, False),
        ("2^22 elements, as published", True, True),
        ("A direction is named", None, False),
    ],
)
def test_zeros_pass_the_check(case: str, passes: bool | None, proven: bool) -> None:
    found = attempt(case)
    assert (found.passes, found.proven) == (passes, proven)


def test_what_ran_differs_by_rounding_alone() -> None:
    assert 0 < attempt("2^22 elements, as published").difference < 1e-7
    shown = " ".join(words("2^22 elements, as published"))
    assert "maximum difference 6e-08" in shown and "0.82 = 0.6 × 0.7 + 0.4" in shown


def words(case: str, share: float = 1.0, arch: str = "sm_90") -> list[str]:
    story = played(case, arch).story
    return pictures.words(pictures.frame(story, share, "large"))


def test_the_check_is_green_first_and_doubted_once_the_calls_are_asked() -> None:
    story = played("The silent kernel").story
    checked = next(s for s in story.steps if s.label == "check")
    before, after = (
        " ".join(pictures.words(story.frame(t, pictures.STAGES["full"])))
        for t in (checked.end - 0.01, story.duration)
    )
    assert "elements pass, prints “ok”" in before and "no kernel has written it" not in before
    assert "no kernel has written it" in after and "→ an error" in after


def test_what_calls_return_is_said_to_be_recorded_only_where_it_is(calls: LaunchCalls) -> None:
    story = LESSON.narrate(LESSON.defaults(), played("The silent kernel").runs)
    shown = pictures.words(pictures.frame(story, 1.0, "full"))
    assert "→ cudaErrorThat" in shown and "→ cudaSuccess" in shown and "recorded" in shown
    assert "a GPU, CUDA 13.0 · profiler: copied host to host" in shown
    other = LESSON.narrate(given("2048 threads a block"), played("2048 threads a block").runs)
    shown = pictures.words(pictures.frame(other, 1.0, "full"))
    assert "→ an error" in shown and "recorded" not in shown
    assert "recorded" not in words("shared beyond 48 KiB", arch="sm_20")


def test_an_error_leaves_the_arrays_as_they_were(calls: LaunchCalls) -> None:
    assert attempt("A direction is named").host == (0.0, 0.0, 0.0, 0.0)


def test_nobody_says_what_a_wrong_direction_does() -> None:
    assert attempt("A direction is named").host is None
    assert "nobody says what was copied" in words("A direction is named")


def test_a_bar_that_is_too_long_stays_at_the_wall() -> None:
    shown = pictures.frame(played("The silent kernel").story, 1.0, "large")
    hatched = [m for m in shown.marks if isinstance(m, Boxes) and m.hatch is not None]
    assert len(hatched) == 1
    assert "4 times" in " ".join(words("The silent kernel"))
    assert "4 times" not in " ".join(words("The silent kernel", 0.1))


def test_calls_are_kept_in_a_file_that_knows_its_kernel(calls, tmp_path, monkeypatch) -> None:
    path = tmp_path / "calls.json"
    launch_calls.write(path, calls)
    assert launch_calls.read(path) == calls
    path.write_text(path.read_text().replace('"source_hash": "', '"source_hash": "0'))
    with pytest.raises(FormatError, match="older fma4.cu"):
        launch_calls.read(path)


def test_the_grid_is_rounded_up() -> None:
    case = "1000 elements: 24 threads too many"
    assert "8 blocks; 24 threads" in played(case).story.expected
    assert played(case).runs[FMA].trace.launch.blocks == 8
    assert "24 lanes have no element" in " ".join(words(case))


@cases
def test_pictures_are_legible(case: str, qapp: object) -> None:
    for stage in ("window", "half"):
        pictures.check_text(played(case).story, stage)


def test_what_an_h200_returned_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the published story has it: defaults succeed, directions and limits do not."""
    monkeypatch.undo()
    found = launch_calls.shipped()
    assert found is not None and "H200" in found.device
    results = {one.way: one.result for one in found.copies}
    assert results["default"] == "cudaSuccess" and results["directed"] == "cudaErrorInvalidValue"
    assert "cudaErrorInvalidValue" in {one.result for one in found.launches}


def test_a_time_that_is_mostly_launching_is_quiet_and_says_so() -> None:
    """3.41 µs for 1 000 elements stood there like a time that tells something."""
    quick = LaunchTime(3.41, "recorded", "a GPU", overhead="mostly launch overhead (2.4 µs)")
    shown = launch_limits._time("set 3.41 µs", quick)
    assert shown.ink == "muted" and shown.text.endswith(", mostly launch overhead (2.4 µs)")
    assert launch_limits._time("set 23 µs", replace(quick, overhead="")).ink == "ink"
