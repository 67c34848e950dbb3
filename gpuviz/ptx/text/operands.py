"""The operands of an instruction: registers, literals, addresses, lists."""

from __future__ import annotations

import struct

from gpuviz.base.errors import FormatError
from gpuviz.ptx.text.ir import Addr, Imm, Not, Operand, Pair, Reg, Sym, Vec
from gpuviz.ptx.text.scopes import Scopes
from gpuviz.ptx.text.stream import Stream, number_value

_DEEPEST = 8  # lists within each other


class OperandReader:
    """Reads operands one after the other; what their names mean is up to the scopes."""

    def __init__(self, stream: Stream, scopes: Scopes) -> None:
        self._stream = stream
        self._scopes = scopes
        self._depth = 0

    def list_until(self, end: str) -> tuple[Operand, ...]:
        """Operands with commas between them, and the mark that ends them."""
        s, found = self._stream, list[Operand]()
        while not s.accept(end):
            found.append(self.operand())
            if not s.accept(",") and s.peek() != end:
                raise FormatError(f"PTX line {s.line}: expected ',' or '{end}', found {s.peek()!r}")
        return tuple(found)

    def operand(self) -> Operand:
        """One operand."""
        s = self._stream
        if s.peek() == "[":
            found: Operand = self._address()
        elif s.peek() in ("{", "("):
            found = self._list()
        elif s.accept("!"):
            found = Not(self.predicate("what follows '!'"))
        else:
            found = self._plain()
        return Pair(found, self._plain()) if s.accept("|") else found

    def _list(self) -> Vec:
        """`{a, b}` or `(a, b)`, which may hold other lists."""
        if self._depth == _DEEPEST:
            raise FormatError(f"PTX line {self._stream.line}: lists within lists within lists")
        self._depth += 1
        found = Vec(self.list_until("}" if self._stream.next() == "{" else ")"))
        self._depth -= 1
        return found

    def predicate(self, what: str) -> Reg:
        """A predicate register; FormatError says `what` has to be one."""
        s = self._stream
        found = self._scopes.find(s.next())
        if not isinstance(found, Reg) or found.type != "pred":
            raise FormatError(f"PTX line {s.line}: {what} has to be a predicate register")
        return found

    def _plain(self) -> Operand:
        s = self._stream
        if s.peek_kind() == "number" or s.peek() == "-":
            return literal(s.signed())
        found = self._scopes.find(s.next())
        return Sym(found.name, self._offset()) if isinstance(found, Sym) else found

    def _address(self) -> Addr | Vec:
        """`[base+offset]`, or a texture's `[name, {coordinates}]` as a list."""
        s = self._stream
        s.expect("[")
        found = self._base_and_offset()
        if not s.accept(","):
            s.expect("]")
            return found
        return Vec((found, *self.list_until("]")))

    def _base_and_offset(self) -> Addr:
        s = self._stream
        if s.peek_kind() == "number":
            return Addr(None, number_value(s.next()))
        base = self._scopes.find(s.next())
        return Addr(base, self._offset())

    def _offset(self) -> int:
        """`+4`, `-8+4`; 0 when there is none."""
        s, offset = self._stream, 0
        while s.peek() in ("+", "-"):
            sign = 1 if s.next() == "+" else -1
            offset += sign * number_value(s.signed())
        return offset


def literal(text: str) -> Imm:
    """A number as written in PTX: integer, 0f or 0d bits, or a decimal double."""
    lowered = text.lower()
    if lowered.startswith("0f"):
        return Imm(int(lowered[2:], 16), "f32")
    if lowered.startswith("0d"):
        return Imm(int(lowered[2:], 16), "f64")
    if lowered.lstrip("-").startswith(("0x", "0b")) or not set(lowered) & set(".e"):
        return Imm(number_value(text))
    return Imm(struct.unpack("<Q", struct.pack("<d", float(text)))[0], "f64")
