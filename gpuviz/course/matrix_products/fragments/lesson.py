"""Fragments: which lane holds which element of a product on tensor cores, and how it gets there."""

from dataclasses import dataclass, replace

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import F64, I64
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.course.matrix_products.fragments.fragment_map import (
    FIRST,
    FORMS,
    Form,
    FragmentMatrices,
    Outline,
    Spread,
    WarpRegisters,
    owners,
)
from gpuviz.draw.ease import passed
from gpuviz.memory.bank_request import BankRequest, bank_requests
from gpuviz.memory.banks import wavefronts
from gpuviz.memory.units import counted
from gpuviz.panels.bank_board import with_board
from gpuviz.panels.bank_map import BankMap
from gpuviz.panels.count_boxes import CountBoxes
from gpuviz.panels.figures import Figure, FigureRow, Provenance, TextLine, published
from gpuviz.panels.layout import Node, columns, rows, share, spare
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.picture import Picture
from gpuviz.ptx.tensor.fragments import Fragment
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.measured import time_figures, time_of
from gpuviz.story.script import Act, Script
from gpuviz.traces.trace import LANES, Trace
from gpuviz.words.language import grouped, tr, trn

_ROLE, _SWEEP, _KERNEL = "warp", "every pitch", "fragments.cu"
_PITCHES = 32  # of the table
_BLOCKS, _THREADS, _TIMES = 528, 256, 64  # of the launch that is timed
_INTRO, _ONE, _MOST, _HELD, _MULTIPLY, _TABLE, _END = 2.5, 0.8, 5.0, 2.5, 2.5, 3.5, 2.5  # seconds

LOOK_FOR = (
    "Which lane holds which element of A, B and D, and what it takes to load them with ldmatrix."
)
WORDS = ("lane", "register", "bank", "wavefront", "conflict", "padding")

PARAMETERS = (
    Parameter(
        "form",
        "shape and type",
        "m16n8k16 f16",
        offers={name: name for name in FORMS},
        compiled=True,
        hint="rows of A, columns of B, and how long both are: m, n, k; the type of A and B",
    ),
    Parameter(
        "pitch",
        "row pitch, bytes",
        128,
        offers=(16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 208, 256, 272),
        hint="bytes from one row of A, or column of B, to the next in shared memory",
    ),
    Parameter("lane", "lane followed", 5, 0, LANES - 1, hint="its elements are outlined"),
)

PRESETS = (
    Preset("Rows of 128 bytes", {"form": "m16n8k16 f16", "pitch": 128}),
    Preset("Padded to 144 bytes", {"form": "m16n8k16 f16", "pitch": 144}),
    Preset("tf32", {"form": "m16n8k8 tf32", "pitch": 144}),
    Preset("8-bit integers", {"form": "m16n8k32 s8", "pitch": 144}),
    Preset("double", {"form": "m8n8k4 f64", "pitch": 48}),
)


def problem(values: Values) -> str:
    """Rows that overlap."""
    form, pitch = _form(values), number(values, "pitch")
    if pitch < form.bytes:
        what = {"form": form.name, "n": form.bytes, "pitch": pitch}
        return tr(
            "A row of {form} has {n} bytes: choose a pitch of at least {n}, not {pitch}.", **what
        )
    return ""


def _form(values: Values) -> Form:
    return FORMS[str(values["form"])]


def plan(values: Values) -> tuple[Plan, ...]:
    """One warp's product; the same many times; and one block for each pitch."""
    form, pitch = _form(values), number(values, "pitch")
    main = _launch(form, _ROLE, "product", 1, LANES, pitch, (f"i32={pitch}", "i32=1"))
    more = f"i32={pitch}", f"i32={_TIMES}"
    large = _launch(form, _ROLE, "product", _BLOCKS, _THREADS, pitch, more)
    first = _first(form)
    last = 16 * (first + _PITCHES - 1)
    every = _launch(form, _SWEEP, "pitches", _PITCHES, LANES, last, (f"i32={first}",))
    beside = main.companion(large.size, large.grid, large.arguments, block=large.block)
    return main, beside, every


