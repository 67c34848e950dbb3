"""What a kernel takes, read from its source or PTX, and arguments that may do for a first try."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuviz.compile import Program, demangled
from gpuviz.errors import FormatError
from gpuviz.ptx.text.ir import Variable
from gpuviz.ptx.text.parser import parse
from gpuviz.runners.names import source_parameters, split_at_commas

# C types by how SPECs call them; a vector is so many elements.
_TYPES = {
    "float": "f32",
    "double": "f64",
    "half": "f16",
    "__half": "f16",
    "char": "i8",
    "signed char": "i8",
    "unsigned char": "u8",
    "bool": "u8",
    "int8_t": "i8",
    "uint8_t": "u8",
    "short": "i16",
    "unsigned short": "u16",
    "int16_t": "i16",
    "uint16_t": "u16",
    "int": "i32",
    "unsigned": "u32",
    "unsigned int": "u32",
    "int32_t": "i32",
    "uint32_t": "u32",
    "long": "i64",
    "unsigned long": "u64",
    "long long": "i64",
    "unsigned long long": "u64",
    "int64_t": "i64",
    "uint64_t": "u64",
    "size_t": "u64",
}
_VECTOR = re.compile(r"(float|double|char|uchar|short|ushort|int|uint|long|ulong)([234])$")
_UNSIGNED = {
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "uint": "unsigned int",
    "ulong": "unsigned long",
}
_QUALIFIERS = re.compile(
    r"\b(?:const|volatile|struct|__restrict__|__restrict|restrict|"
    r"__grid_constant__)\b|&"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_COUNTS = re.compile(r"(?i)^(?:n|size|count|len|length|num\w*|total|elements?|n_?\w*)$")
_SIDES = re.compile(r"(?i)^(?:m|k|w|h|nx|ny|rows?|col(?:umn)?s?|width|height|dim|ld\w?|pitch)$")
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
_ZEROS = re.compile(r"(?i)^(?:off\w*|start\w*|first\w*|begin|base|shift)$")
SIDE = 64  # of a matrix, for a first try


@dataclass(frozen=True)
class Taken:
    """One parameter of a kernel: its name, its type as SPECs call it, and whether it is a buffer.

    `lanes` elements make one of the vectors it points to; `written` says that the kernel may write.
    """

    name: str
    kind: str
    buffer: bool
    lanes: int = 1
    written: bool = True


def taken_by(program: Program, entry: str) -> tuple[Taken, ...]:
    """The parameters of a kernel, as well as source and PTX tell.

    Raises
    ------
    FormatError : the PTX cannot be read, or has no such kernel
    """
    function = parse(program.ptx).by_name.get(entry)
    if function is None:
        raise FormatError(f"the PTX of {program.name} has no kernel {entry}")
    variables = function.params
    names = source_parameters(program.source, entry, len(variables))
    types = _demangled_types(entry) or _source_types(program.source, entry)
    if len(types) != len(variables):
        types = [""] * len(variables)
    names = names or tuple(f"argument {n}" for n in range(1, len(variables) + 1))
    return tuple(_taken(n, t, v) for n, t, v in zip(names, types, variables, strict=True))


def short_name(entry: str) -> str:
    """`blend<float>` of a kernel `void blend<float>(float const*, int)`."""
    return demangled(entry).split("(")[0].removeprefix("void ")


def guess(taken: Taken, threads: int) -> str:
    """A SPEC for a parameter of a launch of so many threads."""
    if taken.buffer:
        fill = "zeros" if taken.written else "arange" if taken.kind[0] in "iu" else "rand"
        count = max(threads, SIDE * SIDE) * taken.lanes
        return f"{taken.kind}[{count}]={fill}"
    if taken.kind[0] == "f":
        return f"{taken.kind}=1"
    if _SIDES.match(taken.name):
        return f"{taken.kind}={SIDE}"
    if _ZEROS.match(taken.name):
        return f"{taken.kind}=0"
    return f"{taken.kind}={threads if _COUNTS.match(taken.name) else 1}"


def _taken(name: str, declared: str, variable: Variable) -> Taken:
    pointer = "*" in declared or declared.endswith("]")
    written = "const" not in declared.split("*")[0]
    kind, lanes = _element(declared)
    if pointer:
        return Taken(name, kind or "f32", True, lanes, written)
    if declared and kind and lanes == 1:
        return Taken(name, kind, False)
    if variable.type in ("u64", "b64") and not declared:  # PTX does not tell a pointer's type
        return Taken(name, "f32", True)
    return Taken(name, _PTX.get(variable.type, "u32"), False)


def _element(declared: str) -> tuple[str, int]:
    """The SPEC type and the vector length of what a declaration names, "" when it is unknown."""
    plain = _QUALIFIERS.sub(" ", declared.split("*")[0].split("[")[0])
    plain = " ".join(plain.split())
    if found := _VECTOR.match(plain):
        base = _UNSIGNED.get(found[1], found[1])
        return _TYPES[base], int(found[2])
    return _TYPES.get(plain, ""), 1


def _demangled_types(entry: str) -> list[str]:
    """The types in `void f<float>(float const*, int)`."""
    plain = demangled(entry)
    if "(" not in plain:
        return []
    inside = plain[plain.index("(") + 1 : plain.rindex(")")]
    return [part.strip() for part in split_at_commas(inside)]


def _source_types(source: str, entry: str) -> list[str]:
    """The types in the source's own declaration, without the names."""
    text = _COMMENT.sub(" ", source)
    found = re.search(rf"\b{re.escape(demangled(entry))}\s*\(([^)]*)\)", text)
    if found is None:
        return []
    return [
        re.sub(r"\b[A-Za-z_]\w*\s*(\[[^\]]*\])?\s*$", r"\1", part.split("=")[0].strip()).strip()
        for part in split_at_commas(found[1])
    ]
