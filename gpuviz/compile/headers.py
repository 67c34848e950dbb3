"""Header files for NVRTC, which knows none: NVIDIA's own, and stand-ins for the host's.

An ordinary .cu file includes <stdio.h>, <math.h> or <vector> for the sake of its host part. NVRTC
has printf, assert and the mathematical functions built in, so that device code needs little of
these: fixed-width integers, limits, and the std:: names of common functions. CUDA's own C++
library (CCCL) has most of it; compiling that takes a second where it is large, so <cmath> does
without.
"""

from __future__ import annotations

import re
from pathlib import Path

from gpuviz.compile.nvrtc import Library

_EMPTY = """
algorithm.h chrono cstdio cstdlib cstring ctime exception fstream iomanip ios iosfwd iostream
istream malloc.h map memory memory.h mutex omp.h ostream queue random set sstream stdexcept stdio.h
stdlib.h streambuf string string.h strings.h sys/time.h sys/types.h thread time.h unistd.h
unordered_map unordered_set vector windows.h
"""

_FROM_CUDA_STD = "algorithm array complex functional iterator limits numeric tuple type_traits"

_MATH = """#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF __int_as_float(0x7f800000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
"""

# Limits of the two IEEE 754 formats, written out: CCCL leaves them to the host in some releases.
_FLOAT = """#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_EPSILON 0x1p-23f
#define FLT_MIN 0x1p-126f
#define FLT_TRUE_MIN 0x1p-149f
#define FLT_MAX 0x1.fffffep127f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_EPSILON 0x1p-52
#define DBL_MIN 0x1p-1022
#define DBL_TRUE_MIN 0x1p-1074
#define DBL_MAX 0x1.fffffffffffffp1023
"""

_STD_MATH = "abs acos asin atan atan2 cbrt ceil cos cosh erf exp exp2 fabs floor fma fmax fmin \
fmod hypot isfinite isinf isnan log log10 log1p log2 pow round rsqrt sin sinh sqrt tan tanh trunc"
_STD_FLOAT = (
    "acosf asinf atanf atan2f cbrtf ceilf cosf coshf erff exp2f expf fabsf floorf fmaf fmaxf \
fminf fmodf hypotf log10f log1pf log2f logf powf roundf sinf sinhf sqrtf tanf tanhf truncf"
)
_STD_INTEGERS = "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t intptr_t \
uintptr_t"


def _in_std(names: str, after: str) -> str:
    """A header that includes another and offers names of it in namespace std too."""
    using = " ".join(f"using ::{name};" for name in names.split())
    return f"#pragma once\n#include <{after}>\nnamespace std {{ {using} }}\n"


def _from_cuda_std(name: str) -> str:
    """A header of std made of CUDA's one, or empty where that is not installed."""
    alias = "namespace std { using namespace ::cuda::std; }"
    guard = f"#pragma once\n#if __has_include(<cuda/std/{name}>)\n"
    return f"{guard}#include <cuda/std/{name}>\n{alias}\n#endif\n"


# The driver's host interface has no device code, but kernels take its handles.
_DRIVER = """#pragma once
typedef unsigned long long CUdeviceptr; typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; } CUtensorMap;
typedef struct CUstream_st* CUstream; typedef struct CUfunc_st* CUfunction;
typedef struct CUmod_st* CUmodule; typedef struct CUctx_st* CUcontext; typedef int CUdevice;
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 } CUresult;
typedef enum CUtensorMapDataType_enum {
  CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32,
  CU_TENSOR_MAP_DATA_TYPE_INT32, CU_TENSOR_MAP_DATA_TYPE_UINT64, CU_TENSOR_MAP_DATA_TYPE_INT64,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B,
  CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B
} CUtensorMapDataType;
typedef enum CUtensorMapInterleave_enum {
  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_INTERLEAVE_32B
} CUtensorMapInterleave;
typedef enum CUtensorMapSwizzle_enum {
  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
  CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B
} CUtensorMapSwizzle;
typedef enum CUtensorMapL2promotion_enum {
  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B
} CUtensorMapL2promotion;
typedef enum CUtensorMapFloatOOBfill_enum {
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
} CUtensorMapFloatOOBfill;
"""

_DRIVERS = {"cuda.h": _DRIVER, "cudaTypedefs.h": "#pragma once\n#include <cuda.h>\n"}

UTILITY = "gpuviz_utility.h"  # <utility> in full, for those who need it

# What nvcc knows without any include, through the host's headers: for sources that rely on it.
PRELUDE = "gpuviz_prelude.h"
_PRELUDE_TEXT = """#pragma once
#include <stdint.h>
#include <limits.h>
#include <float.h>
#include <math.h>
typedef unsigned char u_char; typedef unsigned short ushort;
typedef unsigned int uint; typedef unsigned long ulong;
namespace std {
using ::size_t; using ::ptrdiff_t;
@NAMES@
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr const T& clamp(const T& x, const T& low, const T& high)
{ return x < low ? low : high < x ? high : x; }
template <class T> constexpr void swap(T& a, T& b) { T c = a; a = b; b = c; }
}
""".replace(
    "@NAMES@",
    " ".join(f"using ::{name};" for name in f"{_STD_MATH} {_STD_FLOAT} {_STD_INTEGERS}".split()),
)
_PRELUDE_NAMES = re.compile(
    r'identifier "(u?int\d+_t|u?intptr_t|u_char|ushort|uint|ulong|\w+_(?:MIN|MAX)|CHAR_BIT'
    r'|INFINITY|NAN|HUGE_VALF?|M_\w+)" is undefined|namespace "std" has no member'
    r'|name must be a namespace name|name followed by "::" must be'
)


