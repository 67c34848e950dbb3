"""Routines that check, count and carry out requests whose addresses differ from lane to lane.

A warp that goes through a kernel makes the same few patterns again and again: sets of lanes with
the same distances between them. The first time, a pattern becomes an entry of the table of its
instruction; from then on one comparison checks, counts and splits a request. Requests that fit no
entry are handed on as they are.
"""

from collections.abc import Callable, Iterator
from functools import partial

from gpuviz.ptx.compiled.memory_map import (
    ACCESS,
    ACCESS_SIZE,
    ENTRY,
    FAR,
    FAULT,
    PIECES,
    PROBES,
    ROW,
    SECTOR,
    SOURCE,
    WORKER,
)
from gpuviz.ptx.compiled.routines import ALL, Code, Term, ask, asked, field, routine, splat, vector
from gpuviz.ptx.compiled.writer import lanes
from gpuviz.traces.trace import LANES

WIDE, HALF = vector(64), vector(32)
_FACTORS = lanes([(0x9E3779B1 * (2 * i + 1)) & ALL | 1 for i in range(LANES)], 32)


def _access(c: Term, k: Term) -> Term:
    """The record of access number k."""
    return field(c, "accesses", "ptr").at(k.cast("zext", "i64") * ACCESS_SIZE)


def _of(d: Term, name: str, kind: str = "i64") -> Term:
    return d.at(ACCESS[name]).load(kind)


def _in(e: Term, name: str, kind: str) -> Term:
    return e.at(ENTRY[name]).load(kind, 4)


def kept(w: Code, value: Term) -> Term:
    """A vector in memory, for its elements."""
    place = w.place(value.kind)
    place.store(value, align=64)
    return place


def first_of(w: Code, addresses: Term, m: Term) -> Term:
    """The address of the first lane of a set."""
    return addresses.at(w.lowest(m), "i64").load("i64")


