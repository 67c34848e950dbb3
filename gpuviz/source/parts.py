"""What a CUDA text is made of at its top level, and which of it is device code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

Kind = Literal["device", "plain", "host"]

_MARKS = ("__global__", "__device__", "__constant__", "__managed__", "__shared__")


def words(text: str) -> frozenset[str]:
    """The words of a text: kinds of nodes, names."""
    return frozenset(text.split())


_CONTAINERS = words(
    "translation_unit namespace_definition declaration_list linkage_specification preproc_if "
    "preproc_ifdef preproc_else preproc_elif preproc_elifdef"
)
_TYPES = words(
    "struct_specifier class_specifier union_specifier enum_specifier type_definition "
    "alias_declaration using_declaration static_assert_declaration concept_definition "
    "namespace_alias_definition friend_declaration"
)
_OF_CONTAINERS = words(
    "identifier namespace_identifier nested_namespace_specifier binary_expression "
    "unary_expression number_literal call_expression parenthesized_expression"
)
_BODIES = {"compound_statement", "field_declaration_list", "field_initializer_list"}
_NO_PARTS = ("preproc", "comment", "string")
_LASTING = re.compile(r"\b(?:const|constexpr|constinit|extern|enum|texture|surface)\b")
# A macro called at the left margin, alone on its lines: to the grammar half a declaration.
_CALL = re.compile(rb"^([A-Z][A-Z0-9_]{3,})[ \t]*\([^;{}#]{0,4000}?\)[ \t]*;?[ \t]*$", re.MULTILINE)
# A macro alone on a line where a member or a statement may begin, without a semicolon.
_WORD = re.compile(rb"(?<=[{};\\]\n)[ \t]+[A-Z][A-Z0-9_]{3,}[ \t]*$", re.MULTILINE)
# Between what a lambda captures and what it takes; the grammar loses those that capture nothing.
_OF_A_LAMBDA = re.compile(rb"(?<=\])\s*(?:__(?:device|host)__\s*)+(?=[({])")
_OF_A_FREE_ONE = re.compile(rb"(?<=\[\])\s*(?:__(?:device|host)__\s*)+(?=[({])")
# Braces, as they open a function or what holds functions, and what holds braces that are none.
_BRACES = re.compile(
    rb'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|(?:\bnamespace\b[\w\s:]*|\bextern\s*"C"\s*)(\{)'
    rb"|'(?:\\.|[^'\\\n])*'|[{}]",
    re.DOTALL,
)
# What the grammar does not know: between `struct` and its name, and around a kernel's type.
_ATTRIBUTE = re.compile(
    rb"\b(?:__align__|__builtin_align__|alignas)\s*\([^()\n]*\)"
    rb"|\b__(?:launch_bounds|cluster_dims|block_size|maxnreg)__\s*"
    rb"\((?:[^();{}]|\((?:[^();{}]|\([^();{}]*\))*\))*\)"
)
_WHOLE = re.compile(r"(?:(?:unsigned|signed|long|short|int|size_t|u?int\d+_t|uint|auto)\s*)+")
_NUMBERS = 3  # parameters that are numbers; more of them are sizes that have to fit each other
_CONDITION = re.compile(rb"[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b")
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\.|\\\r?\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """A piece of a text that is kept or left out as a whole: bytes from `start` to `end`.

    `kind` says whether it is marked as device code, host code, or neither (types, constants).
    `names` are what it declares; `inner` are functions within a type, which can go without it;
    `made_of` says what a template kernel may be made of where nothing else does: an argument for
    each parameter without a default (None for other kernels, and where there is no saying);
    `scope` is the namespace of a kernel, `a::b`.
    """

    kind: Kind
    start: int
    end: int
    first: int  # lines, from 1
    last: int
    names: tuple[str, ...]
    kernel: str = ""
    made_of: tuple[str, ...] | None = None
    scope: str = ""
    inner: tuple[Part, ...] = ()

    def holds(self, line: int) -> bool:
        """Whether a line, counted from 1, is one of its own."""
        return self.first <= line <= self.last


@dataclass(frozen=True)
class Include:
    """A directive: bytes of the name with its quotes, the line, and what it names."""

    start: int
    end: int
    line: int
    name: str
    quoted: bool


@dataclass(frozen=True)
class Text:
    """A CUDA text in parts, in order; directives and comments between them are no parts."""

    source: bytes
    parts: tuple[Part, ...]
    includes: tuple[Include, ...]
    tree: Tree
    rewritten: tuple[tuple[int, int, bytes], ...] = ()  # bytes, and what stands for them

    def without(
        self,
        left_out: Iterable[Part],
        names: dict[str, str | None],
        kept: Iterable[tuple[int, int, bytes]] = (),
    ) -> str:
        """The text with parts blanked, and includes renamed (None: blanked); all lines stay.

        `kept` are bytes within parts that others stand for where those are blanked.
        """
        held = list(kept)
        edits = [(part.start, part.end, self._blanked(part, held)) for part in left_out]
        edits += self.rewritten
        for include in self.includes:
            if include.name in names:
                edits.append(_renamed(self.source, include, names[include.name]))
        made, at = [], 0
        for start, end, new in sorted(edits):
            if start < at:
                continue  # within a part that is gone
            made += [self.source[at:start], new or _blank(self.source[start:end])]
            at = end
        made.append(self.source[at:])
        return b"".join(made).decode("utf-8", "replace")

    def _blanked(self, part: Part, kept: Iterable[tuple[int, int, bytes]]) -> bytes:
        made, at = [], part.start
        for start, end, new in kept:
            if at <= start and end <= part.end:
                made += [_blank(self.source[at:start]), new]
                at = end
        return b"".join((*made, _blank(self.source[at : part.end])))


def read(source: str) -> Text:
    """A CUDA text in parts."""
    raw = source.encode()
    marks = frozenset((*_MARKS, *_marking(raw)))
    inside = _Inside(raw)
    calls = tuple(_macro_calls(raw, marks, inside))

    def blanked(call: re.Match[bytes]) -> bytes:
        return call[0] if inside(call.start()) else _spaces(call)

    plain = raw
    for noise in (_ATTRIBUTE, _WORD, _OF_A_FREE_ONE):
        plain = noise.sub(_spaces, plain)
    tree = _parser().parse(_CALL.sub(blanked, plain))
    parts = (*calls, *_parts(tree.root_node, marks))
    includes = tuple(_includes(tree.root_node))
    return Text(raw, parts, includes, tree, tuple(_rewritten(tree.root_node, raw)))


def _rewritten(root: Node, raw: bytes) -> Iterator[tuple[int, int, bytes]]:
    """What is written otherwise to compile: structures made as C does it, `(struct S){1, 2}`, up to
    the brace; launches, as they are the host's, or not run with the kernel that makes them; marks
    of lambdas, which NVRTC takes for device code anyway.
    """
    for mark in _OF_A_LAMBDA.finditer(raw):
        yield *mark.span(), b""
    for node in descend(root, {"compound_literal_expression", "kernel_call_syntax"}):
        call = node.parent
        if node.type == "kernel_call_syntax":
            if call is not None and call.type == "call_expression":
                yield call.start_byte, call.end_byte, b"void(0" + _blank(call.text or b"") + b")"
            continue
        kind, value = (node.child_by_field_name(name) for name in ("type", "value"))
        if kind is not None and value is not None and (node.text or b"").startswith(b"("):
            name = text_of(kind).removeprefix("struct ").encode()
            yield node.start_byte, value.start_byte, name


def _spaces(found: re.Match[bytes]) -> bytes:
    return bytes(letter if letter in b"\r\n" else 32 for letter in found[0])


class _Inside:
    """Whether a byte of a text is in braces that are no namespace's."""

    def __init__(self, raw: bytes) -> None:
        """Read the braces of a text."""
        self._at, self._inside = [0], [False]
        open_: list[bool] = []
        for match in _BRACES.finditer(raw) if _CALL.search(raw) else ():
            if match[0] == b"{" or match[1]:
                open_.append(not match[1])
            elif match[0] == b"}" and open_:
                open_.pop()
            else:
                continue
            self._at.append(match.start())
            self._inside.append(any(open_))

    def __call__(self, byte: int) -> bool:
        """By its number."""
        return self._inside[bisect_right(self._at, byte) - 1]


