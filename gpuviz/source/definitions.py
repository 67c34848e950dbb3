"""What texts define: functions and the templates around them, what names are given, types, macros;
and where their launches are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from gpuviz.source.constants import Macro, Scope, given_in, macros
from gpuviz.source.parts import Text, descend, parsed, scope_of, text_of, words

if TYPE_CHECKING:
    from tree_sitter import Node

_PLACES = ("function_definition", "template_declaration")
_MOST = 2  # ways to make a template that are looked at: each of them is compiled
_USES = 64  # of it that are looked at for these
_TYPES = {"type_parameter_declaration", "optional_type_parameter_declaration"}
_TYPE_NAME = re.compile(r"_|[A-Z]|.*half|.*(?:\d|_t)$")
_DISPATCHED = ("scalar_t", "scalar_type")  # what dispatch macros call the type they choose
_SIMPLE = ("int", "unsigned", "float", "double", "half", "char", "bool", "long", "short")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a template: its name, whether it is a type, and what it is if not given."""

    name: str
    is_type: bool
    default: Node | None = None


def template_parameters(template: Node) -> list[Parameter]:
    """What a template leaves open."""
    listed = template.child_by_field_name("parameters")
    found = map(_parameter, listed.named_children if listed is not None else ())
    return [one for one in found if one.name]


def _parameter(node: Node) -> Parameter:
    kinds = {"type_identifier"} if node.type in _TYPES else {"identifier"}
    default = node.child_by_field_name("default_value") or node.child_by_field_name("default_type")
    names = [text_of(one) for one in descend(node, kinds) if one != default]
    return Parameter(names[0] if names else "", node.type in _TYPES, default)


def setting_of(open_: Sequence[Parameter], given: Sequence[Node], scope: Scope) -> dict[str, str]:
    """What is not known is left out, so that what hangs on it is not known either."""
    made: dict[str, str] = {}
    for number, parameter in enumerate(open_):
        node = given[number] if number < len(given) else parameter.default
        text = template_argument(scope, node) if node is not None else None
        if text is None and parameter.is_type:
            text = "float"
        if text is not None:
            made[parameter.name] = text
    return made


def template_argument(scope: Scope, node: Node) -> str | None:
    """A template argument as it stands outside of its function: a value, or the name of a type."""
    value = scope.value(node)
    if isinstance(value, int):
        return str(value)
    meant = scope.named(text_of(node))  # `using Tile = Shape<32, 16>`
    text = text_of(meant if meant is not None and meant.type in _ALIASED else node)
    words = text.replace("*", " ").replace("const", " ").split()
    is_type = node.type in ("type_descriptor", "type_identifier", "primitive_type")
    if text in _DISPATCHED:
        return "float"
    named = is_type and all(word in _SIMPLE or _TYPE_NAME.match(word) for word in words)
    if meant is not None and meant.type in _ALIASED:
        return text
    return text if named or node.type in ("true", "false") else None


_NOTHING: Mapping[str, str] = {}
_ALIASES = ("alias_declaration", "type_definition")
_ALIASED = ("type_descriptor", "template_type", "primitive_type", "sized_type_specifier")
_DEFINES = {"preproc_def", "preproc_function_def"}
_RECORDS = {"struct_specifier", "class_specifier"}
_SAYING = (
    _DEFINES
    | _RECORDS
    | words(
        "declaration assignment_expression return_statement parameter_declaration call_expression "
        "kernel_call_syntax template_function enumerator_list alias_declaration type_definition"
    )
)


History = dict[str, list[tuple[int, "Node"]]]  # what is said of a name, each with its first byte


