"""One opcode seen as a choice within its family: the type, the rounding and the flags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuviz.ptx.arithmetic.kinds import CONTAINERS

Function = Callable[..., Any]  # containers in, a container or a tuple of them out
_MODES = ("rn", "rz", "rm", "rp", "rna")


@dataclass(frozen=True, slots=True)
class Variant:
    """The modifiers of an opcode, and what they mean to a family's builder."""

    mods: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types among the modifiers, in order."""
        return tuple(mod for mod in self.mods if mod in CONTAINERS)

    @property
    def kind(self) -> str:
        """The last type: that of the operands in most families."""
        return self.kinds[-1]

    @property
    def mode(self) -> str:
        """The rounding mode; to nearest even unless another is named."""
        return next((mod for mod in self.mods if mod in _MODES), "rn")

    def has(self, *mods: str) -> bool:
        """Whether any of `mods` is there."""
        return any(mod in self.mods for mod in mods)

    def of(self, kind: str) -> Variant:
        """The same variant of another type."""
        return Variant((*(mod for mod in self.mods if mod != self.kind), kind))


Builder = Callable[[Variant], Function]
