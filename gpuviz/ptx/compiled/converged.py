"""Code for a warp whose 32 lanes are together: one function for each region between barriers.

Registers are local variables, which LLVM keeps in machine registers. At a barrier those that live
on are put into the frame of the warp; at a branch where lanes part all of them are, one value a
lane, and the code for parted lanes goes on.
"""

from __future__ import annotations

from dataclasses import replace

from gpuviz.ptx.compiled.emitting import Emitter
from gpuviz.ptx.compiled.graph import Block, Copy, Op, constant
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory import together
from gpuviz.ptx.compiled.memory_map import (
    CALLED,
    END,
    FAULT,
    FRAME,
    PLACES,
    STOP,
    SWITCH,
    TIDS,
    WAIT,
    WORKER,
)
from gpuviz.ptx.compiled.writing import SAME, NotTaken, Pattern, Value, Writer, lanes
from gpuviz.trace import LANES


class Converged(Emitter):
    """The function of one region."""

    def __init__(self, kernel: Kernel, number: int, start: int, blocks: frozenset[int]) -> None:
        super().__init__(kernel)
        self.number = number
        self.start = start
        self.blocks = sorted(blocks)
        self.resumes = resumes(kernel, start, blocks)
        self._seen: dict[int, Value] = {}
        self._used: set[int] = set()
        self._index = {s: n for n, s in enumerate(kernel.regions)}

    @property
    def lanes_on(self) -> str:
        """All of them."""
        return "-1"

    def shape(self, op: Op | Copy) -> Pattern | None:
        """As found for lanes that are together."""
        return self.kernel.shapes.value(op)  # type: ignore[return-value]

    def thread_index(self, axis: str) -> Value:
        """%tid, 32 bits."""
        w, pattern = self.w, self.kernel.threads.tids["xyz".index(axis)]
        if pattern is None:
            at = w.let(f"getelementptr i8, ptr %f, i64 {TIDS['tid.' + axis]}")
            return w.vector(w.let(f"load <32 x i32>, ptr {at}, align 64, !invariant.load !0"), 32)
        at = w.let(f"getelementptr i8, ptr %f, i64 {FRAME['tid.' + axis]}")
        return Value(w.let(f"load i32, ptr {at}, !invariant.load !0"), 32, pattern)

    # --- registers ------------------------------------------------------------------------------

    def _kind(self, register: int) -> str:
        bits = self.kernel.bits(register)
        return f"<32 x i{bits}>" if self.kernel.shapes[register] is None else f"i{bits}"

    def get(self, register: int) -> Value:
        """The value of a register."""
        if register not in self._seen:
            self._used.add(register)
            name = self.w.let(f"load {self._kind(register)}, ptr %r{register}")
            self._seen[register] = self._value(register, name)
        return self._seen[register]

    def _value(self, register: int, name: str) -> Value:
        kernel = self.kernel
        return Value(
            name,
            kernel.bits(register),
            kernel.shapes[register],
            None,
            register in kernel.loose,
            register in kernel.flat,
        )

    def put(self, register: int, value: Value, predicate: Value | None) -> None:
        """Write a register."""
        w, shape = self.w, self.kernel.shapes[register]
        if value.loose and register not in self.kernel.loose:
            value = self.strict(value)
        if shape is None:
            value = w.spread(value)
        elif value.pattern != shape:
            raise NotTaken("a register whose lanes differ where they should not")
        if predicate is not None:
            old = self.get(register)
            if shape is None:
                value = w.select(w.spread(predicate), value, w.spread(old))
            else:
                chosen = w.select(
                    predicate, replace(value, pattern=SAME), replace(old, pattern=SAME)
                )
                value = replace(chosen, pattern=shape)
        self._used.add(register)
        w.line(f"store {self._kind(register)} {value.name}, ptr %r{register}")
        self._seen[register] = replace(
            value,
            pattern=shape,
            loose=register in self.kernel.loose,
            flat=register in self.kernel.flat,
        )

    # --- the function ---------------------------------------------------------------------------

    def text(self) -> str:
        """The function, without what it calls."""
        w = self.w
        at = w.let(f"getelementptr i8, ptr %f, i64 {FRAME['resume']}")
        resume = w.let(f"load i32, ptr {at}")
        cases = " ".join(f"i32 {k}, label %resume{k}" for k in self.resumes if k != self.start)
        w.line(f"switch i32 {resume}, label %resume{self.start} [ {cases} ]")
        for number in self.resumes:
            w.at(f"resume{number}")
            self._restore(number)
            w.line(f"br label %b{number}")
        for number in self.blocks:
            self._block(self.kernel.graph.blocks[number])
        variables = [f"  %r{r} = alloca {self._kind(r)}" for r in sorted(self._used)]
        zero = [
            f"  store {self._kind(r)} {_zero(self._kind(r))}, ptr %r{r}" for r in sorted(self._used)
        ]
        body = "\n".join((*variables, *zero, *w.lines))
        return function(f"region{self.number}", body)

    def _live(self, *blocks: int) -> list[int]:
        found = 0
        for block in blocks:
            found |= self.kernel.live[block]
        return [r for r in range(found.bit_length()) if found >> r & 1]

    def _restore(self, number: int) -> None:
        w, kernel = self.w, self.kernel
        first = number == 0
        for register in self._live(number):
            if first:
                continue  # zero
            self._used.add(register)
            if kernel.shapes[register] is None:
                name = load_lanes(w, kernel, register)
            else:
                at = w.let(f"getelementptr i8, ptr %f, i64 {kernel.scalars[register]}")
                name = w.let(f"load i{kernel.bits(register)}, ptr {at}")
            w.line(f"store {self._kind(register)} {name}, ptr %r{register}")

    def _keep(self, register: int) -> None:
        """Into the frame, as it is."""
        w, kernel = self.w, self.kernel
        value = self.get(register)
        if kernel.shapes[register] is None:
            store_lanes(w, kernel, register, value.name)
        else:
            at = w.let(f"getelementptr i8, ptr %f, i64 {kernel.scalars[register]}")
            w.line(f"store i{kernel.bits(register)} {value.name}, ptr {at}")

    def _set(self, name: str, value: int | str) -> None:
        at = self.w.let(f"getelementptr i8, ptr %f, i64 {FRAME[name]}")
        self.w.line(f"store i32 {value}, ptr {at}")

    def _count(self, table: str, number: int, step: str = "1") -> None:
        w = self.w
        start = self.constant_field(table, 64).name
        at = w.let(f"inttoptr i64 {start} to ptr")
        at = w.let(f"getelementptr i64, ptr {at}, i64 {number}")
        old = w.let(f"load i64, ptr {at}")
        w.line(f"store i64 {w.let(f'add i64 {old}, {step}')}, ptr {at}")

    def _block(self, block: Block) -> None:
        w = self.w
        w.at(f"b{block.number}")
        self._seen = {}
        self._count("full", block.number)
        self.checked = together(self.kernel, block.ops)
        for op in block.ops:
            self.op(op)
        getattr(self, f"_{block.end.how}")(block)

    def _jump(self, block: Block, to: int, label: str = "") -> None:
        """To another block; a loop asks whether the launch is to stop."""
        w = self.w
        if to > block.number:
            w.line(f"br label %b{to}")
            return
        at = w.let(f"getelementptr i8, ptr %c, i64 {WORKER['stop']}")
        stop = w.let(f"load volatile i32, ptr {at}")
        on = w.let(f"icmp eq i32 {stop}, 0")
        halt = w.label("halt")
        w.line(f"br i1 {on}, label %b{to}, label %{halt}, !prof !2")
        w.at(halt)
        where = w.let(f"getelementptr i8, ptr %c, i64 {WORKER['halted_at']}")
        w.line(f"store i64 {to + 1}, ptr {where}")
        w.line(f"ret i32 {STOP}")

    def _go(self, block: Block) -> None:
        self._jump(block, block.end.to[0])

    def _branch(self, block: Block) -> None:
        taken, onward = block.end.to
        w, counted = self.w, block.end.how == "branch"
        assert block.end.guard is not None
        guard = self.read(block.end.guard, "pred", block.place)
        yes, no, mixed = (w.label(s) for s in ("taken", "onward", "mixed"))
        if guard.same:
            w.line(f"br i1 {guard.name}, label %{yes}, label %{no}")
        else:
            bits = w.mask(guard)
            w.line(f"switch i32 {bits}, label %{mixed} [ i32 0, label %{no} i32 -1, label %{yes} ]")
            w.at(mixed)
            self._part(block, guard, bits, counted)
        w.at(yes)
        if counted:
            self._count("taken", block.number, str(LANES))
        self._jump(block, taken)
        w.at(no)
        self._jump(block, onward)

    _return = _branch

    def _part(self, block: Block, guard: Value, bits: str, counted: bool) -> None:
        """Lanes go different ways."""
        w, (taken, onward) = self.w, block.end.to
        if counted:
            self._count("divergent", block.number)
            number = w.let(f"call i32 @llvm.ctpop.i32(i32 {bits})")
            self._count("taken", block.number, w.let(f"zext i32 {number} to i64"))
        places = w.select(guard, w.number(taken, 32), w.number(onward, 32))
        self._leave_together(self._live(taken, onward), places)

    def _leave_together(self, live: list[int], places: Value) -> None:
        w = self.w
        for register in live:
            store_lanes(w, self.kernel, register, w.wide(self.get(register)))
        at = w.let(f"getelementptr i8, ptr %f, i64 {PLACES}")
        w.line(f"store <32 x i32> {w.wide(places)}, ptr {at}, align 64")
        self._set("parted", 1)
        w.line(f"ret i32 {SWITCH}")

    def _table(self, block: Block) -> None:
        w, at = self.w, block.end.at
        assert at is not None
        index = self.read(at.operands[0], "u32", block.place)
        beyond = w.compare("uge", index, w.number(len(block.end.to), 32))
        if not index.same:
            beyond = w.scalar(w.let(f"icmp ne i32 {w.mask(beyond)}, 0"), 1)
        self.refuse(beyond, FAULT, at.pc)
        if index.same:
            labels = [w.label("entry") for _ in block.end.to]
            cases = " ".join(f"i32 {n}, label %{label}" for n, label in enumerate(labels))
            w.line(f"switch i32 {index.name}, label %{labels[0]} [ {cases} ]")
            for label, to in zip(labels, block.end.to, strict=True):
                w.at(label)
                self._jump(block, to)
            return
        places = w.number(block.end.to[0], 32)
        for n, to in enumerate(block.end.to[1:], 1):
            here = w.compare("eq", index, w.number(n, 32))
            places = w.select(here, w.number(to, 32), places)
        self._leave_together(self._live(*block.end.to), places)

    def _leave(self, block: Block) -> None:
        w, guard = self.w, block.end.guard
        if guard is None:
            self._set("live", 0)
            w.line(f"ret i32 {END}")
            return
        (onward,) = block.end.to
        held = self.read(guard, "pred", block.place)
        bits = w.mask(held)
        gone, stay, mixed = (w.label(s) for s in ("gone", "stay", "mixed"))
        w.line(f"switch i32 {bits}, label %{mixed} [ i32 0, label %{stay} i32 -1, label %{gone} ]")
        w.at(mixed)
        self._set("live", w.let(f"xor i32 {bits}, -1"))
        self._leave_together(self._live(onward), w.number(onward, 32))
        w.at(gone)
        self._set("live", 0)
        w.line(f"ret i32 {END}")
        w.at(stay)
        self._jump(block, onward)

    def _trap(self, block: Block) -> None:
        w, guard, at = self.w, block.end.guard, block.end.at
        assert at is not None
        some = w.number(1, 1)
        if guard is not None:
            bits = w.mask(self.read(guard, "pred", block.place))
            some = w.scalar(w.let(f"icmp ne i32 {bits}, 0"), 1)
        self.refuse(some, FAULT, at.pc)
        if block.end.to:
            self._jump(block, block.end.to[0])
        else:
            w.line(f"ret i32 {STOP}")

    def _stop(self, block: Block) -> None:
        assert block.end.at is not None
        self.refuse(self.w.number(1, 1), CALLED, block.end.at.pc)
        self.w.line(f"ret i32 {STOP}")

    def _barrier(self, block: Block) -> None:
        check_barrier(block)
        (onward,) = block.end.to
        for register in self._live(onward):
            self._keep(register)
        self._set("resume", onward)
        self._set("region", self._index[onward])
        self._set("barrier", block.number)
        at = self.w.let(f"getelementptr i8, ptr %f, i64 {PLACES}")
        self.w.line(f"store <32 x i32> {lanes([onward] * LANES, 32)}, ptr {at}, align 64")
        self.w.line(f"ret i32 {WAIT}")


