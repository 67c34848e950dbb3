"""What all rules on a warp's lanes share: groups of lanes, and counting distinct values."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.base.errors import InputError

Rows = TypeVar("Rows", U64, I64, Bool)

WIDTHS = (1, 2, 4, 8, 16, 32)
_NOTHING = np.uint64(2**64 - 1)


def check(width: int, widths: Sequence[int] = WIDTHS) -> None:
    """Refuse a width that no instruction has."""
    if width not in widths:
        allowed = ", ".join(map(str, widths))
        raise InputError(f"a lane cannot access {width} bytes here; it accesses one of {allowed}")


def grouped(rows: Rows, groups: int) -> Rows:
    """(N, 32) to (N * groups, 32 / groups): consecutive lanes that are served together."""
    return rows.reshape(len(rows) * groups, -1)


def summed(per_group: I64, groups: int) -> I64:
    """(N * groups,) counts to (N,)."""
    return per_row(per_group.reshape(-1, groups))


def per_row(values: I64 | Bool) -> I64:
    """(N, L) values to their (N,) sums."""
    return np.asarray(values.sum(axis=1, dtype=np.int64), dtype=np.int64)


def any_active(active: Bool, groups: int = 1) -> I64:
    """(N,) number of groups with an active lane."""
    return per_row(grouped(active, groups).any(axis=1).reshape(-1, groups))


def bytes_asked(active: Bool, width: int) -> I64:
    """(N,) bytes the active lanes ask for, all lanes together."""
    return per_row(active) * width


def firsts(values: U64, active: Bool) -> tuple[U64, Bool]:
    """(N, L) values sorted within each row, and True at the first of each distinct active one."""
    ordered = np.sort(np.where(active, values, _NOTHING), axis=1)
    fresh = ordered != _NOTHING
    fresh[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return ordered, fresh


def distinct(values: U64, active: Bool) -> I64:
    """(N,) number of distinct values of each row's active lanes. 2^64 - 1 is not a value."""
    return per_row(firsts(values, active)[1])


def busiest(bank: I64, active: Bool, banks: int) -> I64:
    """(M,) the most active lanes of (M, L) that want one bank."""
    rows = np.broadcast_to(np.arange(len(bank))[:, None] * banks, bank.shape)
    counts = np.bincount((rows + bank)[active], minlength=len(bank) * banks)
    return np.asarray(counts.reshape(-1, banks).max(axis=1, initial=0), dtype=np.int64)


def lower_alike(values: I64 | U64, active: Bool) -> I64:
    """(N, L) how many lower active lanes of each row have the same value as this one."""
    same = (values[:, :, None] == values[:, None, :]) & active[:, None, :]
    return np.asarray(np.tril(same, -1).sum(axis=2), dtype=np.int64)
