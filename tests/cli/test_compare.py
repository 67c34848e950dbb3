"""Two launches of anything side by side on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuviz.cli import main
from gpuviz.launch.versions import keep, versions

SOURCE = """__global__ void scale(const float* x, float* y, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i * stride];
}
__global__ void plain(const float* x, float* y, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}
"""
LAUNCH = ["--grid", "4", "--block", "256", "--arg", "f32[8192]=rand", "--arg", "f32[1024]=zeros"]
LAUNCH += ["--arg", "i32=4"]
SECTORS = "global_load_sectors"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "scale.cu"
    made.write_text(SOURCE)
    return made


def compared(capsys: pytest.CaptureFixture[str], *given: object) -> dict[str, object]:
    assert main(["compare", *map(str, given), "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_two_kernels_of_a_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(capsys, f"{file} --entry scale", "--entry plain", *LAUNCH)
    # 32 warps: 16 sectors each in steps of 16 bytes, 4 side by side
    assert found["counts"][SECTORS] == {"ratio": 0.25, "a": 512, "b": 128}
    assert found["counts"]["global_store_sectors"]["ratio"] == 1
    assert {(p["a"] or {}).get("line") for p in found["lines"]} == {3, None}


@pytest.mark.slow
def test_two_files_line_by_line(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.cu"
    other.write_text("// faster\n" + SOURCE.replace("x[i * stride]", "x[i]", 1))
    arguments = [f"{file} --entry scale", f"{other} --entry scale", *LAUNCH]
    (line,) = compared(capsys, *arguments)["lines"]
    assert (line["a"]["line"], line["b"]["line"]) == (3, 4) and line["ratio"] == 0.4
    assert main(["compare", *arguments]) == 0
    said = capsys.readouterr().out
    assert f"{SECTORS}" in said and "0.25x" in said and "y[i] = 2 * x[i];" in said


@pytest.mark.parametrize(
    ("b", "key", "ratio"),
    [
        ("--block 128", SECTORS, 0.5),
        ("--arg what=3", "", None),
        pytest.param("--arch sm_80", SECTORS, 1.0, marks=pytest.mark.slow),
        ("--level ptx", SECTORS, 1.0),
    ],
)
def test_b_is_a_but_for_what_it_says(
    file: Path, b: str, key: str, ratio: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [f"{file} --entry scale", b, *LAUNCH]
    if ratio is None:
        assert main(["compare", *given]) == 2
        return
    assert compared(capsys, *given)["counts"][key]["ratio"] == ratio


def test_an_earlier_text_of_a_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", str(file), "--entry", "scale", *LAUNCH, "--check", "none"]) == 0
    file.write_text(SOURCE.replace("x[i * stride]", "x[i]"))
    capsys.readouterr()
    found = compared(capsys, f"{file}@-1 --entry scale", f"{file} --entry scale", *LAUNCH)
    assert found["counts"][SECTORS] == {"ratio": 0.25, "a": 512, "b": 128}
    assert main(["compare", f"{file}@-2 --entry scale", f"{file} --entry scale", *LAUNCH]) == 2
    assert "no such earlier version of the file (there are 1)" in capsys.readouterr().err


def test_texts_are_kept_once_and_only_so_many(file: Path) -> None:
    keep(file)
    keep(file)
    assert len(versions(file)) == 1
    for number in range(31):
        file.write_text(f"// {number}")
        keep(file)
    known = versions(file)
    assert len(known) == 30 and known[-1].text() == "// 30"


@pytest.mark.slow
def test_lessons(capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(capsys, "--scene coalescing --set stride=1", "--set stride=8")
    assert (
        found["counts"]["global_load_sectors"]["ratio"]
        == 8 * found["counts"]["global_load_requests"]["ratio"]
    )
