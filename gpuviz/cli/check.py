"""`gpuviz check`: can the emulator run the kernels of these files?"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpuviz.base.errors import FormatError
from gpuviz.cli.launch import built, settings_of
from gpuviz.cli.no_kernel import refuse
from gpuviz.cli.options import declare
from gpuviz.compile import HostLaunch, NoKernel, demangled, entry_name, written_launches
from gpuviz.launch.settings import Settings, beside, load
from gpuviz.launch.signature import KernelParameter
from gpuviz.launch.texts import Kernel
from gpuviz.launch.unresolved import Unresolved, unresolved
from gpuviz.ptx.text.parser import parse
from gpuviz.words.terminal import out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", nargs="+", metavar="FILE", help=".cu or .ptx files")
    declare(parser, "check", arch={"default": "sm_90"})


def run(arguments: argparse.Namespace) -> int:
    """Print; 0 when everything is supported, 1 when something is not, or there is no kernel."""
    found = [checked(Path(name), arguments) for name in arguments.file]
    if arguments.json:
        out(json.dumps(found, indent=1))
    else:
        out("\n".join(_text(one) for one in found))
    every = [one["kernels"] for one in found]
    return 0 if all(kernels and all(k["supported"] for k in kernels) for kernels in every) else 1


def checked(path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """A file's kernels, what is not supported of them, and the launches of its host code, as plain
    values; raises as compiling does.
    """
    from gpuviz.ptx.decode.decoder import unsupported

    refuse(path)
    settings = settings_of(arguments, path)
    try:
        program = built(arguments, path, settings, arguments.entry or "")
    except NoKernel as error:
        return _nothing(path, str(error))
    launches = written_launches(path, settings.include)
    lost = () if arguments.entry else unresolved(program, launches)
    if arguments.entry:
        program = program.alone(entry_name(program.kernels, arguments.entry))
    try:
        problems = unsupported(parse(program.ptx))
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    return {
        "file": str(path),
        "compiler": program.compiler,
        "flags": list(program.flags),
        "note": program.note,
        "left_out": [str(one) for one in program.warnings if one.severity == "error"],
        "launches": [asdict(one) for one in launches],
        "unresolved": [asdict(one) for one in lost],
        "settings": str(beside(path)) if load(path) != Settings() else "",
        "kernels": [
            {
                "kernel": kernel,
                "name": demangled(kernel),
                "takes": list(map(_taken, Kernel.of(program, kernel).leaves)),
                "data": [_taken(one.taken) for one in Kernel.of(program, kernel).data],
                "supported": not problems.get(kernel),
                "unsupported": [vars(problem) for problem in problems.get(kernel, ())],
            }
            for kernel in program.kernels
        ],
    }


def _nothing(path: Path, why: str) -> dict[str, Any]:
    """What is said of a file without a kernel."""
    lists = dict.fromkeys(("flags", "left_out", "launches", "unresolved", "kernels"), ())
    return {"file": str(path), "compiler": "", "note": why, "settings": "", **lists}


def _text(found: dict[str, Any]) -> str:
    lines = [found["file"]]
    lines += [f"  {found['compiler']} {' '.join(found['flags'])}"] if found["compiler"] else []
    lines += [f"  {found['note']}"] if found["note"] else []
    lines += [f"  settings of {found['settings']}"] if found["settings"] else []
    for kernel in found["kernels"]:
        lines.append(
            f"  {kernel['name']}: "
            + ("supported" if kernel["supported"] else f"{len(kernel['unsupported'])} unsupported")
        )
        lines += [f"    takes {', '.join(kernel['takes'])}"] if kernel["takes"] else []
        lines += [f"    data {', '.join(kernel['data'])}"] if kernel["data"] else []
        lines += [
            f"    CUDA line {p['line'] or '?'}, PTX line {p['ptx_line']}: {p['opcode']} "
            f"({p['why']})"
            for p in kernel["unsupported"]
        ]
    lines += [f"  {_launch(HostLaunch(**one))}" for one in found["launches"]]
    lines += [f"  not launched: {Unresolved(**one)}" for one in found["unresolved"]]
    if not found["kernels"]:
        lines.append("  no kernels")
    return "\n".join(lines)


def _taken(one: KernelParameter) -> str:
    """`p.n i32`, `x f32[]`, `w f32*4`."""
    form = "[]" if one.buffer else f"*{one.count}" if one.count > 1 else ""
    return f"{one.name} {one.kind}{form}"


def _launch(found: HostLaunch) -> str:
    """A launch in the text, with what the text alone says of it."""
    grid, block = (
        ",".join(map(str, known)) if known else f"({text})"
        for known, text in zip((found.grid, found.block), found.texts, strict=False)
    )
    shared = found.texts[2] if found.shared is None else found.shared
    more = f" --dynamic-shared {shared}" if shared else ""
    name = found.instance or f"{found.kernel}<{found.template}>"
    return f"launch at {found.file}:{found.line}: {name} --grid {grid} --block {block}{more}"
