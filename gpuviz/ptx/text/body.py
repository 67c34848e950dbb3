"""The body of a PTX function: its statements, one after the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from gpuviz.base.errors import FormatError
from gpuviz.ptx.text.declarations import SPACES, read_variables
from gpuviz.ptx.text.ir import Instruction, Not, Reg, Sym, Variable
from gpuviz.ptx.text.location import cuda_line
from gpuviz.ptx.text.opcode import Opcode
from gpuviz.ptx.text.operands import OperandReader
from gpuviz.ptx.text.scopes import Scopes
from gpuviz.ptx.text.stream import Stream, number_value


class BodyReader:
    """Reads one braced body into `instructions`, `labels`, `tables`, `variables` and registers.

    The types of the registers are those of `scopes`.
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
            return
        while not s.accept(";"):
            s.next()

    def _registers(self) -> None:
        s = self._stream
        s.next()
        kind = s.next()[1:]
        while kind in ("v2", "v4"):
            kind = s.next()[1:]
        while True:
            name = s.next()
            if s.accept("<"):
                self.scopes.declare_family(name, kind, number_value(s.next()))
                s.expect(">")
            else:
                self.scopes.declare(name, kind)
            if not s.accept(","):
                break
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
            targets = [s.next()]
            while s.accept(","):
                targets.append(s.next())
            s.expect(";")
            self.tables[name], self._around[name] = tuple(targets), tuple(self._open)
        elif s.peek() == ".callprototype":
            while not s.accept(";"):
                s.next()
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
        if opcode.name == "bra":
            self._branches.append((len(self.instructions), tuple(self._open)))
        self.instructions.append(Instruction(pc, opcode, operands, guard, self._line, ptx_line))

    def _guard(self) -> Reg | Not | None:
        s = self._stream
        if not s.accept("@"):
            return None
        negated = s.accept("!")
        register = self._operands.predicate("the guard of an instruction")
        return Not(register) if negated else register
