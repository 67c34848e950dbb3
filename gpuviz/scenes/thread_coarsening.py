"""Thread coarsening: several cells of a matrix product for each thread, side by side or apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import I64
from gpuviz.language import tr
from gpuviz.memory.counts import Count
from gpuviz.memory.request import Request, first_requests
from gpuviz.memory.transaction_names import nouns
from gpuviz.panels.cell_row import CellRow
from gpuviz.panels.figures import Sourced
from gpuviz.panels.layout import first, rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.script import Script
from gpuviz.panels.table import Column, Table, bars
from gpuviz.runners.base import Run
from gpuviz.scenes import values as of
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values, offered
from gpuviz.scenes.measured import Timed, time_column, time_of
from gpuviz.scenes.requests.acts import Pace, RequestAct, acts_of
from gpuviz.scenes.requests.sentences import shape, verdict

_KERNEL, _END = "thread_coarsening.cu", 3.0
_BLOCK = (32, 4, 1)
_MOST = 17.0  # seconds for all requests
_GAP = 0.2  # letters between the parts of the picture
_ROLES = ("one cell", "adjacent", "interleaved", "adjacent unrolled", "interleaved unrolled")

PARAMETERS = (
    Parameter(
        "mapping",
        "cells of a thread",
        "adjacent",
        choices=(Choice("adjacent", "side by side"), Choice("interleaved", "a block apart")),
        hint="columns of P that one thread computes",
    ),
    Parameter(
        "order",
        "computed",
        "unrolled",
        choices=(
            Choice("unrolled", "together, unrolled"),
            Choice("in turn", "one after the other"),
        ),
        hint="together: one loop over k for all cells; in turn: a loop for each",
    ),
    Parameter(
        "multi",
        "MULTI",
        4,
        compiled=True,
        hint="cells that one thread computes",
        choices=offered(2, 4, 8),
    ),
    Parameter("rows", "rows of M and P", 4, choices=offered(4, 64, 256, 1024)),
    Parameter(
        "inner",
        "columns of M",
        8,
        hint="and rows of N: the products of one cell",
        choices=offered(8, 64, 256, 1024),
    ),
    Parameter("columns", "columns of N and P", 256, choices=offered(256, 1024)),
)

PRESETS = (
    Preset("Side by side", {"mapping": "adjacent", "order": "unrolled", "multi": 4}),
    Preset("A block apart", {"mapping": "interleaved", "order": "unrolled", "multi": 4}),
    Preset("One after the other", {"mapping": "interleaved", "order": "in turn", "multi": 4}),
)


def _role(values: Values) -> str:
    """The run that the story is of."""
    return f"{values['mapping']}{' unrolled' if values['order'] == 'unrolled' else ''}"


def plan(values: Values) -> tuple[Plan, ...]:
    """All five kernels are launched; the story is of one, the table of all."""
    multi = of.number(values, "multi")
    return tuple(_plan(role, values, 1 if role == _ROLES[0] else multi) for role in _ROLES)


def _plan(role: str, values: Values, cells: int) -> Plan:
    """One kernel's launch, its threads computing so many cells each."""
    rows, inner, columns = (of.number(values, n) for n in ("rows", "inner", "columns"))
    grid = columns // (_BLOCK[0] * cells), rows // _BLOCK[1], 1
    buffers = (
        f"f32[{rows * inner}]=rand",
        f"f32[{inner * columns}]=rand",
        f"f32[{rows * columns}]=zeros",
    )
    return Plan(
        role,
        _KERNEL,
        role.replace(" ", "_"),
        grid,
        _BLOCK,
        (*buffers, f"i32={inner}", f"i32={columns}"),
        (("MULTI", str(of.number(values, "multi"))),),
    )


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of P that one warp computes, from its stores.

    `column` (C,) in order of columns; `lane` and `store` (C,) who stores it, and with which store.
    """

    row: int
    column: I64
    lane: I64
    store: I64


def cells_of(stores: tuple[Request, ...], columns: int) -> Cells:
    """The cells that a warp's stores write, which all lie in one row."""
    index = np.concatenate([r.address[r.active] // 4 for r in stores])
    lane = np.concatenate([np.flatnonzero(r.active) for r in stores])
    store = np.repeat(np.arange(len(stores)), [int(r.active.sum()) for r in stores])
    order = np.argsort(index)
    return Cells(int(index[0] // columns), index[order] % columns, lane[order], store[order])


@dataclass(frozen=True)
class Cost:
    """What one kernel costs for 32 products, a multiply-add of a whole warp."""

    loads: float
    transactions: float
    instructions: float
    registers: int | None
    time: Timed | None


def cost_of(run: Run, products: int) -> Cost:
    """The cost of a launch that computes so many products."""
    totals, share = run.counts.totals, 32 / products
    registers = run.resources.registers if run.resources else None
    return Cost(
        totals[Count.GLOBAL_LOAD_REQUESTS] * share,
        totals[Count.GLOBAL_LOAD_SECTORS] * share,
        run.trace.warp_instructions * share,
        registers,
        time_of(run),
    )


def number(value: float, places: int = 3) -> str:
    """At most so many decimals, none that are zero at the end."""
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The first step of one warp's loop, its stores, and the cost of all five kernels."""
    role, multi = _role(values), of.number(values, "multi")
    arch = architecture(runs[role].arch)
    requests = first_requests(runs[role].trace, arch, 0, 0)
    each, script = min(_MOST / len(requests), 2.2), Script(role)
    acts = acts_of(script, requests, Pace(each * 0.35, each * 0.2, each * 0.65), 1)
    row, inner, columns = (of.number(values, n) for n in ("rows", "inner", "columns"))
    costs = tuple(cost_of(runs[r], row * inner * columns) for r in _ROLES)
    now, noun = _ROLES.index(role), requests[0].noun
    title, result = _title(str(values["mapping"]), multi), _verdict(costs[now], costs[0], noun)
    said = (*(_sentence(acts, act) for act in acts), result)
    script.act(_END, "result", tr("result"), result)
    cells = cells_of(tuple(r for r in requests if r.is_store), columns)
    main = [act for act in acts if act.request.name == "N"][-1]
    few = [0, 1, 2] if now in (1, 2) else [0, 3, 4]  # those that compute their cells in this order
    every, some = (_table(costs, multi, noun, n, now) for n in (range(len(_ROLES)), few))

    def at(t: float) -> Picture:
        act = next((a for a in acts if t < a.end), None)
        stored = sum(a.request.is_store and t >= a.end for a in acts)
        row = _cells(cells, stored, act.request if act else None, columns)
        shown = (act or main).map(t)
        body = first(
            rows(row, shown, every, _published(), gap=_GAP), rows(row, shown, some, gap=_GAP)
        )
        return Picture(title, said[acts.index(act) if act else -1], body, said)

    return Story.of(script, at, _expected(values, arch), result)


def _title(mapping: str, multi: int) -> str:
    """What the mapping does to the loads of N."""
    if mapping == "adjacent":
        return tr("{n} cells side by side: the lanes of a load are {n} floats apart", n=multi)
    return tr("{n} cells a block apart: the lanes of a load stay side by side", n=multi)


def _sentence(acts: tuple[RequestAct, ...], act: RequestAct) -> str:
    """What the request under way does."""
    request = act.request
    words = {"what": shape(request), "verdict": verdict(request)}
    if request.name == "M":
        return tr("M: {what}. {verdict}", **words)
    same = [a for a in acts if a.request.name == request.name]
    cell = same.index(act)
    if request.is_store:
        return tr("P, cell {n}: {what}. {verdict}", n=cell, **words)
    return tr("N, cell {n}: {what}. {verdict}", n=cell, **words)


def _verdict(mine: Cost, single: Cost, noun: str) -> str:
    """What 32 products cost, beside one cell a thread."""
    return tr(
        "32 products take {a} loads and {b} {nouns}; one cell a thread takes {c} and {d}.",
        a=number(mine.loads),
        b=number(mine.transactions),
        nouns=nouns(noun),
        c=number(single.loads),
        d=number(single.transactions),
    )


def _expected(values: Values, arch: Architecture) -> str:
    """Sectors of 32 products by arithmetic, for architectures that have sectors."""
    published = tr(
        "published (lecture \u201cCUDA 2da parte\u201d, Tesla C2070): no gain by "
        "itself, 5 to 10 % by unrolling by hand"
    )
    if not arch.has_sectors:
        return published
    count = expected_sectors(
        str(values["mapping"]), str(values["order"]), of.number(values, "multi")
    )
    closed = tr("closed form: {count} sectors for 32 products", count=number(count))
    return f"{closed}; {published}"


def expected_sectors(mapping: str, order: str, multi: int) -> float:
    """Sectors for 32 products: of a row of N, and one of M, which unrolled serves all cells."""
    apart = multi if mapping == "adjacent" else 1
    return min(4 * apart, 32) + (1 / multi if order == "unrolled" else 1)


def _cells(cells: Cells, stored: int, now: Request | None, columns: int) -> CellRow:
    """The cells of P, those outlined that the request under way is about."""
    asked: I64 = np.zeros(0, np.int64)
    if now is not None and now.name != "M":
        asked = now.address[now.active].astype(np.int64) // 4 % columns
    captions = (
        tr(
            "row {row} of P: columns {a} to {b}, in the colours of the lanes that compute them",
            row=cells.row,
            a=cells.column[0],
            b=cells.column[-1],
        ),
        tr("row {row} of P, in the colours of its lanes", row=cells.row),
    )

    def tip(i: int) -> str:
        return tr(
            "P[{row}][{column}] · lane {lane}, its cell {n}",
            row=cells.row,
            column=cells.column[i],
            lane=cells.lane[i],
            n=cells.store[i],
        )

    done, now_ = cells.store < stored, np.isin(cells.column, asked)
    return CellRow(cells.lane, done, now_, captions, tip)


def _table(costs: tuple[Cost, ...], multi: int, noun: str, kept: Sequence[int], now: int) -> Table:
    """What the kernels cost, `now` being the one shown."""
    every = (
        tr("1 cell a thread"),
        tr("{n} side by side", n=multi),
        tr("{n} a block apart", n=multi),
        tr("{n} side by side, unrolled", n=multi),
        tr("{n} a block apart, unrolled", n=multi),
    )
    some, what = [costs[i] for i in kept], nouns(noun)
    registers = tuple("–" if c.registers is None else str(c.registers) for c in some)
    transactions = tr("{nouns} for 32 products", nouns=what), what
    columns = (
        Column(("",), tuple(every[i] for i in kept), "left", tr("model")),
        Column((tr("loads for 32 products"), tr("loads")), tuple(number(c.loads) for c in some)),
        Column(transactions, tuple(number(c.transactions) for c in some), bold=True),
        bars(tuple(c.transactions for c in some)),
        Column(
            (tr("PTX instructions"), tr("PTX instr.")),
            tuple(number(c.instructions, 2) for c in some),
            optional=2,
        ),
        Column((tr("registers"),), registers, optional=3),
        *time_column([c.time for c in some]),
    )
    return Table(columns, list(kept).index(now))


def _published() -> Sourced:
    """What the lecture says of it."""
    texts = (
        tr(
            "lecture \u201cCUDA 2da parte\u201d on a Tesla C2070: several cells a thread gain "
            "nothing by themselves; unrolling by hand gains 5 to 10 %"
        ),
        tr(
            "lecture \u201cCUDA 2da parte\u201d, Tesla C2070: no gain by itself; unrolled by hand "
            "5 to 10 %"
        ),
        tr("Tesla C2070: no gain by itself; unrolled 5 to 10 %"),
    )
    return Sourced(texts)


LESSON = Lesson(
    "thread-coarsening",
    "Several cells a thread",
    "Putting it together",
    "What several cells for each thread do to the loads of a warp, side by side and a block apart.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("coarsening", "unrolling", "register", "stride", "sector"),
)
