"""The body of a PTX function: its statements, one after the other."""

import struct
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain, repeat

from gpuviz.base.errors import FormatError
from gpuviz.ptx.text.declarations import SPACES, read_variables
from gpuviz.ptx.text.ir import (
    Addr,
    Imm,
    Instruction,
    Not,
    Opcode,
    Operand,
    Pair,
    Reg,
    Sym,
    Variable,
    Vec,
)
from gpuviz.ptx.text.isa import VIDEO
from gpuviz.ptx.text.stream import Stream, number_value

# --- names ---------------------------------------------------------------------------------------
#
# What they mean inside a function: registers and variables, declared between braces.

_DIGITS = "0123456789"
_LONGEST = 9  # digits of a register's number
_DEEPEST_SCOPE = 64  # braces within each other


@dataclass
class _Scope:
    """Names declared between two braces: single registers, and numbered families `%r<10>`."""

    single: dict[str, Reg] = field(default_factory=dict)
    family: dict[str, tuple[str, int]] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)


class Scopes:
    """The braces that are open, innermost last, and the `types` of all registers by index.

    Registers of inner scopes get an index of their own, so an inner `%p1` that shadows an outer
    one is simply another register.
    """

    def __init__(self) -> None:
        self.types: list[str] = []
        self._open: list[_Scope] = []

    def __bool__(self) -> bool:
        """Whether any brace is open."""
        return bool(self._open)

    def enter(self) -> None:
        """An opening brace; FormatError when too many are open."""
        if len(self._open) == _DEEPEST_SCOPE:
            raise FormatError(f"more than {_DEEPEST_SCOPE} braces of the PTX are within each other")
        self._open.append(_Scope())

    def leave(self) -> None:
        """A closing brace."""
        self._open.pop()

    def declare(self, name: str, kind: str) -> None:
        """A register."""
        self._open[-1].single[name] = self._new(name, kind)

    def declare_family(self, name: str, kind: str, count: int) -> None:
        """Registers name0 to name(count - 1)."""
        self._open[-1].family[name] = kind, count

    def rename(self, name: str, unique: str) -> None:
        """A variable, which `unique` names within the whole function."""
        self._open[-1].renamed[name] = unique

    def find(self, name: str) -> Reg | Sym:
        """A register visible here, else a symbol."""
        family = name.rstrip(_DIGITS)
        digits = name[len(family) :]
        number = int(digits) if 0 < len(digits) <= _LONGEST else -1
        for scope in reversed(self._open):
            if name in scope.single:
                return scope.single[name]
            if name in scope.renamed:
                return Sym(scope.renamed[name])
            kind, count = scope.family.get(family, ("", 0))
            if 0 <= number < count:
                scope.single[name] = self._new(name, kind)
                return scope.single[name]
        return Sym(name)

    def _new(self, name: str, kind: str) -> Reg:
        self.types.append(kind)
        return Reg(len(self.types) - 1, kind, name)


# --- operands ------------------------------------------------------------------------------------

_DEEPEST_LIST = 8  # lists within each other


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
        if self._depth == _DEEPEST_LIST:
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


# --- lines of the source -------------------------------------------------------------------------
#
# `.loc`: the line of CUDA source that the following instructions come from.

_SOURCE = 1  # number of the file that was compiled; others are headers


def cuda_line(s: Stream) -> int | None:
    """`.loc file line column [, function_name label, inlined_at file line column]`; the line.

    A location in a header is that of the place in the source it was inlined at, None if it does not
    say so.
    """
    s.next()
    file, line = _place(s)
    while s.accept(","):
        word = s.next()
        if word == "function_name":
            s.next()
            while s.accept("+"):
                s.next()
        elif word == "inlined_at":
            outer = _place(s)
            if file != _SOURCE and outer[0] == _SOURCE:
                file, line = outer
    while s.peek() in ("is_stmt", "prologue_end", "discriminator"):
        s.next()
        if s.peek_kind() == "number":
            s.next()
    return line if file == _SOURCE else None


def _place(s: Stream) -> tuple[int, int]:
    """File and line; the column is dropped."""
    file, line = number_value(s.next()), number_value(s.next())
    s.next()
    return file, line


