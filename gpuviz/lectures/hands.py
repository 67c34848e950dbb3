"""Hands of a class, counted choice by choice: “who says 8?”."""

from __future__ import annotations

from dataclasses import dataclass, replace

_MOST = 9999


@dataclass(frozen=True)
class Hands:
    """How many hands each choice got; `now` is the choice being counted, -1 for none."""

    counts: tuple[int, ...]
    now: int = -1

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts)

    def share(self, choice: int) -> float:
        """Of all hands those for a choice, 0 to 1."""
        return self.counts[choice] / self.total if self.total else 0.0

    def typed(self, digit: int) -> Hands:
        """One more digit of the number being typed."""
        return self._put(min(self.counts[self.now] * 10 + digit, _MOST))

    def erased(self) -> Hands:
        """Without its last digit."""
        return self._put(self.counts[self.now] // 10)

    def at(self, choice: int) -> Hands:
        """Another choice is being counted; none behind the last."""
        return replace(self, now=max(choice, 0) if choice < len(self.counts) else -1)

    @property
    def over(self) -> Hands:
        """Nothing is being counted any more."""
        return replace(self, now=-1)

    def _put(self, count: int) -> Hands:
        counts = (*self.counts[: self.now], count, *self.counts[self.now + 1 :])
        return replace(self, counts=counts)
