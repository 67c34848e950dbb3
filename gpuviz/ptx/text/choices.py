"""What values of buffers choose: the words that atomics add to, as those of a histogram do; where
an access goes, and whether it is made at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gpuviz.ptx.text.flow import branch_targets
from gpuviz.ptx.text.ir import Addr, Function, Instruction, Operand, Sym
from gpuviz.ptx.text.isa import (
    ACCESSES,
    ATOMICS,
    WRITES,
    addresses,
    kind_of,
    registers_in,
    registers_written,
    sources,
)

_TURNS = 4  # through the text: values that loops hand on are known after few
_NEAR = -1  # shared and local memory, as a register that all of it is
Names = frozenset[str]
_NONE: Names = frozenset()


@dataclass
class _Origins:
    """By register: the parameters that it is made of, and those out of whose buffers; `deep` with
    those that choose which element.
    """

    deep: bool
    named: dict[int, Names] = field(default_factory=dict)
    loaded: dict[int, Names] = field(default_factory=dict)

    @classmethod
    def of(cls, function: Function, deep: bool) -> _Origins:
        made = cls(deep)
        for _ in range(_TURNS):
            before = dict(made.named), dict(made.loaded)
            for one in function.body:
                made._step(one)
            if (made.named, made.loaded) == before:
                break
        return made

    def _step(self, one: Instruction) -> None:
        read, kind = sources(one), kind_of(one)
        from_memory = _of(self.named, *addresses(one))
        from_memory |= _of(self.loaded, *addresses(one)) if self.deep else _NONE
        if kind == "load":
            match addresses(one):
                case (Addr(base=Sym(name=name)), *_) if "param" in one.opcode.mods:
                    made, found = frozenset({name}), _NONE
                case _:
                    made, found = _NONE, from_memory
            found |= self.loaded.get(_NEAR, _NONE) if _is_near(one) else _NONE
        else:
            made, found = _of(self.named, *read), _of(self.loaded, *read)
        for register in registers_written(one):
            self.named[register.index] = self.named.get(register.index, _NONE) | made
            self.loaded[register.index] = self.loaded.get(register.index, _NONE) | found
        if kind in WRITES and _is_near(one):
            found |= from_memory if kind == "copy" else _NONE
            self.loaded[_NEAR] = self.loaded.get(_NEAR, _NONE) | found


def _is_near(one: Instruction) -> bool:
    return "shared" in one.opcode.mods or "local" in one.opcode.mods


def choosing_bins(function: Function) -> Names:
    """The names of parameters of which loaded values are part of the address of an atomic, as far
    as registers and shared memory tell.
    """
    atomics = [one for one in function.body if kind_of(one) in ATOMICS]
    loaded = _Origins.of(function, deep=False).loaded if atomics else {}
    return _NONE.union(*(_of(loaded, *addresses(one)) for one in atomics))


def choosing(function: Function) -> Mapping[int, Names]:
    """By PTX line: the names of parameters of which loaded values say where an access goes, or
    whether it is made, as far as registers, shared memory and the branches around it tell.
    """
    loaded, body = _Origins.of(function, deep=True).loaded, function.body
    made = {
        at: _of(loaded, one.guard, *addresses(one))
        for at, one in enumerate(body)
        if kind_of(one) in ACCESSES
    }
    for at, one in enumerate(body):
        if kind_of(one) == "branch" and (told := _of(loaded, one.guard, *one.operands)):
            for inside in _around(function, at):
                if inside in made:
                    made[inside] |= told
    return {body[at].ptx_line: names for at, names in made.items()}


def _around(function: Function, at: int) -> Iterator[int]:
    """The places that a branch decides about: up to where it goes, and the other way's end."""
    for target in branch_targets(function, function.body[at]):
        first, last = sorted((at, function.labels[target]))
        before = function.body[last - 1] if last else function.body[at]
        if last > at and kind_of(before) == "branch" and before.guard is None:
            last = max((last, *map(function.labels.__getitem__, branch_targets(function, before))))
        yield from range(first, last)


def _of(known: Mapping[int, Names], *operands: Operand | None) -> Names:
    return _NONE.union(*(known.get(one.index, _NONE) for one in registers_in(operands)))
