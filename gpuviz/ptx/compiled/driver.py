"""The routine that runs the blocks of a worker: warps in turn, from barrier to barrier."""

from gpuviz.ptx.compiled.epochs import WARPS
from gpuviz.ptx.compiled.memory_map import (
    BARRIER,
    END,
    ENDED,
    FRAME,
    NEEDED,
    PLACES,
    RUNNING,
    STOP,
    SWITCH,
    WAIT,
    WAITING,
    WORKER,
)
from gpuviz.ptx.compiled.routines import Code, Term, ask, field, routine, vector


def _set(c: Term, name: str, value: Term | int, kind: str = "i64") -> None:
    c.at(WORKER[name]).store(value, kind)


class _Frames:
    """The frames of the warps of a block."""

    def __init__(self, w: Code, c: Term) -> None:
        self.w = w
        self.start, self.size = field(c, "frames", "ptr"), field(c, "frame_size")
        self.warps = field(c, "warps")

    def of(self, warp: Term) -> Term:
        """That of one warp."""
        return self.start.at(warp * self.size)


NAME = "run"


@routine(NAME, "i32", "ptr")
def run(w: Code, c: Term) -> None:
    """Run blocks from `block` up to `last_block`; goes on where it was left off.

    END when there are no more, STOP when the launch is to end, NEEDED when there is no code yet for
    what comes next (`needed`).
    """
    frames = _Frames(w, c)
    with w.loop():
        with w.when(field(c, "block").least(field(c, "last_block"))):
            w.give(END)
        with w.when(field(c, "inside").eq(0)):
            _begin(w, c, frames)
        with w.loop() as done:
            _phase(w, c, frames)
            with w.when(c.at(WORKER["stop"]).load("i32").ne(0)):
                w.give(STOP)
            _pass(w, c, frames, done)
        _set(c, "inside", 0)
        _set(c, "block", field(c, "block") + 1)


def _begin(w: Code, c: Term, frames: _Frames) -> None:
    """Enter a block: its memory is empty, all of its warps are at the start."""
    local = field(c, "local_warp") * frames.warps
    for name, size in (("shared", field(c, "shared_size")), ("block_local", local)):
        zero, no = w.term(0, "i8"), w.term(0, "i1")
        w.asked("void", "llvm.memset.p0.i64", field(c, name, "ptr"), zero, size, no)
    _next_phase(w, c)
    _set(c, "since", field(c, "epoch", "i32"))
    block, columns = field(c, "block"), field(c, "nctaid.x")
    rows = field(c, "nctaid.y")
    _set(c, "ctaid.x", block % columns)
    _set(c, "ctaid.y", block // columns % rows)
    _set(c, "ctaid.z", block // columns // rows)
    _set(c, "inside", 1)
    _set(c, "warp", 0)
    exists, begin = field(c, "exists", "ptr"), field(c, "begin", "ptr")
    with w.below(frames.warps) as warp:
        f = frames.of(warp)
        for name in ("status", "resume", "region", "waiting", "blocked"):
            f.at(FRAME[name]).store(0, "i32")
        f.at(FRAME["function"]).store(begin.at(warp, "i32").load("i32"))
        f.at(FRAME["live"]).store(exists.at(warp, "i32").load("i32"))
        f.at(PLACES).store(0, vector(32), 64)


def _next_phase(w: Code, c: Term) -> None:
    """Epochs of a new phase; there are many, but not without end."""
    old = field(c, "epoch", "i32")
    new = (old + WARPS) & -WARPS
    _set(c, "epoch", new)
    with w.when(new.below(old), rare=True):
        ask(w, "stop", c, w.term(BARRIER, "i32"), w.term(0, "i32"))
        w.give(STOP)


def _phase(w: Code, c: Term, frames: _Frames) -> None:
    """Every warp that runs, until it ends or waits."""
    warps, functions = frames.warps, field(c, "functions", "ptr")
    with w.loop() as end:
        warp = field(c, "warp")
        w.go_if(warp.least(warps), end)
        f = frames.of(warp)
        with w.when(f.at(FRAME["status"]).load("i32").eq(RUNNING)):
            _set(c, "epoch", (field(c, "epoch", "i32") & -WARPS) | warp.cast("trunc", "i32"))
            _set(c, "local", field(c, "block_local", "ptr").at(warp * field(c, "local_warp")))
            _set(c, "latest", f.at(field(c, "entries")))
            with w.loop() as rest:
                number = f.at(FRAME["function"]).load("i32").cast("zext", "i64")
                function = functions.at(number, "i64").load("ptr")
                with w.when(function.eq(0), rare=True):
                    _set(c, "needed", number)
                    w.give(NEEDED)
                text = f"call i32 {function.name}({c.typed}, {f.typed})"
                said = Term(w, "i32", w.let(text))
                with w.when(said.eq(STOP), rare=True):
                    w.give(STOP)
                with w.when(said.ne(SWITCH)):
                    f.at(FRAME["status"]).store(said.eq(WAIT).choose(WAITING, w.term(ENDED, "i32")))
                    w.goto(rest)
        _set(c, "warp", warp + 1)


def _pass(w: Code, c: Term, frames: _Frames, done: str) -> None:
    """Warps that wait go on when all wait at the same barrier; `done` when there are none."""
    waits = w.variable(0, "i32")
    lowest, highest = w.variable(-1, "i32"), w.variable(0, "i32")
    with w.below(frames.warps) as warp:
        f = frames.of(warp)
        with w.when(f.at(FRAME["status"]).load("i32").eq(WAITING)):
            barrier = f.at(FRAME["barrier"]).load("i32")
            waits.set(1)
            lowest.set(barrier.below(lowest.value).choose(barrier, lowest.value))
            highest.set(barrier.above(highest.value).choose(barrier, highest.value))
    w.go_if(waits.value.eq(0), done)
    with w.when(lowest.value.ne(highest.value), rare=True):
        ask(w, "stop", c, w.term(BARRIER, "i32"), w.term(0, "i32"))
        w.give(STOP)
    _next_phase(w, c)
    with w.below(frames.warps) as warp:
        status = frames.of(warp).at(FRAME["status"])
        with w.when(status.load("i32").eq(WAITING)):  # others have ended
            status.store(RUNNING, "i32")
            frames.of(warp).at(FRAME["waiting"]).store(0, "i32")
    _set(c, "warp", 0)
