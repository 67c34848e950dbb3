"""Alignment: a struct of five floats, packed, aligned to 16 bytes, and as five arrays."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import I64
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.memory.request import Request, requests_of
from gpuviz.memory.units import counted, in_bytes
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.time_bars import TimeBars
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.lesson import no_such_warp as problem
from gpuviz.story.load_traffic import LoadTraffic, measured_of, pieces, traffic_times
from gpuviz.story.measured import LaunchTime
from gpuviz.story.requests.acts import Pace, RequestAct, acts_of
from gpuviz.story.requests.fate import fate_of
from gpuviz.story.requests.sentences import shape, verdict
from gpuviz.story.script import Script
from gpuviz.words.language import grouped, tr

_KERNEL, _FIELDS, _END = "alignment.cu", 5, 3.0
_PACE = Pace(send=0.7, one=0.35, most=1.5)
_GAP = 0.2  # letters between the parts of a picture
_RECORD = {"packed": 20, "aligned": 32, "arrays": 0}  # bytes from one struct to the next
_PUBLISHED = (5, 2)  # loads of the packed and of the aligned struct

LOOK_FOR = "How many loads five floats take, and how many sectors those loads ask for."
WORDS = ("alignment", "sector", "request", "stride", "waste")

PARAMETERS = (
    Parameter(
        "layout",
        "layout",
        "packed",
        offers={
            "packed": "struct, packed",
            "aligned": "struct, aligned to 16",
            "arrays": "five arrays",
        },
        hint="how the five floats of each particle lie in memory",
    ),
    Parameter("threads", "threads per block", 128, offers=(32, 64, 128, 256, 512)),
    Parameter("blocks", "blocks", 32768, 1, 32768, small=16),
    Parameter("warp", "warp shown", 0, 0, 15, hint="of block 0"),
)

PRESETS = (
    Preset("Packed struct", {"layout": "packed"}),
    Preset("Aligned to 16 bytes", {"layout": "aligned"}),
    Preset("Five arrays", {"layout": "arrays"}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """All three layouts are launched; the story is of one, the table of all."""
    threads, blocks = number(values, "threads"), number(values, "blocks")
    count = threads * blocks
    inputs = {
        "packed": (f"f32[{count * 5}]=rand",),
        "aligned": (f"f32[{count * 8}]=rand",),
        "arrays": (f"f32[{count}]=rand",) * _FIELDS,
    }
    return tuple(
        Plan(
            role,
            _KERNEL,
            role,
            (blocks, 1, 1),
            (threads, 1, 1),
            (*buffers, f"f32[{count}]=zeros"),
            size=tr("{n} structs", n=grouped(count)),
            outputs=False,
        )
        for role, buffers in inputs.items()
    )


@dataclass(frozen=True, eq=False)
class _Cost:
    """What one warp's loads of all five floats cost in one layout.

    `kept` says that L1 has what it was sent whenever it is asked for again.
    `fresh` (L, 2) are each load's 32-byte pieces of memory: those that no load before it asked
    for, and those that one did; `measured` is what `measured_of` found.
    """

    role: str
    loads: tuple[Request, ...]
    measured: tuple[LaunchTime | None, float | None]
    kept: bool = False

    @property
    def transactions(self) -> int:
        return sum(r.count for r in self.loads)

    @property
    def used(self) -> int:
        return sum(r.used for r in self.loads)

    @cached_property
    def fresh(self) -> I64:
        seen, found = np.zeros(0, np.int64), []
        for asked in map(pieces, self.loads):
            new = np.setdiff1d(asked, seen)
            found.append((len(new), len(asked) - len(new)))
            seen = np.union1d(seen, new)
        return np.array(found, np.int64)

    @property
    def distinct(self) -> int:
        return int(self.fresh[:, 0].sum())

    @property
    def repeated(self) -> int:
        return int(self.fresh[:, 1].sum())


def narrate(values: Values, runs: Runs) -> Story:
    """The story of one warp's loads in one layout, and the times of all three."""
    role, warp = str(values["layout"]), number(values, "warp")
    arch = architecture(runs[role].arch)
    requests = {name: _requests(run, name, arch, warp) for name, run in runs.items()}
    costs = tuple(
        _Cost(
            name,
            tuple(r for r in found if not r.is_store),
            measured_of(runs[name]),
            _kept(runs[name], arch, found),
        )
        for name, found in requests.items()
    )
    mine = next(c for c in costs if c.role == role)
    script = Script(role)
    acts = acts_of(script, requests[role], _PACE, 1)
    ending = script.act(_END, "result", tr("result"), _summary(mine))
    said = (*(_sentence(acts, act, mine) for act in acts), _verdict(mine, arch))

    def at(t: float) -> Picture:
        now = next((act for act in acts if t < act.end), None)
        text = said[-1] if now is None else said[acts.index(now)]
        if now is None:
            times = _times(costs, mine, ending.share(t))
            return Picture(_title(mine), text, times, said)
        body = rows(now.map(t), _in_brief(mine), gap=_GAP)
        return Picture(_title(mine), text, body, said)

    return Story.of(script, at, _expected(mine, arch), said[-1])


