"""Where the boxes of an address strip go, their words and tips, and the ends of lanes' bands.

Boxes are flat (their bytes side by side) where there is room, else folded: eight rows of bytes, so
that 32 sectors fit side by side.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool
from gpuviz.draw.heading import brackets, label
from gpuviz.draw.layout import Rect, centers, first_fitting
from gpuviz.draw.marks import Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.memory.request import LINE, Request, Strip
from gpuviz.memory.units import in_bytes
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_FEW, _APART, _CLOSE = 16, 18.0, 4.0  # so many boxes have wide gaps between them, more narrow ones
FOLDS = 8  # rows of a folded box, where it is high enough
_LEAST_CELL, _LEAST_ELEMENT = 4.5, 6.5  # pixels wide; below that, boxes are folded
_LEAST_ROW = 6.0  # pixels high
_GAPS = 0.3  # of the width that they may take, all together
_TALLEST = 13.0  # pixels of a byte: a word is no wider than a flat strip is high
_WORD, _LEAST_BOX = 4, 32  # bytes of a word, and of the smallest transaction
_FOLDED = 90.0  # pixels that a folded box may be wide, however low it is


@dataclass(frozen=True)
class Longest:
    """Of strips side by side, in which a byte is equally wide: the most bytes and transactions."""

    size: float
    count: float

    def a_byte(self, width: float, scale: float) -> float:
        """Pixels of a byte, with room for gaps."""
        gap = (_APART if self.count <= _FEW else _CLOSE) * scale
        return (width - min((self.count - 1) * gap, _GAPS * width)) / self.size


@dataclass(frozen=True, eq=False)
class StripLayout:
    """Where a strip goes: (S, 4) `boxes`, (C, 4) `cells`, (32, 2) `target` of each lane's band.

    `breaks` (B, 2) are the middles of gaps in which addresses are left out.
    """

    boxes: F32
    cells: F32
    target: F32
    breaks: F32
    folded: bool


def height_of(
    strip: Strip, width: float, height: float, scale: float, longest: Longest | None = None
) -> float:
    """The height a strip likes in an area: enough to be read, and more where there is plenty."""
    if _is_folded(strip, width, scale, longest):
        return min(max(FOLDS * 17.0 * scale, 0.5 * height), 0.62 * height)
    return min(max(52.0 * scale, 0.2 * height), 0.62 * height)


def place(
    strip: Strip, area: Rect, scale: float, longest: Longest | None = None, merged: bool = False
) -> StripLayout:
    """Boxes and cells of a strip in the area, centred, left to right; `longest` of those beside.

    Boxes that are `merged` cannot be told apart where no address is left out between them.
    """
    folded = _is_folded(strip, area.width, scale, longest)
    gaps = _gaps(strip, area.width, scale) * (_is_apart(strip) if merged else 1.0)
    if longest is not None:
        wide = _shared_widths(strip, area, folded, scale, longest)
        gaps = gaps * min(1.0, max(area.width - wide.sum(), 0.0) / max(gaps.sum(), 1e-9))
    else:
        wide = (_folded_widths if folded else _flat_widths)(strip, area, gaps, scale)
    left = area.x + np.concatenate([[0.0], np.cumsum(wide[:-1] + gaps)])
    left = left + (area.right - (left[-1] + wide[-1])) / 2
    boxes = np.stack([left, np.full_like(left, area.y), wide, np.full_like(left, area.height)], 1)
    rows = _row_bytes(strip, _folds(area, scale, longest is not None) if folded else 1)
    cells = _cell_rects(strip, boxes, rows, 0.0 if merged else _pad(wide))
    away = _is_apart(strip)
    middle = (left[:-1] + wide[:-1] + gaps / 2)[away & (gaps >= 10)]
    breaks = np.stack([middle, np.full_like(middle, area.y + area.height / 2)], axis=1)
    places = (boxes, cells, _targets(strip, boxes, cells), breaks)
    boxes, cells, target, breaks = (np.asarray(a, dtype=np.float32) for a in places)
    return StripLayout(boxes, cells, target, breaks, folded)


def _is_apart(strip: Strip) -> Bool:
    """(S - 1,) whether addresses are left out between a transaction and the next."""
    return np.asarray(strip.start[1:] > (strip.start + strip.size)[:-1], dtype=bool)


def _gaps(strip: Strip, width: float, scale: float) -> F64:
    """(S - 1,) space between boxes: more between lines, most where addresses are left out."""
    other_line = strip.start[1:] // LINE != strip.start[:-1] // LINE
    line, apart = (6.0, _APART) if len(strip.start) <= _FEW else (_CLOSE, _CLOSE)
    gaps = np.where(_is_apart(strip), apart, np.where(other_line, line, 2.0)) * scale
    most = _GAPS * width
    return np.asarray(gaps * min(1.0, most / max(gaps.sum(), 1e-9)))


def _is_folded(strip: Strip, width: float, scale: float, longest: Longest | None = None) -> bool:
    """Whether flat cells would be too narrow to be seen; alike for all that stand side by side."""
    if longest is not None:
        return longest.a_byte(width, scale) * _WORD < _LEAST_ELEMENT * scale
    a_byte = (width - _gaps(strip, width, scale).sum()) / strip.size.sum()
    seen = a_byte * strip.width >= _LEAST_ELEMENT * scale
    return not (seen and a_byte * strip.unit >= _LEAST_CELL)


def _folds(area: Rect, scale: float, beside: bool) -> int:
    """Rows of a folded box: fewer where they would be too low to be seen, and in strips side by
    side, of which one may be lower than the other, so that boxes look alike.
    """
    most = FOLDS // 2 if beside else FOLDS
    return next((n for n in (most, 4, 2) if area.height >= n * _LEAST_ROW * scale), 2)


def _row_bytes(strip: Strip, folds: int) -> I64:
    """(S,) bytes in one row of each box."""
    return np.maximum(strip.size // folds, strip.unit)


def _flat_widths(strip: Strip, area: Rect, gaps: F64, scale: float) -> F64:
    """Widths in proportion to bytes; a word is never wider than it is high."""
    a_byte = min((area.width - gaps.sum()) / float(strip.size.sum()), _TALLEST * scale)
    return np.asarray(strip.size * a_byte, dtype=np.float64)


def _folded_widths(strip: Strip, area: Rect, gaps: F64, scale: float) -> F64:
    """Equal widths: no wider than high, unless that is very little."""
    count, most = len(strip.start), max(area.height, _FOLDED * scale)
    return np.full(count, min((area.width - gaps.sum()) / count, most))


def _shared_widths(strip: Strip, area: Rect, folded: bool, scale: float, longest: Longest) -> F64:
    """Widths in proportion to bytes, as those beside; no wider than either kind is alone."""
    most = max(area.height, _FOLDED * scale) / _LEAST_BOX if folded else _TALLEST * scale
    a_byte = min(longest.a_byte(area.width, scale), most)
    return np.asarray(strip.size * a_byte, dtype=np.float64)


def _pad(wide: F64) -> float:
    """Space between a box and its cells."""
    return float(np.clip(wide.min() * 0.12, 2.0, 5.0))


def _cell_rects(strip: Strip, boxes: F32, row_bytes: I64, pad: float) -> F32:
    """(C, 4) cells inside their boxes."""
    box, wide = boxes[strip.cell_box], row_bytes[strip.cell_box]
    rows = -(-strip.size[strip.cell_box] // wide)
    row, column = np.divmod(strip.cell_at, wide)
    a_byte = (box[:, 2] - 2 * pad) / wide
    step = strip.unit * a_byte
    tall = (box[:, 3] - 2 * pad) / rows
    gap_x = np.where(step >= 10, 2.0, np.where(step >= 4, 1.0, 0.0))
    gap_y = np.where(rows > 1, np.where(tall >= 10, 2.0, 1.0), 0.0)
    x = box[:, 0] + pad + column * a_byte + gap_x / 2
    y = box[:, 1] + pad + row * tall + gap_y / 2
    in_row = _continues(strip, 1) & (column + strip.unit < wide)
    in_column = _continues(strip, int(wide.max()) // strip.unit)
    right, down = np.where(in_row, 0.0, gap_x), np.where(in_column, 0.0, gap_y)
    return np.stack([x, y, step - right, tall - down], axis=1)


def _continues(strip: Strip, ahead: int) -> Bool:
    """(C,) whether the cell so many cells later is painted as one with it.

    So are the parts of a wide element, and the bytes of a word that nobody asks for.
    """
    mine = strip.cell_lane * 1_000_000 + strip.cell_box
    same = np.zeros(len(mine), dtype=bool)
    same[:-ahead] = mine[:-ahead] == mine[ahead:]
    element = (strip.cell_lane >= 0) & (strip.width > strip.unit)
    word = (strip.cell_lane < 0) & ((strip.cell_at + ahead * strip.unit) % 4 != 0)
    return np.asarray(same & (element | word), dtype=bool)


def _targets(strip: Strip, boxes: F32, cells: F32) -> F32:
    """(32, 2) where each lane's band ends: above its element, on the edge of its box."""
    found = np.stack([boxes[strip.lane_box, 0], boxes[strip.lane_box, 1]], axis=1)
    byte, box = strip.lane_at[:, None], strip.lane_box[:, None]
    mine = (strip.cell_box == box) & (strip.cell_at >= byte) & (strip.cell_at < byte + strip.width)
    left = np.where(mine, cells[:, 0], np.inf).min(axis=1)
    right = np.where(mine, cells[:, 0] + cells[:, 2], -np.inf).max(axis=1)
    served = mine.any(axis=1)
    found[served, 0] = (left[served] + right[served]) / 2
    return found


