"""What names in the texts of a launch come to: sizes, arguments, `block.x`, constants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from gpuviz.arguments.expressions import number
from gpuviz.base.errors import InputError

_TYPED = re.compile(r"\s*[a-z]+\d\w*\s*=(.*)$", re.DOTALL)  # `i32=7`: the type says nothing here


class Scope(Mapping[str, Fraction]):
    """Names as the numbers that their texts come to, whatever order they refer to each other in."""

    def __init__(
        self, texts: Mapping[str, str], constant: Callable[[str], int | None] = lambda name: None
    ) -> None:
        """`texts` are expressions by name; `constant` knows those of the source."""
        self._texts, self._constant = texts, constant
        self._known: dict[str, Fraction] = {}
        self._asked: list[str] = []

    def __getitem__(self, name: str) -> Fraction:
        if name not in self._known and name not in self._texts:
            self._known[name] = Fraction(self._constant(name) or 0)
        if name not in self._known:
            if name in self._asked:
                circle = " -> ".join((*self._asked[self._asked.index(name) :], name))
                raise InputError(f"{name} depends on itself: {circle}; give one of them a number")
            self._asked.append(name)
            try:
                typed = _TYPED.match(self._texts[name])
                self._known[name] = number(typed[1] if typed else self._texts[name], self)
            except InputError as error:
                if len(self._asked) > 1 or "depends on itself" in str(error):
                    raise
                raise InputError(f"{name}: {error}") from None
            finally:
                self._asked.pop()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, name: object) -> bool:
        return name in self._texts or self._constant(str(name)) is not None
