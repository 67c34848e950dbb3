"""A track of phases and their parts: what is done, what happens now, what is still to come.

All phases stand side by side where their parts can be named; else the parts of the phase under way,
over a row of marks for the phases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F32, Bool, Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, elide, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import Palette
from gpuviz.draw.stage import Stage
from gpuviz.language import tr

_GAP = 4.0


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a phase: its name, its colour, and the phase's number (-1: after the last).

    One that is `skipped` never happens: it is hatched, whatever the time.
    """

    name: str
    color: Rgba
    phase: int
    skipped: bool = False


def height_of(stage: Stage, slim: bool = False) -> float:
    """The height a track takes; a slim one does not number the phases."""
    return stage.text(14) * (1.9 if slim else 3.5)


def track(stage: Stage, area: Rect, parts: tuple[Part, ...], now: int) -> tuple[Mark, ...]:
    """The parts, `now` being the one under way (their number when all are done)."""
    size = stage.text(14)
    row, below = area.above(min(size * 2.0, area.height), size * 0.25)
    needed = max(text_width(p.name, size, True) for p in parts) + size * 0.8
    if needed * len(parts) + _GAP * (len(parts) - 1) <= area.width:
        every = tuple(range(len(parts)))
        return (*_boxes(stage, row, parts, every, now), *_names(stage, row, below, parts))
    phase = parts[min(now, len(parts) - 1)].phase
    phase = phase if phase >= 0 else max(p.phase for p in parts)
    few = tuple(i for i, p in enumerate(parts) if p.phase in (phase, -1))
    marks = _boxes(stage, row, parts, few, now)
    return *marks, *_overview(stage, below, parts, phase, now)


def _boxes(
    stage: Stage, row: Rect, parts: tuple[Part, ...], shown: tuple[int, ...], now: int
) -> tuple[Mark, ...]:
    """One box a part: full when done, outlined now, dim when still to come."""
    palette, size = stage.palette, stage.text(14)
    cells = grid(row, 1, len(shown), _GAP)
    fill = np.stack([_fill(palette, parts[i], np.sign(i - now)) for i in shown])
    skipped = np.array([parts[i].skipped for i in shown], bool)
    room = float(cells[0, 2]) - 4
    words = tuple(elide(parts[i].name, room, size, bold=True) for i in shown)
    current = cells[[i == now for i in shown]]
    return (
        Boxes(cells[~skipped], fill[~skipped], radius=5),
        *_skipped(stage, cells[skipped], words, skipped),
        Boxes(current, stroke=palette.outline, stroke_width=2.5, radius=5),
        Texts(centers(cells), words, palette.ink_on(fill), size, "center", bold=True),
    )


def _fill(palette: Palette, part: Part, side: int) -> Rgba:
    """A part that is over (-1), under way (0) or to come (1)."""
    if part.skipped:
        return palette.waste_ground
    if side == 0:
        return part.color
    return palette.soft(part.color, 0.45) if side < 0 else palette.todo(part.color)


def _skipped(stage: Stage, cells: F32, words: tuple[str, ...], skipped: Bool) -> tuple[Mark, ...]:
    """Hatched parts, with plain ground for their names."""
    size, palette = stage.text(14), stage.palette
    names = [word for word, one in zip(words, skipped, strict=True) if one]
    if not names:
        return ()
    wide = np.array([text_width(name, size, True) for name in names], np.float32) + size * 0.6
    middle = centers(cells)
    rects = np.stack(
        [middle[:, 0] - wide / 2, middle[:, 1] - size * 0.65, wide, np.full_like(wide, size * 1.3)],
        axis=1,
    )
    return (
        Boxes(cells, palette.waste_ground, hatch=palette.waste, radius=5),
        Boxes(rects, palette.waste_ground, radius=3),
    )


def _names(stage: Stage, row: Rect, below: Rect, parts: tuple[Part, ...]) -> tuple[Mark, ...]:
    """The phases' numbers under their first parts; none in a slim track."""
    if below.height < stage.text(14):
        return ()
    cells = grid(row, 1, len(parts), _GAP)
    first = [
        i for i, p in enumerate(parts) if p.phase >= 0 and (i == 0 or parts[i - 1].phase != p.phase)
    ]
    size, y = stage.text(14), below.y + stage.text(14) * 0.6
    return tuple(
        label(
            float(cells[i, 0]), y, tr("phase {n}", n=parts[i].phase + 1), stage.palette.muted, size
        )
        for i in first
    )


def _overview(
    stage: Stage, below: Rect, parts: tuple[Part, ...], phase: int, now: int
) -> tuple[Mark, ...]:
    """Which phase of how many, in words and as a row of marks; nothing in a slim track."""
    if below.height < stage.text(14):
        return ()
    palette, size = stage.palette, stage.text(14)
    count = max(p.phase for p in parts) + 1
    text = tr("phase {n} of {all}", n=phase + 1, all=count)
    widest = text_width(tr("phase {n} of {all}", n=count, all=count), size) + size
    bar = below.beside(widest)[1]
    cells = grid(Rect(bar.x, below.y + size * 0.3, bar.width, size * 0.6), 1, count, 2.0)
    over = np.arange(count) < (phase + (now >= len(parts)))
    fill = np.where(over[:, None], palette.soft(palette.accent, 0.45), palette.todo(palette.accent))
    fill[phase] = palette.accent
    return (
        label(below.x, below.y + size * 0.6, text, palette.muted, size),
        Boxes(cells, fill.astype(np.uint8), radius=2),
    )
