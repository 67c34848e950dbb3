"""Routines that watch the order of warps: who wrote a cell, who read it.

An epoch is a number: in its upper bits a phase (what a block does between two barriers), in the
lower ones a warp. Each cell keeps the latest epoch that wrote it and the one that read it; -1
stands for readers of several blocks. Cells that are to be written once have a bit instead.
"""

from functools import partial

from gpuviz.ptx.compiled.memory_map import CONFLICT, ENTRY, TWICE
from gpuviz.ptx.compiled.requests import HALF, WIDE, gathered, kept, scattered
from gpuviz.ptx.compiled.routines import Code, Term, ask, field, routine
from gpuviz.ptx.simt.spaces import GLOBAL

WARPS = 64  # epochs of a phase
_SEVERAL = -1


class _Cells:
    """Cells that a warp touches: their addresses, the epochs they keep, which are of others."""

    def __init__(self, w: Code, c: Term, table: str, everywhere: bool, i: Term, m: Term) -> None:
        epoch, since = field(c, "epoch", "i32"), field(c, "since", "i32")
        self.w, self.c, self.m = w, c, m
        self.at = (i << 2) + field(c, table)
        self.old = gathered(w, 32, self.at, m)
        self.me, self.phase = w.term(epoch, HALF), w.term(epoch & -WARPS, HALF)
        self.other_epoch = self.old.ne(self.me) & self.old.least(self.phase)
        self.other_block = self.old.ne(0) & self.old.below(since)
        self.clash = self.other_epoch | self.other_block if everywhere else self.other_epoch

    def keep(self, epochs: Term) -> None:
        """Leave an epoch in each."""
        scattered(self.w, 32, epochs, self.at, self.m)

    def refuse(self, wrong: Term) -> None:
        """Stop the launch where a cell is wrong."""
        w = self.w
        with w.when((wrong.bits() & self.m).ne(0), rare=True):
            ask(w, "stop", self.c, w.term(CONFLICT, "i32"), w.term(0, "i32"))
            w.give()


def _claim(space: str, w: Code, c: Term, i: Term, m: Term) -> None:
    """Write: nobody else has in this phase, and with blocks in no order no other block."""
    cells = _Cells(w, c, _TABLES[space][0], space == "global", i, m)
    cells.refuse(cells.clash)
    cells.keep(cells.me)


def _unread(space: str, w: Code, c: Term, i: Term, m: Term) -> None:
    """Before a write: nobody else has read."""
    cells = _Cells(w, c, _TABLES[space][1], space == "global", i, m)
    cells.refuse(cells.clash | cells.old.eq(_SEVERAL))


def _seen(space: str, w: Code, c: Term, i: Term, m: Term) -> None:
    """Before a read: nobody else has written."""
    cells = _Cells(w, c, _TABLES[space][0], space == "global", i, m)
    cells.refuse(cells.clash)


def _reads(space: str, w: Code, c: Term, i: Term, m: Term) -> None:
    """Read: alone, or as one of several warps, or of several blocks."""
    cells = _Cells(w, c, _TABLES[space][1], space == "global", i, m)
    epochs = cells.other_epoch.choose(cells.phase | (WARPS - 1), cells.me)
    if space == "global":
        epochs = (cells.other_block | cells.old.eq(_SEVERAL)).choose(_SEVERAL, epochs)
    cells.keep(epochs)


_TABLES = {"global": ("global_written", "global_readers"), "shared": ("written", "readers")}
for _space in _TABLES:
    for _name, _write in (
        ("claim", _claim),
        ("unread", _unread),
        ("seen", _seen),
        ("reads", _reads),
    ):
        routine(f"{_name}_{_space}", "void", "ptr", WIDE, "i32")(partial(_write, _space))


# --- cells that are written once -----------------------------------------------------------------


def _mark(w: Code, word: Term, own: Term, seen: Term) -> Term:
    """Set bits of a word of 64; those that were there before, beside those seen already."""
    old = word.load("i64", 4)
    word.store(old | own, align=4)
    return seen | (old & own)


def _refuse(w: Code, c: Term, seen: Term) -> None:
    with w.when(seen.ne(0), rare=True):
        ask(w, "stop", c, w.term(TWICE, "i32"), w.term(0, "i32"))


@routine("once", "void", "ptr", "ptr", WIDE, "i32", "i64", "i64")
def once(w: Code, c: Term, e: Term, a: Term, m: Term, shift: Term, further: Term) -> None:
    """Write the cells `further` cells on from global addresses.

    With an entry whose lanes are a cell apart its stretches are marked at once.
    """
    with w.when(m.eq(0)):
        w.give()
    table, seen = field(c, "once", "ptr"), w.variable(0, "i64")
    cells = kept(w, ((a - GLOBAL) >> shift) + further)
    none = w.term(0, "i32")
    stretches = w.variable(none)
    with w.when(e.ne(0)):
        stretches.set(e.at(ENTRY["stretches"]).load("i32"))
    with w.below(stretches.value.cast("zext", "i64")) as which:
        own = e.at(ENTRY["stretch"]).at(which, "i64").load("i32").cast("zext", "i64")
        lane = w.lowest(own)
        first = cells.at(lane, "i64").load("i64")
        seen.set(_mark(w, table.at(first >> 5, "i32"), (own >> lane) << (first & 31), seen.value))
    with w.when(stretches.value.eq(0)), w.each(m) as lane:
        cell = cells.at(lane, "i64").load("i64")
        seen.set(_mark(w, table.at(cell >> 5, "i32"), w.term(1, "i64") << (cell & 31), seen.value))
    _refuse(w, c, seen.value)


@routine("once_run", "void", "ptr", "i64", "i64")
def once_run(w: Code, c: Term, cell: Term, words: Term) -> None:
    """Write 32 cells from one on, as many times as there are words."""
    table, seen = field(c, "once", "ptr").at(cell >> 5, "i32"), w.variable(0, "i64")
    own = w.term(0xFFFFFFFF, "i64") << (cell & 31)
    with w.below(words) as number:
        seen.set(_mark(w, table.at(number, "i32"), own, seen.value))
    _refuse(w, c, seen.value)
