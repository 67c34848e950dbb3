"""What is known of a register: how its values in other blocks differ from the representative's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpuviz.ptx.classes.shift import NONE, Condition, Shift, nothing


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
