"""The functions of CUPTI that are used, and the fields of their parameter structures.

Each takes one structure that begins with its own size and a null pointer; what follows is listed
here as `name:type`. Layouts: cupti_range_profiler.h, cupti_profiler_host.h and
cupti_profiler_target.h of CUDA 12.8 and 13.0, which agree. Later versions may append fields; the
size tells the library which layout it gets.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

_TYPES: dict[str, Any] = {
    "byte": ctypes.c_uint8,
    "short": ctypes.c_uint16,
    "int": ctypes.c_int,
    "uint": ctypes.c_uint32,
    "size": ctypes.c_size_t,
    "ptr": ctypes.c_void_p,
    "text": ctypes.c_char_p,
}

FIELDS = {
    "cuptiProfilerInitialize": "",
    "cuptiProfilerDeviceSupported": "device:int supported:int architecture:int sli:int vgpu:int "
    "confidential:int mining:int wsl:int api:int",
    "cuptiDeviceGetChipName": "device:size chip:text",
    "cuptiProfilerHostInitialize": "kind:int chip:text availability:ptr host:ptr",
    "cuptiProfilerHostDeinitialize": "host:ptr",
    "cuptiProfilerHostGetBaseMetrics": "host:ptr kind:int names:ptr count:size",
    "cuptiProfilerHostConfigAddMetrics": "host:ptr names:ptr count:size",
    "cuptiProfilerHostGetConfigImageSize": "host:ptr size:size",
    "cuptiProfilerHostGetConfigImage": "host:ptr size:size image:ptr",
    "cuptiProfilerHostGetNumOfPasses": "size:size image:ptr passes:size",
    "cuptiProfilerHostEvaluateToGpuValues": "host:ptr data:ptr size:size range:size names:ptr "
    "count:size values:ptr",
    "cuptiRangeProfilerEnable": "context:ptr profiler:ptr",
    "cuptiRangeProfilerDisable": "profiler:ptr",
    "cuptiRangeProfilerGetCounterDataSize": "profiler:ptr names:ptr count:size ranges:size "
    "nodes:uint size:size",
    "cuptiRangeProfilerCounterDataImageInitialize": "profiler:ptr size:size data:ptr",
    "cuptiRangeProfilerSetConfig": "profiler:ptr config_size:size config:ptr data_size:size "
    "data:ptr range:int replay:int ranges:size levels:short first_level:short pass_index:size "
    "target_level:short",
    "cuptiRangeProfilerStart": "profiler:ptr",
    "cuptiRangeProfilerStop": "profiler:ptr pass_index:size target_level:size done:byte",
    "cuptiRangeProfilerDecodeData": "profiler:ptr dropped:size",
    "cuptiRangeProfilerGetCounterDataInfo": "data:ptr size:size ranges:size",
}


@cache
def structure(function: str) -> type[ctypes.Structure]:
    """The parameter structure of a function."""
    pairs = (field.split(":") for field in FIELDS[function].split())
    fields = [("struct_size", ctypes.c_size_t), ("private", ctypes.c_void_p)]
    fields += [(name, _TYPES[kind]) for name, kind in pairs]
    return type(function, (ctypes.Structure,), {"_fields_": fields})


@cache
def size_of(function: str) -> int:
    """Size CUPTI expects: up to the last field, without the padding after it."""
    made: Any = structure(function)
    last, kind = made._fields_[-1]
    return int(getattr(made, last).offset + ctypes.sizeof(kind))
