"""Ladder: a matrix product from the naive kernel up, one idea a rung, each beside the one below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.errors import UnavailableError
from gpuviz.course import named
from gpuviz.course.matrix_products.ladder.panels import SIZES, beside, cells_of, gained, on_one_axis
from gpuviz.course.matrix_products.ladder.rungs import RUNGS, Rung
from gpuviz.course.together.thread_coarsening.lesson import number as brief
from gpuviz.memory.bank_request import BankRequest, one_request
from gpuviz.memory.counts import Count
from gpuviz.memory.request import Request, first_requests
from gpuviz.memory.units import counted
from gpuviz.panels.address_map import AddressMap
from gpuviz.panels.bank_board import with_board
from gpuviz.panels.bank_map import BankMap
from gpuviz.panels.layout import Node, Part, columns, rows, share, spare
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.picture import Picture, longest
from gpuviz.recordings.ladder_times import shipped
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.script import Act, Script
from gpuviz.traces.trace import LANES, Trace
from gpuviz.words.language import tr

_DRAWN = 256  # rows and columns of the matrices that are drawn and counted
_SOURCE, _CELLS, _SEND, _ONE, _MOST, _END = 4.0, 4.0, 1.0, 0.8, 4.0, 5.0  # seconds
_EACH = 64  # products a lane that counts are told for
_TENSOR, _WGMMA = (8, 0), (9, 0)  # the first capability with all of mma's rungs; that of wgmma's
# Products that a multiprocessor of an H100 or H200 makes a cycle: of floats, and on 4 tensor cores
# (NVIDIA H100 Tensor Core GPU Architecture, 2022).
_UNITS = {"fp32": 128, "tf32": 4 * 256, "fp16": 4 * 512}
_WAVEFRONTS = (
    Count.SHARED_LOAD_WAVEFRONTS,
    Count.SHARED_STORE_WAVEFRONTS,
    Count.SHARED_COPY_WAVEFRONTS,
)

LOOK_FOR = (
    "What each idea adds to a matrix product, from the naive kernel to the speed of a library's."
)
WORDS = ("tile", "coarsening", "register", "wavefront", "conflict", "barrier")

PARAMETERS = (
    Parameter(
        "rung",
        "rung",
        2,
        offers={n: f"{n}: {rung.name}" for n, rung in enumerate(RUNGS, 1)},
        hint="which kernel; each has one idea more than the one below it",
    ),
    Parameter(
        "size",
        "matrix size",
        2048,
        offers={n: f"{n} × {n}" for n in SIZES},
        hint="of the launch that is timed",
    ),
)

PRESETS = tuple(Preset(f"{n}: {rung.name}", {"rung": n}) for n, rung in enumerate(RUNGS, 1))


def plan(values: Values) -> tuple[Plan, ...]:
    """The rung and the one below it, drawn small and timed at real size."""
    made = list[Plan]()
    for rung in _shown(values):
        small, real = (rung.plan(rung.name, side) for side in (_DRAWN, number(values, "size")))
        more = {"run_blocks": "classes"}
        made += [small, small.companion(real.size, real.grid, real.arguments, **more)]
    return tuple(made)


def _shown(values: Values) -> tuple[Rung, ...]:
    """The rung, and the one below it if there is one."""
    which = number(values, "rung")
    return RUNGS[max(which - 2, 0) : which][::-1]


def worst_read(trace: Trace, arch: Architecture) -> BankRequest | None:
    """Of the first reads of shared memory by warp 0, the one that takes most wavefronts."""
    loads = trace.of(block=0, warp=0, space="shared", op="load")
    first = np.unique(loads.instruction, return_index=True)[1]
    made = [one_request(trace, arch, loads, int(row)) for row in np.sort(first)]
    return max(made, key=lambda one: one.count, default=None)


def _worst_load(trace: Trace, arch: Architecture) -> Request:
    """Of the first loads from global memory by warp 0, the one that takes most."""
    return max(first_requests(trace, arch, 0, 0), key=lambda one: (not one.is_store, one.count))


def narrate(values: Values, runs: Runs) -> Story:
    """All rungs on one axis; who has which cells; what a warp reads; both rungs' times."""
    rung, *below = _shown(values)
    run = runs[rung.name]
    arch = architecture(run.arch)
    _check(rung, values, arch)
    cells = cells_of(run.trace, _DRAWN)
    held = cells.sums() if rung.on_tensor_cores else cells.per_step()
    read = worst_read(run.trace, arch)
    script = Script(rung.name)
    script.act(_SOURCE, "intro", tr("the ladder"), tr(rung.name))
    stored = script.act(_CELLS, "store", tr("cells of a warp"), held)
    reading = _WarpRequest.of(script, read or _worst_load(run.trace, arch))
    ending = script.act(_END, "result", tr("result"), tr("beside the rung below"))
    size, times = number(values, "size"), shipped()
    own = {one.entry: beside(times, one, size, runs[one.name]) for one in (rung, *below)}
    maps, costs = _side_by_side(values, runs), _costs(values, runs)
    said = tr(rung.idea) + ".", held, reading.sentence(), gained(times, below, rung, size)
    title = tr("Rung {n} of {all}: {name}", n=values["rung"], all=len(RUNGS), name=tr(rung.name))

    def at(t: float) -> Picture:
        number_ = script.at(t)[0]
        now = min(number_, 2) if number_ < len(script.steps) - 1 else 3
        if now == 0:
            body: Node = on_one_axis(times, RUNGS, rung, size, own)
        elif now == 1:
            body = cells.map(tr("Block (0,0) of P"), stored.counted(t, cells.stores))
        elif now == 2:
            body = reading.body(t)
        else:
            pair = on_one_axis(times, (*below, rung), rung, size, own, ending.share(t))
            body = rows(share(3, pair), costs, *maps, gap=0.8)
        return Picture(title, said[now], body, longest(said))

    return Story.of(script, at, _expected(rung), said[0])


