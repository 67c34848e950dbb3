"""Plain names of C++ kernels: which mangled name did the user mean?

The names of kernels are those of the Itanium C++ ABI (section 5.1, "External Names"). Only their
plain part is read here; the text with types comes from the C++ library where there is one. The
names of parameters are those of the source, for messages and captions.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from functools import cache

from gpuviz.base.errors import InputError

_LENGTH = re.compile(r"\d+")
_LONGEST = 20_000  # letters of a kernel's parameters
_STD = {"St": "std"}


def plain_name(mangled: str) -> str:
    """Qualified name without template arguments and parameters: `_ZN1q1fIfEEvPT_` gives `q::f`.

    A name that is not mangled is returned as it is.
    """
    if not mangled.startswith("_Z"):
        return mangled
    rest = mangled[2:].removeprefix("L")
    nested = rest.startswith("N")
    parts = _parts(rest.removeprefix("N").lstrip("KVr") if nested else rest, nested)
    return "::".join(parts) or mangled


def _parts(rest: str, nested: bool) -> list[str]:
    parts: list[str] = []
    while rest:
        rest = rest.removeprefix("L")
        if (match := _LENGTH.match(rest)) is not None:
            end = match.end() + int(match[0])
            parts.append(_anonymous(rest[match.end() : end]))
            rest = rest[end:]
            if not nested:
                break
        elif rest[:2] in _STD:
            parts.append(_STD[rest[:2]])
            rest = rest[2:]
        else:  # template arguments or the end: what follows holds no further part of a kernel name
            break
    return parts


def _anonymous(part: str) -> str:
    return "(anonymous)" if part.startswith("_GLOBAL__N_") else part


@cache
def demangled(mangled: str) -> str:
    """`void f<float>(float*)` for a mangled name; its plain name where no demangler is found."""
    demangler = _demangler()
    if demangler is None or not mangled.startswith("_Z"):
        return plain_name(mangled)
    status = ctypes.c_int()
    text = demangler(mangled.encode(), None, None, ctypes.byref(status))
    try:
        found = ctypes.cast(text, ctypes.c_char_p).value if status.value == 0 and text else None
        return found.decode() if found else plain_name(mangled)
    finally:
        if text:
            ctypes.CDLL(None).free(ctypes.c_void_p(text))


@cache
def _demangler() -> ctypes._NamedFuncPointer | None:
    for library in ("libstdc++.so.6", "libc++abi.dylib"):
        try:
            function = ctypes.CDLL(library).__cxa_demangle
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        return function
    return None


def entry_name(kernels: Sequence[str], wanted: str = "", given: Sequence[str] = ()) -> str:
    """The kernel that a name means: mangled, qualified, plain, or with template arguments; of
    overloads the one that takes as many arguments as are `given`, pointers to these types ("" not
    known).

    An empty name means the only kernel there is. InputError, with the candidates, when no kernel
    or more than one fits.
    """
    if wanted in kernels:
        return wanted
    fits = next((found for rule in _RULES if (found := rule(kernels, wanted))), [])
    if len(fits) > 1 and given:
        fits = [one for one in fits if _takes(one, given)] or fits
    if len(fits) == 1:
        return fits[0]
    if fits:
        why = f"Kernel name {wanted!r} is ambiguous" if wanted else "The file has several kernels"
        raise InputError(f"{why}: name one of these.\n{_listed(fits)}")
    raise InputError(_nothing(kernels, wanted))


def same_kernel(kernels: Sequence[str], entry: str) -> str:
    """The kernel of another text that a mangled name means; its plain name, if types changed.

    InputError as `entry_name`.
    """
    return entry if entry in kernels else entry_name(kernels, plain_name(entry))


def _nothing(kernels: Sequence[str], wanted: str) -> str:
    if not kernels:
        return (
            "There is no kernel in this file: a kernel is a __global__ function, and a template is "
            "compiled only where it is instantiated (template __global__ void f<float>(float*);)."
        )
    return f"There is no kernel named {wanted!r} in this file. It has:\n{_listed(kernels)}"


def _listed(kernels: Sequence[str]) -> str:
    def line(kernel: str) -> str:
        text = demangled(kernel)
        return f"  {kernel}" if text == kernel else f"  {kernel}    {text}"

    return "\n".join(line(kernel) for kernel in kernels)


def _only(kernels: Sequence[str], wanted: str) -> list[str]:
    return list(kernels) if not wanted else []


def _qualified(kernels: Sequence[str], wanted: str) -> list[str]:
    return [kernel for kernel in kernels if plain_name(kernel) == wanted]


def _last_part(kernels: Sequence[str], wanted: str) -> list[str]:
    return [kernel for kernel in kernels if plain_name(kernel).rpartition("::")[2] == wanted]


def _with_types(kernels: Sequence[str], wanted: str) -> list[str]:
    """Kernels whose C++ text, without return type and white space, begins with what is wanted."""
    key = _tight(wanted)
    return [kernel for kernel in kernels if _is_start(key, _tight(_without_return(kernel)))]


def _without_return(kernel: str) -> str:
    return demangled(kernel).removeprefix("void ")


def _is_start(key: str, text: str) -> bool:
    return text == key or (bool(key) and text.startswith(key + "("))


def _tight(text: str) -> str:
    # `f<(int)4>` and `f<4u>` are written f<4> by people, `__half` is `half`
    text = _ALIAS.sub(lambda name: _ALIASES[name[0]], text)
    return re.sub(r"\(\w+\)(?=\d)|(?<=\d)[ul]+(?=[,>])|\s+", "", text)


_ALIASES = {
    "half": "__half",
    "half2": "__half2",
    "unsigned": "unsigned int",
    "uint": "unsigned int",
}
_ALIASES |= {"nv_bfloat16": "__nv_bfloat16", "nv_bfloat162": "__nv_bfloat162"}
_ALIASES |= {"int8_t": "signed char", "uint8_t": "unsigned char", "uchar": "unsigned char"}
_ALIASES |= {"int32_t": "int", "uint32_t": "unsigned int", "int16_t": "short"}
_ALIASES |= {"uint16_t": "unsigned short", "int64_t": "long", "uint64_t": "unsigned long"}
_ALIAS = re.compile(rf"\b(?:{'|'.join(_ALIASES)})\b(?! (?:int|char|short|long)\b)")


def _with_defaults(kernels: Sequence[str], wanted: str) -> list[str]:
    """Templates of a name, without its namespaces, whose first arguments are those wanted: the
    others have defaults.
    """
    name, listed = _template(wanted)
    return [
        kernel
        for kernel in kernels
        if listed and plain_name(kernel).rpartition("::")[2] == name
        if _template(_without_return(kernel).partition(">(")[0] + ">")[1][: len(listed)] == listed
    ]


def _with_other_types(kernels: Sequence[str], wanted: str) -> list[str]:
    """Templates of a name and of the numbers wanted: of what else they are made did not stand in
    the text.
    """
    name, listed = _template(wanted)
    found = []
    for kernel in kernels:
        text = _without_return(kernel).partition(">(")[0] + ">"
        if plain_name(kernel).rpartition("::")[2] == name and listed:
            pairs = list(zip(listed, _template(text)[1], strict=False))
            numbers = [(a, b) for a, b in pairs if b.lstrip("-").isdigit()]
            if len(pairs) == len(listed) and all(a == b for a, b in numbers):
                found.append(kernel)
    return found


def _template(text: str) -> tuple[str, list[str]]:
    """A name without its namespaces, and the arguments of a template as they compare."""
    name, _, rest = text.partition("<")
    parts = split_at_commas(rest.rpartition(">")[0])
    plain = (_tight(re.sub(r"^\(.*\)(?=-?\d)", "", one.strip())) for one in parts)
    return name.rpartition("::")[2], [_TRUTH.get(one, one.rpartition("::")[2]) for one in plain]


_TRUTH = {"true": "1", "false": "0"}


def _takes(kernel: str, given: Sequence[str]) -> bool:
    """Whether a kernel takes as many arguments, and what is known of them."""
    text = demangled(kernel)
    takes = split_at_commas(text[text.find("(") + 1 : text.rfind(")")])
    return len(takes) == len(given) and all(
        not one or one == taken.replace("const", "").replace("*", "").strip()
        for one, taken in zip(given, takes, strict=True)
    )


_RULES = (_only, _qualified, _last_part, _with_types, _with_defaults, _with_other_types)


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def source_parameters(source: str, entry: str, count: int) -> tuple[str, ...]:
    """Names of `count` parameters of a kernel, or () when the source does not show them plainly."""
    plain = demangled(entry).split("(")[0].split("<")[0].split("::")[-1].split(" ")[-1]
    text = _COMMENT.sub(" ", source)
    for match in re.finditer(rf"\b{re.escape(plain)}\s*\(", text):
        names = _names(_inside(text, match.end()))
        if len(names) == count:
            return names
    return ()


def _inside(text: str, start: int) -> str:
    """The text up to the parenthesis that closes the one before `start`."""
    depth = 1
    for end in range(start, min(len(text), start + _LONGEST)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[start:end]
    return ""


def _names(parameters: str) -> tuple[str, ...]:
    """The last word of each comma-separated declaration; () if one has none."""
    found = []
    for part in split_at_commas(parameters):
        words = re.findall(r"[A-Za-z_]\w*", part.split("=")[0].split("[")[0])
        if len(words) < 2:
            return ()
        found.append(words[-1])
    return tuple(found)


def split_at_commas(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [p for p in parts if p.strip()]
