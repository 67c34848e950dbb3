"""Global memory of 1.x: half warps, in order (1.0, 1.1) or in segments that shrink (1.2, 1.3)."""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.lanes import bytes_asked, grouped, per_row, summed
from gpuviz.memory.segments import Counted, Segment, by_block

HALF = 16
ORDERED_WIDTHS = (4, 8, 16)  # 1.0 and 1.1 never coalesce bytes and 16-bit words
_LANE_OF_HALF = np.arange(HALF, dtype=np.uint64)


def count_ordered(address: U64, active: Bool, width: int, block: int) -> Counted:
    """1.0 and 1.1: a half warp in perfect order, or one transaction a lane (PG 5.5, G.3.2.1).

    Lane k must ask for word k of an aligned segment; lanes may be off. Where lanes are off *and*
    the rest is out of order the guide is silent: counted is one transaction an active lane.
    """
    half, on = grouped(address, 2), grouped(active, 2)
    lanes, perfect = per_row(on), in_order(half, on, width)
    count = np.where(perfect, ordered_segments(width), lanes)
    size = np.where(perfect, min(width * HALF, 128), 32)
    best = np.minimum(count, ordered_segments(width)) if width in ORDERED_WIDTHS else count
    return summed(count, 2), summed(best, 2), summed(count * size, 2)


def serve_ordered(address: U64, active: Bool, width: int, block: int, half: I64) -> list[Segment]:
    """1.0 and 1.1: the segments of one half warp."""
    on = half[active[half]]
    if not in_order(address[half][None], active[half][None], width)[0]:
        return [Segment(int(address[k]) & ~31, 32, on[on == k]) for k in on]
    count = ordered_segments(width)
    size = min(width * HALF, 128)
    base = int(address[on[0]]) - int(on[0] - half[0]) * width
    parts = np.split(half, count)
    return [Segment(base + i * size, size, np.intersect1d(on, p)) for i, p in enumerate(parts)]


def in_order(half: U64, on: Bool, width: int) -> Bool:
    """(M, 16) half warps: whether each active lane asks for its own word of an aligned segment."""
    if width not in ORDERED_WIDTHS:
        return np.zeros(len(half), dtype=bool)
    start = half - _LANE_OF_HALF * np.uint64(width)
    origin = np.take_along_axis(start, on.argmax(axis=1)[:, None], axis=1)
    same = ((start == origin) | ~on).all(axis=1)
    same &= on.any(axis=1)
    return np.asarray(same & (origin[:, 0] % np.uint64(min(width * HALF, 128)) == 0), dtype=bool)


def ordered_segments(width: int) -> int:
    """Transactions of a half warp in perfect order: 64, 128 or twice 128 bytes."""
    return 2 if width == 16 else 1


def count_shrunk(address: U64, active: Bool, width: int, block: int) -> Counted:
    """1.2 and 1.3: segments of a half warp, each shrunk to what is used (PG 5.5, G.3.2.2)."""
    segment = widest_segment(width)
    half, on = grouped(address, 2), grouped(active, 2)
    where = half // np.uint64(segment)
    same = (where[:, :, None] == where[:, None, :]) & on[:, :, None] & on[:, None, :]
    quarter = np.int64(1) << (half % np.uint64(segment) // np.uint64(32)).astype(np.int64)
    used = np.bitwise_or.reduce(np.where(same, quarter[:, None, :], 0), axis=2)
    first = on & ~np.tril(same, -1).any(axis=2)
    moved = per_row(np.where(first, reduced(segment, used), 0))
    ideal = -(-bytes_asked(on, width) // segment)
    return summed(per_row(first), 2), summed(ideal, 2), summed(moved, 2)


def serve_shrunk(address: U64, active: Bool, width: int, block: int, half: I64) -> list[Segment]:
    """1.2 and 1.3: the segments of one half warp, each shrunk to what is used of it."""
    found = by_block(address, half[active[half]], widest_segment(width))
    return [_shrunk(s, address) for s in found]


def _shrunk(segment: Segment, address: U64) -> Segment:
    """1.2 and 1.3: the half of the segment that is used, down to 32 bytes."""
    quarters = {(int(a) - segment.base) // 32 for a in address[segment.lanes]}
    size = int(reduced(segment.size, np.array([sum(1 << q for q in quarters)]))[0])
    base = segment.base + min(quarters) * 32 // size * size
    return Segment(base, size, segment.lanes)


def widest_segment(width: int) -> int:
    """1.2 and 1.3: bytes of the segment looked at first."""
    return {1: 32, 2: 64}.get(width, 128)


# Bytes moved for a 128-byte segment, by the set of its 32-byte quarters that are touched: the
# segment is halved as long as only one half is used.
_REDUCED = np.array([0, 32, 32, 64, 32, 128, 128, 128, 32, 128, 128, 128, 64, 128, 128, 128])


def reduced(segment: int, quarters: I64) -> I64:
    """Bytes left of a segment when only these 32-byte quarters of it (a bit set) are used."""
    return np.asarray(np.minimum(_REDUCED[quarters], segment), dtype=np.int64)
