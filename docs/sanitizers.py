"""The kernels of tests/data/sanitizers: their launches, and what sanitizers find in them.

    python docs/sanitizers.py programs FOLDER      # writes a host program for each source
    python docs/sanitizers.py read FOLDER          # reads what compute-sanitizer printed
    python docs/sanitizers.py page                 # writes docs/sanitizers.md

`programs` makes KIND.cu, to be built with `nvcc -lineinfo` and run with a kernel's name. `read`
takes files KIND.KERNEL.TOOL.txt of their runs and keeps what was found in
tests/data/h200_sanitizers.json, from which, and from runs of the emulator, comes the page.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "data" / "sanitizers"
CORRECT = "correct"


@dataclass(frozen=True)
class Case:
    """A kernel and its launch; `fault` says what is wrong with it, in which `lines` of its source.

    `kind` is the name of its source file: the class of its fault, or "correct".
    """

    kind: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[str, ...]
    fault: str
    lines: tuple[int, ...]
    hangs: bool = False

    @property
    def name(self) -> str:
        """`race.no_barrier`."""
        return f"{self.kind}.{self.kernel}"


@cache
def source(kind: str) -> str:
    """The text of a source file."""
    return (FOLDER / f"{kind}.cu").read_text(encoding="utf-8")


@cache
def cases() -> tuple[Case, ...]:
    """Every kernel, in the order of the launches."""
    read = tomllib.loads((FOLDER / "launches.toml").read_text(encoding="utf-8"))
    return tuple(
        Case(
            kind,
            kernel,
            _sizes(told["grid"]),
            _sizes(told["block"]),
            tuple(told["arguments"]),
            told.get("fault", ""),
            _marked(source(kind), kernel),
            told.get("hangs", False),
        )
        for kind, kernels in read.items()
        for kernel, told in kernels.items()
    )


def _sizes(given: int | list[int]) -> tuple[int, int, int]:
    x, y, z = (*(given if isinstance(given, list) else [given]), 1, 1)[:3]
    return x, y, z


def _marked(text: str, kernel: str) -> tuple[int, ...]:
    marks = (re.search(r"// fault: (\w+)", line) for line in text.splitlines())
    return tuple(n for n, mark in enumerate(marks, 1) if mark and mark[1] == kernel)


_HOST = """\
#include <cstdio>
#include <cstring>
#include <vector>
#include "{kind}.cu"

// An array on the GPU: `from`, `from` + `step` ...; as cudaMalloc gives it when it is not `set`.
template <class T> T* made(long count, bool set, double from, double step)
{{
    T* there;
    cudaMalloc(&there, count * sizeof(T));
    std::vector<T> here(count);
    for (long i = 0; i < count; ++i) here[i] = (T)(from + step * i);
    if (set) cudaMemcpy(there, here.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    return there;
}}

int main(int, char** argv)
{{
{launches}
    cudaError_t launched = cudaGetLastError(), done = cudaDeviceSynchronize();
    printf("launch: %s, end: %s\\n", cudaGetErrorString(launched), cudaGetErrorString(done));
}}
"""
_LAUNCH = """\
    if (!strcmp(argv[1], "{kernel}"))
        {kernel}<<<dim3({grid}), dim3({block})>>>({arguments});"""
_TYPES = {
    "i8": "signed char",
    "u8": "unsigned char",
    "i32": "int",
    "u32": "unsigned",
    "f32": "float",
}
_FILLS = {
    "zeros": "true, 0, 0",
    "ones": "true, 1, 0",
    "arange": "true, 0, 1",
    "unset": "false, 0, 0",
}


def host_program(kind: str) -> str:
    """A CUDA program that launches the kernel named by its first argument."""
    found = [case for case in cases() if case.kind == kind]
    launches = "\n".join(
        _LAUNCH.format(
            kernel=case.kernel,
            grid=", ".join(map(str, case.grid)),
            block=", ".join(map(str, case.block)),
            arguments=", ".join(map(_passed, zip(case.arguments, _parameters(case), strict=True))),
        )
        for case in found
    )
    return _HOST.format(kind=kind, launches=launches)


def _parameters(case: Case) -> list[str]:
    """The types of a kernel's parameters, as in its source."""
    found = re.search(rf"\b{case.kernel}\((.*?)\)", source(case.kind), re.DOTALL)
    assert found, case.name
    return [re.sub(r"\w+$", "", one.strip()).strip() for one in found[1].split(",")]


def _passed(pair: tuple[str, str]) -> str:
    argument, parameter = pair
    spec = re.fullmatch(r"(\w+?)(?:\[(\d+)\])?=(.*)", argument)
    assert spec, argument
    kind, count, fill = _TYPES[spec[1]], spec[2], spec[3]
    if not count:
        return f"({kind})({fill})"
    return f"({parameter})made<{kind}>({count}, {_FILLS.get(fill, f'true, {fill}, 0')})"


def _programs(folder: Path) -> None:
    for kind in dict.fromkeys(case.kind for case in cases()):
        (folder / f"{kind}.main.cu").write_text(host_program(kind), encoding="utf-8")
    names = [f"{case.kind} {case.kernel}" for case in cases()]
    (folder / "cases.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["programs", folder]:
            _programs(Path(folder))
        case _:
            sys.exit(__doc__)
