"""The launches that host code writes: kernel<<<grid, block, shared>>>(arguments), and what the
template around one is made with, by the calls of it in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from gpuviz.source.constants import Dim3, Scope, Value, given_in
from gpuviz.source.deduction import deduced, type_of
from gpuviz.source.definitions import Definitions, Found, template_argument
from gpuviz.source.host_images import HostImage
from gpuviz.source.host_run import HostRun
from gpuviz.source.host_values import DeviceBuffer, DevicePointer, Formula, Held, HostArray, Record
from gpuviz.source.kernel_names import split_at_commas
from gpuviz.source.parts import Text, descend, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class HostLaunch:
    """A launch as the text writes it; what the text alone does not say is None.

    `kernel` is without its template arguments, `template` those as written ("" without any) and
    `instance` the kernel with their values. `texts` are grid, block, bytes of shared memory and
    arguments as written, `values` what arguments come to; `offsets` the elements that are added to
    those that are pointers, `d_in + RADIUS`. `formulas` are grid and block where they follow from
    arguments that are not known, by the `names` that these have there, "" else; `bytes` what the
    host allocates for arguments, `copied` whether it copies something there, `contents` what that
    is, `fields` what is known of those that are structures, by the names of their fields; `symbols`
    is what `__constant__` and `__device__` variables hold, and fields of these. These three are as
    arguments are written.
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
    names: tuple[str, ...] = ()
    bytes: tuple[str, ...] = ()
    images: tuple[str, ...] = ()  # textures and surfaces, as their descriptors say
    copied: tuple[bool, ...] = ()
    contents: tuple[str, ...] = ()
    fields: tuple[Mapping[str, str], ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)
    called: str = ""  # the instance, or the kernel, with enumerators as numbers
    types: tuple[str, ...] = ()  # what arguments point to, "" where that is not said

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
    ran = HostRun.of(known, list(texts.values()))
    return tuple(
        launch
        for name, text in texts.items()
        for found in known.launches[text.tree.root_node]
        for setting in known.settings(found.place)
        if (launch := _written(name, found, known, setting, ran)) is not None
    )


def instances(launches: Iterable[HostLaunch]) -> tuple[str, ...]:
    """Template kernels with the arguments that the host code launches them with, each once."""
    named = (one.instance for one in launches if one.instance and "<" in one.instance)
    return tuple(dict.fromkeys(named))


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


def _written(
    file: str, found: Found, known: Definitions, setting: Mapping[str, str], ran: HostRun
) -> HostLaunch | None:
    call = found.node
    named = next((c for c in call.children if c.is_named and c.type != "kernel_call_syntax"), None)
    if named is None:
        return None
    (syntax,) = (c for c in call.children if c.type == "kernel_call_syntax")
    scope, reached = known.at(found, setting), ran.reached(call, setting)
    meant = scope.named(text_of(named))  # `auto kernel = tile<4>; kernel<<<...>>>(...)`
    if meant is not None and meant.type == "template_function":
        named = meant
    named = reached.kernel or named
    shape = given_in(syntax)
    given = given_in(next((c for c in call.children if c.type == "argument_list"), None))
    texts = [_said(scope, node) for node in shape[:3]]
    shared = reached.shape[2] if len(reached.shape) > 2 else None
    shared = (scope.value(shape[2]) if shape[2:] else 0) if shared is None else shared
    name, template, instance = _instance(named, scope, setting)
    called = _instance(named, known.counting(scope), setting)[2]
    instance, called = (_completed(one, given, known, setting) for one in (instance, called))
    names = {
        one.text: one.text if one.text.isidentifier() else f"argument_{number}"
        for number, one in enumerate(reached.arguments)
        if isinstance(one, Formula)
    }
    grid, block = (
        _sizes(reached.shape[n] if len(reached.shape) > n else None) or _dims(scope, shape, n)
        for n in (0, 1)
    )
    return HostLaunch(
        file,
        syntax.start_point[0] + 1,
        name,
        template,
        instance,
        grid,
        block,
        int(shared) if isinstance(shared, int | float) else None,
        (texts[0] if texts else "", texts[1] if texts[1:] else "", texts[2] if texts[2:] else ""),
        tuple(map(text_of, given)),
        formulas=(_formula(reached.shape[:1], names), _formula(reached.shape[1:2], names)),
        names=tuple(
            names[one.text] if isinstance(one, Formula) else "" for one in reached.arguments
        ),
        called=called or name,
        types=tuple(
            ran.types_of_names.get(text_of(one), "") or _pointee(type_of(one, setting))
            for one in given
        ),
        symbols=dict(_fields(Record(ran.symbols), "")),
        **_prepared(scope, given, reached.arguments, names),
    )


