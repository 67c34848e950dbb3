"""How a file is compiled: macros, folders of headers, options, which compiler."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from gpuviz.base.errors import InputError
from gpuviz.compile import Program, compile_arch, load_program
from gpuviz.compile.compiler import Compiler
from gpuviz.launch.settings import Settings


def add_building(parser: argparse.ArgumentParser) -> None:
    """The arguments that say how a file is compiled."""
    parser.add_argument(
        "--define",
        "-D",
        action="append",
        default=[],
        metavar="K=V",
        help="a macro for the compiler",
    )
    parser.add_argument(
        "--include", "-I", action="append", default=[], type=Path, metavar="FOLDER",
        help="where headers are, besides the file's own tree",
    )  # fmt: skip
    parser.add_argument(
        "--option", action="append", default=[], metavar="FLAG",
        help="an option of the compiler, as in --option=-use_fast_math or --option=-std=c++20",
    )  # fmt: skip
    parser.add_argument(
        "--compiler", choices=get_args(Compiler), default="auto",
        help="auto: NVRTC, with host code set aside; nvcc: the whole file (default %(default)s)",
    )  # fmt: skip


def built(
    arguments: argparse.Namespace, path: Path, settings: Settings, entry: str = ""
) -> Program:
    """The program of a file, compiled as the arguments say, and else as its settings do; with an
    entry `f<float>` that one.
    """
    return load_program(
        path,
        arch=compile_arch(arguments.arch),
        defines={**settings.macros, **pairs(arguments.define, "--define")},
        include=(*arguments.include, *settings.include),
        instances=(entry,) if "<" in entry else (),
        options=settings.with_options(tuple(arguments.option)),
        compiler=arguments.compiler,
    )


def pairs(texts: list[str], option: str) -> dict[str, str]:
    """`K=V` texts as a dictionary (V is empty when there is no `=`)."""
    found = {}
    for text in texts:
        key, _, value = text.partition("=")
        if not key:
            raise InputError(f"{option} {text!r} has no name: give it as NAME=VALUE")
        found[key] = value
    return found
