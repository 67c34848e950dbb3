"""Thread coarsening: several cells of a matrix product for each thread, side by side or apart."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import F64, I64
from gpuviz.course import named
from gpuviz.course.together.thread_coarsening.inner_loops import inner_loop_of, side_by_side
from gpuviz.course.together.thread_coarsening.register_fan import RegisterFan, Strip
from gpuviz.memory.counts import Count
from gpuviz.memory.request import Request, first_requests
from gpuviz.memory.units import nouns
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.time_bars import TimeBars
from gpuviz.run.run import Run
from gpuviz.story import lesson as of
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values
from gpuviz.story.measured import LaunchTime, time_bars, time_of
from gpuviz.story.requests.acts import Pace, RequestAct, acts_of
from gpuviz.story.requests.sentences import shape
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES
from gpuviz.words.language import three, tr, typeset

_KERNEL, _SGEMM = "thread_coarsening.cu", "block_shape.cu"
_UNROLLED, _END = 3.0, 3.0  # seconds
_BLOCK = (32, 8, 1)  # a warp is a row of it
_MOST = 17.0  # seconds for all requests
_ALONE = "one cell unrolled"
_ROLES = (
    "one cell",
    "adjacent",
    "interleaved",
    "adjacent unrolled",
    "interleaved unrolled",
    _ALONE,
)
_ORDER = (0, 5, 1, 2, 3, 4)  # in which times stand below each other
_PICKS: dict[str, Values] = {
    f"{mapping}{' unrolled' * (order == 'unrolled')}": {"mapping": mapping, "order": order}
    for mapping in ("adjacent", "interleaved")
    for order in ("unrolled", "in turn")
}

LOOK_FOR = (
    "What several cells for each thread do to the loads of a warp, side by side and a block apart."
)
WORDS = ("coarsening", "unrolling", "register", "stride", "sector")

PARAMETERS = (
    Parameter(
        "mapping",
        "cells of a thread",
        "adjacent",
        offers={"adjacent": "side by side", "interleaved": "a block apart"},
        hint="columns of P that one thread computes",
    ),
    Parameter(
        "order",
        "computed",
        "unrolled",
        offers={"unrolled": "together, unrolled", "in turn": "one after the other"},
        hint="together: one loop over k for all cells; in turn: a loop for each",
    ),
    Parameter(
        "multi", "MULTI", 4, compiled=True, hint="cells that one thread computes", offers=(2, 4, 8)
    ),
    Parameter(
        "size",
        "matrix size",
        1024,
        offers={n: f"{n} × {n}" for n in (256, 512, 1024, 2048)},
        small=256,
    ),
    Parameter("lane", "lane", 20, 0, LANES - 1, hint="the thread of warp 0 whose cells are lit"),
)

_FIRST: Values = {"order": "unrolled", "multi": 4}
PRESETS = (
    Preset("Side by side", {**_FIRST, "mapping": "adjacent"}),
    Preset("A block apart", {**_FIRST, "mapping": "interleaved"}),
    Preset("One after the other", {**_FIRST, "mapping": "interleaved", "order": "in turn"}),
    Preset("8 cells, a block apart", {**_FIRST, "mapping": "interleaved", "multi": 8}),
)


def _role(values: Values) -> str:
    """The run that the story is of."""
    return f"{values['mapping']}{' unrolled' if values['order'] == 'unrolled' else ''}"


def plan(values: Values) -> tuple[Plan, ...]:
    """All kernels are launched; the story is of one, beside one cell a thread, the table of all."""
    multi, told = of.number(values, "multi"), _role(values)
    several = tuple(
        replace(_plan(role, values, multi), later=role != told) for role in _ROLES[1:-1]
    )
    return (_plan(_ROLES[0], values, 1), *several, _unrolled_alone(of.number(values, "size")))


def _plan(role: str, values: Values, cells: int) -> Plan:
    """One kernel's launch, its threads computing so many cells each."""
    size = of.number(values, "size")
    matrices = (f"f32[{size**2}]={how}" for how in ("rand", "rand", "zeros"))
    return Plan(
        role,
        _KERNEL,
        role.replace(" ", "_"),
        (size // (_BLOCK[0] * cells), size // _BLOCK[1], 1),
        _BLOCK,
        (*matrices, f"i32={size}", f"i32={size}"),
        (("MULTI", str(cells if cells > 1 else _FIRST["multi"])),),  # of one cell it is the same
        size=tr("{n} × {n}, blocks of 32 × 8, loop over k not unrolled", n=size),
    )


def _unrolled_alone(size: int) -> Plan:
    """One cell a thread, its loop as the compiler unrolls it: the kernel of the block shapes."""
    matrices = (f"f32[{size**2}]={how}" for how in ("rand", "rand", "zeros"))
    return Plan(
        _ALONE,
        _SGEMM,
        "sgemm",
        (size // _BLOCK[0], size // _BLOCK[1], 1),
        _BLOCK,
        (*matrices, *(f"i32={size}",) * 3),
        size=tr("{n} × {n}, blocks of 32 × 8, loop over k unrolled", n=size),
        outputs=False,
        run_blocks="classes",
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
    time: LaunchTime | None


def cost_of(run: Run, products: int) -> Cost:
    """The cost of a launch that computes so many products."""
    totals, share = run.counts.totals, 32 / products
    return Cost(
        totals[Count.GLOBAL_LOAD_REQUESTS] * share,
        totals[Count.GLOBAL_LOAD_SECTORS] * share,
        run.trace.warp_instructions * share,
        time_of(run),
    )


def number(value: float, places: int = 3) -> str:
    """At most so many decimals, none that are zero at the end; thousands apart (`grouped`)."""
    return typeset(f"{value:,.{places}f}".rstrip("0").rstrip("."))


def narrate(values: Values, runs: Runs) -> Story:
    """The first step of one warp's loop, its stores, and the cost of all five kernels."""
    role, multi, size = _role(values), of.number(values, "multi"), of.number(values, "size")
    arch = architecture(runs[role].arch)
    requests = first_requests(runs[role].trace, arch, 0, 0)
    each, script = min(_MOST / len(requests), 2.2), Script(role)
    acts = acts_of(script, requests, Pace(each * 0.35, each * 0.2, each * 0.65), 1)
    costs = {n: cost_of(runs[r], size**3) for n, r in enumerate(_ROLES) if r in runs}
    now, noun = _ROLES.index(role), requests[0].noun
    title, result = _title(values), _verdict(costs[now], costs[0], noun)
    lesson, alone = _alone(runs)
    loops = side_by_side(((tr("1 cell a thread"), runs[_ROLES[0]]), (tr("unrolled"), runs[_ALONE])))
    unrolled = script.act(_UNROLLED, "compute", tr("unrolling alone"), alone, role=_ALONE)
    said = (*(_sentence(acts, act, multi) for act in acts), alone, result)
    ending = script.act(_END, "result", tr("result"), tr("what 32 products take"))
    mine = {name: tuple(a for a in acts if a.request.name == name) for name in "MNP"}
    cells = cells_of(tuple(act.request for act in mine["P"]), size)
    shown = _LaneRequests(runs[role], mine, cells, size, of.number(values, "lane"))

    def at(t: float) -> Picture:
        act = next((a for a in acts if t < a.end), None)
        if act is None and t < unrolled.end:
            return Picture(lesson, alone, loops)
        if act is None:
            times = _times(costs, multi, noun, now, ending.share(t))
            return Picture(_ends(costs), result, times)
        return Picture(title, said[acts.index(act)], shown.fan(t), longest(said))

    return Story.of(script, at, _expected(values, arch), result)


def _ends(costs: Mapping[int, Cost]) -> str:
    """Which of the kernels is the fastest."""
    single, alone = costs[0].time, costs[_ROLES.index(_ALONE)].time
    times = [c.time.microseconds for c in costs.values() if c.time]
    if single is None or alone is None or alone.microseconds > min(times):
        return tr("What 32 products cost, and how long the launches take")
    ratio = three(single.microseconds / alone.microseconds)
    return tr(
        "Unrolling alone wins: {n} times as fast as before, and several cells gain less", n=ratio
    )


def _title(values: Values) -> str:
    """What the mapping and the order do to the loads."""
    multi, together = of.number(values, "multi"), values["order"] == "unrolled"
    if not together:
        return tr("One cell after the other: each float of M is loaded {n} times", n=multi)
    if values["mapping"] == "adjacent":
        return tr(
            "One float of M serves {n} cells; side by side, lanes are {n} floats of N apart",
            n=multi,
        )
    return tr("One float of M serves {n} cells; a block apart, lanes read neighbours of N", n=multi)


def _sentence(acts: tuple[RequestAct, ...], act: RequestAct, multi: int) -> str:
    """What the request under way does."""
    request, same = act.request, [a for a in acts if a.request.name == act.request.name]
    cell = same.index(act)
    what: dict[str, object] = {
        "n": cell,
        "what": shape(request),
        "count": request.counted(request.count),
    }
    if request.name == "M" and len(same) == 1:
        return tr("M: every lane keeps one float in a register, for its {n} cells.", n=multi)
    if request.name == "M":
        return (
            tr("M, cell {n}: every lane loads the float again that cell 0 had.", n=cell)
            if (cell)
            else tr("M, cell 0: every lane loads one float, for this cell alone.")
        )
    if request.is_store:
        return tr("P, cell {n}: {what}, {count}.", **what)
    if cell and np.array_equal(request.strip.start, same[0].request.strip.start):
        return tr("N, cell {n}: {what}, the same {count} once more.", **what)
    return tr("N, cell {n}: {what}, {count}.", **what)


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


def _alone(runs: Runs) -> tuple[str, str]:
    """Title and sentence of one cell a thread, whose loop is unrolled and nothing else."""
    single, unrolled = (inner_loop_of(runs[role]) for role in (_ROLES[0], _ALONE))
    title = tr("Unrolling alone: the same loads and sums, less besides")
    said = tr(
        "A product takes {a} PTX instructions instead of {b}: {c} instead of {d} compute "
        "addresses, {e} instead of {f} keep the loop going.",
        a=f"{unrolled.each():g}",
        b=f"{single.each():g}",
        c=f"{unrolled.each('address'):g}",
        d=f"{single.each('address'):g}",
        e=f"{unrolled.each('loop'):g}",
        f=f"{single.each('loop'):g}",
    )
    return title, said


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
    what = {"count": number(count), "published": published}
    return tr("by arithmetic: {count} sectors for 32 products; {published}", **what)


def expected_sectors(mapping: str, order: str, multi: int) -> float:
    """Sectors for 32 products: of a row of N, and one of M, which unrolled serves all cells."""
    apart = multi if mapping == "adjacent" else 1
    return min(4 * apart, 32) + (1 / multi if order == "unrolled" else 1)


@dataclass(frozen=True, eq=False)
class _LaneRequests:
    """The first step of warp 0, its requests by matrix, and the lane that is followed."""

    run: Run
    acts: Mapping[str, tuple[RequestAct, ...]]
    cells: Cells
    size: int
    lane: int

    def fan(self, t: float) -> RegisterFan:
        """What it has done to the block's cells at a time."""
        cells, loaded, multi = self.cells, self._come(t, "M"), len(self.acts["P"])
        latest = max(int((loaded > 0).sum()) - 1, 0)
        alone = len(loaded) > 1  # each cell has a load of its own, and what it brought is then lost
        return RegisterFan(
            self._strip(t, "N", self._come(t, "N")),
            self._strip(t, "P", self._come(t, "P")),
            cells.lane,
            cells.store,
            _BLOCK[1],
            cells.row % _BLOCK[1],
            self.lane,
            self._register(latest + 1, len(loaded)),
            np.where(np.arange(multi) == latest, loaded, 0.0)
            if alone
            else np.repeat(loaded, multi),
            loaded if alone else np.repeat(loaded, multi),
            tuple(self._product(n) for n in range(len(self.acts["P"]))),
            self._tip,
            lambda lane: {"lane": lane},
        )

    def _come(self, t: float, name: str) -> F64:
        """How far each request to a matrix has come."""
        return np.array([act.served.share(t) for act in self.acts[name]])

    def _strip(self, t: float, name: str, come: F64) -> Strip:
        """The warp's elements of N or of P."""
        acts = self.acts[name]
        now = next((i for i, act in enumerate(acts) if act.sent.start <= t < act.end), -1)
        request = acts[max(now, 0)].request
        start = request.strip.start // 4 % self.size
        boxes = np.stack([start, request.strip.size // 4], axis=1).astype(np.float64)
        done = (request.turn < acts[max(now, 0)].served.counted(t, request.count)).astype(
            np.float64
        )
        counted = request.counted(request.count)
        said = tr("cell {n}: {count}", n=now, count=counted) if now >= 0 else ""
        names = self._names_of_n() if name == "N" else self._names_of_p()
        return Strip(names, said, come, now, boxes, done, partial(self._tip_of, name))

    def _names_of_n(self) -> tuple[str, ...]:
        return (
            tr(
                "row 0 of N, in the colours of the lanes of warp 0 that read it · frames: {nouns}",
                nouns=self.acts["N"][0].request.nouns,
            ),
            tr("row 0 of N, in the colours of lanes"),
            "N",
        )

    def _names_of_p(self) -> tuple[str, ...]:
        what = {"row": _BLOCK[1] - 1, "column": self.cells.column[-1], "n": self.size}
        return (
            tr(
                "block (0,0) of P: rows 0 to {row}, columns 0 to {column} of {n} × {n}; outlined: "
                "lane {lane} of warp 0",
                **what,
                lane=self.lane,
            ),
            tr("block (0,0) of P; outlined: lane {lane}", lane=self.lane),
            "P",
        )

    @property
    def _of_m(self) -> int:
        """The element of M that the lane loads first."""
        return int(self.acts["M"][0].request.address[self.lane]) // 4

    def _register(self, load: int, loads: int) -> tuple[str, ...]:
        """The name and the value of what is kept, or the how-manieth load of it that is."""
        row, k = divmod(self._of_m, self.size)
        value = f"{float(self.run.outputs['M'][self._of_m]):.3f}"
        if loads > 1:
            again = tr("load {n} of {all}", n=load, all=loads)
            return f"m = M[{row}][{k}] · {again}", again, "m"
        return f"m = M[{row}][{k}] = {value}", f"m = M[{row}][{k}]", f"m = {value}", "m"

    def _product(self, cell: int) -> tuple[str, ...]:
        """What is added to the sum of a cell."""
        element = int(self.acts["N"][cell].request.address[self.lane]) // 4
        k, column = divmod(element, self.size)
        product = f"m × N[{k}][{column}]"
        return f"sum[{cell}] += {product}", product, f"m × N{k},{column}", "m × N", ""

    def _tip_of(self, name: str, i: int) -> str:
        """A float of N, or a cell of P in the row of warp 0."""
        if name == "P":
            return self._tip(self.cells.row, i)
        return tr(
            "N[0][{column}] · lane {lane}, its cell {n}",
            column=self.cells.column[i],
            lane=self.cells.lane[i],
            n=self.cells.store[i],
        )

    def _tip(self, row: int, i: int) -> str:
        """A cell of P."""
        return tr(
            "P[{row}][{column}] · warp {row}, lane {lane}, its cell {n}",
            row=row,
            column=self.cells.column[i],
            lane=self.cells.lane[i],
            n=self.cells.store[i],
        )


def _times(costs: Mapping[int, Cost], multi: int, noun: str, now: int, over: float) -> TimeBars:
    """How long all kernels take, and what they load for 32 products, once they are counted."""
    every = (
        tr("1 cell a thread"),
        tr("{n} side by side", n=multi),
        tr("{n} a block apart", n=multi),
        tr("{n} side by side, unrolled", n=multi),
        tr("{n} a block apart, unrolled", n=multi),
        tr("1 cell a thread, unrolled"),
    )
    what, some = nouns(noun), [costs.get(i) for i in _ORDER]
    said = [
        tr("{n} {nouns} for 32 products", n=number(c.transactions), nouns=what)
        if c
        else tr("being counted")
        for c in some
    ]
    launches = [(every[i], c.time if c else None) for i, c in zip(_ORDER, some, strict=True)]
    picks = [_PICKS.get(_ROLES[i], {}) for i in _ORDER]
    return time_bars(launches, _ORDER.index(now), said, over, picks=picks)


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
