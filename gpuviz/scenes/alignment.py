"""Alignment: a struct of five floats, packed, aligned to 16 bytes, and as five arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.draw import table
from gpuviz.draw.figures import line_height, sourced
from gpuviz.draw.heading import steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.measured import Timed, time_columns, time_of
from gpuviz.scenes.request.requests import Request, requests_of
from gpuviz.scenes.request.shape import shape, verdict
from gpuviz.scenes.request.story import Act, Pace, acts_of, steps_of
from gpuviz.scenes.request.view import draw, lay_out
from gpuviz.scenes.request.words import counted, nouns
from gpuviz.scenes.values import no_such_warp as problem
from gpuviz.scenes.values import number

_KERNEL, _FIELDS, _END = "alignment.cu", 5, 3.0
_PACE = Pace(send=0.7, one=0.35, most=1.5)
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
    Parameter(
        "threads",
        "threads per block",
        128,
        choices=tuple(Choice(n, str(n)) for n in (32, 64, 128, 256, 512)),
    ),
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


def _pieces(request: Request) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
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
    acts = acts_of(requests[role], _PACE)
    mine = next(c for c in costs if c.role == role)
    end = Step(acts[-1].end, acts[-1].end + _END, "result", tr("result"), _summary(mine), role=role)
    steps = (*(s for act in acts for s in steps_of(act, role, 1)), end)
    frame = _picture(acts, costs, mine)
    return Story(_title(mine), _verdict(mine), steps, frame, _expected(mine, arch))


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
    closed = tr("closed form: {count} sectors for the loads of a warp", count=count)
    return f"{closed}; {published}"


def _picture(
    acts: tuple[Act, ...], costs: tuple[_Cost, ...], mine: _Cost
) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""
    now = costs.index(mine)
    said = (*(_sentence(acts, a) for a in acts), _verdict(mine))
    last_load = next(a for a in reversed(acts) if not a.request.is_store)

    def frame(t: float, given: Stage) -> Frame:
        stage = given.roomy()
        over = t >= acts[-1].end
        act = last_load if over else next(a for a in acts if t < a.end)
        text = said[-1] if over else said[acts.index(act)]
        head, area = steady_heading(stage, _title(mine), text, said)
        published = line_height(stage) if area.height > stage.text(14) * 21 else 0.0
        high = table.height_of(stage, len(costs), badges=any(c.time for c in costs))
        top = area.above(area.height - high - published - stage.text(14) * 0.4)[0]
        low = Rect(area.x, area.bottom - high - published, area.width, high)
        picture = draw(stage, lay_out(act.request, stage, top), act.sent_at(t), act.served_at(t))
        marks = (*head, *picture, *_table(stage, low, costs, now, _moved(acts, t)))
        last = Rect(area.x, area.bottom - published, area.width, published)
        return stage.frame(*marks, *(_published(stage, last) if published else ()))

    return frame


def _sentence(acts: tuple[Act, ...], act: Act) -> str:
    """What the request under way reads or writes."""
    what = {"what": shape(act.request), "verdict": verdict(act.request)}
    if act.request.is_store:
        return tr("Then it writes {what}. {verdict}", **what)
    loads = [a for a in acts if not a.request.is_store]
    return tr("Load {k} of {n}: {what}. {verdict}", k=loads.index(act) + 1, n=len(loads), **what)


def _moved(acts: tuple[Act, ...], t: float) -> tuple[int, int]:
    """Bytes used and bytes for nothing, of the loads' transactions delivered so far."""
    used = lost = 0
    for act in acts:
        if not act.request.is_store:
            strip, done = act.request.strip, act.request.turn < act.delivered(t)
            used += int(strip.used[done].sum())
            lost += int((strip.size - strip.used)[done].sum())
    return used, lost


def _table(
    stage: Stage, area: Rect, costs: tuple[_Cost, ...], now: int, moved: tuple[int, int]
) -> tuple[Mark, ...]:
    """All three layouts: loads, transactions, and a bar of the bytes moved."""
    laid = table.lay_out(stage, area, _columns(stage, costs))
    marks = [*table.draw(stage, laid, len(costs), now)]
    most = max(c.moved for c in costs)
    for row, cost in enumerate(costs):
        cell = laid.cell(row, 4)
        if cell is not None:
            bar = cell.inset(0, cell.height * 0.18)
            parts = moved if row == now else (cost.used, cost.moved - cost.used)
            marks += _bar(stage, bar, cost, parts, most)
    return tuple(marks)


def _columns(stage: Stage, costs: tuple[_Cost, ...]) -> list[table.Column]:
    """The columns of the table; the times only where there are any."""
    noun, size = nouns(costs[0].loads[0].noun), stage.text(14)
    words = {
        "packed": tr("packed struct"),
        "aligned": tr("aligned to 16"),
        "arrays": tr("five arrays"),
    }
    bytes_used = tuple(f"{round(100 * c.used / c.moved)} %" for c in costs)
    columns = [
        table.Column(("",), tuple(words[c.role] for c in costs), "left", tr("model")),
        table.Column((tr("loads"),), tuple(str(len(c.loads)) for c in costs)),
        table.Column(
            (tr("{nouns} a warp", nouns=noun), noun),
            tuple(str(c.transactions) for c in costs),
            bold=True,
        ),
        table.Column(
            (tr("different 32 B pieces"), tr("different ones")),
            tuple(str(c.distinct) for c in costs),
            optional=2,
        ),
        table.Column(
            (tr("bytes used, and moved for nothing"), tr("bytes moved")),
            ("",) * len(costs),
            "left",
            least=size * 9,
            optional=1,
        ),
        table.Column((tr("used"),), bytes_used),
    ]
    return columns + time_columns(stage, [c.time for c in costs])


def _bar(
    stage: Stage, bar: Rect, cost: _Cost, parts: tuple[int, int], most: int
) -> tuple[Mark, ...]:
    """Bytes used, solid, then bytes moved for nothing, hatched; dim what is to come."""
    palette, scale = stage.palette, bar.width / most
    split, wasted = bar.x + cost.used * scale, (cost.moved - cost.used) * scale
    used, lost = parts[0] * scale, parts[1] * scale

    def part(x: float, width: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return Rect(x, bar.y, width, bar.height).array()

    dim = palette.todo(palette.waste_ground)
    return (
        Boxes(part(bar.x, cost.used * scale), palette.todo(palette.accent)),
        Boxes(part(split, wasted), dim, hatch=palette.todo(palette.waste)),
        Boxes(part(bar.x, used), palette.accent),
        Boxes(part(split, lost), palette.waste_ground, hatch=palette.waste),
    )


def _published(stage: Stage, area: Rect) -> tuple[Mark, ...]:
    """What the slides say, and why our aligned struct has one wide load and one narrow."""
    a, b = _PUBLISHED
    texts = (
        tr(
            "lecture slides on the G80: {a} loads packed, {b} of 128 bits aligned to 16 (the "
            "second one is 32 bits wide here: nothing reads the padding)",
            a=a,
            b=b,
        ),
        tr("lecture slides on the G80: {a} loads packed, {b} of 128 bits aligned to 16", a=a, b=b),
        tr("lecture slides: {a} loads, {b} when aligned", a=a, b=b),
    )
    return sourced(stage, area, tr("published"), stage.palette.muted, texts)


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
