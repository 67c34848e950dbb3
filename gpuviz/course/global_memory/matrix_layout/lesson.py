"""Matrix layout: rows lie one after another; threads that walk along rows, or down columns."""

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import I64
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.draw.ease import passed
from gpuviz.memory.counts import Count
from gpuviz.memory.request import Request, requests_of
from gpuviz.memory.units import in_bytes
from gpuviz.panels.address_map import AddressMap
from gpuviz.panels.cell_map import CellMap, Outline
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.layout import Node, at_least, columns, first, rows, share
from gpuviz.panels.picture import Picture
from gpuviz.panels.time_bars import TimeBars
from gpuviz.run.run import Run
from gpuviz.story import load_traffic
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.load_traffic import LoadTraffic, measured_of, pieces
from gpuviz.story.requests.fate import L1, Fate, fate_of
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES
from gpuviz.words.language import grouped, tr

_KERNEL = "matrix_layout.cu"
_ENTRIES = {"row": "row_sums", "column": "column_sums"}
_MOST_GROUPS = 6  # steps that the requests after the second are told in
_FIRST, _SECOND, _REST, _STORE, _END = 4.0, 2.0, 7.0, 1.5, 2.5  # seconds
_GAP = 0.2  # letters between the parts of a picture
_ASPECT = 1.6  # from which matrix and request stand side by side
_HIGH = 15  # letters that the request is high below the matrix
_QUIET = 0.65  # how much colour elements have that were read before
_SENT = 0.3  # share of a request's time until it is served
_SIZES = (4, 8, 16, 32, 64)
# Of the launches that are timed: as many threads as an H200 holds, walking through 128 MB.
_THREADS, _FLOATS, _BLOCK = 1 << 18, 128, 256

LOOK_FOR = "Where M[row][column] lies, and why threads should walk down columns."
WORDS = ("row-major", "stride", "sector", "coalescing", "request")

PARAMETERS = (
    Parameter("each", "each thread adds up", "row", offers={"row": "a row", "column": "a column"}),
    Parameter("rows", "rows", 32, offers=_SIZES),
    Parameter("columns", "columns", 32, offers=_SIZES),
)

