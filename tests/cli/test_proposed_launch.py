"""What `gpuviz count` launches where nobody says how: as the host code does, else as may do."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import LaunchError
from gpuviz.cli import main, parser
from gpuviz.cli.launch import jobs
from gpuviz.gpu.client import launch_of
from gpuviz.launch.proposals import are_of_matrices, side_of
from gpuviz.run import emulated

BOUND = "__global__ __launch_bounds__(64) void one(float* x) { x[threadIdx.x] = 1; }"
PRODUCT = """template <typename T, int TILE> __global__ void product(
    const T* a, const T* b, T* c, int M, int N, int K) { c[threadIdx.x] = M + N + K; }
template __global__ void product<float, 128>(const float*, const float*, float*, int, int, int);"""
TWICE = """#include <vector>
__global__ void twice(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
int asked();
void first(float* x) { twice<<<asked(), 32>>>(x, 8); }
void second(float* x, int n) { twice<<<n / 32 + 1, 32>>>(x, n); }
__global__ void once(float* x) { x[0] = 1; }
"""


@pytest.fixture
def count(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Count a kernel of a text: what is told on stderr. The launch must succeed."""

    def counted(text: str, *more: str) -> str:
        file = tmp_path / "kernel.cu"
        file.write_text(text)
        assert main(["count", str(file), *more]) == 0
        return capsys.readouterr().err

    return counted


def test_a_launch_that_nobody_says_is_proposed_with_the_block_the_kernel_is_bound_to(count) -> None:
    named = ("--entry", "one", "--check", "none")
    assert "not said, and proposed: --grid 16, --block 64" in count(BOUND, *named)
    assert "proposed: --grid 16\n" in count(BOUND, *named, "--block", "32")


def test_of_several_launches_the_first_whose_size_the_text_says_is_made(count) -> None:
    said = count(TWICE, "--entry", "twice", "--check", "none")
    assert "as the host code does at line 5; --launch LINE chooses another: 4 (twice)" in said
    assert "proposed: --grid 16, --block 256" in count(TWICE, "--entry", "once", "--check", "none")


def test_launches_of_headers_are_made_where_the_file_has_none(count, tmp_path: Path) -> None:
    header = TWICE.replace("asked()", "3").replace("void second", "void unused")
    (tmp_path / "twice.cuh").write_text(header)
    said = count('#include "twice.cuh"\n', "--entry", "twice", "--check", "none")
    assert "as the host code does at line 4 of twice.cuh" in said


def test_sizes_of_matrices_are_square_and_a_tile_at_least(count) -> None:
    said = count(PRODUCT, "--grid", "1", "--block", "32")
    assert "a: f32[16384]=rand" in said and "M: i32=128, N: i32=128, K: i32=128" in said


def test_tiles_are_powers_of_two_among_what_a_template_is_made_with() -> None:
    assert side_of("void tile<float, 128, 96ul, 4096, (int)8>(float*)") == 128
    assert side_of("void plain(int, float*)") == 64
    assert are_of_matrices(["p.M", "n"]) and not are_of_matrices(["n", "lda"])


FETCHED = """#include <cuda.h>
__device__ unsigned shared(void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__global__ void fetched(const CUtensorMap* map, float* out) {
    __shared__ alignas(128) float tile[8 * 8];
    __shared__ alignas(8) unsigned long long full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared(&full)));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;"
                     :: "r"(shared(&full)) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3}], [%4];" :: "r"(shared(tile)), "l"(map), "r"(4), "r"(0),
                     "r"(shared(&full)) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; wait: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;"
                 " @!p bra wait; }" :: "r"(shared(&full)) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}"""


def test_a_pointer_to_a_tensor_map_is_given_one(tmp_path: Path) -> None:
    made = "tensormap(f32[8,16]=arange, box=8x8)"
    file = tmp_path / "fetched.cu"
    file.write_text(FETCHED)
    words = ["count", str(file), "--grid", "1", "--block", "64", "--arg", f"map={made}"]
    job = jobs(parser("count").parse_args(words))[""]
    out = emulated.run(job, architecture("sm_90")).outputs["out"]
    rows = np.arange(128, dtype=np.float32).reshape(8, 16)
    assert out[:64].reshape(8, 8).tolist() == rows[:, 4:12].tolist()
    with pytest.raises(LaunchError, match="is a pointer to a tensor map"):
        launch_of(job)


ROWS = """template <typename Index, typename Value> __global__ void rows(
    int count, const Index* offsets, const Value* x, Value* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  for (Index i = offsets[row]; i < offsets[row + 1]; i++) y[row] += x[i];
}
void run(int* offsets, double* x, double* y) { rows<int, double><<<2, 32>>>(63, offsets, x, y); }
"""


def test_what_pointers_of_a_template_point_to_is_what_it_is_made_with(
    count, tmp_path: Path
) -> None:
    said = count(ROWS)
    assert "offsets: i32[4096]=arange, x: f64[4096]=rand, y: f64[4096]=zeros" in said


PARTLY = """#include <cstdio>
__global__ void add(float* a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += 1; }
__global__ void flat(float* a, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    a[y * gridDim.x * blockDim.x + x] = w; }
int asked();
void first(float* a) { add<<<asked(), 128>>>(a, 1000); }
void second(float* a) { flat<<<asked(), asked()>>>(a, 3); }
"""


def test_what_a_launch_of_the_file_leaves_open_is_proposed_and_told(count) -> None:
    said = count(PARTLY, "--launch", "8", "--check", "none")
    assert "not said, and proposed: --grid ceil(n / block.x)\n" in said
    assert "--grid 4,4, --block 16,16\n" in count(PARTLY, "--launch", "9", "--check", "none")


def test_counts_say_how_many_guesses_they_rest_on(
    count, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count(PARTLY, "--launch", "8", "--check", "none", "--json")
    file = str(tmp_path / "kernel.cu")
    assert main(["count", file, "--launch", "8", "--check", "none"]) == 0
    assert "rests on 2 guesses: grid, a\n" in capsys.readouterr().out
    assert main(["count", file, "--launch", "8", "--check", "none", "--json"]) == 0
    guesses = json.loads(capsys.readouterr().out)["guesses"]
    assert guesses == {"grid": "ceil(n / block.x)", "a": "f32[4096]=zeros"}


BEYOND = """__global__ void k(float* a, int n) { a[n + threadIdx.x] = 1; }
int main(int argc, char** argv) { float* a; cudaMalloc(&a, 64 * sizeof(float));
    k<<<1, 64>>>(a, KNOWN); }"""


@pytest.mark.parametrize(
    ("known", "severity", "words"),
    [
        ("1", "error", "error, memory: illegal global access"),
        ("argc * atoi(argv[1])", "warning", "warning, memory: as proposed (n = i32=40): illegal"),
    ],
)
def test_the_size_that_the_host_allocates_is_a_statement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], known: str, severity: str, words: str
) -> None:
    file = tmp_path / "k.cu"
    file.write_text(BEYOND.replace("KNOWN", known))
    status = main(["count", str(file), "--launch", "3", "--level", "ptx"])
    said = capsys.readouterr().err
    assert status == (severity == "error") and words in said and "beyond what was" not in said


