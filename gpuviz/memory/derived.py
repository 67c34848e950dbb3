"""Numbers made of two counts of one kind of access: one a GPU counts, one that the model knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpuviz.memory.counts import CountValues, Kind, Quantity, count_of, counts_of

_SECTOR = 32


@dataclass(frozen=True)
class Derived:
    """`value` of the quantities `of`, which a GPU counts, and `known`, which it does not.

    `share` says that it is a fraction, no count.
    """

    of: Quantity
    known: Quantity
    value: Callable[[float, float], float | None]
    share: bool = False

    def fits(self, kind: Kind) -> bool:
        """Whether accesses of a kind have both quantities."""
        return {self.of, self.known} <= {count.quantity for count in counts_of(kind)}

    def from_counts(self, kind: Kind, values: CountValues) -> float | None:
        """The number of a kind of accesses; None where it means nothing.

        Raises
        ------
        KeyError : a count is missing
        """
        return self.value(values[count_of(kind, self.of)], values[count_of(kind, self.known)])


def _share(sectors: float, asked: float) -> float | None:
    return asked / (sectors * _SECTOR) if sectors else None


DERIVED: Mapping[str, Derived] = {
    "conflicts": Derived("wavefronts", "wavefronts_ideal", lambda taken, ideal: taken - ideal),
    "used": Derived("sectors", "bytes", _share, share=True),
}
