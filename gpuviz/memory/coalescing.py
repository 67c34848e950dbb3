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
from gpuviz.memory.half_warps import count_ordered, count_shrunk, serve_ordered, serve_shrunk
from gpuviz.memory.lanes import bytes_asked, check, distinct, grouped, summed
from gpuviz.memory.segments import Counted, Segment, serve_blocks
from gpuviz.traces.trace import Op


@dataclass(frozen=True, eq=False)
class Transactions:
    """What N requests cost; all arrays (N,) int64.

    Attributes
    ----------
    count : transactions
    lines : distinct 128-byte lines the active lanes touch
    ideal : transactions if as many lanes asked for consecutive, aligned elements; more than
        `count` where lanes share bytes (so does Nsight Compute's ideal)
    moved : bytes of all transactions together
    """

    count: I64
    lines: I64
    ideal: I64
    moved: I64


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
    turn = turns_taken(address, active)
    sector, line = (
        address // np.uint64(size) * np.uint64(32) + turn for size in (arch.sector, arch.line)
    )
    count = distinct(sector, active)
    return Transactions(count, distinct(line, active), ideal, count * arch.sector)


def turns_taken(address: U64, active: Bool) -> U64:
    """(N, 32): how many lower active lanes want the same address as this one."""
    same = (address[:, :, None] == address[:, None, :]) & active[:, None, :]
    return np.asarray(np.tril(same, -1).sum(axis=2), dtype=np.uint64)


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
    """How a family turns what lanes ask for into transactions.

    Attributes
    ----------
    groups : into how many requests a warp is split, by the width of an access
    count : (N, 32) addresses, active lanes, width, block to transactions, the ideal, bytes moved
    serve : (32,) addresses, active lanes, width, block, lanes of one group to its transactions
    rounds : atomics of lanes that want the same address come one after another
    """

    groups: Callable[[int], int]
    count: Callable[[U64, Bool, int, int], Counted]
    serve: Callable[[U64, Bool, int, int, I64], list[Segment]]
    rounds: bool = False


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
