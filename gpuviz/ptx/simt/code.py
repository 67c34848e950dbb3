"""A function made ready to run: every instruction decoded once into a step, in basic blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpuviz.ptx.text.ir import Function, Instruction
from gpuviz.traces.trace import Stretch

if TYPE_CHECKING:
    from gpuviz.ptx.simt.group import Group

Step = Callable[["Group"], None]
Slot = tuple[str, int, int]  # parameter variable, byte offset, bytes


@dataclass(frozen=True)
class Block:
    """A basic block: its steps, and what happens at its end (None: fall through).

    `members` tells whether all lanes are here that its `first` instruction wants together.
    """

    steps: tuple[Step, ...]
    end: Step | None
    stretch: Stretch
    first: Instruction
    members: Callable[[Group], bool] | None = None


@dataclass
class FunctionCode:
    """A decoded function. `rank` orders its blocks; `slots` are registers for its parameters."""

    index: int
    function: Function
    registers: list[str]
    blocks: list[Block] = field(default_factory=list)
    rank: list[int] = field(default_factory=list)
    label_block: dict[str, int] = field(default_factory=dict)
    slots: dict[Slot, int] = field(default_factory=dict)
    local_offset: dict[str, int] = field(default_factory=dict)
    local_size: int = 0
    kept_places: list[Callable[[], None]] = field(default_factory=list)

    def forget_places(self) -> None:
        """Memory has moved: cell indices that instructions keep are no longer right."""
        for forget in self.kept_places:
            forget()

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.name
