"""Where the warps of a launch are: lanes part at branches, and meet where the machine code says.

Lanes that are together are a group. A group that parts leaves one half behind; groups come together
again where all lanes of a barrier register (BSSY) have come to its BSYNC, or all named lanes to a
WARPSYNC. Of a warp's groups one runs until it waits or ends; the one left behind last goes on then.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuviz.sass.listing import Listing, SassInstruction
from tools.sass_trial.machine import State, Step, decode
from tools.sass_trial.operands import UnknownError, Values, predicate, source, split, target

_CONTROL = {
    *("BRA", "BRX", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "BAR", "CALL", "RET", "EXIT", "BMOV"),
    "YIELD",
}
_ALL_LANES = (1 << 32) - 1
_MOST = 20_000_000  # warp instructions, beyond which a launch is given up
_WEIGHTS = 1 << np.arange(32, dtype=np.int64)


@dataclass
class Warp:
    """The groups of one warp: the one that runs, those left behind, those that wait."""

    pc: int
    lanes: int  # of the group that runs; 0 when none can
    alive: int
    left: list[tuple[int, int]] = field(default_factory=list)  # pc, lanes
    waits: dict[Any, tuple[int, int]] = field(default_factory=dict)  # what for: pc, lanes
    barriers: list[int] = field(default_factory=lambda: [0] * 16)
    yielded: list[tuple[int, int]] = field(default_factory=list)  # pc, lanes
    at_barrier: bool = False

    def next(self) -> None:
        """Go on with the group that was left behind last, else with the first that gave way."""
        if self.left:
            self.pc, self.lanes = self.left.pop()
        else:
            self.pc, self.lanes = self.yielded.pop(0) if self.yielded else (self.pc, 0)

    def give_way(self, pc: int) -> None:
        """YIELD: others go on first, and nobody waits at a BSYNC for lanes that gave way."""
        if not self.left and not self.waits and not self.yielded:
            self.pc = pc
            return
        self.yielded.append((pc, self.lanes))
        away = self.away
        for key, (at, come) in list(self.waits.items()):
            if isinstance(key, int) and not self.barriers[key] & self.alive & ~come & ~away:
                del self.waits[key]
                self.barriers[key] &= ~come
                self.left.append((at, come))
        self.next()

    @property
    def away(self) -> int:
        """Lanes that gave way and have not gone on."""
        return sum(lanes for _, lanes in self.yielded)

    def part(self, some: int, pc: int, rest_pc: int) -> None:
        """`some` lanes of the group go to `pc`, the others to `rest_pc`: the larger half first."""
        rest = self.lanes & ~some
        if not some or not rest:
            self.pc = pc if some else rest_pc
            return
        halves = (rest_pc, rest), (pc, some)
        first = some.bit_count() > rest.bit_count()
        self.left.append(halves[not first])
        self.pc, self.lanes = halves[first]

    def wait(self, key: Any, wanted: int, pc: int) -> None:
        """Wait until all `wanted` lanes that live have come; go on at `pc` together.

        Lanes of an outer call may wait at the same BSYNC, its register saved: they stay.
        """
        _, come = self.waits.pop(key, (pc, 0))
        come |= self.lanes
        away = self.away if isinstance(key, int) else 0
        if wanted & self.alive & ~come & ~away:
            self.waits[key] = pc, come
            self.next()
            return
        self.pc, self.lanes = pc, come & wanted
        if come & ~wanted:
            self.waits[key] = pc, come & ~wanted
        if isinstance(key, int):
            self.barriers[key] &= ~come

    def release(self) -> None:
        """After lanes have gone: groups whose wait is over may go on."""
        for key, (pc, come) in list(self.waits.items()):
            wanted = self.barriers[key] if isinstance(key, int) else key[1]
            if not wanted & self.alive & ~come:
                del self.waits[key]
                self.left.append((pc, come))
        if not self.lanes:
            self.next()


class Machine:
    """Runs a listing on a state until all warps have ended."""

    def __init__(self, listing: Listing) -> None:
        self.code = listing.instructions
        self.at = {one.address: i for i, one in enumerate(self.code)}
        self.steps: list[Step | None] = []
        self.control: list[Any] = []
        unknown = set()
        for one in self.code:
            try:
                control = one.opcode.split(".")[0] in _CONTROL
                self.control.append(_controls(one, self.at) if control else None)
                self.steps.append(None if control else decode(one))
            except UnknownError as error:
                unknown.add(str(error))
        if unknown:
            raise UnknownError("; ".join(sorted(unknown)))
        self.instructions = 0
        self.targets = self.uniform = 0
        self.issues: Counter[int] = Counter()
        self.warps: list[Warp] = []

    def run(self, s: State, lanes: list[int]) -> None:
        """Run all warps; `lanes` says which lanes of each exist."""
        self.warps = [Warp(0, bits, bits) for bits in lanes]
        running = np.zeros((s.warps, 32), bool)
        dirty = set(range(s.warps))
        while True:
            for i in dirty:
                running[i] = self.warps[i].lanes & _WEIGHTS != 0
            pcs = [w.pc if w.lanes else len(self.code) for w in self.warps]
            pc = min(pcs)
            if pc == len(self.code):
                if not self._barriers(s.warps_of_block):
                    return
                dirty = set(range(s.warps))
                continue
            chosen = [i for i, p in enumerate(pcs) if p == pc]
            stop = min((p for p in pcs if p > pc), default=len(self.code))
            active = running if len(chosen) == s.warps else running & _rows(chosen, s.warps)
            pc = self._straight(s, pc, stop, active, chosen)
            dirty = set(chosen)

    def _straight(self, s: State, pc: int, stop: int, active: Values, chosen: list[int]) -> int:
        """From pc to what decides where warps go on, which is done as well."""
        begun = pc
        while self.control[pc] is None and (pc < stop or pc == begun):
            step = self.steps[pc]
            assert step is not None
            self.issues[pc] += len(chosen)
            try:
                step(s, active)
            except Exception as error:
                error.add_note(self.code[pc].text)
                raise
            pc += 1
        self.instructions += (pc - begun) * len(chosen)
        if self.instructions > _MOST:
            raise TimeoutError(f"more than {_MOST} warp instructions")
        for i in chosen:
            self.warps[i].pc = pc
        control = self.control[pc]
        if control is not None:
            self.instructions += len(chosen)
            control(self, s, pc, chosen)
        return pc

    def _barriers(self, of_block: int) -> bool:
        """When no warp can run: blocks all of whose warps wait at a barrier go on."""
        found = False
        for first in range(0, len(self.warps), of_block):
            block = [w for w in self.warps[first : first + of_block] if w.alive]
            if block and all(w.at_barrier for w in block):
                found = True
                for w in block:
                    w.at_barrier, w.lanes = False, w.alive
        if not found and any(w.alive for w in self.warps):
            raise RuntimeError("warps wait for lanes that do not come")
        return found

    def issued(self) -> dict[str, int]:
        """How often loads and stores of shared memory were issued, with lanes or without."""
        out = {"load": 0, "store": 0}
        for pc, often in self.issues.items():
            name = self.code[pc].opcode.split(".")[0]
            if name in ("LDS", "STS"):
                out["load" if name == "LDS" else "store"] += often
        return out


def _rows(chosen: list[int], count: int) -> Values:
    rows = np.zeros((count, 1), bool)
    rows[chosen] = True
    return rows


def _masks(s: State, read: Any, lanes: list[int]) -> list[int]:
    """For each warp, the lanes for which a predicate holds, as bits."""
    found = np.broadcast_to(read(s), (s.warps, 32))
    bits = (found * _WEIGHTS).sum(1)
    return [int(bits[i]) for i in lanes]


def _guard(one: SassInstruction, more: str = "") -> Any:
    """The condition of a jump: its guard and, of `BRA P1, target`, the predicate."""
    reads = [predicate(text) for text in (one.guard, more) if text]

    def read(s: State) -> Values:
        out = np.ones((1, 1), bool)
        for each in reads:
            out = out & each(s)
        return out

    return read


def _controls(one: SassInstruction, at: dict[int, int]) -> Any:
    name, *mods = one.opcode.split(".")
    operands = split(one.operands)
    if name in ("BRA", "CALL"):
        return _jump(one, operands, at)
    if name == "BMOV":
        return _move_barrier(one, mods, operands)
    return {
        "EXIT": _exit,
        "BSSY": _begin,
        "BSYNC": _meet,
        "BREAK": _leave,
        "WARPSYNC": _together,
        "BAR": _block_barrier,
        "RET": _return,
        "YIELD": _give_way,
    }[name](one, operands, at)


def _jump(one: SassInstruction, operands: list[str], at: dict[int, int]) -> Any:
    if one.target < 0 or "DIV" in one.opcode or "CONV" in one.opcode:
        raise UnknownError(one.text)
    more = operands[0] if len(operands) > 1 else ""
    if more.startswith("UR"):
        raise UnknownError(one.text)
    read, place = _guard(one, more), at[one.target]

    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i, jumps in zip(chosen, _masks(s, read, chosen), strict=True):
            w = m.warps[i]
            some = jumps & w.lanes
            m.targets += 1
            m.uniform += not some or some == w.lanes
            w.part(some, place, pc + 1)

    return control


def _exit(one: SassInstruction, operands: list[str], at: dict[int, int]) -> Any:
    read = _guard(one)

    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i, ends in zip(chosen, _masks(s, read, chosen), strict=True):
            w = m.warps[i]
            gone = ends & w.lanes
            w.alive &= ~gone
            w.lanes &= ~gone
            w.pc = pc + 1
            if gone:
                w.release()
            elif not w.lanes:
                w.next()

    return control


def _index(text: str) -> int:
    return int(text[1:])


def _begin(one: SassInstruction, operands: list[str], at: dict[int, int]) -> Any:
    n = _index(operands[0])
    read = _guard(one)

    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i, holds in zip(chosen, _masks(s, read, chosen), strict=True):
            w = m.warps[i]
            if holds & w.lanes:
                w.barriers[n] = w.lanes
            w.pc = pc + 1

    return control


def _meet(one: SassInstruction, operands: list[str], at: dict[int, int]) -> Any:
    n = _index(operands[0])

    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i in chosen:
            w = m.warps[i]
            if w.barriers[n] & w.lanes:
                w.wait(n, w.barriers[n], pc + 1)
            else:
                w.pc = pc + 1

    return control


def _leave(one: SassInstruction, operands: list[str], at: dict[int, int]) -> Any:
    n = _index(operands[-1])
    read = _guard(one, operands[0] if len(operands) > 1 else "")

    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i, leaves in zip(chosen, _masks(s, read, chosen), strict=True):
            w = m.warps[i]
            w.barriers[n] &= ~(leaves & w.lanes)
            w.pc = pc + 1
            w.release()

    return control


def _together(one: SassInstruction, operands: list[str], at: dict[int, int]) -> Any:
    every = "ALL" in one.opcode
    if "COLLECTIVE" in one.opcode:
        raise UnknownError(one.opcode)
    read = None if every else source(operands[0], "i")

    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i in chosen:
            w, wanted = m.warps[i], _ALL_LANES
            if read is not None:
                lane = (w.lanes & -w.lanes).bit_length() - 1
                wanted = int(np.broadcast_to(read(s), (s.warps, 32))[i, lane])
            w.wait(("sync", wanted), wanted, pc + 1)

    return control


def _give_way(one: SassInstruction, operands: list[str], at: dict[int, int]) -> Any:
    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i in chosen:
            m.warps[i].give_way(pc + 1)

    return control


def _block_barrier(one: SassInstruction, operands: list[str], at: dict[int, int]) -> Any:
    if "SYNC" not in one.opcode or len(operands) != 1:
        raise UnknownError(one.text)

    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i in chosen:
            w = m.warps[i]
            w.wait(("bar", _ALL_LANES), _ALL_LANES, pc + 1)
            if w.lanes == w.alive and not w.waits and w.pc == pc + 1:
                w.at_barrier, w.lanes = True, 0

    return control


def _return(one: SassInstruction, operands: list[str], at: dict[int, int]) -> Any:
    register = target(operands[0].split(" ")[0])
    if register.file != "R" or not one.target >= 0 and "`(k)" not in one.operands:
        raise UnknownError(one.text)
    read = _guard(one)

    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i, holds in zip(chosen, _masks(s, read, chosen), strict=True):
            w = m.warps[i]
            rest, where = holds & w.lanes, s.files["R"][register.index, i]
            stays = w.lanes & ~rest
            groups = [(pc + 1, stays)] if stays else []
            while rest:
                lane = (rest & -rest).bit_length() - 1
                same = int(((where == where[lane]) * _WEIGHTS).sum()) & rest
                groups.append((at[int(where[lane])], same))
                rest &= ~same
            m.targets += 1
            m.uniform += len(groups) == 1
            w.left += groups[:-1]
            w.pc, w.lanes = groups[-1]

    return control


def _move_barrier(one: SassInstruction, mods: list[str], operands: list[str]) -> Any:
    to, origin = operands
    saves = to[0] == "R"
    n, register = (_index(origin), target(to)) if saves else (_index(to), target(origin))

    def control(m: Machine, s: State, pc: int, chosen: list[int]) -> None:
        for i in chosen:
            w, file = m.warps[i], s.files["R"][register.index, i]
            lanes = w.lanes & _WEIGHTS != 0
            w.pc = pc + 1
            if not saves:
                w.barriers[n] = int(file[lanes.argmax()])
                continue
            file[lanes] = w.barriers[n]
            # A register that is in use is moved in two steps, as the counter has it.
            m.instructions += w.barriers[n] != 0
            if "CLEAR" in mods:
                w.barriers[n] = 0

    return control
