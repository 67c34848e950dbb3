"""Which engine runs a launch, and what is kept on disk."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from gpuviz.base.errors import KernelFault
from gpuviz.cli import main
from gpuviz.ptx import emulator
from gpuviz.ptx.compiled import build
from gpuviz.ptx.emulator import Options, emulate
from tests.ptx.launching import compiled

DOUBLE = """extern "C" __global__ void k(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < n; ++j) a[i] = a[i] * 0.5f + 1.0f; }
"""


def run(engine: str, turns: int = 3, blocks: int = 2, **more):
    arguments = [np.ones(64 * blocks, np.float32), np.int32(turns)]
    options = Options(engine=engine, **more)
    grid, block = (blocks, 1, 1), (64, 1, 1)
    return emulate(compiled(DOUBLE, "sm_90"), "k", grid, block, arguments, options=options)


def test_few_instructions_go_to_numpy_and_llvm_is_not_even_loaded():
    result = run("auto")
    assert result.engine == "numpy" and "are few" in result.engine_note
    code = "import sys, gpuviz.ptx.emulator; sys.exit('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_llvm_numpy_serves_and_says_so(monkeypatch):
    monkeypatch.setattr(build, "available", lambda: False)
    result = run("compiled")
    assert result.engine == "numpy" and "no llvmlite" in result.engine_note


def test_machine_code_is_kept_and_a_damaged_entry_is_made_again(monkeypatch):
    first = run("compiled")
    assert first.engine == "compiled"
    monkeypatch.setattr(build, "_LOADED", {})
    monkeypatch.setattr(build, "_object", lambda part: pytest.fail("it is on disk"))
    assert run("compiled").outputs["arg0"].tobytes() == first.outputs["arg0"].tobytes()
    for file in build.CACHE.folder.iterdir():
        file.write_bytes(file.read_bytes()[:-7])
    monkeypatch.undo()
    monkeypatch.setattr(build, "_LOADED", {})
    assert run("compiled").engine == "compiled"


def test_a_mistake_costs_time_alone(monkeypatch):
    monkeypatch.setattr(build, "_LOADED", {})
    monkeypatch.setattr(build, "_kept", lambda name, make: {}["nothing"])
    result = run("compiled")
    assert result.engine == "numpy" and "a mistake of its own" in result.engine_note


def test_count_says_which_engine_ran(tmp_path, capsys):
    (tmp_path / "k.cu").write_text(DOUBLE)
    launch = ["count", str(tmp_path / "k.cu"), "--grid", "2", "--block", "64"]
    launch += ["--arg", "f32[128]=ones", "--arg", "i32=3", "--level", "ptx"]
    assert main([*launch, "--engine", "compiled"]) == 0
    assert "executed by the compiled engine" in capsys.readouterr().out
    assert main(launch) == 0
    assert "engine" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_long_loop_of_few_threads_is_much_work():
    assert run("auto", turns=60_000, blocks=8).engine == "compiled"


def test_the_budget_names_the_loop():

    with pytest.raises(KernelFault, match=r"may never end.*limit of 1,000 thread instructions"):
        run("compiled", turns=2_000_000_000, instructions=1000)


NESTED = """extern "C" __global__ void k(float* a, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) sum += i ^ j;
  a[blockIdx.x * blockDim.x + threadIdx.x] = sum; }
"""


def nested(engine: str, **more):
    arguments = [np.ones(64, np.float32), np.int32(60)]
    options = Options(engine=engine, **more)
    program = compiled(NESTED, "sm_90")
    return emulate(program, "k", (1, 1, 1), (64, 1, 1), arguments, options=options)


def test_loops_within_loops_go_to_the_compiled_engine_before_much_is_lost(monkeypatch):
    """Of one block nothing is done until all is: as long as code takes to be made is waited."""
    assert nested("auto").engine == "numpy"
    monkeypatch.setattr(emulator, "_LOST", 1e-3)
    monkeypatch.setattr(emulator, "_seconds_to_compile", lambda launched: 1e-3)
    found, wanted = nested("auto"), nested("numpy")
    assert found.engine == "compiled" and found.coverage.how == "all" and not found.coverage.why
    assert found.outputs["arg0"].tobytes() == wanted.outputs["arg0"].tobytes()
    assert found.trace.thread_instructions == wanted.trace.thread_instructions
    looked = nested("auto", checks=("race",))
    assert looked.engine == "numpy" and looked.checked == ("race",)  # as was asked for
    left = nested("auto", checks=("race",), thorough=False)
    assert left.engine == "compiled" and left.checked == ()


def test_a_busy_machine_leaves_time_to_compile(monkeypatch):
    """A thread that gets a tenth of the time has its trial end when its share of all is spent."""
    now = {"thread_time": 5.0, "monotonic": 100.0}
    for name in now:
        monkeypatch.setattr(emulator.time, name, lambda name=name: now[name])
    clock = emulator._own_time(0.5)
    now["monotonic"] += 8.0
    now["thread_time"] += 1.0
    assert clock() == 4.0
    now["thread_time"] += 5.0
    assert clock() == 6.0
