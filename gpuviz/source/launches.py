"""The launches that host code writes: kernel<<<grid, block, shared>>>(arguments), and what the
template around one is made with, by the calls of it in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from gpuviz.source.constants import Dim3, Formulas, Macro, Scope, Value, given_in, macros
from gpuviz.source.parts import Text, descend, parsed, text_of, words

if TYPE_CHECKING:
    from tree_sitter import Node

_PLACES = ("function_definition", "template_declaration")
_MOST = 2  # ways to make a template that are looked at: each of them is compiled
_USES = 64  # of it that are looked at for these
_TYPES = {"type_parameter_declaration", "optional_type_parameter_declaration"}
_TYPE_NAME = re.compile(r"_|[A-Z]|.*half|.*(?:\d|_t)$")
_SIMPLE = ("int", "unsigned", "float", "double", "half", "char", "bool", "long", "short")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a template: its name, whether it is a type, and what it is if not given."""

    name: str
    is_type: bool
    default: Node | None = None


def _parameters(template: Node) -> list[Parameter]:
    """What a template leaves open."""
    listed = template.child_by_field_name("parameters")
    found = map(_parameter, listed.named_children if listed is not None else ())
    return [one for one in found if one.name]


def _parameter(node: Node) -> Parameter:
    kinds = {"type_identifier"} if node.type in _TYPES else {"identifier"}
    default = node.child_by_field_name("default_value") or node.child_by_field_name("default_type")
    names = [text_of(one) for one in descend(node, kinds) if one != default]
    return Parameter(names[0] if names else "", node.type in _TYPES, default)


def _setting(open_: Sequence[Parameter], given: Sequence[Node], scope: Scope) -> dict[str, str]:
    """What is not known is left out, so that what hangs on it is not known either."""
    made: dict[str, str] = {}
    for number, parameter in enumerate(open_):
        node = given[number] if number < len(given) else parameter.default
        text = _argument(scope, node) if node is not None else None
        if text is None and parameter.is_type:
            text = "float"
        if text is not None:
            made[parameter.name] = text
    return made


def _argument(scope: Scope, node: Node) -> str | None:
    """A template argument as it stands outside of its function: a value, or the name of a type."""
    value = scope.value(node)
    if isinstance(value, int):
        return str(value)
    text = text_of(node)
    words = text.replace("*", " ").replace("const", " ").split()
    is_type = node.type in ("type_descriptor", "type_identifier", "primitive_type")
    named = is_type and all(word in _SIMPLE or _TYPE_NAME.match(word) for word in words)
    return text if named or node.type in ("true", "false") else None


_NOTHING: Mapping[str, str] = {}
_DEFINES = {"preproc_def", "preproc_function_def"}
_SAYING = _DEFINES | words(
    "declaration assignment_expression return_statement parameter_declaration call_expression "
    "kernel_call_syntax template_function"
)


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


def written(texts: Mapping[str, Text], known: Definitions) -> tuple[HostLaunch, ...]:
    """Every launch of a file and its headers, by their names, in order."""
    return tuple(
        launch
        for name, text in texts.items()
        for found in known.launches[text.tree.root_node]
        for setting in known.settings(found.place)
        if (launch := _written(name, found, known, setting)) is not None
    )


def instances(launches: Iterable[HostLaunch]) -> tuple[str, ...]:
    """Template kernels with the arguments that the host code launches them with, each once."""
    return tuple(dict.fromkeys(one.instance for one in launches if one.template and one.instance))


