"""`%%gpuviz --grid 64 --block 256 x y 2.5`: a cell of CUDA C, traced, and what came of it."""

import argparse
import math
import shlex
from collections.abc import Mapping
from typing import Any, NoReturn

from gpuviz.api.run import Run
from gpuviz.api.tracing import trace
from gpuviz.base.errors import Error, InputError
from gpuviz.compile import compile_arch, compile_cuda, entry_name
from gpuviz.launch.proposals import guess
from gpuviz.launch.signature import taken_by
from gpuviz.results.table import Table
from gpuviz.traces.check_table import ALL, chosen


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as an error; a notebook does not exit."""

    def error(self, message: str) -> NoReturn:
        """Raise it."""
        raise InputError(f"%%gpuviz: {message}\n{self.format_usage().strip()}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("%%gpuviz", add_help=False)
    parser.add_argument("--grid", required=True, metavar="X[,Y[,Z]]")
    parser.add_argument("--block", required=True, metavar="X[,Y[,Z]]")
    parser.add_argument("--name", default="", help="the kernel, where the cell has several")
    parser.add_argument("--shared", type=int, default=0, help="bytes of dynamic shared memory")
    parser.add_argument("--arch", default="")
    parser.add_argument("--level", choices=("sass", "ptx"), default="sass")
    parser.add_argument("--check", type=chosen, default=ALL)
    parser.add_argument("-D", "--define", action="append", default=[], metavar="K=V")
    parser.add_argument("-o", "--out", default="run", help="the variable that the run is left in")
    parser.add_argument("--inplace", action="store_true", help="write results to the arrays")
    parser.add_argument("args", nargs="*", help="expressions of Python, or SPECs: f32[64]=rand")
    return parser


def cell(line: str, text: str, names: Mapping[str, Any]) -> tuple[str, Run]:
    """The run of a cell, and the variable to leave it in. Arguments that are not given are guessed.

    Raises
    ------
    InputError : an option or an argument that cannot be
    Error : whatever `trace` raises
    """
    asked = _parser().parse_args(shlex.split(line))
    defines = dict(one.partition("=")[::2] for one in asked.define)
    grid, block = _sizes(asked.grid, names), _sizes(asked.block, names)
    args = [_value(one, names) for one in asked.args]
    if not args:
        args = _guessed(text, asked.name, defines, asked.arch, (*grid, *block))
    run = trace(
        text,
        grid,
        block,
        args,
        name=asked.name,
        shared=asked.shared,
        defines=defines,
        arch=asked.arch,
        level=asked.level,
        checks=asked.check,
        inplace=asked.inplace,
    )
    return asked.out, run


def _sizes(text: str, names: Mapping[str, Any]) -> tuple[int, ...]:
    """`16,16`, or an expression of Python: `n//256,1`."""
    found = _value(text, names)
    return (found,) if isinstance(found, int) else tuple(map(int, found))


def _value(text: str, names: Mapping[str, Any]) -> Any:
    """A SPEC as it is; anything else is Python."""
    if "=" in text:
        return text
    try:
        return eval(text, dict(names))  # a cell of the user's own notebook, as all that is in it
    except Exception as error:
        raise InputError(
            f"%%gpuviz: {text!r} is neither an argument such as f32[64]=rand nor Python: {error}"
        ) from None


def _guessed(
    text: str, name: str, defines: dict[str, str], arch: str, sizes: tuple[int, ...]
) -> list[str]:
    program = compile_cuda(text, arch=compile_arch(arch or "sm_90"), defines=defines)
    taken = taken_by(program, entry_name(program.kernels, name))
    return [guess(one, math.prod(sizes)) for one in taken]


def load(ipython: Any) -> None:
    """Register the magic: what `%load_ext gpuviz` does."""

    def gpuviz(line: str, cell_text: str) -> None:
        from IPython.display import display

        try:
            name, run = cell(line, cell_text, ipython.user_ns)
        except Error as error:
            display(_ErrorTable(str(error)))
            return
        ipython.user_ns[name] = run
        display(run)
        display(run.counts)
        if run.findings:
            display(run.findings)
        if run.printed:
            print(run.printed, end="")  # noqa: T201

    ipython.register_magic_function(gpuviz, "cell", "gpuviz")


class _ErrorTable(Table):
    """An error as a notebook shows it: its words, without a traceback."""

    def __init__(self, words: str) -> None:
        super().__init__(("error",), [(line,) for line in words.splitlines()])
