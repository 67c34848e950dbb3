"""What every stride costs: a launch in which each block reads with one, as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64
from gpuviz.memory.banks import wavefronts
from gpuviz.memory.strides import formula
from gpuviz.memory.transaction_names import counted
from gpuviz.panels.count_boxes import CountBoxes
from gpuviz.panels.figures import Figure, FigureRow, Provenance
from gpuviz.panels.layout import Line, rows
from gpuviz.panels.picture import Picture
from gpuviz.traces.trace import Trace
from gpuviz.words.language import tr


@dataclass(frozen=True, eq=False)
class Strides:
    """Wavefronts of the load with (S,) `stride`; `ideal` ones without conflicts; and its line.

    `formula` is what arithmetic says, with the stride as `s`, "" where no simple rule holds.
    """

    stride: I64
    count: I64
    ideal: I64
    formula: str
    line: int


def strides_of(trace: Trace, arch: Architecture, first: int) -> Strides:
    """What each block's load took; block b ran with stride `first` + b."""
    loads = trace.of(space="shared", op="load", warp=0)
    loads = loads.select(np.asarray(np.argsort(loads.block), np.int64))
    did = trace.instructions[loads.instruction[0]]
    active = np.ones_like(loads.address, dtype=bool)
    cost = wavefronts(arch, loads.address, active, did.width)
    return Strides(first + loads.block, cost.count, cost.ideal, formula(arch, did.width), did.line)


def picture(table: Strides, filled: float, picked: int, padded: bool) -> Picture:
    """The table with its first `filled` entries, the stride `picked` marked.

    `padded`: strides are rows of so many elements.
    """
    return Picture(_title(table), _sentence(table, padded), _body(table, filled, picked))


def _title(table: Strides) -> str:
    """The rule that the table shows."""
    if table.formula:
        return tr("The rule: stride s takes {formula} wavefronts", formula=table.formula)
    return tr("What every stride takes")


def _sentence(table: Strides, padded: bool) -> str:
    """What was run for the table."""
    first, last = int(table.stride[0]), int(table.stride[-1])
    if padded:
        return tr(
            "The same kernel with rows of {first} to {last} elements, one block for each: "
            "an odd pitch is free.",
            first=first,
            last=last,
        )
    free = bool((table.count <= table.ideal)[table.stride % 2 == 1].all())
    odd = tr("odd strides are free") if free else tr("see which strides are free")
    return tr(
        "The same kernel with stride {first} to {last}, one block for each: {odd}.",
        first=first,
        last=last,
        odd=odd,
    )


def _body(table: Strides, filled: float, picked: int) -> Line:
    """What every stride takes, the one being filled as an equation, and what was published."""
    now = min(int(filled), len(table.stride) - 1)
    stride, count = int(table.stride[now]), counted("wavefront", int(table.count[now]))
    said = tr("stride {stride} takes {wavefronts}", stride=stride, wavefronts=count)
    rule = f"{said} = {table.formula.replace('s', str(stride))}" if table.formula else said
    ways = np.log2(np.maximum(table.count / np.maximum(table.ideal, 1), 1))
    names = table.stride.tolist()
    place = names.index(picked) if picked in names else -1
    published = tr(
        "{source}, 16 banks: stride 2 is 2-way, stride 8 is 8-way, odd strides are free",
        source=tr("lecture slides on memory sharing and banks, G80"),
    )
    key = tr("in each box: stride, wavefronts below")
    return rows(
        CountBoxes(tuple(map(str, names)), table.count, ways / 5, filled, place),
        FigureRow(
            (
                Figure(rule, bold=True, shorter=(said,)),
                Figure(key, "muted", shorter=(tr("stride, wavefronts"),)),
            )
        ),
        Provenance((published,), whole=True),
    )
