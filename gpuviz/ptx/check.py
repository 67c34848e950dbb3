"""What of a module the emulator cannot execute, found without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpuviz.base.errors import Error, shortened
from gpuviz.ptx.decode.decoder import Decoder, step_of
from gpuviz.ptx.decode.operands import Unsupported
from gpuviz.ptx.decode.outline import outline
from gpuviz.ptx.simt.global_memory import GlobalMemory
from gpuviz.ptx.simt.program import Program, parameter_bytes, place, reachable
from gpuviz.ptx.text.ir import Function, Module

_ONE = (1, 1, 1)


@dataclass(frozen=True)
class Problem:
    """An instruction that the emulator does not execute. `line` is the CUDA line, 0 if unknown."""

    opcode: str
    ptx_line: int
    line: int
    why: str


def unsupported(module: Module) -> Mapping[str, tuple[Problem, ...]]:
    """The problems of each kernel, in the order of the text; of the functions it may call too.

    Instructions are decoded just as for a run, so a kernel without problems can be run.
    """
    return {name: _of_kernel(module, module.by_name[name]) for name in module.kernels}


def _of_kernel(module: Module, kernel: Function) -> tuple[Problem, ...]:
    try:
        program = place(
            module, kernel, _ONE, _ONE, 0, GlobalMemory(), bytes(parameter_bytes(kernel))
        )
    except Error as error:
        return (Problem("", 0, 0, str(error)),)
    return tuple(sorted(problems(program), key=lambda problem: problem.ptx_line))


def problems(program: Program) -> Iterator[Problem]:
    """The problems of the kernel of a program, and of the functions that it may call."""
    for number, function in enumerate(reachable(program.module, program.kernel)):
        yield from _of_function(function, number, Decoder(program))


def _of_function(function: Function, number: int, decoder: Decoder) -> Iterator[Problem]:
    code, spans = outline(function, number)
    for block, span in enumerate(spans):
        for at in function.body[span.start : span.end]:
            try:
                step_of(decoder.site(at, code, block))
            except Unsupported as error:
                why = f"{shortened(error.what)} is not supported"
                yield Problem(at.opcode.text, at.ptx_line, at.line, why)