PRESETS = (
    Preset("Each thread a row", {"each": "row", "rows": 32, "columns": 32}),
    Preset("Each thread a column", {"each": "column", "rows": 32, "columns": 32}),
    Preset("4 x 4, each thread a row", {"each": "row", "rows": 4, "columns": 4}),
    Preset("4 x 4, each thread a column", {"each": "column", "rows": 4, "columns": 4}),
    Preset("16 rows of 64", {"each": "row", "rows": 16, "columns": 64}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The launch shown, then the other one, for its counts; each with a large one beside it."""
    shown = str(values["each"])
    other = "column" if shown == "row" else "row"
    return *_launch(values, shown), *_launch(values, other)


def _launch(values: Values, each: str) -> tuple[Plan, Plan]:
    """The launch drawn, and its kernel with as many threads, and floats each, whichever it is."""
    rows, columns = number(values, "rows"), number(values, "columns")
    threads = rows if each == "row" else columns
    shape = (1, 1, 1), (threads, 1, 1)
    arguments = _arguments(rows, columns, threads)
    small = Plan(each, _KERNEL, _ENTRIES[each], *shape, arguments, size=f"{rows} × {columns}")
    rows, columns = (_THREADS, _FLOATS) if each == "row" else (_FLOATS, _THREADS)
    size = tr("{n} threads, {each} floats each", n=grouped(_THREADS), each=_FLOATS)
    grid, block = (_THREADS // _BLOCK, 1, 1), (_BLOCK, 1, 1)
    return small, small.companion(size, grid, _arguments(rows, columns, _THREADS), block=block)


def _arguments(rows: int, columns: int, threads: int) -> tuple[str, ...]:
    return (f"f32[{rows * columns}]=rand", f"f32[{threads}]=zeros", f"i32={rows}", f"i32={columns}")


@dataclass(frozen=True, eq=False)
class MatrixLoads:
    """How warp 0 reads a matrix of `rows` x `columns` floats.

    `loads` are its requests in their order; `turn` and `lane` (rows * columns,) say with which of
    them each element is read and by whom, -1 where it is not. `rest` says what becomes of what the
    first one moves and does not use.
    """

    rows: int
    columns: int
    loads: tuple[Request, ...]
    turn: I64
    lane: I64
    rest: str = ""


def reading_of(values: Values, loads: tuple[Request, ...], rest: str = "") -> MatrixLoads:
    """Who reads what when, from the addresses of the loads."""
    rows, columns = number(values, "rows"), number(values, "columns")
    turn, lane = np.full(rows * columns, -1, np.int64), np.full(rows * columns, -1, np.int64)
    for k, load in enumerate(loads):
        lanes = np.flatnonzero(load.active)
        element = load.address[lanes] // load.instruction.width
        turn[element], lane[element] = k, lanes
    return MatrixLoads(rows, columns, loads, turn, lane, rest)


def narrate(values: Values, runs: Runs) -> Story:
    """The story of warp 0: its requests one after another."""
    each = str(values["each"])
    run, arch = runs[each], architecture(runs[each].arch)
    made = requests_of(run.trace, arch, 0, 0)
    loads = tuple(r for r in made if r.name == "M")
    if not loads:
        raise InputError("the trace has no load of M by warp 0 of block 0; record block 0")
    fate = fate_of(run.trace, arch, loads[0])
    reading = reading_of(values, loads, _kept(fate, arch, each))
    cuts = _cuts(len(loads))
    script = _script(each, reading, run, made[-1], cuts)
    said = tuple(_sentence(reading, k) for k in range(len(loads)))

    def at(t: float) -> Picture:
        done = float(np.interp(script.done(t), range(len(cuts)), cuts))
        k = min(int(done), len(loads) - 1)
        sent, served = min((done - k) / _SENT, 1.0), max((done - k - _SENT) / (1 - _SENT), 0.0)
        matrix = _matrix(reading, k, served)
        request = AddressMap(loads[k], sent, served * loads[k].count)
        if t >= (start := script.steps[-1].start):
            body: Node = _times(runs, each, loads[0].noun, (t - start) / _END)
        else:
            body = rows(_both(matrix, request), _counted(reading, k, served), gap=_GAP)
        return Picture(_title(each), said[k], body, (max(said, key=len),))

    return Story.of(script, at, _closed_form(values, arch))


def _kept(fate: Fate | None, arch: Architecture, each: str) -> str:
    """What becomes of the rest of the first request's sectors, here and in the large launch."""
    if fate is None:
        return ""
    needed = arch.max_threads * arch.line
    if each == "column" or needed <= L1:
        return fate.said()
    return tr(
        "Here L1 keeps what is hatched for later requests; of the large launch, {n} resident "
        "threads need a line each, {kb} KB: more than L1 has.",
        n=grouped(arch.max_threads),
        kb=needed >> 10,
    )


def _cuts(count: int) -> list[int]:
    """Requests before each act: the first two by themselves, the others in a few groups."""
    if count <= 2:
        return list(range(count + 1))
    rest = np.linspace(2, count, min(count - 2, _MOST_GROUPS) + 1).round().astype(int)
    return [0, 1, *rest.tolist()]


def _script(each: str, reading: MatrixLoads, run: Run, store: Request, cuts: list[int]) -> Script:
    """The requests, the store of the sums, and the result."""
    script, count, load = Script(each), len(reading.loads), reading.loads[0]
    for a, b in zip(cuts, cuts[1:], strict=False):
        seconds = (_FIRST, _SECOND)[a] if a < 2 else _REST * (b - a) / (count - 2)
        name = tr("request {n}", n=a) if b == a + 1 else tr("requests {a} to {b}", a=a, b=b - 1)
        cost = reading.loads[a].counted(reading.loads[a].count)
        detail = f"{load.instruction.text} · {cost}"
        script.act(seconds, "load", name, detail, load.instruction.line)
    detail = f"{store.instruction.text} · {store.counted(store.count)}"
    script.act(_STORE, "store", tr("sums"), detail, store.instruction.line)
    total = load.counted(run.counts.totals[Count.GLOBAL_LOAD_SECTORS])
    script.act(_END, "result", tr("result"), tr("{n} in all loads", n=total))
    return script


def _matrix(reading: MatrixLoads, k: int, served: float) -> CellMap:
    """Elements in the colours of the lanes that read them, until and with request k."""
    turn, load, count = reading.turn, reading.loads[k], len(reading.turn)
    row, column = np.divmod(np.flatnonzero(turn == k), reading.columns)
    now = Outline(np.stack([row, column, np.ones_like(row)], axis=1), "outline", bold=True)
    size = {"rows": reading.rows, "columns": reading.columns}
    long = tr("M, {rows} × {columns}, stored row by row", **size)
    return CellMap(
        (long, tr("M, {rows} × {columns}", **size), "M"),
        reading.rows,
        reading.columns,
        np.where(turn <= k, reading.lane, -1),
        np.where(turn == k, served, _QUIET),
        False,
        lambda element: element_tip(reading, element),
        aspect=reading.columns / reading.rows,
        wasted=_along(load, count) if served > 0.5 else None,
        outlines=(now,),
        words=tuple(map(str, range(count))),
        notes=_rule(reading),
    )


def _along(load: Request, count: int) -> I64:
    """Elements, of so many, moved by a request that no lane of it asks for."""
    strip = load.strip
    byte = strip.start[strip.cell_box] + strip.cell_at
    element = np.unique(byte[strip.cell_lane < 0] // load.instruction.width)
    return element[element < count]


def element_tip(reading: MatrixLoads, element: int) -> str:
    """What hovering an element says."""
    row, column = divmod(element, reading.columns)
    what = {"r": row, "c": column, "n": grouped(element), "byte": grouped(4 * element)}
    place = tr("M[{r}][{c}] · element {n} · byte {byte}", **what)
    if reading.turn[element] < 0:
        return f"{place}\n{tr('not read by this warp')}"
    who = tr(
        "read by lane {lane} with request {k}", lane=reading.lane[element], k=reading.turn[element]
    )
    return f"{place}\n{who}"


def _rule(reading: MatrixLoads) -> tuple[str, ...]:
    """Where an element lies, what a step costs, and what becomes of what is not used now."""
    columns = reading.columns
    return (
        tr("M[row][column] lies at byte (row × {n} + column) × 4.", n=columns),
        tr("A step along a row is 4 bytes, a step down a column {n}.", n=grouped(4 * columns)),
        *filter(None, (reading.rest,)),
    )


def _both(matrix: CellMap, request: AddressMap) -> Node:
    """Matrix and request side by side, or below each other."""
    wide = columns(share(0.42, matrix), share(0.58, request))
    high = rows(matrix, at_least(request, height=_HIGH), gap=_GAP)
    return first(at_least(wide, aspect=_ASPECT), high, wide)


def _counted(reading: MatrixLoads, k: int, served: float) -> FigureRow:
    """The requests so far."""
    load, all_ = reading.loads[k], len(reading.loads)
    so_far = sum(one.count for one in reading.loads[:k]) + passed(served * load.count)
    sectors = load.counted(so_far)
    return FigureRow(
        (
            Figure(tr("request {n} of {all}", n=k + 1, all=all_)),
            Figure(tr("{n} so far", n=sectors), "accent", True, shorter=(sectors,)),
            Figure(tr("it uses {used} of {moved}", used=load.used, moved=in_bytes(load.moved))),
        )
    )


def _times(runs: Runs, shown: str, noun: str, over: float) -> TimeBars:
    """Both walks on one axis of time."""
    names = {"row": tr("a thread a row"), "column": tr("a thread a column")}
    every = [_asked(runs[each], name) for each, name in names.items()]
    picks = [{"each": each} for each in names]
    return load_traffic.traffic_times(every, noun, list(names).index(shown), over, picks)


def _asked(run: Run, name: str) -> LoadTraffic:
    """All loads of a launch, and what a GPU made of the large one beside it."""
    arch, warps = architecture(run.arch), run.trace.launch.warps_per_block
    made = [r for warp in range(warps) for r in requests_of(run.trace, arch, 0, warp)]
    loads = [load for load in made if not load.is_store]
    distinct = len(np.unique(np.concatenate([pieces(load) for load in loads])))
    return LoadTraffic(name, sum(load.count for load in loads), distinct, *measured_of(run))


def _title(each: str) -> str:
    """Who walks where."""
    if each == "row":
        return tr("Each thread walks along a row, so the warp reads down a column")
    return tr("Each thread walks down a column, so the warp reads along a row")


def _sentence(reading: MatrixLoads, k: int) -> str:
    """The address of one element, and what the request of it needs."""
    load = reading.loads[k]
    lanes = np.flatnonzero(load.active)
    lane = int(lanes[min(3, len(lanes) - 1)])
    byte = int(load.address[lane])
    row, column = divmod(byte // load.instruction.width, reading.columns)
    return tr(
        "Lane {lane} reads M[{r}][{c}] at byte ({r} × {width} + {c}) × 4 = {byte}; the warp "
        "needs {count}.",
        lane=lane,
        r=row,
        c=column,
        width=reading.columns,
        byte=grouped(byte),
        count=load.counted(load.count),
    )


def expected_sectors(each: str, rows: int, columns: int) -> int:
    """Sectors of one load of a whole warp: lanes a row apart, or one float apart."""
    lanes = min(rows if each == "row" else columns, LANES)
    apart = 4 * columns if each == "row" else 4
    return min(lanes, -(-lanes * apart // 32))


def _closed_form(values: Values, arch: Architecture) -> str:
    """Sectors of a load, either way."""
    if not arch.has_sectors:
        return ""
    rows, columns = number(values, "rows"), number(values, "columns")
    a, b = (expected_sectors(each, rows, columns) for each in ("row", "column"))
    return tr(
        "by arithmetic: {a} sectors a load with a thread a row, {b} with a thread a column",
        a=a,
        b=b,
    )


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
