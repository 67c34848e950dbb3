"""What the template around a launch is made with, by the calls of it in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuviz.source.constants import Scope
from gpuviz.source.parts import descend, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST = 2  # ways to make a template that are looked at: each of them is compiled
_TYPES = {"type_parameter_declaration", "optional_type_parameter_declaration"}
_SIMPLE = ("int", "unsigned", "float", "double", "half", "char", "bool", "long", "short")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a template: its name, whether it is a type, and what it is if not given."""

    name: str
    is_type: bool
    default: Node | None = None


def parameters(place: Node) -> tuple[Parameter, ...]:
    """What the templates around a place leave open, the inmost last."""
    found: list[Parameter] = []
    node: Node | None = place
    while node is not None:
        if node.type == "template_declaration":
            listed = node.child_by_field_name("parameters")
            found[:0] = map(_parameter, listed.named_children if listed is not None else ())
        node = node.parent
    return tuple(one for one in found if one.name)


def _parameter(node: Node) -> Parameter:
    kinds = {"type_identifier"} if node.type in _TYPES else {"identifier"}
    default = node.child_by_field_name("default_value") or node.child_by_field_name("default_type")
    names = [text_of(one) for one in descend(node, kinds) if one != default]
    return Parameter(names[0] if names else "", node.type in _TYPES, default)


def settings(
    roots: Iterable[Node], name: str, open_: Sequence[Parameter], at: Callable[[Node], Scope]
) -> list[dict[str, str]]:
    """The first ways in which a function template is called: parameters and their texts.

    `at` says what names stand for at a place. A type that is not said is float; types alone make
    no other way.
    """
    found: dict[tuple[str | None, ...], dict[str, str]] = {}
    values = [one.name for one in open_ if not one.is_type]
    for given in _called(roots, name) if open_ else ():
        made = _setting(open_, given, at(given[0]) if given else Scope())
        found.setdefault(tuple(map(made.get, values)), made)
        if len(found) == _MOST:
            break
    return list(found.values()) or [_setting(open_, (), Scope())]


def _called(roots: Iterable[Node], name: str) -> Iterator[list[Node]]:
    """The template arguments of each use of a function."""
    for root in roots:
        for node in descend(root, {"template_function"}):
            listed = node.child_by_field_name("arguments")
            if text_of(node.child_by_field_name("name")) == name and listed is not None:
                yield [one for one in listed.named_children if one.type != "comment"]


def _setting(open_: Sequence[Parameter], given: Sequence[Node], scope: Scope) -> dict[str, str]:
    """What is not known is left out, so that what hangs on it is not known either."""
    made: dict[str, str] = {}
    for number, parameter in enumerate(open_):
        node = given[number] if number < len(given) else parameter.default
        text = argument(scope, node) if node is not None else None
        if text is None and parameter.is_type:
            text = "float"
        if text is not None:
            made[parameter.name] = text
    return made


def argument(scope: Scope, node: Node) -> str | None:
    """A template argument as it stands outside of its function: a value, or the name of a type."""
    value = scope.value(node)
    if isinstance(value, int):
        return str(value)
    text = text_of(node)
    words = text.replace("*", " ").replace("const", " ").split()
    if node.type in ("type_descriptor", "type_identifier", "primitive_type") and all(
        word in _SIMPLE or word[0] == "_" or word[-1:].isdigit() or word.endswith(("_t", "16"))
        or word[0].isupper() or "half" in word for word in words
    ):  # fmt: skip
        return text
    return text if node.type in ("true", "false") else None
