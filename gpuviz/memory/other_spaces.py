"""What requests cost that go to no bank or sector alone: constant and local memory, cp.async."""

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.banks import Wavefronts
from gpuviz.memory.coalescing import Transactions, transactions
from gpuviz.memory.lanes import any_active, busiest, bytes_asked, check, distinct, grouped, summed
from gpuviz.traces.observe import NOTHING
from gpuviz.traces.trace import Op

# --- constant memory -----------------------------------------------------------------------------
#
# One pass for each distinct address (PG 5.5, 5.3.2; PG 12.6, 8.3.2). Bytes of one 32-bit word count
# as one address; a 64 or 128-bit access counts by its own size, which no document settles. 1.x
# serves the half warps one after the other. Cache misses are not modelled.


def constant_passes(arch: Architecture, address: U64, active: Bool, width: int) -> I64:
    """(N,) distinct addresses of (N, 32) requests, `width` bytes a lane."""
    check(width, (1, 2, 4, 8, 16))
    groups = arch.warp_requests
    word = address // np.uint64(max(4, width))
    return summed(distinct(grouped(word, groups), grouped(active, groups)), groups)


def constant_schedule(
    arch: Architecture, address: U64, active: Bool, width: int
) -> tuple[I64, ...]:
    """The lanes served by each pass of one request, (32,) addresses and active lanes.

    As many as `constant_passes` counts: the address of the lowest lane left goes first (the true
    order is not published).
    """
    check(width, (1, 2, 4, 8, 16))
    groups = arch.warp_requests
    word = address // np.uint64(max(4, width))
    served = []
    for lanes in np.arange(len(address)).reshape(groups, -1):
        on = lanes[active[lanes]]
        served += [on[word[on] == w] for w in dict.fromkeys(word[on].tolist())]
    return tuple(served)


# --- local memory --------------------------------------------------------------------------------
#
# Word w of lane l lies 4 * (32 * w + l) bytes from the warp's base (PG 12.6, 8.3.2: "consecutive
# 32-bit words are accessed by consecutive thread IDs"; the formula is an inference from that). The
# base is taken to be aligned to a line. Caching, spills and the frame's place are not modelled.

_LANE = np.arange(32, dtype=np.uint64)


def interleaved(offset: U64, width: int) -> U64:
    """(W, N, 32) physical addresses of the W words that each lane's access covers."""
    words = np.arange(max(1, width // 4), dtype=np.uint64)[:, None, None]
    word = offset[None] // np.uint64(4) + words
    return np.asarray(
        (word * np.uint64(32) + _LANE) * np.uint64(4) + offset[None] % np.uint64(4), dtype=np.uint64
    )


def local_transactions(
    arch: Architecture, offset: U64, active: Bool, width: int, op: Op = "load"
) -> Transactions:
    """Transactions of N requests at (N, 32) offsets in each thread's local memory.

    Before 5.0 every word of a wide access is counted as a request of its own.
    """
    check(width)
    physical = interleaved(offset, width)
    if arch.has_sectors:
        return _sectors(arch, physical, active, width)
    chunks = [transactions(arch, words, active, min(4, width), op) for words in physical]
    parts = ("count", "lines", "ideal", "moved")
    return Transactions(*(np.sum([getattr(c, p) for c in chunks], axis=0) for p in parts))


def _sectors(arch: Architecture, physical: U64, active: Bool, width: int) -> Transactions:
    """5.0 and later: distinct sectors of all words of the warp."""
    lanes = np.concatenate(list(physical), axis=1)
    on = np.tile(active, (1, len(physical)))
    count = distinct(lanes // np.uint64(arch.sector), on)
    lines = distinct(lanes // np.uint64(arch.line), on)
    return Transactions(count, lines, -(-bytes_asked(active, width) // 32), count * 32)


# --- copies --------------------------------------------------------------------------------------
#
# A copy through L1 (`.ca`) moves words from the banks that hold its line to those of shared memory.
# In one wavefront each bank gives one word and takes one; nothing is broadcast. So a group takes as
# many wavefronts as the busiest bank on either side has lanes (the edges of a bipartite graph need
# no more colours than its highest degree: D. Konig, 1916). Read from an H200 for 4, 8 and 16 bytes
# (smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts). A lane that fills with zeros
# (its src-size is 0) reads nothing, and keeps only a bank of shared memory busy: so an H200 counted
# the copies ahead of a product's last tiles, as Triton writes them.
#
# Lanes in no order on both sides took up to a third more (17 of 177 requests): not modelled.
#
# Copies that bypass L1 (`.cg`) have no wavefronts that the hardware would count. Their lines are
# the pairs of a line they read and one they write, their sectors the pairs of a line they read and
# a sector they write: equal in all of 75 requests read from an H200
# (l1tex__t_set_accesses and l1tex__t_sectors, _pipe_lsu_mem_global_op_ld).

_BANKS = 32


def copy_wavefronts(target: U64, source: U64, active: Bool, width: int) -> Wavefronts:
    """Wavefronts of N copies.

    `target` (N, 32) offsets in shared memory, `source` (N, 32) global addresses or `NOTHING`,
    `width` bytes.
    """
    parts = max(1, width // 4)
    reads = active & (source != NOTHING)
    written, read = (
        _crowd(side, on, width, parts) for side, on in ((target, active), (source, reads))
    )
    return Wavefronts(summed(np.maximum(written, read), parts), any_active(active, parts))


def _crowd(address: U64, active: Bool, width: int, parts: int) -> I64:
    """(N * parts,) the most active lanes of a group that use one bank (or set of banks)."""
    bank = (address // np.uint64(width)).astype(np.int64) % (_BANKS // parts)
    return busiest(grouped(bank, parts), grouped(active, parts), _BANKS // parts)


def past_l1(target: U64, source: U64, active: Bool) -> tuple[I64, I64]:
    """Sectors and lines of N copies that bypass L1."""
    line, reads = source >> np.uint64(7), active & (source != NOTHING)
    sectors, lines = target >> np.uint64(5), target >> np.uint64(7)
    return _pairs(line, sectors, reads), _pairs(line, lines, reads)


def _pairs(one: U64, other: U64, active: Bool) -> I64:
    """(N,) how many different pairs the active lanes of each row have."""
    order = np.lexsort((other, one, ~active), axis=1)
    a, b, on = (np.take_along_axis(x, order, axis=1) for x in (one, other, active))
    new = np.ones(on.shape, bool)
    new[:, 1:] = (a[:, 1:] != a[:, :-1]) | (b[:, 1:] != b[:, :-1])
    return np.asarray((new & on).sum(axis=1), dtype=np.int64)
