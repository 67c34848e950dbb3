"""An automatic array in local memory: how the lanes' copies interleave, and what loads touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arrays import F32, I64
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.memory.coalescing import granularity
from gpuviz.memory.counts import Count
from gpuviz.memory.local import interleaved
from gpuviz.memory.request_counts import measure
from gpuviz.memory.transaction_names import counted, noun_of
from gpuviz.trace import LANES, Trace, lane_mask

_WORD = 4


@dataclass(frozen=True, eq=False)
class LocalLoads:
    """Loads of warp 0 of block 0 from local memory.

    Attributes
    ----------
    word : (R, 32) element each lane loads
    elements : of the array
    boxes : for each load (T, 3) row, first column and columns of its transactions in a table of
        elements by lanes, which is how local memory is laid out
    counted : what each load takes, `4 sectors`
    """

    word: I64
    elements: int
    boxes: tuple[I64, ...]
    counted: tuple[str, ...]


def local_loads(trace: Trace, arch: Architecture) -> LocalLoads | None:
    """What the trace says of loads from local memory; None when there are none."""
    every = trace.of(space="local", block=0, warp=0)
    loads = trace.of(space="local", op="load", block=0, warp=0)
    if not len(loads):
        return None
    first = int(every.address.min())
    last = max(
        int(every.address[r].max()) + trace.instructions[every.instruction[r]].width
        for r in range(len(every))
    )
    boxes, said = [], []
    for row in range(len(loads)):
        did = trace.instructions[loads.instruction[row]]
        offset, active = loads.address[row][None], lane_mask(loads.active[row : row + 1])
        count = int(measure(arch, did, offset, active)[Count.LOCAL_LOAD_SECTORS][0])
        said.append(counted(noun_of(arch, "local"), count))
        boxes.append(_boxes(interleaved(offset - np.uint64(first), did.width)[0, 0], arch))
    word = (loads.address.astype(np.int64) - first) // _WORD
    return LocalLoads(word, -(-(last - first) // _WORD), tuple(boxes), tuple(said))


def _boxes(physical: np.ndarray[tuple[int], np.dtype[np.uint64]], arch: Architecture) -> I64:
    """(T, 3) blocks of memory that hold the addresses; single words before 2.0."""
    size = granularity(arch, "load") if arch.caches_global else _WORD
    start = np.unique(physical.astype(np.int64) // size) * (size // _WORD)
    row, column = np.divmod(start, LANES)
    return np.stack([row, column, np.full_like(row, size // _WORD)], axis=1)


def layout(stage: Stage, area: Rect, loads: LocalLoads, done: float) -> tuple[Mark, ...]:
    """Elements by lanes; `done` loads are over, the fraction being the one under way."""
    palette, size = stage.palette, stage.text(13)
    room = text_width(f"kept[{loads.elements - 1}]", size) + size * 0.6
    names, inner = area.beside(room)
    head, body = inner.above(size * 1.3)
    tall = min(body.height / loads.elements, 30 * stage.scale)
    gap = 2.0 if tall >= 9 else 1.0 if tall >= 5 else 0.0
    place = Rect(body.x, body.y, body.width, tall * loads.elements - gap)
    cells = _cells(place, loads.elements, gap)
    now = int(done)
    before = loads.word[:now]
    read = np.zeros((loads.elements, LANES), dtype=bool)
    read[before, np.arange(LANES)] = True
    going = np.zeros_like(read)
    if now < len(loads.word) and done > 0:
        going[loads.word[now], np.arange(LANES)] = True
    lanes = np.tile(palette.lanes, (loads.elements, 1))
    fill = np.where((read | going).reshape(-1)[:, None], lanes, palette.todo(lanes))
    marks: list[Mark] = [Boxes(cells, fill.astype(np.uint8), tip=_tip)]
    if going.any():
        marks.append(
            Boxes(
                _around(cells, loads.boxes[now]), stroke=palette.outline, stroke_width=2.0, radius=2
            )
        )
    return *marks, *_names(stage, names, head, cells, loads.elements, tall)


def _cells(place: Rect, elements: int, gap: float) -> F32:
    """(elements * 32, 4) cells, row by row; groups of eight lanes (a sector) a little apart."""
    across, down = grid(place, 1, LANES, 2.0), grid(place, elements, 1, gap)
    x, y = np.tile(across, (elements, 1)), np.repeat(down, LANES, axis=0)
    return np.stack([x[:, 0], y[:, 1], x[:, 2], y[:, 3]], axis=1).astype(np.float32)


def _around(cells: F32, boxes: I64) -> F32:
    """(T, 4) outlines of transactions."""
    first = cells[boxes[:, 0] * LANES + boxes[:, 1]]
    last = cells[boxes[:, 0] * LANES + boxes[:, 1] + boxes[:, 2] - 1]
    right = last[:, 0] + last[:, 2]
    wide = right - first[:, 0] + 2
    return np.stack([first[:, 0] - 1, first[:, 1] - 1, wide, first[:, 3] + 2], axis=1)


def _tip(cell: int) -> str:
    """What hovering a cell says."""
    element, lane = divmod(cell, LANES)
    return tr(
        "kept[{element}] of lane {lane} · {at} bytes from where the warp's copies start",
        element=element,
        lane=lane,
        at=(element * LANES + lane) * _WORD,
    )


def _names(
    stage: Stage, names: Rect, head: Rect, cells: F32, elements: int, tall: float
) -> tuple[Mark, ...]:
    """Elements beside their rows, lanes above their columns, as many as fit."""
    size, muted = stage.text(13), stage.palette.muted
    every = next(k for k in (1, 2, 4, 8, 16, 32) if k * tall >= size * 1.1 or k == 32)
    rows = np.arange(0, elements, every)
    y = cells[rows * LANES, 1] + cells[rows * LANES, 3] / 2
    beside = np.stack([np.full_like(y, names.right - size * 0.6), y], axis=1)
    some = np.arange(0, LANES, 4)
    x = cells[some, 0] + cells[some, 2] / 2
    above = np.stack([x, np.full_like(x, head.y + size * 0.55)], axis=1)
    return (
        Texts(beside, tuple(f"kept[{r}]" for r in rows), muted, size, "right"),
        Texts(above, tuple(map(str, some)), muted, size, "center"),
        label(
            names.right - size * 0.6, head.y + size * 0.55, tr("lane"), muted, size, align="right"
        ),
    )


def registers(stage: Stage, area: Rect, elements: int) -> tuple[Mark, ...]:
    """The array as registers of one thread, each element by itself."""
    palette, size = stage.palette, stage.text(13)
    columns = 8 if elements > 4 else 4
    rows = -(-elements // columns)
    tall = min(area.height / rows, 40 * stage.scale)
    boxes = grid(Rect(area.x, area.y, area.width, tall * rows - 4), rows, columns, 4.0)[:elements]
    fill = palette.soft(palette.shared, 0.65)
    middle = np.stack([boxes[:, 0] + boxes[:, 2] / 2, boxes[:, 1] + boxes[:, 3] / 2], axis=1)
    long = text_width(f"kept[{elements - 1}]", size) <= boxes[0, 2] - 4
    words = tuple(f"kept[{k}]" if long else str(k) for k in range(elements))
    return (
        Boxes(boxes, fill, stroke=palette.shared, radius=3),
        Texts(middle.astype(np.float32), words, palette.ink, size, "center"),
    )
