"""What warps do at mbarriers: whose phases are over, who waits, arrives and copies."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.base.keeping import kept_with_first
from gpuviz.panels.panel import Ink
from gpuviz.panels.swimlanes import Bar, Swimlanes
from gpuviz.story.own_kernel.moment import Moment
from gpuviz.traces.trace import HANDOVERS, Handovers, Trace
from gpuviz.words.language import grouped, tr

_PAGE, _MOST = 32, 10  # turns shown at once; mbarriers, and warps, of which rows are shown
_Row = tuple[bool, int]  # whether it is a warp, and its number; else the offset of an mbarrier
_ARRIVES: Ink = "compute"
_WAITS: Ink = "barrier"
_COPIES: Ink = "load"
_SHOWN = ("wait", "arrive", "over", "load")


@dataclass(frozen=True, eq=False)
class _Block:
    """Bars by row, with hover texts; (H,) turn and step of what is handed over."""

    bars: tuple[tuple[_Row, Bar, str], ...]
    turn: I64
    step: I64


def lanes(moment: Moment) -> Swimlanes | None:
    """The page of turns that is under way; None of a block without mbarriers."""
    trace = moment.events.trace
    if trace.handovers is None:
        return None
    known = _block_of(trace, moment.events.block)
    if not known.bars:
        return None
    now, count = _turn(moment, known), int(known.turn[-1]) + 1
    page = -(-count // -(-count // _PAGE))
    first = now // page * page
    shown = [one for one in known.bars if one[1].end > first and one[1].start < first + page]
    there = sorted({row for row, *_ in shown})
    kept = [
        *[row for row in there if not row[0]][:_MOST],
        *[row for row in there if row[0]][:_MOST],
    ]

    def cut_of(row: _Row, bar: Bar) -> Bar:
        start, end = max(bar.start - first, 0.0), min(bar.end - first, float(page))
        return replace(bar, row=kept.index(row), start=start, end=end)

    cut = [(cut_of(row, bar), tip) for row, bar, tip in shown if row in kept]
    cut.sort(key=lambda one: one[0].end)
    return Swimlanes(
        (
            tr("Phases of mbarriers; warps that wait, arrive and copy: in the emulator's order."),
            tr("Phases of mbarriers, and warps at them"),
        ),
        tuple(tr("warp {n}", n=at) if warp else f"{at:#x}" for warp, at in kept),
        tuple(bar for bar, _ in cut),
        now - first + 0.5,
        lambda n: cut[n][1],
    )


def _turn(moment: Moment, known: _Block) -> int:
    """The last turn before the request under way."""
    before = moment.events.row[: moment.number + 1]
    made = before[before >= 0][-1:]
    if not len(made):
        return 0
    step = int(moment.events.rows.step[made[0]])
    return int(known.turn[np.flatnonzero(known.step <= step)[-1:]].sum())


@kept_with_first(4)
def _block_of(trace: Trace, block: int) -> _Block:
    handed = trace.handovers
    assert handed is not None
    wanted = [HANDOVERS.index(kind) for kind in _SHOWN]
    some = np.flatnonzero((handed.block == block) & np.isin(handed.kind, wanted))
    turn = _turns(handed, some)
    return _Block(tuple(_bars(handed, some, turn)), turn, handed.step[some])


def _turns(handed: Handovers, some: I64) -> I64:
    """What warps do together is one turn; a phase is over in the turn that ends it."""
    same = np.stack([handed.kind[some], handed.address[some], handed.step[some]])
    new = np.r_[True, (same[:, 1:] != same[:, :-1]).any(axis=0)][: len(some)]
    new &= handed.kind[some] != HANDOVERS.index("over")
    return np.asarray(np.maximum(np.cumsum(new) - 1, 0))


def _bars(handed: Handovers, some: I64, turn: I64) -> Iterator[tuple[_Row, Bar, str]]:
    begun, phase = defaultdict[int, int](int), defaultdict[int, int](int)
    free = defaultdict[int, int](int)  # the first turn in which a warp has not done anything yet
    for n, at in zip(some.tolist(), turn.tolist(), strict=True):
        kind, warp, address = HANDOVERS[handed.kind[n]], int(handed.warp[n]), int(handed.address[n])
        name = f"{address:#x}"
        if kind == "over":
            said = tr("phase {n}, parity {parity}", n=phase[address], parity=phase[address] % 2)
            bar = Bar(0, begun[address], at + 1, (said, f"{phase[address]}"), "shared")
            yield (False, address), bar, f"{name}: {said}"
            begun[address], phase[address] = at + 1, phase[address] + 1
            continue
        start, names, ink = at, (tr("arrives at {name}", name=name), tr("arrives"), ""), _ARRIVES
        if kind == "wait":
            start, ink = min(free[warp], at), _WAITS
            names = tr("waits at {name}", name=name), tr("waits"), ""
        elif kind == "load":
            size, ink = grouped(int(handed.size[n])), _COPIES
            names = tr("copies {n} bytes", n=size), f"{size} B", ""
        line = tr("line {n}", n=int(handed.line[n]))
        yield (True, warp), Bar(0, start, at + 1, names, ink), f"{names[0]} · {line}"
        free[warp] = at + 1
