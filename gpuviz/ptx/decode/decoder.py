"""Functions of a program to code that runs: which builder takes which instruction.

What of a module cannot be executed is found in the same way, without running anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.base.errors import Error, UnsupportedError, shortened
from gpuviz.ptx.decode import (
    atomics,
    calls,
    control,
    images,
    mbarrier,
    memory,
    mma,
    moves,
    tensor_copies,
    warp,
    wgmma,
    wmma,
)
from gpuviz.ptx.decode.arithmetic import arithmetic_step
from gpuviz.ptx.decode.calls import call_end
from gpuviz.ptx.decode.operands import Builder, Reader, Site, UnsupportedInstruction
from gpuviz.ptx.decode.outline import is_synchronised, outline
from gpuviz.ptx.simt.code import Block, FunctionCode, Step
from gpuviz.ptx.simt.global_memory import GlobalMemory
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program, parameter_bytes, place, reachable
from gpuviz.ptx.text.flow import Span, ends_block, goes_on
from gpuviz.ptx.text.ir import Function, Instruction, Module
from gpuviz.traces.observe import Place
from gpuviz.traces.trace import Stretch
from gpuviz.words.language import later


def _nothing(site: Site) -> None:
    """What only orders or hints: one launch, executed in step, has nothing to wait for; registers
    that warps give to each other are always there.
    """


def _fence(site: Site) -> Step | None:
    """A fence orders what is in order already; sinks are told of those between threads."""
    scopes = {"cta": False, "cluster": True, "gpu": True, "gl": True, "sys": True}
    scope = next((m for m in site.mods if m in scopes), "")
    if not scope or any(m.split("::")[0] in ("proxy", "mbarrier_init") for m in site.mods):
        return None
    place, wide = Place.of(site.instruction), scopes[scope]

    def fence(g: Group) -> None:
        for hear in g.machine.told.fence:
            hear(place, wide, g)

    return fence


def _give_way(g: Group) -> None:
    g.machine.polling.polled = True


# What is not here is looked up in the table of arithmetic (arithmetic/ops.py).
STEPS: dict[str, Builder] = {
    **memory.STEPS,
    **calls.STEPS,
    **atomics.STEPS,
    **moves.STEPS,
    **warp.STEPS,
    **images.STEPS,
    **mma.STEPS,
    **wmma.STEPS,
    **wgmma.STEPS,
    **mbarrier.STEPS,
    **tensor_copies.STEPS,
    "nanosleep": lambda site: _give_way,
    "membar": _fence,
    "fence": _fence,
    "prefetch": _nothing,
    "prefetchu": _nothing,
    "discard": _nothing,
    "applypriority": _nothing,
    "pmevent": _nothing,
    "setmaxnreg": _nothing,
    "griddepcontrol": _nothing,
}
ENDS = {**control.ENDS, "call": call_end}
_NOT_DONE = {"tcgen05": later("tensor memory, and products in it (Blackwell's tcgen05),")}
# What building a step raises where operands are too few, too many, or of another sort.
_MALFORMED = (LookupError, ValueError, TypeError, ArithmeticError, StopIteration, AssertionError)


class Decoder:
    """Decodes functions of a program, each once, when it is first called.

    `codes` are those decoded so far, by name.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.codes: dict[str, FunctionCode] = {}

    def code(self, function: Function) -> FunctionCode:
        """The decoded form of a function.

        Raises
        ------
        UnsupportedError : an instruction the emulator does not execute
        """
        if function.name not in self.codes:
            code, spans = outline(function, len(self.codes))
            code.blocks = [self._block(code, span, n) for n, span in enumerate(spans)]
            self.codes[function.name] = code
        return self.codes[function.name]

    def site(self, instruction: Instruction, code: FunctionCode, block: int) -> Site:
        """An instruction in its place."""
        return Site(instruction, code, self.program, block + 1, self.code)

    def step(self, site: Site) -> Step | None:
        """What an instruction does; see `step_of`."""
        return step_of(site)

    def _block(self, code: FunctionCode, span: Span, number: int) -> Block:
        body = code.function.body[span.start : span.end]
        sites = [self.site(instruction, code, number) for instruction in body]
        members: Callable[[Group], bool] | None = None
        if is_synchronised(body[0]):  # all lanes have to be here that execute it together
            together = wgmma.together if sites[0].name == "wgmma" else warp.members_here
            members = together(sites[0])
        decoded = [self.step(site) for site in sites]
        end: Step | None = None
        if ends_block(body[-1]):
            end = decoded.pop()
        elif number + 1 == len(code.rank):  # the text of a function may end without a `ret`
            end = control.leave
        steps = tuple(step for step in decoded if step is not None)
        lines = tuple(dict.fromkeys(i.line for i in body if i.line))
        stretch = Stretch(body[0].pc, len(body), lines, code.name)
        return Block(steps, end, stretch, body[0], members)


def step_of(site: Site) -> Step | None:
    """What an instruction does, None when it does nothing.

    Raises
    ------
    Unsupported : the emulator does not execute it; names the opcode, the PTX and the CUDA line
    """
    try:
        if ends_block(site.instruction):
            return _end(site)
        step = STEPS.get(site.name, _arithmetic)(site)
        return step if step is None or site.instruction.guard is None else guarded(step, site)
    except UnsupportedInstruction:
        raise
    except UnsupportedError as error:
        raise site.unsupported(f"this instruction ({error})") from error
    except _MALFORMED as error:
        raise site.unsupported(later("this form of the instruction")) from error


def _arithmetic(site: Site) -> Step:
    step = arithmetic_step(site)
    if step is None:
        raise site.unsupported(_NOT_DONE.get(site.name, later("this instruction")))
    return step


def guarded(step: Step, site: Site) -> Step:
    """Execute a step for the lanes whose guard holds."""
    predicate = site.guard()

    def some(g: Group) -> None:
        value, mask = predicate(g), g.mask
        if value.size == 1:
            if value.reshape(-1)[0]:
                step(g)
            return
        chosen = value if mask is None else value & mask
        if chosen.any():
            step(g.fork(chosen))

    return some


def _end(site: Site) -> Step:
    if goes_on(site.instruction) and site.following == len(site.code.rank):
        raise site.unsupported("going on past the end of the function")
    end = ENDS[site.name](site)
    if site.instruction.guard is None or site.name == "bra":
        return end
    return _guarded_end(end, site.guard(), site.following)


def _guarded_end(end: Step, predicate: Reader, following: int) -> Step:
    """A guarded call, return, barrier or trap: the lanes whose guard is off go past it."""

    def guarded(g: Group) -> None:
        chosen = g.layout.full(predicate(g))
        chosen = np.asarray(chosen if g.mask is None else chosen & g.mask)
        inside = g.layout.count(chosen)
        if inside and inside < g.threads:
            other = g.fork(chosen)
            g.set_mask(~chosen if g.mask is None else g.mask & ~chosen)
            g.machine.add(other)
            end(other)
            g.move(following)
        elif inside:
            end(g)
        else:
            g.move(following)

    return guarded


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
            except UnsupportedInstruction as error:
                why = f"{shortened(error.what)} is not supported"
                yield Problem(at.opcode.text, at.ptx_line, at.line, why)
