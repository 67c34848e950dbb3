"""What names mean inside a function: registers and variables, declared between braces."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpuviz.ptx.text.ir import Reg, Sym

_NUMBERED = re.compile(r"(.*?)(\d+)$")


@dataclass
class _Scope:
    """Names declared between two braces: single registers, and numbered families `%r<10>`."""

    single: dict[str, Reg] = field(default_factory=dict)
    family: dict[str, tuple[str, int]] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)


class Scopes:
    """The braces that are open, innermost last, and the `types` of all registers by index.

    Registers of inner scopes get an index of their own, so an inner `%p1` that shadows an outer
    one is simply another register.
    """

    def __init__(self) -> None:
        self.types: list[str] = []
        self._open: list[_Scope] = []

    def __bool__(self) -> bool:
        """Whether any brace is open."""
        return bool(self._open)

    def enter(self) -> None:
        """An opening brace."""
        self._open.append(_Scope())

    def leave(self) -> None:
        """A closing brace."""
        self._open.pop()

    def declare(self, name: str, kind: str) -> None:
        """A register."""
        self._open[-1].single[name] = self._new(name, kind)

    def declare_family(self, name: str, kind: str, count: int) -> None:
        """Registers name0 to name(count - 1)."""
        self._open[-1].family[name] = kind, count

    def rename(self, name: str, unique: str) -> None:
        """A variable, which `unique` names within the whole function."""
        self._open[-1].renamed[name] = unique

    def find(self, name: str) -> Reg | Sym:
        """A register visible here, else a symbol."""
        for scope in reversed(self._open):
            if name in scope.single:
                return scope.single[name]
            if name in scope.renamed:
                return Sym(scope.renamed[name])
            parts = _NUMBERED.match(name)
            if parts and parts[1] in scope.family and int(parts[2]) < scope.family[parts[1]][1]:
                scope.single[name] = self._new(name, scope.family[parts[1]][0])
                return scope.single[name]
        return Sym(name)

    def _new(self, name: str, kind: str) -> Reg:
        self.types.append(kind)
        return Reg(len(self.types) - 1, kind, name)