_NUMBERS, _BRACKETS = 0.95, 1.95  # letters below the strip


def numbers(
    stage: Stage, request: Request, boxes: F32, area: Rect, over: Bool, now: Bool
) -> Iterator[Mark]:
    """The number of each transaction in the order of delivery, in words where there is room.

    Nothing while the stage asks: the last number would tell how many there are.
    """
    if stage.asks:
        return
    palette, size = stage.palette, stage.text(14)
    short = tuple(map(str, request.turn.tolist()))
    named = tuple(map(request.numbered, request.turn.tolist()))
    fits = max(text_width(name, size, True) for name in named) <= float(boxes[:, 2].min())
    colors = np.where(over[:, None], palette.accent, palette.muted)
    colors = np.where(now[:, None], palette.ink, colors).astype(np.uint8)
    every = _every(boxes, max(text_width(number, size) for number in short) + size * 0.3)
    at = centers(boxes)[::every]
    at[:, 1] = area.y + size * _NUMBERS
    yield Texts(at, (named if fits else short)[::every], colors[::every], size, "center")


def _every(boxes: F32, wide: float) -> int:
    """Every how many boxes can have a label so wide without one touching the next."""
    if len(boxes) < 2:
        return 1
    pitch = float(np.diff(boxes[:, 0]).min())
    return next(s for s in (1, 2, 4, 8, 16, 32, 64, 128) if s * pitch >= wide or s == 128)


