"""Statements of host code, run: see `gpuviz.source.host_run`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpuviz.source.host_values import Held, HostArray, Record, copied
from gpuviz.source.parts import descend, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from gpuviz.source.host_run import HostScope

Signal = str | tuple[Held] | None  # "break", "continue", or what is returned
LOOP = 12_000  # steps of a loop
_FILLING = 1_500  # of a loop that only fills arrays
_WIDE = 16  # variables that are kept aside at the price of a step


class Spent(Exception):
    """The budget of a loop, or of all, is used up."""


@dataclass(frozen=True)
class Targets:
    """What a loop assigns to: names, and arrays by element; whether it only fills arrays."""

    names: frozenset[str]
    arrays: frozenset[str]
    fills: bool


def _block(scope: HostScope, node: Node) -> Signal:
    return scope.each(node.named_children)


def _expression(scope: HostScope, node: Node) -> Signal:
    if node.named_children:
        scope.value(node.named_children[0])
    return None


def _declaration(scope: HostScope, node: Node) -> Signal:
    scope.declare(node)
    return None


def _returned(scope: HostScope, node: Node) -> Signal:
    return (scope.value(node.named_children[0]) if node.named_children else None,)


def _if(scope: HostScope, node: Node) -> Signal:
    clause = node.child_by_field_name("condition")
    condition = clause.child_by_field_name("value") if clause is not None else None
    told = truth(scope.value(condition or clause))
    one, other = (node.child_by_field_name(way) for way in ("consequence", "alternative"))
    if told is None:
        return _either(scope, [one, other])
    signal = scope.execute(one if told else other)
    words = text_of(condition)
    return None if signal and ("argc" in words or "argv" in words) else signal


def truth(value: Held) -> bool | None:
    """Whether a condition holds, as far as it is known."""
    return bool(value) if isinstance(value, int | float) else None


def _either(scope: HostScope, ways: Iterable[Node | None]) -> Signal:
    """Each of some ways, from the same state; then what is known after one, the last that goes on
    before the others.
    """
    before = _State.of(scope)
    after: list[_State] = []
    signal: Signal = None
    for way in ways:
        before.restore()
        signal = scope.execute(way)
        if signal is None:
            after.append(_State.of(scope))
    before.restore()
    for state in after:
        state.add()
    return None if after else signal


@dataclass(frozen=True)
class _State:
    """What variables hold at a time; arrays are not kept."""

    holders: tuple[dict[str, Held], ...]
    kept: tuple[dict[str, Held], ...]

    @classmethod
    def of(cls, scope: HostScope) -> _State:
        this = (scope.this,) if isinstance(scope.this, Record) else ()
        holders = (scope.names, *this, scope.run.globals)
        scope.run.left -= sum(map(len, holders)) // _WIDE
        return cls(holders, tuple({k: copied(v) for k, v in one.items()} for one in holders))

    def restore(self) -> None:
        """As it was then."""
        for holder, kept in zip(self.holders, self.kept, strict=True):
            holder.clear()
            holder.update({k: copied(v) for k, v in kept.items()})

    def add(self) -> None:
        """What was known then."""
        for holder, kept in zip(self.holders, self.kept, strict=True):
            holder.update({k: v for k, v in kept.items() if v is not None or k not in holder})


def _loop(scope: HostScope, node: Node) -> Signal:
    """A loop, as long as the budget lasts; then what it assigns to is not known."""
    run, before = scope.run, scope.run.floor
    aims = targets(scope, node)
    short = not aims.fills or all(map(scope.is_small, aims.arrays))
    run.floor = max(before, run.left - (LOOP if short else _FILLING))
    mine = run.floor
    try:
        if node.type == "for_statement":
            scope.execute(node.child_by_field_name("initializer"))
        signal = _turns(scope, node)
    except Spent:
        if mine == before:
            raise
        signal = None
        _forget(scope, aims)
    finally:
        run.floor = before
    return signal


def _turns(scope: HostScope, node: Node) -> Signal:
    condition, body = (node.child_by_field_name(part) for part in ("condition", "body"))
    if condition is not None and condition.type == "condition_clause":
        condition = condition.child_by_field_name("value")
    while True:
        told = truth(scope.value(condition)) if node.type != "do_statement" else True
        if told is False:
            return None
        signal = scope.execute(body)
        if isinstance(signal, tuple):
            return signal
        if signal == "break":
            return None
        scope.value(node.child_by_field_name("update"))
        if node.type == "do_statement":
            told = truth(scope.value(condition))
        if told is None:  # nobody knows how often
            _forget(scope, targets(scope, node))
            return None
        if not told:
            return None


def _range_loop(scope: HostScope, node: Node) -> Signal:
    listed, body = (node.child_by_field_name(part) for part in ("right", "body"))
    if listed is not None and listed.type == "initializer_list":
        values = [scope.value(one) for one in listed.named_children]
    else:
        held = scope.value(listed)
        values = list(held.cells.values()) if isinstance(held, HostArray) else []
    declarator = node.child_by_field_name("declarator")
    names = [declarator] if declarator is not None and not declarator.children else []
    names += list(descend(declarator, {"identifier"})) if declarator is not None else []
    for value in values or [None]:
        if names:
            scope.names[text_of(names[0])] = copied(value)
        signal = scope.execute(body)
        if isinstance(signal, tuple):
            return signal
        if signal == "break":
            break
    return None


def targets(scope: HostScope, loop: Node) -> Targets:
    """What a loop assigns to."""
    known = scope.run.targets
    if loop in known:
        return known[loop]
    names, arrays, inside, calls = set[str](), set[str](), set[str](), False
    kinds = {"assignment_expression", "update_expression", "declaration", "call_expression"}
    for node in descend(loop, kinds):
        scope.run.step()
        if node.type == "declaration":
            for one in node.children_by_field_name("declarator"):
                inner = one.child_by_field_name("declarator") or one
                inside.add(text_of(inner))
        elif node.type == "call_expression":
            name = text_of(node.child_by_field_name("function")).rpartition("::")[2]
            calls |= name.partition("<")[0] in scope.run.known.functions or "<<<" in text_of(node)
        else:
            left = node.child_by_field_name("left") or node.child_by_field_name("argument")
            if left is not None and left.type == "subscript_expression":
                arrays.add(text_of(left.child_by_field_name("argument")))
            elif left is not None:
                names.add(text_of(left))
    outside = frozenset(names - inside)
    known[loop] = Targets(outside, frozenset(arrays), not outside and not calls)
    return known[loop]


def _forget(scope: HostScope, aims: Targets) -> None:
    """A loop that was not run to its end: what it makes of variables is not known."""
    for name in aims.names:
        holder = scope.holder(name)
        if holder is not None:
            holder[name] = None
    for name in aims.arrays:
        holder = scope.holder(name)
        array = holder[name] if holder is not None else None
        if isinstance(array, HostArray):
            array.filled = aims.fills and bool(array.cells)
            if not aims.fills:
                array.cells.clear()


def _switch(scope: HostScope, node: Node) -> Signal:
    clause = node.child_by_field_name("condition")
    value = scope.value(clause.child_by_field_name("value") if clause is not None else None)
    body = node.child_by_field_name("body")
    cases = [one for one in body.named_children if one.type == "case_statement"] if body else []
    if value is None:
        return _left(_either(scope, cases))
    labels = [one.child_by_field_name("value") for one in cases]
    at = [n for n, label in enumerate(labels) if label is not None and scope.value(label) == value]
    at = at or [n for n, label in enumerate(labels) if label is None]
    return _left(scope.each(cases[at[0] :])) if at else None


def _left(signal: Signal) -> Signal:
    return None if signal == "break" else signal


def _case(scope: HostScope, node: Node) -> Signal:
    label = node.child_by_field_name("value")
    return scope.each([one for one in node.named_children if one != label])


def _conditional(scope: HostScope, node: Node) -> Signal:
    """`#ifdef` within a function: the half that is compiled, as far as that is known."""
    name = node.child_by_field_name("name")
    condition = node.child_by_field_name("condition")
    other = node.child_by_field_name("alternative")
    if name is not None:
        taken = (text_of(name) in scope.macros) == (text_of(node.children[0]).strip() == "#ifdef")
    else:
        taken = truth(scope.value(condition)) is not False
    if not taken:
        return scope.execute(other)
    return scope.each([one for one in node.named_children if one not in (name, condition, other)])


STATEMENTS: Mapping[str, Callable[[Any, Node], Signal]] = {
    **dict.fromkeys(
        ("compound_statement", "else_clause", "preproc_else", "labeled_statement"), _block
    ),
    **dict.fromkeys(("try_statement", "ERROR"), _block),
    **dict.fromkeys(("preproc_ifdef", "preproc_if", "preproc_elif"), _conditional),
    **dict.fromkeys(("for_statement", "while_statement", "do_statement"), _loop),
    "expression_statement": _expression,
    "declaration": _declaration,
    "return_statement": _returned,
    "if_statement": _if,
    "for_range_loop": _range_loop,
    "switch_statement": _switch,
    "case_statement": _case,
    "break_statement": lambda scope, node: "break",
    "continue_statement": lambda scope, node: "continue",
}
