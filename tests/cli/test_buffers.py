"""What a launch made of its buffers, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpuviz.cli import main

SOURCE = """__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] + (i == 700 ? 0.5f : 0.0f);
}
"""
LAUNCH = ["--grid", "4", "--block", "256", "--check", "none", "--arg", "i32=1000", "--arg"]
LAUNCH += ["f32=2", "--arg", "f32[1024]=rand", "--arg", "f32[1024]=arange"]
RIGHT = "where(arange(1024) < n, a * x + y + 0.5 * (arange(1024) == 700), y)"


@pytest.fixture
def saxpy(tmp_path: Path) -> list[str]:
    file = tmp_path / "saxpy.cu"
    file.write_text(SOURCE)
    return ["count", str(file), *LAUNCH]


def test_buffers_are_shown_written_and_as_expected(
    saxpy: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "y.npy"
    assert main([*saxpy, "--expect", f"y={RIGHT}", "--out", f"y={file}", "--json"]) == 0
    x, y = json.loads(capsys.readouterr().out)["buffers"]
    after = np.load(file)
    assert (x["changed"], y["changed"]) == (0, 1000)
    assert y["before"] == [0, 1, 2, 3, 4, 5] and y["after"] == after[:6].tolist()
    assert (
        y["expected"]["wrong"] == 0 < y["expected"]["largest_difference"] < y["expected"]["bound"]
    )
    assert main([*saxpy, "--expect", f"y={file}"]) == 0
    assert "y: every element is as expected" in capsys.readouterr().out


def test_the_largest_difference_is_told_with_its_place(
    saxpy: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*saxpy, "--expect", "y=where(arange(1024) < n, a * x + y, y)"]) == 1
    said = capsys.readouterr().out
    assert "y: 1 element is wrong; the largest difference is 0.5" in said and "at [700]" in said


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--expect", "z=x"], "there is no buffer 'z'"),
        (["--expect", "y=x[:3]"], "has 3 elements, the buffer 'y' has 1,024"),
        (["--expect", "y=q"], "there is no 'q'"),
        (["--out", "y=y.txt"], "--out writes .npy and .bin files"),
        (["--out", "q=y.npy"], "--out q: there is no such buffer"),
        (["--expect", "y=missing.npy"], "cannot read missing.npy"),
    ],
)
def test_what_makes_no_sense_is_said(
    saxpy: list[str], option: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*saxpy, *option]) == 2
    assert said in capsys.readouterr().err
