"""Types of elements by their names in arguments."""

from __future__ import annotations

import numpy as np

DTYPES: dict[str, type[np.generic]] = {
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": np.uint16,  # these three as their bits
    "e4m3": np.uint8,
    "e5m2": np.uint8,
}
FLOATS = frozenset({"f16", "f32", "f64", "bf16", "e4m3", "e5m2"})


def size_of(dtype: str) -> int:
    """Bytes of an element."""
    return np.dtype(DTYPES[dtype]).itemsize
