"""The name of an instruction, split at its dots."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opcode:
    """`fma.rn.ftz.f32` is the name `fma` with the modifiers `("rn", "ftz", "f32")`."""

    name: str
    mods: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Opcode:
        """Split at the dots; modifiers such as `shared::cta` stay whole."""
        name, *mods = text.split(".")
        return cls(name, tuple(mods))

    @property
    def text(self) -> str:
        """The opcode as PTX writes it."""
        return ".".join((self.name, *self.mods))
