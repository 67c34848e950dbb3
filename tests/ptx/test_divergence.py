"""Divergence and reconvergence against an interpreter that runs one lane at a time.

Random structured programs are run by both. The interpreter keeps a program counter for each lane of
a warp and always lets those lanes go on that are at the earliest basic block of the text.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest

from gpuviz.ptx import interpreter
from gpuviz.ptx.emulator import Options, emulate
from gpuviz.ptx.simt import machine
from gpuviz.ptx.text.parser import parse

MASK = 2**32 - 1
Instruction = tuple  # (opcode, *operands); a guard is the last operand of bra and ret


@dataclass
class Program:
    """Instructions in order, and where the labels are."""

    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)

    def put(self, name: str) -> None:
        self.labels[name] = len(self.code)


class Writer:
    """Writes a random structured program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.program = Program()
        self.loops: list[tuple[str, str]] = []
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"L{self.count}"

    def emit(self, *instruction: object) -> None:
        self.program.code.append(instruction)

    def compute(self) -> None:
        r = self.random
        target, source = r.choice("xy"), r.choice("xyt")
        self.emit("mad.lo.u32", target, source, r.randrange(1, 99, 2), r.randrange(99))
        if r.random() < 0.5:
            self.emit("xor.b32", r.choice("xy"), "x", "y")

    def condition(self) -> None:
        r = self.random
        bits = r.choice([1, 3, 7, 12, 16, 31, 32])
        self.emit("and.b32", "u", r.choice("xyt"), bits)
        self.emit("setp.lt.u32", "u", r.randrange(bits + 2))

    def statement(self, depth: int) -> None:
        kinds = [self.compute]
        if depth:
            kinds += [
                lambda: self.choice(depth),
                lambda: self.loop(depth),
                lambda: self.choice(depth),
            ]
        if self.loops:
            kinds.append(self.jump)
        if self.random.random() < 0.06:
            kinds = [self.leave]
        self.random.choice(kinds)()

    def body(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth)

    def choice(self, depth: int) -> None:
        other, end = self.fresh(), self.fresh()
        self.condition()
        self.emit("bra", other, self.random.choice(["p", "!p"]))
        self.body(depth - 1)
        if self.random.random() < 0.6:
            self.emit("bra", end, "")
            self.program.put(other)
            self.body(depth - 1)
        else:
            self.program.put(other)
        self.program.put(end)
        self.emit("add.u32", "x", "x", "t")

    def loop(self, depth: int) -> None:
        counter = f"c{len(self.loops)}"
        head, latch, end = self.fresh(), self.fresh(), self.fresh()
        self.emit("mov.u32", counter, 0)
        self.emit("and.b32", "u", self.random.choice("xt"), self.random.choice([1, 3, 5]))
        limit = f"n{len(self.loops)}"
        self.emit("add.u32", limit, "u", 1)
        self.program.put(head)
        self.loops.append((latch, end))
        self.body(depth - 1)
        self.loops.pop()
        self.program.put(latch)
        self.emit("add.u32", counter, counter, 1)
        self.emit("setp.lt.u32", counter, limit)
        self.emit("bra", head, "p")
        self.program.put(end)
        self.emit("xor.b32", "y", "y", counter)

    def jump(self) -> None:
        """break or continue, under a condition."""
        self.condition()
        self.emit("bra", self.random.choice(self.loops[-1]), self.random.choice(["p", "!p"]))

    def leave(self) -> None:
        self.condition()
        self.emit("st", "y")
        self.emit("ret", "p")

    def write(self) -> Program:
        for _ in range(self.random.randrange(2, 5)):
            self.statement(3)
        self.emit("st", "x")
        self.emit("ret", "")
        return self.program


def text(program: Program) -> str:
    """The program as PTX. Register t holds the thread's number in the launch."""
    names = {
        at: [n for n, a in program.labels.items() if a == at] for at in range(len(program.code))
    }
    lines = []
    for at, (opcode, *operands) in enumerate(program.code):
        lines += [f"{name}:" for name in names[at]]
        shown = [f"%{o}" if isinstance(o, str) else str(o) for o in operands]
        if opcode in ("bra", "ret"):
            guard = operands[-1]
            prefix = {"": "", "p": "@%p ", "!p": "@!%p "}[guard]
            lines.append(f"{prefix}{opcode} {operands[0] if opcode == 'bra' else ''};")
        elif opcode == "st":
            lines.append(f"st.global.u32 [%a], {shown[0]};")
        elif opcode == "setp.lt.u32":
            lines.append(f"setp.lt.u32 %p, {', '.join(shown)};")
        else:
            lines.append(f"{opcode} {', '.join(shown)};")
    registers = ", ".join(f"%{n}" for n in ("x", "y", "t", "u", *NUMBERED))
    body = "\n".join(lines)
    return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
