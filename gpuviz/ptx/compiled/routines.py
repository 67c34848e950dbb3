"""Functions that the code of all kernels calls, made into machine code once.

A routine is written as a Python function of terms (`terms.py`); generated code calls it by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuviz.ptx.compiled.memory_map import WORKER
from gpuviz.ptx.compiled.terms import Code, Term
from gpuviz.ptx.compiled.writing import Writer

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
