"""Notes of where blocks run, put into PTX: executed by the emulator, and assembled."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import UnsupportedError
from gpuviz.compile import compile_cuda, gallery
from gpuviz.course import SCENES
from gpuviz.gpu.placement import SPANS, decode, for_driver, instrument
from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.text.parser import parse
from gpuviz.story.lesson import check_values

RETURNS = """
__device__ __noinline__ int twice(int v) { if (v > 5) return 2 * v; return v + v; }
extern "C" __global__ void f(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i % 3 == 0) { x[i] = -1; return; }
  x[i] = twice(i);
}
extern "C" __global__ void g(int* x) { x[threadIdx.x] = 1; }
"""


def test_results_stay_the_same() -> None:
    """The pointer is null, so notes go to address 0: every store of a note is taken out first."""
    ptx = compile_cuda(RETURNS).ptx
    noted = "\n".join(
        line
        for line in instrument(ptx).splitlines()
        if not (line.startswith(("st.global.u64 [%gpuviz", "red.global")))
    )
    arguments = [np.zeros(96, np.int32), np.int32(90)]
    plain, other = (
        emulate(parse(text), "f", (3, 1, 1), (32, 1, 1), arguments).outputs for text in (ptx, noted)
    )
    assert plain["arg0"].tolist() == other["arg0"].tolist() != [0] * 96


def test_every_end_of_every_kernel_is_noted() -> None:
    ptx = compile_cuda(RETURNS).ptx
    noted = instrument(ptx)
    kernels = ptx.split(".entry")[1:]
    ends = sum(part.count("ret;") for part in kernels)
    assert noted.count("red.global.min") == 2 and noted.count("red.global.max") == ends >= 2
    assert noted.count(f".u64 {SPANS};") == 1


def test_guarded_ends_and_exits_of_functions() -> None:
    ptx = """.version 8.0
.target sm_80
.address_size 64
.func helper()
{
 exit;
 ret;
}
.visible .entry k()
{ // a comment with ret;
 @%p1 ret;
 @!%p2 exit;
 { ret; }
 ret.uni;
}
"""
    lines = [line.strip() for line in instrument(ptx).splitlines()]
    assert lines.count("@!%p1 bra gpuviz_on_2;") == 1 and lines.count("@%p2 bra gpuviz_on_3;") == 1
    assert sum("red.global.max" in line for line in lines) == 4  # all but the function's own ret


def test_text_that_is_no_ptx_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="64-bit PTX"):
        instrument("int main() {}")


@pytest.mark.slow
def test_every_lesson_can_be_assembled(tmp_path: Path) -> None:
    assembler = shutil.which("ptxas")
    if assembler is None:
        pytest.skip("no ptxas here")
    programs = {
        (plan.kernel, plan.defines)
        for lesson in SCENES
        for plan in lesson.plan(check_values(lesson, {}))
    }
    for number, (kernel, defines) in enumerate(sorted(programs)):
        ptx = for_driver(instrument(gallery(kernel, dict(defines)).ptx), (12, 4))
        file = tmp_path / f"{number}.ptx"
        file.write_text(ptx)
        done = subprocess.run(
            [assembler, "-arch=sm_90", str(file), "-o", str(tmp_path / "out")],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{kernel} {defines}: {done.stderr}"


@pytest.mark.parametrize(
    "driver, version",
    [((12, 0), "8.0"), ((12, 8), "8.7"), ((13, 0), "9.0"), ((13, 2), "9.2"), ((14, 1), "9.2")],
)
def test_versions_are_lowered_to_the_drivers(driver: tuple[int, int], version: str) -> None:
    lowered = for_driver(".version 9.2\n.target sm_90", driver)
    assert lowered.splitlines()[0] == f".version {version}"
    assert for_driver(".version 7.0\n", driver) == ".version 7.0\n"


def test_notes_become_a_placement() -> None:
    spans = np.array([[7, 1000, 1500], [-1, -1, 0], [3, 980, 2000]], np.int64)
    placed = decode(spans)
    assert placed.block.tolist() == [0, 2] and placed.sm.tolist() == [7, 3]
    assert placed.start_ns.tolist() == [20, 0] and placed.end_ns.tolist() == [520, 1020]
    assert placed.tick_ns == 0
    assert len(decode(np.full((2, 3), -1, np.int64)).block) == 0
    many = np.stack([np.zeros(9), np.arange(9) * 32, np.arange(9) * 96 + 32], 1).astype(np.int64)
    assert decode(many).tick_ns == 32
