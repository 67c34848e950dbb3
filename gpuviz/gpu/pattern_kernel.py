"""Kernels that issue one shared-memory instruction with one warp, for any pattern of addresses.

The element index of each lane comes from a buffer, so one kernel serves all patterns of an
operation and width. Volatile PTX keeps the compiler from removing, splitting or merging the access,
and lanes that take no part have ended, so that the access itself is not predicated.
"""

from __future__ import annotations

from gpuviz.base.errors import InputError

BYTES = 16384  # of shared memory, and of the addresses a pattern may use

_VECTORS = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}

# What to do with element `at` of the shared array; `v` holds four words of the lane's own.
_ATOMICS = {
    "atomic": ("int", "atomicAdd(s + at, (int)v[0]);"),
    "atomic_add_s32": ("int", "atomicAdd(s + at, (int)v[0]);"),
    "atomic_add_s32_returned": ("int", "v[0] = atomicAdd(s + at, (int)v[0]);"),
    "atomic_exch_b32": ("int", "v[0] = atomicExch(s + at, (int)v[0]);"),
    "atomic_cas_b32": ("int", "v[0] = atomicCAS(s + at, (int)v[0], (int)v[1]);"),
    "atomic_add_f32": ("float", "atomicAdd(s + at, (float)v[0]);"),
    "atomic_add_u64": ("unsigned long long", "atomicAdd(s + at, (unsigned long long)v[0]);"),
}

_KERNEL = """extern "C" __global__ void pattern(const int* index, uint4* words) {{
  __shared__ __align__(1024) {kind} s[{bytes} / sizeof({kind})];
  int lane = threadIdx.x;
  int at = index[lane];
  uint4 w = words[lane];
  unsigned v[4] = {{w.x, w.y, w.z, w.w}};
  if (at < 0) return;
  {body}
  words[lane] = make_uint4(v[0], v[1], v[2], v[3]);
}}
"""


def source(op: str, width: int) -> str:
    """CUDA C of the kernel `pattern(const int* index, uint4* words)`, for one block of 32 threads.

    Lanes whose index is negative take no part.

    Raises
    ------
    InputError : an operation or width that is not known
    """
    if op in _ATOMICS:
        kind, body = _ATOMICS[op]
        return _KERNEL.format(kind=kind, bytes=BYTES, body=body)
    if op not in ("load", "store") or width not in _VECTORS:
        raise InputError(f"no kernel for the pattern {op} of {width} bytes")
    return _KERNEL.format(kind="unsigned char", bytes=BYTES, body=_moved(op, width))


def _moved(op: str, width: int) -> str:
    words = max(1, width // 4)
    places = ", ".join(f"%{n}" for n in range(words))
    group = f"{{{places}}}" if words > 1 else places
    address, bits = f"[%{words}]", f"(unsigned)__cvta_generic_to_shared(s + at * {width})"
    constraint = '"{}r"(v[{}])'
    if op == "load":
        text = f"ld.volatile.shared.{_VECTORS[width]} {group}, {address};"
        outs = ", ".join(constraint.format("=", n) for n in range(words))
        return f'asm volatile("{text}" : {outs} : "r"({bits}) : "memory");'
    text = f"st.volatile.shared.{_VECTORS[width]} {address}, {group};"
    ins = ", ".join(constraint.format("", n) for n in range(words))
    return f'asm volatile("{text}" :: {ins}, "r"({bits}) : "memory");'
