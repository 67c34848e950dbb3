"""Functions that the code of all kernels calls, made into machine code once.

A routine is written by hand, as a Python function of terms: `a + 1` writes an addition, `with
w.when(a.eq(0)):` a branch. Numbers take the type of the term they meet; a scalar that meets a
vector is the same in all lanes. Generated code calls a routine by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod
from typing import Any

from gpuviz.ptx.compiled.memory_map import WORKER
from gpuviz.ptx.compiled.writer import Writer
from gpuviz.traces.trace import LANES

ALL = (1 << 32) - 1  # the lanes of a warp, as a bit set


def vector(bits: int) -> str:
    """The type of a value of each lane."""
    return f"<{LANES} x i{bits}>"


def splat(value: int, kind: str) -> str:
    """A number as a constant of a type."""
    if kind == "ptr":
        return "null"
    if kind[0] != "<":
        return str(value)
    one = kind[1:-1].split(" x ")[1]
    return f"splat ({one} {value})" if value else "zeroinitializer"


@dataclass(frozen=True, eq=False)
class Term:
    """A value of the IR: its type and name, and who writes what is made of it."""

    w: Code
    kind: str
    name: str

    @property
    def typed(self) -> str:
        """As an argument."""
        return f"{self.kind} {self.name}"

    def _made(self, text: str, kind: str = "") -> Term:
        return Term(self.w, kind or self.kind, self.w.let(text))

    def _op(self, name: str, other: Term | int) -> Term:
        a, b = self.w.level(self, other)
        return a._made(f"{name} {a.typed}, {b.name}")

    __add__ = partialmethod(_op, "add")
    __sub__ = partialmethod(_op, "sub")
    __mul__ = partialmethod(_op, "mul")
    __and__ = partialmethod(_op, "and")
    __or__ = partialmethod(_op, "or")
    __xor__ = partialmethod(_op, "xor")
    __lshift__ = partialmethod(_op, "shl")
    __rshift__ = partialmethod(_op, "lshr")
    __floordiv__ = partialmethod(_op, "udiv")
    __mod__ = partialmethod(_op, "urem")

    def __invert__(self) -> Term:
        return self ^ -1

    def compare(self, relation: str, other: Term | int) -> Term:
        """icmp."""
        a, b = self.w.level(self, other)
        kind = vector(1) if a.kind[0] == "<" else "i1"
        return a._made(f"icmp {relation} {a.typed}, {b.name}", kind)

    eq = partialmethod(compare, "eq")
    ne = partialmethod(compare, "ne")
    below = partialmethod(compare, "ult")
    above = partialmethod(compare, "ugt")
    least = partialmethod(compare, "uge")

    def choose(self, yes: Term | int, no: Term | int) -> Term:
        """`yes` where this holds, else `no`; one of both is a term."""
        kind = next(x.kind for x in (yes, no) if isinstance(x, Term))
        a, b = (self.w.term(x, kind) for x in (yes, no))
        return a._made(f"select {self.typed}, {a.typed}, {b.typed}")

    def cast(self, how: str, kind: str) -> Term:
        """zext, sext, trunc, bitcast, inttoptr."""
        return self._made(f"{how} {self.typed} to {kind}", kind)

    def bits(self) -> Term:
        """A predicate of each lane as a bit set."""
        return self.cast("bitcast", "i32")

    def lanes(self) -> Term:
        """A bit set as a predicate of each lane."""
        return self.cast("bitcast", vector(1))

    # --- addresses ------------------------------------------------------------------------------

    def at(self, offset: Term | int, unit: str = "i8") -> Term:
        """The address so many units on."""
        where = self.w.term(offset, "i64")
        return self._made(f"getelementptr {unit}, ptr {self.name}, {where.typed}", "ptr")

    def load(self, kind: str, align: int = 0) -> Term:
        """What lies there."""
        how = f", align {align}" if align else ""
        return self._made(f"load {kind}, ptr {self.name}{how}", kind)

    def store(self, value: Term | int, kind: str = "", align: int = 0) -> None:
        """Put a value there."""
        found = self.w.term(value, kind or getattr(value, "kind", ""))
        how = f", align {align}" if align else ""
        self.w.line(f"store {found.typed}, ptr {self.name}{how}")


class Code(Writer):
    """Writes the body of one function out of terms; `ended` after a return."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = False
        self.locals: list[str] = []

    def term(self, value: Term | int, kind: str) -> Term:
        """A number or scalar as a term of a type."""
        if isinstance(value, int):
            return Term(self, kind, splat(value, kind))
        if value.kind == kind or kind[0] != "<":
            return value
        one = self.let(f"insertelement {kind} poison, {value.typed}, i64 0")
        rest = f"{kind} poison, {vector(32)} zeroinitializer"
        return Term(self, kind, self.let(f"shufflevector {kind} {one}, {rest}"))

    def level(self, a: Term, b: Term | int) -> tuple[Term, Term]:
        """Both as terms of one type."""
        kind = b.kind if isinstance(b, Term) and b.kind[0] == "<" else a.kind
        return self.term(a, kind), self.term(b, kind)

    def asked(self, result: str, name: str, *arguments: Term) -> Term:
        """What a function of LLVM says."""
        return Term(self, result, self.call(result, name, *(a.typed for a in arguments)))

    def lowest(self, mask: Term) -> Term:
        """The first lane of a bit set, 64 bits."""
        name = f"llvm.cttz.{mask.kind}"
        found = Term(self, mask.kind, self.call(mask.kind, name, mask.typed, "i1 false"))
        return found.cast("zext", "i64") if mask.kind != "i64" else found

    # --- local variables ------------------------------------------------------------------------

    def place(self, kind: str) -> Term:
        """A place of the function for a value; a register, when only loads and stores see it."""
        name = self.temp()
        self.locals.append(f"  {name} = alloca {kind}, align 64")
        return Term(self, "ptr", name)

    def variable(self, value: Term | int, kind: str = "") -> Variable:
        """A local variable."""
        found = self.term(value, kind or getattr(value, "kind", ""))
        place = self.place(found.kind)
        place.store(found)
        return Variable(place, found.kind)

    # --- control --------------------------------------------------------------------------------

    def give(self, value: Term | int | None = None, kind: str = "i32") -> None:
        """Return."""
        self.line("ret void" if value is None else f"ret {self.term(value, kind).typed}")
        self.ended = True

    def goto(self, label: str) -> None:
        """Go on elsewhere, unless the function has returned."""
        if not self.ended:
            self.line(f"br label %{label}")
        self.ended = True

    def at(self, label: str) -> None:
        """What follows stands under a label."""
        super().at(label)
        self.ended = False

    @contextmanager
    def when(self, holds: Term, rare: bool = False) -> Iterator[None]:
        """What is done only if something holds."""
        yes, on = self.label("when"), self.label("on")
        seldom = ", !prof !1" * rare
        self.line(f"br {holds.typed}, label %{yes}, label %{on}{seldom}")
        self.at(yes)
        yield
        self.goto(on)
        self.at(on)

    @contextmanager
    def loop(self) -> Iterator[str]:
        """Again and again, until somebody goes to the label."""
        again, end = self.label("again"), self.label("end")
        self.goto(again)
        self.at(again)
        yield end
        self.goto(again)
        self.at(end)

    def go_if(self, holds: Term, label: str) -> None:
        """Go to a label if something holds."""
        on = self.label("on")
        self.line(f"br {holds.typed}, label %{label}, label %{on}")
        self.at(on)

    @contextmanager
    def below(self, most: Term | int, kind: str = "i64") -> Iterator[Term]:
        """For each number below `most`."""
        number = self.variable(0, kind)
        with self.loop() as end:
            now = number.value
            self.go_if(now.least(most), end)
            yield now
            number.set(now + 1)

    @contextmanager
    def each(self, mask: Term) -> Iterator[Term]:
        """For each lane of a bit set, in order: its number, 64 bits."""
        left = self.variable(mask)
        with self.loop() as end:
            now = left.value
            self.go_if(now.eq(0), end)
            yield self.lowest(now)
            left.set(now & (now - 1))


