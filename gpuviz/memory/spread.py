"""A CUDA text with every memory expression on a line of its own.

The compiler says of an instruction which line it comes from, and nothing of where in the line. Of
a text that is spread out it says that, too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gpuviz.source import parts

if TYPE_CHECKING:
    from tree_sitter import Node

_INDEXED, _CALL = "subscript_expression", "call_expression"
_FIELD, _POINTED = "field_expression", "pointer_expression"
_INDEX = "subscript_argument_list"
_KINDS = (_INDEXED, _CALL, _FIELD, _POINTED)
_LONGEST = 60  # letters of an expression


@dataclass(frozen=True)
class Place:
    """An expression: its line and column, from 1, and its text."""

    line: int
    column: int
    text: str

    @cached_property
    def array(self) -> str:
        """What is accessed: `a` of `a[i]` and of `*(a + i)`."""
        found = re.search(r"[A-Za-z_]\w*", self.text)
        return found[0] if found else self.text


@dataclass(frozen=True)
class Spread:
    """The text, and by its lines the expressions that an instruction of that line may come from.

    An expression stands before those that it is a part of, and that are computed from it.
    """

    text: str
    places: Mapping[int, tuple[Place, ...]]

    @cached_property
    def _added(self) -> list[int]:
        return sorted(self.places)

    def line(self, line: int) -> int:
        """The line of the text as it was that a line of this one comes from."""
        return line - bisect_right(self._added, line)


def spread(source: str) -> Spread:
    """The text spread out; all else in it stays as it is."""
    read = parts.read(source)
    chains: dict[int, list[Node]] = {}
    for function in parts.descend(read.tree.root_node, {"function_definition"}):
        if (body := function.child_by_field_name("body")) is not None:
            for node in _expressions(body):
                chains.setdefault(node.start_byte, []).append(node)
    pieces, at, line = list[bytes](), 0, 1
    places = dict[int, tuple[Place, ...]]()
    for start in sorted(chain for chain, nodes in chains.items() if any(map(_breaks, nodes))):
        pieces += [read.source[at:start], b"\n "]  # not at the margin, as calls of macros are
        line += read.source.count(b"\n", at, start) + 1
        at = start
        nodes = dict.fromkeys((*reversed(chains[start]), *_around(chains[start][0])))
        places[line] = tuple(map(_place, nodes))
    pieces.append(read.source[at:])
    return Spread(b"".join(pieces).decode("utf-8", "replace"), places)


def _expressions(node: Node) -> Iterator[Node]:
    """Expressions below a node that may access memory, outer ones first; none of directives."""
    for child in node.children:
        if node.type.startswith("preproc") and child == node.child_by_field_name("condition"):
            continue
        if child.type in _KINDS:
            yield child
        yield from _expressions(child)


def _breaks(node: Node) -> bool:
    """Whether a line begins with it: not with fields of values, nor with addresses (`&x`)."""
    if node.type == _FIELD:
        return any(child.type == "->" for child in node.children)
    return node.type != _POINTED or (node.text or b"").startswith(b"*")


def _around(node: Node) -> Iterator[Node]:
    """The expressions whose index begins with a node: the compiler gives them the same place."""
    start, within = node.start_byte, node.parent
    while within is not None:
        if within.type == _INDEX and within.children[1].start_byte == start:
            assert within.parent is not None
            start = within.parent.start_byte
            yield within.parent
        elif within.start_byte != start:
            return
        within = within.parent


def _place(node: Node) -> Place:
    row, column = node.start_point
    text = " ".join(parts.text_of(node).split())
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 1]}…"
    return Place(row + 1, column + 1, text)
