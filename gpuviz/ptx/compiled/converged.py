"""Code for a warp whose lanes are together: one function for each region between barriers.

Registers are local variables, which LLVM keeps in machine registers. At a barrier those that live
on are put into the frame of the warp; at a branch where lanes part all of them are, one value a
lane, and the code for parted lanes goes on. There are two kinds: for warps of 32 lanes, and for
those of which only some exist or are left.
"""

from collections.abc import Iterable
from dataclasses import replace

from gpuviz.ptx.compiled.flow import EVERY, Flow, check_barrier, function, resumes
from gpuviz.ptx.compiled.graph import Block, Copy, Op
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory_map import END, FRAME, SWITCH, WAIT
from gpuviz.ptx.compiled.patterns import together
from gpuviz.ptx.compiled.writer import SAME, Bailout, Pattern, Value, lanes
from gpuviz.traces.trace import LANES


class ConvergedEmitter(Flow):
    """The function of one region, for whole warps or for some lanes of each."""

    def __init__(self, kernel: Kernel, number: int, whole: bool) -> None:
        super().__init__(kernel)
        self.number = number
        self.whole = whole
        self.start, blocks = list(kernel.regions.items())[number]
        self.blocks = sorted(blocks)
        self.resumes = resumes(kernel, self.start, blocks)
        self._seen: dict[int, Value] = {}
        self._used: set[int] = set()

    @property
    def lanes_on(self) -> str:
        """All of them, or those that are left."""
        return EVERY if self.whole else "%mask"

    def shape(self, op: Op | Copy) -> Pattern | None:
        """As found for lanes that are together."""
        return self.kernel.shapes.value(op)  # type: ignore[return-value]

    def thread_index(self, axis: str) -> Value:
        """%tid, 32 bits."""
        pattern = self.kernel.threads.tids["xyz".index(axis)]
        if pattern is None:
            return self.thread_indices(axis)
        at = self.in_frame(FRAME["tid." + axis])
        return Value(self.w.let(f"load i32, ptr {at}, !invariant.load !0"), 32, pattern)

    # --- registers ------------------------------------------------------------------------------

    def _kind(self, register: int) -> str:
        bits = self.kernel.bits(register)
        return f"<32 x i{bits}>" if self.kernel.shapes[register] is None else f"i{bits}"

    def get(self, register: int) -> Value:
        """The value of a register."""
        if register not in self._seen:
            self._used.add(register)
            name = self.w.let(f"load {self._kind(register)}, ptr %r{register}")
            bits, shape = self.kernel.bits(register), self.kernel.shapes[register]
            self._seen[register] = self.kernel.known(register, Value(name, bits, shape))
        return self._seen[register]

    def put(self, register: int, value: Value, predicate: Value | None) -> None:
        """Write a register."""
        w, shape = self.w, self.kernel.shapes[register]
        if value.loose and register not in self.kernel.loose:
            value = self.strict(value)
        if shape is None:
            value = w.spread(value)
        elif value.pattern != shape:
            raise Bailout("a register whose lanes differ where they should not")
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
        self._seen[register] = self.kernel.known(register, replace(value, pattern=shape))

    def _scalar(self, register: int) -> str:
        return self.in_frame(self.kernel.scalars[register])

    def _restore(self, number: int) -> None:
        """Take registers out of the frame; those of a warp that begins are 0."""
        w, kernel = self.w, self.kernel
        for register in self.live(number) if number else ():
            self._used.add(register)
            if kernel.shapes[register] is None:
                name = self.load_lanes(register)
            else:
                name = w.let(f"load i{kernel.bits(register)}, ptr {self._scalar(register)}")
            w.line(f"store {self._kind(register)} {name}, ptr %r{register}")

    def _keep(self, register: int) -> None:
        """Into the frame, as it is."""
        value = self.get(register)
        if self.kernel.shapes[register] is None:
            self.store_lanes(register, value.name)
        else:
            kind = f"i{self.kernel.bits(register)}"
            self.w.line(f"store {kind} {value.name}, ptr {self._scalar(register)}")

    # --- the function ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Of the function."""
        return f"{'whole' if self.whole else 'some'}{self.number}"

    def text(self) -> str:
        """The function, without what it calls."""
        w = self.w
        if not self.whole:
            w.line(f"%mask = load i32, ptr {self.in_frame(FRAME['live'])}")
            self.counts_lanes()
        resume = self.frame("resume")
        cases = " ".join(f"i32 {k}, label %resume{k}" for k in self.resumes if k != self.start)
        w.line(f"switch i32 {resume}, label %resume{self.start} [ {cases} ]")
        for number in self.resumes:
            w.at(f"resume{number}")
            self._restore(number)
            w.line(f"br label %b{number}")
        for number in self.blocks:
            block = self.kernel.graph.blocks[number]
            w.at(f"b{number}")
            self._seen = {}
            self.checked = together(self.kernel, block.ops)
            self.block(block)
        kinds = {r: self._kind(r) for r in sorted(self._used)}
        variables = [f"  %r{r} = alloca {kind}" for r, kind in kinds.items()]
        zeros = [f"  store {kind} {_zero(kind)}, ptr %r{r}" for r, kind in kinds.items()]
        return function(self.name, [*variables, *zeros, *w.lines])

    def jump(self, block: Block, to: int) -> None:
        """To another block; a loop asks whether the launch is to stop."""
        if to > block.number:
            self.w.line(f"br label %b{to}")
            return
        halt = self.w.label("halt")
        self.stops(halt, f"b{to}")
        self.w.at(halt)
        self.halt(str(to + 1))

    def divide(self, live: Iterable[int], places: Value) -> None:
        """On with the code for parted lanes."""
        for register in live:
            self.store_lanes(register, self.w.wide(self.get(register)))
        self.set_places(self.w.wide(places))
        self.set("function", self.kernel.divergent)
        self.w.line(f"ret i32 {SWITCH}")

    def ended(self) -> None:
        """No lane is left."""
        self.w.line(f"ret i32 {END}")

    def _barrier(self, block: Block) -> None:
        check_barrier(block)
        (onward,) = block.end.to
        for register in self.live(onward):
            self._keep(register)
        region = self.kernel.region_of[onward]
        self.set("resume", onward)
        self.set("region", region)
        self.set("function", self.kernel.function(region, self.whole))
        self.set("barrier", block.number)
        self.set_places(lanes([onward] * LANES, 32))
        self.w.line(f"ret i32 {WAIT}")


def _zero(kind: str) -> str:
    return "zeroinitializer" if kind[0] == "<" else "0"
