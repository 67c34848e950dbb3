"""What a template kernel is made with where its launch does not say: its arguments tell, as in C++.

Types are texts, without `const` and references: `float2*`, `Op<float>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from gpuviz.source.parts import descend, scope_of, text_of, words

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEP = 32  # expressions within expressions
_QUALIFIERS = re.compile(
    r"\b(?:const|volatile|__restrict__|__restrict|restrict|typename|struct|class|static|extern"
    r"|register|constexpr|__device__|__managed__|__constant__|__grid_constant__)\b|&"
)
_NUMBER = re.compile(r"(?:0[xX])?[\da-fA-F.']+?(?:[eEpP][+-]?\d+)?([uUlLfF]*)")
_DECLARES = {"declaration", "field_declaration", "parameter_declaration"}
_ELEMENT = re.compile(r"[\w:]*(?:vector|array|ptr|span)\s*<([^,]*?)(?:,.*)?>")
_RANKS = ("int", "unsigned int", "long", "unsigned long", "long long", "float", "double")
_GIVES = {"sizeof": "unsigned long", "true": "bool", "false": "bool", "char_literal": "char"}
_CASTS = ("static_cast", "reinterpret_cast", "const_cast")
_LONGEST = 300


def plain(text: str) -> str:
    """The text of a type as it compares: `const float *__restrict__` is `float*`."""
    return re.sub(r"\s*([*<>,:])\s*", r"\1", " ".join(_QUALIFIERS.sub(" ", text).split()))


def deduced(template: Node, listed: Sequence[str], given: Iterable[str]) -> tuple[str, ...] | None:
    """What a template kernel is made with: what its launch has `listed`, then what the types of the
    arguments `given` say ("" not known); what has a default is left out. None where one is missing.
    """
    listing = template.child_by_field_name("parameters")
    open_ = [one for one in listing.named_children if one.type != "comment"] if listing else []
    names = [_name(one) for one in open_]
    found = dict(zip(names, listed, strict=False))
    declarator = next(descend(template, {"function_declarator"}), None)
    takes = declarator.child_by_field_name("parameters") if declarator is not None else None
    declared = [one for one in takes.named_children if one.type in _DECLARES] if takes else []
    pairs = zip(declared, given, strict=False) if len(found) < len(names) else ()
    for one, argument in pairs:
        for name, text in _matched(type_declared(one), argument, [n for n in names if n]).items():
            found.setdefault(name, text)
    made = [found.get(name, "") for name in names]
    while made and not made[-1] and open_[len(made) - 1].type.startswith("optional"):
        made.pop()
    return tuple(made) if all(made) else None


def _name(parameter: Node) -> str:
    kinds = {"type_identifier", "identifier"}
    default = [parameter.child_by_field_name(f"default_{what}") for what in ("type", "value")]
    kind = parameter.child_by_field_name("type")
    named = [one for one in descend(parameter, kinds) if one not in (*default, kind)]
    return text_of(named[0]) if named else ""


def _matched(pattern: str, argument: str, names: Sequence[str]) -> dict[str, str]:
    """What names of a template stand for where a parameter `T*` takes `float2*`."""
    if not argument or max(len(pattern), len(argument)) > _LONGEST:
        return {}
    pieces = re.split(r"(\w+)", pattern)
    used = [one for one in dict.fromkeys(pieces) if one in names]
    if not used or len(used) > 3:
        return {}
    seen: set[str] = set()
    form = ""
    for piece in pieces:
        again = piece in seen
        seen.add(piece)
        group = f"(?P={piece})" if again else f"(?P<{piece}>.+)"
        form += group if piece in used else re.escape(piece)
    found = re.fullmatch(form, argument)
    return found.groupdict() if found else {}


def type_declared(node: Node, declarator: Node | None = None) -> str:
    """The type that a declaration gives to one of what it declares, `float*`; "" not known."""
    kind = node.child_by_field_name("type")
    inner = declarator or node.child_by_field_name("declarator")
    stars = ""
    while inner is not None and inner.type.endswith("declarator"):
        if inner.type in ("pointer_declarator", "abstract_pointer_declarator", "array_declarator"):
            stars += "*"
        elif inner.type == "function_declarator" and node.type != "declaration":
            return ""
        inner = inner.child_by_field_name("declarator") or next(
            (one for one in inner.named_children if "declarator" in one.type), None
        )
    return plain(text_of(kind)) + stars if kind is not None else ""


def type_of(node: Node | None, setting: Mapping[str, str], depth: int = 0) -> str:
    """The type of an expression of host code, in a template that is made so; "" not known."""
    if node is None or depth > _DEEP:
        return ""
    found = _type(node, setting, depth + 1)
    return plain(re.sub(r"\b[A-Za-z_]\w*\b", lambda name: setting.get(name[0], name[0]), found))


def _type(node: Node, setting: Mapping[str, str], depth: int) -> str:
    kind = node.type
    if kind in ("identifier", "field_identifier"):
        return _of_name(node, setting, depth)
    if kind == "number_literal":
        return _of_number(text_of(node))
    if kind in _GIVES or kind == "sizeof_expression":
        return _GIVES[kind.removesuffix("_expression")]
    if kind in ("cast_expression", "compound_literal_expression"):
        return text_of(node.child_by_field_name("type"))
    if kind == "call_expression":
        return _of_call(node, setting, depth)
    if kind == "lambda_expression":
        return lambda_name(node)
    inner = type_of(node.child_by_field_name("argument"), setting, depth)
    if kind == "pointer_expression":
        return f"{inner}*" if inner and text_of(node)[0] == "&" else inner.removesuffix("*")
    if kind == "subscript_expression":
        element = _ELEMENT.fullmatch(inner)
        return element[1] if element else inner[:-1] if inner.endswith("*") else ""
    if kind == "binary_expression":
        sides = [type_of(node.child_by_field_name(s), setting, depth) for s in ("left", "right")]
        return _combined(*sides)
    if kind in ("parenthesized_expression", "unary_expression"):
        return inner or type_of(node.named_children[-1], setting, depth)
    if kind == "conditional_expression":
        return type_of(node.child_by_field_name("consequence"), setting, depth)
    if kind == "field_expression":
        return _of_field(node, inner)
    return ""


def _of_number(text: str) -> str:
    match = _NUMBER.fullmatch(text)
    end = (match[1] if match else "").lower()
    whole = text[:2].lower() == "0x" or not re.search(r"[.eE]", text)
    if not whole or "f" in end and text[:2].lower() != "0x":
        return "float" if "f" in end else "double"
    return ("unsigned " if "u" in end else "") + ("long " * min(end.count("l"), 2) or "int")


def _combined(left: str, right: str) -> str:
    if left.endswith("*") or right.endswith("*"):
        return left if left.endswith("*") else right
    if left == right:
        return left
    if left in _RANKS and right in _RANKS:
        return max(left, right, key=_RANKS.index)
    return ""


def _of_call(node: Node, setting: Mapping[str, str], depth: int) -> str:
    called = node.child_by_field_name("function")
    given = node.child_by_field_name("arguments")
    first = given.named_children[0] if given is not None and given.named_children else None
    name = text_of(called)
    if called is None or not name:
        return ""
    plain_name = name.partition("<")[0].rpartition("::")[2]
    if called.type == "template_function" and plain_name in _CASTS:
        return name.partition("<")[2].rpartition(">")[0]
    if plain_name == "raw_pointer_cast":
        return type_of(first, setting, depth)
    if called.type == "field_expression":
        method = text_of(called.child_by_field_name("field"))
        owner = type_of(called.child_by_field_name("argument"), setting, depth)
        if method.startswith(("data_ptr<", "mutable_data_ptr<", "const_data_ptr<")):
            return method.partition("<")[2].rpartition(">")[0] + "*"
        element = _ELEMENT.fullmatch(owner)
        if method in ("data", "get"):
            return f"{element[1]}*" if element else owner if owner.endswith("*") else ""
        return ""
    if plain_name.startswith("make_") and re.fullmatch(r"make_\w+[1-4]", plain_name):
        return plain_name.removeprefix("make_")
    return name if called.type == "template_function" or name in _records(_root(node)) else ""


@lru_cache(16)
def _records(root: Node) -> Mapping[str, Node]:
    """The structures that a text defines, by their names and those of typedefs."""
    found: dict[str, Node] = {}
    for record in descend(root, {"struct_specifier", "class_specifier"}):
        names = [record.child_by_field_name("name")]
        if record.parent is not None and record.parent.type == "type_definition":
            names += record.parent.children_by_field_name("declarator")
        if record.child_by_field_name("body") is not None:
            found.update((text_of(name), record) for name in names)
    return found


def _root(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node


def _of_field(node: Node, owner: str) -> str:
    """The type of a member of a structure that the text defines."""
    record = _records(_root(node)).get(owner.removesuffix("*"))
    body = record.child_by_field_name("body") if record is not None else None
    every = _declared(body).get(text_of(node.child_by_field_name("field")), ()) if body else ()
    return next((type_declared(declaration, one) for declaration, one in every), "")


def _of_name(node: Node, setting: Mapping[str, str], depth: int) -> str:
    found = declaration_of(node)
    if found is None:
        return ""
    declaration, declarator = found
    kind = type_declared(declaration, declarator)
    if kind.rstrip("*") != "auto":
        return kind
    return type_of(declarator.child_by_field_name("value"), setting, depth)


_SCOPES = words(
    "compound_statement translation_unit namespace_definition declaration_list "
    "field_declaration_list function_definition for_statement"
)


def declaration_of(node: Node) -> tuple[Node, Node] | None:
    """The declaration that a name is of, as C++ looks for it, and its declarator there."""
    name, at, around = text_of(node), node, node.parent
    while around is not None:
        if around.type in _SCOPES:
            for found in reversed(_declared(around).get(name, ())):
                if found[0].start_byte < at.start_byte or around.type == "field_declaration_list":
                    return found
        at, around = around, around.parent
    return None


@lru_cache(256)
def _declared(around: Node) -> Mapping[str, list[tuple[Node, Node]]]:
    """By its name, each declaration that stands in a scope and not deeper, in order."""
    within = around.named_children
    if around.type == "function_definition":
        function = next(descend(around, {"function_declarator"}), None)
        listed = function.child_by_field_name("parameters") if function is not None else None
        within = listed.named_children if listed is not None else []
    found: dict[str, list[tuple[Node, Node]]] = {}
    for child in within:
        if child.type.endswith("parameter_declaration") or child.type in _DECLARES:
            for one in child.children_by_field_name("declarator"):
                found.setdefault(_named(one), []).append((child, one))
    return found


def _named(declarator: Node) -> str:
    inner: Node | None = declarator
    while inner is not None and inner.type.endswith("declarator"):
        inner = inner.child_by_field_name("declarator") or next(
            (
                one
                for one in inner.named_children
                if "identifier" in one.type or "declarator" in one.type
            ),
            None,
        )
    return text_of(inner)


def lambda_name(node: Node) -> str:
    """What the structure is called that stands for a lambda, by the place of that."""
    row, column = node.start_point
    scope = scope_of(node)
    return f"{scope}::" * bool(scope) + f"lambda_{row + 1}_{column + 1}"