def lines(stage: Stage, request: Request, boxes: F32, area: Rect) -> Iterator[Mark]:
    """Brackets that gather transactions to 128-byte lines, or one sentence where there are many."""
    palette, size, line = stage.palette, stage.text(14), request.line
    count = int(line.max()) + 1
    left = np.array([boxes[line == k, 0].min() for k in range(count)])
    right = np.array([(boxes[line == k, 0] + boxes[line == k, 2]).max() for k in range(count)])
    top = area.y + size * _BRACKETS
    yield brackets(np.stack([left, right], axis=1), top, size * 0.3, palette.faint)
    forms = _places if stage.asks else _names
    room = right - left - size * 0.3
    names = [first_fitting(forms(request, k), float(room[k]), size) for k in range(count)]
    y = top + size * 1.15
    if all(names):
        at = np.stack([(left + right) / 2, np.full(count, y)], axis=1).astype(np.float32)
        yield Texts(at, tuple(names), palette.muted, size, "center")
        return
    start, end = float(boxes[0, 0]), float(boxes[-1, 0] + boxes[-1, 2])
    text = "" if stage.asks else first_fitting(_all(request, count), end - start, size)
    if text:
        yield label((start + end) / 2, y, text, palette.muted, size, align="center")


def _all(request: Request, lines: int) -> tuple[str, ...]:
    """Of too many lines to be named: how many they are."""
    transactions = request.counted(request.count)
    return (
        tr("{count} in {n} different lines of 128 bytes", count=transactions, n=lines),
        tr("{n} lines of 128 bytes", n=lines),
    )


def _start(request: Request, line: int) -> str:
    """Where a line begins."""
    first = int(request.strip.start[request.line == line][0]) // LINE * LINE
    return f"{request.name} + {first:#06x}"


def _places(request: Request, line: int) -> tuple[str, ...]:
    """What a bracket says without a number that would tell how many lines there are."""
    where = _start(request, line)
    return f"{in_bytes(LINE)} · {where}", where


def _names(request: Request, line: int) -> tuple[str, ...]:
    """What a bracket says, longest first."""
    where, name = _start(request, line), tr("line {n}", n=line)
    forms: tuple[str, ...] = (f"{name} · {in_bytes(LINE)} · {where}", f"{name} · {where}", name)
    parts = np.flatnonzero(request.line == line)
    if request.strip.size[parts].sum() > LINE:
        count = request.counted(len(parts))
        again = tr("{count} within the same 128 bytes", count=count)
        forms = (f"{name} · {again} · {where}", f"{name} · {again}", again, count, name)
    return forms


def lane_tip(request: Request, lane: int) -> str:
    """What hovering a lane or its band says."""
    thread = request.warp * LANES + lane
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
    if request.is_store or request.is_update:
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
