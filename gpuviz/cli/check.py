"""`gpuviz check`: can the emulator run the kernels of these files?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from gpuviz.cli.launch import pairs
from gpuviz.compile import compile_arch, demangled, load_program
from gpuviz.errors import FormatError
from gpuviz.ptx.text.parser import parse
from gpuviz.terminal import out

EXAMPLE = "example:\n  gpuviz check reduce.cu scan.ptx --arch sm_80"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", nargs="+", metavar="FILE", help=".cu or .ptx files")
    parser.add_argument(
        "--arch",
        default="sm_90",
        metavar="sm_XX",
        help="architecture to compile for (default %(default)s)",
    )
    parser.add_argument(
        "--define", action="append", default=[], metavar="K=V", help="a macro for the compiler"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print; 0 when everything is supported, 1 when something is not."""
    found = [_file(Path(name), arguments) for name in arguments.file]
    if arguments.json:
        out(json.dumps(found, indent=1))
    else:
        out("\n".join(_text(one) for one in found))
    return 0 if all(k["supported"] for one in found for k in one["kernels"]) else 1


def _file(path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    from gpuviz.ptx.check import unsupported

    program = load_program(
        path, arch=compile_arch(arguments.arch), defines=pairs(arguments.define, "--define")
    )
    try:
        problems = unsupported(parse(program.ptx))
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    return {
        "file": str(path),
        "kernels": [
            {
                "kernel": kernel,
                "name": demangled(kernel),
                "supported": not problems.get(kernel),
                "unsupported": [vars(problem) for problem in problems.get(kernel, ())],
            }
            for kernel in program.kernels
        ],
    }


def _text(found: dict[str, Any]) -> str:
    lines = [found["file"]]
    for kernel in found["kernels"]:
        lines.append(
            f"  {kernel['name']}: "
            + ("supported" if kernel["supported"] else f"{len(kernel['unsupported'])} unsupported")
        )
        lines += [
            f"    CUDA line {p['line'] or '?'}, PTX line {p['ptx_line']}: {p['opcode']} "
            f"({p['why']})"
            for p in kernel["unsupported"]
        ]
    if not found["kernels"]:
        lines.append("  no kernels")
    return "\n".join(lines)
