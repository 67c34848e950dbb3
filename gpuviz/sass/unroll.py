"""PTX loops rewritten the way the assembler unrolled them.

An unrolled loop treats lanes that go round it a different number of times in another way than the
loop it came from: a warp whose lanes need 3 and 5 iterations takes one step of four together, then
the rest. Emulating the loop in the unrolled shape gives the requests of the code that runs.

The shape is that of the machine code: blocks with several copies of the body, most copies first,
each entered while at least so many iterations are left; whatever is left is done by the loop
itself. The rewritten function computes the same as the original whatever the shape. For each chunk

    test:   @done bra next              (lanes that finished in an earlier chunk come by as well)
            due = the last of the chunk's iterations is due;  @!due bra next
            body, as many times as there are copies
            @p bra test (or next, for a chunk that is not a loop);  done = true
    next:
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from gpuviz.ptx.text.flow import Span, branch_targets, spans
from gpuviz.ptx.text.ir import Function, Imm, Instruction, Not, Opcode, Operand, Reg, Sym
from gpuviz.ptx.text.isa import ACCESSES, kind_of, registers_written
from gpuviz.sass.flow import SassBlock, loops, name_of
from gpuviz.sass.listing import SassInstruction
from gpuviz.sass.symbolic import Form, Values

_INTEGER = frozenset({"s32", "u32", "b32", "s64", "u64", "b64"})


@dataclass(frozen=True)
class Loop:
    """A loop with one way back, contiguous in the text: instructions [start, end) of a body.

    The last instruction jumps back to `start` while `counter` (advanced by `step` in each
    iteration, and off by `ahead` from its value at the start when tested) compares to `bound`.
    """

    start: int
    end: int
    blocks: frozenset[int]
    counter: Reg
    step: int
    ahead: int
    test: Instruction


def counted_loops(function: Function) -> tuple[Loop, ...]:
    """The innermost loops that count towards a bound, in the order of the text."""
    blocks = spans(function)
    found = loops([b.next for b in blocks])
    values = Values(function, blocks)
    inner = [
        (h, body)
        for h, body in found.items()
        if not any(other != h and other in body for other in found)
    ]
    known = (_counted(function, blocks, header, body, values) for header, body in sorted(inner))
    return tuple(loop for loop in known if loop is not None)


def _counted(
    function: Function, blocks: Sequence[Span], header: int, body: frozenset[int], values: Values
) -> Loop | None:
    last = max(body)
    back = [b for b in body if header in blocks[b].next]
    if back != [last] or len(body) != last - header + 1:
        return None
    start, end = blocks[header].start, blocks[last].end
    jump = function.body[end - 1]
    back_to = [function.labels[label] for label in branch_targets(function, jump)]
    if jump.guard is None or back_to != [start]:
        return None
    test = _definition(function.body[blocks[last].start : end - 1], jump.guard)
    if test is None or test.opcode.name != "setp" or test.opcode.mods[-1] not in _INTEGER:
        return None
    counted = _counter(function.body[start:end], test, values.end(last))
    if (
        counted is None
        or len(test.opcode.mods) != 2
        or len(body) > 1
        and any(
            counted[0] in registers_written(i)
            for b in body - {last}
            for i in function.body[blocks[b].start : blocks[b].end]
        )
    ):
        return None
    return Loop(start, end, body, *counted, test)


def _definition(body: Sequence[Instruction], guard: Reg | Not) -> Instruction | None:
    """The last instruction that sets a plain (not negated) predicate."""
    if isinstance(guard, Not):
        return None
    return next((i for i in reversed(body) if i.operands[:1] == (guard,)), None)


def _counter(
    body: Sequence[Instruction], test: Instruction, end: dict[int, Form]
) -> tuple[Reg, int, int] | None:
    """The register that counts, its step, and its lead when tested."""
    tested, bound = test.operands[1:3]
    if not isinstance(tested, Reg) or any(bound in registers_written(i) for i in body):
        return None
    form = end.get(tested.index)
    for instruction in body:
        for operand in instruction.operands[1:]:
            if (
                form is not None
                and isinstance(operand, Reg)
                and len(form.terms) == 1
                and (form.terms[0][0].partition("@")[0] == operand.name)
                and form.terms[0][1] == 1
            ):
                after = end.get(operand.index)
                if after is not None and after.terms == form.terms and after.constant:
                    return operand, after.constant, form.constant
    return None


_MONOTONE = frozenset({"lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"})


@dataclass(frozen=True)
class Chunk:
    """`copies` bodies in a row, entered while so many iterations are left; repeated if `loop`.

    `block` is the number of the machine code's basic block. `guard` is the predicate of all its
    instructions where the assembler replaced the branch around the chunk by it, else "".
    """

    copies: int
    loop: bool
    block: int
    guard: str = ""


Shape = tuple[Loop, tuple[Chunk, ...]]
"""A loop, and what it was unrolled into."""


@dataclass(frozen=True, eq=False)
class UnrolledFunction:
    """A function in the shape of its machine code."""

    function: Function  # the function, rewritten
    origin: Mapping[int, int]  # pc of each copy to that of its original
    chunk_of: Mapping[int, Chunk]  # pc of each copy to its chunk
    # Pc of an instruction of a chunk, or of the loop that is left, to the test before it.
    tests: Mapping[int, int]
    # Pc of an instruction of the loop that is left to the blocks of machine code, and the guards in
    # them, that hold the chunks of the loop.
    chunks: Mapping[int, frozenset[tuple[int, str]]]


def unroll(function: Function, shapes: Sequence[Shape], next_pc: int) -> UnrolledFunction:
    """Each loop in its shape; `next_pc` and those after it are the pcs of what is added."""
    rewriter = Rewriter(function, next_pc)
    rewritten = rewriter.unrolled(shapes) if shapes else function
    places = {
        i.pc: frozenset((c.block, c.guard) for c in chunks)
        for loop, chunks in shapes
        for i in function.body[loop.start : loop.end]
    }
    return UnrolledFunction(rewritten, rewriter.origin, rewriter.chunk_of, rewriter.tests, places)


class Rewriter:
    """Unrolls loops of one function.

    `origin` maps the pc of each copy to that of its original, `chunk_of` to its chunk; `tests` the
    pc of an instruction of a chunk, or of the loop that is left, to the test before it.
    """

    def __init__(self, function: Function, next_pc: int) -> None:
        self._function = function
        self._pcs = count(next_pc)
        self._names = count()
        self._types = list(function.registers)
        self._body: list[Instruction] = []
        self._placed: dict[str, int] = {}
        self.origin: dict[int, int] = {}
        self.chunk_of: dict[int, Chunk] = {}
        self.tests: dict[int, int] = {}

    def unrolled(self, shapes: Sequence[Shape]) -> Function:
        """The function with each loop in its shape."""
        at = 0
        for loop, chunks in sorted(shapes, key=lambda s: s[0].start):
            self._keep(at, loop.start)
            self._loop(loop, chunks)
            at = loop.end
        self._keep(at, len(self._function.body))
        return replace(
            self._function,
            body=tuple(self._body),
            labels=self._placed,
            registers=tuple(self._types),
        )

    def _keep(self, start: int, end: int) -> None:
        """Instructions [start, end) as they are; labels at `end` belong to what follows."""
        last = end == len(self._function.body)
        for name, place in self._function.labels.items():
            if start <= place < end or last and place == end:
                self._placed[name] = len(self._body) + place - start
        self._body += self._function.body[start:end]

    def _loop(self, loop: Loop, chunks: tuple[Chunk, ...]) -> None:
        """All chunks of a loop, then the loop itself for what is left."""
        for name, place in self._function.labels.items():
            if place == loop.start:
                self._placed[name] = len(self._body)
        done = self._register("pred")
        self._set(loop, done, False)
        heads = [self._label() for _ in chunks] + [self._label()]
        for chunk, head, after in zip(chunks, heads, heads[1:], strict=False):
            self._chunk(loop, chunk, head, after, done)
        self._rest(loop, heads[-1], done)

    def _chunk(self, loop: Loop, chunk: Chunk, head: str, after: str, done: Reg) -> None:
        self._placed[head] = len(self._body)
        first = self._add(loop.test, Opcode("bra"), (Sym(after),), done)
        self._guard(loop, chunk, after)
        for number in range(chunk.copies):
            start = len(self._body)
            self._copy(loop)
            for instruction in self._body[start:]:
                self.chunk_of[instruction.pc] = chunk
                self.tests[instruction.pc] = first.pc
            if number + 1 == chunk.copies:
                jump = self._function.body[loop.end - 1]
                self._add(jump, jump.opcode, (Sym(head if chunk.loop else after),), jump.guard)
        self._set(loop, done, True)

    def _rest(self, loop: Loop, head: str, done: Reg) -> None:
        """The original loop, for lanes that are not done."""
        self._placed[head] = len(self._body)
        out, again = self._label(), self._label()
        first = self._add(loop.test, Opcode("bra"), (Sym(out),), done)
        self._placed[again] = len(self._body)
        for name, place in self._function.labels.items():
            if loop.start < place < loop.end:
                self._placed[name] = len(self._body) + place - loop.start
        body = self._function.body[loop.start : loop.end]
        self._body += (*body[:-1], replace(body[-1], operands=(Sym(again),)))
        self.tests.update({i.pc: first.pc for i in body})
        self._placed[out] = len(self._body)

    def _guard(self, loop: Loop, chunk: Chunk, after: str) -> None:
        """Skip the chunk unless all its iterations are due."""
        test = loop.test
        steps = range(1, chunk.copies)
        if test.opcode.mods[0] in _MONOTONE:
            steps = range(chunk.copies - 1, chunk.copies)
        kind = "s64" if test.opcode.mods[-1].endswith("64") else "s32"
        for step in steps if chunk.copies > 1 else ():
            moved, due = self._register(loop.counter.type), self._register("pred")
            lead = loop.ahead + (step - 1) * loop.step
            self._add(test, Opcode("add", (kind,)), (moved, loop.counter, Imm(lead)))
            self._add(test, test.opcode, (due, moved, test.operands[2]))
            self._add(test, Opcode("bra"), (Sym(after),), Not(due))

    def _copy(self, loop: Loop) -> None:
        """One body without its last jump, its labels renamed."""
        start = len(self._body)
        renamed = {
            name: self._label()
            for name, place in self._function.labels.items()
            if loop.start < place < loop.end
        }
        for name, new in renamed.items():
            self._placed[new] = start + self._function.labels[name] - loop.start
        for old in self._function.body[loop.start : loop.end - 1]:
            operands = tuple(
                Sym(renamed[o.name]) if isinstance(o, Sym) and o.name in renamed else o
                for o in old.operands
            )
            self._add(old, old.opcode, operands, old.guard)

    def _set(self, loop: Loop, predicate: Reg, value: bool) -> None:
        self._add(
            loop.test, Opcode("setp", ("eq" if value else "ne", "s32")), (predicate, Imm(0), Imm(0))
        )

    def _add(
        self,
        like: Instruction,
        opcode: Opcode,
        operands: tuple[Operand, ...],
        guard: Reg | Not | None = None,
    ) -> Instruction:
        """Append an instruction that stands for another."""
        made = Instruction(next(self._pcs), opcode, operands, guard, like.line, like.ptx_line)
        self.origin[made.pc] = like.pc
        self._body.append(made)
        return made

    def _register(self, kind: str) -> Reg:
        self._types.append(kind)
        return Reg(len(self._types) - 1, kind, f"%unrolled{len(self._types)}")

    def _label(self) -> str:
        return f"#unrolled{next(self._names)}"


# --- what the assembler did ----------------------------------------------------------------------
#
# Read from the lines of its machine code.

_ARITHMETIC = frozenset({"FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA", "HADD2", "HMUL2", "HFMA2"})
_DATA = ("f16", "f16x2", "bf16", "f32", "f64")


def shapes_of(function: Function, code: Sequence[SassBlock]) -> list[Shape]:
    """The loops of a function that were unrolled in a known way, each with its chunks."""
    found = [(loop, chunks_of(function, loop, code)) for loop in counted_loops(function)]
    return [(loop, chunks) for loop, chunks in found if chunks and _descend(chunks)]


def _descend(chunks: Sequence[Chunk]) -> bool:
    """Whether chunks come in the known order: peeled ones, then fewer and fewer copies."""
    many = [c.copies for c in chunks if c.copies > 1]
    peeled = all(c.copies == 1 for c in chunks[: len(chunks) - len(many)])
    return peeled and many == sorted(set(many), reverse=True)


def chunks_of(function: Function, loop: Loop, code: Sequence[SassBlock]) -> tuple[Chunk, ...]:
    """The blocks of machine code that hold several copies of a loop's body, in address order.

    A single copy before them is the first iteration, peeled off.
    """
    body = function.body[loop.start : loop.end]
    lines = {i.ptx_line: is_memory(i) for i in body if is_data(i)}
    straight = len(loop.blocks) == 1
    found = [
        chunk
        for number, block in enumerate(code)
        for chunk in _chunks(number, block, lines, straight)
    ]
    last = max((n for n, chunk in enumerate(found) if chunk.copies > 1), default=-1)
    return tuple(found[: last + 1])


def _chunks(
    number: int, block: SassBlock, lines: Mapping[int, bool], straight: bool
) -> list[Chunk]:
    """The copies in one block; `lines` are those of the loop's data, and whether that is memory.

    Two additions of f16 in one instruction have the line of what they work on, not their own: on
    lines of memory accesses arithmetic does not count.

    The body of a `straight` loop has no branches; where all its instructions are guarded, the
    assembler put chunks under a guard each.
    """
    found = [
        i
        for i in block.instructions
        if (i.memory is not None or name_of(i) in _ARITHMETIC)
        and lines.get(i.ptx_line) is (i.memory is not None)
    ]
    guards = dict.fromkeys(i.guard for i in found)
    if "" in guards or not straight:
        copies = _copies(found)
        return [Chunk(copies, number in block.next, number)] if copies else []
    return [Chunk(_copies([i for i in found if i.guard == g]), False, number, g) for g in guards]


def is_data(instruction: Instruction) -> bool:
    """Memory and floating-point instructions: one machine instruction for each, as a rule."""
    return (
        is_memory(instruction)
        or instruction.opcode.mods[-1:] != ()
        and (
            instruction.opcode.mods[-1] in _DATA
            and instruction.opcode.name in ("add", "mul", "fma")
        )
    )


def is_memory(instruction: Instruction) -> bool:
    """Loads, stores, atomics and copies of lanes outside parameter space; no bulk copies."""
    opcode = instruction.opcode
    kind = kind_of(instruction)
    if kind == "copy":
        return {"async", "global"} <= set(opcode.mods) and "bulk" not in opcode.mods
    spaces = {m.partition("::")[0] for m in opcode.mods}
    return kind in ACCESSES and "param" not in spaces


def _copies(found: Sequence[SassInstruction]) -> int:
    """How often most of the lines occur; the larger number in case of doubt."""
    often = Counter(Counter(i.ptx_line for i in found).values())
    return max(often, key=lambda n: (often[n], n), default=0)