def _kept(run: Run, arch: Architecture, found: tuple[Request, ...]) -> bool:
    """Whether L1 has every sector of the warp's loads until nobody asks for it any more."""
    fates = [fate_of(run.trace, arch, r) for r in found if not r.is_store]
    return all(fate is not None and fate.kept for fate in fates)


def _requests(run: Run, role: str, arch: Architecture, warp: int) -> tuple[Request, ...]:
    """The requests of the warp shown, which know the structs they go to."""
    found = requests_of(run.trace, arch, 0, warp)
    if not found:
        raise InputError(f"the trace has no request of warp {warp} of block 0; record block 0")
    return tuple(r if r.is_store else replace(r, record=_RECORD[role]) for r in found)


def _title(cost: _Cost) -> str:
    """What the layout makes of five floats."""
    n = len(cost.loads)
    if cost.role == "packed":
        return tr("Five floats in a packed struct take {n} loads, each with gaps", n=n)
    if cost.role == "aligned":
        return tr("Aligned to 16 bytes, the struct of five floats takes {n} loads", n=n)
    return tr("Five arrays take {n} loads, each of them a row of floats", n=n)


def _verdict(cost: _Cost, arch: Architecture) -> str:
    """What one warp asks for, and what of that memory has to deliver."""
    words = {"count": _counted(cost), "n": cost.distinct, "kb": in_bytes(32 * cost.distinct)}
    if not cost.repeated:
        text = tr("One warp asks for {count}, each once: {kb}.", **words)
    elif cost.kept:
        text = tr(
            "One warp asks for {count}, {n} of them different: L1 has the others, and L2 "
            "delivers {kb}.",
            **words,
        )
    else:
        text = tr("One warp asks for {count}; the pieces of 32 bytes are only {n}.", **words)
    padding = 32 * cost.distinct - cost.used
    if cost.role == "aligned" and padding > 0:
        text += " " + tr("{n} of them are padding.", n=in_bytes(padding))
    return text


def _counted(cost: _Cost) -> str:
    """`100 sectors`."""
    return counted(cost.loads[0].noun, cost.transactions)


def _summary(cost: _Cost) -> str:
    """The cost in a few words."""
    return tr("{n} loads · {count}", n=len(cost.loads), count=_counted(cost))


def _expected(cost: _Cost, arch: Architecture) -> str:
    """The published number of loads, and what arithmetic says of the sectors."""
    published = tr(
        "published (lecture slides on the G80): {packed} loads of 32 bits packed, "
        "{aligned} of 128 bits aligned to 16",
        packed=_PUBLISHED[0],
        aligned=_PUBLISHED[1],
    )
    if not arch.has_sectors:
        return published
    count = {"packed": 5 * 20, "aligned": 2 * 32, "arrays": 5 * 4}[cost.role]
    closed = tr("by arithmetic: {count} sectors for the loads of a warp", count=count)
    return f"{closed}; {published}"


def _sentence(acts: tuple[RequestAct, ...], act: RequestAct, cost: _Cost) -> str:
    """What the request under way reads, and how much of that nobody asked for before; or writes."""
    if act.request.is_store:
        what = {"what": shape(act.request), "verdict": verdict(act.request)}
        return tr("Then it writes {what}. {verdict}", **what)
    loads = [a for a in acts if not a.request.is_store]
    k = loads.index(act)
    what = {"what": shape(act.request), "count": act.request.counted(act.request.count)}
    words = {**what, "k": str(k + 1), "n": str(len(loads))}
    new, again = cost.fresh[k].tolist()
    if not new:
        return tr("Load {k} of {n}: {what}: {count}, all asked for before.", **words)
    if not again:
        return tr("Load {k} of {n}: {what}: {count}.", **words)
    return tr(
        "Load {k} of {n}: {what}: {count}, {again} of them asked for before.", again=again, **words
    )


def _times(costs: tuple[_Cost, ...], mine: _Cost, over: float) -> TimeBars:
    """All three layouts on one axis of time."""
    aligned, arrays = tr("aligned to 16"), tr("five arrays")
    words = {"packed": tr("packed struct"), "aligned": aligned, "arrays": arrays}
    every = [LoadTraffic(words[c.role], c.transactions, c.distinct, *c.measured) for c in costs]
    picks = [{"layout": c.role} for c in costs]
    return traffic_times(every, costs[0].loads[0].noun, costs.index(mine), over, picks)


def _in_brief(cost: _Cost) -> FigureRow:
    """The loads of the layout that is shown."""
    main = Figure(_summary(cost), "accent", True, shorter=(_counted(cost),))
    different = Figure(tr("{n} different", n=cost.distinct))
    return FigureRow((main, different))


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
