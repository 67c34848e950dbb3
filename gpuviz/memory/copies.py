"""cp.async: copies from global into shared memory, without a register in between.

A copy through L1 (`.ca`) moves words from the banks that hold its line to those of shared memory.
In one wavefront each bank gives one word and takes one; nothing is broadcast. So a group takes as
many wavefronts as the busiest bank on either side has lanes (the edges of a bipartite graph need no
more colours than its highest degree: D. Konig, 1916). Read from an H200 for 4, 8 and 16 bytes
(smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts). A lane that fills with zeros (its
src-size is 0) reads nothing, and keeps only a bank of shared memory busy: so an H200 counted the
copies ahead of a product's last tiles, as Triton writes them.

Lanes in no order on both sides took up to a third more (17 of 177 requests), which is not modelled.

Copies that bypass L1 (`.cg`) have no wavefronts that the hardware would count. Their lines are the
pairs of a line they read and one they write, their sectors the pairs of a line they read and a
sector they write: equal in all of 75 requests read from an H200
(l1tex__t_set_accesses and l1tex__t_sectors, _pipe_lsu_mem_global_op_ld).
"""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.banks import Wavefronts
from gpuviz.memory.lanes import any_active, grouped, summed
from gpuviz.traces.observe import NOTHING

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
    banks = _BANKS // parts
    bank = grouped(address // np.uint64(width) % np.uint64(banks), parts).astype(np.int64)
    on = grouped(active, parts)
    rows = np.broadcast_to(np.arange(len(bank))[:, None] * banks, bank.shape)
    counts = np.bincount((rows + bank)[on], minlength=len(bank) * banks).reshape(len(bank), banks)
    return np.asarray(counts.max(axis=1), dtype=np.int64)


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
