"""PTX loops rewritten the way the assembler unrolled them.

An unrolled loop treats lanes that go round it a different number of times in another way than the
loop it came from: a warp whose lanes need 3 and 5 iterations takes one step of four together, then
the rest. Emulating the loop in the unrolled shape gives the requests of the code that runs.

The shape is that of the machine code: blocks with several copies of the body, most copies first,
each entered while at least so many iterations are left; whatever is left is done by the loop
itself. The rewritten function computes the same as the original whatever the shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from gpuviz.ptx.code import ends_block
from gpuviz.ptx.flow import Span, branch_targets, spans
from gpuviz.ptx.ir import Function, Imm, Instruction, Not, Operand, Reg, Sym
from gpuviz.ptx.opcode import Opcode
from gpuviz.sass.flow import loops
from gpuviz.sass.symbolic import Form, Values

_MONOTONE = frozenset({"lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"})
_INTEGER = frozenset({"s32", "u32", "s64", "u64"})


@dataclass(frozen=True)
class Chunk:
    """`copies` bodies in a row, entered while so many iterations are left; repeated if `loop`.

    `block` is the number of the machine code's basic block.
    """

    copies: int
    loop: bool
    block: int


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
    blocks = spans(function, ends_block)
    found = loops([b.next for b in blocks])
    values = Values(function, blocks)
    inner = [(h, body) for h, body in found.items()
             if not any(other != h and other in body for other in found)]
    known = (_counted(function, blocks, header, body, values) for header, body in sorted(inner))
    return tuple(loop for loop in known if loop is not None)


def _counted(function: Function, blocks: Sequence[Span], header: int, body: frozenset[int],
             values: Values) -> Loop | None:
    last = max(body)
    back = [b for b in body if header in blocks[b].next]
    if back != [last] or len(body) != last - header + 1:
        return None
    start, end = blocks[header].start, blocks[last].end
    jump = function.body[end - 1]
    if jump.guard is None or not _jumps_to(function, jump, start):
        return None
    test = _definition(function.body[blocks[last].start:end - 1], jump.guard)
    if test is None or test.opcode.name != "setp" or test.opcode.mods[-1] not in _INTEGER:
        return None
    counted = _counter(function.body[start:end], test, values.end(last))
    if counted is None or len(test.opcode.mods) != 2 or len(body) > 1 and len(
            {b for b in body if _writes(function, blocks[b], counted[0])} - {last}):
        return None
    return Loop(start, end, body, *counted, test)


def _jumps_to(function: Function, jump: Instruction, start: int) -> bool:
    return [function.labels[name] for name in branch_targets(function, jump)] == [start]


def _definition(body: Sequence[Instruction], guard: Reg | Not) -> Instruction | None:
    """The last instruction that sets a plain (not negated) predicate."""
    if isinstance(guard, Not):
        return None
    return next((i for i in reversed(body) if i.operands[:1] == (guard,)), None)


def _counter(body: Sequence[Instruction], test: Instruction, end: dict[int, Form]
             ) -> tuple[Reg, int, int] | None:
    """The register that counts, its step, and its lead when tested."""
    tested, bound = test.operands[1:3]
    if not isinstance(tested, Reg) or _written(body, bound):
        return None
    form = end.get(tested.index)
    for instruction in body:
        for operand in instruction.operands[1:]:
            if form is not None and isinstance(operand, Reg) and len(form.terms) == 1 and (
                    form.terms[0][0].partition("@")[0] == operand.name) and form.terms[0][1] == 1:
                after = end.get(operand.index)
                if after is not None and after.terms == form.terms and after.constant:
                    return operand, after.constant, form.constant
    return None


def _written(body: Sequence[Instruction], bound: Operand) -> bool:
    return isinstance(bound, Reg) and any(i.operands[:1] == (bound,) for i in body)


def _writes(function: Function, span: Span, register: Reg) -> bool:
    return any(i.operands[:1] == (register,) for i in function.body[span.start:span.end])


class Rewriter:
    """Unrolls loops of one function; `origin` maps the pc of each copy to that of its original."""

    def __init__(self, function: Function, next_pc: int) -> None:
        self._function = function
        self._pcs = count(next_pc)
        self._types = list(function.registers)
        self._labels = dict(function.labels)
        self.origin: dict[int, int] = {}
        self.chunk_of: dict[int, Chunk] = {}
        self._names = count()

    def unrolled(self, shapes: Sequence[tuple[Loop, tuple[Chunk, ...]]]) -> Function:
        """The function with each loop in its shape. `chunk_of` then tells a copy's chunk by pc."""
        body: list[Instruction] = []
        moved: dict[int, int] = {}
        at = 0
        for loop, chunks in sorted(shapes, key=lambda s: s[0].start):
            moved.update({i: len(body) + i - at for i in range(at, loop.start)})
            body += self._function.body[at:loop.start]
            self._loop(loop, chunks, body)
            at = loop.end
        moved.update({i: len(body) + i - at for i in range(at, len(self._function.body) + 1)})
        body += self._function.body[at:]
        inside = self._placed
        labels = {name: inside.get(name, moved.get(place, -1))
                  for name, place in self._labels.items()}
        return replace(self._function, body=tuple(body), labels=labels,
                       registers=tuple(self._types))

    _placed: dict[str, int]

    def _loop(self, loop: Loop, chunks: tuple[Chunk, ...], body: list[Instruction]) -> None:
        """All chunks of a loop, then the loop itself."""
        if not hasattr(self, "_placed"):
            self._placed = {}
        entries = [name for name, place in self._function.labels.items() if place == loop.start]
        out = self._label()
        heads = [self._label() for _ in chunks] + [self._label()]
        for name in entries:
            self._placed[name] = len(body)
        for number, chunk in enumerate(chunks):
            self._placed[heads[number]] = len(body)
            self._chunk(loop, chunk, body, heads[number], heads[number + 1], out)
        self._placed[heads[-1]] = len(body)
        self._copy(loop, body, heads[-1], None, original=True)
        self._placed[out] = len(body)

    def _chunk(self, loop: Loop, chunk: Chunk, body: list[Instruction], head: str, after: str,
               out: str) -> None:
        self._guard(loop, chunk, body, after)
        for number in range(chunk.copies):
            last = number + 1 == chunk.copies
            self._copy(loop, body, (head if chunk.loop else after) if last else None, chunk)
        jump = self._function.body[loop.end - 1]
        body.append(self._new(jump, Opcode("bra"), (Sym(out),), None))

    def _guard(self, loop: Loop, chunk: Chunk, body: list[Instruction], after: str) -> None:
        """Skip the chunk unless all its iterations are due."""
        test = loop.test
        steps = range(1, chunk.copies)
        if test.opcode.mods[0] in _MONOTONE:
            steps = range(chunk.copies - 1, chunk.copies)
        for step in steps:
            moved = self._register(loop.counter.type)
            lead = loop.ahead + (step - 1) * loop.step
            kind = "s64" if test.opcode.mods[-1].endswith("64") else "s32"
            body.append(self._new(test, Opcode("add", (kind,)), (moved, loop.counter, Imm(lead)),
                                  None))
            due = self._register("pred")
            body.append(self._new(test, test.opcode, (due, moved, test.operands[2]), None))
            body.append(self._new(test, Opcode("bra"), (Sym(after),), Not(due)))

    def _copy(self, loop: Loop, body: list[Instruction], back: str | None, chunk: Chunk | None,
              *, original: bool = False) -> None:
        """One body; its last jump goes to `back`, or is left out."""
        start = len(body)
        renamed: dict[str, str] = {}
        for name, place in self._function.labels.items():
            if loop.start < place < loop.end:
                renamed[name] = name if original else self._label()
                self._placed[renamed[name]] = start + place - loop.start
        for instruction in self._function.body[loop.start:loop.end]:
            operands = tuple(Sym(renamed[o.name]) if isinstance(o, Sym) and o.name in renamed
                             else o for o in instruction.operands)
            body.append(instruction if original and operands == instruction.operands
                        else self._new(instruction, instruction.opcode, operands,
                                       instruction.guard))
            if chunk is not None:
                self.chunk_of[body[-1].pc] = chunk
        jump = body.pop()
        if back is not None:
            body.append(replace(jump, operands=(Sym(back),)))

    def _new(self, like: Instruction, opcode: Opcode, operands: tuple[Operand, ...],
             guard: Reg | Not | None) -> Instruction:
        pc = next(self._pcs)
        self.origin[pc] = like.pc
        return Instruction(pc, opcode, operands, guard, like.line, like.ptx_line)

    def _register(self, kind: str) -> Reg:
        self._types.append(kind)
        return Reg(len(self._types) - 1, kind, f"%unrolled{len(self._types)}")

    def _label(self) -> str:
        name = f"#unrolled{next(self._names)}"
        self._labels[name] = -1
        return name