def wants_prelude(log: str) -> bool:
    """Whether a compilation failed for want of what the prelude offers."""
    return _PRELUDE_NAMES.search(log) is not None


STAND_INS: dict[str, str] = {
    **dict.fromkeys(_EMPTY.split(), "#pragma once\n"),
    **{name: _from_cuda_std(name) for name in _FROM_CUDA_STD.split()},
    **dict.fromkeys(("stdint.h", "inttypes.h"), "#include <cuda/std/cstdint>\n"),
    "cstdint": _in_std(_STD_INTEGERS, "cuda/std/cstdint"),
    **dict.fromkeys(("limits.h", "climits"), "#include <cuda/std/climits>\n"),
    **dict.fromkeys(("float.h", "cfloat"), _FLOAT),
    "math.h": _MATH,
    "cmath": _in_std(_STD_MATH, "math.h"),
    "assert.h": "#pragma once\n",
    "cassert": "#pragma once\n",
    "stddef.h": "#pragma once\n#ifndef NULL\n#define NULL 0\n#endif\n",
    "cstddef": "#include <stddef.h>\nnamespace std { using ::size_t; using ::ptrdiff_t; }\n",
    "stdbool.h": "#pragma once\n",
    "utility": "#pragma once\n",
    UTILITY: _from_cuda_std("utility"),
    PRELUDE: _PRELUDE_TEXT,
}

# What a plain kernel wants of these when NVIDIA's headers are not installed: nothing.
RUNTIME_STAND_INS = dict.fromkeys(
    (
        "cuda.h",
        "cuda_runtime.h",
        "cuda_runtime_api.h",
        "device_launch_parameters.h",
        "device_functions.h",
        "vector_types.h",
        "vector_functions.h",
        "builtin_types.h",
    ),
    "#pragma once\n",
)


def folders(library: Library) -> tuple[Path, ...]:
    """Folders of NVIDIA's headers of the very release that an NVRTC belongs to.

    They are looked for beside the library only, so that releases are never mixed: wheels of
    CUDA 13 share one folder, wheels of CUDA 12 have one each, a toolkit has `include`.
    """
    candidates: list[Path] = []
    for parent in list(library.path.parents)[1:4]:
        candidates += [parent / "include", parent / "include" / "cccl"]
        if library.version[0] == 12:
            wheels = ("cuda_runtime", "cuda_cccl", "cuda_nvcc")
            candidates += [parent / wheel / "include" for wheel in wheels]
    known = ("cuda_runtime.h", "crt", "cuda/std")
    return tuple(folder for folder in candidates if any((folder / name).exists() for name in known))


def builtin(include: tuple[Path, ...]) -> dict[str, str]:
    """Headers to hand to NVRTC as text: stand-ins that no folder of the user's has a file for."""
    runtime = any((folder / "cuda_runtime.h").exists() for folder in include)
    offered = STAND_INS if runtime else STAND_INS | RUNTIME_STAND_INS
    offered = offered | _DRIVERS
    return {name: text for name, text in offered.items() if not _has(include, name)}


def _has(include: tuple[Path, ...], name: str) -> bool:
    return name not in _DRIVERS and any((folder / name).is_file() for folder in include)


# Names that a file may have from a header of its framework's, and where CUDA itself declares them.
_DECLARED = {
    "cuda_fp16.h": r"__half2?|half2?|__half_raw|__float2half\w*|__half2float",
    "cuda_bf16.h": r"(?:__)?nv_bfloat16\w*|__float2bfloat16\w*|__bfloat162float",
    "cuda_fp8.h": r"__nv_fp8\w*",
    "cooperative_groups.h": r"cooperative_groups|cg",
    "cuda.h": r"CU(?:tensorMap|deviceptr|texObject|surfObject)",
    "cuComplex.h": r"cu(?:Float|Double)?Complex|make_cu\w*Complex",
    "limits": r"numeric_limits",
    "type_traits": r"(?:is|remove|add|make)_\w+|enable_if\w*|conditional\w*|decay\w*|"
    r"(?:true|false)_type|integral_constant",
    "algorithm": r"(?:lower|upper)_bound|fill|copy|max_element|min_element",
    UTILITY: r"pair|make_pair|move|forward|declval|(?:make_)?(?:index|integer)_sequence",
}


def declaring(log: str) -> list[str]:
    """Headers of CUDA that declare what a compilation did not know."""
    names = re.findall(r'(?:identifier|name|has no member) "(\w+)"', log)
    return [
        header
        for header, pattern in _DECLARED.items()
        if any(re.fullmatch(pattern, name) for name in names)
    ]
