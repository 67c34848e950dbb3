"""The kernels of tests/data/sanitizers: their launches, and what sanitizers find in them.

    python docs/sanitizers.py run FOLDER           # builds them there, runs them under each tool
    python docs/sanitizers.py read FOLDER          # reads what compute-sanitizer printed
    python docs/sanitizers.py tables               # writes the tables of docs/sanitizers.md

`run` needs nvcc, compute-sanitizer and a GPU. It makes a host program KIND.main.cu of each source,
and leaves KIND.KERNEL.TOOL.txt of each run, ending in a line `exit status N`. `read` keeps what was
found there in tests/data/sanitizers_h200.json. From that, and from runs of the emulator, come the
tables.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuviz.traces.trace import Finding

ROOT = Path(__file__).parent.parent
READINGS = ROOT / "tests" / "data" / "sanitizers_h200.json"
PAGE = ROOT / "docs" / "sanitizers.md"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
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
    shared: int = 0  # bytes of dynamic shared memory

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
            told.get("shared", 0),
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
        {kernel}<<<dim3({grid}), dim3({block}), {shared}>>>({arguments});"""
_TYPES = {
    "i8": "signed char",
    "u8": "unsigned char",
    "i32": "int",
    "i64": "long long",
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
            shared=case.shared,
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


_VERSIONS = (["nvidia-smi"], ["nvcc", "--version"], ["compute-sanitizer", "--version"])
_BUILD = ["nvcc", "-lineinfo", "-arch=sm_90", "-o"]
_SAY_ALL = ["--racecheck-report", "all", "--print-level", "info"]
_ENDLESS = 20  # seconds after which a run has no end, where none is expected; thrice that elsewhere
_AT_A_TIME = 12


def _run(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    told = [subprocess.run(one, capture_output=True, text=True).stdout for one in _VERSIONS]
    (folder / "versions.txt").write_text("\n".join(told), encoding="utf-8")
    with ThreadPool(_AT_A_TIME) as pool:
        pool.map(partial(_build, folder), dict.fromkeys(case.kind for case in cases()))
        endless_last = sorted(cases(), key=lambda case: case.hangs)
        pool.starmap(_look, [(folder, c, tool) for c in endless_last for tool in TOOLS], 1)


def _build(folder: Path, kind: str) -> None:
    (folder / f"{kind}.cu").write_text(source(kind), encoding="utf-8")
    (folder / f"{kind}.main.cu").write_text(host_program(kind), encoding="utf-8")
    subprocess.run([*_BUILD, kind, f"{kind}.main.cu"], cwd=folder, check=True)


def _look(folder: Path, case: Case, tool: str) -> None:
    """Run a kernel under a tool, and both are ended if they do not end."""
    how = ["--tool", tool, *(_SAY_ALL if tool == "racecheck" else ())]
    command = ["compute-sanitizer", *how, f"./{case.kind}", case.kernel]
    with (folder / f"{case.name}.{tool}.txt").open("w+", encoding="utf-8") as out:
        started = subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            status = started.wait(_ENDLESS if case.hangs else 3 * _ENDLESS)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            status = 128 - started.wait()
        out.seek(0, os.SEEK_END)
        out.write(f"\nexit status {status}\n")


_SUMMARY = re.compile(
    r"(?:ERROR SUMMARY: (\d+) errors?$)|(?:displayed \((\d+) errors?, (\d+) warnings?\))", re.M
)
_HEAD = re.compile(
    r"^========= +((?:Invalid|Uninitialized|Barrier error|Malloc/Free|Error:|Warning:).*?) *:?$",
    re.M,
)


def reading(text: str, kind: str) -> dict[str, Any]:
    """What one run of a tool told: how many errors and warnings, the first, which lines; {} when it
    found nothing.
    """
    status = re.search(r"^exit status (\d+)$", text, re.M)
    if status is None or status[1] != "0":
        return {"hung": True}
    summary, head = _SUMMARY.search(text), _HEAD.search(text)
    assert summary, text[-300:]
    lines = sorted({int(line) for line in re.findall(rf"in {kind}\.cu:(\d+)", text)})
    words = r" at __shared__.*| of size \d+ bytes|Malloc/Free Error encountered : "
    first = re.sub(words, "", head[1]) if head else ""
    errors, warnings = int(summary[1] or summary[2]), int(summary[3] or 0)
    if not errors + warnings:
        return {}
    return {"errors": errors, "warnings": warnings, "first": first, "lines": lines}


def _read(folder: Path) -> None:
    run = [case for case in cases() if (folder / f"{case.name}.{TOOLS[0]}.txt").exists()]
    runs: dict[str, dict[str, Any]] = {case.name: {} for case in run}
    for case in run:
        for tool in TOOLS:
            text = (folder / f"{case.name}.{tool}.txt").read_text(encoding="utf-8")
            if found := reading(text, case.kind):
                runs[case.name][tool] = found
    versions = (folder / "versions.txt").read_text()
    said = {
        "device": re.search(r"NVIDIA [A-Z]+\d+", versions),
        "driver": re.search(r"Driver Version: (\S+)", versions),
        "compiler": re.search(r"release \S+, V(\S+)", versions),
        "tool": re.search(r"Sanitizer\n.*\nVersion (\S+)", versions),
    }
    known = {name: match[match.lastindex or 0] for name, match in said.items() if match}
    READINGS.write_text(json.dumps(known | {"runs": runs}, indent=1) + "\n", encoding="utf-8")


@cache
def _module(kind: str) -> Any:
    from gpuviz.compile import compile_cuda
    from gpuviz.ptx.text.parser import parse

    return parse(compile_cuda(source(kind), arch="sm_90").ptx)


def emulated(case: Case) -> list[Finding]:
    """What gpuviz's checks find, a fault that ends the run included."""
    import numpy as np

    from gpuviz.arguments import UNSET, materialise, parse
    from gpuviz.base.errors import KernelFault
    from gpuviz.ptx.emulator import Options, emulate
    from gpuviz.traces.check_table import ALL

    specs = [parse(argument) for argument in case.arguments]
    try:
        result = emulate(
            _module(case.kind),
            case.kernel,
            case.grid,
            case.block,
            [np.asarray(materialise(spec, n)) for n, spec in enumerate(specs)],
            dynamic_shared=case.shared,
            options=Options(record=(), checks=ALL),
            unset=[n for n, spec in enumerate(specs) if getattr(spec, "fill", "") == UNSET],
        )
    except KernelFault as fault:
        return [fault.finding]  # type: ignore[list-item]
    return list(result.trace.findings)


_found = cache(emulated)


def tables() -> dict[str, str]:
    """The tables of the page, by the name they have there."""
    readings = json.loads(READINGS.read_text(encoding="utf-8"))
    faulty = [case for case in cases() if case.kind != CORRECT]
    correct = [case for case in cases() if case.kind == CORRECT]
    return {
        "faulty": _table(
            ("kernel", "what is wrong", "gpuviz", "compute-sanitizer"),
            (
                (f"`{c.name}`", c.fault, _ours(_found(c)), _theirs(readings["runs"].get(c.name)))
                for c in faulty
            ),
        ),
        "correct": _table(
            ("kernel", "gpuviz", "compute-sanitizer"),
            (
                (f"`{c.kernel}`", _ours(_found(c)), _theirs(readings["runs"].get(c.name)))
                for c in correct
            ),
        ),
        "sums": _sums(faulty, correct, readings["runs"]),
        "device": "{device}, driver {driver}, compute-sanitizer {tool}, nvcc {compiler} "
        "(-lineinfo -arch=sm_90)".format(**readings),
    }


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    rule = tuple("---" for _ in head)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def _ours(findings: list[Finding]) -> str:
    told = dict.fromkeys(f"{f.severity}: {f.kind}, line {f.line}" for f in findings)
    return "; ".join(told) or "–"


def _theirs(runs: dict[str, Any] | None) -> str:
    if runs is None:
        return "not read yet"
    if runs and all("hung" in run for run in runs.values()):
        return "runs for ever under every tool, which say nothing"
    told = [
        f"{tool}: {run['first'].removesuffix('.')}"
        + f", line{'s' * (len(run['lines']) > 1)} {', '.join(map(str, run['lines']))}"
        * bool(run["lines"])
        for tool, run in runs.items()
        if run.get("first")
    ]
    return "; ".join(told) or "–"


def _sums(faulty: list[Case], correct: list[Case], runs: dict[str, Any]) -> str:
    def row(kind: str, mine: list[Case]) -> tuple[str, ...]:
        read = [runs[case.name] for case in mine if case.name in runs]
        told = sum(any(run.get("first") for run in each.values()) for each in read)
        ours = sum(bool(_found(case)) for case in mine)
        return kind, str(len(mine)), str(ours), f"{told} of {len(read)}"

    kinds = dict.fromkeys(case.kind for case in faulty)
    rows = [row(kind, [case for case in faulty if case.kind == kind]) for kind in kinds]
    return _table(
        ("class", "kernels", "found by gpuviz", "found by compute-sanitizer"),
        [*rows, row("correct (found: false alarms)", correct)],
    )


def page(text: str) -> str:
    """The page with its tables as they are now, each between `<!-- NAME -->` and `<!-- -->`."""
    for name, table in tables().items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- -->)", re.S)
        assert mark.search(text), name
        text = mark.sub(lambda found, table=table: found[1] + table + "\n" + found[2], text)
    return text


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    match sys.argv[1:]:
        case ["run", folder]:
            _run(Path(folder))
        case ["read", folder]:
            _read(Path(folder))
        case ["tables"]:
            PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        case _:
            sys.exit(__doc__)
