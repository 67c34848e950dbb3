"""Every kernel of tests/data/sanitizers: its fault is found, on its line; correct ones pass."""

import pytest

from docs.sanitizers import CORRECT, PAGE, Case, cases, emulated, page, reading
from gpuviz.ptx import interpreter
from gpuviz.traces.check_table import ALL

NAMES = [case.name for case in cases()]


@pytest.mark.parametrize("case", cases(), ids=NAMES)
def test_what_is_at_fault_is_found_and_nothing_else(case: Case) -> None:
    findings = emulated(case)
    if case.kind == CORRECT:
        assert findings == []
        return
    assert findings and {f.check for f in findings} == {case.kind}
    assert {f.line for f in findings} <= set(case.lines)
    assert all(f.remedy and f.count >= 1 and str(f.line) in f.message for f in findings)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=NAMES)
def test_blocks_that_run_one_after_the_other_are_found_out_as_well(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = emulated(case)
    monkeypatch.setattr(
        interpreter, "blocks_per_batch", lambda program, *more: program.cluster.size
    )
    apart = emulated(case)
    assert {f.check for f in apart} == {f.check for f in together}
    assert {f.line for f in apart} <= set(case.lines)


def test_each_class_has_its_kernels() -> None:
    kinds = [case.kind for case in cases()]
    assert {kind: kinds.count(kind) >= 6 for kind in ALL} == dict.fromkeys(ALL, True)
    assert kinds.count(CORRECT) >= 37 and len(kinds) - kinds.count(CORRECT) >= 57
    assert all(bool(case.lines) == (case.kind != CORRECT) for case in cases())


@pytest.mark.slow  # each is emulated once more
def test_the_page_tells_what_is_found_now() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run python docs/sanitizers.py tables"


def test_what_compute_sanitizer_prints_is_read() -> None:
    clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\nexit status 0\n"
    assert reading(clean, "race") == {}
    wrong = (
        "========= Error: Potential WAR hazard detected at __shared__ 0x580 in block (0,0,0) :\n"
        "=========     Read Thread (31,0,0) at k+0xf0 in race.cu:9\n"
        "=========     Write Thread (96,0,0) at k+0xe0 in race.cu:8\n"
        "========= RACECHECK SUMMARY: 2 hazards displayed (3 errors, 1 warning)\nexit status 0\n"
    )
    assert reading(wrong, "race") == {
        "errors": 3,
        "warnings": 1,
        "first": "Error: Potential WAR hazard detected",
        "lines": [8, 9],
    }
    assert reading("========= COMPUTE-SANITIZER\nexit status 137\n", "race") == {"hung": True}
