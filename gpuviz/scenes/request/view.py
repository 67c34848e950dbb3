"""The picture of one request: a warp's lanes, bands to what they ask for, the address strip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.draw.bands import backwards, bands, partly
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import brackets, label
from gpuviz.draw.layout import Rect, centers, first_fitting
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.strip import Placed, height_of, place
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.language import tr
from gpuviz.scenes.request.requests import Request
from gpuviz.scenes.request.words import in_bytes

_BELOW_LANES, _ABOVE_STRIP = np.array([0, 3], np.float32), np.array([0, 2], np.float32)
Tip = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class View:
    """A request laid out in an area: where everything goes, whatever the time."""

    request: Request
    caption: Rect
    lanes: F32
    strip: Placed
    curves: F32
    labels_y: float
    lines_y: float


def lay_out(request: Request, stage: Stage, area: Rect) -> View:
    """Lanes at the top, the strip with its labels at the bottom, bands in what is left."""
    small, scale = stage.text(14), stage.scale
    caption, rest = area.above(small * 1.5)
    row, rest = rest.above(min(30 * scale, rest.height * 0.12))
    under = small * 3.9
    tall = height_of(request.strip, area.width, rest.height - under, scale)
    top = rest.bottom - under - tall
    strip = place(request.strip, Rect(area.x, top, area.width, tall), scale)
    lanes = lane_boxes(row)
    start = np.stack([lanes[:, 0] + lanes[:, 2] / 2, lanes[:, 1] + lanes[:, 3]], axis=1)
    curves = bands(start + _BELOW_LANES, strip.target - _ABOVE_STRIP)
    labels_y = top + tall + small * 0.95
    return View(request, caption, lanes, strip, curves, labels_y, labels_y + small * 1.0)


def draw(stage: Stage, view: View, sent: float, served: float) -> tuple[Mark, ...]:
    """The picture when `sent` (0 to 1) of the request went out and `served` transactions came back.

    A fraction of `served` belongs to the transaction under way.
    """
    request = view.request
    progress = np.clip(served - request.turn, 0.0, 1.0)
    at_work = (progress > 0) & (progress < 1)
    of_lane = np.where(request.active, progress[request.strip.lane_box], 0.0)
    lanes_now = request.active & at_work[request.strip.lane_box]
    return (
        *_caption(stage, view),
        *_bands(stage, view, sent, of_lane),
        *lane_row(stage, view.lanes, request.active, lanes_now, lambda i: lane_tip(request, i)),
        *_boxes(stage, view, progress, at_work),
        *_cells(stage, view, progress),
        *_labels(stage, view, progress, at_work),
        *_lines(stage, view),
    )


def _caption(stage: Stage, view: View) -> tuple[Mark, ...]:
    """What the row of lanes is."""
    request, size = view.request, stage.text(14)
    start = tr("warp {warp} of block {block}", warp=request.warp, block=request.block)
    each = f"{start} · {_each(request)}"
    forms = tuple(f"{each}  ({hint})" for hint in _hints(request))
    text = first_fitting((*forms, each, start), view.caption.width, size)
    y = view.caption.y + size * 0.55
    return (label(view.caption.x, y, text, stage.palette.muted, size),)


def _each(request: Request) -> str:
    """What one lane asks for."""
    width = request.instruction.width
    if request.is_store:
        return tr("each lane writes {bytes} of {name}", bytes=in_bytes(width), name=request.name)
    return tr("each lane reads {bytes} of {name}", bytes=in_bytes(width), name=request.name)


def _hints(request: Request) -> tuple[str, ...]:
    """What else there is to know, longest first: parts served by themselves, what colours say."""
    if request.groups == 2:
        return tr("each half warp is served by itself"), tr("half by half")
    if request.groups == 4:
        return tr("each quarter warp is served by itself"), tr("quarter by quarter")
    return (tr("hue = quarter warp, brighter = higher lane"),)


def _bands(stage: Stage, view: View, sent: float, arrived: F64) -> tuple[Mark, ...]:
    """Hardly there before; thin once asked for; full where data travels, as far as it has come."""
    active, palette = view.request.active, stage.palette
    curves, colors = view.curves[active], palette.lanes[active]
    thin, going, waits = 1.2 * stage.scale, arrived[active] > 0, arrived[active] < 1
    share = np.full(len(curves), float(smooth(sent)))
    lane = np.flatnonzero(active)
    first = slice(None) if sent < 1 else slice(0)
    ahead = Curves(curves[first], palette.todo(colors[first]), thin, _lane_of(view, lane))
    asked = Curves(
        partly(curves, share)[waits],
        palette.soft(colors[waits], 0.4),
        thin,
        _lane_of(view, lane[waits]),
    )
    source = curves if view.request.is_store else backwards(curves)
    came = partly(source[going], smooth(arrived[active][going]))
    tip = _lane_of(view, lane[going])
    return ahead, asked, Curves(came, colors[going], 2.5 * stage.scale, tip)


def _lane_of(view: View, lanes: I64) -> Tip:
    """The hover text of bands that belong to these lanes."""
    return lambda i: lane_tip(view.request, int(lanes[i]))


def _boxes(stage: Stage, view: View, progress: F64, at_work: Bool) -> tuple[Mark, ...]:
    """One box a transaction: done in the accent, now outlined, to come hardly there."""
    palette, boxes = stage.palette, view.strip.boxes
    edge = np.where((progress >= 1)[:, None], palette.accent, palette.border).astype(np.uint8)
    request = view.request
    grown = boxes[at_work] + np.array([-1.5, -1.5, 3, 3], np.float32)
    return (
        Boxes(
            boxes,
            palette.panel,
            stroke=edge,
            stroke_width=1.5,
            radius=5,
            tip=lambda i: box_tip(request, i),
        ),
        Boxes(grown, stroke=palette.outline, stroke_width=2.5, radius=6),
        *_dots(stage, view.strip.breaks),
    )


def _dots(stage: Stage, middles: F32) -> tuple[Mark, ...]:
    """Three dots where addresses are left out."""
    if not len(middles):
        return ()
    return (Texts(middles, ("…",) * len(middles), stage.palette.muted, stage.text(14), "center"),)


def _cells(stage: Stage, view: View, progress: F64) -> tuple[Mark, ...]:
    """Words in the colour of the lane that asks for them; what nobody asks for is hatched."""
    palette, strip, cells = stage.palette, view.request.strip, view.strip.cells
    used, come = strip.cell_lane >= 0, progress[strip.cell_box]
    solid = palette.state(palette.lanes[strip.cell_lane[used]], smooth(come[used]))
    return (
        Boxes(cells[used], solid, tip=_cell_tips(view, used)),
        *_waste(stage, view, ~used, come > 0.5),
        *_numbers(stage, view, used, solid),
    )


def _waste(stage: Stage, view: View, unused: Bool, come: Bool) -> tuple[Mark, ...]:
    """What nobody asks for: hatched, unless the stage asks how much that is."""
    palette, cells = stage.palette, view.strip.cells
    if stage.asks:
        return (Boxes(cells[unused], palette.cell, tip=_cell_tips(view, unused)),)
    done, ahead = unused & come, unused & ~come
    dim, dim_ground = palette.todo(palette.waste), palette.todo(palette.waste_ground)
    return (
        Boxes(cells[done], palette.waste_ground, hatch=palette.waste, tip=_cell_tips(view, done)),
        Boxes(cells[ahead], dim_ground, hatch=dim, tip=_cell_tips(view, ahead)),
    )


def _numbers(stage: Stage, view: View, used: Bool, solid: Rgba) -> tuple[Mark, ...]:
    """The lane's number on each element, where it is wide and high enough."""
    strip, cells, size = view.request.strip, view.strip.cells[used], stage.text(13)
    lane = strip.cell_lane[used]
    first = np.flatnonzero(np.diff(lane, prepend=-1))
    last = np.append(first[1:] - 1, len(lane) - 1)
    low, high = cells[first], cells[last]
    room = high[:, 0] + high[:, 2] - low[:, 0]
    if len(first) == 0 or min(room) < text_width("31", size, True) + 3 or min(low[:, 3]) < size:
        return ()
    at = np.stack([low[:, 0] + room / 2, (low[:, 1] + high[:, 1] + high[:, 3]) / 2], axis=1)
    words = tuple(str(n) for n in lane[first])
    ink = stage.palette.ink_on(solid[first])
    return (Texts(at.astype(np.float32), words, ink, size, "center", bold=True),)


