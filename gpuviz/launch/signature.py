"""What a kernel takes, read from its source, its project's headers, and the PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gpuviz.arguments.tensor_maps import SIZE
from gpuviz.base.errors import FormatError, InputError
from gpuviz.compile import Program, demangled
from gpuviz.files import bounded
from gpuviz.launch.images import image_read
from gpuviz.ptx.text.ir import Function, Variable
from gpuviz.ptx.text.parser import parse
from gpuviz.source.c_types import Array, CType, Pointer, Scalar, Struct, Types, scalars
from gpuviz.source.kernel_names import plain_name, source_parameters, split_at_commas
from gpuviz.source.parts import Text, read, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PTX = {
    "f32": "f32",
    "f64": "f64",
    "u64": "u64",
    "s64": "i64",
    "b64": "u64",
    "u32": "i32",
    "s32": "i32",
    "b32": "i32",
    "u16": "i16",
    "s16": "i16",
    "u8": "u8",
    "s8": "i8",
}
_HEADERS = 4 << 20  # bytes of a project's headers that are read for types
_MAP_ALIGNMENT = 64  # bytes
_INSIDE = 64  # fields of one parameter; more are bytes


@dataclass(frozen=True)
class KernelParameter:
    """Something that a launch is given: a parameter of a kernel, a field of one, a variable.

    Attributes
    ----------
    name : as in the source; of a field with those around it, `p.origin.x`
    kind : the type as SPECs call it; of a buffer that of its elements; "struct", "texture",
        "surface", "tensormap"
    buffer : whether it is a pointer
    lanes : elements that make one of what it points to
    written : whether the kernel may write to it
    offset : byte of its parameter that it begins at
    count : elements of an array by value
    size : bytes
    fields : of a structure
    image : of a texture or surface what the kernel reads or writes there, `f32*4[64,64]`
    """

    name: str
    kind: str
    buffer: bool
    lanes: int = 1
    written: bool = True
    offset: int = 0
    count: int = 1
    size: int = 8
    fields: tuple[KernelParameter, ...] = field(default=())
    image: str = ""

    @property
    def leaves(self) -> tuple[KernelParameter, ...]:
        """What people give values to: itself, or its fields."""
        return self.fields if self.kind == "struct" else (self,)


_TO_A_MAP = re.compile(r"CUtensorMap(?:_st)?(?: const)? ?\*")  # the host copied it to the GPU


def taken_by(program: Program, entry: str) -> tuple[KernelParameter, ...]:
    """The parameters of a kernel, as well as source, headers and PTX tell.

    Raises
    ------
    FormatError : the PTX cannot be read, or has no such kernel
    """
    function = parse(program.ptx).by_name.get(entry)
    if function is None:
        raise FormatError(f"the PTX of {program.name} has no kernel {entry}")
    variables, types = function.params, types_of(program)
    written = _written(types, entry, len(variables))
    mangled = _demangled_types(entry)
    plain = source_parameters(program.source, entry, len(variables))
    found = []
    for number, variable in enumerate(variables):
        name = plain[number] if plain else f"argument {number + 1}"
        kind: CType | None = None
        if written:
            name, kind = written[number]
        if number < len(mangled) and _TO_A_MAP.match(mangled[number]):
            found.append(KernelParameter(name, "tensormap", False, size=variable.size))
            continue
        if number < len(mangled) and _is_open(kind):  # of a template: as this one is made
            kind = types.read(mangled[number]) or kind
        found.append(with_images(_taken(name, kind, variable), variable.name, function))
    return tuple(found)


def _is_open(kind: CType | None) -> bool:
    """Whether the text leaves open what something is, or what a pointer points to."""
    return kind is None or (isinstance(kind, Pointer) and kind.to is None)


def with_images(taken: KernelParameter, parameter: str, function: Function) -> KernelParameter:
    """A parameter with what the kernel reads of the textures and surfaces in it."""
    if taken.kind == "struct":
        fields = tuple(with_images(one, parameter, function) for one in taken.fields)
        return replace(taken, fields=fields)
    if taken.kind not in ("texture", "surface"):
        return taken
    return replace(taken, image=image_read(function, parameter, taken.offset))


def short_name(entry: str) -> str:
    """`blend<float>` of a kernel `void blend<float>(float const*, int)`."""
    return demangled(entry).split("(")[0].removeprefix("void ")


@lru_cache(maxsize=8)
def _texts(source: str, headers: tuple[str, ...]) -> tuple[Text, ...]:
    """A source and the headers of its project, in parts."""
    texts, left = [read(source)], _HEADERS
    for name in headers:
        try:
            found = bounded.text(Path(name))
        except InputError:
            continue
        left -= len(found)
        if left < 0:
            break
        texts.append(read(found))
    return tuple(texts)


def texts_of(program: Program) -> tuple[Text, ...]:
    """A program's source and the project's headers that it reads, in parts."""
    return _texts(program.source, program.read or ())


@lru_cache(maxsize=8)
def types_of(program: Program) -> Types:
    """The types of a program's texts, with the macros that it was compiled with."""
    pairs = (macro.removeprefix("-D").partition("=") for macro in program.asked.macros)
    return Types.of(texts_of(program), {name: value or "1" for name, _, value in pairs})