def gathered(w: Code, bits: int, host: Term, m: Term) -> Term:
    """What lies at addresses of this machine, 0 for other lanes."""
    kind, many = vector(bits), f"<{LANES} x ptr>"
    name = f"llvm.masked.gather.v32i{bits}.v32p0"
    align = Term(w, "i32", str(bits // 8))
    nothing = Term(w, kind, splat(0, kind))
    return w.asked(kind, name, host.cast("inttoptr", many), align, m.lanes(), nothing)


def scattered(w: Code, bits: int, values: Term, host: Term, m: Term) -> None:
    """Put values at addresses of this machine; the highest lane wins."""
    name = f"llvm.masked.scatter.v32i{bits}.v32p0"
    places = host.cast("inttoptr", f"<{LANES} x ptr>")
    w.asked("void", name, values, places, Term(w, "i32", str(bits // 8)), m.lanes())


# --- patterns ------------------------------------------------------------------------------------


@routine("learn", "void", "ptr", HALF, "i32", "i64")
def learn(w: Code, e: Term, relative: Term, m: Term, step: Term) -> None:
    """Write down a pattern: its reach, and the pieces it falls into."""
    e.at(ENTRY["lanes"]).store(m)
    e.at(ENTRY["relative"]).store(relative, align=4)
    places = kept(w, relative)
    least, most, bits = w.variable(0, "i64"), w.variable(0, "i64"), w.variable(0, "i64")
    ends = {name: _Pieces(w, e, name) for name in ("stretch", "spot")}
    before, runs = w.variable(-(1 << 40), "i64"), w.variable(0, "i64")
    with w.each(m) as lane:
        at = places.at(lane, "i32").load("i32").cast("sext", "i64")
        least.set(at.compare("slt", least.value).choose(at, least.value))
        most.set(at.compare("sgt", most.value).choose(at, most.value))
        bits.set(bits.value | at)
        ends["stretch"].add(lane, at - lane * step)
        ends["spot"].add(lane, at)
        with w.when((at - before.value).above(SECTOR)):
            runs.set(runs.value + 1)
            e.at(ENTRY["run"] - 8).at(runs.value, "i64").store(at.cast("trunc", "i32"))
        e.at(ENTRY["run"] - 4).at(runs.value, "i64").store(at.cast("trunc", "i32"))
        before.set(at)
    e.at(ENTRY["least"]).store(least.value)
    e.at(ENTRY["extent"]).store(most.value - least.value)
    e.at(ENTRY["bits"]).store(bits.value)
    e.at(ENTRY["runs"]).store(runs.value.cast("trunc", "i32"))
    found = {name: one.count.value for name, one in ends.items()}
    fewer = found["spot"].below(found["stretch"]) | step.eq(0)
    for name, own in (("stretches", ~fewer), ("spots", fewer)):
        number = found["stretch" if name == "stretches" else "spot"]
        fits = own & ~number.above(PIECES)
        e.at(ENTRY[name]).store(fits.choose(number, 0).cast("trunc", "i32"))


class _Pieces:
    """Collects lanes, taken in order, that have a number in common."""

    def __init__(self, w: Code, e: Term, name: str) -> None:
        self.w, self.list = w, e.at(ENTRY[name])
        self.count, self.last = w.variable(0, "i64"), w.variable(1 << 40, "i64")

    def add(self, lane: Term, number: Term) -> None:
        """Add a lane."""
        w = self.w
        with w.when(number.ne(self.last.value)):
            with w.when(self.count.value.below(PIECES)):
                self.list.at(self.count.value, "i64").store(0, "i32")
                self.list.at(self.count.value, "i64").at(4).store(number.cast("trunc", "i32"))
            self.count.set(self.count.value + 1)
            self.last.set(number)
        with w.when(self.count.value.below(PIECES + 1)):
            own = self.list.at(-8).at(self.count.value, "i64")
            bit = w.term(1, "i32") << lane.cast("trunc", "i32")
            own.store(own.load("i32") | bit)


@routine("find", "ptr", "ptr", "ptr", WIDE, "i32", "i64")
def find(w: Code, c: Term, d: Term, a: Term, m: Term, base: Term) -> None:
    """The entry of a request, made now if need be; null when there is no room for it."""
    far = (a - base + FAR).above(2 * FAR).bits() & m
    with w.when(far.ne(0)):
        w.give(0, "ptr")
    wide = m.lanes().choose(a - base, 0)
    relative = wide.cast("trunc", HALF)
    mixed = relative * Term(w, HALF, _FACTORS)
    sums = w.asked("i32", "llvm.vector.reduce.add.v32i32", mixed) + m * -1640531535
    number = (sums ^ (sums >> 16)).cast("zext", "i64")
    table, size, slots = _of(d, "table", "ptr"), _of(d, "entry_size"), _of(d, "slots")
    with w.below(PROBES) as probe:
        e = table.at(((number + probe) & (slots - 1)) * size)
        own = _in(e, "lanes", "i32")
        with w.when(own.eq(0)):
            ask(w, "learn", e, relative, m, _of(d, "step"))
            w.give(e)
        unlike = _in(e, "relative", HALF).ne(relative).bits() | (own ^ m)
        with w.when(unlike.eq(0)):
            w.give(e)
    w.give(0, "ptr")


@routine("tell", "void", "ptr", "i32", WIDE, "i32")
def tell(w: Code, c: Term, k: Term, a: Term, m: Term) -> None:
    """Hand on a request as it is."""
    used = field(c, "rows_used")
    row = field(c, "rows", "ptr").at(used * ROW)
    row.store(k)
    row.at(4).store(m)
    row.at(8).store(a, align=8)
    c.at(WORKER["rows_used"]).store(used + 1)
    with w.when((used + 1).least(field(c, "rows_most"))):
        w.line(f"call void {field(c, 'flush', 'ptr').name}({c.typed})")


@routine("tell_copy", "void", "ptr", "i32", WIDE, WIDE, "i32")
def tell_copy(w: Code, c: Term, k: Term, a: Term, source: Term, m: Term) -> None:
    """Hand on a copy, where it goes and then where it comes from, never parted."""
    with w.when((field(c, "rows_used") + 2).least(field(c, "rows_most"))):
        w.line(f"call void {field(c, 'flush', 'ptr').name}({c.typed})")
    ask(w, "tell", c, k, a, m)
    ask(w, "tell", c, k | SOURCE, source, m)


@routine("copied", "i32", "ptr", "i32", WIDE, WIDE, "i32")
def copied(w: Code, c: Term, k: Term, a: Term, source: Term, m: Term) -> None:
    """Check where copies go and hand them on: the lanes that may go on."""
    with w.when(m.eq(0)):
        w.give(0)
    with w.when(asked(w, "allowed", c, _access(c, k), a, m).eq(0)):
        ask(w, "stop", c, w.term(FAULT, "i32"), k)
        w.give(0)
    ask(w, "tell_copy", c, k, a, source, m)
    w.give(m)


@routine("mark", "void", "ptr", WIDE, "i32")
def mark(w: Code, marks: Term, a: Term, m: Term) -> None:
    """Note the sectors that lanes start in."""
    places = kept(w, a >> 5)
    with w.each(m) as lane:
        marks.at(places.at(lane, "i64").load("i64")).store(1, "i8")


# --- checks --------------------------------------------------------------------------------------


@routine("allowed", "i32", "ptr", "ptr", WIDE, "i32")
def allowed(w: Code, c: Term, d: Term, a: Term, m: Term) -> None:
    """Whether every lane is inside of a buffer, and aligned."""
    width = _of(d, "width")
    crooked = (a & (width - 1)).ne(0).bits() & m
    with w.when(crooked.ne(0)):
        w.give(0)
    outside = w.variable((a - _of(d, "low")).above(_of(d, "span")).bits() & m)
    with w.when(outside.value.eq(0)):
        w.give(1)
    with w.when(_of(d, "known").ne(0)):
        w.give(0)
    buffers = field(c, "buffers", "ptr")
    with w.below(field(c, "buffer_count")) as number:
        low = buffers.at(number << 4).load("i64")
        span = buffers.at(number << 4).at(8).load("i64") - low - width
        out = (a - low).above(span).bits() | span.compare("slt", 0).cast("sext", "i32")
        with w.when((out & m).eq(0)):  # most likely the next requests go there, too
            d.at(ACCESS["low"]).store(low)
            d.at(ACCESS["span"]).store(span)
        outside.set(outside.value & out)
    w.give(outside.value.eq(0).cast("zext", "i32"))


@routine("single", "ptr", "ptr", "i32", WIDE, "i32")
def single(w: Code, c: Term, k: Term, a: Term, m: Term) -> None:
    """Check a request that fits no pattern, and hand it on: an entry without pieces."""
    d = _access(c, k)
    with w.when(asked(w, "allowed", c, d, a, m).eq(0)):
        w.give(0, "ptr")
    ask(w, "tell", c, k, a, m)
    marks = _of(d, "marks", "ptr")
    with w.when(marks.ne(0)):
        ask(w, "mark", marks, a, m)
    w.give(field(c, "unlike", "ptr"))


def _touched(
    w: Code, c: Term, k: Term, a: Term, m: Term, nothing: Callable[[], None]
) -> tuple[Term, Term]:
    """Check and count a request: its entry, and the address of its first lane.

    Where no lane asks, or one may not, the routine gives `nothing`.
    """
    with w.when(m.eq(0)):
        nothing()
    d, base, done = _access(c, k), first_of(w, kept(w, a), m), w.label("done")
    latest = field(c, "latest", "ptr").at(k.cast("zext", "i64"), "i64")
    entry = w.variable(latest.load("ptr"))
    relative = _in(entry.value, "relative", HALF).cast("sext", WIDE)
    unlike = (a - relative).ne(base).bits() & m | (_in(entry.value, "lanes", "i32") ^ m)
    with w.when(unlike.ne(0), rare=True):
        entry.set(asked(w, "find", c, d, a, m, base))
        with w.when(entry.value.eq(0)):
            entry.set(asked(w, "single", c, k, a, m))
            with w.when(entry.value.eq(0)):
                ask(w, "stop", c, w.term(FAULT, "i32"), k)
                nothing()
            w.goto(done)
        latest.store(entry.value)
    e = entry.value
    start, span = base + _in(e, "least", "i64") - _of(d, "low"), _of(d, "span")
    outside = start.above(span) | (start + _in(e, "extent", "i64")).above(span)
    crooked = ((base | _in(e, "bits", "i64")) & (_of(d, "width") - 1)).ne(0)
    with w.when(outside | crooked, rare=True), w.when(asked(w, "allowed", c, d, a, m).eq(0)):
        ask(w, "stop", c, w.term(FAULT, "i32"), k)
        nothing()
    phase = (base & _of(d, "phases")) >> _of(d, "shift")
    count = e.at(ENTRY["counts"]).at(phase, "i64")
    count.store(count.load("i64") + 1)
    _mark_runs(w, _of(d, "marks", "ptr"), e, base)
    w.goto(done)
    w.at(done)
    return entry.value, base


def _mark_runs(w: Code, marks: Term, e: Term, base: Term) -> None:
    """Note the sectors of a pattern."""
    with w.when(marks.ne(0)), w.below(_in(e, "runs", "i32").cast("zext", "i64")) as number:
        run = e.at(ENTRY["run"]).at(number, "i64")
        first, last = (
            (base + run.at(4 * i).load("i32").cast("sext", "i64")) >> 5 for i in range(2)
        )
        for end in (first, last):
            marks.at(end).store(1, "i8")
        between = w.variable(first + 1)
        with w.loop() as done:
            now = between.value
            w.go_if(now.least(last), done)
            marks.at(now).store(1, "i8")
            between.set(now + 1)


@routine("touch", "ptr", "ptr", "i32", WIDE, "i32")
def touch(w: Code, c: Term, k: Term, a: Term, m: Term) -> None:
    """Check and count a request: its entry, or null when no lane may go on."""
    entry, _ = _touched(w, c, k, a, m, lambda: w.give(0, "ptr"))
    w.give(entry)


# --- what requests do ----------------------------------------------------------------------------


def _pieces(w: Code, e: Term, name: str, number: Term) -> Iterator[tuple[Term, Term]]:
    """The lanes of each piece, and where it starts."""
    with w.below(number.cast("zext", "i64")) as which:
        piece = e.at(ENTRY[name]).at(which, "i64")
        yield piece.load("i32"), piece.at(4).load("i32").cast("sext", "i64")


def _fetched(w: Code, bits: int, e: Term, base: Term, a: Term, m: Term, host: Term) -> Term:
    """Load what the lanes of an entry ask for; `host` is added to addresses."""
    kind, align = vector(bits), Term(w, "i32", str(bits // 8))
    found = w.variable(0, kind)
    stretches, spots = (_in(e, name, "i32") for name in ("stretches", "spots"))
    for own, start in _pieces(w, e, "stretch", stretches):
        place = (host + base + start).cast("inttoptr", "ptr")
        name = f"llvm.masked.load.v32i{bits}.p0"
        found.set(w.asked(kind, name, place, align, own.lanes(), found.value))
    for own, start in _pieces(w, e, "spot", spots):
        value = (host + base + start).cast("inttoptr", "ptr").load(f"i{bits}", bits // 8)
        found.set(own.lanes().choose(w.term(value, kind), found.value))
    with w.when((stretches | spots).eq(0)):
        found.set(gathered(w, bits, a + host, m))
    return found.value


def _take(bits: int, w: Code, c: Term, k: Term, a: Term, m: Term, host: Term) -> None:
    """Check, count and load."""
    entry, base = _touched(w, c, k, a, m, lambda: w.give(0, vector(bits)))
    w.give(_fetched(w, bits, entry, base, a, m, host))


def _fetch(bits: int, w: Code, e: Term, a: Term, m: Term, host: Term) -> None:
    """Load, after `touch`."""
    with w.when(e.eq(0)):
        w.give(0, vector(bits))
    w.give(_fetched(w, bits, e, first_of(w, kept(w, a), m), a, m, host))


def _put(bits: int, w: Code, e: Term, x: Term, a: Term, m: Term, host: Term) -> None:
    """Store, after `touch`; the highest lane wins."""
    with w.when(e.eq(0)):
        w.give()
    base, stretches = first_of(w, kept(w, a), m), _in(e, "stretches", "i32")
    for own, start in _pieces(w, e, "stretch", stretches):
        place, align = (host + base + start).cast("inttoptr", "ptr"), Term(w, "i32", str(bits // 8))
        w.asked("void", f"llvm.masked.store.v32i{bits}.p0", x, place, align, own.lanes())
    with w.when(stretches.eq(0)):
        scattered(w, bits, x, a + host, m)


def _gather(bits: int, w: Code, host: Term, m: Term) -> None:
    """Load from addresses of this machine."""
    w.give(gathered(w, bits, host, m))


for _bits in (8, 16, 32, 64):
    routine(f"gather_{_bits}", vector(_bits), WIDE, "i32")(partial(_gather, _bits))
    routine(f"scatter_{_bits}", "void", vector(_bits), WIDE, "i32")(
        lambda w, x, host, m, bits=_bits: scattered(w, bits, x, host, m)
    )
    routine(f"take_{_bits}", vector(_bits), "ptr", "i32", WIDE, "i32", "i64")(partial(_take, _bits))
    routine(f"fetch_{_bits}", vector(_bits), "ptr", WIDE, "i32", "i64")(partial(_fetch, _bits))
    routine(f"put_{_bits}", "void", "ptr", vector(_bits), WIDE, "i32", "i64")(partial(_put, _bits))


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
