"""What of a file cannot be launched is named, with why and what helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuviz.cli import main
from gpuviz.compile import load_program, written_launches
from gpuviz.launch.unresolved import entry_of, unresolved

FILE = """#include <vector>
template <typename T, int N> __global__ void tile(T* a) { a[threadIdx.x] = N; }
template __global__ void tile<float, 8>(float*);
__global__ void lonely(float* a) { a[threadIdx.x] = 1; }
__global__ void broken(float* a) { a[threadIdx.x] = LIMIT(3); }
__global__ void fine(float* a) { a[threadIdx.x] = 1; }
int main() {
  float* a; cudaMalloc(&a, 128);
  fine<<<1, 32>>>(a);
  broken<<<1, 32>>>(a);
  elsewhere<<<1, 32>>>(a);
  tile<float, Q><<<1, 32>>>(a);
  tile<double, 4><<<1, 32>>>((double*)a);
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "k.cu"
    made.write_text(FILE)
    return made


def test_each_is_named_once_with_its_reason(file: Path) -> None:
    found = unresolved(load_program(file), written_launches(file))
    assert [(one.line, one.kernel, one.sole) for one in found] == [
        (10, "broken", False),
        (11, "elsewhere", False),
        (12, "tile<float, Q>", False),
        (4, "lonely", True),
    ]
    broken, elsewhere, tile, lonely = found
    assert "line 5 does not compile" in broken.why and "LIMIT" in broken.why
    assert "no kernel of this name" in elsewhere.why and "-I FOLDER" in elsewhere.remedy
    assert "tile<float, 8>" in tile.remedy
    assert "no launch" in lonely.why and lonely.remedy == "--entry lonely proposes one"


def test_check_and_count_say_so(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(file)])
    assert capsys.readouterr().out.count("not launched: k.cu:") == 4
    main(["check", str(file), "--json"])
    (said,) = json.loads(capsys.readouterr().out)
    assert [one["line"] for one in said["unresolved"]] == [10, 11, 12, 4]
    assert main(["count", str(file), "--launch", "10"]) == 2
    assert "line 5 does not compile" in capsys.readouterr().err
    assert main(["count", str(file), "--entry", "broken"]) == 2
    assert "line 5 does not compile" in capsys.readouterr().err
    assert main(["count", str(file)]) == 2
    assert "not launched: k.cu:11: elsewhere" in capsys.readouterr().err


def test_what_is_launched_whole_has_nothing_to_say(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(
        "template <typename T> __global__ void k(T* a) { *a = 1; }\n"
        "void run(float* a, double* b) { k<<<1, 1>>>(a); k<double><<<1, 1>>>(b); }\n"
    )
    assert unresolved(load_program(file), written_launches(file)) == ()


def test_a_template_made_of_what_is_not_known_is_a_guess(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k.cu"
    file.write_text(
        "template <typename scalar_t, int N> __global__ void k(scalar_t* a) { *a = N; }\n"
        "void run(void* a) { DISPATCH(kind, [&] { k<scalar_t, M><<<2, 32>>>((scalar_t*)a); }); }\n"
    )
    assert unresolved(load_program(file), written_launches(file)) == ()
    assert main(["count", str(file), "--launch", "2", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["guesses"]["template"] == "k<float, 32>"
    assert "not said, and proposed: k<float, 32>" in said.err


def test_overloads_are_told_apart_by_what_parameters_and_methods_point_to(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(
        "namespace a { __global__ void k(const float* x, int n) { } "
        "__global__ void k(const double* x, int n) { } }\n"
        "void run(torch::Tensor t) { a::k<<<1, 64>>>(t.data_ptr<double>(), 64); }\n"
        "void plain(float* x) { a::k<<<1, 64>>>(x, 64); }\n"
    )
    program, launches = load_program(file), written_launches(file)
    assert unresolved(program, launches) == ()
    assert [entry_of(program.kernels, one) for one in launches] == [*reversed(program.kernels)]