def declared(
    types: Types, node: Node, given: Mapping[str, str] | None = None
) -> Iterator[tuple[str, CType | None]]:
    """The names that a declaration makes, with their types."""
    said = text_of(node.child_by_field_name("type"))
    const = any(text_of(child) == "const" for child in node.children)
    kind = types.read(said, given)
    every: list[Node | None] = list(node.children_by_field_name("declarator"))
    for declarator in every or [None]:
        name, made = types.declarator(kind, declarator, given)
        if isinstance(made, Pointer) and const:
            made = replace(made, written=False)
        yield name, made


def _written(types: Types, entry: str, count: int) -> list[tuple[str, CType | None]]:
    """The parameters as the source declares them: of templates without what these leave open."""
    name = plain_name(entry).rpartition("::")[2]
    for node in types.functions.get(name, ()):
        listed = node.child_by_field_name("parameters")
        kinds = {"parameter_declaration", "optional_parameter_declaration"}
        given = [one for one in (listed.named_children if listed else ()) if one.type in kinds]
        if len(given) != count:
            continue
        found = [next(declared(types, one), ("", None)) for one in given]
        # An array is a pointer here.
        return [
            (said, Pointer(kind.of) if isinstance(kind, Array) else kind) for said, kind in found
        ]
    return []


def _taken(name: str, kind: CType | None, variable: Variable) -> KernelParameter:
    """A parameter; what the source says is believed as far as it agrees with the PTX.

    What is unknown, and as large and as aligned as a CUtensorMap, is one.
    """
    if kind is None and (variable.size, variable.align) == (SIZE, _MAP_ALIGNMENT):
        return KernelParameter(name, "tensormap", False, size=SIZE)
    if kind is not None and kind.size == variable.size:
        return taken_of(name, kind)
    if variable.size > 8 or variable.type == "b8":
        return KernelParameter(name, "u8", False, count=variable.size, size=variable.size)
    if variable.type in ("u64", "b64") and kind is None:  # PTX does not tell a pointer's type
        return KernelParameter(name, "f32", True)
    return KernelParameter(name, _PTX.get(variable.type, "u32"), False, size=variable.size)


def taken_of(name: str, kind: CType) -> KernelParameter:
    """What is taken where a value of a type is."""
    if isinstance(kind, Struct):
        fields = tuple(_fields(name, kind, 0))
        if 0 < len(fields) <= _INSIDE:
            return KernelParameter(name, "struct", False, size=kind.size, fields=fields)
        return KernelParameter(name, "u8", False, count=kind.size, size=kind.size)
    return _leaf(name, kind, 0)


def _fields(name: str, kind: CType, offset: int) -> Iterator[KernelParameter]:
    if isinstance(kind, Struct):
        for member, at, inner in kind.members:
            yield from _fields(f"{name}.{member}", inner, offset + at)
    elif isinstance(kind, Array) and not isinstance(_innermost(kind), Scalar):
        for place in range(min(kind.count, _INSIDE + 1)):
            yield from _fields(f"{name}[{place}]", kind.of, offset + place * kind.of.size)
    else:
        yield _leaf(name, kind, offset)


def _innermost(kind: CType) -> CType:
    while isinstance(kind, Array):
        kind = kind.of
    return kind


def _leaf(name: str, kind: CType, offset: int) -> KernelParameter:
    if isinstance(kind, Pointer):
        element, lanes = _element(kind.to)
        return KernelParameter(name, element, True, lanes, kind.written, offset)
    inner = _innermost(kind)
    if isinstance(inner, Scalar):
        count = kind.size // inner.size
        return KernelParameter(name, inner.kind, False, offset=offset, count=count, size=kind.size)
    return KernelParameter(name, "u8", False, offset=offset, count=kind.size, size=kind.size)


def _element(kind: CType | None) -> tuple[str, int]:
    """The SPEC type and the number of elements of what a pointer points to."""
    if kind is None:
        return "f32", 1
    made = scalars(kind)
    if made and len(set(made)) == 1 and made[0] not in ("texture", "surface"):
        return made[0], len(made)
    return ("u64", 1) if isinstance(kind, Pointer) else ("u8", kind.size)


def _demangled_types(entry: str) -> list[str]:
    """The types in `void f<float>(float const*, int)`."""
    plain = demangled(entry)
    if "(" not in plain:
        return []
    inside = plain[plain.index("(") + 1 : plain.rindex(")")]
    return [part.strip() for part in split_at_commas(inside)]
