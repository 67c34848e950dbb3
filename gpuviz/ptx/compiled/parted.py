"""Code for a warp whose lanes have parted: each lane has a place, the earliest go first.

Just as the NumPy engine has it: of all lanes that can go on, those at the earliest block run it,
together. Registers are in the frame, one value a lane.
"""

from __future__ import annotations

from dataclasses import replace

from gpuviz.ptx.compiled.converged import check_barrier, function, load_lanes, resumes, store_lanes
from gpuviz.ptx.compiled.emitting import Emitter
from gpuviz.ptx.compiled.graph import Block, Copy, Op
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory_map import (
    BARRIER,
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
from gpuviz.ptx.compiled.writing import Pattern, Value, lanes
from gpuviz.ptx.text.ir import Operand
from gpuviz.trace import LANES


class Parted(Emitter):
    """The function that runs parted lanes."""

    patterned = False

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self._seen: dict[int, Value] = {}
        self._where: dict[int, list[int]] = {}
        for number, (start, blocks) in enumerate(kernel.regions.items()):
            for block in resumes(kernel, start, blocks):
                self._where.setdefault(block, []).append(number)
        self._index = {s: n for n, s in enumerate(kernel.regions)}

    @property
    def lanes_on(self) -> str:
        """Those at the block that is run."""
        return "%mask"

    def shape(self, op: Op | Copy) -> Pattern | None:
        """None: every lane has its own value."""
        return None

    def thread_index(self, axis: str) -> Value:
        """%tid, 32 bits."""
        w = self.w
        at = w.let(f"getelementptr i8, ptr %f, i64 {TIDS['tid.' + axis]}")
        return w.vector(w.let(f"load <32 x i32>, ptr {at}, align 64, !invariant.load !0"), 32)

    def get(self, register: int) -> Value:
        """The value of a register."""
        if register not in self._seen:
            kernel = self.kernel
            name = load_lanes(self.w, kernel, register)
            loose, flat = register in kernel.loose, register in kernel.flat
            self._seen[register] = Value(name, kernel.bits(register), None, None, loose, flat)
        return self._seen[register]

    def put(self, register: int, value: Value, predicate: Value | None) -> None:
        """Write a register of the lanes that are here."""
        w, kernel = self.w, self.kernel
        if value.loose and register not in kernel.loose:
            value = self.strict(value)
        if register not in kernel.vectors and (predicate is None or register not in self._seen):
            self._seen[register] = self._own(register, w.spread(value))  # of this block alone
            return
        chosen = w.vector("%lanes", 1)
        if predicate is not None:
            chosen = w.op("and", chosen, w.spread(predicate))
        value = w.select(chosen, w.spread(value), self.get(register))
        if register in kernel.vectors:
            store_lanes(w, kernel, register, value.name)
        self._seen[register] = self._own(register, value)

    def _own(self, register: int, value: Value) -> Value:
        loose, flat = register in self.kernel.loose, register in self.kernel.flat
        return replace(value, loose=loose, flat=flat)

    # --- the function ---------------------------------------------------------------------------

    def _frame(self, name: str) -> str:
        at = self.w.let(f"getelementptr i8, ptr %f, i64 {FRAME[name]}")
        return self.w.let(f"load i32, ptr {at}")

    def _set(self, name: str, value: int | str) -> None:
        at = self.w.let(f"getelementptr i8, ptr %f, i64 {FRAME[name]}")
        self.w.line(f"store i32 {value}, ptr {at}")

    def text(self) -> str:
        """The function, without what it calls."""
        w = self.w
        self._choose()
        for block in self.kernel.graph.blocks:
            self._block(block)
        w.at("nowhere")
        w.line("unreachable")
        body = "\n".join(w.lines)
        return function("parted", "  br label %choose\n" + body)

    def _choose(self) -> None:
        """Who runs next, and where."""
        w = self.w
        w.at("choose")
        at = w.let(f"getelementptr i8, ptr %c, i64 {WORKER['stop']}")
        stop = w.let(f"load volatile i32, ptr {at}")
        w.line(f"br i1 {w.let(f'icmp eq i32 {stop}, 0')}, label %who, label %halt")
        w.at("halt")
        last = w.let(f"load i32, ptr {w.let(f'getelementptr i8, ptr %f, i64 {PLACES}')}")
        where = w.let(f"getelementptr i8, ptr %c, i64 {WORKER['halted_at']}")
        w.line(f"store i64 {w.let(f'zext i32 {last} to i64')}, ptr {where}")
        w.line(f"ret i32 {STOP}")
        w.at("who")
        live, waiting, blocked = (self._frame(n) for n in ("live", "waiting", "blocked"))
        here = w.let(f"and i32 {live}, {w.let(f'xor i32 {waiting}, -1')}")
        w.line(f"br i1 {w.let(f'icmp eq i32 {here}, 0')}, label %nobody, label %some")
        w.at("nobody")
        ended = w.let(f"icmp eq i32 {live}, 0")
        w.line(f"br i1 {ended}, label %ended, label %allwait")
        w.at("ended")
        w.line(f"ret i32 {END}")
        w.at("allwait")
        w.line(f"ret i32 {WAIT}")
        w.at("some")
        free = w.let(f"and i32 {here}, {w.let(f'xor i32 {blocked}, -1')}")
        w.line(f"%forced = icmp eq i32 {free}, 0")
        usable = w.let(f"select i1 %forced, i32 {here}, i32 {free}")
        places = w.let(
            f"load <32 x i32>, ptr {w.let(f'getelementptr i8, ptr %f, i64 {PLACES}')}, align 64"
        )
        can = w.let(f"bitcast i32 {usable} to <32 x i1>")
        far = lanes([-1] * LANES, 32)
        chosen = w.let(f"select <32 x i1> {can}, <32 x i32> {places}, <32 x i32> {far}")
        first = w.let(f"call i32 @llvm.vector.reduce.umin.v32i32(<32 x i32> {chosen})")
        wide = w.wide(w.scalar(first, 32))
        same = w.let(f"icmp eq <32 x i32> {places}, {wide}")
        w.line(f"%mask = and i32 {w.let(f'bitcast <32 x i1> {same} to i32')}, {here}")
        w.line("%lanes = bitcast i32 %mask to <32 x i1>")
        rest = w.let(f"and i32 {blocked}, {w.let('xor i32 %mask, -1')}")
        self._set("blocked", rest)
        w.line("%count = call i32 @llvm.ctpop.i32(i32 %mask)")
        w.line("%count64 = zext i32 %count to i64")
        w.line("%every = icmp eq i32 %mask, -1")
        cases = " ".join(f"i32 {b.number}, label %b{b.number}" for b in self.kernel.graph.blocks)
        w.line(f"switch i32 {first}, label %nowhere [ {cases} ]")

    def _count(self, table: str, number: int, step: str) -> None:
        w = self.w
        at = w.let(f"inttoptr i64 {self.constant_field(table, 64).name} to ptr")
        at = w.let(f"getelementptr i64, ptr {at}, i64 {number}")
        old = w.let(f"load i64, ptr {at}")
        w.line(f"store i64 {w.let(f'add i64 {old}, {step}')}, ptr {at}")

    def _block(self, block: Block) -> None:
        w = self.w
        w.at(f"b{block.number}")
        self._seen = {}
        if block.number in self._where:
            self._join(block)
        if block.synchronised is not None:
            self._meet(block)
        self._count("part_warps", block.number, "1")
        self._count("part_threads", block.number, "%count64")
        for op in block.ops:
            self.op(op)
        getattr(self, f"_{block.end.how}")(block)

    def _join(self, block: Block) -> None:
        """All lanes are here: on with the other code, if their registers are as it has them."""
        w, kernel, number = self.w, self.kernel, block.number
        whole, fit, apart = f"whole{number}", f"fit{number}", f"apart{number}"
        w.line(f"br i1 %every, label %{whole}, label %{apart}")
        w.at(whole)
        region = self._frame("region")
        cases = " ".join(f"i32 {n}, label %{fit}" for n in self._where[number])
        w.line(f"switch i32 {region}, label %{apart} [ {cases} ]")
        w.at(fit)
        live = kernel.live[number]
        wrong: list[Value] = []
        kept: list[tuple[int, str]] = []
        for register in (r for r in range(live.bit_length()) if live >> r & 1):
            shape = kernel.shapes[register]
            if shape is None:
                continue
            bits = kernel.bits(register)
            value = w.vector(load_lanes(w, kernel, register), bits)
            base = w.let(f"extractelement <32 x i{bits}> {value.name}, i64 0")
            wrong.append(w.compare("ne", value, w.vector(w.wide(Value(base, bits, shape)), bits)))
            kept.append((register, base))
        bits_wrong = w.mask(w.ops("or", *wrong)) if wrong else "0"
        enter = f"enter{number}"
        w.line(f"br i1 {w.let(f'icmp eq i32 {bits_wrong}, 0')}, label %{enter}, label %{apart}")
        w.at(enter)
        for register, base in kept:
            at = w.let(f"getelementptr i8, ptr %f, i64 {kernel.scalars[register]}")
            w.line(f"store i{kernel.bits(register)} {base}, ptr {at}")
        self._set("parted", 0)
        self._set("resume", number)
        w.line(f"ret i32 {SWITCH}")
        w.at(apart)

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
        elsewhere = w.let(f"and i32 {self._frame('live')}, {w.let('xor i32 %mask, -1')}")
        missing = w.let(f"icmp ne i32 {w.let(f'and i32 {elsewhere}, {wanted}')}, 0")
        waits = w.let(f"and i1 {missing}, {w.let('xor i1 %forced, true')}")
        wait, together = f"wait{block.number}", f"together{block.number}"
        w.line(f"br i1 {waits}, label %{wait}, label %{together}")
        w.at(wait)
        self._set("blocked", w.let(f"or i32 {self._frame('blocked')}, %mask"))
        w.line("br label %choose")
        w.at(together)

    def _move(self, places: Value) -> None:
        """The lanes that are here go elsewhere."""
        w = self.w
        at = w.let(f"getelementptr i8, ptr %f, i64 {PLACES}")
        old = w.let(f"load <32 x i32>, ptr {at}, align 64")
        new = w.let(f"select <32 x i1> %lanes, <32 x i32> {w.wide(places)}, <32 x i32> {old}")
        w.line(f"store <32 x i32> {new}, ptr {at}, align 64")
        w.line("br label %choose")

    def _go(self, block: Block) -> None:
        self._move(self.w.number(block.end.to[0], 32))

    def _branch(self, block: Block) -> None:
        w, (taken, onward) = self.w, block.end.to
        assert block.end.guard is not None
        guard = self.w.spread(self.read(block.end.guard, "pred", block.place))
        if block.end.how == "branch":
            bits = w.let(f"and i32 {w.mask(guard)}, %mask")
            number = w.let(f"call i32 @llvm.ctpop.i32(i32 {bits})")
            self._count("taken", block.number, w.let(f"zext i32 {number} to i64"))
            some, rest = w.let(f"icmp ne i32 {bits}, 0"), w.let(f"icmp ne i32 {bits}, %mask")
            both = w.let(f"and i1 {some}, {rest}")
            self._count("divergent", block.number, w.let(f"zext i1 {both} to i64"))
        self._move(w.select(guard, w.number(taken, 32), w.number(onward, 32)))

    _return = _branch

    def _table(self, block: Block) -> None:
        w, at = self.w, block.end.at
        assert at is not None
        index = w.spread(self.read(at.operands[0], "u32", block.place))
        beyond = w.compare("uge", index, w.number(len(block.end.to), 32))
        bad = w.let(f"and i32 {w.mask(beyond)}, %mask")
        self.refuse(w.scalar(w.let(f"icmp ne i32 {bad}, 0"), 1), FAULT, at.pc)
        places = w.number(block.end.to[0], 32)
        for n, to in enumerate(block.end.to[1:], 1):
            here = w.compare("eq", index, w.number(n, 32))
            places = w.select(here, w.number(to, 32), places)
        self._move(places)

    def _leave(self, block: Block) -> None:
        w, guard = self.w, block.end.guard
        gone = "%mask"
        if guard is not None:
            gone = w.let(f"and i32 %mask, {w.mask(self.read(guard, 'pred', block.place))}")
        live = w.let(f"and i32 {self._frame('live')}, {w.let(f'xor i32 {gone}, -1')}")
        self._set("live", live)
        if guard is None:
            w.line("br label %choose")
        else:
            self._move(w.number(block.end.to[0], 32))

    def _trap(self, block: Block) -> None:
        w, guard, at = self.w, block.end.guard, block.end.at
        assert at is not None
        hit = "%mask"
        if guard is not None:
            hit = w.let(f"and i32 %mask, {w.mask(self.read(guard, 'pred', block.place))}")
        self.refuse(w.scalar(w.let(f"icmp ne i32 {hit}, 0"), 1), FAULT, at.pc)
        if block.end.to:
            self._move(w.number(block.end.to[0], 32))
        else:
            w.line("br label %choose")

    def _stop(self, block: Block) -> None:
        assert block.end.at is not None
        self.refuse(self.w.number(1, 1), CALLED, block.end.at.pc)
        self.w.line("br label %choose")

    def _barrier(self, block: Block) -> None:
        check_barrier(block)
        w, (onward,) = self.w, block.end.to
        waiting = self._frame("waiting")
        others = w.let(f"icmp ne i32 {waiting}, 0")
        different = w.let(f"icmp ne i32 {self._frame('barrier')}, {block.number}")
        self.refuse(w.scalar(w.let(f"and i1 {others}, {different}"), 1), BARRIER, block.number)
        self._set("waiting", w.let(f"or i32 {waiting}, %mask"))
        self._set("barrier", block.number)
        self._set("region", self._index[onward])
        self._move(w.number(onward, 32))
