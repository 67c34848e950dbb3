"""Tensor maps as the driver encodes them: 128 bytes that hold an address on the device.

Source: CUDA Driver API, "Tensor Map Object Management", cuTensorMapEncodeTiled.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

from gpuviz.arguments import TensorMap
from gpuviz.arguments.tensor_maps import SIZE
from gpuviz.base.errors import LaunchError

_ALIGNMENT = 64  # of the map, where the driver writes it
# CUtensorMapDataType; what has no type of its own there travels as whole numbers of its size.
_FLOATS = {"f16": 6, "f32": 7, "f64": 8, "bf16": 9}
_WHOLE = {1: 0, 2: 1, 4: 2, 8: 4}
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}  # CUtensorMapSwizzle


def driver_name() -> str:
    """The file of the driver's library."""
    return "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


def encoded(one: TensorMap, driver: Any = None) -> bytes:
    """The CUtensorMap of a tensor; `driver` is the driver's library where it is open already.

    Raises
    ------
    LaunchError : the driver does not take it, or is too old to know tensor maps
    """
    library = ctypes.CDLL(driver_name()) if driver is None else driver
    if not hasattr(library, "cuTensorMapEncodeTiled"):
        raise LaunchError("this driver knows no tensor maps: they need one of CUDA 12 or newer")
    room = ctypes.create_string_buffer(SIZE + _ALIGNMENT)
    start = -ctypes.addressof(room) % _ALIGNMENT
    status = library.cuTensorMapEncodeTiled(
        ctypes.c_void_p(ctypes.addressof(room) + start),
        ctypes.c_int(_FLOATS[one.dtype] if one.dtype in _FLOATS else _WHOLE[one.unit]),
        ctypes.c_uint32(len(one.sizes)),
        ctypes.c_void_p(one.address),
        _numbers(ctypes.c_uint64, one.sizes),
        _numbers(ctypes.c_uint64, one.strides),
        _numbers(ctypes.c_uint32, one.box),
        _numbers(ctypes.c_uint32, one.step),
        ctypes.c_int(0),  # not interleaved
        ctypes.c_int(_SWIZZLES[one.swizzle]),
        ctypes.c_int(0),  # nothing more is brought into the second cache than was asked for
        ctypes.c_int(int(one.nan)),
    )
    if status:
        raise LaunchError(
            f"cuTensorMapEncodeTiled refused (error {status}) a tensor of {one.dtype}, sizes "
            f"{one.sizes}, box {one.box}, bytes from line to line {one.strides}"
        )
    return room.raw[start : start + SIZE]


def _numbers(kind: Any, values: Sequence[int]) -> Any:
    return (kind * max(1, len(values)))(*values)
