"""How shifts pass through what computes: one function a family of opcodes.

A rule is asked when some operand shifts. It answers with the result, or None when it knows none:
then the result is the same only in blocks where no operand shifts.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from gpuviz.ptx.arithmetic.kinds import WIDTHS
from gpuviz.ptx.arithmetic.ops import Operation
from gpuviz.ptx.equivalence.probes import Observation, Probe, What
from gpuviz.ptx.equivalence.shift import (
    NONE,
    Condition,
    Divides,
    Known,
    Multiple,
    Quotient,
    Shift,
    Value,
    Within,
    nothing,
    same_in_all,
)
from gpuviz.ptx.text.ir import Instruction

_WORD = 32  # bits
_LARGEST = 1 << 62  # a divisor


class Look(Protocol):
    """Gives what a probe has seen."""

    def __call__(self, probe: Probe) -> Observation | None:
        """What it has seen; None when that is not known (yet)."""


@dataclass(frozen=True, slots=True)
class Case:
    """An instruction, what its operands are (none of them unknown), and how to look at them."""

    at: Instruction
    operation: Operation
    sources: tuple[Value, ...]
    look: Look

    @property
    def kind(self) -> str:
        """The type of the first operand."""
        return self.operation.sources[0]

    def seen(self, what: What, index: int = 0, count: int = 1) -> Observation | None:
        """What a probe of some operands has seen."""
        kinds = self.operation.sources[index : index + count]
        return self.look(Probe(self.at.pc, what, index, kinds))

    def rest(self, by: int, factor: int) -> Observation | None:
        """What a probe has seen of the first operand, times `factor`, modulo `by`."""
        return self.look(Probe(self.at.pc, "rest", 0, (self.kind,), by, factor))

    def number(self, index: int) -> int | None:
        """An operand that is one number for all threads, by its type."""
        known, kind = self.sources[index].known, self.operation.sources[index]
        if known is None:
            return None
        bits = WIDTHS[kind]
        signed = kind[0] == "s" and known >> (bits - 1)
        return known - (1 << bits) if signed else known

    def all_needs(self) -> frozenset[Condition]:
        """What all operands need."""
        return frozenset[Condition]().union(*(value.needs for value in self.sources))

    def result(self, shift: Shift, more: frozenset[Condition] = frozenset()) -> Value:
        """A result that needs what its operands do, and more."""
        bits = WIDTHS[self.operation.results[0]]
        return Value(shift.within(bits), self.all_needs() | more)


Rule = Callable[[Case], Known]


def is_whole(kind: str) -> bool:
    """Whether values of a type are single whole numbers."""
    return kind[:1] in ("u", "s", "b") and kind in WIDTHS and not kind.endswith("x2")


def limits(kind: str) -> tuple[int, int]:
    """The least and the largest number of a type."""
    bits = WIDTHS[kind]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)


def stays(shift: Shift, low: int, high: int, kind: str, least: int | None = None) -> Condition:
    """That values from `low` to `high` do not leave what the type holds, nor fall below `least`."""
    bottom, top = limits(kind)
    return Within(shift, (bottom if least is None else least) - low, top - high)


def _multiplied(case: Case) -> Known:
    """mul and mad: one factor is one number."""
    if "hi" in case.at.opcode.mods:
        return _high(case) if case.at.opcode.name == "mul" else None
    a, b, *rest = case.sources
    added = rest[0].shift if rest else NONE
    if not a.shift and not b.shift:
        return case.result(added)
    index = 0 if a.shift else 1
    factor, shift = case.number(1 - index), case.sources[index].shift
    if factor is None:
        return None
    more: frozenset[Condition] = frozenset()
    if "wide" in case.at.opcode.mods:
        seen = case.seen("range", index)
        if seen is None:
            return None
        kind = case.operation.sources[index]
        more = frozenset((stays(shift, seen.low[0], seen.high[0], kind),))
    return case.result(shift * factor + added, more)


def _shifted_left(case: Case) -> Known:
    count = case.number(1)
    if count is None or count >= WIDTHS[case.kind] or case.sources[1].shift:
        return None
    return case.result(case.sources[0].shift * (1 << count))


def _converted(case: Case) -> Known:
    """cvt between whole numbers."""
    target, kind = case.operation.results[0], case.kind
    shift = case.sources[0].shift
    if "sat" in case.at.opcode.mods or not is_whole(target):
        return None
    if WIDTHS[target] <= WIDTHS[kind]:
        return case.result(shift)
    seen = case.seen("range")
    if seen is None:
        return None
    return case.result(shift, frozenset((stays(shift, seen.low[0], seen.high[0], kind),)))


def _parts(
    case: Case, by: int, wraps: bool, least: int | None = None, factor: int = 1
) -> tuple[Value, Value] | None:
    """The first operand times a factor, divided by a number, rounded down: quotient and remainder.

    `wraps`: its type holds a whole number of such parts, so that it may; `least` it has to be.
    """
    shift = case.sources[0].shift * factor
    if not 0 < by < _LARGEST:
        return None
    exact = shift.divided(by)
    seen = None if wraps else case.seen("range")
    rest = None if exact is not None else case.rest(by, factor)
    more: frozenset[Condition] = frozenset()
    if not wraps:
        if seen is None or (least is not None and seen.low[0] < least):
            return None
        plain = case.sources[0].shift
        more = frozenset((stays(plain, seen.low[0], seen.high[0], case.kind, least),))
    if exact is not None:
        return case.result(exact, more), case.result(NONE, more)
    if rest is None:
        return None
    quotient = Quotient(shift, by, -rest.low[0], by - 1 - rest.high[0])
    more |= {Divides(quotient)}
    whole = Shift.of({quotient: 1})
    return case.result(whole, more), case.result(shift - whole * by, more)


def _halved(case: Case) -> Known:
    """shr."""
    count = case.number(1)
    if count is None or count >= WIDTHS[case.kind]:
        return None
    parts = _parts(case, 1 << count, wraps=False)
    return parts[0] if parts else None


def _high(case: Case) -> Known:
    """mul.hi by a number, as compilers divide: a quotient as well."""
    case = _shifting_first(case)
    factor, bits = case.number(1), WIDTHS[case.kind]
    if factor is None or bits > _WORD:
        return None
    parts = _parts(case, 1 << bits, wraps=False, factor=factor)
    return parts[0] if parts else None


def _divided(case: Case) -> Known:
    """div and rem, of what is not negative."""
    by = case.number(1)
    if by is None or by <= 0:
        return None
    parts = _parts(case, by, wraps=False, least=0)
    return parts[case.at.opcode.name == "rem"] if parts else None


def _masked(case: Case) -> Known:
    """and: a run of bits (15, ~15), or whatever lies in the low bits."""
    case = _shifting_first(case)
    if _both(case):
        return _of_both_signs(case)
    mask = case.sources[1].known or 0
    bottom = mask & -mask
    if not mask or (mask + bottom) & mask:
        low = _low_bits(case)
        return None if low is None else case.result(NONE, low)
    upper, lower = _rest(case, mask + bottom), _rest(case, bottom)
    if upper is None or lower is None:
        return None
    return case.result(upper.shift - lower.shift, upper.needs | lower.needs)


def _rest(case: Case, by: int) -> Known:
    """The first operand modulo a power of two."""
    if by == 1 << WIDTHS[case.kind]:
        return case.result(case.sources[0].shift)
    parts = _parts(case, by, wraps=True)
    return parts and parts[1]


def _joined(case: Case) -> Known:
    """or and xor: with what only touches low bits, which stay as they are."""
    case = _shifting_first(case)
    if _both(case):
        return _of_both_signs(case)
    low = _low_bits(case)
    return None if low is None else case.result(case.sources[0].shift, low)


def _both(case: Case) -> bool:
    """Whether neither operand is the same in all blocks."""
    return all(value.shift or value.sign is not None for value in case.sources)


def _of_both_signs(case: Case) -> Known:
    """What is known of `x | y` where both shift: compilers compare two numbers with 0 that way."""
    first, second = (_sign(case, index) for index in (0, 1))
    if first is None or second is None:
        return None
    return replace(same_in_all(case.sources), sign=first | second)


def _sign(case: Case, index: int) -> frozenset[Condition] | None:
    """What an operand needs for its sign to stay."""
    value, kind = case.sources[index], f"s{WIDTHS[case.kind]}"
    if not value.shift:
        return value.needs if value.sign is None else value.sign
    seen = case.look(Probe(case.at.pc, "range", index, (kind,)))
    if seen is None:
        return None
    low, high = seen.low[0], seen.high[0]
    if low < 0 <= high:
        return value.needs | nothing(value.shift)
    least, most = limits(kind)
    room = (-low, most - high) if low >= 0 else (least - low, -1 - high)
    return value.needs | {Within(value.shift, *room)}


def _shifting_first(case: Case) -> Case:
    """The same with its operands the other way round, if the first does not shift."""
    if case.sources[0].shift:
        return case
    look = case.look

    def other(probe: Probe) -> Observation | None:
        return look(replace(probe, index=1 - probe.index))

    return replace(case, sources=case.sources[::-1], look=other)


def _low_bits(case: Case) -> frozenset[Condition] | None:
    """That the bits of the first operand which the second can touch stay as they are."""
    seen = None if case.sources[1].shift else case.seen("range", 1)
    if seen is None or seen.low[0] < 0:
        return None
    return frozenset((Multiple(case.sources[0].shift, 1 << seen.high[0].bit_length()),))


def _order(case: Case, seen: Observation) -> tuple[Shift, frozenset[Condition]]:
    """By how much the first operand gains on the second; that neither wraps."""
    a, b = (value.shift for value in case.sources[:2])
    more = [
        stays(shift, seen.low[n], seen.high[n], case.kind)
        for n, shift in enumerate((a, b))
        if shift
    ]
    return a - b, frozenset(more)


_STRICT = ("lt", "lo", "ge", "hs")
_SIGNS = (("lt", 0), ("ge", 0), ("gt", -1), ("le", -1))  # what is asked of a sign
_LOOSE = ("le", "ls", "gt", "hi")


def _compared(case: Case) -> Known:
    """setp and set: whichever is less, equal or more stays so."""
    relation, sign = case.at.opcode.mods[0], case.sources[0].sign
    if sign is not None and case.kind[0] == "s" and (relation, case.number(1)) in _SIGNS:
        return Value(NONE, frozenset(sign).union(*(v.needs for v in case.sources[1:])))
    a, b = (value.shift for value in case.sources[:2])
    if a == b and relation in ("eq", "ne"):
        return Value(NONE, case.all_needs())
    seen = case.seen("order", count=2)
    if seen is None:
        return None
    gain, more = _order(case, seen)
    if gain:
        more |= _kept(relation, gain, seen)
    return Value(NONE, case.all_needs() | more)


def _kept(relation: str, gain: Shift, seen: Observation) -> frozenset[Condition]:
    """That a comparison comes out as it did."""
    if relation in _STRICT:
        top = seen.below - 1 if seen.below else None
        bottom = 0 if seen.equal else -seen.above if seen.above else None
    elif relation in _LOOSE:
        top = 0 if seen.equal else seen.below if seen.below else None
        bottom = 1 - seen.above if seen.above else None
    else:
        if seen.equal:
            return nothing(gain)
        top = seen.below - 1 if seen.below else None
        bottom = 1 - seen.above if seen.above else None
    return frozenset((Within(gain, bottom, top),))


def _extreme(case: Case) -> Known:
    """min and max: the same side stays the one that is chosen."""
    if not {"relu"}.isdisjoint(case.at.opcode.mods):
        return None
    seen = case.seen("order", count=2)
    if seen is None:
        return None
    gain, more = _order(case, seen)
    if not gain:
        return case.result(case.sources[0].shift, more)
    if seen.equal or (seen.below and seen.above):
        return case.result(case.sources[0].shift, more | nothing(gain))
    first_is_less = bool(seen.below)
    chosen = case.sources[(case.at.opcode.name == "min") != first_is_less]
    return case.result(chosen.shift, more | _kept("lt", gain, seen))


RULES: dict[str, Rule] = {
    "mov": lambda case: case.result(case.sources[0].shift),
    "add": lambda case: case.result(case.sources[0].shift + case.sources[1].shift),
    "sub": lambda case: case.result(case.sources[0].shift - case.sources[1].shift),
    "neg": lambda case: case.result(case.sources[0].shift * -1),
    "not": lambda case: case.result(case.sources[0].shift * -1),
    "mul": _multiplied,
    "mad": _multiplied,
    "shl": _shifted_left,
    "shr": _halved,
    "div": _divided,
    "rem": _divided,
    "and": _masked,
    "or": _joined,
    "xor": _joined,
    "cvt": _converted,
    "setp": _compared,
    "set": _compared,
    "min": _extreme,
    "max": _extreme,
}
_OTHERWISE = frozenset({"sat", "cc"})  # variants that the rules do not speak of


def shifted(case: Case) -> Known:
    """The result of an instruction some of whose operands shift; None when no rule is known."""
    operation, mods = case.operation, case.at.opcode.mods
    rule = RULES.get(case.at.opcode.name)
    counted = operation.sources[:2] if case.at.opcode.name != "shl" else operation.sources[:1]
    if rule is None or not _OTHERWISE.isdisjoint(mods) or not all(map(is_whole, counted)):
        return None
    if len(operation.results) != 1 and case.at.opcode.name != "setp":
        return None
    return rule(case)
