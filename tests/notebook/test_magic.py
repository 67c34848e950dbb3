import numpy as np
import pytest

import gpuviz
from gpuviz.base.errors import InputError
from gpuviz.notebook import magic

SCALE = "__global__ void scale(float *x, float a) { x[2 * threadIdx.x] *= a * FACTOR; }"


def test_a_cell_takes_expressions_and_specs() -> None:
    names = {"x": np.ones(64, "f4"), "n": 32, "np": np}
    out, run = magic.cell("--grid 1 --block n -D FACTOR=2 -o done x 1.5", SCALE, names)
    assert out == "done" and (run.arrays["x"][::2] == 3).all() and (names["x"] == 1).all()
    line = "--grid 1 --block n,1 -D FACTOR=2 --inplace x 'np.float32(2)'"
    magic.cell(line, SCALE, names)
    assert names["x"][0] == 4
    _, run = magic.cell("--grid 1 --block 32 -D FACTOR=1 f32[64]=ones 1", SCALE, {})
    assert run.counts["global_load_sectors"] == 8


def test_arguments_that_are_not_given_are_guessed() -> None:
    _, run = magic.cell("--grid 2 --block 32 -D FACTOR=1", SCALE, {})
    assert run.grid == (2, 1, 1) and len(run.arrays["x"]) >= 64


@pytest.mark.parametrize(
    "line, said",
    [
        ("--block 32", "the following arguments are required: --grid"),
        ("--grid 1 --block 32 --what", "unrecognized arguments: --what"),
        ("--grid 1 --block n x", "'n' is neither an argument such as"),
        ("--grid 0 --block 32 f32[64]=ones 1", "grid 0"),
    ],
)
def test_what_is_wrong_is_told(line: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("[", r"\[")):
        magic.cell(line, SCALE, {"x": 1})


@pytest.mark.slow
def test_the_magic_shows_what_came_of_a_cell() -> None:
    shells = pytest.importorskip("IPython.core.interactiveshell")
    capture = pytest.importorskip("IPython.utils.capture")
    shell = shells.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "gpuviz")
    with capture.capture_output() as said:
        shell.run_cell_magic("gpuviz", "--grid 1 --block 32 -D FACTOR=1", SCALE)
    assert isinstance(shell.user_ns["run"], gpuviz.Run)
    assert [next(iter(set(out.data) & {"text/html"})) for out in said.outputs] == ["text/html"] * 2
    assert "<iframe" in said.outputs[0].data["text/html"]
    with capture.capture_output() as said:
        shell.run_cell_magic("gpuviz", "--grid 1 --block 32", SCALE)
    assert "FACTOR" in said.outputs[0].data["text/plain"]
