"""A warp as a row of its 32 numbered lanes; bands from lanes to addresses, which can be drawn in
part, while data travels.
"""

from collections.abc import Callable

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.traces.trace import LANES

_NUMBERS = tuple(str(lane) for lane in range(LANES))
_GAP, _LEAST = 3.0, 12.0  # between lanes; least size of their numbers
_AROUND = np.array([-2, -2, 4, 4], np.float32)


def lane_boxes(area: Rect) -> F32:
    """(32, 4) boxes of the lanes, side by side."""
    return grid(area, 1, LANES, _GAP if area.width > LANES * 12 else 1.0)


def lane_row(
    stage: Stage, rects: F32, active: Bool, now: Bool, tip: Callable[[int], str] | None = None
) -> tuple[Mark, ...]:
    """Lanes in their colours; those that take no part are hollow, those at work outlined."""
    palette = stage.palette
    fill = np.where(active[:, None], palette.lanes, palette.ground).astype(np.uint8)
    ink = np.where(active[:, None], palette.ink_on(fill), palette.faint).astype(np.uint8)
    edge = np.where(active[:, None], fill, palette.border).astype(np.uint8)
    width, height = float(rects[0, 2]), float(rects[0, 3])
    fits = min(width / text_width("30", 1.0, bold=True), height * 0.75)
    least = stage.text(_LEAST)
    every = 1 if fits >= least else 4
    size = float(int(min(stage.text(14), max(fits, least))))
    lanes = np.arange(0, LANES, every)
    return (
        Boxes(rects, fill, stroke=edge, radius=4, tip=tip, lanes=np.arange(LANES)),
        Boxes(rects[now] + _AROUND, stroke=palette.outline, stroke_width=2, radius=5),
        *_plates(rects[::every], fill[::every], lanes, size),
        Texts(
            centers(rects)[::every],
            _NUMBERS[::every],
            ink[::every],
            size,
            "center",
            True,
            lanes=lanes,
        ),
    )


def _plates(rects: F32, fill: Rgba, lanes: I64, size: float) -> tuple[Mark, ...]:
    """What numbers that are wider than their lanes stand on: more of the lane's colour."""
    wide = np.array([text_width(str(n), size, bold=True) + 2 for n in lanes], np.float32)
    over = wide > rects[:, 2]
    if not over.any():
        return ()
    plates = rects[over].copy()
    plates[:, 0] += (rects[over, 2] - wide[over]) / 2
    plates[:, 2] = wide[over]
    return (Boxes(plates, fill[over], radius=3, lanes=lanes[over]),)


def bands(start: F32, end: F32) -> F32:
    """(N, 4, 2) curves that leave (N, 2) `start` and reach `end` upright."""
    reach = (end - start) * np.array([0.0, 0.5], np.float32)
    return np.stack([start, start + reach, end - reach, end], axis=1).astype(np.float32)


def partly(curves: F32, share: F64) -> F32:
    """The first `share` (N,) of each curve (de Casteljau's subdivision)."""
    t = np.asarray(share, np.float32)[:, None, None]
    first = curves[:, :1]
    one = curves[:, :-1] + (curves[:, 1:] - curves[:, :-1]) * t
    two = one[:, :-1] + (one[:, 1:] - one[:, :-1]) * t
    three = two[:, :-1] + (two[:, 1:] - two[:, :-1]) * t
    return np.concatenate([first, one[:, :1], two[:, :1], three], axis=1).astype(np.float32)


def backwards(curves: F32) -> F32:
    """The same curves, run from their ends."""
    return np.ascontiguousarray(curves[:, ::-1])
