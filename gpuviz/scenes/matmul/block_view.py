"""A block at work: its shared tiles, the followed thread's formula, and the track of phases."""

from __future__ import annotations

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark
from gpuviz.draw.stage import Stage
from gpuviz.draw.track import Part
from gpuviz.language import tr
from gpuviz.scenes.matmul.layout import Framed, framed, side_by_side
from gpuviz.scenes.matmul.scene import Multiplication
from gpuviz.scenes.matmul.shared_view import flying, formula, shared_memory
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.words import expression


def phase_parts(stage: Stage, phases: int, made: int | None = None) -> tuple[Part, ...]:
    """The track: four parts a phase, then the store; phases after those `made` are skipped."""
    palette = stage.palette
    four = (
        (tr("load"), palette.load),
        (tr("barrier"), palette.barrier),
        (tr("multiply"), palette.compute),
        (tr("barrier"), palette.barrier),
    )
    last = phases if made is None else made
    parts = [Part(name, color, p, p >= last) for p in range(phases) for name, color in four]
    return (*parts, Part(tr("store"), palette.store, -1))


def block(
    stage: Stage,
    area: Rect,
    matrices: Framed,
    about: Multiplication,
    moment: Moment,
    share: float,
    least: float,
) -> tuple[Mark, ...]:
    """Shared memory, the followed thread's formula, and what is on its way; where there is room."""
    tiles, beside = _shared(stage, area, about.sizes.tile)
    if tiles is None:
        return formula(stage, beside, expression(about, moment), least)
    return (
        *shared_memory(stage, tiles, about, moment, share, least),
        *formula(stage, beside, expression(about, moment), least),
        *flying(stage, matrices, tiles, about, moment, share),
    )


def _shared(stage: Stage, area: Rect, tile: int) -> tuple[Framed | None, Rect]:
    """The shared tiles, and the area for the formula: beside or below, as leaves larger tiles."""
    size = stage.text(14)
    gap, below = size * 1.4, size * (6.4 if area.height > size * 15 else 4.8)
    narrow = area._replace(width=area.width - size * 12 - gap)
    low = area._replace(height=area.height - below)
    both = ((narrow, True), (low, False))
    best, beside = max(
        ((framed(stage, room, tile, tile, tile), aside) for room, aside in both),
        key=lambda choice: choice[0].pitch,
    )
    if best.pitch < size * 1.3:  # too small for numbers; side by side may be larger
        flat, aside = max(
            ((side_by_side(stage, room, tile), aside) for room, aside in both),
            key=lambda choice: choice[0].pitch,
        )
        if flat.pitch > best.pitch * 1.15:
            best, beside = flat, aside
    if best.area.right > area.right or best.area.bottom > area.bottom or best.pitch < 1.5:
        return None, area
    if beside:
        left = best.area.right + gap
        return best, Rect(left, area.y, area.right - left, area.height)
    top = best.area.bottom + size * 0.7
    return best, Rect(area.x, top, area.width, area.bottom - top)
