"""Wavefronts of a warp's load from shared memory in steps of a stride, by arithmetic alone.

The rule of the greatest common divisor, apart from `banks`, which counts from addresses: lessons
hold the one against the other. It says nothing of parts of words, and nothing of 3.x, whose banks
are two words wide.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from gpuviz.arch import Architecture
from gpuviz.arch.facts import Banking

_WORD = 4


@dataclass(frozen=True)
class _Rule:
    """Wavefronts by stride, words a lane and banks; the rule in symbols by words and banks."""

    count: Callable[[int, int, int], int]
    formula: Callable[[int, int], str]


def expected(arch: Architecture, stride: int, width: int) -> int | None:
    """Wavefronts of a load of `width` bytes a lane, None where no rule holds."""
    rule = _RULES.get(arch.banking)
    if rule is None or stride < 1 or width < _WORD:
        return None
    return rule.count(stride, width // _WORD, arch.banks)


def formula(arch: Architecture, width: int) -> str:
    """The rule in symbols, s being the stride; "" where there is none."""
    rule = _RULES.get(arch.banking)
    return "" if rule is None or width < _WORD else rule.formula(width // _WORD, arch.banks)


def _by_groups(stride: int, words: int, banks: int) -> int:
    """Half warps of two words, quarter warps of four: banks in step count as one."""
    return words * gcd(stride, banks // words)


def _formula_by_groups(words: int, banks: int) -> str:
    return f"{words} × " * (words > 1) + f"gcd(s, {banks // words})"


def _with_extra_passes(stride: int, words: int, banks: int) -> int:
    """2.x: each quarter warp of a 128-bit access takes a pass more."""
    return _by_groups(stride, words, banks) + (words if words == 4 else 0)


def _word_by_word(stride: int, words: int, banks: int) -> int:
    """1.x: two half warps, word by word."""
    return 2 * words * gcd(stride * words, banks)


def _formula_word_by_word(words: int, banks: int) -> str:
    inner = f"gcd({words}s, {banks})" if words > 1 else f"gcd(s, {banks})"
    return f"{2 * words} × {inner}"


_RULES: dict[Banking, _Rule] = {
    "tesla": _Rule(_word_by_word, _formula_word_by_word),
    "fermi": _Rule(
        _with_extra_passes,
        lambda words, banks: "" if words == 4 else _formula_by_groups(words, banks),
    ),
    "maxwell": _Rule(_by_groups, _formula_by_groups),
}
