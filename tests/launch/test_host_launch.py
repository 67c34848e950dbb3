"""What host code says of a launch: sizes as formulas of arguments, buffers as it allocates them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuviz.cli import main
from gpuviz.compile import entry_name, load_program, written_launches
from gpuviz.launch.host_launch import guessed_by, proposed_by
from gpuviz.launch.texts import Kernel, LaunchTexts

ROUNDED_UP = "#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))"
HOST = "void run(float* a, float* c, int h, int w) {{ {sizes} k<<<{launch}>>>(a, c, h, w); }}"
KERNEL = "__global__ void k(const float* in, float* out, int rows, int columns) { out[0] = in[0]; }"


def proposed(tmp_path: Path, host: str, kernel: str = KERNEL) -> LaunchTexts:
    file = tmp_path / "k.cu"
    file.write_text(f"{ROUNDED_UP}\nint other();\n{kernel}\n{host}\n")
    program = load_program(file)
    (launch,) = written_launches(file)
    kernel = Kernel.of(program, entry_name(program.kernels, "k"))
    return proposed_by(launch, kernel).over(guessed_by(launch, kernel))


@pytest.mark.parametrize(
    ("sizes", "grid", "block"),
    [
        (
            "dim3 b(16, 16); dim3 g(w / b.x, (h + 15) / b.y);",
            "columns // 16, (rows + 15) // 16",
            "16,16,1",
        ),
        (
            "dim3 b(8); dim3 g(CEIL_DIV(h, 32), CEIL_DIV(w, 32));",
            "ceil(rows / 32), ceil(columns / 32)",
            "8,1,1",
        ),
        ("int b = 64; dim3 g(ceil(w / 256.0f), int(h));", "ceil(columns / 256), rows", "64,1,1"),
        ("auto g = dim3{unsigned(w) << 1, 2}; int b = 32;", "columns << 1, 2", "32,1,1"),
        ("int b = 32, g = other();", "", "32,1,1"),
    ],
)
def test_the_grid_follows_from_arguments(tmp_path: Path, sizes: str, grid: str, block: str) -> None:
    found = proposed(tmp_path, HOST.format(sizes=sizes, launch="g, b"))
    assert (found.grid, found.block) == (grid, block)


def test_sizes_that_a_grid_follows_from_make_square_matrices_of_whole_tiles(tmp_path: Path) -> None:
    sizes = "dim3 g(CEIL_DIV(h, 128), CEIL_DIV(w, 32));"
    found = proposed(tmp_path, HOST.format(sizes=sizes, launch="g, 64"))
    given = {"rows": "128", "columns": "128", "in": "rand(128 * 128)", "out": "zeros(128 * 128)"}
    assert found.arguments == given


def test_buffers_are_as_long_as_the_host_allocates_them(tmp_path: Path) -> None:
    host = """void run(int h, int w) {
        float *a, *c;
        cudaMalloc((void**)&a, h * w * sizeof(float));
        cudaMallocManaged(&c, 1000 * sizeof(double));
        k<<<4, 64>>>(a, c, h, w);
    }"""
    found = proposed(tmp_path, host).arguments
    assert found == {"in": "rand((rows * columns))", "out": "zeros(2000)"}


def test_a_launch_of_the_file_is_counted_with_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = """__global__ void k(const float* in, float* out, int rows, int columns) {
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y;
        if (x < columns && y < rows) out[y * columns + x] = in[y * columns + x];
    }"""
    host = HOST.format(sizes="", launch="dim3(CEIL_DIV(w, 32), h), 32")
    proposed(tmp_path, host, kernel)
    assert main(["count", str(tmp_path / "k.cu"), "--launch", "7", "--level", "ptx"]) == 0
    assert "2,64,1 x 32,1,1" in capsys.readouterr().out
    assert main(["count", str(tmp_path / "k.cu"), "--level", "ptx"]) == 0, "it is the only one"
    said = capsys.readouterr()
    assert "2,64,1 x 32,1,1" in said.out
    assert "launched as the host code does at line 7" in said.err


def test_of_several_launches_one_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "two.cu"
    file.write_text("""__global__ void k(float* out) { out[threadIdx.x] = 1; }
void run(float* d) {
    k<<<1, 32>>>(d);
    k<<<2, 64>>>(d);
}""")
    assert main(["count", str(file), "--level", "ptx"]) == 2
    assert "or --launch LINE, one of the file's own: 3 (k), 4 (k)" in capsys.readouterr().err


def test_what_the_host_copies_to_a_buffer_is_no_zeros(tmp_path: Path) -> None:
    host = """void run(int n, const float* h) {
        float *a, *c;
        cudaMalloc(&a, 4096); cudaMalloc(&c, 4096);
        cudaMemcpy(a, h, 4096, cudaMemcpyHostToDevice);
        k<<<4, 256>>>(a, c, n);
        cudaMemcpy((void*)h, c, 4096, cudaMemcpyDeviceToHost); }"""
    kernel = "__global__ void k(float* in, float* out, int n) { out[threadIdx.x] = in[n]; }"
    found = proposed(tmp_path, host, kernel).arguments
    assert (found["in"], found["out"]) == ("rand(1024)", "zeros(1024)")


def test_a_grid_of_arguments_alone_has_matrices_as_well(tmp_path: Path) -> None:
    found = proposed(tmp_path, HOST.format(sizes="dim3 g(h, w);", launch="g, 64"))
    assert (found.grid, found.arguments["rows"]) == ("rows, columns", "64")


def test_a_size_that_is_read_from_a_file_stays_a_name(tmp_path: Path) -> None:
    host = """void go(float* a, int w) { k<<<w / 32, 32>>>(a, a, 1, w); }
    int main() { float* a; int w; w = other(); go(a, w); }"""
    assert proposed(tmp_path, host).grid == "columns // 32"
    padded = host.replace("go(a, w)", "go(a, 32 * (w / 32 + 1))")
    assert proposed(tmp_path, padded).grid == "columns // 32"


def test_a_buffer_of_no_elements_is_proposed_instead(tmp_path: Path) -> None:
    host = """void run(int w) {
        float *a, *c; cudaMalloc(&a, 0 * sizeof(float)); cudaMalloc(&c, 64 * sizeof(float));
        k<<<1, 64>>>(a, c, w, w); }"""
    found = proposed(tmp_path, host)
    assert "in" not in found.arguments and found.arguments["out"] == "zeros(64)"
