"""What lanes do, as rows of warps: one row for each warp, or one for many that do the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.ptx.simt.layout import Layout
from gpuviz.traces.observe import Access, Place, Warps, WarpSync
from gpuviz.traces.trace import LANES, MemoryInstruction

if TYPE_CHECKING:
    from gpuviz.ptx.simt.group import Group

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


class StoreValues:
    """The `gpuviz.traces.observe.Values` of a store: what a group of lanes writes over what."""

    def __init__(self, layout: Layout, values: list[Array], index: I64, cells: Array) -> None:
        self._layout, self._values = layout, values
        self._index, self._cells = index, cells

    def written(self, warps: I64) -> tuple[Array, ...]:
        """What some warps write."""
        return tuple(self._layout.of_warps(value, warps) for value in self._values)

    def before(self, warps: I64) -> tuple[Array, ...]:
        """What is there until then."""
        index = self._layout.of_warps(self._index, warps)
        return tuple(self._cells.take(index + i) for i in range(len(self._values)))


def sync_of(at: Place, group: Group, members: Array, sources: Array | None = None) -> WarpSync:
    """Who synchronises, of a group: its lanes, the masks they name, and whom they shuffle from."""
    layout, running = group.layout, group.machine.running
    alive = np.ones(1, bool) if running.mask is None else running.mask
    more = () if sources is None else (sources,)
    folded = (alive,) if layout.dense else ()  # rows are to be told apart by who runs, too
    warps, active, (named, *rest) = rows_of(layout, group.mask, members, *more, *folded)
    lanes = rest.pop() if layout.dense else running.of(warps)
    return WarpSync(at, warps, active, named, lanes, *rest)
