"""One request to shared memory: which lanes each wavefront serves, and where lanes collide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.banks import (
    LANE,
    RULES,
    WIDTHS,
    Cells,
    cells,
    may_merge,
    merges,
    passes,
    requests_of,
)
from gpuviz.memory.lanes import check
from gpuviz.traces.trace import Op


def schedule(
    arch: Architecture, address: U64, active: Bool, width: int, op: Op = "load", bank_width: int = 4
) -> tuple[I64, ...]:
    """The lanes served in each wavefront of one request, (32,) addresses and active lanes.

    As many as `wavefronts` counts. From 2.0 on every active lane is served exactly once: groups in
    lane order, and in each bank the cell that the lowest lane wants first (the true order is not
    published). On 1.x a wide access serves a lane once for each of its 32-bit words. The extra
    pass of 128-bit accesses of 2.x serves no lane.
    """
    check(width, WIDTHS)
    rule = RULES[arch.banking]
    if rule.word_by_word:
        return _tesla_schedule(address, active, width, op)
    found = cells(arch, address, width, bank_width)
    groups = served_groups(arch, address, active, width, op)
    served = [_ranked(found, group) for group in groups]
    idle = [np.empty(0, dtype=np.int64)] * rule.extra_passes(width)
    return tuple(lanes for group in served for lanes in group + idle)


def served_groups(arch: Architecture, address: U64, active: Bool, width: int, op: Op) -> list[I64]:
    """Active lanes of each group that has any, after merging; (32,) addresses and active lanes."""
    rule = RULES[arch.banking]
    parts = rule.groups(width)
    if may_merge(rule, width, op) and merges(address[None], active[None])[0]:
        parts //= 2
    lanes = [group[active[group]] for group in LANE.reshape(parts, -1)]
    return [group for group in lanes if len(group)]


def _ranked(found: Cells, lanes: I64) -> list[I64]:
    """Passes of one group: pass k serves the k-th distinct cell of every bank."""
    rank: dict[int, int] = {}
    filled: dict[int, int] = {}
    for cell, bank in zip(found.cell[lanes].tolist(), found.bank[lanes].tolist(), strict=True):
        if cell not in rank:
            rank[cell] = filled.get(bank, 0)
            filled[bank] = rank[cell] + 1
    of_lane = np.array([rank[cell] for cell in found.cell[lanes].tolist()])
    return [lanes[of_lane == k] for k in range(max(filled.values()))]


def _tesla_schedule(address: U64, active: Bool, width: int, op: Op) -> tuple[I64, ...]:
    """1.x: passes of each half warp, for each 32-bit word of the access."""
    found = [
        half[served[0]]
        for half in (LANE[:16], LANE[16:])
        for word in range(requests_of(width))
        for served in passes(address[None, half] + np.uint64(4 * word), active[None, half], op)
    ]
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Conflict:
    """The worst collision of one request: `degree` cells wanted of `bank` by `lanes` of one group.

    A wide access takes several adjacent banks at once; `bank` is the first of them.
    """

    degree: int
    bank: int
    lanes: I64


def conflict(
    arch: Architecture, address: U64, active: Bool, width: int, op: Op = "load", bank_width: int = 4
) -> Conflict | None:
    """The worst collision of one request, (32,) addresses and active lanes; None without any.

    From 2.0 on the degree is how many passes the group takes. On 1.x it is the distinct words a
    bank has to deliver; a broadcast may save passes, different bytes of one word cost more.
    """
    check(width, WIDTHS)
    found = cells(arch, address, width, bank_width)
    groups = served_groups(arch, address, active, width, op)
    worst = max((_worst(found, g) for g in groups), key=lambda c: c.degree, default=None)
    if worst is None or worst.degree < 2:
        return None
    return Conflict(worst.degree, worst.bank * (arch.banks // found.banks), worst.lanes)


def _worst(found: Cells, lanes: I64) -> Conflict:
    """The bank of a group with the most distinct cells."""
    wanted: dict[int, set[int]] = {}
    for cell, bank in zip(found.cell[lanes].tolist(), found.bank[lanes].tolist(), strict=True):
        wanted.setdefault(bank, set()).add(cell)
    bank = max(wanted, key=lambda b: len(wanted[b]))
    return Conflict(len(wanted[bank]), bank, lanes[found.bank[lanes] == bank])
