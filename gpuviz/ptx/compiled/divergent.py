"""Code for a warp whose lanes have parted: each lane has a place, the earliest go first.

Just as the NumPy engine has it: of all lanes that can go on, those at the earliest block run it,
together. They go on from block to block as long as they stay together, and others are further on.
Registers are in the frame, one value a lane.
"""

from collections.abc import Iterable
from dataclasses import replace

from gpuviz.ptx.compiled.flow import Flow, check_barrier, function, resumes
from gpuviz.ptx.compiled.graph import Block, Copy, Op
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory_map import BARRIER, END, PLACES, SWITCH, WAIT
from gpuviz.ptx.compiled.writer import SAME, Pattern, Value, lanes
from gpuviz.ptx.text.ir import Operand
from gpuviz.traces.trace import LANES

_NOWHERE = lanes([-1] * LANES, 32)


class DivergentEmitter(Flow):
    """The function that runs parted lanes."""

    patterned = False
    name = "divergent"

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self._seen: dict[int, Value] = {}
        self._limit = ""
        self._where: dict[int, list[int]] = {}
        for number, (start, blocks) in enumerate(kernel.regions.items()):
            for block in resumes(kernel, start, blocks):
                self._where.setdefault(block, []).append(number)

    @property
    def lanes_on(self) -> str:
        """Those at the block that is run."""
        return "%mask"

    def shape(self, op: Op | Copy) -> Pattern | None:
        """None: every lane has its own value."""
        return None

    def thread_index(self, axis: str) -> Value:
        """%tid, 32 bits."""
        return self.thread_indices(axis)

    def get(self, register: int) -> Value:
        """The value of a register."""
        if register not in self._seen:
            found = self.w.vector(self.load_lanes(register), self.kernel.bits(register))
            self._seen[register] = self.kernel.known(register, found)
        return self._seen[register]

    def put(self, register: int, value: Value, predicate: Value | None) -> None:
        """Write a register of the lanes that are here."""
        w, kernel = self.w, self.kernel
        if value.loose and register not in kernel.loose:
            value = self.strict(value)
        if register not in kernel.vectors and (predicate is None or register not in self._seen):
            self._seen[register] = kernel.known(register, w.spread(value))  # of this block alone
            return
        chosen = w.vector("%lanes", 1)
        if predicate is not None:
            chosen = w.op("and", chosen, w.spread(predicate))
        value = w.select(chosen, w.spread(value), self.get(register))
        if register in kernel.vectors:
            self.store_lanes(register, value.name)
        self._seen[register] = kernel.known(register, value)

    # --- the function ---------------------------------------------------------------------------

    def text(self) -> str:
        """The function, without what it calls."""
        self.w.line("%patient = alloca i1")
        self.w.line("br label %choose")
        self._choose()
        for block in self.kernel.graph.blocks:
            self.w.at(f"b{block.number}")
            self._seen = {}
            if block.number in self._where:
                self._join(block)
            if block.synchronised is not None:
                self._meet(block)
            self.block(block)
        self.w.at("nowhere")
        self.w.line("unreachable")
        return function(self.name, self.w.lines)

    def _choose(self) -> None:
        """Who runs next, and where; `_limit` is where others are."""
        w = self.w
        w.at("choose")
        self.stops("halt", "who")
        w.at("halt")
        self.halt(w.let(f"zext i32 {w.let(f'load i32, ptr {self.in_frame(PLACES)}')} to i64"))
        w.at("who")
        live, waiting, blocked = (self.frame(n) for n in ("live", "waiting", "blocked"))
        here = w.let(f"and i32 {live}, {w.let(f'xor i32 {waiting}, -1')}")
        w.line(f"br i1 {w.let(f'icmp eq i32 {here}, 0')}, label %nobody, label %some")
        w.at("nobody")
        ended = w.let(f"icmp eq i32 {live}, 0")
        w.line(f"ret i32 {w.let(f'select i1 {ended}, i32 {END}, i32 {WAIT}')}")
        w.at("some")
        free = w.let(f"and i32 {here}, {w.let(f'xor i32 {blocked}, -1')}")
        forced = w.let(f"icmp eq i32 {free}, 0")
        usable = w.let(f"select i1 {forced}, i32 {here}, i32 {free}")
        places = w.let(f"load <32 x i32>, ptr {self.in_frame(PLACES)}, align 64")
        first = self._lowest(places, usable)
        same = w.let(f"icmp eq <32 x i32> {places}, {w.wide(w.scalar(first, 32))}")
        w.line(f"%mask = and i32 {w.let(f'bitcast <32 x i1> {same} to i32')}, {here}")
        w.line("%lanes = bitcast i32 %mask to <32 x i1>")
        others = w.let(f"and i32 {here}, {w.let('xor i32 %mask, -1')}")
        self._limit = self._lowest(places, others)
        self.set("blocked", w.let(f"and i32 {blocked}, {w.let('xor i32 %mask, -1')}"))
        w.line(f"store i1 {w.let(f'xor i1 {forced}, true')}, ptr %patient")
        self.counts_lanes()
        w.line(f"%every = icmp eq i32 %mask, {'-1' if self.kernel.exchanges else live}")
        cases = " ".join(f"i32 {b.number}, label %b{b.number}" for b in self.kernel.graph.blocks)
        w.line(f"switch i32 {first}, label %nowhere [ {cases} ]")

    def _lowest(self, places: str, of: str) -> str:
        """The earliest place of some lanes; without any beyond all places."""
        w = self.w
        can = w.let(f"bitcast i32 {of} to <32 x i1>")
        own = w.let(f"select <32 x i1> {can}, <32 x i32> {places}, <32 x i32> {_NOWHERE}")
        return w.call("i32", "llvm.vector.reduce.umin.v32i32", f"<32 x i32> {own}")

    def _join(self, block: Block) -> None:
        """All lanes are here: on with the other code, if their registers are as it has them."""
        w, kernel, number = self.w, self.kernel, block.number
        whole, fit, apart = f"whole{number}", f"fit{number}", f"apart{number}"
        w.line(f"br i1 %every, label %{whole}, label %{apart}")
        w.at(whole)
        region = self.frame("region")
        cases = " ".join(f"i32 {n}, label %{fit}" for n in self._where[number])
        w.line(f"switch i32 {region}, label %{apart} [ {cases} ]")
        w.at(fit)
        lane = w.call("i32", "llvm.cttz.i32", "i32 %mask", "i1 false")
        wrong: list[Value] = []
        kept: list[tuple[int, str]] = []
        for register in self.live(number):
            shape = kernel.shapes[register]
            if shape is not None:
                value = w.vector(self.load_lanes(register), kernel.bits(register))
                base = self._base(value, shape, lane)
                wrong.append(w.compare("ne", value, w.spread(base)))
                kept.append((register, base.name))
        enter = f"enter{number}"
        unlike = w.let(f"and i32 {w.mask(w.ops('or', *wrong))}, %mask") if wrong else "0"
        w.line(f"br i1 {w.let(f'icmp eq i32 {unlike}, 0')}, label %{enter}, label %{apart}")
        w.at(enter)
        for register, base_name in kept:
            at = self.in_frame(kernel.scalars[register])
            w.line(f"store i{kernel.bits(register)} {base_name}, ptr {at}")
        full = w.let("icmp eq i32 %mask, -1")
        first = self.constant_field("first_whole", 32).name
        start = w.let(f"select i1 {full}, i32 {first}, i32 {kernel.function(0, False)}")
        self.set("function", w.let(f"add i32 {start}, {region}"))
        self.set("resume", number)
        w.line(f"ret i32 {SWITCH}")
        w.at(apart)

    def _base(self, value: Value, shape: Pattern, lane: str) -> Value:
        """The scalar of a pattern that a lane would have."""
        w, kind = self.w, f"<32 x i{value.bits}>"
        own = w.scalar(w.let(f"extractelement {kind} {value.name}, i32 {lane}"), value.bits)
        if shape != SAME:
            pattern = lanes(shape, value.bits)
            part = w.scalar(w.let(f"extractelement {kind} {pattern}, i32 {lane}"), value.bits)
            own = w.op("sub", own, part)
        return replace(own, pattern=shape)

    def _meet(self, block: Block) -> None:
        """Lanes that the first instruction names and that are elsewhere are waited for."""
        w, at = self.w, block.synchronised
        assert at is not None
        member: Operand = at.operands[0 if at.opcode.name in ("bar", "barrier") else -1]
        value = self.read(member, "u32", block.place)
        if value.same:
            wanted = value.name
        else:
            chosen = w.select(w.vector("%lanes", 1), value, w.number(0, 32))
            wanted = w.call("i32", "llvm.vector.reduce.or.v32i32", f"<32 x i32> {chosen.name}")
        elsewhere = w.let(f"and i32 {self.frame('live')}, {w.let('xor i32 %mask, -1')}")
        missing = w.let(f"icmp ne i32 {w.let(f'and i32 {elsewhere}, {wanted}')}, 0")
        waits = w.let(f"and i1 {missing}, {w.let('load i1, ptr %patient')}")
        wait, together = f"wait{block.number}", f"together{block.number}"
        w.line(f"br i1 {waits}, label %{wait}, label %{together}")
        w.at(wait)
        self.set("blocked", w.let(f"or i32 {self.frame('blocked')}, %mask"))
        self._move(w.number(block.number, 32))
        w.at(together)

    def _move(self, places: Value) -> None:
        """The lanes that are here go elsewhere, perhaps to others."""
        w = self.w
        old = w.let(f"load <32 x i32>, ptr {self.in_frame(PLACES)}, align 64")
        new = w.let(f"select <32 x i1> %lanes, <32 x i32> {w.wide(places)}, <32 x i32> {old}")
        self.set_places(new)
        w.line("br label %choose")

    def jump(self, block: Block, to: int) -> None:
        """On at once, unless others are as early."""
        w = self.w
        near, far = w.label("near"), w.label("far")
        w.line(f"br i1 {w.let(f'icmp ult i32 {to}, {self._limit}')}, label %{near}, label %{far}")
        w.at(near)
        w.line("store i1 true, ptr %patient")
        if to > block.number:
            w.line(f"br label %b{to}")
        else:
            self.stops(far, f"b{to}")
        w.at(far)
        self._move(w.number(to, 32))

    def divide(self, live: Iterable[int], places: Value) -> None:
        """Each lane to its place."""
        self._move(places)

    def ended(self) -> None:
        """On with those who are left."""
        self.w.line("br label %choose")

    def _barrier(self, block: Block) -> None:
        check_barrier(block)
        w, (onward,) = self.w, block.end.to
        waiting = self.frame("waiting")
        others = w.let(f"icmp ne i32 {waiting}, 0")
        different = w.let(f"icmp ne i32 {self.frame('barrier')}, {block.number}")
        self.refuse(w.scalar(w.let(f"and i1 {others}, {different}"), 1), BARRIER, block.number)
        self.set("waiting", w.let(f"or i32 {waiting}, %mask"))
        self.set("barrier", block.number)
        self.set("region", self.kernel.region_of[onward])
        self._move(w.number(onward, 32))
