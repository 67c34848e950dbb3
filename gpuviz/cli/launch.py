"""LAUNCH on the command line: a kernel file with its geometry and arguments, or a lesson."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import get_args

from gpuviz.arguments import parse
from gpuviz.cli.building import add_building, built, pairs
from gpuviz.compile import entry_name, launch_at
from gpuviz.errors import InputError
from gpuviz.language import ENGLISH, languages
from gpuviz.ptx.options import Engine, Options
from gpuviz.runners.job import Job, triple

SPEC_HELP = (
    "TYPE[COUNT]=zeros|ones|arange|rand|shuffle|unset|VALUE|@file.npy for a buffer, TYPE=VALUE "
    "for a scalar; once for each parameter, in order"
)


def add_launch(parser: argparse.ArgumentParser) -> None:
    """The arguments that make a LAUNCH."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="a .cu or .ptx file")
    parser.add_argument("--entry", metavar="NAME", help="kernel to launch (default: the only one)")
    parser.add_argument("--grid", type=numbers, metavar="X[,Y[,Z]]", help="blocks of the grid")
    parser.add_argument("--block", type=numbers, metavar="X[,Y[,Z]]", help="threads of a block")
    parser.add_argument(
        "--dynamic-shared", type=int, metavar="BYTES", help="dynamic shared memory of a block"
    )
    parser.add_argument(
        "--launch",
        type=int,
        metavar="LINE",
        help="the launch that the file's host code makes at this line: kernel, grid, block",
    )
    add_building(parser)
    parser.add_argument("--arg", action="append", default=[], metavar="SPEC", help=SPEC_HELP)
    add_scene(parser)
    parser.add_argument(
        "--arch",
        default="sm_90",
        metavar="sm_XX",
        help="architecture to compile for and to count by (default %(default)s)",
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """The argument that chooses what executes a launch."""
    parser.add_argument(
        "--engine",
        choices=get_args(Engine),
        default=Options.engine,
        help="emulate with machine code made of the PTX, or with NumPy; what the compiled engine "
        "does not take goes to NumPy; auto: by the size of the launch (default %(default)s)",
    )


def add_budget(parser: argparse.ArgumentParser) -> None:
    """The argument that says how long a launch may take."""
    parser.add_argument(
        "--budget",
        type=_seconds,
        default=Options.seconds,
        metavar="SECONDS",
        help="how long emulating a launch may take (default %(default)s)",
    )


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def add_scene(parser: argparse.ArgumentParser) -> None:
    """The arguments that choose a lesson and its parameters."""
    parser.add_argument("--scene", metavar="ID", help="a lesson (see gpuviz list)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="K=V", help="a parameter of the lesson"
    )


def add_language(parser: argparse.ArgumentParser) -> None:
    """The argument that chooses the language of a lesson's texts."""
    parser.add_argument(
        "--language",
        choices=languages(),
        default=ENGLISH,
        help="language of the texts (default %(default)s)",
    )


def numbers(text: str) -> tuple[int, ...]:
    """`16,16` as numbers."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not one to three whole numbers, as in 16 or 16,16"
        ) from None


def at_least_one(text: str) -> int:
    """A whole number from 1 up."""
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def _of_lesson(arguments: argparse.Namespace) -> dict[str, Job]:
    """The launches of a lesson. Lessons are imported only where one is asked for."""
    from gpuviz.scenes import lesson
    from gpuviz.scenes.check import check_values
    from gpuviz.scenes.perform import accepted, job_of

    chosen = lesson(arguments.scene)
    plans = chosen.plan(check_values(chosen, dict(pairs(arguments.set, "--set"))))
    taken = accepted(plans, arguments.arch)
    return {plan.role: job_of(plan, arguments.arch) for plan in taken}


def _check_idle(arguments: argparse.Namespace) -> None:
    """Refuse options that would change nothing."""
    of_files = (
        "entry", "grid", "block", "dynamic_shared", "define", "arg", "launch", "include", "option",
    )  # fmt: skip
    idle = [name for name in (of_files if arguments.scene else ("set",)) if vars(arguments)[name]]
    if idle:
        option = "--" + idle[0].replace("_", "-")
        raise InputError(
            f"{option} is for a FILE: a lesson is changed by --set NAME=VALUE"
            if arguments.scene
            else f"{option} is for --scene: a FILE takes --arg and --define"
        )


def jobs(arguments: argparse.Namespace) -> dict[str, Job]:
    """The launches asked for, by role ("" for a kernel file)."""
    if arguments.scene and arguments.file:
        raise InputError("give either a FILE or --scene, not both")
    _check_idle(arguments)
    if arguments.scene:
        return _of_lesson(arguments)
    if not arguments.file:
        raise InputError("nothing to launch: give a FILE with --grid and --block, or --scene ID")
    return {"": _of_file(arguments)}


def _of_file(arguments: argparse.Namespace) -> Job:
    path, include = Path(arguments.file), tuple(arguments.include)
    found = launch_at(path, arguments.launch, include) if arguments.launch else None
    grid: tuple[int, ...] | None = arguments.grid or (found.grid if found else None)
    block: tuple[int, ...] | None = arguments.block or (found.block if found else None)
    if grid is None or block is None:
        said = f": {' '.join(found.texts[:2])} at line {found.line} is no constant" if found else ""
        raise InputError(
            f"a launch of a FILE needs --grid and --block, as in --grid 64 --block 256{said}"
        )
    shared = arguments.dynamic_shared
    wanted = arguments.entry or (found and (found.instance or found.kernel)) or ""
    program = built(arguments, path, pairs(arguments.define, "--define"), arguments.entry or "")
    return Job(
        program,
        entry_name(program.kernels, wanted),
        triple(grid, "--grid"),
        triple(block, "--block"),
        tuple(map(parse, arguments.arg)),
        shared if shared is not None else (found and found.shared) or 0,
        "named",
    )
