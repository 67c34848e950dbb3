"""The body of a PTX function: registers, labels, instructions, with scopes resolved."""

from __future__ import annotations

import re
import struct

from gpuviz.errors import FormatError
from gpuviz.ptx.text.declarations import SPACES, read_variables
from gpuviz.ptx.text.ir import Addr, Imm, Instruction, Not, Operand, Pair, Reg, Sym, Variable, Vec
from gpuviz.ptx.text.opcode import Opcode
from gpuviz.ptx.text.stream import Stream, number_value

_NUMBERED = re.compile(r"(.*?)(\d+)$")


class _Scope:
    """Names declared between two braces: single registers, and numbered families `%r<10>`."""

    def __init__(self) -> None:
        self.single: dict[str, Reg] = {}
        self.family: dict[str, tuple[str, int]] = {}
        self.renamed: dict[str, str] = {}


class BodyReader:
    """Reads one braced body into `body`, `labels`, `tables`, `variables` and register `types`.

    Registers of inner scopes get an index of their own, so an inner `%p1` that shadows an outer
    one is simply another register.
    """

    def __init__(self, stream: Stream, first_pc: int) -> None:
        self.stream = stream
        self.first_pc = first_pc
        self.types: list[str] = []
        self.body: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.variables: list[Variable] = []
        self._scopes: list[_Scope] = []
        self._line = 0
        self._unique = 0

    def read(self) -> None:
        """Read from the opening brace to its partner."""
        s = self.stream
        s.expect("{")
        self._scopes.append(_Scope())
        while self._scopes:
            self._statement()
        self._check_labels()

    def _check_labels(self) -> None:
        for instruction in self.body:
            if instruction.opcode.name == "bra":
                for target in instruction.operands:
                    if not isinstance(target, Sym) or target.name not in self.labels:
                        name = getattr(target, "name", target)
                        raise FormatError(
                            f"PTX line {instruction.ptx_line}: there is no label "
                            f"{name} to branch to"
                        )

    # ---------------------------------------------------------------- statements

    def _statement(self) -> None:
        s, word = self.stream, self.stream.peek()
        if word == "{":
            s.next()
            self._scopes.append(_Scope())
        elif word == "}":
            s.next()
            self._scopes.pop()
        elif word == ";":
            s.next()
        elif word == ".loc":
            self._location()
        elif word == ".reg":
            self._registers()
        elif word in SPACES:
            self._variables()
        elif word.startswith("."):
            self._other_directive()
        elif s.peek(1) == ":":
            self._label()
        else:
            self._instruction()

    def _other_directive(self) -> None:
        s = self.stream
        if s.peek() == ".section":
            s.skip_to("{")
            s.skip_block()
            return
        while not s.accept(";"):
            s.next()

    def _location(self) -> None:
        """`.loc file line column [, function_name label, inlined_at file line column]`.

        A location in a header is replaced by the place in file 1 it was inlined at, if it says so.
        """
        s = self.stream
        s.next()
        file, line = number_value(s.next()), number_value(s.next())
        s.next()
        while s.accept(","):
            word = s.next()
            if word == "function_name":
                s.next()
                while s.accept("+"):
                    s.next()
            elif word == "inlined_at":
                outer, outer_line = number_value(s.next()), number_value(s.next())
                s.next()
                if file != 1 and outer == 1:
                    file, line = outer, outer_line
        while s.peek() in ("is_stmt", "prologue_end", "discriminator"):
            s.next()
            if s.peek_kind() == "number":
                s.next()
        if file == 1:
            self._line = line

    def _registers(self) -> None:
        s, scope = self.stream, self._scopes[-1]
        s.next()
        kind = s.next()[1:]
        while kind in ("v2", "v4"):
            kind = s.next()[1:]
        while True:
            name = s.next()
            if s.accept("<"):
                scope.family[name] = (kind, number_value(s.next()))
                s.expect(">")
            else:
                scope.single[name] = self._new_register(name, kind)
            if not s.accept(","):
                break
        s.expect(";")

    def _new_register(self, name: str, kind: str) -> Reg:
        self.types.append(kind)
        return Reg(len(self.types) - 1, kind, name)

    def _variables(self) -> None:
        for found in read_variables(self.stream):
            name = found.name
            if any(v.name == name for v in self.variables):
                self._unique += 1
                name = f"{found.name}#{self._unique}"
            self._scopes[-1].renamed[found.name] = name
            self.variables.append(
                Variable(
                    name,
                    found.space,
                    found.type,
                    found.align,
                    found.size,
                    found.initial,
                    found.relocations,
                    found.extern,
                )
            )

    def _label(self) -> None:
        s = self.stream
        name = s.next()
        s.expect(":")
        if s.peek() in (".branchtargets", ".calltargets"):
            s.next()
            targets = [s.next()]
            while s.accept(","):
                targets.append(s.next())
            s.expect(";")
            self.tables[name] = tuple(targets)
        elif s.peek() == ".callprototype":
            while not s.accept(";"):
                s.next()
        else:
            self.labels[name] = len(self.body)

    def _instruction(self) -> None:
        s = self.stream
        ptx_line = s.line
        guard = self._guard()
        opcode = Opcode.parse(s.next())
        operands: list[Operand] = []
        while not s.accept(";"):
            operands.append(self._operand())
            if not s.accept(",") and s.peek() != ";":
                raise FormatError(f"PTX line {s.line}: expected ',' or ';', found {s.peek()!r}")
        self.body.append(
            Instruction(
                self.first_pc + len(self.body), opcode, tuple(operands), guard, self._line, ptx_line
            )
        )

    def _guard(self) -> Reg | Not | None:
        s = self.stream
        if not s.accept("@"):
            return None
        negated = s.accept("!")
        reg = self._name(s.next())
        if not isinstance(reg, Reg):
            raise FormatError(f"PTX line {s.line}: the guard of an instruction must be a register")
        return Not(reg) if negated else reg

    # ---------------------------------------------------------------- operands

    def _operand(self) -> Operand:
        s = self.stream
        if s.peek() == "[":
            found: Operand = self._address()
        elif s.peek() in ("{", "("):
            found = self._list()
        elif s.accept("!"):
            reg = self._name(s.next())
            if not isinstance(reg, Reg):
                raise FormatError(f"PTX line {s.line}: '!' wants a predicate register")
            found = Not(reg)
        else:
            found = self._plain()
        if s.accept("|"):
            return Pair(found, self._plain())
        return found

    def _plain(self) -> Operand:
        s = self.stream
        if s.peek_kind() == "number" or s.peek() == "-":
            return literal(s.signed())
        found = self._name(s.next())
        if isinstance(found, Sym) and s.peek() in ("+", "-"):
            sign = 1 if s.next() == "+" else -1
            return Sym(found.name, sign * number_value(s.signed()))
        return found

    def _list(self) -> Vec:
        s = self.stream
        close = "}" if s.next() == "{" else ")"
        items: list[Operand] = []
        while not s.accept(close):
            items.append(self._operand())
            s.accept(",")
        return Vec(tuple(items))

    def _address(self) -> Addr | Vec:
        """`[base+offset]`, or a texture's `[name, {coordinates}]` as a list."""
        s = self.stream
        s.expect("[")
        found = self._base_and_offset()
        rest: list[Operand] = []
        while s.accept(","):
            rest.append(self._operand())
        s.expect("]")
        return Vec((found, *rest)) if rest else found

    def _base_and_offset(self) -> Addr:
        s = self.stream
        if s.peek_kind() == "number":
            return Addr(None, number_value(s.next()))
        base = self._name(s.next())
        offset = base.offset if isinstance(base, Sym) else 0
        while s.peek() in ("+", "-"):
            sign = 1 if s.next() == "+" else -1
            offset += sign * number_value(s.signed())
        return Addr(Sym(base.name) if isinstance(base, Sym) else base, offset)

    def _name(self, name: str) -> Reg | Sym:
        """A register visible here, else a symbol (with inner variables renamed)."""
        for scope in reversed(self._scopes):
            if name in scope.single:
                return scope.single[name]
            if name in scope.renamed:
                return Sym(scope.renamed[name])
            parts = _NUMBERED.match(name)
            if parts and parts[1] in scope.family and int(parts[2]) < scope.family[parts[1]][1]:
                reg = self._new_register(name, scope.family[parts[1]][0])
                scope.single[name] = reg
                return reg
        return Sym(name)


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