@dataclass(frozen=True, eq=False)
class Place:
    """A function, or what is outside of all (`name` is None), and what is said in it; `templates`
    are those around it, the inmost last.
    """

    name: str | None = None
    templates: tuple[Node, ...] = ()
    node: Node | None = None  # its definition
    values: History = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    returned: list[Node] = field(default_factory=list)

    def within(self, node: Node) -> Place:
        """The place of what is in a function, or a template, of this one."""
        if node.type == "template_declaration":
            return replace(self, templates=(*self.templates, node))
        declarator = next(descend(node, {"function_declarator"}), None)
        name = text_of(declarator.child_by_field_name("declarator")) if declarator else ""
        return Place(name.rpartition("::")[2].strip("*& "), self.templates, node)

    def note(self, node: Node) -> None:
        """Keep what a node of the function says."""
        if node.type in ("declaration", "assignment_expression", *_ALIASES):
            for name, value in declared_values(node):
                self.values.setdefault(name, []).append((node.start_byte, value))
        elif node.type == "return_statement":
            self.returned.append(node)
        elif node.type == "parameter_declaration":
            self.parameters.append(text_of(next(descend(node, {"identifier"}), None)))

    @property
    def inlined(self) -> Macro:
        """What a call of the function stands for: the expression that it returns, if only one."""
        inner = self.returned[0].named_children if len(self.returned) == 1 else ()
        return Macro(tuple(self.parameters), text_of(inner[0]) if inner else "")


class Found(NamedTuple):
    """A node, and where it stands."""

    node: Node
    place: Place


def last_said(said: History, name: str, before: int) -> Node | None:
    """What is said of a name last before a byte."""
    every = said.get(name, [])
    at = bisect_left(every, before, key=itemgetter(0))
    return every[at - 1][1] if at else None


