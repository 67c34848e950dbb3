"""What `gpuviz count --check` looks for, what it says, and its exit status."""

import json
import re

import pytest

from docs.sanitizers import Case, cases, source
from gpuviz.base import resources
from gpuviz.cli import main
from gpuviz.ptx import emulator

CASES = {case.name: case for case in cases()}


@pytest.fixture
def count(tmp_path, capsys):
    """Count a kernel of tests/data/sanitizers: exit status, what stdout and stderr say."""

    def counted(name: str, *more: str) -> tuple[int, str, str]:
        case: Case = CASES[name]
        file = tmp_path / f"{case.kind}.cu"
        file.write_text(source(case.kind))
        sizes = [",".join(map(str, size)) for size in (case.grid, case.block)]
        arguments = [word for argument in case.arguments for word in ("--arg", argument)]
        shape = ["--entry", case.kernel, "--grid", sizes[0], "--block", sizes[1]]
        status = main(["count", str(file), *shape, *arguments, *more])
        return status, *capsys.readouterr()

    return counted


def test_errors_are_told_with_a_remedy_and_make_the_status_1(count) -> None:
    status, said, wrong = count("race.no_barrier")
    assert status == 1 and "checked memory, race, init, sync: 1 error, 0 warnings" in said
    assert "error, race: " in wrong and "(line 9)" in wrong and "[256 times]" in wrong
    assert "put __syncthreads() before line 9: tried, no race is left" in wrong
    assert re.search(r"^/\S*race\.cu:9: error, race: ", wrong, re.MULTILINE)


def test_what_is_not_asked_for_is_not_looked_for(count) -> None:
    status, said, wrong = count("race.no_barrier", "--check", "init,sync")
    assert (status, wrong) == (0, "") and "checked init, sync: 0 errors" in said
    assert count("race.no_barrier", "--check", "none")[0] == 0


def test_warnings_leave_the_status_0(count) -> None:
    status, said, wrong = count("sync.shuffle_from_nobody")
    assert status == 0 and "0 errors, 1 warning" in said and "warning, sync: " in wrong


def test_findings_are_in_the_json(count) -> None:
    status, said, _ = count("init.added_to_nothing", "--json")
    found = json.loads(said)
    (finding,) = found["findings"]
    assert status == 1 and found["checks"] == ["memory", "race", "init", "sync"]
    assert (finding["check"], finding["line"], finding["count"]) == ("init", 32, 128)
    assert finding["block"] == [0, 0, 0] and finding["thread"] == [0, 0, 0]
    assert finding["remedy"] and finding["address"] and finding["kind"]


def test_a_fault_that_ends_the_run_is_a_finding_of_its_check(count) -> None:
    status, said, _ = count("memory.past_end", "--json")
    found = json.loads(said)
    assert status == 1 and found["ended_by_a_fault"] and found["findings"][0]["line"] == 7
    status, said, wrong = count("memory.past_end", "--check", "race")
    assert (status, said) == (2, "") and "illegal global access" in wrong
    assert count("sync.wrong_count")[0] == 1


def test_what_was_found_before_a_fault_is_told_too(tmp_path, capsys) -> None:
    file = tmp_path / "ring.cu"
    text = resources.text("kernels/producer_consumer.cu").splitlines()
    left_out = [line for line in text if "wait(&empty" not in line]
    file.write_text("\n".join(left_out))
    shape = ["--entry", "sum", "--grid", "1", "--block", "96", "--dynamic-shared", "3072"]
    arguments = ["--arg", "f32[2048]=rand", "--arg", "f32[256]=zeros", "--arg", "i32=8"]
    assert main(["count", str(file), *shape, *arguments, "--level", "ptx"]) == 1
    said, wrong = capsys.readouterr()
    assert "2 errors" in said and f"{file}:42: error, sync: deadlock" in wrong
    assert f"{file}:55: error, race: write after write" in wrong


def test_a_check_that_does_not_exist_is_named(count) -> None:
    status, _, wrong = count("race.no_barrier", "--check", "races")
    assert status == 2 and "'races'" in wrong and "memory, race, init, sync" in wrong


@pytest.mark.slow  # both engines compile it
def test_large_launches_are_checked_when_asked_for(count, monkeypatch) -> None:
    monkeypatch.setattr(emulator, "LEAST_WORK", -(10**9))
    status, said, _ = count("race.in_place", "--engine", "auto")
    assert status == 0 and "checked nothing (a large launch; ask with --check all)" in said
    status, said, wrong = count("race.in_place", "--engine", "auto", "--check", "race")
    assert status == 1 and "checked race: 1 error" in said and "error, race: " in wrong


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("racy", "Race: write after write, line 3"),
        ("apart", "Line 6 costs 2 × what it could"),
        ("apart", "Below: line 5."),  # where the story begins
    ],
)
def test_a_picture_of_the_command_line_has_what_the_window_finds(
    tmp_path, entry: str, said: str
) -> None:
    file, out = tmp_path / "two.cu", tmp_path / "out.svg"
    file.write_text(
        "__global__ void racy(int* a) {\n    __shared__ int s[64];\n"
        "    s[threadIdx.x / 2] = threadIdx.x; a[threadIdx.x] = s[9]; }\n"
        "__global__ void apart(int* a) {\n    int b = a[threadIdx.x];\n"
        "    a[2 * threadIdx.x + 64] = b; }\n"
    )
    shape = ["--entry", entry, "--grid", "1", "--block", "32", "--arg", "i32[256]=arange"]
    view = ["--view", "picture=findings", "--time", "0", "-o", str(out)]
    assert main(["render", str(file), *shape, *view]) == 0
    assert said in re.sub(r"<[^>]+>", " ", out.read_text()).replace("\u202f", " ")