def _first(form: Form) -> int:
    """The first pitch of the table, in pieces of 16 bytes."""
    return max(form.bytes // 16, 1)


def _launch(
    form: Form, role: str, entry: str, blocks: int, threads: int, pitch: int, extra: tuple[str, ...]
) -> Plan:
    warps = blocks * threads // LANES
    times = extra[-1].removeprefix("i32=") if role == _ROLE else "1"
    each = trn("{n} product a warp", "{n} products a warp", int(times))
    return Plan(
        role,
        _KERNEL,
        entry,
        (blocks, 1, 1),
        (threads, 1, 1),
        (form.given(form.rows), form.given(8), form.taken(warps), *extra),
        form.defines,
        (form.rows + 8) * pitch,
        tuple(range(blocks)) if role == _SWEEP else (0,),
        size=f"{form.name}, {trn('{n} warp', '{n} warps', warps, n=grouped(warps))}, {each}",
    )


@dataclass(frozen=True, eq=False)
class MatrixLoad:
    """How a warp loads one matrix: its requests, and the wavefront that brings each of its cells.

    Wavefronts are counted through all requests.
    """

    requests: tuple[BankRequest, ...]
    turn: I64

    @property
    def count(self) -> int:
        """Wavefronts of all requests."""
        return sum(one.count for one in self.requests)

    def at(self, served: float) -> tuple[BankRequest, float]:
        """The request under way, and how many of its wavefronts are over."""
        for one in self.requests:
            if served < one.count or one is self.requests[-1]:
                return one, served
            served -= one.count
        raise AssertionError

    def come(self, served: float) -> F64:
        """(cells,) how far each is there."""
        return np.clip(served - self.turn, 0.0, 1.0)


def loading(requests: tuple[BankRequest, ...], first: int, pitch: int, form: Form) -> MatrixLoad:
    """Requests to rows that begin at byte `first`: (rows, pieces) of the form's cells, by address.

    Cells are numbered row by row as they lie in memory.
    """
    cell = form.grouped * form.bits / 8  # bytes
    wide = int(form.bytes / cell)
    found: dict[int, int] = {}
    before = 0
    for one in requests:
        for turn, lanes in enumerate(one.waves):
            for lane in lanes.tolist():
                row, byte = divmod(int(one.address[lane]) - first, pitch)
                at = row * wide + int(byte / cell)
                found |= dict.fromkeys(
                    range(at, at + int(one.instruction.width / cell)), before + turn
                )
        before += one.count
    return MatrixLoad(requests, np.array([found[n] for n in sorted(found)], np.int64))


def narrate(values: Values, runs: Runs) -> Story:
    """Who will hold what; A and B are loaded; they are held, and multiplied; then every pitch."""
    form, pitch, run = _form(values), number(values, "pitch"), runs[_ROLE]
    arch = architecture(run.arch)
    loads = [r for r in bank_requests(run.trace, arch, 0, 0) if not r.is_store]
    behind = form.rows * pitch
    of_a = tuple(r for r in loads if int(r.address[r.active].min()) < behind)
    of_b = tuple(r for r in loads if int(r.address[r.active].min()) >= behind)
    if not of_a or not of_b:
        raise InputError("the trace has no shared loads of block 0; record block 0")
    a, b = loading(of_a, 0, pitch, form), loading(of_b, behind, pitch, form)
    table = _table(runs[_SWEEP].trace, arch, form)
    multiplies = arch.cc >= form.since or bool(form.halves and arch.cc >= FIRST)

    script = Script(_ROLE)
    script.act(_INTRO, "intro", tr("who holds what"), f"mma.sync {form.shape}")
    first = _load(script, "A", a)
    second = _load(script, "B", b)
    held = script.act(_HELD, "shared", tr("fragments"), tr("registers of a warp"))
    product = script.act(
        _MULTIPLY, "compute", tr("multiply"), f"mma.sync.{form.shape}.{form.types}"
    )
    every = script.act(_TABLE, "load", tr("every pitch"), _name(of_a[0]), table.line, _SWEEP)
    script.act(_END, "result", tr("the rule"), _name(of_a[0]), table.line, _SWEEP)
    followed, time = number(values, "lane"), time_figures(time_of(run))
    lack = _lack(arch, form)

    def at(t: float) -> Picture:
        if t >= every.start:
            return _pitches(table, every.counted(t, len(table.pitch)), pitch, time)
        done = [act.counted(t, one.count) for act, one in ((first, a), (second, b))]
        came = product.share(t) if multiplies else 0.0
        spreads = _spreads(form, a.come(done[0]), b.come(done[1]), came)
        if first.start <= t < held.start:
            name, which, served = ("A", a, done[0]) if t < second.start else ("B", b, done[1])
            request, part = which.at(served)
            matrices = FragmentMatrices(*spreads, followed, _asked(spreads, name, which, served))
            right: Node = with_board(BankMap(request, 1.0, part), request, part)
            body = columns(share(0.8, matrices), share(1.2, right), gap=2.0)
            return Picture(_load_title(form, name), _load_sentence(request), body)
        marked = _met(spreads, followed) if t >= product.start else ()
        matrices = FragmentMatrices(*spreads, followed, marked)
        right = _registers(form, spreads, followed, lack)
        body = columns(share(0.8, matrices), share(1.2, right), gap=2.0)
        return Picture(*_verdict(form, t, held, product, followed, lack, multiplies), body)

    return Story.of(script, at, _expected(form, pitch, arch), _rule(table))


def _registers(form: Form, spreads: tuple[Spread, ...], lane: int, lack: str) -> Node:
    """The registers of the warp, and what one lane holds."""
    return rows(
        WarpRegisters(spreads, lane),
        spare(_words(form, lane), 1),
        *((TextLine((lack,), "warn"),) if lack else ()),
        spare(_published(form), 2),
        gap=0.6,
    )


def _load(script: Script, name: str, what: MatrixLoad) -> Act:
    """The wavefronts of one matrix's requests."""
    did = what.requests[0].instruction
    detail = f"{did.text} · {counted('wavefront', what.count)}"

    def label(begin: int, last: int) -> str:
        if begin == last:
            return tr("{matrix}, wavefront {number}", matrix=name, number=begin + 1)
        return tr("{matrix}, wavefronts {a} to {b}", matrix=name, a=begin + 1, b=last + 1)

    seconds = min(what.count * _ONE, _MOST)
    return script.series(seconds, what.count, "load", label, detail, did.line, 4)


def _name(request: BankRequest) -> str:
    """The instruction, with as much of its qualifiers as tells: `ldmatrix.x4`."""
    parts = request.instruction.text.split(".")
    if parts[0] != "ldmatrix":
        return request.instruction.text
    return f"ldmatrix.{next(p for p in parts if p in ('x1', 'x2', 'x4'))}"


def _spreads(form: Form, a: F64, b: F64, d: float) -> tuple[Spread, Spread, Spread]:
    """A, B and D with their cells as far as they have come; those of B come column by column."""
    inner = form.inner // form.grouped
    turned = b.reshape(8, inner).T.ravel()
    made = (
        _spread(form, "A", form.a, (form.rows, inner), a, False),
        _spread(form, "B", form.b, (inner, 8), turned, True),
        _spread(form, "D", form.d, (form.rows, 8), np.full(form.rows * 8, d), False),
    )
    return made


def _spread(
    form: Form, name: str, fragment: Fragment, shape: tuple[int, int], come: F64, down: bool
) -> Spread:
    each = 1 if name == "D" else form.grouped
    lane, register, place = owners(fragment, shape[1], each, down).T
    letter = {"A": "a", "B": "b", "D": "c"}[name]
    held = fragment.row.shape[2]
    bits = fragment.bits * each

    def tip(cell: int) -> str:
        row, column = divmod(cell, shape[1])
        if each > 1:
            first = (row if down else column) * each
            part = f"{first}–{first + each - 1}"
            where = f"{name}[{part}][{column}]" if down else f"{name}[{row}][{part}]"
        else:
            where = f"{name}[{row}][{column}]"
        what = {"lane": int(lane[cell]), "register": f"{letter}[{int(register[cell])}]"}
        who = tr("lane {lane} · register {register}", **what)
        low = int(place[cell]) * bits
        piece = tr("bits {low} to {high}", low=low, high=low + bits - 1)
        return f"{where}\n{who}" + (f" · {piece}" if held > each else "")

    return Spread(
        name,
        tuple(f"{letter}[{n}]" for n in range(fragment.registers)),
        *shape,
        lane,
        register,
        place,
        held // each,
        come,
        tip,
        (each, 1) if down else (1, each),
    )


def _asked(
    spreads: tuple[Spread, ...], name: str, what: MatrixLoad, served: float
) -> tuple[Outline, ...]:
    """Around the rows that the wavefront under way brings, each by itself."""
    now = min(int(served), what.count - 1)
    cells = np.flatnonzero(what.turn == now)
    if served >= what.count or not len(cells):
        return ()
    one = spreads[0] if name == "A" else spreads[1]
    if name == "B":  # they lie column by column
        column, row = np.divmod(cells, one.rows)
        cells = row * one.columns + column
    first = np.unique(cells // one.columns if name == "A" else cells % one.columns)
    key = cells // one.columns if name == "A" else cells % one.columns
    return tuple(Outline(name, cells[key == n]) for n in first.tolist())


def _met(spreads: tuple[Spread, ...], lane: int) -> tuple[Outline, ...]:
    """The row of A and the column of B that make the first element of a lane."""
    a, b, d = spreads
    cell = int(np.flatnonzero(d.lane == lane)[0])
    row, column = divmod(cell, d.columns)
    whole = np.arange(a.columns) + row * a.columns
    return (
        Outline("A", whole),
        Outline("B", np.arange(b.rows) * b.columns + column),
        Outline("D", np.array([cell])),
    )


def _words(form: Form, lane: int) -> Lines:
    """What one lane holds, register by register."""

    def held(name: str, letter: str, fragment: Fragment) -> str:
        parts = []
        for register in range(fragment.registers):
            row, column = fragment.row[lane, register], fragment.column[lane, register]
            parts.append(f"{letter}[{register}] = {name}[{_span(row)}][{_span(column)}]")
        return " · ".join(parts)

    texts = (held("A", "a", form.a), held("B", "b", form.b), held("D", "c", form.d))
    head = tr("Lane {lane} holds", lane=lane)
    return Lines((Line((head,), bold=True), *(Line((text,), "muted") for text in texts)))


def _span(numbers: I64) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low}–{high}"


def _verdict(
    form: Form, t: float, held: Act, product: Act, lane: int, lack: str, multiplies: bool
) -> tuple[str, str]:
    """Title and sentence of the pictures with registers."""
    shape = tr("{form}: A and B are spread over one warp", form=form.name)
    if t < held.start:
        return shape, tr(
            "Each colour is the lane that will hold the element. Point at one, or at a register: "
            "its other half lights up."
        )
    if t < product.start:
        title = tr("Every lane holds a few elements of A and of B, and no lane a whole row")
        if form.bits == 64:
            return title, tr(
                "Lane 4g + t has row g of A and column g of B: one double of each four."
            )
        return title, tr(
            "Lane 4g + t has of row g of A, and of column g of B, the t-th 4 bytes of every 16."
        )
    if not multiplies:
        return tr("Here nothing is multiplied"), lack
    row, column = form.d.row[lane, 0, 0], form.d.column[lane, 0, 0]
    return tr("One mma: the warp gives all its fragments, and each lane gets its part of D"), tr(
        "For D[{row}][{column}] of lane {lane} the tensor core takes a row that four lanes hold, "
        "and a column of four others.",
        row=int(row),
        column=int(column),
        lane=lane,
    )


def _load_title(form: Form, name: str) -> str:
    """How a matrix gets into the registers."""
    if form.bits == 64:
        return tr("Doubles of {name} are loaded lane by lane: ldmatrix has none so wide", name=name)
    if name == "A":
        return tr("ldmatrix: a lane names a row of A, and four lanes get it")
    return tr("The columns of B lie in memory as rows do: loaded the same way")


def _load_sentence(request: BankRequest) -> str:
    """What its phases take."""
    if not request.instruction.text.startswith("ldmatrix"):
        return tr("{count} for the loads of a warp.", count=counted("wavefront", request.count))
    if request.count <= request.ideal:
        return tr("8 lanes name 8 rows of 16 bytes: a phase, and all 32 banks serve it at once.")
    return tr(
        "8 lanes name 8 rows of 16 bytes: a phase. Here rows of a phase meet in the same banks."
    )


def _lack(arch: Architecture, form: Form) -> str:
    """What the architecture does not have of this, "" where it has all."""
    since = f"{form.since[0]}.{form.since[1]}"
    if arch.cc < FIRST:
        return tr(
            "{arch} has no ldmatrix and no such mma (7.5 and later): the kernel for 7.5 is shown "
            "on its banks.",
            arch=arch,
        )
    if arch.cc < form.since and form.halves:
        what = {"arch": arch, "shape": form.shape, "since": since, "half": form.halves}
        return tr("{arch} has no {shape} (it is of {since}): two {half} do the same.", **what)
    if arch.cc < form.since:
        what = {"arch": arch, "form": form.name, "since": since}
        return tr(
            "{arch} has no mma {form} (it is of {since}): the fragments are only loaded.", **what
        )
    return ""


def _published(form: Form) -> Provenance:
    """Where the table of who holds what is from."""
    return published(
        tr("fragments of mma.{shape}", shape=form.shape), tr("PTX ISA, figures of mma")
    )


@dataclass(frozen=True, eq=False)
class Pitches:
    """(P,) bytes from row to row, and the wavefronts of the first load of A, and without conflict;
    `name` is the instruction, `line` where it is.
    """

    pitch: I64
    count: I64
    ideal: I64
    name: str
    line: int


def _table(trace: Trace, arch: Architecture, form: Form) -> Pitches:
    """The first load of each block; block b has rows 16 * (first + b) bytes apart."""
    loads = trace.of(space="shared", op="load", warp=0)
    _, first = np.unique(loads.block, return_index=True)
    loads = loads.select(np.asarray(first, np.int64))
    did = trace.instructions[loads.instruction[0]]
    active = np.stack([loads.lanes(n) for n in range(len(loads))])
    cost = wavefronts(arch, loads.address, active, did.width)
    parts = did.text.split(".")
    name = f"ldmatrix.{parts[4]}" if parts[0] == "ldmatrix" else did.text
    pitch = 16 * (_first(form) + loads.block)
    return Pitches(pitch, cost.count, cost.ideal, name, did.line)


def _pitches(table: Pitches, filled: float, picked: int, time: tuple[Figure, ...]) -> Picture:
    """The table with its first entries; once it is full, it tells of the pitch picked."""
    ways = np.log2(np.maximum(table.count / np.maximum(table.ideal, 1), 1)) / 3
    names = tuple(f"{n} B" for n in table.pitch.tolist())
    place = table.pitch.tolist().index(picked) if picked in table.pitch else -1
    last = len(table.pitch) - 1
    now = place if place >= 0 and filled > last else min(passed(filled), last)
    what = {"pitch": int(table.pitch[now]), "count": counted("wavefront", int(table.count[now]))}
    said = tr("{pitch} bytes from row to row: {count}", **what)
    body = rows(
        CountBoxes(names, table.count, ways, filled, place),
        FigureRow(
            (
                Figure(said, bold=True),
                Figure(tr("ideal {count}", count=int(table.ideal[now])), "muted"),
                Figure(tr("in each box: row pitch, wavefronts below"), "muted"),
            )
        ),
        *(FigureRow((replace(one, badge=""),), one.badge) for one in time),
    )
    title = tr("How far rows are apart decides what {name} of A takes", name=table.name)
    return Picture(title, _rule(table), body)


def _rule(table: Pitches) -> str:
    """Which pitches are free."""
    free = table.count <= table.ideal
    odd = table.pitch // 16 % 2 == 1
    if (free == odd).all():
        return tr("Free where rows are an odd number of 16-byte pieces apart: pad by one piece.")
    return tr("The same kernel with rows of every length: see which are free.")


def _expected(form: Form, pitch: int, arch: Architecture) -> str:
    """What arithmetic says of the phases."""
    if form.bits == 64 or arch.cc < FIRST:
        return ""
    matrices = form.a.registers
    each = int(np.gcd(pitch // 16, 8))
    count = counted("wavefront", matrices * each)
    what = {"count": count, "matrices": matrices, "pieces": pitch // 16}
    return tr("by arithmetic: {count} for A, {matrices} × gcd({pieces}, 8)", **what)


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
