"""What lanes do, as rows of warps: one row for each warp, or one for many that do the same."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import Array, Bool
from gpuviz.observe import Access, Warps
from gpuviz.ptx.simt.layout import Layout
from gpuviz.trace import LANES, MemoryInstruction

Rows = tuple[Warps, Bool | None, list[Array]]


def rows_of(layout: Layout, mask: Bool | None, *values: Array) -> Rows:
    """The warps of a mask, their lanes (None: all 32), and (N, 32) values; rows with a lane only.

    Blocks and warps that the values and the mask do not tell apart share a row.
    """
    if layout.dense:
        warps, active, rows = _folded(layout, mask, values)
    else:
        warps = layout.rows(True, True)
        active = layout.present if mask is None else layout.warp_rows(layout.full(mask))
        rows = [layout.warp_rows(layout.full(value)) for value in values]
    if active is not None:
        kept = np.flatnonzero(active.any(axis=1))
        if len(kept) < len(active):
            active, rows = active.take(kept, 0), [value.take(kept, 0) for value in rows]
            warps = Warps(warps.first.take(kept), warps.per_block, warps.blocks, warps.warps)
    return warps, active, rows


def _folded(layout: Layout, mask: Bool | None, values: tuple[Array, ...]) -> Rows:
    shapes = [value.shape for value in (values if mask is None else (*values, mask))]
    height = max([shape[0] for shape in shapes if len(shape) == 2], default=1)
    each_warp = max([shape[-1] for shape in shapes], default=1) > 1
    shape = height, layout.threads if each_warp else LANES

    def rows(value: Array) -> Array:
        wide = value if value.shape == shape else np.broadcast_to(value, shape)
        return wide.reshape(-1, LANES)

    return (
        layout.rows(height > 1, each_warp),
        None if mask is None else rows(mask),
        [rows(value) for value in values],
    )


def access_of(
    instruction: MemoryInstruction,
    layout: Layout,
    mask: Bool | None,
    address: Array,
    source: Array | None = None,
) -> Access | None:
    """The access of a group of lanes, None when there is no lane.

    `source` are the global addresses that an asynchronous copy reads from.
    """
    values = (address,) if source is None else (address, source)
    warps, active, rows = rows_of(layout, mask, *values)
    if not len(warps.first):
        return None
    wide = [value.astype(np.uint64, copy=False) for value in rows]
    return Access(
        instruction, wide[0], active, warps.repeat, wide[1] if len(wide) > 1 else None, warps
    )