def mentioned(texts: Mapping[str, Text], known: Definitions) -> tuple[str, ...]:
    """Template kernels that a text names with their arguments, wherever it launches them:
    `auto kernel = tile<float, N>`, `cudaFuncSetAttribute(tile<float, 4>, ...)`.
    """
    kernels = {part.kernel for text in texts.values() for part in text.parts if part.kernel}
    made = (
        _instance(found.node, known.at(found, setting), setting)[2]
        for text in texts.values()
        for found in known.templates[text.tree.root_node]
        if text_of(found.node.child_by_field_name("name")) in kernels
        for setting in known.settings(found.place)
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


History = dict[str, list[tuple[int, "Node"]]]  # what is said of a name, each with its first byte


@dataclass(frozen=True, eq=False)
class Place:
    """A function, or what is outside of all (`name` is None), and what is said in it; `templates`
    are those around it, the inmost last.
    """

    name: str | None = None
    templates: tuple[Node, ...] = ()
    values: History = field(default_factory=dict)
    bytes: History = field(default_factory=dict)  # allocated for a name
    copied: dict[str, int] = field(default_factory=dict)  # to a name, from this byte on
    parameters: list[str] = field(default_factory=list)
    returned: list[Node] = field(default_factory=list)

    def within(self, node: Node) -> Place:
        """The place of what is in a function, or a template, of this one."""
        if node.type == "template_declaration":
            return replace(self, templates=(*self.templates, node))
        declarator = next(descend(node, {"function_declarator"}), None)
        name = text_of(declarator.child_by_field_name("declarator")) if declarator else ""
        return Place(name, self.templates)

    def note(self, node: Node) -> None:
        """Keep what a node of the function says."""
        if node.type in ("declaration", "assignment_expression"):
            for name, value in _declared(node):
                self.values.setdefault(name, []).append((node.start_byte, value))
        elif node.type == "return_statement":
            self.returned.append(node)
        elif node.type == "parameter_declaration":
            self.parameters.append(text_of(next(descend(node, {"identifier"}), None)))
        elif node.type == "call_expression":
            self._prepare(node)

    def _prepare(self, call: Node) -> None:
        """Keep what a call allocates, or copies to the device."""
        called = text_of(call.child_by_field_name("function"))
        listed = call.child_by_field_name("arguments")
        inner = listed.named_children if listed is not None else []
        if len(inner) < 2 or not called.startswith(("cudaMalloc", "cudaMemcpy")):
            return
        name = text_of([inner[0], *descend(inner[0], {"identifier"})][-1])
        if called.startswith("cudaMalloc"):
            self.bytes.setdefault(name, []).append((call.start_byte, inner[1]))
        elif "HostToDevice" in text_of(listed):
            self.copied.setdefault(name, call.start_byte)

    @property
    def inlined(self) -> Macro:
        """What a call of the function stands for: the expression that it returns, if only one."""
        inner = self.returned[0].named_children if len(self.returned) == 1 else ()
        return Macro(tuple(self.parameters), text_of(inner[0]) if inner else "")


class Found(NamedTuple):
    """A node, and where it stands."""

    node: Node
    place: Place


def _last(said: History, name: str, before: int) -> Node | None:
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
                    place.note(node)
                elif node.type == "declaration":
                    made.names.update(_declared(node))
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
            open_ = [one for template in place.templates for one in _parameters(template)]
            values = [one.name for one in open_ if not one.is_type]
            found: dict[tuple[str | None, ...], dict[str, str]] = {}
            for use in islice(self._uses.get(place.name or "", ()), _USES if open_ else 0):
                listed = given_in(use.node.child_by_field_name("arguments"))
                made = _setting(open_, listed, self.at(use))
                found.setdefault(tuple(map(made.get, values)), made)
            ways = list(found.values())[:_MOST]
            self._settings[place] = ways or [_setting(open_, (), Scope())]
        return self._settings[place]

    def at(self, found: Found, setting: Mapping[str, str] = _NOTHING) -> Scope:
        """What names stand for where something stands, in a template that is made so."""
        made = {name: parsed(text) for name, text in setting.items()}
        place, before = found.place, found.node.start_byte

        def named(name: str) -> Node | None:
            return _last(place.values, name, before) or made.get(name) or self.names.get(name)

        return replace(self.scope, named=named)


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


def _declared(node: Node) -> Iterator[tuple[str, Node]]:
    """The names that a declaration, or an assignment, gives a value."""
    if node.type == "assignment_expression":
        left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type == "identifier" and value is not None:
            yield text_of(left), value
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


def _written(
    file: str, found: Found, known: Definitions, setting: Mapping[str, str]
) -> HostLaunch | None:
    call = found.node
    named = next((c for c in call.children if c.is_named and c.type != "kernel_call_syntax"), None)
    if named is None:
        return None
    (syntax,) = (c for c in call.children if c.type == "kernel_call_syntax")
    scope = known.at(found, setting)
    meant = scope.named(text_of(named))  # `auto kernel = tile<4>; kernel<<<...>>>(...)`
    if meant is not None and meant.type == "template_function":
        named = meant
    shape = given_in(syntax)
    given = given_in(next((c for c in call.children if c.type == "argument_list"), None))
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
        *_prepared(found, given, formulas),
    )


def _prepared(
    found: Found, given: Sequence[Node], formulas: Formulas
) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """By the calls before the launch, how many bytes each argument points to ("" if unknown), and
    whether the host copies something there.
    """
    place, before = found.place, found.node.start_byte
    texts = [text_of(node) for node in given]
    sizes = (_last(place.bytes, one, before) for one in texts)
    return (
        tuple("" if size is None else formulas.number(size) for size in sizes),
        tuple(place.copied.get(one, before) < before for one in texts),
    )


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
    return " ".join(text_of(scope.named(text_of(node)) or node).split()).removeprefix("dim3")


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
        setting.get(text_of(node)) or _argument(scope, node)
        for node in listed.named_children
        if node.type != "comment"
    ]
    said = text_of(listed)[1:-1].strip()
    known = [one for one in made if one is not None]
    return name.strip(), said, f"{name}<{', '.join(known)}>" if len(known) == len(made) else None
