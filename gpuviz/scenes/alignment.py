"""Alignment: a struct of five floats, packed, aligned to 16 bytes, and as five arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import I64
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.memory.request import Request, requests_of
from gpuviz.memory.transaction_names import counted, nouns
from gpuviz.panels.bar import Bar
from gpuviz.panels.figures import Sourced
from gpuviz.panels.layout import rows, spare
from gpuviz.panels.picture import Picture
from gpuviz.panels.script import Script
from gpuviz.panels.table import Column, Table
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values, offered
from gpuviz.scenes.measured import Timed, time_column, time_of
from gpuviz.scenes.requests.acts import Pace, RequestAct, acts_of
from gpuviz.scenes.requests.sentences import shape, verdict
from gpuviz.scenes.values import no_such_warp as problem
from gpuviz.scenes.values import number

_KERNEL, _FIELDS, _END = "alignment.cu", 5, 3.0
_PACE = Pace(send=0.7, one=0.35, most=1.5)
_GAP = 0.2  # letters between the parts of a picture
_RECORD = {"packed": 20, "aligned": 32, "arrays": 0}  # bytes from one struct to the next
_PUBLISHED = (5, 2)  # loads of the packed and of the aligned struct

PARAMETERS = (
    Parameter(
        "layout",
        "layout",
        "packed",
        choices=(
            Choice("packed", "struct, packed"),
            Choice("aligned", "struct, aligned to 16"),
            Choice("arrays", "five arrays"),
        ),
        hint="how the five floats of each particle lie in memory",
    ),
    Parameter("threads", "threads per block", 128, choices=offered(32, 64, 128, 256, 512)),
    Parameter("blocks", "blocks", 16, 1, 1024),
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
            role, _KERNEL, role, (blocks, 1, 1), (threads, 1, 1), (*buffers, f"f32[{count}]=zeros")
        )
        for role, buffers in inputs.items()
    )


@dataclass(frozen=True, eq=False)
class _Cost:
    """What one warp's loads of all five floats cost in one layout.

    `distinct` counts the different 32-byte pieces of memory that hold what was moved.
    """

    role: str
    loads: tuple[Request, ...]
    time: Timed | None

    @property
    def transactions(self) -> int:
        return sum(r.count for r in self.loads)

    @property
    def moved(self) -> int:
        return sum(r.moved for r in self.loads)

    @property
    def used(self) -> int:
        return sum(r.used for r in self.loads)

    @property
    def distinct(self) -> int:
        return len(np.unique(np.concatenate([_pieces(r) for r in self.loads])))


def _pieces(request: Request) -> I64:
    """The 32-byte pieces of device memory that a request's transactions cover."""
    strip, base = request.strip, request.buffer.address
    spans = zip(strip.start.tolist(), strip.size.tolist(), strict=True)
    return np.concatenate([np.arange(base + a, base + a + n, 32) // 32 for a, n in spans])


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of one warp's loads in one layout, and the table of all three."""
    role, warp = str(values["layout"]), number(values, "warp")
    arch = architecture(runs[role].arch)
    requests = {name: _requests(run, name, arch, warp) for name, run in runs.items()}
    costs = tuple(
        _Cost(name, tuple(r for r in requests[name] if not r.is_store), time_of(run))
        for name, run in runs.items()
    )
    mine = next(c for c in costs if c.role == role)
    script = Script(role)
    acts = acts_of(script, requests[role], _PACE, 1)
    script.act(_END, "result", tr("result"), _summary(mine))
    said = (*(_sentence(acts, act) for act in acts), _verdict(mine))
    last_load = next(act for act in reversed(acts) if not act.request.is_store)

    def at(t: float) -> Picture:
        now = next((act for act in acts if t < act.end), None)
        text = said[-1] if now is None else said[acts.index(now)]
        table = _table(costs, mine, _came(acts, mine, t))
        body = rows((now or last_load).map(t), table, spare(_published()), gap=_GAP)
        return Picture(_title(mine), text, body, said)

    return Story.of(script, at, _expected(mine, arch), said[-1])


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


def _verdict(cost: _Cost) -> str:
    """What one warp pays for its 160 floats."""
    if cost.moved == cost.used:
        return tr(
            "One warp asks for {count}, and every byte of them is needed.", count=_counted(cost)
        )
    return tr(
        "{count} over {n} pieces of 32 bytes: a load uses {percent} % of what it asks for.",
        count=_counted(cost),
        n=cost.distinct,
        percent=round(100 * cost.used / cost.moved),
    )


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


def _sentence(acts: tuple[RequestAct, ...], act: RequestAct) -> str:
    """What the request under way reads or writes."""
    what = {"what": shape(act.request), "verdict": verdict(act.request)}
    if act.request.is_store:
        return tr("Then it writes {what}. {verdict}", **what)
    loads = [a for a in acts if not a.request.is_store]
    return tr("Load {k} of {n}: {what}. {verdict}", k=loads.index(act) + 1, n=len(loads), **what)


def _came(acts: tuple[RequestAct, ...], cost: _Cost, t: float) -> tuple[float, float]:
    """How much of the bytes used, and of those for nothing, the loads have brought so far."""
    moved = [act.moved(t) for act in acts if not act.request.is_store]
    used, lost = (sum(part) for part in zip(*moved, strict=True))
    return used / cost.used, lost / max(cost.moved - cost.used, 1)


def _table(costs: tuple[_Cost, ...], mine: _Cost, came: tuple[float, float]) -> Table:
    """All three layouts: loads, transactions, and a bar of the bytes moved."""
    noun = nouns(costs[0].loads[0].noun)
    words = {
        "packed": tr("packed struct"),
        "aligned": tr("aligned to 16"),
        "arrays": tr("five arrays"),
    }
    bars = tuple(
        (Bar(c.used, c.moved - c.used, came if c is mine else (1.0, 1.0), "accent"),) for c in costs
    )
    columns = (
        Column(("",), tuple(words[c.role] for c in costs), "left", tr("model")),
        Column((tr("loads"),), tuple(str(len(c.loads)) for c in costs)),
        Column(
            (tr("{nouns} a warp", nouns=noun), noun),
            tuple(str(c.transactions) for c in costs),
            bold=True,
        ),
        Column(
            (tr("different 32 B pieces"), tr("different ones")),
            tuple(str(c.distinct) for c in costs),
            optional=2,
        ),
        Column(
            (tr("bytes used, and moved for nothing"), tr("bytes moved")),
            ("",) * len(costs),
            "left",
            optional=1,
            bars=bars,
            wide=9.0,
        ),
        Column((tr("used"),), tuple(f"{round(100 * c.used / c.moved)} %" for c in costs)),
        *time_column([c.time for c in costs]),
    )
    return Table(columns, costs.index(mine))


def _published() -> Sourced:
    """What the slides say, and why our aligned struct has one wide load and one narrow."""
    a, b = _PUBLISHED
    return Sourced(
        (
            tr(
                "lecture slides on the G80: {a} loads packed, {b} of 128 bits aligned to 16 (the "
                "second one is 32 bits wide here: nothing reads the padding)",
                a=a,
                b=b,
            ),
            tr(
                "lecture slides on the G80: {a} loads packed, {b} of 128 bits aligned to 16",
                a=a,
                b=b,
            ),
            tr("lecture slides: {a} loads, {b} when aligned", a=a, b=b),
        )
    )


LESSON = Lesson(
    "alignment",
    "Structs: alignment and arrays",
    "Global memory",
    "How many loads five floats take, and how many sectors those loads ask for.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("alignment", "sector", "request", "stride", "waste"),
)