class BodyReader:
    """Reads one braced body into `instructions`, `labels`, `tables`, `variables` and registers.

    The types of the registers are those of `Scopes`.
    """

    def __init__(self, stream: Stream, first_pc: int) -> None:
        self.scopes = Scopes()
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.variables: list[Variable] = []
        self._stream = stream
        self._first_pc = first_pc
        self._operands = OperandReader(stream, self.scopes)
        self._line = 0
        self._taken = Counter[str]()
        self._open: list[int] = []  # the braces that are open, by number
        self._braces = 0
        self._named: dict[tuple[int, str], str] = {}  # labels by brace and name
        self._branches: list[tuple[int, tuple[int, ...]]] = []  # which, and the braces around
        self._around: dict[str, tuple[int, ...]] = {}  # the braces around a table

    def read(self) -> None:
        """Read from the opening brace to its partner."""
        self._stream.expect("{")
        self._enter()
        while self.scopes:
            self._statement()
        self._find_labels()
        for instruction in self.instructions:
            for name in self._targets(instruction):
                if name not in self.labels:
                    raise FormatError(
                        f"PTX line {instruction.ptx_line}: there is no label {name} to branch to"
                    )

    def _enter(self) -> None:
        self.scopes.enter()
        self._braces += 1
        self._open.append(self._braces)

    def _find_labels(self) -> None:
        """Labels of one name in several braces: branches mean that of their own."""

        def unique(name: str, braces: tuple[int, ...]) -> str:
            found = (self._named.get((brace, name)) for brace in reversed(braces))
            return next(filter(None, found), name)

        for number, braces in self._branches:
            at = self.instructions[number]
            operands = tuple(
                Sym(unique(o.name, braces), o.offset) if isinstance(o, Sym) else o
                for o in at.operands
            )
            if operands != at.operands:
                self.instructions[number] = replace(at, operands=operands)
        for name, braces in self._around.items():
            self.tables[name] = tuple(unique(target, braces) for target in self.tables[name])

    def _targets(self, instruction: Instruction) -> tuple[str, ...]:
        """The names that a branch may jump to."""
        name, operands = instruction.opcode.name, instruction.operands
        if name not in ("bra", "brx"):
            return ()
        named = operands[-1] if len(operands) == 1 + (name == "brx") else None
        if not isinstance(named, Sym):
            raise FormatError(f"PTX line {instruction.ptx_line}: {name} names no label")
        if name == "bra":
            return (named.name,)
        if named.name not in self.tables:
            raise FormatError(f"PTX line {instruction.ptx_line}: no table {named.name} of targets")
        return self.tables[named.name]

    def _statement(self) -> None:
        s, word = self._stream, self._stream.peek()
        if word == "{":
            s.next()
            self._enter()
        elif word == "}":
            s.next()
            self.scopes.leave()
            self._open.pop()
        elif word == ";":
            s.next()
        elif word == ".loc":
            line = cuda_line(s)
            self._line = self._line if line is None else line
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
        s = self._stream
        if s.peek() == ".section":
            s.skip_to("{")
            s.skip_block()
        else:
            s.skip_past(";")

    def _registers(self) -> None:
        s = self._stream
        s.next()
        kind = s.next()[1:]
        while kind in ("v2", "v4"):
            kind = s.next()[1:]

        def one() -> None:
            name = s.next()
            if s.accept("<"):
                self.scopes.declare_family(name, kind, number_value(s.next()))
                s.expect(">")
            else:
                self.scopes.declare(name, kind)

        s.several(one)
        s.expect(";")

    def _variables(self) -> None:
        for found in read_variables(self._stream):
            taken = self._taken[found.name]
            self._taken[found.name] += 1
            unique = f"{found.name}#{taken}" if taken else found.name
            self.scopes.rename(found.name, unique)
            self.variables.append(replace(found, name=unique))

    def _label(self) -> None:
        s = self._stream
        name = s.next()
        s.expect(":")
        if s.peek() in (".branchtargets", ".calltargets"):
            s.next()
            targets = s.several(s.next)
            s.expect(";")
            self.tables[name], self._around[name] = tuple(targets), tuple(self._open)
        elif s.peek() == ".callprototype":
            s.skip_past(";")
        else:
            unique = f"{name}#{self._braces}" if name in self.labels else name
            self._named[self._open[-1], name] = unique
            self.labels[unique] = len(self.instructions)

    def _instruction(self) -> None:
        s = self._stream
        ptx_line, pc = s.line, self._first_pc + len(self.instructions)
        guard = self._guard()
        opcode = Opcode.parse(s.next())
        operands = self._operands.list_until(";")
        if opcode.name in VIDEO:
            opcode, operands = self._with_parts(opcode, operands)
        if opcode.name == "bra":
            self._branches.append((len(self.instructions), tuple(self._open)))
        self.instructions.append(Instruction(pc, opcode, operands, guard, self._line, ptx_line))

    def _with_parts(
        self, opcode: Opcode, operands: tuple[Operand, ...]
    ) -> tuple[Opcode, tuple[Operand, ...]]:
        """Parts of registers, `%r1.h0`, as modifiers of the opcode: `d:h0`, `a:b1`."""
        parts, whole = [], []
        for letter, one in zip(chain("dab", repeat("c")), operands, strict=False):
            name, _, part = one.name.partition(".") if isinstance(one, Sym) else ("", "", "")
            whole.append(self.scopes.find(name) if part else one)
            parts += [f"{letter}:{part}"] if part else []
        return Opcode(opcode.name, (*opcode.mods, *parts)), tuple(whole)

    def _guard(self) -> Reg | Not | None:
        s = self._stream
        if not s.accept("@"):
            return None
        negated = s.accept("!")
        register = self._operands.predicate("the guard of an instruction")
        return Not(register) if negated else register