def test_a_kernel_without_dynamic_shared_memory_gets_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "local.cu"
    file.write_text("""__global__ void k(int* out) { __shared__ int local[64];
        local[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = local[threadIdx.x + 1]; }""")
    assert main(["count", str(file), "--grid", "1", "--block", "64", "--level", "ptx"]) == 1
    said = capsys.readouterr().err
    assert "illegal shared access" in said and "dynamic shared memory" not in said


BINS = """__global__ void bins(const int* key, const int* order, int* many, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&many[key[order[i]]], 1);
}
__global__ void counted(const unsigned char* key, unsigned* many, int n) {
    __shared__ unsigned own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&own[key[i]], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&many[threadIdx.x], own[threadIdx.x]);
}
__global__ void last(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
void run(int* key, int n) { counted<<<n / 256, 256>>>((unsigned char*)key, 0, n); }
"""


def test_what_chooses_bins_comes_again_and_other_indices_do_not(count) -> None:
    """A value for each lane would hide what a histogram is slow by; an order has each once."""
    said = count(BINS, "--entry", "bins", "--grid", "16", "--block", "256")
    assert "key: i32[4096]=few, order: i32[4096]=arange, many: i32[4096]=zeros" in said


def test_sizes_do_not_fill_the_blocks_unless_the_host_code_divides_them(count) -> None:
    """A kernel without a bound is no fault of its own: buffers have room for all threads."""
    assert "n: i32=4072" in count(BINS, "--entry", "bins", "--grid", "16", "--block", "256")
    said = count(BINS, "--launch", "15")
    assert "key: u8[4096]=few" in said and "n: i32=4096" in said
    count(BINS, "--entry", "last")


def test_what_a_budget_ends_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sample says of how many blocks it is, and what counts all of them."""
    file = tmp_path / "kernel.cu"
    file.write_text(BINS)
    command = ["count", str(file), "--entry", "last", "--grid", "5000", "--block", "32"]
    assert main([*command, "--blocks", "sample", "--budget", "5"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"of 5,000 blocks \([\d.]+ %\)", said) and "--go-on counts all blocks" in said
    assert main([*command, "--go-on"]) == 0
    assert "--go-on" not in capsys.readouterr().out
    told = (parser("count").parse_args(one) for one in ([*command, "--go-on"], command))
    assert [one.seconds for one in told] == [math.inf, 60.0]


LONG = """__global__ void longer(float* x, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s = s * 1.01f + x[(threadIdx.x + i) & 31];
    x[blockIdx.x * 32 + threadIdx.x] = s;
}"""


@pytest.mark.slow
def test_all_blocks_that_take_too_long_are_told_and_a_sample_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kernel.cu"
    file.write_text(LONG)
    command = ["count", str(file), "--grid", "200000", "--block", "32", "--budget", "4"]
    command += ["--arg", "rand(6400000)", "--arg", "2000", "--blocks", "all"]
    assert main(command) == 0
    told = capsys.readouterr()
    assert "% of the blocks done" in told.err and "the counts of a sample" in told.err
    assert re.search(r"sample of [\d,]+ of 200,000 blocks \([\d.]+ %\)", told.out)
    assert main([*command, "--expect", "x=x"]) == 2
    assert "sample" not in capsys.readouterr().err
