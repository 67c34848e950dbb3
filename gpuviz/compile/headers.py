"""Header files for NVRTC, which knows none: NVIDIA's own, and stand-ins for the host's.

An ordinary .cu file includes <stdio.h>, <math.h> or <vector> for the sake of its host part. NVRTC
has printf, assert and the mathematical functions built in, so that device code needs little of
these: fixed-width integers, limits, and the std:: names of common functions. CUDA's own C++
library (CCCL) has most of it; compiling that takes a second where it is large, so <cmath> does
without. The longer ones lie in resources/headers; there the limits of both IEEE 754 formats are
written out, as CCCL leaves them to the host in some releases.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from gpuviz.base import resources
from gpuviz.compile.nvrtc import Library
from gpuviz.files import bounded
from gpuviz.processes.programs import package_folders

_EMPTY = """
algorithm.h chrono cstdio cstdlib cstring ctime exception fstream iomanip ios iosfwd iostream
istream malloc.h map memory memory.h mutex omp.h ostream queue random set sstream stdexcept stdio.h
stdlib.h streambuf string string.h strings.h sys/time.h sys/types.h thread time.h unistd.h
unordered_map unordered_set vector windows.h
"""

_FROM_CUDA_STD = "algorithm array complex concepts functional iterator limits numeric span tuple \
type_traits"

_STD_MATH = "abs acos asin atan atan2 cbrt ceil cos cosh erf exp exp2 fabs floor fma fmax fmin \
fmod hypot isfinite isinf isnan log log10 log1p log2 pow round rsqrt sin sinh sqrt tan tanh trunc"
_STD_FLOAT = (
    "acosf asinf atanf atan2f cbrtf ceilf cosf coshf erff exp2f expf fabsf floorf fmaf fmaxf \
fminf fmodf hypotf log10f log1pf log2f logf powf roundf sinf sinhf sqrtf tanf tanhf truncf"
)
_STD_INTEGERS = "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t intptr_t \
uintptr_t"


def _using(names: str, scope: str = "") -> str:
    return " ".join(f"using {scope}::{name};" for name in names.split())


def _in_std(names: str, after: str) -> str:
    """A header that includes another and offers names of it in namespace std too."""
    return f"#pragma once\n#include <{after}>\nnamespace std {{ {_using(names)} }}\n"


def _from_cuda_std(name: str) -> str:
    """A header of std made of CUDA's one, or empty where that is not installed."""
    alias = "namespace std { using namespace ::cuda::std; }"
    guard = f"#pragma once\n#if __has_include(<cuda/std/{name}>)\n"
    return f"{guard}#include <cuda/std/{name}>\n{alias}\n#endif\n"


# The driver's host interface has no device code, but kernels take its handles.
_DRIVERS = {
    "cuda.h": resources.text("headers/cuda.h"),
    "cudaTypedefs.h": "#pragma once\n#include <cuda.h>\n",
}

# The types of cuFFT's data, which kernels take beside its transforms.
_CUFFT = """#pragma once
typedef float cufftReal; typedef double cufftDoubleReal;
typedef float2 cufftComplex; typedef double2 cufftDoubleComplex;
"""

UTILITY = "gpuviz_utility.h"  # <utility> in full, for those who need it