.reg .b32 {registers}, %n; .reg .pred %p; .reg .b64 %a, %b;
mov.u32 %x, %ctaid.x; mov.u32 %y, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %t, %x, %y, %t;
ld.param.u64 %a, [out]; mul.wide.u32 %b, %t, 4; add.u64 %a, %a, %b;
mad.lo.u32 %x, %t, 7, 3; mad.lo.u32 %y, %t, 5, 1;
{body}
}}"""


NUMBERED = [f"{n}{k}" for n in "cn" for k in range(4)]
PROLOGUE = 9


class Interpreter:
    """Runs a launch warp by warp and lane by lane, and counts."""

    def __init__(self, program: Program) -> None:
        self.program = program
        code = program.code
        starts = {0, *program.labels.values()}
        starts |= {at + 1 for at, i in enumerate(code) if i[0] in ("bra", "ret")}
        self.starts = sorted(s for s in starts if s < len(code))
        self.warp_instructions = self.thread_instructions = 0
        self.branches: dict[int, list[int]] = {}
        self.memory: dict[int, int] = {}

    def run(self, blocks: int, threads: int) -> None:
        for block in range(blocks):
            for first in range(0, threads, 32):
                lanes = [block * threads + t for t in range(first, min(first + 32, threads))]
                self._warp([self._registers(t) for t in lanes])

    @staticmethod
    def _registers(t: int) -> dict[str, int]:
        return {
            "x": t * 7 + 3 & MASK,
            "y": t * 5 + 1 & MASK,
            "t": t,
            "u": 0,
            "p": 0,
            **dict.fromkeys(NUMBERED, 0),
        }

    def _warp(self, lanes: list[dict[str, int]]) -> None:
        self.warp_instructions += PROLOGUE
        self.thread_instructions += PROLOGUE * len(lanes)
        at = [0] * len(lanes)
        while any(a is not None for a in at):
            start = min(a for a in at if a is not None)
            end = next((s for s in self.starts if s > start), len(self.program.code))
            here = [n for n, a in enumerate(at) if a == start]
            self.warp_instructions += end - start
            self.thread_instructions += (end - start) * len(here)
            for n in here:
                at[n] = self._block(lanes[n], start, end)
            last = self.program.code[end - 1]
            if last[0] == "bra" and last[2]:
                taken = sum(bool(lanes[n]["p"]) == (last[2] == "p") for n in here)
                self._count(end - 1, taken, len(here))

    def _count(self, at: int, taken: int, lanes: int) -> None:
        found = self.branches.setdefault(at, [0, 0, 0, 0])
        for k, more in enumerate((1, 0 < taken < lanes, taken, lanes - taken)):
            found[k] += more

    def _block(self, r: dict[str, int], start: int, end: int) -> int | None:
        for opcode, *o in self.program.code[start:end]:
            v = [r[a] if isinstance(a, str) and a in r else a for a in o]
            if opcode == "bra":
                if not o[1] or bool(r["p"]) == (o[1] == "p"):
                    return self.program.labels[o[0]]
            elif opcode == "ret":
                if not o[0] or r["p"]:
                    return None
            elif opcode == "st":
                self.memory[r["t"]] = v[0]
            elif opcode == "setp.lt.u32":
                r["p"] = v[0] < v[1]
            else:
                r[o[0]] = {
                    "mov.u32": lambda v: v[1],
                    "add.u32": lambda v: v[1] + v[2],
                    "and.b32": lambda v: v[1] & v[2],
                    "xor.b32": lambda v: v[1] ^ v[2],
                    "mad.lo.u32": lambda v: v[1] * v[2] + v[3],
                }[opcode](v) & MASK
        return end


BLOCKS, THREADS = 3, 70


def emulated(program: Program):
    return emulate(
        parse(text(program)),
        "k",
        (BLOCKS, 1, 1),
        (THREADS, 1, 1),
        [np.full(BLOCKS * THREADS, MASK, np.uint32)],
        options=Options(instructions=10**8),
    )


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    program = Writer(seed).write()
    reference = Interpreter(program)
    reference.run(BLOCKS, THREADS)
    result = emulated(program)
    wanted = [reference.memory.get(t, MASK) for t in range(BLOCKS * THREADS)]
    assert list(result.outputs["arg0"]) == wanted
    found = {
        b.pc - PROLOGUE: [b.warps, b.divergent, b.taken, b.not_taken] for b in result.trace.branches
    }
    assert {k: found[k] for k in reference.branches} == reference.branches
    assert result.trace.thread_instructions == reference.thread_instructions
    assert result.trace.warp_instructions == reference.warp_instructions


@pytest.mark.slow
@pytest.mark.parametrize(
    "part, size, batch", [(1, 1, 1), (4, 64, 100), (2, 1, 10**6), (10**9, 1, 96)]
)
def test_results_do_not_depend_on_how_lanes_are_grouped(monkeypatch, part, size, batch):
    programs = [Writer(seed).write() for seed in range(100, 115)]
    before = [emulated(p) for p in programs]
    monkeypatch.setattr(machine, "SPARSE_PART", part)
    monkeypatch.setattr(machine, "SPARSE_SIZE", size)
    monkeypatch.setattr(interpreter, "BATCH_THREADS", batch)
    for program, one in zip(programs, before, strict=True):
        two = emulated(program)
        assert (one.outputs["arg0"] == two.outputs["arg0"]).all()
        assert one.trace.warp_instructions == two.trace.warp_instructions
        assert one.trace.thread_instructions == two.trace.thread_instructions
        assert {b.pc: b for b in one.trace.branches} == {b.pc: b for b in two.trace.branches}