def _cell_tips(view: View, chosen: Bool) -> Tip:
    """The hover text of the chosen cells."""
    numbers = np.flatnonzero(chosen)
    return lambda i: cell_tip(view.request, int(numbers[i]))


def _labels(stage: Stage, view: View, progress: F64, at_work: Bool) -> tuple[Mark, ...]:
    """The number of each transaction in the order of delivery, in words where there is room.

    Nothing while the stage asks: the last number would tell how many there are.
    """
    if stage.asks:
        return ()
    palette, boxes, request = stage.palette, view.strip.boxes, view.request
    size, room = stage.text(14), float(boxes[:, 2].min())
    numbers = [str(turn) for turn in request.turn]
    named = [request.numbered(int(turn)) for turn in request.turn]
    words = named if max(text_width(n, size, True) for n in named) <= room else numbers
    colors = np.where((progress >= 1)[:, None], palette.accent, palette.muted)
    colors = np.where(at_work[:, None], palette.ink, colors).astype(np.uint8)
    keep = np.arange(0, len(words), _stride(boxes, numbers, size))
    at = np.stack([centers(boxes)[:, 0], np.full(len(boxes), view.labels_y)], axis=1)
    kept = tuple(words[i] for i in keep)
    return (Texts(at[keep].astype(np.float32), kept, colors[keep], size, "center"),)


