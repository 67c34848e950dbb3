"""Loads that machine code makes once before a loop, not in each turn."""

import pytest

import gpuviz

pytestmark = pytest.mark.machine_code
WARPS, TURNS = 4, 10
KERNEL = """extern "C" __global__ void again(float* out, const float* in, int turns)
{{
    __shared__ float s[128];
    unsigned at = __cvta_generic_to_shared(s + threadIdx.x);
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = 0.0f, x;
    #pragma unroll 1
    for (int k = 0; k < turns; ++k) {{
        {load}
        sum = sum * 0.5f + x;
    }}
    out[threadIdx.x] = sum;
}}"""
LOAD = 'asm volatile("{load} %0, [%1];" : "=f"(x) : "r"({at}));'


def requests(load: str, turns: int = TURNS) -> int:
    given = ("f32[128]=zeros", "f32[2048]=ones", f"i32={turns}")
    run = gpuviz.trace(KERNEL.format(load=load), 1, 128, given)
    assert run.arrays["out"] == pytest.approx(2 - 0.5 ** (turns - 1) if turns else 0.0)
    return run.counts["shared_load_requests"]


def test_what_each_turn_would_load_the_same_is_loaded_once() -> None:
    """As counted on an H200 of the fp64 product in fragments.cu: 8 448 requests, not 64 times."""
    assert requests(LOAD.format(load="ld.shared.f32", at="at")) == WARPS


def test_a_loop_that_is_not_entered_loads_nothing() -> None:
    assert requests(LOAD.format(load="ld.shared.f32", at="at"), turns=0) == 0


def test_what_has_to_be_loaded_in_each_turn_stays() -> None:
    assert requests(LOAD.format(load="ld.volatile.shared.f32", at="at")) == WARPS * TURNS


def test_another_address_in_each_turn_stays() -> None:
    turned = LOAD.format(load="ld.shared.f32", at="at ^ ((k & 1) << 2)")
    assert requests(turned) == WARPS * TURNS
