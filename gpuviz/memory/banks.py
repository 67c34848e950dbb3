"""Shared memory: wavefronts of a request, per compute capability.

A *wavefront* is one pass over the banks. Lanes of one group are served together; two lanes of a
group collide when they need different cells of one bank. What a cell is:

1.x   16 banks, half warps, one word broadcast a pass; wide accesses are several 32-bit requests
2.x   32 banks, any number of broadcasts; 64 bits: half warps, 128 bits: quarter warps, twice over
3.x   banks are 64 bits wide; in 4-byte mode a word and the one 32 further on share a cell
5.0+  32 banks of 32 bits; 64 bits: half warps, 128 bits: quarter warps; loads whose neighbours
      ask for the same are merged two groups to one

LDSM and STSM (ldmatrix, stmatrix) are accesses of 128 bits by the lanes that name rows, eight of
them a phase: a matrix is a phase, and loads of different ones are never merged (read from an H200,
205 of 205 requests).

Not modelled: arbitration with other traffic (hardware counters of full launches read up to 5 %
more), data-dependent retries of shared atomics (lock loops) on 2.x and 3.x.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arch.facts import Banking
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.lanes import any_active, check, firsts, grouped, summed
from gpuviz.traces.trace import Op

# --- 1.x -----------------------------------------------------------------------------------------
#
# Half warps, 16 banks, one word broadcast a pass. Source: CUDA C Programming Guide 5.5, G.3.3. A
# pass of a load delivers one word to all lanes that want anything of it, and one lane's address
# from every other bank. Which word is broadcast is not documented; taken is, of the fullest bank,
# the word most lanes want.

BANKS = 16
HALF = 16
Passes = Iterator[Bool]


def requests_of(width: int) -> int:
    """A 64-bit access is two 32-bit requests, a 128-bit one four (of every half warp)."""
    return max(1, width // 4)


def tesla_passes(address: U64, active: Bool, width: int, op: Op) -> tuple[I64, I64]:
    """(N,) passes and conflict-free passes of (N, 32) requests of `width` bytes a lane."""
    on = grouped(active, 2)
    count = np.zeros(len(on), dtype=np.int64)
    for word in range(requests_of(width)):
        half = grouped(address, 2) + np.uint64(4 * word)
        for served in passes(half, on, op):
            count += served.any(axis=1)
    return summed(count, 2), any_active(active, 2) * requests_of(width)


def passes(half: U64, on: Bool, op: Op) -> Passes:
    """The lanes served by each pass over (M, 16) half-warp requests, until none is left.

    A store has no broadcast: lanes that store to one address share a pass (one of them wins).
    """
    step = _load_pass if op == "load" else _store_pass
    left = on.copy()
    while left.any():
        served = step(half, left)
        yield served
        left &= ~served


def _load_pass(half: U64, left: Bool) -> Bool:
    """One pass of a load: the broadcast word, and the first lane of every other bank."""
    word = half // np.uint64(4)
    bank = word % np.uint64(BANKS)
    same_bank = _pairs(bank, left)
    crowd = same_bank.sum(axis=2) * (HALF + 1) + _pairs(word, left).sum(axis=2)
    chosen = np.where(left, crowd, -1).argmax(axis=1)[:, None]
    broadcast = left & (word == np.take_along_axis(word, chosen, axis=1))
    other = left & (bank != np.take_along_axis(bank, chosen, axis=1))
    return np.asarray(broadcast | (other & ~_earlier(same_bank)), dtype=bool)


def _store_pass(half: U64, left: Bool) -> Bool:
    """One pass of a store: the first address of every bank."""
    bank = half // np.uint64(4) % np.uint64(BANKS)
    leader = left & ~_earlier(_pairs(bank, left))
    return np.asarray((_pairs(half, left) & leader[:, None, :]).any(axis=2), dtype=bool)


def _pairs(value: U64, left: Bool) -> Bool:
    """(M, 16, 16): lanes i and j are both left and have the same value."""
    both = left[:, :, None] & left[:, None, :]
    return np.asarray((value[:, :, None] == value[:, None, :]) & both, dtype=bool)


def _earlier(same: Bool) -> Bool:
    """(M, 16): a lane with a lower number shares the property."""
    return np.asarray(np.tril(same, -1).any(axis=2), dtype=bool)


WIDTHS = (1, 2, 4, 8, 16)
LANE = np.arange(32)


@dataclass(frozen=True, eq=False)
class Wavefronts:
    """Passes over the banks for N requests; both arrays (N,) int64.

    `ideal` is what the same lanes would take if no two collided: one pass for each group that has
    an active lane. So `count - ideal` is what bank conflicts cost.
    """

    count: I64
    ideal: I64


@dataclass(frozen=True, eq=False)
class Cells:
    """What lanes need of the banks: (N, 32) cell ids, the bank each lies in, number of banks.

    A cell is what one bank delivers in one pass; wide accesses use adjacent banks in step, which
    then count as one.
    """

    cell: U64
    bank: U64
    banks: int


def matrix_wavefronts(arch: Architecture, address: U64, active: Bool) -> Wavefronts:
    """Of ldmatrix: the rows of one matrix after the other."""
    parts = [wavefronts(arch, address, active & (n == LANE // 8), 16, "load") for n in range(4)]
    count, ideal = (
        np.sum([getattr(x, name) for x in parts], axis=0) for name in ("count", "ideal")
    )
    return Wavefronts(count, ideal)


def wavefronts(
    arch: Architecture, address: U64, active: Bool, width: int, op: Op = "load", bank_width: int = 4
) -> Wavefronts:
    """Wavefronts of N requests: (N, 32) addresses and active lanes, `width` bytes a lane.

    `bank_width` is the mode of 3.x (4 or 8 bytes); other architectures have one mode.
    """
    check(width, WIDTHS)
    rule = RULES[arch.banking]
    if rule.word_by_word:
        return Wavefronts(*tesla_passes(address, active, width, op))
    found = cells(arch, address, width, bank_width)
    parts = rule.groups(width)
    result = _served(found, active, parts, rule.extra_passes(width))
    if not may_merge(rule, width, op):
        return result
    merged = _served(found, active, parts // 2, 0)
    merge = merges(address, active)
    return Wavefronts(
        np.where(merge, merged.count, result.count), np.where(merge, merged.ideal, result.ideal)
    )


def cells(arch: Architecture, address: U64, width: int, bank_width: int = 4) -> Cells:
    """Cells and banks of every lane (PG 5.5, G.3.3 to G.5.3; PG 12.6, 19.4.3)."""
    mode = bank_width if bank_width in arch.bank_widths else arch.bank_widths[0]
    widest = max(arch.bank_widths)
    unit = mode if RULES[arch.banking].word_by_word else max(mode, width)
    banks = arch.banks * mode // unit
    cell = address // np.uint64(unit)
    bank = cell % np.uint64(banks)
    if mode < widest:
        cell = address // np.uint64(arch.banks * widest) * np.uint64(banks) + bank
    return Cells(cell, bank, banks)


@dataclass(frozen=True)
class Rule:
    """How a family serves the lanes of a request."""

    # Into how many groups of consecutive lanes a request is split before any merging, by the width
    # of an access.
    groups: Callable[[int], int]
    # Passes each group takes beyond its conflicts, by the width.
    extra_passes: Callable[[int], int] = lambda width: 0
    # Groups of a wide load whose neighbours ask for the same are served together.
    wide_loads_merge: bool = False
    word_by_word: bool = False  # a wide access is several requests of one word (the rules of 1.x)


# 128-bit accesses of 2.x take a pass more (G.4.3). Merging was measured on an H200: stores never
# merge. It is stated for 7.0 to 7.5 by NVIDIA (forum thread 77228); for 5.x, 6.x, 8.x and later
# ones assumed to be the same.
RULES: dict[Banking, Rule] = {
    "tesla": Rule(lambda width: 2, word_by_word=True),
    "fermi": Rule(lambda width: max(1, width // 4), lambda width: int(width == 16)),
    "kepler": Rule(lambda width: 2 if width == 16 else 1),
    "maxwell": Rule(lambda width: max(1, width // 4), wide_loads_merge=True),
}


def groups_of(arch: Architecture, width: int) -> int:
    """Into how many groups of consecutive lanes a request is split, before any merging."""
    return RULES[arch.banking].groups(width)


def word_by_word(arch: Architecture) -> bool:
    """Whether a wide access serves a lane once for each of its words (1.x)."""
    return RULES[arch.banking].word_by_word


def may_merge(rule: Rule, width: int, op: Op) -> bool:
    """Whether groups of such an access can be merged."""
    return rule.wide_loads_merge and width >= 8 and op == "load"


def merges(address: U64, active: Bool) -> Bool:
    """(N,) whether neighbours ask for the same throughout the warp, so that groups merge.

    Neighbours are lanes n and n^1, or else n and n^2, for all n; a pair with an inactive lane does
    not stand in the way. The condition is on the whole warp: one half that fulfils it by itself is
    not merged (measured on an H200, 64 and 128-bit loads, masked lanes included).
    """
    either = np.zeros(len(address), dtype=bool)
    for step in (1, 2):
        partner = LANE ^ step
        alike = (address == address[:, partner]) | ~active | ~active[:, partner]
        either |= alike.all(axis=1)
    return either


def _served(found: Cells, active: Bool, parts: int, extra: int) -> Wavefronts:
    """Passes when each of `parts` groups is served by itself."""
    on = grouped(active, parts)
    ways = degree(grouped(found.cell, parts), on, found.banks)
    return Wavefronts(summed(ways + extra * (ways > 0), parts), any_active(active, parts))


def degree(cell: U64, active: Bool, banks: int) -> I64:
    """(M, L) groups of lanes: the most distinct cells any bank has to deliver, 0 without lanes.

    The bank of a cell is its id modulo the number of banks.
    """
    ordered, fresh = firsts(cell, active)
    group, _ = np.nonzero(fresh)
    slot = group * banks + (ordered[fresh] % np.uint64(banks)).astype(np.int64)
    crowd = np.bincount(slot, minlength=len(cell) * banks).reshape(-1, banks)
    return np.asarray(crowd.max(axis=1), dtype=np.int64)


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
