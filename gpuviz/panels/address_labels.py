"""What stands below an address strip: numbers of transactions, and the lines they lie in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuviz.base.arrays import F32, Bool
from gpuviz.draw.heading import brackets, label
from gpuviz.draw.layout import Rect, centers, first_fitting
from gpuviz.draw.marks import Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.memory.request import Request
from gpuviz.memory.strip import LINE
from gpuviz.memory.transaction_names import in_bytes
from gpuviz.words.language import tr

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
