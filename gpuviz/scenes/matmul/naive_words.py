"""What is said about a moment of the naive matrix product."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import I64
from gpuviz.language import tr
from gpuviz.panels.script import Step, StepKind
from gpuviz.scenes.matmul.scene import Multiplication
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.tips import readers
from gpuviz.scenes.matmul.words import cost_of, number, product_sum, spaced, stored, things


def loads_of(about: Multiplication, steps: slice) -> tuple[int, int]:
    """Floats that the block loads in some steps, and how many different ones these are."""
    parts = [o.naive_reads[steps] for o in (about.m, about.n)]
    loaded = [part[part >= 0] for part in parts]
    return sum(map(len, loaded)), sum(len(np.unique(part)) for part in loaded)


def title(about: Multiplication) -> str:
    """What the block does in all."""
    loads, different = loads_of(about, slice(None))
    if loads == different:
        return tr("One block loads {n} floats, none of them twice", n=spaced(different))
    return tr(
        "One block makes {loads} loads of only {n} floats", loads=spaced(loads), n=spaced(different)
    )


def sentence(about: Multiplication, moment: Moment) -> str:
    """What the block does now."""
    if moment.part == "multiply":
        loads, different = loads_of(about, slice(moment.step, moment.step + 1))
        return tr(
            "Step k = {k}: {loads} loads from global memory, of {n} different floats.",
            k=moment.step,
            loads=loads,
            n=different,
        )
    if moment.part == "store":
        return stored(about)
    loads, different = loads_of(about, slice(None))
    return tr(
        "On average each float came {n} times: nothing is kept for the other threads.",
        n=f"{loads / max(different, 1):.3g}",
    )


def formula(about: Multiplication, moment: Moment) -> tuple[str, str, str]:
    """What the followed thread does: the statement, who it is, the values."""
    x, y = about.thread
    who = tr("thread ({x},{y})", x=x, y=y)
    if about.element < 0:
        return tr("nothing to do"), tr("{who} is a guard lane", who=who), ""
    row, column = divmod(about.element, about.sizes.columns)
    if moment.step < 0:
        value = number(float(about.sums[-1]))
        return f"P[{row}][{column}] = sum", who, f"P[{row}][{column}] = {value}"
    statement = f"P[{row}][{column}] += M[{row}][k] × N[k][{column}]"
    return statement, f"k = {moment.step} · {who}", product_sum(about, moment.step)


def shared_reads(about: Multiplication, moment: Moment) -> tuple[str, ...]:
    """Which threads load the two elements that the followed thread loads now."""
    if moment.step < 0 or about.element < 0:
        return ()
    lines = []
    for operand in (about.m, about.n):
        reads = operand.naive_reads[moment.step]
        element = int(reads[about.watched])
        who = readers(about, np.flatnonzero(reads == element))
        lines.append(tr("{element} is {who}", element=operand.written(element), who=who))
    return tuple(lines)


def steps(about: Multiplication, cost: I64) -> tuple[Step, ...]:
    """The time line; `cost` holds the requests and transactions of the loads of each step."""
    load, store = about.naive.load, about.naive.store
    made = []
    for moment in about.line:
        kind: StepKind = "result"
        line, name, detail = 0, tr("result"), _ratio_word(about)
        if moment.part == "multiply":
            counts = (int(cost[moment.step, 0]), int(cost[moment.step, 1]))
            kind, line, name = "load", load.line, f"k = {moment.step}"
            detail = cost_of(load.text, counts, about.noun)
        elif moment.part == "store":
            kind, line, name = "store", store.line, tr("store")
            detail = cost_of(store.text, about.costs.of("store", "global", line), about.noun)
        made.append(Step(moment.start, moment.end, kind, name, detail, line, "naive"))
    return tuple(made)


def _ratio_word(about: Multiplication) -> str:
    """The loads of the launch."""
    return tr(
        "{loads} loads · {sectors}",
        loads=spaced(about.totals["naive"].loads),
        sectors=things(about.totals["naive"].sectors, about.noun),
    )