# What nvcc knows without any include, through the host's headers: for sources that rely on it.
PRELUDE = "gpuviz_prelude.h"
RUNTIME = "gpuviz_device_runtime.h"  # what a kernel calls that launches others
_PRELUDE_NAMES = re.compile(
    r'identifier "(u?int\d+_t|u?intptr_t|u_char|ushort|uint|ulong|\w+_(?:MIN|MAX)|CHAR_BIT'
    r'|INFINITY|NAN|HUGE_VALF?|M_\w+|CLOCKS_PER_SEC|__(?:asm__|shfl\w*|any|all|ballot))"'
    r' is undefined|namespace "std" has no member|"register" storage|overloaded function "pow"'
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
    **dict.fromkeys(("float.h", "cfloat"), resources.text("headers/float.h")),
    "math.h": resources.text("headers/math.h"),
    "cmath": _in_std(_STD_MATH, "math.h"),
    "assert.h": "#pragma once\n",
    "cassert": "#pragma once\n",
    "stddef.h": "#pragma once\n#ifndef NULL\n#define NULL 0\n#endif\n",
    "cstddef": "#include <stddef.h>\nnamespace std { using ::size_t; using ::ptrdiff_t; }\n",
    **dict.fromkeys(("cufft.h", "cufftXt.h"), _CUFFT),
    "stdbool.h": "#pragma once\n",
    "utility": "#pragma once\n",
    UTILITY: _from_cuda_std("utility"),
    RUNTIME: resources.text(f"headers/{RUNTIME}"),
    PRELUDE: resources.text(f"headers/{PRELUDE}").replace(
        "@NAMES@", _using(f"{_STD_MATH} {_STD_FLOAT} {_STD_INTEGERS}")
    ),
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
            wheels = ("cuda_runtime", "cuda_cccl", "cuda_nvcc", "curand")
            candidates += [parent / wheel / "include" for wheel in wheels]
    candidates += [folder / "source" / "include" for folder in package_folders("cutlass_library")]
    known = ("cuda_runtime.h", "crt", "cuda/std", "curand_kernel.h", "cutlass/cutlass.h")
    return tuple(folder for folder in candidates if any((folder / name).exists() for name in known))


def builtin(include: tuple[Path, ...]) -> dict[str, str]:
    """Headers to hand to NVRTC as text: stand-ins that no folder of the user's has a file for."""
    runtime = any((folder / "cuda_runtime.h").exists() for folder in include)
    offered = STAND_INS if runtime else STAND_INS | RUNTIME_STAND_INS
    offered = offered | _DRIVERS
    made = {name: text for name, text in offered.items() if not _has(include, name)}
    for name in _INTEGERS if sys.platform != "win32" else ():
        own = next((folder / name for folder in include if (folder / name).is_file()), None)
        if own is not None:
            made[name] = _SIXTY_FOUR.sub(r"\1", bounded.text(own))
    return made


# Where CUDA's own headers say what uint64_t is: for NVRTC something else than the host has.
_INTEGERS = "cuda/std/cstdint", "cuda_pipeline_helpers.h", "cuda_awbarrier_helpers.h"
_SIXTY_FOUR = re.compile(r"(\bu?int64_t\s*=\s*(?:un)?signed long|(?:un)?signed long) long\b")

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]((?:cub|thrust)/[\w./]+)[>"]', re.MULTILINE)
_OF_BLOCKS = re.compile(r"\b(?:cub::(?!Device|Caching|Debug)\w+|(?:Block|Warp)[A-Z]\w+)")
_WITHOUT_HOST = re.compile(
    r"(?:cub/(?:block|warp|thread|iterator|grid)/.*|cub/(?:config|version|util_(?:ptx|type))\.cuh"
    r"|thrust/(?:tuple|pair|functional|version|detail/config)\.h"
    r"|thrust/iterator/(?:counting|constant)_iterator\.h)"
)
_COMPLEX = (
    "#pragma once\n#include <cuda/std/complex>\nnamespace thrust {\nusing ::cuda::std::complex;\n"
    + _using("abs arg conj cos exp log norm polar pow sin sqrt tan", "cuda::std")
    + "\n}\n"
)


def of_libraries(texts: Iterable[str], include: tuple[Path, ...]) -> dict[str, str]:
    """Stand-ins for the headers of CUB and Thrust that texts include and that begin with their host
    part: the parts of blocks and warps where these are named, else nothing.
    """
    every = list(texts)
    names = {name for text in every for name in _INCLUDED.findall(text)}
    made = {name: "#pragma once\n" for name in names if not _WITHOUT_HOST.fullmatch(name)}
    if "thrust/complex.h" in made:
        made["thrust/complex.h"] = _COMPLEX
    if "cub/cub.cuh" in made and any(map(_OF_BLOCKS.search, every)):
        files = (f for folder in include for f in sorted(folder.glob("cub/[btwi]*/*.cuh")))
        lines = (f"#include <cub/{file.parent.name}/{file.name}>\n" for file in files)
        made["cub/cub.cuh"] = "#pragma once\n" + "".join(lines)
    return made


def _has(include: tuple[Path, ...], name: str) -> bool:
    return name not in _DRIVERS and any((folder / name).is_file() for folder in include)


# Names that a file may have from a header of its framework's, and where CUDA itself declares them.
_DECLARED = {
    "cuda_fp16.h": r"__half2?|half2?|__half_raw|__float2half\w*|__half2float",
    "cuda_bf16.h": r"(?:__)?nv_bfloat16\w*|__float2bfloat16\w*|__bfloat162float",
    "cuda_fp8.h": r"__nv_fp8\w*",
    "cooperative_groups.h": r"cooperative_groups|cg",
    "cuda.h": r"CU(?:tensorMap|deviceptr|texObject|surfObject)",
    "cuComplex.h": r"cu(?:Float|Double)?Complex|make_cu\w*Complex|cuC[a-z]+f?",
    "limits": r"numeric_limits",
    "type_traits": r"(?:is|remove|add|make)_\w+|enable_if\w*|conditional\w*|decay\w*|"
    r"(?:true|false)_type|integral_constant|aligned_storage\w*|common_type\w*|underlying_type\w*|"
    r"void_t|(?:con|dis)junction\w*|negation\w*|invoke_result\w*",
    "algorithm": r"(?:lower|upper)_bound|fill|copy|max_element|min_element",
    RUNTIME: r"cuda(?:DeviceSynchronize|GetLastError|PeekAtLastError|GetErrorString|Stream\w+)",
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
