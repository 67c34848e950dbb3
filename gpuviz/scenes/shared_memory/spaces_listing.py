"""The code that reads an automatic array: a CUDA line, and the PTX it became, of two kernels."""

from __future__ import annotations

import numpy as np

from gpuviz.draw.layout import Rect, elide, fit_size
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.shared_memory.spaces import Placement

_LEAST = 14.0  # pixels; smaller letters are no better than a line cut short


def listings(
    stage: Stage, area: Rect, arrays: tuple[Placement, Placement]
) -> tuple[tuple[Mark, ...], Rect]:
    """The line that reads the array in both kernels, what PTX it became; the area left below."""
    size = stage.text(14)
    most = max(len(one.ptx) for one in arrays)
    tall = min(area.height, size * (3.5 + 1.3 * most))
    top, left = area.above(tall, size * 0.8)
    boxes = top.columns(2, size)
    names = (tr("indexed at run time"), tr("unrolled"))
    room = max(int((top.height - size * 3.4) / (size * 1.3)), 1)
    code = [_code(stage, one, room) for one in arrays]
    letters = min(
        fit_size(line, boxes[0].width - size, size, max(stage.text(12), _LEAST), mono=True)
        for lines in code
        for line in lines
    )
    return tuple(
        mark
        for name, lines, box in zip(names, code, boxes, strict=True)
        for mark in _listing(stage, box, name, lines, letters)
    ), left


def _code(stage: Stage, one: Placement, room: int) -> tuple[str, ...]:
    """One kernel's CUDA line, and as many PTX lines as there is room for.

    How often a line stands there is kept back while the stage asks.
    """
    ptx = tuple(line.rpartition(" × ")[2] for line in one.ptx) if stage.asks else one.ptx
    return one.source, *ptx[:room]


def _listing(
    stage: Stage, box: Rect, name: str, lines: tuple[str, ...], letters: float
) -> tuple[Mark, ...]:
    """One kernel's lines in letters of that size."""
    palette, size, inner = stage.palette, stage.text(14), box.width - stage.text(14)
    y = box.y + size * (2.1 + 1.3 * np.arange(len(lines)))
    at = np.stack([np.full_like(y, box.x + size * 0.5), y], axis=1).astype(np.float32)
    words = tuple(elide(line, inner, letters, mono=True) for line in lines)
    title = elide(f"{name} · CUDA, PTX", inner, size, bold=True)
    head = np.array([[box.x + size * 0.5, box.y + size * 0.8]], np.float32)
    return (
        Boxes(box.array(), palette.panel, stroke=palette.border, radius=5),
        Texts(head, (title,), palette.ink, size, bold=True),
        Texts(at[:1], words[:1], palette.accent, letters, mono=True),
        Texts(at[1:], words[1:], palette.muted, letters, mono=True),
    )
