"""mma.m8n8k4 of f16: four products a warp, against NumPy, in every layout."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.launching import launch


def kernel(form: str, sums: int, starts: int) -> str:
    counter = iter(range(99))
    braces = ["{" + ", ".join(f"%{next(counter)}" for _ in range(n)) + "}" for n in (sums, 2, 2)]
    braces.append("{" + ", ".join(f"%{next(counter)}" for _ in range(starts)) + "}")
    sizes = ("A", 2), ("B", 2), ("C", starts)
    ins = [f'"r"({name}[threadIdx.x * {n} + {i}])' for name, n in sizes for i in range(n)]
    outs = ", ".join(f'"=r"(d[{n}])' for n in range(sums))
    return f"""
typedef const unsigned* In;
extern "C" __global__ void k(In A, In B, In C, unsigned* D) {{
    unsigned d[{sums}];
    asm volatile("mma.sync.aligned.m8n8k4.{form} {", ".join(braces)};"
                 : {outs} : {", ".join(ins)});
    for (int i = 0; i < {sums}; i++) D[threadIdx.x * {sums} + i] = d[i];
}}
"""


def places(lane: int, layout: str, element: int) -> tuple[int, int]:
    """Row of A (column of B) and place along k, as the PTX ISA writes them."""
    high = 4 if lane >= 16 else 0
    return (lane % 4 + high, element) if layout == "own" else (element + high, lane % 4)


def sum_at(lane: int, element: int, bits: int) -> tuple[int, int]:
    high = 4 if lane >= 16 else 0
    if bits == 16:
        return lane % 4 + high, element
    row = (lane & 1) + (element & 2) + high
    return row, (element & 4) + (lane & 2) + (element & 1)


@pytest.mark.parametrize("layouts", ["row.col", "col.row", "row.row", "col.col"])
@pytest.mark.parametrize("kinds", ["f32.f16.f16.f32", "f16.f16.f16.f16", "f32.f16.f16.f16"])
def test_four_products(layouts: str, kinds: str) -> None:
    random = np.random.default_rng(4)
    a, b, c = (random.integers(-3, 4, s).astype("f2") for s in ((4, 8, 4), (4, 4, 8), (4, 8, 8)))
    own_a = "own" if layouts.startswith("row") else "turned"
    own_b = "own" if layouts.endswith("col") else "turned"
    to, start = (32 if kinds.split(".")[n] == "f32" else 16 for n in (0, 3))
    left, right = np.zeros((32, 4), "f2"), np.zeros((32, 4), "f2")
    begin = np.zeros((32, 8), f"f{start // 8}")
    for lane in range(32):
        pair = lane % 16 // 4
        for i in range(4):
            row, k = places(lane, own_a, i)
            left[lane, i] = a[pair, row, k]
            column, k = places(lane, own_b, i)
            right[lane, i] = b[pair, k, column]
        for i in range(8):
            begin[lane, i] = c[pair][sum_at(lane, i, start)]
    source = kernel(f"{layouts}.{kinds}", to // 4, start // 4)
    out = np.zeros((32, to // 4), "u4")
    args = [left.view("u4"), right.view("u4"), begin.view("u4"), out]
    found = launch(source, "k", 1, 32, *args, arch="sm_80").outputs["arg3"].view(f"f{to // 8}")
    whole = a.astype("f8") @ b.astype("f8") + c.astype("f8")
    for lane in range(32):
        for i in range(8):
            assert found[lane, i] == whole[lane % 16 // 4][sum_at(lane, i, to)]
