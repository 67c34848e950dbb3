"""What a kind of input is: how one is made of a seed, and through which doors it enters gpuviz."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

Make = Callable[[Random], bytes]
Command = Callable[[Path], Sequence[str]]  # the arguments of `gpuviz` with which it reads a file
Call = Callable[[Path], None]  # what the window does with a file


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    Attributes
    ----------
    share : how many a full run makes
    suffix : of the file
    commands, calls : the doors; each input goes through all of them
    """

    name: str
    share: int
    suffix: str
    make: Make
    commands: tuple[Command, ...] = ()
    calls: tuple[Call, ...] = ()

    def content(self, seed: int) -> bytes:
        """The input of a seed, always the same."""
        return self.make(Random(f"{self.name} {seed}"))

    def file(self, seed: int) -> str:
        """The name of its file, which says how to make it again."""
        return f"{self.name}-{seed}{self.suffix}"
