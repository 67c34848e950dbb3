"""Variable declarations and their initialisers, at module level, in bodies and in parameters."""

import struct

from gpuviz.base.errors import FormatError
from gpuviz.ptx.text.ir import Relocation, Variable
from gpuviz.ptx.text.stream import Stream, number_value, type_bytes

SPACES = {
    ".global": "global",
    ".const": "const",
    ".shared": "shared",
    ".local": "local",
    ".param": "param",
}


def read_variables(s: Stream, extern: bool = False) -> list[Variable]:
    """A variable declaration statement, up to its semicolon."""
    space = SPACES[s.peek()]
    found = read_variable_list(s, space, extern=extern)
    s.expect(";")
    return found


def read_variable_list(
    s: Stream, space: str, *, extern: bool = False, single: bool = False
) -> list[Variable]:
    """`.space .align N .type name[size] = {...}, name2 ...` without the closing semicolon."""
    align, kind, lanes = 0, "b8", 1
    while s.peek().startswith("."):
        word = s.next()
        if word == ".align":
            align = _alignment(s)
        elif word == ".attribute":  # `.attribute(.managed)`: of the host's memory, too
            s.skip_to(")")
            s.expect(")")
        elif word in (".v2", ".v4", ".v8"):
            lanes = int(word[2:])
        elif word[1:] in _ELEMENT_TYPES:
            kind = word[1:]

    def one() -> Variable:
        return _variable(s, space, kind, lanes, align, extern)

    return [one()] if single else s.several(one)


_LARGEST_ALIGN = 1 << 20
_LARGEST = 1 << 47  # bytes: no address goes further
_OTHER_TYPES = {"pred", "b128", "f16x2", "bf16", "texref", "samplerref", "surfref"}
_ELEMENT_TYPES = {f"{k}{n}" for k in "busf" for n in (8, 16, 32, 64)} | _OTHER_TYPES


def _alignment(s: Stream) -> int:
    align = number_value(s.next())
    if not 0 < align <= _LARGEST_ALIGN or align & (align - 1):
        raise FormatError(f"PTX line {s.line}: no variable is aligned to {align} bytes")
    return align


def _variable(s: Stream, space: str, kind: str, lanes: int, align: int, extern: bool) -> Variable:
    name = s.next()
    element = type_bytes(kind) * lanes
    count, counted = 1, False
    if s.peek() == "<":
        raise FormatError(f"PTX line {s.line}: {name}<n> is not supported outside .reg")
    while s.accept("["):
        counted = True
        count *= 0 if s.peek() == "]" else number_value(s.next())
        s.expect("]")
    initial, relocations = b"", tuple[Relocation, ...]()
    if s.accept("="):
        initial, relocations = _initialiser(s, kind)
    size = element * count
    if counted and size == 0 and initial:
        size = len(initial)
    if not 0 <= size < _LARGEST or len(initial) > size:
        raise FormatError(f"PTX line {s.line}: {name} cannot be an array of that size")
    return Variable(name, space, kind, align or element, size, initial, relocations, extern)


def _initialiser(s: Stream, kind: str) -> tuple[bytes, tuple[Relocation, ...]]:
    """`value` or `{v, v, {..}}` as bytes, with the places where addresses are to be filled in."""
    out, relocations = bytearray(), []
    size = type_bytes(kind)
    depth = 0
    while True:
        if s.accept("{"):
            depth += 1
            continue
        if s.accept("}"):
            depth -= 1
        else:
            symbol = _initial_symbol(s)
            if symbol is None:
                out += initial_bytes(s.signed(), kind)
            else:
                relocations.append(Relocation(len(out), size, *symbol))
                out += bytes(size)
        if depth == 0:
            return bytes(out), tuple(relocations)
        while s.accept(","):
            pass


def _initial_symbol(s: Stream) -> tuple[str, int, bool, int] | None:
    """`name+4`, `generic(name)+4` or `0xFF00(name)`, a byte of it; None for a number.

    The name, what to add, whether the address is generic, and how far to shift it.
    """
    if s.peek_kind() == "number" and s.peek(1) == "(":
        mask = number_value(s.next())
        s.expect("(")
        name, addend, generic = _symbol_address(s)
        s.expect(")")
        return name, addend, generic, (mask & -mask).bit_length() - 1
    if s.peek_kind() != "word":
        return None
    return *_symbol_address(s), 0


def _symbol_address(s: Stream) -> tuple[str, int, bool]:
    name, addend = s.next(), 0
    generic = name == "generic"
    if generic:
        s.expect("(")
        name = s.next()
        addend = _addend(s)
        s.expect(")")
    return name, addend + _addend(s), generic


def _addend(s: Stream) -> int:
    return number_value(s.next()) if s.accept("+") else 0


def initial_bytes(text: str, kind: str) -> bytes:
    """A literal of an initialiser as the bytes of one element."""
    size = type_bytes(kind)
    lowered = text.lower().lstrip("-")
    if lowered.startswith(("0f", "0d")):
        bits = int(lowered[2:], 16)
        return bits.to_bytes(4 if lowered[1] == "f" else 8, "little")
    if kind in ("f32", "f64") and not lowered.startswith("0x"):
        return struct.pack("<f" if kind == "f32" else "<d", float(text))
    return (number_value(text) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