def _zero(kind: str) -> str:
    return "zeroinitializer" if kind[0] == "<" else "0"


def function(name: str, body: str) -> str:
    """A function of a worker and the frame of a warp."""
    return f"define i32 @{name}(ptr noalias %c, ptr noalias %f) #0 {{\nstart:\n{body}\n}}\n"


def check_barrier(block: Block) -> None:
    """Only plain barriers of the whole block are taken."""
    at = block.end.at
    assert at is not None
    if {"red", "arrive"} & set(at.opcode.mods) or len(at.operands) != 1:
        raise NotTaken(at.opcode.text + " of part of a block" * (len(at.operands) > 1))
    if constant(at.operands[0]) is None:
        raise NotTaken("a barrier whose number is in a register")


def store_lanes(w: Writer, kernel: Kernel, register: int, name: str) -> None:
    """Put a vector into the frame; predicates as the bits of an i32."""
    at = w.let(f"getelementptr i8, ptr %f, i64 {kernel.vectors[register]}")
    bits = kernel.bits(register)
    if bits == 1:
        w.line(f"store i32 {w.let(f'bitcast <32 x i1> {name} to i32')}, ptr {at}")
    else:
        w.line(f"store <32 x i{bits}> {name}, ptr {at}, align 32")


def load_lanes(w: Writer, kernel: Kernel, register: int) -> str:
    """Take a vector out of the frame."""
    at = w.let(f"getelementptr i8, ptr %f, i64 {kernel.vectors[register]}")
    bits = kernel.bits(register)
    if bits == 1:
        return w.let(f"bitcast i32 {w.let(f'load i32, ptr {at}')} to <32 x i1>")
    return w.let(f"load <32 x i{bits}>, ptr {at}, align 32")


def resumes(kernel: Kernel, start: int, blocks: frozenset[int]) -> list[int]:
    """Where parted lanes may be together again: outside of loops, and at the head of outer ones."""
    graph = kernel.graph

    def inner(number: int) -> list[int]:
        block = graph.blocks[number]
        return [] if block.end.how == "barrier" else [t for t in block.end.to if t in blocks]

    before: dict[int, int] = {}
    for number in blocks:
        for follower in inner(number):
            before[follower] = before.get(follower, 0) + 1
    # In the order of blocks a loop is a run of them, from its head to the last jump back to it.
    heads: dict[int, int] = {}
    for number in blocks:
        for follower in inner(number):
            if follower <= number:
                heads[follower] = max(heads.get(follower, 0), number)
    found, end = [], -1
    for number in sorted(blocks):
        if number <= end:
            continue
        if number in heads:
            end = heads[number]
            found.append(number)
        elif before.get(number, 0) > 1:
            found.append(number)
    return sorted({start, *found})
