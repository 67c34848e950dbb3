"""Which parameters of a kernel point to what chooses the words that atomics add to: the values of a
histogram.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpuviz.ptx.text.ir import Addr, Function, Instruction, Operand, Sym
from gpuviz.ptx.text.isa import (
    ATOMICS,
    addresses,
    kind_of,
    registers_in,
    registers_written,
    sources,
)

_TURNS = 4  # through the text: values that loops hand on are known after few
Names = frozenset[str]
_NONE: Names = frozenset()


def choosing_bins(function: Function) -> Names:
    """The names of parameters of which loaded values are part of the address of an atomic, as far
    as registers alone tell.
    """
    if not any(kind_of(one) in ATOMICS for one in function.body):
        return _NONE
    named = dict[int, Names]()  # by register: the parameters that it is made of,
    loaded = dict[int, Names]()  # and those out of whose buffers
    for _ in range(_TURNS):
        before = dict(named), dict(loaded)
        for one in function.body:
            _step(one, named, loaded)
        if (named, loaded) == before:
            break
    return _NONE.union(
        *(_of(loaded, *addresses(one)) for one in function.body if kind_of(one) in ATOMICS)
    )


def _step(one: Instruction, named: dict[int, Names], loaded: dict[int, Names]) -> None:
    read = sources(one)
    if kind_of(one) == "load":
        match addresses(one):
            case (Addr(base=Sym(name=name)), *_):
                made, found = frozenset({name}), _NONE
            case places:  # none where a text that no compiler wrote loads from nothing
                made, found = _NONE, _of(named, *places)
    else:
        made, found = _of(named, *read), _of(loaded, *read)
    for register in registers_written(one):
        named[register.index] = named.get(register.index, _NONE) | made
        loaded[register.index] = loaded.get(register.index, _NONE) | found


def _of(known: Mapping[int, Names], *operands: Operand) -> Names:
    return _NONE.union(*(known.get(one.index, _NONE) for one in registers_in(operands)))
