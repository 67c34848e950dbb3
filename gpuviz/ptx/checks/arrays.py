"""Accesses from one shared array into another: memory is there, and it is not theirs.

An address is of an array when the PTX computes it from that array's symbol and from no other. One
that comes from elsewhere (a parameter, memory, two arrays) is looked at by nobody here.
"""

from collections.abc import Collection, Iterator

import numpy as np

from gpuviz.compile import demangled
from gpuviz.ptx.checks.report import Check
from gpuviz.ptx.simt.cluster import RANK_BIT
from gpuviz.ptx.simt.program import Program, reachable
from gpuviz.ptx.text.ir import Addr, Function, Instruction, Operand, Reg, Sym
from gpuviz.ptx.text.isa import addresses, kind_of, registers_in, sources, targets
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_NONE: frozenset[str] = frozenset()
_LOSES = ("load", "atomic", "call", "image")  # what they write is no address that one can follow


class ArrayCheck(Check):
    """Reports accesses from one shared array into the next."""

    name = "memory"

    def __init__(self, program: Program) -> None:
        own = _arrays(program)
        functions = reachable(program.module, program.kernel) if len(own) > 1 else ()
        self._of = {at.pc: (name, *own[name]) for one in functions for at, name in _bases(one, own)}

    def access(self, access: Access) -> None:
        """Look at those of an array that is known."""
        at = access.instruction
        if at.space != "shared" or at.pc not in self._of:
            return
        name, low, high = self._of[at.pc]
        where = access.address.view(np.int64)
        bad = (where < low) | (where + at.width > high)
        if not bad.any():
            return
        bad &= where < 1 << RANK_BIT  # of another block of the cluster nothing is known
        bad = bad if access.active is None else bad & access.active
        if bad.any():
            row, lane = (int(found[0]) for found in np.nonzero(bad))
            address = int(where[row, lane])
            self._tell(
                "shared access outside its array",
                tr(
                    "{n} bytes at byte {at} of {name}, which has {size}: they are of another array",
                    n=at.width,
                    at=address - low,
                    name=demangled(name),
                    size=high - low,
                ),
                at,
                int(access.warps.first[row]) * LANES + lane,
                tr("compare the index with the size before the access"),
                address,
                int(bad.sum()) * access.repeat,
            )


def _arrays(program: Program) -> dict[str, tuple[int, int]]:
    """Where shared variables begin and end; those without a size end with all shared memory."""
    inner = [v for f in program.module.functions for v in f.variables]
    every = [v for v in (*program.module.variables, *inner) if v.space == "shared"]
    starts = {v.name: program.addresses[v.name] for v in every if v.name in program.addresses}
    ends = {v.name: v.size or program.dynamic_shared for v in every}
    return {name: (start, start + ends[name]) for name, start in starts.items()}


def _bases(function: Function, own: Collection[str]) -> Iterator[tuple[Instruction, str]]:
    """The shared accesses of a function whose address is of one array alone, and that array."""
    held: dict[Reg, frozenset[str]] = {}

    def named(operand: Operand) -> frozenset[str]:
        base = operand.base if isinstance(operand, Addr) else operand
        if isinstance(base, Sym):
            return frozenset({base.name}) if base.name in own else _NONE
        found = (held.get(one, _NONE) for one in registers_in([operand]))
        return _NONE.union(*found)

    moved = True
    while moved:
        moved = False
        for at in function.body:
            if kind_of(at) in _LOSES or at.opcode.name == "mapa":
                continue
            found = _NONE.union(*map(named, sources(at)))
            for target in targets(at) if found else ():
                if isinstance(target, Reg) and not found <= held.get(target, _NONE):
                    held[target] = held.get(target, _NONE) | found
                    moved = True
    for at in function.body:
        for place in addresses(at)[:1]:
            if len(name := named(place)) == 1:
                yield at, next(iter(name))
