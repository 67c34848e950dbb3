"""A claim about a run as a text, `shared_load_conflicts == 0`, and whether it holds."""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gpuviz.assertions.evidence import Place, places
from gpuviz.assertions.facts import MODELLED, Facts, NotJudgedError, kinds_named
from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.memory.operands import Operands

_LONGEST = 1000  # letters of a claim
_COMPARED: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_COMPUTED: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Judgement:
    """Whether a claim holds of a run; None where nobody knows, and `told` says why.

    `told` are the numbers it is about; `places` the accesses that cost most of what it counts,
    where it does not hold; `line` the one it is about or that is to blame, 0 for the launch.
    """

    claim: str
    holds: bool | None
    told: str
    line: int = 0
    places: tuple[Place, ...] = ()

    @property
    def text(self) -> str:
        """What is said where it fails: the claim, the numbers, and the lines that are to blame."""
        lines = (f"  {text}" for place in self.places for text in place.text.splitlines())
        return "\n".join([f"{self.claim}: {self.told}", *lines])


@dataclass
class _Reading:
    """What was read while a claim was evaluated."""

    facts: Facts
    line: int = 0
    names: dict[str, float] = field(default_factory=dict)

    def number(self, node: ast.expr) -> float:
        """The number that an expression is.

        Raises
        ------
        InputError : it is none, or a name in it is not known
        """
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name):
                return self._named(name, 0)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="line"), args=[at]), attr=name):
                return self._named(name, self._line(at))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.number(inner)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMPUTED:
                return _COMPUTED[type(op)](self.number(left), self.number(right))
        raise InputError(
            f"{ast.unparse(node)!r} is no number: write names of counts, numbers, + - * /, and "
            "line(12).NAME or line('text of it').NAME"
        )

    def _line(self, node: ast.expr) -> int:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, int | str):
            raise InputError(f"line({ast.unparse(node)}): give a number, or text of the line")
        self.line = self.facts.line(node.value)
        return self.line

    def _named(self, name: str, line: int) -> float:
        value = self.facts.value(name, line)
        self.names[f"line({line}).{name}" if line else name] = value
        return value

    def holds(self, node: ast.expr) -> bool:
        """Whether an expression is true; raises as `number`."""
        match node:
            case ast.BoolOp(op=op, values=parts):
                found = [self.holds(part) for part in parts]  # all are read, for the message
                return all(found) if isinstance(op, ast.And) else any(found)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return not self.holds(inner)
            case ast.Compare(left=left, ops=ops, comparators=others) if _all_known(ops):
                values = [self.number(one) for one in (left, *others)]
                pairs = zip(ops, values, values[1:], strict=False)
                return all(_COMPARED[type(op)](a, b) for op, a, b in pairs)
        raise InputError(
            f"{ast.unparse(node)!r} says nothing that can be so or not: compare, as in "
            "shared_conflicts == 0"
        )


def _all_known(ops: list[ast.cmpop]) -> bool:
    return all(type(op) in _COMPARED for op in ops)


def judged(claim: str, facts: Facts, operands: Operands | None = None) -> Judgement:
    """Whether a claim holds of a run.

    Raises
    ------
    InputError : it cannot be read, or names what no run has
    """
    reading = _Reading(facts)
    try:
        holds = reading.holds(_parsed(claim))
    except (NotJudgedError, UnavailableError) as why:
        return Judgement(claim, None, f"cannot be judged: {why}")
    except ZeroDivisionError:
        return Judgement(claim, None, "cannot be judged: it divides by 0")
    told = ", ".join(f"{name} is {_number(value)}" for name, value in reading.names.items())
    if any(name in MODELLED for name in reading.names):
        told += " (modelled)"
    if holds:
        return Judgement(claim, True, told, reading.line)
    plain = [name.rpartition(".")[2] for name in reading.names]
    found = places(facts.run, kinds_named(plain), reading.line, operands)
    if any(name in ("races", "errors", "findings") for name in plain):
        found = (*_findings(facts, plain), *found)
    return Judgement(claim, False, told, reading.line or (found[0].line if found else 0), found)


def _findings(facts: Facts, names: list[str]) -> tuple[Place, ...]:
    """What the checks found, as places."""
    wanted = "race" if names == ["races"] else ""
    return tuple(
        Place(
            one.line,
            f"line {one.line}: {one.severity}, {one.check}: {one.message}\n   {one.remedy}",
            "",
        )
        for one in facts.run.trace.findings
        if one.check == (wanted or one.check)
    )[:3]


def _parsed(claim: str) -> ast.expr:
    if len(claim) > _LONGEST:
        raise InputError(f"an assertion has at most {_LONGEST} letters; this one has {len(claim)}")
    try:
        return ast.parse(claim.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(
            f"{claim!r} cannot be read: write it as in 'shared_load_conflicts == 0'"
        ) from None


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
