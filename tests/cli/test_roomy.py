"""Buffers and shared memory that nobody said the size of: as large as the kernel wants them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuviz.cli import main

FAR = "__global__ void far(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x * 4000]; }"
WILD = "__global__ void wild(float* x) { x[1L << 50] = 1; }"
TILE = """__global__ void tile(float* x) {
    extern __shared__ float s[];
    s[threadIdx.x * 200] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[(63 - threadIdx.x) * 200];
}"""
HELD = """struct Held { float* data; int step; };
__global__ void held(Held h) { h.data[threadIdx.x * (h.step + 300)] = 1; }"""


@pytest.fixture
def count(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Count one block of 64 threads: exit status and what is told on stderr."""

    def counted(kernel: str, *more: str) -> tuple[int, str]:
        file = tmp_path / "kernel.cu"
        file.write_text(kernel)
        status = main(["count", str(file), "--grid", "1", "--block", "64", *more])
        return status, capsys.readouterr().err

    return counted


def test_a_buffer_that_was_only_proposed_is_as_long_as_the_kernel_wants_it(count) -> None:
    status, said = count(FAR)
    assert status == 0
    assert "beyond what was proposed: x: f32[262144]=rand, y: f32[262144]=zeros" in said


def test_a_buffer_that_was_said_stays_as_long_and_what_lies_beyond_is_an_error(count) -> None:
    status, said = count(FAR, "--arg", "x=rand(4096)")
    assert status == 1 and "kernel.cu:1: error, memory: illegal global" in said


def test_an_access_to_nowhere_is_told_as_of_the_launch_that_was_asked_for(count) -> None:
    status, said = count(WILD)
    assert status == 1 and "in no buffer" in said and "beyond what was proposed" not in said


def test_shared_memory_that_nobody_said_is_all_that_a_block_may_have(count) -> None:
    status, said = count(TILE)
    assert status == 0 and "232,448 bytes of dynamic shared memory" in said.replace("\u202f", ",")
    assert count(TILE, "--dynamic-shared", "1024")[0] == 1


def test_pointers_of_structures_are_longer_too(count) -> None:
    status, said = count(HELD)
    assert status == 0 and "h: {16; data@0 f32[32768]=zeros; step@8 i32=" in said


def test_a_race_that_follows_from_a_proposed_size_is_no_error_of_the_kernel(count) -> None:
    kernel = (
        "__global__ void rows(float* x, int rest) { x[threadIdx.x * (rest - 1)] = threadIdx.x; }"
    )
    status, said = count(kernel)
    assert status == 0 and "warning, race: as proposed (rest = i32=1):" in said
    assert count(kernel, "--arg", "rest=1")[0] == 1


CHASE = """__global__ void chase(const int* next, const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (n & 1) y[i] = x[next[i]]; else y[i + n] = x[i];
}
int main() {
    int *h = (int*)malloc(64 * sizeof(int)), *d; float *x, *y;
    cudaMalloc(&d, 64 * sizeof(int)); cudaMalloc(&x, 32 * sizeof(float)); cudaMalloc(&y, 256);
    for (int i = 0; i < 64; i++) h[i] = FILL;
    cudaMemcpy(d, h, 64 * sizeof(int), cudaMemcpyHostToDevice);
    chase<<<1, 64>>>(d, x, y, COUNT);
}"""


@pytest.mark.parametrize(
    ("fill", "n", "status", "said"),
    [
        ("rand() % 32", 1, 0, "warning, memory: as proposed (next[] = arange(64)): illegal"),
        ("rand() % 32", 64, 1, "error, memory: illegal"),
        ("i * 7 % 32", 1, 0, ""),
        ("i * 7 % 33", 1, 1, "error, memory: illegal"),
    ],
)
def test_values_that_nobody_knows_accuse_no_kernel_and_those_of_the_host_do(
    fill: str, n: int, status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "chase.cu"
    file.write_text(CHASE.replace("FILL", fill).replace("COUNT", str(n)))
    assert main(["count", str(file), "--launch", "10"]) == status
    told = capsys.readouterr()
    assert said in told.err and ("illegal" in told.err) == ("illegal" in said)
    assert ("rests on 1 guess: next[]" in told.out) == fill.startswith("rand")
