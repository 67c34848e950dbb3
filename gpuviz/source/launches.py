"""The launches that host code writes: kernel<<<grid, block, shared>>>(arguments), and what the
template around one is made with, by the calls of it in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuviz.source.constants import Dim3, Formulas, Scope, Value, macros
from gpuviz.source.parts import Text, descend, parsed, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST = 2  # ways to make a template that are looked at: each of them is compiled
_TYPES = {"type_parameter_declaration", "optional_type_parameter_declaration"}
_TYPE_NAME = re.compile(r"_|[A-Z]|.*half|.*(?:\d|_t)$")
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
    is_type = node.type in ("type_descriptor", "type_identifier", "primitive_type")
    named = is_type and all(word in _SIMPLE or _TYPE_NAME.match(word) for word in words)
    return text if named or node.type in ("true", "false") else None


if TYPE_CHECKING:
    from tree_sitter import Node

_NOTHING: Mapping[str, str] = {}
_DEFINES = {"preproc_def", "preproc_function_def"}


@dataclass(frozen=True)
class HostLaunch:
    """A launch as the text writes it; what the text alone does not say is None.

    `kernel` is without its template arguments, `template` those as written ("" without any) and
    `instance` the kernel with their values. `texts` are grid, block, bytes of shared memory and
    arguments as written, `values` what arguments come to; `offsets` the elements that are added to
    those that are pointers, `d_in + RADIUS`. `formulas` are grid and block where only arguments
    that are plain names are not known, "" else; `bytes` what the host allocates for arguments,
    `copied` whether it copies something there.
    """

    file: str
    line: int
    kernel: str
    template: str
    instance: str | None
    grid: Dim3 | None
    block: Dim3 | None
    shared: int | None
    texts: tuple[str, str, str]
    arguments: tuple[str, ...]
    values: tuple[Value | None, ...]
    offsets: tuple[int, ...] = ()
    formulas: tuple[str, str] = ("", "")
    bytes: tuple[str, ...] = ()
    copied: tuple[bool, ...] = ()

    @property
    def sizes(self) -> tuple[bool, bool]:
        """Whether the text says grid and block, as numbers or as formulas of arguments."""
        grid, block = (
            bool(known or formula)
            for known, formula in zip((self.grid, self.block), self.formulas, strict=True)
        )
        return grid, block


def written(texts: Mapping[str, Text]) -> tuple[HostLaunch, ...]:
    """Every launch of a file and its headers, by their names, in order."""
    known = Definitions.of([text.tree.root_node for text in reversed(list(texts.values()))])
    return tuple(
        launch
        for name, text in texts.items()
        for call in descend(text.tree.root_node, {"kernel_call_syntax"})
        for setting in known.settings(call)
        if (launch := _written(name, call, known, setting)) is not None
    )


def instances(launches: Iterable[HostLaunch]) -> tuple[str, ...]:
    """Template kernels with the arguments that the host code launches them with, each once."""
    return tuple(dict.fromkeys(one.instance for one in launches if one.template and one.instance))


def mentioned(texts: Mapping[str, Text]) -> tuple[str, ...]:
    """Template kernels that a text names with their arguments, wherever it launches them:
    `auto kernel = tile<float, N>`, `cudaFuncSetAttribute(tile<float, 4>, ...)`.
    """
    kernels = {part.kernel for text in texts.values() for part in text.parts if part.kernel}
    found = [
        node
        for text in texts.values()
        for node in descend(text.tree.root_node, {"template_function"})
        if text_of(node.child_by_field_name("name")) in kernels
    ]
    known = Definitions.of([text.tree.root_node for text in reversed(list(texts.values()))])
    made = (
        _instance(node, known.at(node, setting), setting)[2]
        for node in found
        for setting in known.settings(node)
    )
    return tuple(dict.fromkeys(one for one in made if one))


def guessed(texts: Iterable[Text], made: Iterable[str]) -> tuple[str, ...]:
    """Template kernels that are not among those `made`, of floats and of 32."""
    named = {name.partition("<")[0].rpartition("::")[2] for name in made}
    found = (
        f"{part.kernel}<{', '.join(part.made_of)}>"
        for text in texts
        for part in text.parts
        if part.kernel and part.made_of is not None and part.kernel not in named
    )
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Definitions:
    """What is known all over a file, whose texts are `roots`."""

    names: dict[str, Node]
    scope: Scope
    roots: tuple[Node, ...] = ()

    @classmethod
    def of(cls, roots: Sequence[Node]) -> Definitions:
        """What texts say; of two of one name the last one."""
        found = dict(macros(node for root in roots for node in descend(root, _DEFINES)))
        functions: dict[str, Node] = {}
        names: dict[str, Node] = {}
        for root in roots:
            for node in descend(root, {"function_definition"}):
                declarator = next(descend(node, {"function_declarator"}), None)
                if declarator is not None:
                    functions[text_of(declarator.child_by_field_name("declarator"))] = node
            outer = (n for n in descend(root, {"declaration"}) if _function(n) is None)
            names.update(_declared(outer))
        return cls(names, Scope({}, found, functions), tuple(roots))

    def settings(self, place: Node) -> list[dict[str, str]]:
        """How the template around a launch is made; one without names where there is none."""
        function = _function(place)
        declarator = next(descend(function, {"function_declarator"}), None) if function else None
        name = text_of(declarator.child_by_field_name("declarator")) if declarator else ""
        return settings(self.roots, name, parameters(place), self.at)

    def at(self, place: Node, setting: Mapping[str, str] = _NOTHING) -> Scope:
        """What names stand for where a launch is written, in a template that is made so."""
        given = {name: parsed(text) for name, text in setting.items()}
        names = self.names | {name: node for name, node in given.items() if node is not None}
        function = _function(place)
        if function is not None:
            for node in descend(function, {"declaration", "assignment_expression"}):
                if node.start_byte < place.start_byte:
                    names.update(_declared([node]))
        return Scope(names, self.scope.macros, self.scope.functions)


def _function(node: Node | None) -> Node | None:
    while node is not None and node.type != "function_definition":
        node = node.parent
    return node


def _declared(nodes: Iterable[Node]) -> Iterator[tuple[str, Node]]:
    for node in nodes:
        if node.type == "assignment_expression":
            left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and left.type == "identifier" and value is not None:
                yield text_of(left), value
            continue
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


def _written(
    file: str, syntax: Node, known: Definitions, setting: Mapping[str, str]
) -> HostLaunch | None:
    call = syntax.parent
    if call is None or call.type != "call_expression":
        return None
    named = next((c for c in call.children if c.is_named and c.type != "kernel_call_syntax"), None)
    listed = next((c for c in call.children if c.type == "argument_list"), None)
    if named is None:
        return None
    scope = known.at(syntax, setting)
    meant = scope.names.get(text_of(named))  # `auto kernel = tile<4>; kernel<<<...>>>(...)`
    if meant is not None and meant.type == "template_function":
        named = meant
    shape = [child for child in syntax.named_children if child.type != "comment"]
    given = [c for c in listed.named_children if c.type != "comment"] if listed else []
    texts = [_said(scope, node) for node in shape[:3]]
    shared = scope.value(shape[2]) if len(shape) > 2 else 0
    name, template, instance = _instance(named, scope, setting)
    free = {text_of(one) for one in given if one.type == "identifier" and scope.value(one) is None}
    formulas = Formulas(scope, free)
    return HostLaunch(
        file,
        syntax.start_point[0] + 1,
        name,
        template,
        instance,
        _dims(scope, shape, 0),
        _dims(scope, shape, 1),
        int(shared) if isinstance(shared, int | float) else None,
        (texts[0] if texts else "", texts[1] if texts[1:] else "", texts[2] if texts[2:] else ""),
        tuple(map(text_of, given)),
        tuple(map(scope.value, given)),
        tuple(_offset(scope, node) for node in given),
        (
            formulas.dimensions(shape[0]) if shape else "",
            formulas.dimensions(shape[1]) if shape[1:] else "",
        ),
        *_prepared(syntax, given, formulas),
    )


def _prepared(
    syntax: Node, given: Sequence[Node], formulas: Formulas
) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """By the calls before the launch, how many bytes each argument points to ("" if unknown), and
    whether the host copies something there.
    """
    sizes: dict[str, str] = {}
    copied: set[str] = set()
    function = _function(syntax)
    for call in descend(function, {"call_expression"}) if function is not None else ():
        listed = call.child_by_field_name("arguments")
        called = text_of(call.child_by_field_name("function"))
        if call.start_byte >= syntax.start_byte or listed is None or len(listed.named_children) < 2:
            continue
        first, second, *_ = listed.named_children
        names = [text_of(one) for one in (first, *descend(first, {"identifier"}))]
        if called.startswith("cudaMalloc"):
            sizes[names[-1]] = formulas.number(second)
        elif called.startswith("cudaMemcpy") and "HostToDevice" in text_of(listed):
            copied.add(names[-1])
    texts = [text_of(node) for node in given]
    return tuple(sizes.get(one, "") for one in texts), tuple(one in copied for one in texts)


def _offset(scope: Scope, node: Node) -> int:
    """What is added to a pointer: `d_in + 3`, `&d_in[3]`; 0 for anything else."""
    added: Node | None = None
    if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) == "+":
        added = node.child_by_field_name("right")
    elif node.type == "pointer_expression" and text_of(node).startswith("&"):
        listed = next(descend(node, {"subscript_argument_list"}), None)
        added = listed.named_children[0] if listed is not None and listed.named_children else None
    value = scope.value(added) if scope.value(node) is None else None
    return value if isinstance(value, int) and value > 0 else 0


def _said(scope: Scope, node: Node) -> str:
    """An expression as written; of a name, what it was given."""
    return " ".join(text_of(scope.names.get(text_of(node), node)).split()).removeprefix("dim3")


def _dims(scope: Scope, shape: Sequence[Node], which: int) -> Dim3 | None:
    found = scope.value(shape[which]) if len(shape) > which else None
    dims = found if isinstance(found, tuple) else (int(found), 1, 1) if found is not None else None
    return dims if dims is not None and min(dims) > 0 else None


def _instance(named: Node, scope: Scope, setting: Mapping[str, str]) -> tuple[str, str, str | None]:
    """A kernel's name, its template arguments as written, and itself with their values; `setting`
    are those of the template around it.
    """
    whole = text_of(named)
    name, _, rest = whole.partition("<")
    listed = next(descend(named, {"template_argument_list"}), None)
    if named.type == "template_function":
        listed = named.child_by_field_name("arguments")
    if listed is None or not rest:
        return name.strip(), "", name.strip()
    made = [
        setting.get(text_of(node)) or argument(scope, node)
        for node in listed.named_children
        if node.type != "comment"
    ]
    said = text_of(listed)[1:-1].strip()
    known = [one for one in made if one is not None]
    return name.strip(), said, f"{name}<{', '.join(known)}>" if len(known) == len(made) else None
