"""Global memory: what a request's addresses cost in transactions, per compute capability.

A transaction is what the architecture counts: a 32, 64 or 128-byte segment (1.x), a 128-byte line
or a 32-byte segment (2.x), a 32-byte segment (3.x), a 32-byte sector (5.0 and later).
Addresses are multiples of the width: the machine faults on all others, so no lane ever straddles
two sectors. Inactive lanes ask for nothing.

Not modelled: cache hits, merging of stores on their way to L2, and nvprof's count of loads on 5.x
and 6.x, which differs from the sectors moved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arch.facts import Cache, Coalescing
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.lanes import bytes_asked, check, distinct, grouped, lower_alike, per_row, summed
from gpuviz.traces.trace import Op

# --- 1.x -----------------------------------------------------------------------------------------
#
# Half warps, in order (1.0, 1.1) or in segments that shrink (1.2, 1.3).

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


Counted = tuple[I64, I64, I64]
"""(N,) transactions, what would be ideal, and bytes moved."""


@dataclass(frozen=True, eq=False)
class Segment:
    """One transaction of a request: `size` bytes from `base`, and the lanes it serves."""

    base: int
    size: int
    lanes: I64


def by_block(address: U64, lanes: I64, block: int) -> list[Segment]:
    """Blocks of fixed size the lanes touch, that of the lowest lane first."""
    base = address[lanes] // np.uint64(block) * np.uint64(block)
    return [Segment(int(b), block, lanes[base == b]) for b in dict.fromkeys(base.tolist())]


def serve_blocks(address: U64, active: Bool, width: int, block: int, group: I64) -> list[Segment]:
    """2.0 and later: the blocks of fixed size that one group of lanes touches."""
    return by_block(address, group[active[group]], block)


@dataclass(frozen=True, eq=False)
class Transactions:
    """What N requests cost; all arrays (N,) int64."""

    count: I64  # transactions
    lines: I64  # distinct 128-byte lines the active lanes touch
    # Transactions if as many lanes asked for consecutive, aligned elements; more than `count` where
    # lanes share bytes (so does Nsight Compute's ideal).
    ideal: I64
    moved: I64  # bytes of all transactions together


def transactions(
    arch: Architecture,
    address: U64,
    active: Bool,
    width: int,
    op: Op = "load",
    path: str = "",
    cache: Cache | None = None,
) -> Transactions:
    """Transactions of N requests: (N, 32) addresses and active lanes, `width` bytes a lane.

    `cache` is the compiler's -dlcm for loads: "ca" (L1 and L2), "cg" (L2 only) or, without one,
    what the architecture does by itself; it matters on 2.x, 3.5 and 3.7. Loads through the
    read-only path ("nc") never use the L1 lines.
    """
    check(width)
    block = granularity(arch, op, path, cache)
    count, ideal, moved = RULES[arch.coalescing].count(address, active, width, block)
    if comes_in_rounds(arch, op):
        return _in_rounds(arch, address, active, ideal)
    return Transactions(count, distinct(address // np.uint64(arch.line), active), ideal, moved)


def comes_in_rounds(arch: Architecture, op: Op) -> bool:
    """Whether lanes that want the same address are served one after another: atomics, from 5.0."""
    return RULES[arch.coalescing].rounds and op in ("atomic", "reduction")


def _in_rounds(arch: Architecture, address: U64, active: Bool, ideal: I64) -> Transactions:
    """Atomics: lanes that want the same address come one after another, in rounds.

    The k-th lane that wants an address goes in round k, and each round has its own sectors and
    lines (read from an H200: l1tex__t_sectors and l1tex__t_set_accesses of op_atom and op_red; the
    lines of scattered repeats vary by 1 to 2 % from run to run there).
    """
    turn = lower_alike(address, active).astype(np.uint64)
    sector, line = (
        address // np.uint64(size) * np.uint64(32) + turn for size in (arch.sector, arch.line)
    )
    count = distinct(sector, active)
    return Transactions(count, distinct(line, active), ideal, count * arch.sector)


def granularity(arch: Architecture, op: Op, path: str = "", cache: Cache | None = None) -> int:
    """Bytes of one transaction where the architecture has a fixed size, 2.0 and later."""
    through_l1 = op == "load" and not path and "ca" in arch.load_caches
    usual = arch.load_caches[0] if through_l1 else "cg"
    return arch.line if through_l1 and (cache or usual) == "ca" else arch.sector


def groups_of(arch: Architecture, width: int) -> int:
    """Into how many requests the hardware splits a warp."""
    return RULES[arch.coalescing].groups(width)


def segments(
    arch: Architecture,
    address: U64,
    active: Bool,
    width: int,
    op: Op = "load",
    path: str = "",
    cache: Cache | None = None,
) -> tuple[Segment, ...]:
    """The transactions of one request in the order they are served; (32,) addresses and lanes.

    As many as `transactions` counts. Groups of lanes are served in order, and within a group the
    segment of the lowest lane left (the order PG 5.5, G.3.2.2 gives for 1.2; for others assumed).
    """
    check(width)
    rule, block = RULES[arch.coalescing], granularity(arch, op, path, cache)
    groups = np.arange(32).reshape(rule.groups(width), -1)
    return tuple(s for g in groups for s in rule.serve(address, active, width, block, g))


@dataclass(frozen=True)
class Rule:
    """How a family turns what lanes ask for into transactions."""

    # Into how many requests a warp is split, by the width of an access.
    groups: Callable[[int], int]
    # (N, 32) addresses, active lanes, width, block to transactions, the ideal, bytes moved.
    count: Callable[[U64, Bool, int, int], Counted]
    # (32,) addresses, active lanes, width, block, lanes of one group to its transactions.
    serve: Callable[[U64, Bool, int, int, I64], list[Segment]]
    rounds: bool = False  # atomics of lanes that want the same address come one after another


def _blocks(groups: Callable[[int], int], rounds: bool = False) -> Rule:
    """A rule that counts distinct blocks of fixed size in each group of lanes."""

    def count(address: U64, active: Bool, width: int, block: int) -> Counted:
        parts = groups(width)
        where, on = grouped(address // np.uint64(block), parts), grouped(active, parts)
        found = summed(distinct(where, on), parts)
        return found, summed(-(-bytes_asked(on, width) // block), parts), found * block

    return Rule(groups, count, serve_blocks, rounds)


# 2.x and 3.x split a wide access into half or quarter warps (PG 5.5, G.4.2, G.5.2); from 5.0 on a
# warp is one request, whatever the width (PG 12.6, 19.4.2; Nsight Compute guide, 2.10.2).
RULES: dict[Coalescing, Rule] = {
    "ordered": Rule(lambda width: 2, count_ordered, serve_ordered),
    "halves": Rule(lambda width: 2, count_shrunk, serve_shrunk),
    "lines": _blocks(lambda width: max(1, width // 4)),
    "segments": _blocks(lambda width: max(1, width // 4)),
    "sectors": _blocks(lambda width: 1, rounds=True),
}
