"""A table that fills itself: what every stride costs, from a launch in which each block has one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arrays import I64
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, first_fitting, grid, wrap
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.memory.banks import wavefronts
from gpuviz.memory.strides import formula
from gpuviz.scenes.shared_memory.bank_view import wavefronts as wavefronts_of
from gpuviz.trace import Trace

_TALL = 84.0  # most height of a box


@dataclass(frozen=True, eq=False)
class Table:
    """Wavefronts of the load with (S,) `stride`; `ideal` ones without conflicts; and its line.

    `formula` is what arithmetic says, with the stride as `s`, "" where no simple one holds.
    """

    stride: I64
    count: I64
    ideal: I64
    formula: str
    line: int


def table_of(trace: Trace, arch: Architecture, first: int) -> Table:
    """What each block's load took; block b ran with stride `first` + b."""
    loads = trace.of(space="shared", op="load", warp=0)
    order = np.argsort(loads.block)
    loads = loads.select(np.asarray(order, np.int64))
    did = trace.instructions[loads.instruction[0]]
    active = np.ones_like(loads.address, dtype=bool)
    counted = wavefronts(arch, loads.address, active, did.width)
    stride = first + loads.block
    return Table(stride, counted.count, counted.ideal, formula(arch, did.width), did.line)


def draw(stage: Stage, area: Rect, table: Table, filled: float, picked: int) -> tuple[Mark, ...]:
    """The table with its first `filled` entries; `picked` is the stride the lesson is set to."""
    below = stage.text(16) * 1.8 + len(_published_lines(stage, area.width)) * stage.text(14) * 1.4
    count, room = len(table.stride), area.height - below
    columns = 16 if room / -(-count // 16) < _TALL * stage.scale else 8
    rows = -(-count // columns)
    tall = rows * min(room / rows, _TALL * stage.scale)
    top, rest = area.above(tall)
    boxes = grid(Rect(top.x, top.y, top.width, tall - 4), rows, columns, 4.0)[:count]
    now = min(int(filled), count - 1)
    filled = 0.0 if stage.asks else filled
    marks = _entries(stage, boxes, table, filled)
    chosen = boxes[(table.stride == picked) & (np.arange(count) < filled)]
    outline = boxes[now : now + 1] if filled < count else boxes[:0]
    return (
        *marks,
        Boxes(chosen, stroke=stage.palette.accent, stroke_width=3, radius=5),
        Boxes(outline, stroke=stage.palette.outline, stroke_width=2, radius=5),
        *_words(stage, rest, table, now),
    )


def _entries(
    stage: Stage,
    boxes: np.ndarray[tuple[int, int], np.dtype[np.float32]],
    table: Table,
    filled: float,
) -> tuple[Mark, ...]:
    """Stride above, wavefronts below; the warmer the more."""
    palette = stage.palette
    done = np.arange(len(boxes)) < filled
    ways = np.log2(np.maximum(table.count / np.maximum(table.ideal, 1), 1))
    heat = palette.heat_at(ways / 5)
    fill = np.where(done[:, None], heat, palette.todo(palette.cell)).astype(np.uint8)
    x = boxes[:, 0] + boxes[:, 2] / 2
    high = float(boxes[0, 3])
    small = stage.text(13)
    large = float(int(min(stage.text(18), high - small - 3, boxes[0, 2] * 0.62)))
    both = large >= small
    ink = np.where(done[:, None], palette.ink_on(fill), palette.muted).astype(np.uint8)
    above = np.stack([x, boxes[:, 1] + small * 0.72], axis=1).astype(np.float32)
    low = boxes[:, 1] + (high - large * 0.62 if both else high / 2)
    counts = np.stack([x, low], axis=1).astype(np.float32)
    marks: list[Mark] = [Boxes(boxes, fill, radius=4)]
    if both:
        marks.append(Texts(above, tuple(map(str, table.stride.tolist())), ink, small, "center"))
    numbers = tuple(str(n) for n in table.count[done].tolist())
    size = large if both else small
    marks.append(Texts(counts[done], numbers, ink[done], size, "center", bold=True))
    return tuple(marks)


def _words(stage: Stage, area: Rect, table: Table, now: int) -> tuple[Mark, ...]:
    """The entry being filled as an equation, and what was published; not while the stage asks."""
    if stage.asks:
        return ()
    palette, size = stage.palette, stage.text(16)
    top, rest = area.above(size * 1.8)
    stride, count = int(table.stride[now]), int(table.count[now])
    rule = f" = {table.formula.replace('s', str(stride))}" if table.formula else ""
    what = tr("stride {stride} takes {wavefronts}", stride=stride, wavefronts=wavefronts_of(count))
    pill = text_width(tr("model"), stage.text(13)) + stage.text(13) * 1.2
    room = top.width - pill - size
    text = first_fitting((what + rule, what), room, size, bold=True)
    x = top.x + text_width(text, size, True) + size
    key = first_fitting(
        (tr("in each box: stride, wavefronts below"), tr("stride, wavefronts")),
        top.right - pill - size - x,
        stage.text(14),
    )
    marks: list[Mark] = [
        label(top.x, top.center[1], text, palette.ink, size, bold=True),
        *((label(x, top.center[1], key, palette.muted, stage.text(14)),) if key else ()),
        *badge(stage, top.right - pill, top.center[1], tr("model"), palette.accent),
    ]
    small = stage.text(14)
    word = _published_room(stage)
    marks += badge(stage, rest.x, rest.y + small * 0.6, tr("published"), palette.muted)
    for i, line in enumerate(_published_lines(stage, area.width)):
        y = rest.y + small * (0.6 + 1.4 * i)
        marks.append(label(rest.x + word, y, line, palette.muted, small))
    return tuple(marks)


def _published_room(stage: Stage) -> float:
    """Width of the badge before what was published."""
    return text_width(tr("published"), stage.text(13)) + stage.text(13) * 1.8


def _published_lines(stage: Stage, width: float) -> tuple[str, ...]:
    """What the document says, in lines."""
    text = tr(
        "{source}, 16 banks: stride 2 is 2-way, stride 8 is 8-way, odd strides are free",
        source=tr("lecture slides on memory sharing and banks, G80"),
    )
    return wrap(text, width - _published_room(stage), stage.text(14))
