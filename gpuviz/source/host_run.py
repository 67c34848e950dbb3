"""What the host code does up to its launches, as far as its text tells: `main` is run as a program
that is given no arguments, within a budget. What depends on anything else is not known, and both
ways that it may go are taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gpuviz.source.c_types import Types
from gpuviz.source.constants import SCALARS, Scope, given_in
from gpuviz.source.definitions import (
    Definitions,
    Place,
    declared_values,
    setting_of,
    template_parameters,
)
from gpuviz.source.host_expressions import CONTAINERS, PLACES, VALUES, container
from gpuviz.source.host_images import described
from gpuviz.source.host_statements import LOOP, STATEMENTS, Signal, Spent, Targets
from gpuviz.source.host_values import (
    Address,
    DeviceBuffer,
    DevicePointer,
    Formula,
    Held,
    HostArray,
    Record,
    Reference,
    array_at,
    copied,
    dimensions,
    launched,
)
from gpuviz.source.parts import Text, descend, parsed, text_of, words

if TYPE_CHECKING:
    from tree_sitter import Node

_STEPS = 120_000  # expressions and statements that are looked at, in all
_SMALL = 1 << 10  # elements of an array
_DEPTH = 16  # calls within calls
_DEEPEST = 80  # expressions within expressions
_CONST = words("const static struct class constexpr volatile unsigned signed enum typename")
_CHARACTERS = ("char", "wchar_t")


@dataclass(frozen=True)
class Reached:
    """A launch that was come to: the template around it is made so, what its sizes and arguments
    come to, and the kernel where a variable stands for it.
    """

    setting: Mapping[str, str]
    shape: tuple[Held, ...]
    arguments: tuple[Held, ...]
    kernel: Node | None = None

    @property
    def sized(self) -> bool:
        """Whether grid and block are known."""
        return len(self.shape) > 1 and None not in self.shape[:2]


@dataclass(eq=False)
class HostRun:
    """A run of the host code: the launches that it came to, and the symbols that it filled."""

    known: Definitions
    texts: Sequence[Text]
    launches: dict[Node, list[Reached]] = field(default_factory=dict)
    symbols: dict[str, Held] = field(default_factory=dict)
    globals: dict[str, Held] = field(default_factory=dict)
    left: int = _STEPS
    floor: int = 0
    depth: int = 0
    types_of_names: dict[str, str] = field(default_factory=dict)  # what pointers point to
    targets: dict[Node, Targets] = field(default_factory=dict)

    @classmethod
    def of(cls, known: Definitions, texts: Sequence[Text]) -> HostRun:
        """Run `main`, and then the functions with launches that it does not come to."""
        made = cls(known, texts)
        with suppress(Spent, RecursionError):
            if any(known.launches.values()):
                made._run()
        return made

    def reached(self, launch: Node, setting: Mapping[str, str]) -> Reached:
        """A launch as it was come to, by the template that is made so if there is one."""
        every = self.launches.get(launch, [])
        same = [one for one in every if one.setting == setting] or every
        return next((one for one in same if one.sized), (*same, Reached({}, (), ()))[0])

    def _run(self) -> None:
        outside = self.scope(self.globals, None, {})
        for node in self.known.outside:
            outside.execute(node)
        for place in self.known.functions.get("main", ()):
            self._enter(place, {"argc": 1}, {})
        entered = set(self.known.functions.get("main", ()))
        for found in itertools.chain.from_iterable(self.known.launches.values()):
            if found.node not in self.launches and found.place not in entered:
                entered.add(found.place)
                for setting in self.known.settings(found.place):
                    self._enter(found.place, {}, setting)

    def _enter(self, place: Place, given: dict[str, Held], setting: Mapping[str, str]) -> None:
        self.step()
        before = self.floor
        self.floor = max(0, self.left - _STEPS // 2)
        with suppress(Spent):
            self.scope(given, None, setting).body(place)
        self.floor, self.depth = before, 0

    def scope(self, names: dict[str, Held], this: Held, setting: Mapping[str, str]) -> HostScope:
        """What is seen in a function."""
        made = {name: parsed(text) for name, text in setting.items()}

        def named(name: str) -> Node | None:
            every = (made, self.known.names, self.known.enumerators)
            return next((one[name] for one in every if one.get(name) is not None), None)

        base = self.known.scope
        steps = itertools.repeat(0)
        return HostScope(
            named, base.macros, base.functions, steps, self, names, this, dict(setting)
        )

    def step(self) -> None:
        """Spend a part of the budget."""
        self.left -= 1
        if self.left < self.floor:
            raise Spent

    @cached_property
    def kernels(self) -> frozenset[str]:
        """The names of kernels, which variables may hold."""
        every = self.known.functions.items()
        return frozenset(n for n, ps in every if any("__global__" in _head(p) for p in ps))

    @cached_property
    def types(self) -> Types:
        """The types of the texts, for their sizes."""
        return Types.of(self.texts)


@dataclass(frozen=True)
class HostScope(Scope):
    """What names stand for in a function that is run."""

    run: HostRun = None  # type: ignore[assignment]
    names: dict[str, Held] = field(default_factory=dict)
    this: Held = None
    setting: Mapping[str, str] = field(default_factory=dict)

    def value(self, node: Node | None, depth: int = 0) -> Any:
        """What an expression comes to, done what it does; None when that is not known."""
        if node is None or depth > _DEEPEST:
            return None
        self.run.step()
        rule = VALUES.get(node.type)
        if rule is None:
            return super().value(node, min(depth, 20))
        try:
            return rule(self, node, depth + 1)
        except (ArithmeticError, ValueError, TypeError, KeyError, IndexError):
            return None

    def number(self, node: Node | None, depth: int) -> int | float:
        """A number; ValueError for anything else."""
        found = self.value(node, depth)
        if not isinstance(found, int | float):
            raise ValueError
        return found

    def holder(self, name: str) -> dict[str, Held] | None:
        """What holds a variable: the function, the object whose method it is, or the file."""
        holders = (self.names, self.this, self.run.globals)
        return next((one for one in holders if isinstance(one, dict) and name in one), None)

    def unknown(self, node: Node | None) -> Held:
        """What a variable holds that is given something not known: itself, if it is a number."""
        name = text_of(node)
        before = (self.holder(name) or {}).get(name)
        return Formula(name) if isinstance(before, int | float | Formula) else None

    def is_small(self, name: str) -> bool:
        """Whether a variable is an array of which every element can be looked at."""
        held, _ = array_at((self.holder(name) or {}).get(name))
        known = [one for one in (held.count, held.bytes) if isinstance(one, int)] if held else []
        return bool(known) and min(known) <= _SMALL

    def place(self, node: Node | None, depth: int = 0) -> Address | None:
        """Where an expression stands that can be assigned to; None when that is not known."""
        rule = PLACES.get(node.type) if node is not None and depth < _DEEPEST else None
        try:
            return rule(self, node, depth + 1) if rule and node is not None else None
        except (ValueError, TypeError):
            return None

    def assign(self, node: Node | None, value: Held) -> None:
        """Give what an expression stands for a value."""
        if (place := self.place(node)) is not None:
            place.held = value

    def assign_through(self, node: Node, value: Held) -> None:
        """Give what a pointer points to a value: `(void**)&d`."""
        while node.type in ("cast_expression", "parenthesized_expression"):
            node = node.child_by_field_name("value") or node.named_children[-1]
        there = self.value(node)
        if node.type == "call_expression":  # reinterpret_cast<void**>(&d)
            given = given_in(node.child_by_field_name("arguments"))
            there = self.value(given[0]) if len(given) == 1 else there
        if isinstance(there, Address):
            there.held = value
        elif node.type == "pointer_expression" or there is None:
            self.assign(node, value)

    def function(self, name: str, count: int) -> Place | None:
        """The function of a name that is there, and takes so many arguments."""
        every = self.run.known.functions.get(name, ())
        return next((one for one in every if _accepts(one, count)), None)

    # Statements

    def execute(self, node: Node | None) -> Signal:
        """Run a statement; what leaves the ones around it."""
        if node is None:
            return None
        self.run.step()
        rule = STATEMENTS.get(node.type)
        if rule is not None:
            return rule(self, node)
        if node.type.endswith("_expression"):
            self.value(node)
        return None

    def each(self, nodes: Sequence[Node]) -> Signal:
        """Run statements one after another."""
        for node in nodes:
            if (signal := self.execute(node)) is not None:
                return signal
        return None

    def declare(self, node: Node) -> None:
        """The variables of a declaration."""
        kind = node.child_by_field_name("type")
        if kind is None or any(text_of(child) in _DEVICE_DATA for child in node.children):
            return
        type_ = self.type_name(text_of(kind))
        for one in node.children_by_field_name("declarator"):
            name, value = self._declared(node, type_, one)
            if name:
                self.names[name] = value

    def _declared(self, node: Node, type_: str, one: Node) -> tuple[str, Held]:
        value = one.child_by_field_name("value")
        inner = one.child_by_field_name("declarator") if one.type == "init_declarator" else one
        name = text_of(next(descend(inner, _NAMED), None) if inner and inner.children else inner)
        if inner is None or one.type == "function_declarator":  # `dim3 b(TILE)` reads like one
            pairs = dict(declared_values(node))
            return name, self.value(pairs.get(name)) if type_ == "dim3" or name in pairs else None
        if inner.type == "array_declarator":
            return name, self._array(inner, value)
        if inner.type == "reference_declarator" and value is not None:
            place = self.place(value)
            return name, Reference(place.holder, place.name) if place else self.value(value)
        if inner.type == "pointer_declarator":
            self.run.types_of_names[name] = type_
            return name, self.value(value)
        if value is None or value.type in ("argument_list", "initializer_list"):
            made = self.construct(type_, given_in(value), value)
            return name, _unknown(name, type_) if made is None else made
        held = converted(type_, copied(self.value(value)))
        return name, _unknown(name, type_) if held is None else held

    def _array(self, declarator: Node, value: Node | None) -> HostArray:
        made = HostArray(self.value(declarator.child_by_field_name("size")))
        listed = given_in(value) if value is not None and value.type == "initializer_list" else []
        made.cells.update(enumerate(map(self.value, listed)))
        if listed and isinstance(made.count, int) and made.count <= LOOP:
            made.cells.update((n, 0) for n in range(len(listed), made.count))
        made.count = made.count or len(listed) or None
        return made

    def type_name(self, text: str) -> str:
        """The plain name of a type, as the template around has it."""
        text = self.setting.get(text, text)
        plain = text.partition("<")[0].rpartition("::")[2].strip("*& ")
        kept = [word for word in plain.split() if word not in _CONST]
        return " ".join(kept) or plain

    def construct(self, type_: str, given: Sequence[Node], node: Node | None = None) -> Held:
        """A new variable of a type, made of what is in brackets."""
        if type_ == "dim3":
            sizes = [self.value(one) for one in given]
            whole = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], Record) else None
            return copied(whole) or dimensions(sizes)
        if type_ in CONTAINERS:
            return container(self, type_, given, node)
        if (made := described(type_)) is not None:
            one = self.value(given[0]) if len(given) == 1 else None
            return copied(one) if isinstance(one, Record) else self._filled(made, given)
        if type_ in self.run.known.records:
            return self._record(type_, given)
        value = copied(self.value(given[0])) if len(given) == 1 else None
        return converted(type_, value)

    def _record(self, type_: str, given: Sequence[Node]) -> Record:
        made = self.fields(type_)
        place = self.function(type_, len(given))
        if place is not None:
            self.call(place, given, made)
        elif len(given) == 1 and isinstance(whole := self.value(given[0]), Record):
            return Record(copied(whole))
        else:
            self._filled(made, given)
        return made

    def _filled(self, made: Record, given: Sequence[Node]) -> Record:
        """A structure with what an initialiser says of its fields."""
        names = list(made)
        for number, one in enumerate(given):
            if one.type == "initializer_pair":
                name = text_of(one.child_by_field_name("designator")).lstrip(".")
                made[name] = copied(self.value(one.child_by_field_name("value")))
            elif number < len(names):
                made[names[number]] = copied(self.value(one))
        return made

    def fields(self, type_: str, depth: int = 0) -> Record:
        """A structure as its definition has it."""
        made, node = Record(), self.run.known.records.get(type_)
        if node is None or depth > _DEPTH:
            return made
        for base in descend(node, {"base_class_clause"}):
            for one in base.named_children:
                made.update(self.fields(self.type_name(text_of(one)), depth + 1))
        body = node.child_by_field_name("body")
        for one in body.named_children if body else ():
            if one.type != "field_declaration":
                continue
            kind = self.type_name(text_of(one.child_by_field_name("type")))
            for declarator in one.children_by_field_name("declarator"):
                inner = next(descend(declarator, _NAMED), declarator)
                plain = declarator.type == "field_identifier"
                value = self.value(one.child_by_field_name("default_value"))
                if value is None and plain and kind in self.run.known.records:
                    value = self.fields(kind, depth + 1)
                elif value is None and plain and kind == "dim3":
                    value = Record(x=1, y=1, z=1)
                elif declarator.type == "array_declarator":
                    value = self._array(declarator, None)
                made[text_of(inner)] = value
        return made

    # Calls

    def body(self, place: Place) -> Held:
        """Run a function with the names that are there; what it returns."""
        if place.node is None:
            return None
        for one in parameters_of(place):
            if one.name not in self.names:
                value = self.value(one.default)
                self.names[one.name] = _unknown(one.name, one.type) if value is None else value
        lists = [one for one in place.node.children if one.type == "field_initializer_list"]
        for node in lists[0].named_children if lists and isinstance(self.this, Record) else ():
            inner = given_in(node.named_children[-1])
            self.this[text_of(node.named_children[0])] = (
                copied(self.value(inner[0])) if len(inner) == 1 else None
            )
        signal = self.execute(place.node.child_by_field_name("body"))
        return signal[0] if isinstance(signal, tuple) else None

    def call(
        self, place: Place, given: Sequence[Node], this: Held = None, listed: Node | None = None
    ) -> Held:
        """What a function of the text returns, done what it does."""
        names: dict[str, Held] = {}
        for parameter, node in zip(parameters_of(place), given, strict=False):
            there = self.place(node) if parameter.reference else None
            names[parameter.name] = (
                Reference(there.holder, there.name)
                if there is not None
                else converted(parameter.type, copied(self.value(node)))
            )
        if self.run.depth >= _DEPTH:
            return None
        open_ = [one for template in place.templates for one in template_parameters(template)]
        setting = setting_of(open_, given_in(listed), self) if open_ else {}
        self.run.depth += 1
        try:
            return self.run.scope(names, this, setting).body(place)
        finally:
            self.run.depth -= 1

    def launch(self, node: Node, syntax: Node) -> None:
        """Keep a launch that was come to, unless it is known already."""
        there = self.run.launches.setdefault(node, [])
        if any(one.sized and one.setting == self.setting for one in there) or len(there) > 8:
            return
        given = given_in(next((c for c in node.children if c.type == "argument_list"), None))
        held = [self.value(one) for one in given_in(syntax)]
        shape = tuple(one.dimensions if isinstance(one, Record) else one for one in held)
        arguments = tuple(launched(self.value(one)) for one in given)
        callee = self.value(node.children[0])
        kernel = callee if callee != node.children[0] and hasattr(callee, "start_byte") else None
        there.append(Reached(self.setting, shape, arguments, kernel))


@dataclass(frozen=True)
class HostParameter:
    """A parameter of a function of the host."""

    name: str
    type: str
    reference: bool
    default: Node | None


def parameters_of(place: Place) -> list[HostParameter]:
    """What a function takes."""
    declarator = next(descend(place.node, {"function_declarator"}), None) if place.node else None
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    made = []
    for one in given_in(listed):
        inner = one.child_by_field_name("declarator")
        named = next(descend(inner, {"identifier"}), inner) if inner is not None else None
        kind = text_of(one.child_by_field_name("type"))
        types = {"identifier": kind, "reference_declarator": kind, "pointer_declarator": "*"}
        plain = types.get(inner.type, "") if inner is not None else ""
        reference = inner is not None and inner.type == "reference_declarator"
        made.append(
            HostParameter(
                text_of(named), plain, reference, one.child_by_field_name("default_value")
            )
        )
    return made


def _head(place: Place) -> str:
    return (place.node.text or b"")[:200].decode("utf-8", "replace") if place.node else ""


def _accepts(place: Place, count: int) -> bool:
    takes = parameters_of(place)
    needed = sum(one.default is None for one in takes)
    has_body = place.node is not None and place.node.child_by_field_name("body") is not None
    return has_body and needed <= count <= len(takes)


def _unknown(name: str, type_: str) -> Held:
    """A variable of a type of which nothing else is known."""
    if type_ == "*":
        return DevicePointer(DeviceBuffer(None))
    kind = SCALARS.get(type_, "") if type_ not in _CHARACTERS else ""
    return Formula(name, kind[:1] == "f") if kind[:1] in ("i", "u", "f") else None


def converted(type_: str, value: Held) -> Held:
    """A number as a variable of a type holds it."""
    if not isinstance(value, int | float) or type_ in _CHARACTERS:
        return value
    kind = SCALARS.get(type_, "")
    return float(value) if kind[:1] == "f" else int(value) if kind[:1] in ("i", "u") else value


_NAMED = {"identifier", "field_identifier"}
_DEVICE_DATA = ("__device__", "__constant__", "__shared__")
