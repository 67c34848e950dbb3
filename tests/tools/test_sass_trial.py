"""The trial that executes machine code leaves and counts what the PTX does."""

from typing import Any

import numpy as np
import pytest

import gpuviz
from gpuviz.compile import compile_cuda
from gpuviz.sass.listing import disassemble, read_listings
from tools.sass_trial.__main__ import Listener, state
from tools.sass_trial.flow import Machine, Warp
from tools.sass_trial.operands import UnknownError

pytestmark = pytest.mark.machine_code
SOURCE = """extern "C" __global__ void k(const int* a, int* out, float* f, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, x = a[i];
    for (int j = 0; j < (t & 7); j++) x = x * 3 + a[(x + j) & 127];
    if (x % 5 == 0) x /= 7; else x = __popc(x) << (t & 3);
    s[63 - t] = x;
    __syncthreads();
    out[i] = s[t] + __shfl_xor_sync(0xffffffffu, x, 5) + n;
    f[i] = (float)x / (float)(t + 1);
    atomicAdd(&out[128], 1);
}"""


def executed(source: str, arguments: list[Any]) -> tuple[list[Any], Listener, Machine]:
    program = compile_cuda(source, arch="sm_90")
    machine, listener = Machine(read_listings(disassemble(program.cubin))["k"]), Listener()
    s, places, lanes = state(program.cubin, [2], [64], arguments, listener)
    machine.run(s, lanes)
    return places, listener, machine


def test_memory_and_counts_are_those_of_the_ptx() -> None:
    a = np.random.default_rng(1).integers(-999, 999, 128).astype(np.int32)
    arguments = [a, np.zeros(129, np.int32), np.zeros(128, np.float32), np.int32(3)]
    places, listener, machine = executed(SOURCE, arguments)
    run = gpuviz.trace(SOURCE, 2, 64, tuple(x.copy() for x in arguments), arch="sm_90")
    for place, name in ((places[1], "out"), (places[2], "f")):
        assert place.tobytes() == np.asarray(run.arrays[name]).tobytes()
    counts = run.counts.to_dict()
    predicted = dict(zip(counts["quantity"], counts["predicted"], strict=True))
    made = {str(k): v for k, v in listener.counter.result().totals.items()}
    names = [f"global_{op}_sectors" for op in ("store", "reduction")]
    assert [made[n] for n in names] == [predicted[n] for n in names]
    assert machine.issued()["store"] == predicted["shared_store_requests"] == 4


def test_an_opcode_that_is_not_in_the_table_is_named() -> None:
    source = 'extern "C" __global__ void k(float* f) { f[0] = tex1D<float>(1ull, f[1]); }'
    with pytest.raises(UnknownError, match="TEX"):
        executed(source, [np.zeros(2, np.float32)])


def test_nobody_waits_for_lanes_that_gave_way() -> None:
    """Half of a warp leaves a loop with a YIELD: it goes on alone."""
    warp = Warp(0, 0xF, 0xF, barriers=[0xF] + [0] * 15)
    warp.part(0x3, 10, 20)
    assert (warp.pc, warp.lanes) == (20, 0xC), "on a tie those that do not jump"
    warp.wait(0, warp.barriers[0], 30)
    assert (warp.pc, warp.lanes) == (10, 0x3)
    warp.give_way(11)
    assert (warp.pc, warp.lanes) == (30, 0xC) and warp.barriers[0] == 0x3
