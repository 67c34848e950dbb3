"""What names mean inside a function: registers and variables, declared between braces."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuviz.base.errors import FormatError
from gpuviz.ptx.text.ir import Reg, Sym

_DIGITS = "0123456789"
_LONGEST = 9  # digits of a register's number
_DEEPEST = 64  # braces within each other


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
        """An opening brace; FormatError when too many are open."""
        if len(self._open) == _DEEPEST:
            raise FormatError(f"more than {_DEEPEST} braces of the PTX are within each other")
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
        family = name.rstrip(_DIGITS)
        digits = name[len(family) :]
        number = int(digits) if 0 < len(digits) <= _LONGEST else -1
        for scope in reversed(self._open):
            if name in scope.single:
                return scope.single[name]
            if name in scope.renamed:
                return Sym(scope.renamed[name])
            kind, count = scope.family.get(family, ("", 0))
            if 0 <= number < count:
                scope.single[name] = self._new(name, kind)
                return scope.single[name]
        return Sym(name)

    def _new(self, name: str, kind: str) -> Reg:
        self.types.append(kind)
        return Reg(len(self.types) - 1, kind, name)