def _stride(boxes: F32, numbers: list[str], size: float) -> int:
    """Every how many boxes can have a number without one touching the next."""
    if len(boxes) < 2:
        return 1
    pitch = float(np.diff(boxes[:, 0]).min())
    needed = max(text_width(n, size) for n in numbers) + size * 0.3
    return next(s for s in (1, 2, 4, 8, 16, 32, 64, 128) if s * pitch >= needed or s == 128)


def _lines(stage: Stage, view: View) -> tuple[Mark, ...]:
    """Brackets that gather transactions to 128-byte lines, or one sentence where there are many."""
    request, palette, size = view.request, stage.palette, stage.text(14)
    boxes, line = view.strip.boxes, request.line
    count = int(line.max()) + 1
    left = np.array([boxes[line == k, 0].min() for k in range(count)])
    right = np.array([(boxes[line == k, 0] + boxes[line == k, 2]).max() for k in range(count)])
    marks = [brackets(np.stack([left, right], axis=1), view.lines_y, size * 0.3, palette.faint)]
    name = _line_place if stage.asks else _line_name
    names = [name(request, k, float(right[k] - left[k]), size) for k in range(count)]
    y = view.lines_y + size * 1.15
    if all(names):
        at = np.stack([(left + right) / 2, np.full(count, y)], axis=1).astype(np.float32)
        return *marks, Texts(at, tuple(names), palette.muted, size, "center")
    if stage.asks:
        return tuple(marks)
    first, last = float(boxes[0, 0]), float(boxes[-1, 0] + boxes[-1, 2])
    each = (
        tr(
            "{count} in {n} different lines of 128 bytes",
            count=request.counted(request.count),
            n=count,
        ),
        tr("{n} lines of 128 bytes", n=count),
    )
    text = first_fitting(each, last - first, size)
    if not text:
        return tuple(marks)
    return *marks, label((first + last) / 2, y, text, palette.muted, size, align="center")


def _line_start(request: Request, line: int) -> str:
    """Where a line begins."""
    start = int(request.strip.start[request.line == line][0]) // 128 * 128
    return f"{request.name} + {start:#06x}"


def _line_place(request: Request, line: int, room: float, size: float) -> str:
    """What a bracket says without a number that would tell how many lines there are."""
    where = _line_start(request, line)
    return first_fitting((f"{in_bytes(128)} · {where}", where), room - size * 0.3, size)


def _line_name(request: Request, line: int, room: float, size: float) -> str:
    """What a bracket says, as long as there is room for."""
    where, name = _line_start(request, line), tr("line {n}", n=line)
    forms: tuple[str, ...] = (f"{name} · {in_bytes(128)} · {where}", f"{name} · {where}", name)
    parts = np.flatnonzero(request.line == line)
    if request.strip.size[parts].sum() > 128:
        count = request.counted(len(parts))
        again = tr("{count} within the same 128 bytes", count=count)
        forms = (f"{name} · {again} · {where}", f"{name} · {again}", again, count, name)
    return first_fitting(forms, room - size * 0.3, size)


def lane_tip(request: Request, lane: int) -> str:
    """What hovering a lane or its band says."""
    thread = request.warp * 32 + lane
    if not request.active[lane]:
        return tr("lane {lane} · thread {thread} · takes no part", lane=lane, thread=thread)
    box, first = int(request.strip.lane_box[lane]), int(request.address[lane])
    return "\n".join(
        (
            tr(
                "lane {lane} · thread {thread} of block {block}",
                lane=lane,
                thread=thread,
                block=request.block,
            ),
            tr(
                "{place} · bytes {a} to {b} · address {address}",
                place=request.place(lane),
                a=first,
                b=first + request.instruction.width - 1,
                address=f"{request.buffer.address + first:#x}",
            ),
            f"{request.numbered(int(request.turn[box]))} · {tr('line {n}', n=request.line[box])}",
        )
    )


def cell_tip(request: Request, cell: int) -> str:
    """What hovering a word says."""
    strip = request.strip
    lane, box = int(strip.cell_lane[cell]), int(strip.cell_box[cell])
    if lane >= 0:
        return lane_tip(request, lane)
    first = int(strip.start[box] + strip.cell_at[cell])
    which = tr("bytes {a} to {b} of {name}", a=first, b=first + strip.unit - 1, name=request.name)
    part = request.numbered(int(request.turn[box]))
    if request.is_store:
        why = tr("touched with {part}, but no lane of this request asks for them", part=part)
    else:
        why = tr("fetched with {part}, but no lane of this request asks for them", part=part)
    return f"{which}\n{why}"


def box_tip(request: Request, box: int) -> str:
    """What hovering a transaction says."""
    start, size = int(request.strip.start[box]), int(request.strip.size[box])
    return tr(
        "{part} · {size} bytes from {place} · {used} of them used",
        part=request.numbered(int(request.turn[box])),
        size=size,
        place=f"{request.name} + {start:#x}",
        used=request.strip.used[box],
    )
