"""Lambdas that host code hands to kernels, as structures: so the device code among it compiles
without the host's, and what they capture are fields of an argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuviz.source.deduction import declaration_of, lambda_name, type_of
from gpuviz.source.definitions import Definitions
from gpuviz.source.parts import Text, descend, read, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class Lambda:
    """Bytes of a text that are one, and the structure that stands for it, on as many lines."""

    start: int
    end: int
    structure: bytes


def lambdas(text: Text, known: Definitions) -> Iterator[Lambda]:
    """Those of a text that are marked as device code and of which all types are known."""
    if b"]" not in text.source or b"__device__" not in text.source:
        return
    for node in descend(text.tree.root_node, {"lambda_expression"}):
        body, function = node.child_by_field_name("body"), _function(node)
        if body is None or function is None:
            continue
        head = text.source[node.start_byte : body.start_byte].decode("utf-8", "replace")
        if "__device__" not in head:
            continue
        setting = _setting(function, known)
        types = dict(captured(node, setting))
        if all(types.values()):
            takes = text_of(node.child_by_field_name("declarator"))
            const = "" if "mutable" in takes.split() else " const"
            takes, arrow, gives = takes.replace("mutable", "").partition("->")
            fields = "".join(f"{kind} {name}; " for name, kind in types.items())
            made = "".join(f"using {name} = {kind}; " for name, kind in setting.items() if kind)
            made += f"{fields}__device__ auto operator(){takes}{const}{arrow}{gives}{text_of(body)}"
            lines = text.source.count(b"\n", node.start_byte, body.start_byte) - takes.count("\n")
            space = "\n" * max(0, lines - gives.count("\n"))
            structure = f"{space}struct {lambda_name(node).rpartition('::')[2]} {{ {made} }};"
            yield Lambda(node.start_byte, node.end_byte, structure.encode())


def structures(text: Text, known: Definitions) -> tuple[Text, ...]:
    """The structures of its lambdas, each as a text."""
    return tuple(read(one.structure.decode("utf-8", "replace")) for one in lambdas(text, known))


def captured(node: Node, setting: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables of the function around that a lambda names, each with its type ("" for what is
    not known, or an array).
    """
    function = _function(node)
    for name in {text_of(one): one for one in descend(node, {"identifier"})}.values():
        found = declaration_of(name)
        if found is None or function is None:
            continue
        declaration, declarator = found
        if function.start_byte <= declaration.start_byte < node.start_byte:
            array = "array_declarator" in (declarator.type, *(c.type for c in declarator.children))
            yield text_of(name), "" if array else type_of(name, setting)


def _function(node: Node) -> Node | None:
    around = node.parent
    while around is not None and around.type != "function_definition":
        around = around.parent
    return around


def _setting(function: Node, known: Definitions) -> Mapping[str, str]:
    """What the template around a function is made with first."""
    places = (one for every in known.functions.values() for one in every)
    place = next((one for one in places if one.node == function), None)
    return known.settings(place)[0] if place is not None and place.templates else {}
