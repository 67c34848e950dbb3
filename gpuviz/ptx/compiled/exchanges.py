"""Routines that NumPy or other lanes have a part in: its loops, and lanes read by their number."""

from __future__ import annotations

from gpuviz.ptx.compiled.memory_map import WORKER
from gpuviz.ptx.compiled.requests import HALF, WIDE, gathered, kept
from gpuviz.ptx.compiled.routines import routine
from gpuviz.ptx.compiled.terms import ALL, Code, Term
from gpuviz.traces.trace import LANES


@routine("numpy_loop", WIDE, "ptr", "i32", WIDE)
def numpy_loop(w: Code, c: Term, number: Term, x: Term) -> None:
    """A function of f64, by NumPy's own loop for arrays."""
    given, found = kept(w, x), w.place(WIDE)
    arrays, steps, size = (w.place(kind) for kind in ("[2 x ptr]", "[2 x i64]", "i64"))
    arrays.store(given)
    arrays.at(8).store(found)
    for place in (0, 8):
        steps.at(place).store(8, "i64")
    size.store(LANES, "i64")
    which = number.cast("zext", "i64")
    loop, data = (c.at(WORKER[n]).at(which, "i64").load("ptr") for n in ("loop0", "loop_data0"))
    arguments = ", ".join(one.typed for one in (arrays, size, steps, data))
    w.line(f"call void {loop.name}({arguments})")
    w.give(found.load(WIDE, 64))


@routine("permute", HALF, HALF, HALF)
def permute(w: Code, x: Term, lanes: Term) -> None:
    """What the lanes of those numbers have."""
    own = kept(w, x).cast("ptrtoint", "i64") + ((lanes & (LANES - 1)) << 2).cast("zext", WIDE)
    w.give(gathered(w, 32, own, w.term(ALL, "i32")))