@dataclass(frozen=True)
class Definitions:
    """What is known all over a file; by the root of each of its texts the launches in it, and the
    templates that are named with arguments.
    """

    names: dict[str, Node]
    scope: Scope
    launches: dict[Node, list[Found]]
    templates: dict[Node, list[Found]]
    # All functions of a name, structures by theirs, and what is declared outside of functions.
    functions: dict[str, dict[Place, None]] = field(default_factory=dict)
    records: dict[str, Node] = field(default_factory=dict)
    outside: list[Node] = field(default_factory=list)
    enumerators: dict[str, Node | None] = field(default_factory=dict)
    _uses: dict[str, list[Found]] = field(default_factory=dict)
    _settings: dict[Place, list[dict[str, str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[Text]) -> Definitions:
        """What texts say, in one walk through each; of two of one name the last one, but that of
        the first text.
        """
        defined: dict[str, Macro] = {}
        functions: dict[str, Place] = {}
        made = cls({}, Scope(), {}, {})
        for root in [text.tree.root_node for text in reversed(list(texts))]:
            launches, templates = made.launches[root], made.templates[root] = [], []
            for node, parent, place in _placed(root):
                if place.name is not None:
                    functions[place.name] = place
                    made.functions.setdefault(place.name, {})[place] = None
                    place.note(node)
                elif node.type == "declaration":
                    made.names.update(declared_values(node))
                    made.outside.append(node)
                elif node.type in _ALIASES:
                    made.names.update(declared_values(node))
                if node.type == "enumerator_list":
                    made.enumerators.update(_enumerated(node))
                elif node.type in _RECORDS and node.child_by_field_name("body") is not None:
                    for name in _names_of(node, parent):
                        made.records[name] = node
                if node.type in _DEFINES:
                    defined.update(macros([node]))
                elif node.type == "kernel_call_syntax" and parent.type == "call_expression":
                    launches.append(Found(parent, place))
                elif node.type == "template_function":
                    templates.append(Found(node, place))
        for found in (one for every in made.templates.values() for one in every):
            made._uses.setdefault(text_of(found.node.child_by_field_name("name")), []).append(found)
        inlined = {name: place.inlined for name, place in functions.items()}
        return replace(made, scope=Scope(macros=defined, functions=inlined))

    def settings(self, place: Place) -> list[dict[str, str]]:
        """The first ways in which the template around a place is made, by the calls of its
        function: parameters and their texts; one without names where there is none.

        A type that is not said is float; types alone make no other way.
        """
        if place not in self._settings:
            open_ = [one for template in place.templates for one in template_parameters(template)]
            values = [one.name for one in open_ if not one.is_type]
            found: dict[tuple[str | None, ...], dict[str, str]] = {}
            for use in islice(self._uses.get(place.name or "", ()), _USES if open_ else 0):
                listed = given_in(use.node.child_by_field_name("arguments"))
                made = setting_of(open_, listed, self.at(use))
                found.setdefault(tuple(map(made.get, values)), made)
            ways = list(found.values())[:_MOST]
            self._settings[place] = ways or [setting_of(open_, (), Scope())]
        return self._settings[place]

    def at(self, found: Found, setting: Mapping[str, str] = _NOTHING) -> Scope:
        """What names stand for where something stands, in a template that is made so."""
        made = {name: parsed(text) for name, text in setting.items()}
        place, before = found.place, found.node.start_byte

        def named(name: str) -> Node | None:
            return last_said(place.values, name, before) or made.get(name) or self.names.get(name)

        return replace(self.scope, named=named)

    def qualified(self, kind: str) -> str:
        """The text of a type with the namespaces of the structures that it names."""

        def whole(match: re.Match[str]) -> str:
            record = self.records.get(match[0])
            scope = scope_of(record) if record is not None else ""
            return f"{scope}::{match[0]}" if scope else match[0]

        return re.sub(r"(?<![\w:])[A-Za-z_]\w*", whole, kind)

    def counting(self, scope: Scope) -> Scope:
        """A scope with the enumerators as numbers."""
        named = scope.named
        return replace(scope, named=lambda name: named(name) or self.enumerators.get(name))


def _enumerated(listed: Node) -> Iterator[tuple[str, Node | None]]:
    """The names of an enumeration, with what they come to."""
    last, more = "-1", 1
    for one in listed.named_children:
        if one.type == "enumerator":
            value = one.child_by_field_name("value")
            last, more = (text_of(value), 0) if value is not None else (last, more)
            yield text_of(one.child_by_field_name("name")), parsed(f"({last}) + {more}")
            more += 1


def _names_of(record: Node, parent: Node) -> Iterator[str]:
    """Of a structure: its own, and those of a typedef."""
    yield text_of(record.child_by_field_name("name")).partition("<")[0]
    if parent.type == "type_definition":
        yield from map(text_of, parent.children_by_field_name("declarator"))


def _placed(root: Node) -> Iterator[tuple[Node, Node, Place]]:
    """Nodes that say something, each with its parent and its place, in the order of the text."""
    below = [(child, root, Place()) for child in reversed(root.children)]
    while below:
        node, parent, place = below.pop()
        kind = node.type
        if kind in _SAYING:
            yield node, parent, place
        elif kind in _PLACES:
            place = place.within(node)
        below += [(child, node, place) for child in reversed(node.children)]


def declared_values(node: Node) -> Iterator[tuple[str, Node]]:
    """The names that a declaration, or an assignment, gives a value."""
    if node.type == "assignment_expression":
        left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type == "identifier" and value is not None:
            yield text_of(left), value
        return
    if node.type in _ALIASES:
        kind = node.child_by_field_name("type")
        every = [node.child_by_field_name("name"), *node.children_by_field_name("declarator")]
        plain = (one for one in every if one is not None and one.type == "type_identifier")
        yield from ((text_of(one), kind) for one in plain if kind is not None)
        return
    for declarator in node.children_by_field_name("declarator"):
        name = declarator.child_by_field_name("declarator")
        value = declarator.child_by_field_name("value")
        if declarator.type == "function_declarator":  # `dim3 block(TILE, TILE)` reads like one
            text = text_of(declarator.child_by_field_name("parameters"))
            value = parsed(f"{text_of(node.child_by_field_name('type'))}{text}")
        if (
            declarator.type in ("init_declarator", "function_declarator")
            and name is not None
            and value is not None
        ):
            yield text_of(name).lstrip("*& "), value