@dataclass(frozen=True, eq=False)
class Variable:
    """A local variable."""

    place: Term
    kind: str

    @property
    def value(self) -> Term:
        """What it holds now."""
        return self.place.load(self.kind)

    def set(self, value: Term | int) -> None:
        """Have it hold something else."""
        self.place.store(value, self.kind)


PREFIX = "gpuviz_"  # other libraries of the process have functions, too


@dataclass(frozen=True, eq=False)
class Routine:
    """A function: what it gives, what it is given, and who writes it."""

    name: str
    result: str
    given: tuple[str, ...]
    write: Callable[..., None]

    @property
    def declared(self) -> str:
        """For code that calls it."""
        return f"declare {self.result} @{PREFIX}{self.name}({', '.join(self.given)}) #0"

    def text(self, private: bool = False) -> tuple[str, dict[str, str]]:
        """The function, in the library or `private` to a module, and declarations by name."""
        w = Code()
        arguments = [Term(w, kind, f"%a{n}") for n, kind in enumerate(self.given)]
        self.write(w, *arguments)
        if not w.ended:
            w.line("ret void" if self.result == "void" else "unreachable")
        head = ", ".join(one.typed for one in arguments)
        lines = "\n".join((*w.locals, *w.lines))
        name = f"internal {self.result} @" if private else f"{self.result} @{PREFIX}"
        return f"define {name}{self.name}({head}) noinline #0 {{\n{lines}\n}}\n", w.declared


ROUTINES: dict[str, Routine] = {}


def routine(name: str, result: str, *given: str) -> Callable[[Any], Any]:
    """The function below writes a routine of this name; it may write several."""

    def add(write: Any) -> Any:
        ROUTINES[name] = Routine(name, result, given, write)
        return write

    return add


def ask(w: Writer, name: str, *arguments: str | Term) -> str:
    """Call a routine: the name of what it gives."""
    made = ROUTINES[name]
    w.declared[PREFIX + name] = made.declared
    given = ", ".join(a.typed if isinstance(a, Term) else a for a in arguments)
    text = f"call {made.result} @{PREFIX}{name}({given})"
    if made.result == "void":
        w.line(text)
        return ""
    return w.let(text)


def ask_private(w: Writer, known: dict[str, Routine], made: Routine, *arguments: str) -> str:
    """Call a routine of the module alone, which is among those it knows from now on."""
    known.setdefault(made.name, made)
    return w.let(f"call {made.result} @{made.name}({', '.join(arguments)})")


def asked(w: Code, name: str, *arguments: Term) -> Term:
    """Call a routine that gives something."""
    return Term(w, ROUTINES[name].result, ask(w, name, *arguments))


def library() -> str:
    """The module of all routines."""
    texts, declared = [], {}
    for one in ROUTINES.values():
        text, calls = one.text()
        texts.append(text)
        declared.update(calls)
    for name in ROUTINES:
        declared.pop(PREFIX + name, None)
    return "\n".join((*declared.values(), *texts))


def field(c: Term, name: str, kind: str = "i64") -> Term:
    """A field of the worker."""
    return c.at(WORKER[name]).load(kind)


@routine("stop", "void", "ptr", "i32", "i32")
def stop(w: Code, c: Term, why: Term, where: Term) -> None:
    """Have the launch end; the first reason counts."""
    c.at(WORKER["stop"]).store(why)
    c.at(WORKER["stop_at"]).store(where)
