"""Claims over a run's counts: what can be said, what holds, what is told where it does not."""

from dataclasses import replace
from functools import cache

import pytest

import gpuviz
from gpuviz.api.expectation import ExpectationError
from gpuviz.arch import architecture
from gpuviz.assertions.claim import Judgement, judged
from gpuviz.assertions.evidence import lanes
from gpuviz.assertions.facts import Facts
from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.traces.trace import Coverage

TEXT = """__global__ void turn(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}"""


@cache
def turned() -> gpuviz.Run:
    return gpuviz.trace(TEXT, 1, (32, 32), ("f32[1024]=zeros", "f32[1024]=rand"))


def unavailable() -> dict[str, float]:
    raise UnavailableError("no time is modelled here")


def of(claim: str, **changes: object) -> Judgement:
    run = replace(turned()._run, **changes)  # type: ignore[arg-type]
    return judged(claim, Facts(run, unavailable, lambda: run))


@pytest.mark.parametrize(
    "claim",
    [
        "global_load_sectors == 128",
        "global_sectors == 256 and global_sectors <= 1.1 * global_sectors_ideal",
        "shared_load_conflicts == 32 * 31",
        "line(5).shared_conflicts == 992 and line(3).shared_conflicts == 0",
        "line('= tile[').shared_load_wavefronts == 1024",
        "0 < registers_per_thread < 64",
        "races + errors + findings == 0",
        "not thread_instructions < 1024 or local_requests > 0",
        "-global_load_requests / 2 == -16.0",
    ],
)
def test_what_holds(claim: str) -> None:
    assert of(claim).holds is True


def test_what_does_not_is_told_with_its_line_and_lanes() -> None:
    found = of("shared_conflicts == 0")
    assert found.holds is False
    assert found.line == 5
    assert found.told == "shared_conflicts is 992"
    assert (
        "line 5: out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];"
        in found.text
    )
    assert "lanes 0, 1, 2, 3, … 31 at bytes 0, 128, 256, 384, … 3,968, banks 0, 0, 0, 0, … 0" in (
        found.text
    )


@pytest.mark.parametrize(("arch", "last"), [("sm_90", 31), ("sm_13", 15)])
def test_banks_are_those_of_the_architecture(arch: str, last: int) -> None:
    trace = turned().trace
    stored = next(one for one in trace.instructions if (one.space, one.op) == ("shared", "store"))
    (told,) = lanes(trace, stored, architecture(arch))
    assert told.endswith(f"banks 0, 1, 2, 3, … {last}")


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("shared_conflict == 0", "near it: shared_conflicts"),
        ("global_load_sectors", "says nothing that can be so or not"),
        ("x(", "cannot be read"),
        ("__import__('os').system('true') == 0", "is no number"),
        ("races == 'none'", "is no number"),
        ("().__class__ == 0", "is no number"),
        ("line(99).global_sectors == 0", "the source has 6"),
        ("line('tile').global_sectors == 0", "lines 2, 3, 5 have it"),
        ("line(3).registers_per_thread == 0", "is of the launch"),
        ("1 == 1 " + "+ 1" * 400, "at most 1000 letters"),
        ("2 ** 9 == 512", "is no number"),
        ("True", "says nothing"),
    ],
)
def test_what_cannot_be_read_is_refused(claim: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        of(claim)


@pytest.mark.parametrize(
    ("claim", "changes", "said"),
    [
        ("races == 0", {"checked": ("memory",)}, "nobody looked for race"),
        ("global_sectors == 256", {"coverage": Coverage("sample", 1, 8)}, "from a sample"),
        ("time_us < 30", {}, "no time is modelled"),
        ("measured_us < 30", {}, "was not measured"),
        ("registers_per_thread < 8", {"resources": None}, "the compiler said nothing"),
        ("global_sectors / local_requests < 3", {}, "divides by 0"),
    ],
)
def test_what_nobody_knows_is_not_judged(claim: str, changes: dict[str, object], said: str) -> None:
    found = of(claim, **changes)
    assert found.holds is None
    assert said in found.told


def test_demands_come_in_a_row_and_the_first_that_fails_raises() -> None:
    expected = gpuviz.expect(turned()).no_findings().sectors(at_most=1, of="ideal")
    assert expected.no_races().no_spills().registers(at_most=64).sectors(at_most=128, op="load")
    with pytest.raises(ExpectationError, match=r"turn  1,1,1 x 32,32,1  sm_90, \w+ level"):
        expected.no_bank_conflicts(line=5)
    with pytest.raises(InputError, match="write it as in '30 us'"):
        expected.time(at_most="soon")
    with pytest.raises(InputError, match="there are: out, in"):
        expected.array("x", [1])
    with pytest.raises(ExpectationError, match=r"1,024 of 1,024 elements|elements are not"):
        expected.array("out", [-1.0] * 1024)
    with pytest.raises(ExpectationError, match="it has 1,024 elements, not 3"):
        expected.array("out", [1, 2, 3])


@pytest.mark.machine_code
def test_a_time_is_judged_as_modelled_and_says_so() -> None:
    run = gpuviz.trace(TEXT, 1, (32, 32), ("f32[1024]=zeros", "f32[1024]=rand"))
    gpuviz.expect(run).time(at_most="1 ms").no_slower_than(run)
    with pytest.raises(ExpectationError, match=r"time_us is [\d.]+ \(modelled\)"):
        gpuviz.expect(run).time(at_most="1 ns")


def test_a_large_launch_is_checked_when_findings_are_asked_for() -> None:
    race = (
        "__global__ void race(int *a) { a[0] = threadIdx.x; for (int i = 0; i < 900; ++i) a[1]; }"
    )
    run = gpuviz.trace(race, 1, 64, ("i32[1]=zeros",), engine="compiled")
    assert "race" not in run._run.checked
    with pytest.raises(ExpectationError, match="races is 1"):
        gpuviz.expect(run).no_races()