def _check(rung: Rung, values: Values, arch: Architecture) -> None:
    """Refuse architectures without the instructions of a rung."""
    what = {"n": values["rung"], "arch": arch}
    if rung.unread and arch.cc != _WGMMA:
        raise UnavailableError(tr("Rung {n} needs wgmma, which only 9.0 has, not {arch}.", **what))
    if rung.on_tensor_cores and arch.cc < _TENSOR:
        said = tr("Rung {n} needs tensor cores of 8.0 or later: {arch} has none.", **what)
        raise UnavailableError(said)


@dataclass(frozen=True, eq=False)
class _WarpRequest:
    """A request of warp 0 going out and being served: from banks, or where there is none, lines."""

    request: BankRequest | Request
    sent: Act
    served: Act

    @classmethod
    def of(cls, script: Script, request: BankRequest | Request) -> _WarpRequest:
        """Its acts."""
        did = request.instruction
        detail = f"{did.text} · {_cost(request)}"
        sent = script.act(_SEND, "load", tr("request"), detail, did.line)
        length = min(request.count * _ONE, _MOST)
        return cls(request, sent, script.act(length, "load", tr("served"), detail, did.line))

    def body(self, t: float) -> Node:
        """The banks or the addresses."""
        served = self.served.counted(t, self.request.count)
        if isinstance(self.request, BankRequest):
            return with_board(
                BankMap(self.request, self.sent.share(t), served), self.request, served
            )
        return AddressMap(self.request, self.sent.share(t), served)

    def sentence(self) -> str:
        """What it takes."""
        what = {"cost": _cost(self.request)}
        if isinstance(self.request, BankRequest):
            most = tr(
                "Of the warp's reads of shared memory the one that takes most: {cost}.", **what
            )
            return most
        if self.request.is_store:
            return tr("Of global memory the warp itself only writes P: {cost}.", **what)
        what["name"] = self.request.name
        if self.request.instruction.op == "copy":
            return tr("The warp has {name} copied to shared memory: {cost}.", **what)
        return tr("The warp reads {name} for a step of k: {cost}.", **what)


def _cost(request: BankRequest | Request) -> str:
    if isinstance(request, BankRequest):
        return counted("wavefront", request.count)
    return request.counted(request.count)


class _Costs(Lines):
    """Lines that a class may be asked about."""

    answers: ClassVar[bool] = True


def _costs(values: Values, runs: Runs) -> Lines:
    """What as many products take on the rung below and here, by the counts of the launches drawn:
    a line each.
    """
    share = _EACH * LANES / _DRAWN**3
    lines = [Line((tr("For {n} products of each lane of a warp:", n=_EACH),), "muted")]
    for rung in _shown(values)[::-1]:
        totals, made = runs[rung.name].counts.totals, runs[rung.name].trace.warp_instructions
        waves = sum(totals[name] for name in _WAVEFRONTS)
        read = totals[Count.GLOBAL_LOAD_SECTORS] + totals[Count.GLOBAL_COPY_SECTORS]
        lined = totals[Count.GLOBAL_LOAD_LINES] + totals[Count.GLOBAL_COPY_LINES]
        # Stages of L1 work side by side.
        reads = max(waves, lined) * share > _EACH * LANES / _UNITS[rung.numbers]
        told = {
            "name": tr(rung.name),
            "sectors": "–" if rung.boxes else brief(read * share, 2),
            "waves": "–" if rung.unread else brief(waves * share, 2),
            "n": brief(made * share, 1),
            "busy": tr("reading") if reads else tr("multiplying"),
        }
        said = tr(
            "{name}: {sectors} sectors, {waves} shared wavefronts, {n} PTX instructions; busiest: "
            "{busy}",
            **told,
        )
        lines.append(Line((said,), "ink" if rung is _shown(values)[0] else "muted"))
    return _Costs(tuple(lines))


def _side_by_side(values: Values, runs: Runs) -> tuple[Part, ...]:
    """Whose the cells of a tile are, below and here; nothing where they are the same."""
    shown = [(tr(r.name), cells_of(runs[r.name].trace, _DRAWN)) for r in _shown(values)[::-1]]
    if len(shown) > 1 and np.array_equal(shown[0][1].lane, shown[1][1].lane):
        return ()
    maps = (cells.map(name, cells.stores, False) for name, cells in shown)
    return (spare(share(1, columns(*(share(1, one) for one in maps)))),)


def _expected(rung: Rung) -> str:
    """What a tile asks global memory for, by arithmetic."""
    shared = rung not in RUNGS[:2]  # these ask for both factors of every product
    numbers = sum(1 / side for side in rung.tile) if shared else 2
    said = brief(numbers * _EACH)
    return tr("by arithmetic: {n} numbers from global memory for {all} products", n=said, all=_EACH)


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
