"""Bands from lanes to addresses: S-shaped curves that can be drawn in part, while data travels."""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import F32, F64


def bands(start: F32, end: F32) -> F32:
    """(N, 4, 2) curves that leave (N, 2) `start` and reach `end` upright."""
    reach = (end - start) * np.array([0.0, 0.5], np.float32)
    return np.stack([start, start + reach, end - reach, end], axis=1).astype(np.float32)


def partly(curves: F32, share: F64) -> F32:
    """The first `share` (N,) of each curve (de Casteljau's subdivision)."""
    t = np.asarray(share, np.float32)[:, None, None]
    first = curves[:, :1]
    one = curves[:, :-1] + (curves[:, 1:] - curves[:, :-1]) * t
    two = one[:, :-1] + (one[:, 1:] - one[:, :-1]) * t
    three = two[:, :-1] + (two[:, 1:] - two[:, :-1]) * t
    return np.concatenate([first, one[:, :1], two[:, :1], three], axis=1).astype(np.float32)


def backwards(curves: F32) -> F32:
    """The same curves, run from their ends."""
    return np.ascontiguousarray(curves[:, ::-1])
