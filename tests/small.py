"""Lessons begin small in tests: what takes a second at the size people run takes milliseconds.

Pictures, steps and closed forms are those of any size; tests marked slow look at the lessons as
they ship (`real`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpuviz.scenes.base import Lesson, Parameter, Value

# What lessons begin with in tests, by their ids.
SIZES: Mapping[str, Mapping[str, Value]] = {
    "coalescing": {"blocks": 64},
    "alignment": {"blocks": 16},
    "transpose": {"size": 64},
    "square-array": {"elements": 4096},
    "memory-spaces": {"blocks": 16},
    "roofline": {"size": 256, "elements": 1 << 16},
    "thread-coarsening": {"size": 256},
}

_REAL: dict[str, tuple[Parameter, ...]] = {}
_made = Lesson.__init__


def _begin_small(self: Lesson, *given: Any, **named: Any) -> None:
    _made(self, *given, **named)
    if self.id in SIZES and self.id not in _REAL:  # the one that ships, made first
        _REAL[self.id] = self.parameters
        small = SIZES[self.id]
        begun = (replace(p, default=small.get(p.id, p.default)) for p in self.parameters)
        object.__setattr__(self, "parameters", tuple(begun))


def begin() -> None:
    """Lessons made from now on begin small."""
    Lesson.__init__ = _begin_small  # type: ignore[method-assign]


def real(one: Lesson) -> Lesson:
    """The lesson as it ships."""
    return replace(one, parameters=_REAL.get(one.id, one.parameters))
