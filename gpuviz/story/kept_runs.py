"""Runs of launches, kept: other lanes, moments, pictures and widths are shown of the same ones.

The newest is kept, and of those before it as many as fit a budget for their arrays; those of
companions have none.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock

from gpuviz.run.run import Run

_BYTES, _MOST = 64 << 20, 128
_LARGEST = 512 << 20  # of the newest, which is being looked at
_KEPT: dict[Hashable, tuple[Run, int]] = {}
_LOCK = Lock()


def kept(key: Hashable, made: Callable[[], Run]) -> Run:
    """The run known by a key, or one that is made now."""
    with _LOCK:
        found = _KEPT.pop(key, None)
    run, size = found or _weighed(made())
    with _LOCK:
        if size < _LARGEST:
            _KEPT[key] = run, size  # the newest is the last
        while len(_KEPT) > 1 and (
            len(_KEPT) > _MOST or sum(weight for _, weight in _KEPT.values()) > _BYTES
        ):
            _KEPT.pop(next(iter(_KEPT)))
    return run


def _weighed(run: Run) -> tuple[Run, int]:
    """A run, and about how many bytes it holds: what it left behind, and its recorded requests."""
    path = len(run.trace.path.stretch) if run.trace.path else 0
    recorded = len(run.trace.requests) * 320 + path * 20
    arrays = (*run.inputs.values(), *run.outputs.values())
    return run, recorded + sum(array.nbytes for array in arrays)
