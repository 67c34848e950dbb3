"""Types of a CUDA source, laid out in memory as the compiler lays them out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpuviz.source.constants import SCALARS, Macro, Scope, bytes_of, vector_of
from gpuviz.source.definitions import Definitions
from gpuviz.source.kernel_names import split_at_commas
from gpuviz.source.lambdas import structures
from gpuviz.source.parts import Text, descend, parsed, text_of, words

if TYPE_CHECKING:
    from tree_sitter import Node

_DEPTH = 24  # types that stand for types
_MOST = 1 << 20  # elements of an array

_SIZES = {"cudaExtent": ("width", "height", "depth"), "cudaPos": ("x", "y", "z")}
_QUALIFIERS = re.compile(
    r"\b(?:const|volatile|struct|class|union|enum|typename|__restrict__|__restrict|restrict|"
    r"__grid_constant__|__constant__|__device__|__managed__|static|extern|inline|constexpr)\b|&"
)
_ALIGNED = re.compile(rb"\b(?:__align__|__builtin_align__|alignas)\s*\(\s*(\d+)\s*\)")


@dataclass(frozen=True)
class Scalar:
    """A number, `kind` as SPECs call its type; or a handle: "texture", "surface"."""

    kind: str

    @property
    def size(self) -> int:
        """Bytes."""
        return bytes_of(self.kind)

    @property
    def align(self) -> int:
        """Bytes."""
        return self.size


@dataclass(frozen=True)
class Pointer:
    """A pointer; `to` None when nothing is known of what it points to."""

    to: CType | None
    written: bool = True
    size: int = 8
    align: int = 8


@dataclass(frozen=True)
class Array:
    """`count` elements one after another."""

    of: CType
    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.of.size * self.count

    @property
    def align(self) -> int:
        """Bytes."""
        return self.of.align


@dataclass(frozen=True)
class Struct:
    """Members by name, with the byte each begins at."""

    members: tuple[tuple[str, int, CType], ...]
    size: int
    align: int


CType = Scalar | Pointer | Array | Struct


def scalars(kind: CType | None) -> list[str]:
    """The types of the numbers that a value is made of, in order; [] when it has anything else."""
    if isinstance(kind, Scalar):
        return [kind.kind]
    if isinstance(kind, Array):
        return scalars(kind.of) * kind.count if kind.count <= 64 else []
    if isinstance(kind, Struct):
        inner = [scalars(member) for _, _, member in kind.members]
        return [one for found in inner for one in found] if all(inner) else []
    return []


def _rounded(size: int, align: int) -> int:
    return -(-size // align) * align


def struct(members: Iterable[tuple[str, CType]], align: int = 1) -> Struct:
    """A structure of these members, each aligned as its type wants."""
    placed, top = [], 0
    for name, kind in members:
        top = _rounded(top, kind.align)
        placed.append((name, top, kind))
        top += kind.size
        align = max(align, kind.align)
    return Struct(tuple(placed), max(_rounded(top, align), 1), align)


def _vector(kind: Scalar, count: int) -> Struct:
    whole = kind.size * count
    align = kind.align if count in (1, 3) else min(whole, 16)
    return struct(((name, kind) for name in "xyzw"[:count]), align)


@dataclass(frozen=True)
class Types:
    """What the names of types stand for in a source and its headers."""

    known: Definitions
    named: Mapping[str, tuple[Node, Text]] = field(default_factory=dict)
    functions: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[Text], defines: Mapping[str, str] | None = None) -> Types:
        """The types that texts declare; of two of one name the first."""
        every = list(texts)
        known = Definitions.of(every)
        macros = {name: Macro(None, value) for name, value in (defines or {}).items()}
        scope = replace(known.scope, macros={**known.scope.macros, **macros})
        known = replace(known, scope=scope)
        named: dict[str, tuple[Node, Text]] = {}
        lifted = [one for text in every for one in structures(text, known)]
        for text in (*every, *lifted):
            for name, node in _declarations(text.tree.root_node):
                if name not in named or (
                    not _compiled(named[name][0], known.scope.macros)
                    and _compiled(node, known.scope.macros)
                ):
                    named[name] = node, text
        functions: dict[str, tuple[Node, ...]] = {}
        for text in every:
            for node in descend(text.tree.root_node, {"function_declarator"}):
                name = text_of(node.child_by_field_name("declarator"))
                functions[name] = (*functions.get(name, ()), node)
        return cls(known, named, functions)

    def value(self, node: Node | None) -> int | None:
        """A whole number that an expression comes to, such as the size of an array."""
        scope = self.known.scope
        found = Scope(self.known.names.get, scope.macros, scope.functions).value(node)
        return int(found) if isinstance(found, int | float) else None

    def read(
        self, declared: str, given: Mapping[str, str] | None = None, depth: int = 0
    ) -> CType | None:
        """What a type's text means; `given` says what parameters of a template stand for.

        None when it is not known.
        """
        if depth > _DEPTH:
            return None
        before, star, _ = declared.rpartition("*")
        if star:
            written = not re.search(r"\bconst\b", before.replace("*", " * ").split("*")[0])
            return Pointer(self.read(before, given, depth + 1), written)
        text = " ".join(_QUALIFIERS.sub(" ", declared).split())
        if given and text in given:
            return self.read(given[text], None, depth + 1)
        name, _, listed = text.partition("<")
        name = name.strip().rpartition("::")[2] or name.strip()
        if (kind := _builtin(text) or _builtin(name)) is not None:
            return kind
        macro = self.known.scope.macros.get(name)
        if macro is not None and macro.parameters is None and macro.text:
            return self.read(macro.text, given, depth + 1)
        if name not in self.named:
            return None
        node, source = self.named[name]
        arguments = split_at_commas(listed.rpartition(">")[0]) if listed else []
        arguments = [(given or {}).get(one.strip(), one.strip()) for one in arguments]
        return self._declared(node, source, arguments, depth + 1)

    def declarator(
        self, kind: CType | None, node: Node | None, given: Mapping[str, str] | None = None
    ) -> tuple[str, CType | None]:
        """The name that a declarator gives, and its type: `*x`, `w[4][4]`, `x = 3`."""
        sizes: list[int | None] = []
        while node is not None and node.type not in _NAMES:
            if node.type in ("function_declarator", "parenthesized_declarator"):
                return "", None
            if node.type in ("pointer_declarator", "abstract_pointer_declarator"):
                kind = Pointer(kind)
            if node.type == "array_declarator":
                size = node.child_by_field_name("size")
                text = (given or {}).get(text_of(size))
                sizes.append(self.value(parsed(text) if text else size))
            node = node.child_by_field_name("declarator") or next(
                (c for c in node.named_children if c.type in _NAMES | _DECLARATORS), None
            )
        for count in sizes:  # the last brackets, outermost in the tree, come first
            if kind is None or count is None or not 0 < count * kind.size <= _MOST * 8:
                return text_of(node), None
            kind = Array(kind, count)
        return text_of(node), kind

    def _declared(self, node: Node, source: Text, arguments: list[str], depth: int) -> CType | None:
        given = dict(zip(_template_parameters(node), arguments, strict=False))
        if node.type == "enum_specifier":
            base = node.child_by_field_name("base")
            return self.read(text_of(base), None, depth) if base is not None else Scalar("i32")
        if node.type == "alias_declaration":
            return self.read(text_of(node.child_by_field_name("type")), given, depth)
        if node.type == "type_identifier" or node.type in _DECLARATORS:  # of a typedef
            parent = node.parent
            while parent is not None and parent.type != "type_definition":
                parent = parent.parent
            kind = parent.child_by_field_name("type") if parent is not None else None
            inner = self._of_node(kind, source, given, depth)
            return self.declarator(inner, node, given)[1]
        return self._struct(node, source, given, depth)

    def _of_node(
        self, kind: Node | None, source: Text, given: Mapping[str, str], depth: int
    ) -> CType | None:
        if kind is None:
            return None
        if kind.type in _RECORDS and _has_body(kind):
            return self._struct(kind, source, given, depth)
        if kind.type == "enum_specifier":
            return Scalar("i32")
        return self.read(text_of(kind), given, depth)

    def _struct(
        self, node: Node, source: Text, given: Mapping[str, str], depth: int
    ) -> Struct | None:
        body = node.child_by_field_name("body")
        head = source.source[node.start_byte : body.start_byte if body else node.end_byte]
        if body is None or any(b"virtual" in (c.text or b"") for c in node.named_children):
            return None
        members: list[tuple[str, CType]] = []
        for base in descend(node, {"base_class_clause"}):
            for one in base.named_children:
                if one.type == "access_specifier":
                    continue
                inner = self.read(text_of(one), given, depth)
                if not isinstance(inner, Struct):
                    return None
                members += [(name, kind) for name, _, kind in inner.members]
        for child in body.named_children:
            if child.type != "field_declaration" or "static" in text_of(child).split():
                continue
            if any(c.type == "bitfield_clause" for c in child.named_children):
                return None
            if (fields := self._fields(child, source, given, depth)) is None:
                return None
            members += fields
        aligned = max(map(int, _ALIGNED.findall(head)), default=1)
        made = struct(members, aligned)
        if node.type == "union_specifier":
            size = max((kind.size for _, kind in members), default=1)
            first = tuple((name, 0, kind) for name, kind in members[:1])
            return Struct(first, _rounded(size, made.align), made.align)
        return made

    def _fields(
        self, node: Node, source: Text, given: Mapping[str, str], depth: int
    ) -> list[tuple[str, CType]] | None:
        """The members that a line of a structure declares; None when one is not known."""
        said = node.child_by_field_name("type")
        declarators = node.children_by_field_name("declarator")
        if any(d.type == "function_declarator" for d in declarators) or not declarators:
            return []
        kind = self._of_node(said, source, given, depth)
        const = any(c.type == "type_qualifier" and text_of(c) == "const" for c in node.children)
        found = []
        for declarator in declarators:
            name, made = self.declarator(kind, declarator, given)
            if made is None:
                return None
            if const and isinstance(made, Pointer):
                made = Pointer(made.to, False)
            found.append((name, made))
        return found


_NAMES = {"identifier", "field_identifier", "type_identifier"}
_DECLARATORS = words(
    "pointer_declarator array_declarator init_declarator reference_declarator "
    "abstract_pointer_declarator"
)
_RECORDS = {"struct_specifier", "class_specifier", "union_specifier"}


def _builtin(text: str) -> CType | None:
    if text in SCALARS:
        return Scalar(SCALARS[text])
    if vector := vector_of(text):
        kind, count = vector
        return _vector(Scalar(kind), count)
    if text == "dim3":
        return _vector(Scalar("u32"), 3)
    if text in _SIZES:
        return struct((name, Scalar("u64")) for name in _SIZES[text])
    if text == "cudaPitchedPtr":
        sizes = ((name, Scalar("u64")) for name in ("pitch", "xsize", "ysize"))
        return struct((("ptr", Pointer(None)), *sizes))
    return None


def _declarations(root: Node) -> Iterator[tuple[str, Node]]:
    for node in descend(root, {*_RECORDS, "enum_specifier", "alias_declaration"}):
        name = node.child_by_field_name("name")
        if name is not None and (node.type == "alias_declaration" or _has_body(node)):
            yield text_of(name).partition("<")[0], node
    for node in descend(root, {"type_definition"}):
        for declarator in node.children_by_field_name("declarator"):
            named = declarator
            while (
                named.type in _DECLARATORS
                and (inner := named.child_by_field_name("declarator")) is not None
            ):
                named = inner
            yield text_of(named), declarator


def _compiled(node: Node, macros: Mapping[str, Macro]) -> bool:
    """Whether `#ifdef` and `#ifndef` around a declaration let it be, as far as is known."""
    inner, outer, other = node, node.parent, False
    while outer is not None:
        other = other or inner.type in ("preproc_else", "preproc_elif")
        if outer.type == "preproc_ifdef":
            name = text_of(outer.child_by_field_name("name"))
            guard = any(
                text_of(one.child_by_field_name("name")) == name
                for one in outer.named_children
                if one.type == "preproc_def"
            )
            wanted = text_of(outer.children[0]).strip() == "#ifdef"
            if not guard and ((name in macros) == wanted) == other:
                return False
            other = False
        inner, outer = outer, outer.parent
    return True


def _has_body(node: Node) -> bool:
    return node.child_by_field_name("body") is not None


def _template_parameters(node: Node) -> list[str]:
    parent = node.parent
    if parent is None or parent.type != "template_declaration":
        return []
    listed = parent.child_by_field_name("parameters")
    every = listed.named_children if listed is not None else []
    return [text_of(list(descend(one, _NAMES))[-1]) for one in every if any(descend(one, _NAMES))]
