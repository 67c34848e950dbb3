"""Cycles that matrix instructions keep a tensor core, and until a dependent one goes on.

    python -m benchmarks.tensor_cycles tests/data/tensor_cycles_h200.json

Each kernel repeats one instruction on 1, 2 or 8 sums, by a multiprocessor's own clock; a second run
of more turns is taken off, so that what comes before and after does not count. Wants CuPy and a
GPU of 9.0. The model of time has its numbers from here (`gpuviz/timing/device.py`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

SUMS = (1, 2, 8)
ROUNDS = 2  # of one instruction on each sum, a turn
TURNS = (256, 1024)
THREADS = (32, 128, 256, 512)
COLUMNS = (8, 16, 32, 64, 128, 256)


class Form(NamedTuple):
    """An mma: its name and types as PTX has them; registers of A, B and the sums; asm's letters of
    the factors and the sums; what else it is given.
    """

    name: str
    a: int
    b: int
    c: int
    factors: str = "r"
    sums: str = "f"
    more: str = ""


_SPARSE = ', "r"(0x44444444u)'
FORMS: Mapping[str, Form] = {
    "f16 16816": Form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4),
    "f16 1688": Form("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4),
    "f16 f16 16816": Form("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, sums="r"),
    "bf16 16816": Form("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4),
    "tf32 1688": Form("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4),
    "tf32 1684": Form("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4),
    "s8 16832": Form("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, sums="r"),
    "s8 16816": Form("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 2, 1, 4, sums="r"),
    "b1 168256": Form(
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4, sums="r"
    ),
    "f64 884": Form("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, "d", "d"),
    "f64 1684": Form("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 2, 1, 4, "d", "d"),
    "f64 1688": Form("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 4, 2, 4, "d", "d"),
    "f64 16816": Form("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4, "d", "d"),
    "sparse f16 16832": Form(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        *(4, 4, 4),
        more=_SPARSE,
    ),
    "sparse f16 16816": Form(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        *(2, 2, 4),
        more=_SPARSE,
    ),
}
_TYPES = {"f": "float", "r": "unsigned", "d": "double"}
_TIMED = """
extern "C" __global__ void timed({type}* out, long long* time, int turns)
{{
    {made}
    __syncthreads();
    long long from = clock64();
    #pragma unroll 1
    for (int t = 0; t < turns; ++t) {{
        {body}
    }}
    long long to = clock64();
    {type} all = 0;
    for (int i = 0; i < {sums}; ++i)
        all += c[i];
    int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
    if (threadIdx.x % 32 == 0)
        time[warp] = to - from;
}}
"""


def kernel(form: Form, sums: int) -> str:
    """CUDA of `timed`, whose turn is `ROUNDS` of one instruction on each of some sums."""
    factor, total = _TYPES[form.factors], _TYPES[form.sums]
    made = (
        f"{total} c[{sums * form.c}] = {{}}; {factor} a[{form.a}], b[{form.b}];"
        f"for (int i = 0; i < {form.a}; ++i) a[i] = threadIdx.x * 0;"
        f"for (int i = 0; i < {form.b}; ++i) b[i] = threadIdx.x * 0;"
    )
    body = "\n".join(_instruction(form, j * form.c) for j in range(sums)) * ROUNDS
    return _TIMED.format(type=total, made=made, body=body, sums=sums * form.c)


def _instruction(form: Form, at: int) -> str:
    places = iter(f"%{n}" for n in range(99))

    def some(count: int) -> str:
        return "{" + ", ".join(next(places) for _ in range(count)) + "}"

    d, a, b = some(form.c), some(form.a), some(form.b)
    more = f", {next(places)}, 0x0" if form.more else ""
    sums = ", ".join(f'"+{form.sums}"(c[{at + i}])' for i in range(form.c))
    factors = [f'"{form.factors}"({n}[{i}])' for n in "ab" for i in range(getattr(form, n))]
    given = ", ".join(factors) + form.more
    return f'asm volatile("{form.name} {d}, {a}, {b}, {d}{more};" : {sums} : {given});'


def group(columns: int) -> str:
    """CUDA of `timed`, whose turn is a group of four wgmma of 64 × `columns` × 16, and its end."""
    sums = columns // 2
    d = "{" + ", ".join(f"%{n}" for n in range(sums)) + "}"
    places = ", ".join(f'"+f"(c[{n}])' for n in range(sums))
    one = (
        f'asm volatile("wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.f16.f16 {d}, %{sums}, '
        f'%{sums + 1}, 1, 1, 1, 0, 0;" : {places} : "l"(left), "l"(right));'
    )
    made = f"""
    __shared__ __align__(1024) int held[12000];
    float c[{sums}] = {{}};
    for (int i = threadIdx.x; i < 12000; i += blockDim.x) held[i] = 0;
    asm volatile("fence.proxy.async;");
    unsigned long long at = __cvta_generic_to_shared(held);
    unsigned long long left = 1ull << 62 | 64ull << 32 | 1ull << 16 | at >> 4;
    unsigned long long right = left + 512;"""
    body = 'asm volatile("wgmma.fence.sync.aligned;");' + one * 4
    body += 'asm volatile("wgmma.commit_group.sync.aligned;");'
    body += 'asm volatile("wgmma.wait_group.sync.aligned 0;");'
    return _TIMED.format(type="float", made=made, body=body, sums=sums)


def cases() -> Iterator[tuple[str, str, int, tuple[int, ...]]]:
    """Name, CUDA, instructions a turn, and threads of a block."""
    for name, form in FORMS.items():
        for sums in SUMS:
            yield f"{name}, {sums}", kernel(form, sums), ROUNDS * sums, THREADS
    for columns in COLUMNS:
        yield f"wgmma 64x{columns}x16", group(columns), 4, (128,)


def read() -> dict[str, dict[str, float]]:
    """By case and threads of a block: cycles an instruction of a warp."""
    import cupy

    found = {}
    for name, text, each, threads in cases():
        module = cupy.RawModule(code=text, options=("--gpu-architecture=sm_90a",))
        function = module.get_function("timed")
        found[name] = {str(n): round(_cycles(cupy, function, n) / each, 3) for n in threads}
    return found


def _cycles(cupy: Any, function: Any, threads: int) -> float:
    blocks = cupy.cuda.Device().attributes["MultiProcessorCount"]
    out, time = cupy.zeros(blocks * threads, "f8"), cupy.zeros(blocks * threads // 32, "i8")
    taken = []
    for turns in TURNS:
        for _ in range(2):
            function((blocks,), (threads,), (out, time, cupy.int32(turns)))
        taken.append(float(cupy.median(time)))
    return (taken[1] - taken[0]) / (TURNS[1] - TURNS[0])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(read(), indent=1) + "\n")
