"""What tensor cores take, held against an H200's own clock (`benchmarks/tensor_cycles.py`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.tensor_cycles import COLUMNS, FORMS, ROUNDS, group, kernel
from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.base.errors import UnavailableError
from gpuviz.compile import compile_cuda
from gpuviz.launch.job import Job
from gpuviz.ptx.options import Options
from gpuviz.run.predicted import launched
from gpuviz.sass.listing import read_listings
from gpuviz.timing.device import H200
from gpuviz.timing.prediction import Prediction, predict
from gpuviz.timing.schedule import not_measured, shape_of
from gpuviz.timing.timeline import timeline_of
from gpuviz.timing.warp_states import State

FILE = Path(__file__).parent.parent / "data" / "tensor_cycles_h200.json"
MEASURED = json.loads(FILE.read_text())
TURNS = (16, 48)


def _predicted(text: str, threads: int, turns: int) -> Prediction:
    given = tuple(map(parse, ("f64[512]=zeros", "i64[16]=zeros", f"i32={turns}")))
    program = compile_cuda(text, arch="sm_90a")
    job = Job(program, "timed", (1, 1, 1), (threads, 1, 1), given)
    arch = architecture("9.0")
    return predict(launched(job, arch, H200, Options()), H200, cold=False)


def _cycles(text: str, threads: int, each: int) -> float:
    """Of an instruction of a warp, as the benchmark finds it."""
    few, many = (_predicted(text, threads, turns).cycles for turns in TURNS)
    return (many - few) / (TURNS[1] - TURNS[0]) / each


def _forms() -> list[object]:
    """Each; quick tests look at one that the assembler times."""
    quick = {"f16 16816"}
    return [pytest.param(n, marks=[] if n in quick else pytest.mark.slow) for n in FORMS]


@pytest.mark.machine_code
@pytest.mark.parametrize("name", _forms())
def test_products_keep_a_tensor_core_as_long_as_an_h200s(name: str) -> None:
    """Four warps each have eight sums under way."""
    found = _cycles(kernel(FORMS[name], 8), 512, ROUNDS * 8)
    assert found == pytest.approx(MEASURED[f"{name}, 8"]["512"], rel=0.06)


@pytest.mark.machine_code
@pytest.mark.parametrize("name", _forms())
def test_dependent_products_follow_each_other_as_on_an_h200(name: str) -> None:
    found = _cycles(kernel(FORMS[name], 1), 32, ROUNDS)
    # A jump that the assembler lets wait for a product costs less there than here.
    assert found == pytest.approx(MEASURED[f"{name}, 1"]["32"], abs=5.0)


@pytest.mark.slow
@pytest.mark.machine_code
@pytest.mark.parametrize("columns", COLUMNS)
def test_a_group_of_wgmma_takes_as_long_as_an_h200s(columns: int) -> None:
    found = _cycles(group(columns), 128, 4)
    assert found == pytest.approx(MEASURED[f"wgmma 64x{columns}x16"]["128"], rel=0.15)


@pytest.mark.slow
@pytest.mark.machine_code
def test_warps_wait_for_tensor_cores() -> None:
    made = timeline_of(_predicted(group(128), 128, 200))
    taken = made.spans.time_in(0.0, made.recorded)
    assert taken[State.TENSOR] == max(taken[State.DONE + 1 :])


def test_shapes_are_told_apart() -> None:
    code = read_listings("""\
.section .text.k
        /*0000*/  HMMA.16816.F32.BF16 R4, R8, R12, R4 ;
        /*0010*/  HMMA.1688.F32.TF32 R4, R8, R12, R4 ;
        /*0020*/  HMMA.SP.16832.F32 R4, R8, R12, R4, R20, 0x0 ;
        /*0030*/  HFMA2.MMA R0, -RZ, RZ, 0, 0 ;
        /*0040*/  HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0 ;
        /*0050*/  IMMA.8816.S8.S8 R4, R8, R12, R4 ;
""")["k"].instructions
    shapes = ["HMMA.16816", "HMMA.1688.TF32", "HMMA.SP.16832", "", "GMMA.64x128", "IMMA.8816"]
    assert [shape_of(one) for one in code] == shapes
    assert not_measured(code[:-1], H200) == ""
    assert not_measured(code, H200) == "IMMA.8816"


@pytest.mark.machine_code
def test_a_shape_that_was_not_measured_gets_no_time() -> None:
    text = """
extern "C" __global__ void timed(double* out, long long* time, int turns) {
  int c[2] = {}, a = threadIdx.x, b = turns;
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
    : "+r"(c[0]), "+r"(c[1]) : "r"(a), "r"(b));
  out[threadIdx.x] = c[0] + c[1];
}"""
    with pytest.raises(UnavailableError, match=r"how long IMMA\.\S+ takes was not measured"):
        _predicted(text, 32, 1)
