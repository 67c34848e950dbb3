"""Loads that machine code makes only in the lanes that use them."""

import pytest

import gpuviz

pytestmark = pytest.mark.machine_code
STORE = (
    'asm volatile("{{.reg .pred p; setp.eq.u32 p, %2, 0; @p st.global.f32 [%0], %1;}}" '
    ':: "l"(out + blockIdx.x), "f"({value}), "r"(t) : "memory");'
)
KERNEL = """extern "C" __global__ void last(float* out, const float* in)
{{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    float x = s[127];
    {rest}
}}"""


def counted(rest: str) -> tuple[int, int]:
    run = gpuviz.trace(KERNEL.format(rest=rest), 4, 128, ("f32[4]=zeros", "f32[512]=ones"))
    assert (run.arrays["out"] >= 1).all(), "what is computed stays"
    return run.counts["shared_load_requests"], run.counts["shared_load_wavefronts"]


def test_a_load_is_of_the_lanes_that_use_it() -> None:
    """Four warps a block, one of which stores: counted on an H200 for Triton's sums."""
    assert counted(STORE.format(value="x")) == (4, 4)


def test_what_the_assembler_did_not_move_stays() -> None:
    assert counted(STORE.format(value="x * 2 + 1")) == (16, 16)


def test_a_value_that_all_lanes_use_is_loaded_by_all() -> None:
    rest = STORE.format(value="x") + " if (x == -1) out[t] = x;"
    assert counted(rest) == (16, 16)


def test_what_lies_beside_it_is_as_before() -> None:
    run = gpuviz.trace(
        KERNEL.format(rest=STORE.format(value="x")), 4, 128, ("f32[4]=zeros", "f32[512]=ones")
    )
    assert run.counts["shared_store_requests"] == run.counts["global_load_requests"] == 16
    assert run.counts["global_store_requests"] == 4
