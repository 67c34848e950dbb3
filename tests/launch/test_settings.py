"""NAME.gpuviz.toml: read, written with what its user wrote around it, used by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import FormatError
from gpuviz.cli import main
from gpuviz.compile import nvrtc
from gpuviz.launch.settings import Settings, beside, changed, load, read, save
from gpuviz.launch.texts import LaunchTexts
from gpuviz.run import verification
from gpuviz.sweeps import axis
from gpuviz.sweeps.subject import FileLaunch, of_file

WRITTEN = """# mine
kernel = "scale"

[build]
macros = { TILE = 16, DEBUG = "" }  # as in the Makefile
include = ["../common"]
options = ["-use_fast_math"]

[launch.scale]
grid = "ceil(n / block.x)"
block = [32, 2]
arguments = { n = 4096, x = "rand(n)", p = { scale = 0.5, at = [1, 2] } }
data = { table = [1, 2.5] }
sizes.m = 64
"""


def test_what_is_written_is_read_and_written_again_as_it_was(tmp_path: Path) -> None:
    found = read(WRITTEN, tmp_path / "own.gpuviz.toml")
    assert found == Settings(
        "scale",
        {"TILE": "16", "DEBUG": ""},
        (tmp_path / "../common",),
        ("-use_fast_math",),
        {
            "scale": LaunchTexts(
                "ceil(n / block.x)",
                "32, 2",
                "",
                {"n": "4096", "x": "rand(n)", "p.scale": "0.5", "p.at": "[1, 2]"},
                {"table": "[1, 2.5]"},
                {"m": "64"},
            )
        },
    )
    again = changed(WRITTEN, found, tmp_path)
    assert "# mine" in again and "# as in the Makefile" in again
    assert read(again, tmp_path / "own.gpuviz.toml") == found


def test_saved_settings_are_those_loaded(tmp_path: Path) -> None:
    file = tmp_path / "own.cu"
    assert load(file) == Settings()
    launch = LaunchTexts("4", "n, 2", "", {"p.n": "3", "p.data": "rand(p.n)"}, {}, {"n": "32"})
    kept = Settings("f", {"N": "4"}, (tmp_path / "inc",), ("-std=c++20",), {"f<int, 4>": launch})
    save(file, kept)
    assert load(file) == kept
    assert 'include = ["inc"]' in beside(file).read_text()
    save(file, Settings())
    assert load(file) == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel = 3", 'x.gpuviz.toml: kernel is 3: write a text, as in kernel = "name"'),
        ("kernal = 'f'", "kernal is not known here; known are: kernel, build, launch"),
        ("[build]\ninclude = 'a'", "build.include is 'a': write a list of texts"),
        ("[build]\ninclude = ['//host/share']", "build.include has .*leads to another computer"),
        ("[launch.f]\ngird = 3", "launch.f.gird is not known here; known are: grid, block"),
        ("[launch.f.arguments]\nn = 1979-05-27", "launch.f.arguments.n is .*write a number"),
        ("[launch.f]\narguments = 3", "launch.f.arguments is 3: write a table"),
        ("[launch]\nf = 3", r"launch.f is 3: write a table, \[launch.f\]"),
        ("a = ", "x.gpuviz.toml: no TOML"),
    ],
)
def test_bad_entries_are_told_with_file_key_and_remedy(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(text, Path("x.gpuviz.toml"))


SOURCE = """#include "factor.h"
__constant__ float table[2] = {1, 1};
struct P { float scale; int n; };
__global__ void scale(float* x, P p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n) x[i] *= p.scale * FACTOR * TILE * table[1];
}
__global__ void other(float* x) { x[threadIdx.x] = 1; }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "factor.h").write_text("#define FACTOR 2\n")
    (tmp_path / "src").mkdir()
    made = tmp_path / "src" / "own.cu"
    made.write_text(SOURCE)
    beside(made).write_text(
        """kernel = "scale"
build = { macros = { TILE = 3 }, include = ["../far"] }
[launch.scale]
grid = "ceil(p.n / block.x)"
block = 32
arguments = { p = { n = 64, scale = 0.5 }, x = "rand(p.n)" }
"""
    )
    return made


@pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
def test_the_command_line_reads_them_and_goes_before_them(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def count(*more: str) -> dict[str, object]:
        assert main(["count", str(file), "--json", *more]) == 0
        said = capsys.readouterr()
        assert "proposed" not in said.err
        return json.loads(said.out)

    assert (count()["grid"], count()["block"]) == ([2, 1, 1], [32, 1, 1])
    assert count("--arg", "p.n=100")["grid"] == [4, 1, 1]
    assert count("--block", "16", "--arg", "p={n=16}", "--set", "table=[1, 9]")["grid"] == [1, 1, 1]
    assert main(["check", str(file)]) == 0
    said = capsys.readouterr().out
    assert "takes x f32[], p.scale f32, p.n i32" in said and "data table f32*2" in said
    assert "own.gpuviz.toml" in said
    assert main(["count", str(file), "--entry", "other", "--grid", "1", "--block", "32"]) == 0
    assert "proposed: x: f32[4096]=zeros" in capsys.readouterr().err
    assert main(["count", str(file), "--set", "tabel=3"]) == 2
    assert "variable (there are: table)" in capsys.readouterr().err


@pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
def test_a_launch_file_names_files_as_seen_from_itself(tmp_path: Path) -> None:
    (tmp_path / "own.cu").write_text("__global__ void f(float* x) { x[threadIdx.x] += 1; }")
    np.save(tmp_path / "x.npy", np.zeros(32, np.float32))
    launch = {"source": "own.cu", "grid": [1], "block": [32], "args": ["f32[32]=@x.npy"]}
    (tmp_path / "l.json").write_text(json.dumps({"launches": [launch]}))
    measured = verification.load(tmp_path / "l.json")
    [spec] = verification.job_of(measured, measured.launches[0]).arguments
    assert str(spec) == f"f32[32]=@{tmp_path / 'x.npy'}"


@pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
def test_a_sweep_varies_an_argument_and_sizes_follow(tmp_path: Path) -> None:
    file = tmp_path / "own.cu"
    file.write_text(
        "__global__ void f(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;"
        " if (i < n) x[i] = TILE; }"
    )
    save(file, Settings("f", {"TILE": "2"}, (), (), {"f": LaunchTexts("ceil(n / TILE)", "TILE")}))
    axes = [axis.parse("n=8,32"), axis.parse("TILE=4,8")]
    launch = FileLaunch(file, "", "", "", arguments=("x=zeros(n)",), settings=load(file))
    subject = of_file(launch, "sm_90", axes)
    found = [subject.launches(cell)[""] for cell in axis.cells(axes)]
    assert [(one.grid[0], one.block[0], str(one.arguments[0])) for one in found] == [
        (2, 4, "f32[8]=zeros"),
        (8, 4, "f32[32]=zeros"),
        (1, 8, "f32[8]=zeros"),
        (4, 8, "f32[32]=zeros"),
    ]
