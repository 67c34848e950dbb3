"""Code of the blocks of a kernel for some lanes of a warp that run them together.

What both kinds of code have in common: `converged.py`, where all lanes of a warp are together from
barrier to barrier, and `divergent.py`, where some of them are.
"""

from abc import abstractmethod
from collections.abc import Iterable

from gpuviz.ptx.compiled.emitter import Emitter
from gpuviz.ptx.compiled.graph import Block, constant
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory_map import CALLED, FAULT, FRAME, PLACES, STOP, TIDS, WORKER
from gpuviz.ptx.compiled.writer import Bailout, Value
from gpuviz.traces.trace import LANES

EVERY = "-1"  # all lanes of a warp, as the bits of an i32


class Flow(Emitter):
    """Writes blocks, and how they end."""

    @abstractmethod
    def jump(self, block: Block, to: int) -> None:
        """All lanes that are here go to another block."""

    @abstractmethod
    def divide(self, live: Iterable[int], places: Value) -> None:
        """Each lane goes to a place of its own; `live` are the registers it takes along."""

    @abstractmethod
    def ended(self) -> None:
        """Lanes have left, and none is here."""

    # --- the frame and the tables -----------------------------------------------------------------

    def frame(self, name: str) -> str:
        """A field of the frame."""
        return self.w.let(f"load i32, ptr {self.in_frame(FRAME[name])}")

    def set(self, name: str, value: int | str) -> None:
        """Set a field of the frame."""
        self.w.line(f"store i32 {value}, ptr {self.in_frame(FRAME[name])}")

    def in_frame(self, offset: int) -> str:
        """An address in the frame."""
        return self.w.let(f"getelementptr i8, ptr %f, i64 {offset}")

    def set_places(self, places: str) -> None:
        """Where each lane is."""
        self.w.line(f"store <32 x i32> {places}, ptr {self.in_frame(PLACES)}, align 64")

    def thread_indices(self, axis: str) -> Value:
        """%tid of each lane, 32 bits."""
        w, at = self.w, self.in_frame(TIDS["tid." + axis])
        return w.vector(w.let(f"load <32 x i32>, ptr {at}, align 64, !invariant.load !0"), 32)

    def store_lanes(self, register: int, name: str) -> None:
        """Put a vector into the frame; predicates as the bits of an i32."""
        w, bits = self.w, self.kernel.bits(register)
        at = self.in_frame(self.kernel.vectors[register])
        if bits == 1:
            w.line(f"store i32 {w.let(f'bitcast <32 x i1> {name} to i32')}, ptr {at}")
        else:
            w.line(f"store <32 x i{bits}> {name}, ptr {at}, align 32")

    def load_lanes(self, register: int) -> str:
        """Take a vector out of the frame."""
        w, bits = self.w, self.kernel.bits(register)
        at = self.in_frame(self.kernel.vectors[register])
        if bits == 1:
            return w.let(f"bitcast i32 {w.let(f'load i32, ptr {at}')} to <32 x i1>")
        return w.let(f"load <32 x i{bits}>, ptr {at}, align 32")

    def count(self, table: str, number: int, step: str = "1") -> None:
        """Add to a counter of a block."""
        w, start = self.w, self.constant_field(table, 64).name
        at = w.let(f"getelementptr i64, ptr {w.let(f'inttoptr i64 {start} to ptr')}, i64 {number}")
        old = w.let(f"load i64, ptr {at}")
        w.line(f"store i64 {w.let(f'add i64 {old}, {step}')}, ptr {at}")

    def counts_lanes(self) -> None:
        """Make %count64, of the lanes in %mask."""
        self.w.line("%count = call i32 @llvm.ctpop.i32(i32 %mask)")
        self.w.line("%count64 = zext i32 %count to i64")
        self.w.declared["llvm.ctpop.i32"] = "declare i32 @llvm.ctpop.i32(i32)"

    def live(self, *blocks: int) -> list[int]:
        """Registers that are read at some blocks, or later."""
        found = 0
        for block in blocks:
            found |= self.kernel.live[block]
        return self.kernel.numbers(found)

    def stops(self, label: str, onward: str) -> None:
        """Go to a label when the launch is to stop."""
        w = self.w
        at = w.let(f"getelementptr i8, ptr %c, i64 {WORKER['stop']}")
        stop = w.let(f"load volatile i32, ptr {at}")
        on = w.let(f"icmp eq i32 {stop}, 0")
        w.line(f"br i1 {on}, label %{onward}, label %{label}, !prof !2")

    def halt(self, place: str) -> None:
        """The launch is to stop while this warp is at a block (its number plus one)."""
        where = self.w.let(f"getelementptr i8, ptr %c, i64 {WORKER['halted_at']}")
        self.w.line(f"store i64 {place}, ptr {where}")
        self.w.line(f"ret i32 {STOP}")

    # --- how blocks end ---------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """The ops of a block, counted, and its end."""
        if self.lanes_on == EVERY:
            self.count("full", block.number)
        else:
            self.count("part_warps", block.number)
            self.count("part_threads", block.number, "%count64")
        for op in block.ops:
            self.op(op)
        getattr(self, f"_{block.end.how}")(block)

    def _held(self, bits: str) -> str:
        """Those of some lanes that are here."""
        every = self.lanes_on == EVERY
        return bits if every else self.w.let(f"and i32 {bits}, {self.lanes_on}")

    def _ways(self, bits: str) -> tuple[str, str]:
        """Go where all lanes that are here have their bits set, or none has; else go on.

        The labels of both.
        """
        w, on = self.w, self.lanes_on
        yes, no, mixed = (w.label(s) for s in ("yes", "no", "mixed"))
        cases = f"i32 0, label %{no}"
        if on == EVERY:
            cases += f" i32 -1, label %{yes}"
            w.line(f"switch i32 {bits}, label %{mixed} [ {cases} ]")
        else:
            some, all_of = w.label("some"), w.let(f"icmp eq i32 {bits}, {on}")
            w.line(f"br i1 {all_of}, label %{yes}, label %{some}")
            w.at(some)
            none = w.let(f"icmp eq i32 {bits}, 0")
            w.line(f"br i1 {none}, label %{no}, label %{mixed}")
        w.at(mixed)
        return yes, no

    def _go(self, block: Block) -> None:
        self.jump(block, block.end.to[0])

    def _branch(self, block: Block) -> None:
        taken, onward = block.end.to
        w, counted = self.w, block.end.how == "branch"
        assert block.end.guard is not None
        guard = self.read(block.end.guard, "pred", block.place)
        if guard.same:
            yes, no = w.label("yes"), w.label("no")
            w.line(f"br i1 {guard.name}, label %{yes}, label %{no}")
        else:
            bits = self._held(w.mask(guard))
            yes, no = self._ways(bits)
            if counted:
                self.count("divergent", block.number)
                number = w.call("i32", "llvm.ctpop.i32", f"i32 {bits}")
                self.count("taken", block.number, w.let(f"zext i32 {number} to i64"))
            places = w.select(guard, w.number(taken, 32), w.number(onward, 32))
            self.divide(self.live(taken, onward), places)
        w.at(yes)
        if counted:
            every = self.lanes_on == EVERY
            self.count("taken", block.number, str(LANES) if every else "%count64")
        self.jump(block, taken)
        w.at(no)
        self.jump(block, onward)

    _return = _branch

    def _table(self, block: Block) -> None:
        w, at, to = self.w, block.end.at, block.end.to
        assert at is not None
        index = self.read(at.operands[0], "u32", block.place)
        beyond = w.compare("uge", index, w.number(len(to), 32))
        if not index.same:
            bits = self._held(w.mask(beyond))
            beyond = w.scalar(w.let(f"icmp ne i32 {bits}, 0"), 1)
        self.refuse(beyond, FAULT, at.pc)
        if index.same:
            labels = [w.label("entry") for _ in to]
            cases = " ".join(f"i32 {n}, label %{label}" for n, label in enumerate(labels))
            w.line(f"switch i32 {index.name}, label %{labels[0]} [ {cases} ]")
            for label, target in zip(labels, to, strict=True):
                w.at(label)
                self.jump(block, target)
            return
        places = w.number(to[0], 32)
        for n, target in enumerate(to[1:], 1):
            here = w.compare("eq", index, w.number(n, 32))
            places = w.select(here, w.number(target, 32), places)
        self.divide(self.live(*to), places)

    def _leave(self, block: Block) -> None:
        guard = block.end.guard
        if guard is None:
            self._gone(self.lanes_on)
            self.ended()
            return
        (onward,) = block.end.to
        bits = self._held(self.w.mask(self.read(guard, "pred", block.place)))
        gone, stay = self._ways(bits)
        self._gone(bits)
        self.divide(self.live(onward), self.w.number(onward, 32))
        self.w.at(gone)
        self._gone(bits)
        self.ended()
        self.w.at(stay)
        self.jump(block, onward)

    def _gone(self, bits: str) -> None:
        left = self.w.let(f"xor i32 {bits}, -1")
        self.set("live", self.w.let(f"and i32 {self.frame('live')}, {left}"))

    def _trap(self, block: Block) -> None:
        w, guard, at = self.w, block.end.guard, block.end.at
        assert at is not None
        some = w.number(1, 1)
        if guard is not None:
            bits = self._held(w.mask(self.read(guard, "pred", block.place)))
            some = w.scalar(w.let(f"icmp ne i32 {bits}, 0"), 1)
        self.refuse(some, FAULT, at.pc)
        if block.end.to:
            self.jump(block, block.end.to[0])
        else:
            w.line(f"ret i32 {STOP}")

    def _stop(self, block: Block) -> None:
        assert block.end.at is not None
        self.refuse(self.w.number(1, 1), CALLED, block.end.at.pc)
        self.w.line(f"ret i32 {STOP}")


def function(name: str, body: list[str]) -> str:
    """A function of a worker and the frame of a warp."""
    lines = "\n".join(body)
    return f"define i32 @{name}(ptr noalias %c, ptr noalias %f) #0 {{\nstart:\n{lines}\n}}\n"


def check_barrier(block: Block) -> None:
    """Only plain barriers of the whole block are taken."""
    at = block.end.at
    assert at is not None
    if {"red", "arrive"} & set(at.opcode.mods) or len(at.operands) != 1:
        raise Bailout(at.opcode.text + " of part of a block" * (len(at.operands) > 1))
    if constant(at.operands[0]) is None:
        raise Bailout("a barrier whose number is in a register")


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