def _macro_calls(raw: bytes, marks: frozenset[str], inside: _Inside) -> Iterator[Part]:
    """Macros called outside of functions, such as those that make a kernel for each type."""
    last, at = 1, 0
    for call in _CALL.finditer(raw):
        if inside(call.start()):
            continue
        first = last + raw.count(b"\n", at, call.start())
        last, at = first + call[0].count(b"\n"), call.end()
        kind: Kind = "device" if call[1].decode() in marks else "host"
        yield Part(kind, call.start(), call.end(), first, last, ())


@cache
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


@lru_cache(4096)
def parsed(expression: str) -> Node | None:
    """The tree of an expression; None when it is none."""
    root = _parser().parse(f"auto x = {expression};".encode()).root_node
    found = next(descend(root, {"init_declarator"}), None)
    return found.child_by_field_name("value") if found is not None else None


def text_of(node: Node | None) -> str:
    """The text of a node, "" for none."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def descend(node: Node, kinds: frozenset[str] | set[str]) -> Iterator[Node]:
    """Nodes of some kinds below a node, in the order of the text."""
    below = list(reversed(node.children))
    while below:
        node = below.pop()
        if node.type in kinds:
            yield node
        below += reversed(node.children)


def _marking(raw: bytes) -> Iterator[str]:
    """Names of macros that stand for `__device__` and its like, or for a whole kernel."""
    found: set[str] = set(_MARKS)
    for name, body in _MACRO.findall(raw):
        if found & set(re.findall(r"\w+", body.decode("utf-8", "replace"))):
            found.add(name.decode())
            yield name.decode()


def _parts(node: Node, marks: frozenset[str]) -> Iterator[Part]:
    for child in node.children:
        if child.type in _CONTAINERS and not _one_of_c(child):
            yield from _parts(child, marks)
        elif _is_a_part(child):
            yield _part(child, marks)


def _one_of_c(node: Node) -> bool:
    """`extern "C"` before one declaration, which is a part together with it."""
    body = node.child_by_field_name("body")
    return node.type == "linkage_specification" and (
        body is None or body.type != "declaration_list"
    )


def _is_a_part(node: Node) -> bool:
    """Whether it is more than a comment, a lone semicolon, a name or condition of a container."""
    if node.type == "preproc_call" and text_of(node).lstrip("# \t").startswith("error"):
        return True
    if not node.is_named or node.type.startswith(_NO_PARTS) or (node.text or b"").strip() == b";":
        return False
    return node.type not in _OF_CONTAINERS


def _part(node: Node, marks: frozenset[str]) -> Part:
    words = _head(node)
    kind = _kind(node, frozenset(re.findall(r"\w+", words)) & marks, words)
    kernel = _declared(node) if kind == "device" and _is_kernel(node, words) else ""
    inner = tuple(_inner(node)) if kind != "host" else ()
    place = node.start_byte, node.end_byte, node.start_point[0] + 1, node.end_point[0] + 1
    names = tuple(dict.fromkeys(_names(node)))
    made_of = _made_of(node) if kernel else None
    scope = scope_of(node) if kernel else ""
    return Part(kind, *place, names, kernel, made_of, scope, inner)


def scope_of(node: Node) -> str:
    """The namespaces around a node; those without a name need none."""
    names: list[str] = []
    around = node.parent
    while around is not None:
        if around.type == "namespace_definition":
            names.insert(0, text_of(around.child_by_field_name("name")))
        around = around.parent
    return "::".join(filter(None, names))


def _head(node: Node) -> str:
    """The text of a declaration without its bodies."""
    if node.type == "ERROR":
        return text_of(node)
    made, at = [], node.start_byte
    text = node.text or b""
    for body in descend(node, _BODIES):
        if body.start_byte >= at:
            made.append(text[at - node.start_byte : body.start_byte - node.start_byte])
            at = body.end_byte
    made.append(text[max(at - node.start_byte, 0) :])
    return b" ".join(made).decode("utf-8", "replace")


def _kind(node: Node, marked: frozenset[str], words: str) -> Kind:
    if marked:
        return "device"
    if node.type == "preproc_call":
        return "plain"
    inner = _innermost(node)
    if inner.type in _TYPES or _defines_a_type(inner):
        return "plain"
    if inner.type == "declaration" and not any(descend(inner, {"function_declarator"})):
        return "plain" if _LASTING.search(words) else "host"
    if inner.type == "function_definition" and re.search(r"\bconstexpr\b", words):
        return "plain"
    return "host"


def _innermost(node: Node) -> Node:
    """What a template, or a linkage, declares."""
    while node.type in ("template_declaration", "linkage_specification") and node.named_children:
        node = node.named_children[-1]
    return node


def _defines_a_type(node: Node) -> bool:
    kind = node.child_by_field_name("type")
    return (
        node.type == "declaration"
        and kind is not None
        and kind.child_by_field_name("body") is not None
    )


def _is_kernel(node: Node, words: str) -> bool:
    inner = _innermost(node)
    return inner.type == "function_definition" and "__global__" in words


def _made_of(node: Node) -> tuple[str, ...] | None:
    """An argument for each parameter without a default: `float`, `32`, `true`."""
    listed = node.child_by_field_name("parameters") if node.type == "template_declaration" else None
    given = [one for one in listed.named_children if one.type != "comment"] if listed else []
    types = set(map(text_of, descend(node, {"type_identifier"})))
    guessed = [_argument(one, types) for one in given if not one.type.startswith("optional")]
    known = tuple(one for one in guessed if one)
    plain = len(known) == len(guessed) and known.count("32") <= _NUMBERS
    return known if listed is not None and plain else None


def _argument(parameter: Node, types: Collection[str]) -> str:
    """What a parameter of a template may be given; "" where there is no saying. One by a concept
    looks like a value, and is among the names of `types`.
    """
    kind = text_of(parameter.child_by_field_name("type"))
    whole = bool(_WHOLE.fullmatch(kind)) and parameter.type == "parameter_declaration"
    if parameter.type == "type_parameter_declaration" or (
        not whole and text_of(parameter.child_by_field_name("declarator")) in types
    ):
        return "float"
    return "true" if kind == "bool" else "32" if whole else ""


def _declared(node: Node) -> str:
    """The name of the function that a node declares, without its scope; "" when unknown."""
    for declarator in descend(node, {"function_declarator"}):
        name = text_of(declarator.child_by_field_name("declarator"))
        plain = name.rpartition("::")[2]
        return plain if plain.startswith("operator") else plain.partition("<")[0].strip("*& ")
    return ""


def _names(node: Node) -> Iterator[str]:
    inner = _innermost(node)
    if inner.type == "function_definition":
        yield _declared(inner)
        return
    kinds = {"type_identifier", "identifier", "field_identifier"}
    yield from (text_of(found) for found in descend(inner, kinds))


def _inner(node: Node) -> Iterator[Part]:
    for body in descend(node, {"field_declaration_list"}):
        for child in body.children:
            member = _innermost(child)
            if member.type == "function_definition":
                first, last = child.start_point[0] + 1, child.end_point[0] + 1
                names = (_declared(member),)
                yield Part("host", child.start_byte, child.end_byte, first, last, names)


def _includes(root: Node) -> Iterator[Include]:
    for node in descend(root, {"preproc_include"}):
        path = node.child_by_field_name("path")
        if path is not None and path.type in ("string_literal", "system_lib_string"):
            name, quoted = text_of(path)[1:-1], path.type == "string_literal"
            yield Include(path.start_byte, path.end_byte, node.start_point[0] + 1, name, quoted)


def _renamed(source: bytes, include: Include, name: str | None) -> tuple[int, int, bytes]:
    if name is not None:
        return include.start, include.end, f'"{name}"'.encode()
    start = source.rfind(b"\n", 0, include.start) + 1
    return start, include.end, b""


def _blank(text: bytes) -> bytes:
    """As many lines; conditions stay, for their other half may lie outside."""
    kept = (line if _CONDITION.match(line) else b"" for line in text.split(b"\n"))
    return b"\n".join(kept) or b" "