def _pointee(type_: str) -> str:
    """What a pointer of a type points to; "" of other types, which convert into each other."""
    return type_.rstrip("*").replace("const", "").strip() if type_.endswith("*") else ""


def _completed(
    instance: str | None, given: Sequence[Node], known: Definitions, setting: Mapping[str, str]
) -> str | None:
    """A template kernel with the arguments that follow from those of its call; as it is where they
    do not, or it is none.
    """
    name, _, rest = (instance or "").partition("<")
    listed = split_at_commas(rest.rpartition(">")[0])
    for place in known.functions.get(name.rpartition("::")[2], ()):
        if place.templates and place.node is not None and "__global__" in text_of(place.node):
            types = (known.qualified(type_of(one, setting)) for one in given)
            if made := deduced(place.templates[-1], [one.strip() for one in listed], types):
                return f"{name}<{', '.join(made)}>"
    return instance


def _prepared(
    scope: Scope, given: Sequence[Node], held: Sequence[Held], names: Mapping[str, str]
) -> dict[str, Any]:
    """What is known of each argument: by what it `held` when the launch was come to, else by the
    text before it.
    """
    made: dict[str, list[Any]] = {name: [] for name in _OF_EACH}
    for node, one in zip_longest(given, held[: len(given)]):
        known = one if isinstance(one, DevicePointer) else DevicePointer(DeviceBuffer(None))
        made["values"].append(one if isinstance(one, int | float) else scope.value(node))
        made["offsets"].append(known.offset)
        size = known.to.bytes
        made["bytes"].append(str(size) if isinstance(size, int) else _formula([size], names))
        made["images"].append(one.text if isinstance(one, HostImage) else "")
        made["copied"].append(known.to.copied)
        made["contents"].append(_text(known.to.content))
        made["fields"].append(dict(_fields(one, "")) if isinstance(one, Record) else {})
    return {name: tuple(values) for name, values in made.items()}


def _formula(shape: Sequence[Held], names: Mapping[str, str]) -> str:
    """A grid, or a block, as a formula of arguments; "" where it is none."""
    held = shape[0] if shape else None
    sizes = [*held] if isinstance(held, tuple) else [held]
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    text = ", ".join(map(_text, sizes))
    for known in sorted(names, key=len, reverse=True):
        text = text.replace(known, names[known]) if names[known] != known else text
    free = set(_WORD.findall(text)) - {"ceil", "floor", "min", "max"}
    return text if None not in sizes and free and free <= set(names.values()) else ""


_WORD = re.compile(r"[A-Za-z_]\w*")
_OF_EACH = ("values", "offsets", "bytes", "images", "copied", "contents", "fields")


def _fields(held: Record, path: str) -> Iterator[tuple[str, str]]:
    """What is known of the fields of a structure: numbers, and of pointers `bytes:4096`."""
    for name, one in held.items():
        if isinstance(one, Record):
            yield from _fields(one, f"{path}{name}.")
        elif isinstance(one, DevicePointer) and isinstance(one.to.bytes, int):
            yield f"{path}{name}", f"bytes:{one.to.bytes}"
        elif text := _text(one):
            yield f"{path}{name}", text


def _text(held: Held) -> str:
    """A value as arguments are written; "" where it is not known, or cannot be written so."""
    if isinstance(held, HostArray):
        return held.fill
    if isinstance(held, Formula):
        return held.bare
    if isinstance(held, int | float):
        return f"{held:.9g}" if isinstance(held, float) else str(held)
    return ""


def _sizes(held: Held) -> Dim3 | None:
    """A grid or a block as it was held; None where it is not known, or none."""
    whole = (int(held), 1, 1) if isinstance(held, int | float) else held
    known = isinstance(whole, tuple) and all(isinstance(one, int) for one in whole)
    return whole if known and min(whole) > 0 else None


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
        setting.get(text_of(node)) or template_argument(scope, node)
        for node in listed.named_children
        if node.type != "comment"
    ]
    said = text_of(listed)[1:-1].strip()
    known = [one for one in made if one is not None]
    return name.strip(), said, f"{name}<{', '.join(known)}>" if len(known) == len(made) else None
