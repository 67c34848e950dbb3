"""A launch that a fault would end is counted all the same, with all that was found of it."""

import json

import pytest

import gpuviz
from gpuviz.base.errors import KernelFault
from gpuviz.cli import main

SOURCE = """
extern "C" __global__ void far(int *o) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    o[threadIdx.x] = s[63 - threadIdx.x];
    if (threadIdx.x == 5) o[9999] = 1;
}
extern "C" __global__ void stopped(int *o) {
    o[threadIdx.x] = 1;
    if (threadIdx.x == 5) __trap();
    o[threadIdx.x] = 2;
}
extern "C" __global__ void doubtful(int *o) {
    o[threadIdx.x] = 1;
    assert(threadIdx.x < 40);
}
"""
BUFFER = ("i32[64]=zeros",)


def test_a_run_goes_past_an_illegal_access_and_keeps_every_finding() -> None:
    run = gpuviz.trace(SOURCE, 1, 64, BUFFER, name="far", level="ptx")
    found = run.findings.to_dict()
    assert found["check"] == ["memory", "race"] and set(found["severity"]) == {"error"}
    assert run.counts["global_store_requests"] == 3
    assert run.arrays["o"].tolist() == list(range(63, -1, -1))
    assert "of a run with 1 access outside of its memory" in run.notes[0]
    assert "2 findings" in repr(run) and "block (0, 0, 0), thread (5, 0, 0)" in repr(run.findings)


@pytest.mark.parametrize(
    ("kernel", "kind", "line"), [("stopped", "trap", 10), ("doubtful", "failed assertion", 15)]
)
def test_a_run_up_to_what_nothing_goes_past(kernel: str, kind: str, line: int) -> None:
    run = gpuviz.trace(SOURCE, 1, 64, BUFFER, name=kernel, level="ptx")
    (found,) = run.trace.findings
    assert (found.check, found.kind, found.line) == ("launch", kind, line)
    assert run.notes == (f"of what ran until the {kind} at line {line}, where the launch ended",)
    assert run.arrays["o"].tolist() == [1] * 64 and run.counts["global_store_requests"] == 2


def test_raising_is_a_choice() -> None:
    with pytest.raises(KernelFault, match="illegal global access"):
        gpuviz.trace(SOURCE, 1, 64, BUFFER, name="far", faults="raise")
    with pytest.raises(KernelFault, match="executed trap"):
        gpuviz.count(SOURCE, 1, 64, BUFFER, name="stopped")


def test_the_command_line_counts_and_compares_past_faults(tmp_path, capsys) -> None:
    file = tmp_path / "faults.cu"
    file.write_text(SOURCE)
    launch = ["--entry", "far", "--grid", "1", "--block", "64", "--arg", *BUFFER]
    assert main(["count", str(file), *launch, "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["ended_by_a_fault"] and said["totals"]["global_store_requests"] == 3
    assert [one["check"] for one in said["findings"]] == ["memory", "race"]
    assert main(["compare", f"{file} --entry far", "--entry stopped", *launch[2:], "--json"]) == 0
    pair = json.loads(capsys.readouterr().out)
    assert {one["kind"] for one in pair["findings"]["b"]} == {"trap"}
    assert len(pair["findings"]["a"]) == 1  # races are not looked for here
