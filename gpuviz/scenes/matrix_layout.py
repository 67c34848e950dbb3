"""Matrix layout: rows lie one after another; threads that walk along rows, or down columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.memory.counts import Count
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.global_memory.matrix_layout_view import Bar, Moment, Reading, picture
from gpuviz.scenes.request.requests import Request, requests_of
from gpuviz.scenes.values import number
from gpuviz.trace import LANES

_KERNEL = "matrix_layout.cu"
_ENTRIES = {"row": "row_sums", "column": "column_sums"}
_MOST_GROUPS = 6  # steps that the requests after the second are told in
_FIRST, _SECOND, _REST, _STORE, _END = 4.0, 2.0, 7.0, 1.5, 2.5  # seconds
_SENT = 0.3  # share of a request's time until it is served
_SIZES = (4, 8, 16, 32, 64)

PARAMETERS = (
    Parameter(
        "each",
        "each thread adds up",
        "row",
        choices=(Choice("row", "a row"), Choice("column", "a column")),
    ),
    Parameter("rows", "rows", 32, choices=tuple(Choice(n, str(n)) for n in _SIZES)),
    Parameter("columns", "columns", 32, choices=tuple(Choice(n, str(n)) for n in _SIZES)),
)

PRESETS = (
    Preset("Each thread a row", {"each": "row", "rows": 32, "columns": 32}),
    Preset("Each thread a column", {"each": "column", "rows": 32, "columns": 32}),
    Preset("4 x 4, each thread a row", {"each": "row", "rows": 4, "columns": 4}),
    Preset("4 x 4, each thread a column", {"each": "column", "rows": 4, "columns": 4}),
    Preset("16 rows of 64", {"each": "row", "rows": 16, "columns": 64}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The launch shown, then the other one, for its counts."""
    shown = str(values["each"])
    return _launch(values, shown), _launch(values, "column" if shown == "row" else "row")


def _launch(values: Values, each: str) -> Plan:
    rows, columns = number(values, "rows"), number(values, "columns")
    threads = rows if each == "row" else columns
    arguments = (
        f"f32[{rows * columns}]=rand",
        f"f32[{threads}]=zeros",
        f"i32={rows}",
        f"i32={columns}",
    )
    return Plan(each, _KERNEL, _ENTRIES[each], (1, 1, 1), (threads, 1, 1), arguments)


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of warp 0: its requests one after another."""
    each = str(values["each"])
    run, arch = runs[each], architecture(runs[each].arch)
    made = requests_of(run.trace, arch, 0, 0)
    loads = tuple(r for r in made if r.name == "M")
    if not loads:
        raise InputError("the trace has no load of M by warp 0 of block 0; record block 0")
    reading = _reading(values, loads, runs)
    acts = _acts(reading)
    title = _title(each)
    sentences = tuple(_sentence(reading, k) for k in range(len(loads)))

    def frame(t: float, given: Stage) -> Frame:
        now = _moment(acts, len(loads), t)
        return picture(given.roomy(), reading, title, sentences, now)

    steps = (*(act.step for act in acts), *_ending(acts[-1].step.end, each, run, reading, made))
    return Story(title, sentences[0], steps, frame, _closed_form(values, arch))


def _reading(values: Values, loads: tuple[Request, ...], runs: Mapping[str, Run]) -> Reading:
    """Who reads what when, from the addresses of the loads."""
    rows, columns = number(values, "rows"), number(values, "columns")
    turn, lane = np.full(rows * columns, -1, np.int64), np.full(rows * columns, -1, np.int64)
    for k, load in enumerate(loads):
        lanes = np.flatnonzero(load.active)
        element = load.address[lanes] // load.instruction.width
        turn[element], lane[element] = k, lanes
    bars = tuple(_bar(runs[each], each) for each in runs)
    return Reading(str(values["each"]), rows, columns, loads, turn, lane, bars)


def _bar(run: Run, each: str) -> Bar:
    """What a launch fetches."""
    totals = run.counts.totals
    name = tr("a thread a row") if each == "row" else tr("a thread a column")
    return Bar(name, totals[Count.GLOBAL_LOAD_SECTORS], totals[Count.GLOBAL_LOAD_SECTORS_IDEAL])


@dataclass(frozen=True)
class _Act:
    """A step in which the requests from `first` to before `last` are made."""

    step: Step
    first: int
    last: int


def _acts(reading: Reading) -> tuple[_Act, ...]:
    """The first two requests by themselves, the others in a few groups."""
    count = len(reading.loads)
    rest = np.linspace(2, count, min(max(count - 2, 0), _MOST_GROUPS) + 1).round().astype(int)
    edges = [0, 1, *rest.tolist()] if count > 2 else list(range(count + 1))
    did, made, t = reading.loads[0].instruction, [], 0.0
    for first, last in zip(edges, edges[1:], strict=False):
        span = (_FIRST, _SECOND)[first] if first < 2 else _REST * (last - first) / (count - 2)
        name = (
            tr("request {n}", n=first)
            if last == first + 1
            else (tr("requests {a} to {b}", a=first, b=last - 1))
        )
        detail = f"{did.text} · {reading.loads[first].counted(reading.loads[first].count)}"
        made.append(
            _Act(Step(t, t + span, "load", name, detail, did.line, reading.each), first, last)
        )
        t += span
    return tuple(made)


def _ending(
    t: float, each: str, run: Run, reading: Reading, made: tuple[Request, ...]
) -> tuple[Step, ...]:
    """The sums are stored; the result."""
    store = made[-1]
    mine = reading.bars[0]
    total = tr("{n} in all loads", n=reading.loads[0].counted(mine.count))
    detail = f"{store.instruction.text} · {store.counted(store.count)}"
    return (
        Step(t, t + _STORE, "store", tr("sums"), detail, store.instruction.line, each),
        Step(t + _STORE, t + _STORE + _END, "result", tr("result"), total, role=each),
    )


def _moment(acts: tuple[_Act, ...], count: int, t: float) -> Moment:
    """Which request is under way, and how far it has gone out and been served."""
    act = next((a for a in acts if t < a.step.end), None)
    if act is None:
        return Moment(count, 1.0, 1.0)
    share = (t - act.step.start) / (act.step.end - act.step.start) * (act.last - act.first)
    k = min(act.first + int(share), act.last - 1)
    within = share - (k - act.first)
    return Moment(k, min(within / _SENT, 1.0), max((within - _SENT) / (1 - _SENT), 0.0))


def _title(each: str) -> str:
    """Who walks where."""
    if each == "row":
        return tr("Each thread walks along a row, so the warp reads down a column")
    return tr("Each thread walks down a column, so the warp reads along a row")


def _sentence(reading: Reading, k: int) -> str:
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
        byte=byte,
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
        "closed form: {a} sectors a load with a thread a row, {b} with a thread a column", a=a, b=b
    )


LESSON = Lesson(
    "matrix-layout",
    "Matrix layout",
    "Global memory",
    "Where M[row][column] lies, and why threads should walk down columns.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("row-major", "stride", "sector", "coalescing", "request"),
)
