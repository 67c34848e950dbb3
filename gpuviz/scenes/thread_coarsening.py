"""Thread coarsening: several cells of a matrix product for each thread, side by side or apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import I64
from gpuviz.draw import table
from gpuviz.draw.figures import line_height, sourced
from gpuviz.draw.heading import steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.scenes import values as of
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.request.requests import Request, first_requests
from gpuviz.scenes.request.shape import shape, verdict
from gpuviz.scenes.request.story import Act, Pace, acts_of, steps_of
from gpuviz.scenes.request.view import draw, lay_out
from gpuviz.scenes.request.words import nouns
from gpuviz.scenes.together.coarsening_view import (
    Cells,
    Cost,
    cell_map,
    cells_of,
    cost_of,
    cost_table,
    map_height,
    number,
)

_KERNEL, _END = "thread_coarsening.cu", 3.0
_BLOCK = (32, 4, 1)
_MOST = 17.0  # seconds for all requests
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
        choices=tuple(Choice(n, str(n)) for n in (2, 4, 8)),
    ),
    Parameter(
        "rows", "rows of M and P", 4, choices=tuple(Choice(n, str(n)) for n in (4, 64, 256, 1024))
    ),
    Parameter(
        "inner",
        "columns of M",
        8,
        hint="and rows of N: the products of one cell",
        choices=tuple(Choice(n, str(n)) for n in (8, 64, 256, 1024)),
    ),
    Parameter(
        "columns", "columns of N and P", 256, choices=tuple(Choice(n, str(n)) for n in (256, 1024))
    ),
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
class _Scene:
    """What the pictures of one story share."""

    acts: tuple[Act, ...]
    cells: Cells
    costs: tuple[Cost, ...]
    now: int
    columns: int
    multi: int
    title: str
    said: tuple[str, ...]


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The first step of one warp's loop, its stores, and the cost of all five kernels."""
    role, multi = _role(values), of.number(values, "multi")
    arch = architecture(runs[role].arch)
    requests = first_requests(runs[role].trace, arch, 0, 0)
    each = min(_MOST / len(requests), 2.2)
    acts = acts_of(requests, Pace(each * 0.35, each * 0.2, each * 0.65))
    rows, inner, columns = (of.number(values, n) for n in ("rows", "inner", "columns"))
    costs = tuple(cost_of(r, runs[r], rows * inner * columns) for r in _ROLES)
    mine = costs[_ROLES.index(role)]
    noun = requests[0].noun
    said = (*(_sentence(acts, act) for act in acts), _verdict(mine, costs[0], noun))
    stores = tuple(r for r in requests if r.is_store)
    title = _title(str(values["mapping"]), multi)
    scene = _Scene(
        acts, cells_of(stores, columns), costs, _ROLES.index(role), columns, multi, title, said
    )
    end = Step(acts[-1].end, acts[-1].end + _END, "result", tr("result"), said[-1], role=role)
    steps = (*(s for act in acts for s in steps_of(act, role, 1)), end)
    return Story(title, said[-1], steps, _picture(scene), _expected(values, arch))


def _title(mapping: str, multi: int) -> str:
    """What the mapping does to the loads of N."""
    if mapping == "adjacent":
        return tr("{n} cells side by side: the lanes of a load are {n} floats apart", n=multi)
    return tr("{n} cells a block apart: the lanes of a load stay side by side", n=multi)


def _sentence(acts: tuple[Act, ...], act: Act) -> str:
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


def _picture(scene: _Scene) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""
    acts = scene.acts
    main = [a for a in acts if a.request.name == "N"][-1]

    def frame(t: float, given: Stage) -> Frame:
        stage = given.roomy()
        over = t >= acts[-1].end
        act = main if over else next(a for a in acts if t < a.end)
        text = scene.said[-1 if over else acts.index(act)]
        head, area = steady_heading(stage, scene.title, text, scene.said)
        tall = area.height > stage.text(14) * 26
        rows = _rows(scene, tall)
        foot = line_height(stage) if tall else 0.0
        high = table.height_of(stage, len(rows), badges=any(c.time for c in scene.costs))
        space = stage.text(14) * (0.7 if tall else 0.2)
        captioned = area.height - high - foot > stage.text(14) * 13
        above, middle = area.above(map_height(stage, captioned), space)
        middle = middle.above(middle.height - high - foot - space)[0]
        low = Rect(area.x, area.bottom - high - foot, area.width, high)
        marks = _cells(stage, above, scene, None if over else act, t)
        marks += draw(stage, lay_out(act.request, stage, middle), act.sent_at(t), act.served_at(t))
        costs = tuple(scene.costs[i] for i in rows)
        names = tuple(_names(scene.multi)[i] for i in rows)
        noun = acts[0].request.noun
        marks += cost_table(stage, low, costs, names, rows.index(scene.now), noun)
        last = Rect(area.x, area.bottom - foot, area.width, foot)
        return stage.frame(*head, *marks, *(_published(stage, last) if foot else ()))

    return frame


def _rows(scene: _Scene, tall: bool) -> list[int]:
    """The kernels of the table: all, or only those that compute their cells in the same order."""
    if tall:
        return list(range(len(_ROLES)))
    return [0, 1, 2] if scene.now in (1, 2) else [0, 3, 4]


def _names(multi: int) -> tuple[str, ...]:
    """The kernels in words."""
    return (
        tr("1 cell a thread"),
        tr("{n} side by side", n=multi),
        tr("{n} a block apart", n=multi),
        tr("{n} side by side, unrolled", n=multi),
        tr("{n} a block apart, unrolled", n=multi),
    )


def _cells(stage: Stage, area: Rect, scene: _Scene, act: Act | None, t: float) -> tuple[Mark, ...]:
    """The map of P, the columns outlined that the request under way is about."""
    stored = sum(a.request.is_store and t >= a.end for a in scene.acts)
    now: I64 = np.zeros(0, np.int64)
    if act is not None and act.request.name != "M":
        now = _columns(act.request, scene.columns)
    return cell_map(stage, area, scene.cells, stored, now)


def _columns(request: Request, columns: int) -> I64:
    """The columns of N or P that a request asks for."""
    return np.asarray(request.address[request.active] // 4 % columns, dtype=np.int64)


def _published(stage: Stage, area: Rect) -> tuple[Mark, ...]:
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
    return sourced(stage, area, tr("published"), stage.palette.muted, texts)


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
