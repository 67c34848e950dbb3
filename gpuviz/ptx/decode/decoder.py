"""Functions of a program to code that runs: which builder takes which instruction.

What of a module cannot be executed is found in the same way, without running anything.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuviz.base.errors import Error, UnsupportedError, shortened
from gpuviz.ptx.arithmetic.ops import Operation, operation
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
from gpuviz.ptx.decode.calls import call_end
from gpuviz.ptx.decode.operands import Builder, Reader, Site, UnsupportedInstruction
from gpuviz.ptx.decode.outline import is_synchronised, outline
from gpuviz.ptx.simt.code import Block, FunctionCode, Step
from gpuviz.ptx.simt.global_memory import GlobalMemory
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program, parameter_bytes, place, reachable
from gpuviz.ptx.simt.values import adapter, blend
from gpuviz.ptx.text.flow import Span, ends_block, goes_on
from gpuviz.ptx.text.ir import Function, Instruction, Module, Operand, Reg, Vec
from gpuviz.ptx.text.isa import targets as targets_of
from gpuviz.traces.observe import Place
from gpuviz.traces.trace import Stretch
from gpuviz.words.language import later

CARRY = "#carry"  # the condition code register of add.cc and its like


def arithmetic_step(site: Site) -> Step | None:
    """The step of an instruction of the opcode table, None when the table lacks it."""
    if not site.operands:
        return None
    targets, sources = list(targets_of(site.instruction)), list(site.operands[1:])
    op = operation(site.instruction.opcode, len(targets))
    if op is None:
        return None
    if len(op.sources) == len(sources) + 1 and op.sources[-1] == "pred":
        sources.append(_carry(site.code))
    if len(op.results) == len(targets) + 1 and "cc" in site.mods:
        targets.append(_carry(site.code))
    if len(sources) != len(op.sources):
        raise site.unsupported(f"{len(sources)} source operands")
    plain = _plain_step(op, targets, sources)
    if plain is not None:
        return plain
    readers = [site.reader(o, k) for o, k in zip(sources, op.sources, strict=True)]
    if len(op.results) == 1:
        return _single(op, readers, targets[0], site)
    return _several(op, readers, targets, site)


def _carry(code: FunctionCode) -> Reg:
    """The function's condition code, as a register of its own."""
    if (CARRY, 0, 1) not in code.slots:
        code.slots[CARRY, 0, 1] = len(code.registers)
        code.registers.append("pred")
    return Reg(code.slots[CARRY, 0, 1], "pred", CARRY)


def _plain_step(op: Operation, targets: list[Operand], sources: list[Operand]) -> Step | None:
    """The short path: one result, all operands registers of just the right width."""
    if len(op.results) != 1 or not isinstance(targets[0], Reg):
        return None
    if adapter(op.results[0], targets[0].type) is not None:
        return None
    indices = []
    for source, kind in zip(sources, op.sources, strict=True):
        if not isinstance(source, Reg) or adapter(source.type, kind) is not None:
            return None
        indices.append(source.index)
    return (
        _REGISTERS_ONLY[len(indices)](op.function, targets[0].index, *indices)
        if len(indices) in _REGISTERS_ONLY
        else None
    )


def _one(function: Any, target: int, a: int) -> Step:
    def step(g: Group) -> None:
        r, mask = g.regs, g.mask
        value = function(r[a])
        r[target] = value if mask is None else blend(mask, value, r[target])

    return step


def _two(function: Any, target: int, a: int, b: int) -> Step:
    def step(g: Group) -> None:
        r, mask = g.regs, g.mask
        value = function(r[a], r[b])
        r[target] = value if mask is None else blend(mask, value, r[target])

    return step


def _three(function: Any, target: int, a: int, b: int, c: int) -> Step:
    def step(g: Group) -> None:
        r, mask = g.regs, g.mask
        value = function(r[a], r[b], r[c])
        r[target] = value if mask is None else blend(mask, value, r[target])

    return step


_REGISTERS_ONLY: dict[int, Any] = {1: _one, 2: _two, 3: _three}


def _single(op: Operation, readers: list[Reader], target: Operand, site: Site) -> Step:
    function, write = op.function, site.writer(target, op.results[0])
    if len(readers) == 2:
        first, second = readers
        return lambda g: write(g, function(first(g), second(g)))
    return lambda g: write(g, function(*[read(g) for read in readers]))


def _several(op: Operation, readers: list[Reader], targets: list[Operand], site: Site) -> Step:
    function = op.function
    if len(targets) == 1:  # setp with one destination: the second result is not wanted
        write = site.writer(targets[0], op.results[0])
        return lambda g: write(g, function(*[read(g) for read in readers])[0])
    puts = site.writers(Vec(tuple(targets)), op.results)

    def step(g: Group) -> None:
        results = function(*[read(g) for read in readers])
        for put, value in zip(puts, results, strict=False):
            put(g, value)

    return step


def _nothing(site: Site) -> None:
    """What only orders or hints: one launch, executed in step, has nothing to wait for; registers
    that warps give to each other are always there.
    """


def _fence(site: Site) -> Step | None:
    """A fence orders what is in order already; sinks are told of those between threads."""
    scopes = {"cta": False, "cluster": True, "gpu": True, "gl": True, "sys": True}
    scope = next((m for m in site.mods if m in scopes), "")
    if "proxy" in site.mods and any(m.split("::")[0] == "async" for m in site.mods):
        return None if "global" in site.mods else _proxy_fence
    if not scope or any(m.split("::")[0] == "proxy" for m in site.mods):
        return None
    place, wide = Place.of(site.instruction), scopes[scope]

    def fence(g: Group) -> None:
        for hear in g.machine.told.fence:
            hear(place, wide, g)

    return fence


def _proxy_fence(g: Group) -> None:
    for hear in g.machine.told.proxy_fence:
        hear(g)


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
