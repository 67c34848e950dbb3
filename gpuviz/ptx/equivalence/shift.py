"""By how much the values of one block differ from those of another, as sums over block indices.

A block is held against one that was run, the representative. A shift says, for each block, what is
to be added to a value of the representative to have that of the block: a sum of multiples of the
differences of blockIdx.x, .y and .z, and of quotients of such sums. A condition holds for some
blocks and not for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.base.arrays import I64, Bool

_EXACT = 1 << 62  # sums up to here are exact in 64 bits


class NoProof(Exception):
    """It cannot be shown that blocks behave alike: why. Once a block `ran`, memory has changed."""

    ran = False


@dataclass(frozen=True, slots=True)
class Shift:
    """A sum: (what, how often). What is an axis (0, 1, 2), a `Quotient`, or a name of what is not
    known yet.
    """

    terms: frozenset[tuple[Atom, int]] = frozenset()

    @classmethod
    def of(cls, terms: Mapping[Atom, int]) -> Shift:
        """A sum without what is taken 0 times."""
        return cls(frozenset((atom, n) for atom, n in terms.items() if n))

    def __bool__(self) -> bool:
        """Whether it is more than 0 for some block."""
        return bool(self.terms)

    def __add__(self, other: Shift) -> Shift:
        """The sum of both."""
        if not other.terms:
            return self
        found = dict(self.terms)
        for atom, n in other.terms:
            found[atom] = found.get(atom, 0) + n
        return Shift.of(found)

    def __mul__(self, factor: int) -> Shift:
        """As often."""
        return Shift.of({atom: n * factor for atom, n in self.terms})

    def __sub__(self, other: Shift) -> Shift:
        """The difference."""
        return self + other * -1

    def within(self, bits: int) -> Shift:
        """The same for registers of that many bits, where values wrap: in small numbers."""
        half = 1 << (bits - 1)
        return Shift.of({atom: (n + half) % (2 * half) - half for atom, n in self.terms})

    def divided(self, by: int) -> Shift | None:
        """It over a number that divides all of it; None when it does not."""
        if any(n % by for _, n in self.terms):
            return None
        return Shift.of({atom: n // by for atom, n in self.terms})


@dataclass(frozen=True, slots=True)
class Quotient:
    """By how much values over `by` (rounded down) shift when the values do by `shift`.

    The remainders of the representative may move from `low` to `high` before one wraps: blocks for
    which they would have to go further have no such quotient (`Divides`).
    """

    shift: Shift
    by: int
    low: int
    high: int


Atom = int | Quotient | str
NONE = Shift()


def along(axis: int) -> Shift:
    """One axis of the block's index."""
    return Shift.of({axis: 1})


@dataclass(frozen=True, slots=True)
class Within:
    """A shift lies between two numbers; None: there is no limit."""

    shift: Shift
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Multiple:
    """A shift is a multiple of a number."""

    shift: Shift
    of: int


@dataclass(frozen=True, slots=True)
class Divides:
    """Remainders do not wrap: there is such a quotient."""

    quotient: Quotient


Condition = Within | Multiple | Divides


def nothing(shift: Shift) -> frozenset[Condition]:
    """That a shift is 0."""
    return frozenset((Within(shift, 0, 0),)) if shift else frozenset()


class OtherBlocks:
    """Some blocks as seen from the representative: their shifts, and what holds for them.

    `away` are the differences of their indices, (N,) an axis.
    """

    def __init__(self, away: tuple[I64, I64, I64]) -> None:
        self._away = away
        self._parts: dict[Quotient, tuple[I64, Bool]] = {}

    def __len__(self) -> int:
        """How many blocks they are."""
        return len(self._away[0])

    @cached_property
    def _furthest(self) -> list[int]:
        return [int(np.abs(axis).max(initial=0)) for axis in self._away]

    def by(self, shift: Shift) -> I64:
        """(N,) the shift of each block.

        Raises
        ------
        NoProof : it is too large to be computed
        """
        found = np.zeros(len(self), np.int64)
        most = 0
        for atom, n in shift.terms:
            value, furthest = self._value(atom)
            most += abs(n) * furthest
            if most >= _EXACT:
                raise NoProof("addresses of blocks lie too far apart")
            found += n * value
        return found

    def _value(self, atom: Atom) -> tuple[I64, int]:
        if isinstance(atom, int):
            return self._away[atom], self._furthest[atom]
        if isinstance(atom, str):
            raise NoProof(f"{atom} is not known")
        value = self._divided(atom)[0]
        return value, int(np.abs(value).max(initial=0))

    def _divided(self, quotient: Quotient) -> tuple[I64, Bool]:
        if quotient not in self._parts:
            shift = self.by(quotient.shift)
            rest = (shift - quotient.low) % quotient.by + quotient.low
            self._parts[quotient] = (shift - rest) // quotient.by, rest <= quotient.high
        return self._parts[quotient]

    def hold(self, conditions: Iterable[Condition]) -> Bool:
        """(N,) for which blocks all conditions hold."""
        found = np.ones(len(self), bool)
        for condition in conditions:
            found &= self._holds(condition)
        return found

    def _holds(self, condition: Condition) -> Bool:
        if isinstance(condition, Divides):
            return self._divided(condition.quotient)[1]
        shift = self.by(condition.shift)
        if isinstance(condition, Multiple):
            return np.asarray(shift % condition.of == 0)
        low = -_EXACT if condition.low is None else max(condition.low, -_EXACT)
        high = _EXACT if condition.high is None else min(condition.high, _EXACT)
        return np.asarray((shift >= low) & (shift <= high))


@dataclass(frozen=True, slots=True)
class Value:
    """In each block for which `needs` hold, the representative's value plus `shift`, as it wraps.

    `known` are its bits when they are the same for all threads of the launch; `sign` is what is
    needed for no more than its sign to stay the same, where that is less.
    """

    shift: Shift = NONE
    needs: frozenset[Condition] = frozenset()
    known: int | None = None
    sign: frozenset[Condition] | None = None

    def needing(self, more: frozenset[Condition]) -> Value:
        """The same, where more holds; no longer one number."""
        return Value(self.shift, self.needs.union(more)) if more else self


Known = Value | None  # None: it may be anything, as it depends on what memory holds
SAME = Value()


def same_in_all(values: Iterable[Value]) -> Value:
    """What is computed of values in any way: the same in blocks where none of them shifts."""
    needs: frozenset[Condition] = frozenset()
    for value in values:
        needs |= value.needs | nothing(value.shift)
    return Value(NONE, needs)
