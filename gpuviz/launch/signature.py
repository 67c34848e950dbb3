"""What a kernel takes, read from its source, its project's headers, and the PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gpuviz.arguments.tensor_maps import SIZE
from gpuviz.base.errors import FormatError, InputError
from gpuviz.compile import Program, demangled
from gpuviz.files import bounded
from gpuviz.ptx.text.choices import choosing, choosing_bins
from gpuviz.ptx.text.ir import Addr, Function, Instruction, Reg, Sym, Variable, Vec, items
from gpuviz.ptx.text.isa import addresses, kind_of, registers_read, value_of
from gpuviz.ptx.text.parser import parse
from gpuviz.source.c_types import Array, CType, Pointer, Scalar, Struct, Types, scalars
from gpuviz.source.kernel_names import plain_name, source_parameters, split_at_commas
from gpuviz.source.parts import Text, read, text_of

_SIDES = {1: (4096,), 2: (64, 64), 3: (16, 16, 16)}  # for a first try
_SHAPES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}
_ELEMENTS = {"f32": "f32", "u32": "u8", "s32": "i32"}
_BITS = {"b8": "u8", "b16": "u16", "b32": "f32", "b64": "f32"}
_LAYERS = 4


def image_read(function: Function, parameter: str, offset: int) -> str:
    """Elements and sizes that an image may have which comes with a parameter, at a byte of it."""
    found = _first_use(function, parameter, offset)
    return "f32[64,64]" if found is None else _image(function, found)


def image_use(
    function: Function, parameter: str, offset: int
) -> Literal["texture", "linear", "surface"]:
    """What an image is to a kernel; a texture of linear memory is read by whole numbers."""
    found = _first_use(function, parameter, offset)
    if found is None or found.opcode.name in ("tex", "tld4"):
        whole = found is not None and found.opcode.mods[-1] == "s32"
        return "linear" if whole else "texture"
    return "surface"


def _first_use(function: Function, parameter: str, offset: int) -> Instruction | None:
    """Of the image itself; of any, where it is not seen which is which."""
    named = _copies(function, parameter, offset)
    every = [at for at in function.body if kind_of(at) == "image"]
    return next((at for at in every if _handle(at) in named), next(iter(every), None))


def _copies(function: Function, parameter: str, offset: int) -> set[Reg]:
    """The registers that hold the handle: loaded, or moved."""
    held: set[Reg] = set()
    for at in function.body:
        if not at.operands or not isinstance(at.operands[0], Reg):
            continue
        source = at.operands[1] if len(at.operands) > 1 else None
        if at.opcode.name == "ld" and "param" in at.opcode.mods and isinstance(source, Addr):
            name = source.base.name if isinstance(source.base, Sym) else ""
            if (name, source.offset) == (parameter, offset):
                held.add(at.operands[0])
        elif at.opcode.name == "mov" and source in held:
            held.add(at.operands[0])
    return held


def _handle(at: Instruction) -> object:
    (place,) = addresses(at)
    base = place.items[0] if isinstance(place, Vec) and place.items else None
    return base.base if isinstance(base, Addr) else None


def _image(function: Function, at: Instruction) -> str:
    mods = at.opcode.mods
    shape = next((mod for mod in mods if mod in _SHAPES), "2d")
    sides = _SIDES[_SHAPES[shape]]
    if shape.startswith("a"):
        sides = (*_SIDES[_SHAPES[shape] - 1], _LAYERS)
    modes = " layered" if shape.startswith("a") else ""
    if at.opcode.name in ("tex", "tld4"):
        kind, count = _ELEMENTS.get(mods[-2], "f32"), _used(function, at)
    else:
        value = value_of(at)
        bits = next((mod for mod in reversed(mods) if mod in _BITS), "b32")
        kind = _BITS[bits]
        count = len(items(value)) * (2 if bits == "b64" else 1)
    each = f"*{count}" if count > 1 else ""
    return f"{kind}{each}[{','.join(map(str, sides))}]{modes}"


def _used(function: Function, at: Instruction) -> int:
    """How many of the four elements that it gives are read by others: 1, 2 or 4."""
    read = {one for other in function.body if other is not at for one in registers_read(other)}
    last = max((n for n, item in enumerate(items(at.operands[0])) if item in read), default=0)
    return (1, 2, 4, 4)[min(last, 3)]


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
    """Something that a launch is given: a parameter of a kernel, a field of one, a variable."""

    name: str  # as in the source; of a field with those around it, `p.origin.x`
    # The type as SPECs call it; of a buffer that of its elements; "struct", "texture", "surface",
    # "tensormap".
    kind: str
    buffer: bool  # whether it is a pointer
    lanes: int = 1  # elements that make one of what it points to
    written: bool = True  # whether the kernel may write to it
    offset: int = 0  # byte of its parameter that it begins at
    count: int = 1  # elements of an array by value
    size: int = 8  # bytes
    fields: tuple[KernelParameter, ...] = field(default=())  # of a structure
    bins: bool = False  # whether it points to what chooses the words that atomics add to,
    chooses: bool = False  # or where any access goes, or whether it is made
    image: str = ""  # of a texture or surface what the kernel reads or writes there, `f32*4[64,64]`

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
    bins, chosen = choosing_bins(function), frozenset().union(*choosing(function).values())
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
        taken = with_images(_taken(name, kind, variable), variable.name, function)
        taken = replace(taken, bins=taken.buffer and variable.name in bins)
        found.append(_choosing(taken) if variable.name in chosen else taken)
    return tuple(found)


def _choosing(taken: KernelParameter) -> KernelParameter:
    return replace(taken, chooses=True, fields=tuple(map(_choosing, taken.fields)))


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
    """The parameters as the source declares them: of templates without what these leave open; of
    overloads those that agree with the kernel's mangled name, where they have names.
    """
    name = plain_name(entry).rpartition("::")[2]
    mangled = [types.read(one) for one in _demangled_types(entry)]
    every: list[list[tuple[str, CType | None]]] = []
    for node in types.functions.get(name, ()):
        listed = node.child_by_field_name("parameters")
        kinds = {"parameter_declaration", "optional_parameter_declaration"}
        given = [one for one in (listed.named_children if listed else ()) if one.type in kinds]
        if len(given) == count:
            found = [next(declared(types, one), ("", None)) for one in given]
            # An array is a pointer here.
            every.append(
                [(said, Pointer(k.of) if isinstance(k, Array) else k) for said, k in found]
            )

    def unlike(found: list[tuple[str, CType | None]]) -> tuple[int, int]:
        differ = sum(
            None not in (kind, other) and _target(kind) != _target(other)
            for (_, kind), other in zip(found, mangled, strict=False)
        )
        return differ, sum(not said for said, _ in found)

    return min(every, key=unlike, default=[])


def _target(kind: CType | None) -> CType | None:
    return Pointer(kind.to) if isinstance(kind, Pointer) else kind


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
