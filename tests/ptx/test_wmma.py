"""Matrices that a warp loads, multiplies and stores as a whole, as ptxas makes accesses of it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gpuviz.compile import compile_cuda
from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.text.parser import parse
from gpuviz.sass.level import _listings

SOURCE = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const {stored}* A, const {stored}* B, const {sums}* C, {sums}* D) {{
    {begin}
    wmma::fragment<wmma::matrix_a, {shape}, {type}, wmma::{a}_major> a;
    wmma::fragment<wmma::matrix_b, {shape}, {type}, wmma::{b}_major> b;
    wmma::fragment<wmma::accumulator, {shape}, {sums}> c;
    wmma::load_matrix_sync(c, C, 64, wmma::mem_{c}_major);
    wmma::load_matrix_sync(a, {at_a}, 64);
    wmma::load_matrix_sync(b, {at_b}, 64);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(D, c, 64, wmma::mem_{c}_major);
}}
"""
SHARED = """
    __shared__ __align__(128) half sa[2048], sb[2048];
    for (int i = threadIdx.x; i < 2048; i += 32) sa[i] = A[i], sb[i] = B[i];
    __syncthreads();
"""
SQUARE, TALL, WIDE = (16, 16, 16), (32, 8, 16), (8, 32, 16)
KINDS = {
    "half": np.float16,
    "float": np.float32,
    "double": np.float64,
    "int": np.int32,
    "signed char": np.int8,
}
# The type in memory and in the product, that of sums, the shape, how A, B and C lie.
FORMS = {
    "half, row col row": ("half", "half", "float", SQUARE, "row col row"),
    "half, col row col": ("half", "half", "float", SQUARE, "col row col"),
    "half sums, col": ("half", "half", "half", SQUARE, "row row col"),
    "half, tall": ("half", "half", "float", TALL, "row col col"),
    "half, wide": ("half", "half", "float", WIDE, "row col row"),
    "half sums, wide": ("half", "half", "half", WIDE, "col row row"),
    "tf32": ("float", "wmma::precision::tf32", "float", (16, 16, 8), "col row row"),
    "s8": ("signed char", "signed char", "int", SQUARE, "row col row"),
    "s8, col row": ("signed char", "signed char", "int", TALL, "col row row"),
    "s8, wide": ("signed char", "signed char", "int", WIDE, "row col row"),
    "f64": ("double", "double", "double", (8, 8, 4), "row col row"),
    "bf16": ("__nv_bfloat16", "__nv_bfloat16", "float", SQUARE, "row row row"),
}


def stored(matrix: np.ndarray, kind: str, by_rows: bool) -> np.ndarray:
    """In memory, 64 elements from one line to the next."""
    lines = matrix if by_rows else matrix.T
    memory = np.zeros((32, 64))
    memory[: lines.shape[0], : lines.shape[1]] = lines
    if kind == "__nv_bfloat16":
        return (memory.reshape(-1).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return memory.reshape(-1).astype(KINDS[kind])


def launch(form: str, shared: bool) -> tuple[str, list[np.ndarray], np.ndarray]:
    """A kernel, what it is given, and what it should leave in the last of these."""
    kind, used, sums, (m, n, k), ways = FORMS[form]
    a_way, b_way, c_way = ways.split()
    words = {"stored": kind, "type": used, "sums": sums, "shape": f"{m}, {n}, {k}"}
    words |= {"a": a_way, "b": b_way, "c": c_way, "begin": SHARED if shared else ""}
    words |= {"at_a": "sa" if shared else "A", "at_b": "sb" if shared else "B"}
    random = np.random.default_rng(4)
    a, b, c = (random.integers(-6, 7, size) for size in ((m, k), (k, n), (m, n)))
    memory = [
        stored(x, t, w == "row")
        for x, t, w in zip((a, b, c), (kind, kind, sums), (a_way, b_way, c_way), strict=True)
    ]
    given = [*memory, np.zeros_like(memory[2])]
    return SOURCE.format(**words), given, stored(a @ b + c, sums, c_way == "row")


def run(form: str, arch: str, shared: bool) -> tuple[Counter[str], Counter[str]]:
    """The launch gives what it should; the accesses of its requests, and of its machine code."""
    source, given, wanted = launch(form, shared)
    program = compile_cuda(source, arch=arch)
    found = emulate(parse(program.ptx), "k", (1, 1, 1), (32, 1, 1), given)
    assert (found.outputs["arg3"] == wanted).all()
    instructions = found.trace.instructions
    requests = Counter(
        f"{one.op} {one.width}"
        for one in (instructions[n] for n in found.trace.requests.instruction)
        if one.text.startswith("wmma")
    )
    listings = _listings(program.cubin).values()
    opcodes = [one.opcode for listing in listings for one in listing.instructions]
    return requests, Counter(filter(None, map(access, opcodes)))


def access(opcode: str) -> str:
    """Of a global access, or of ldmatrix."""
    name, *more = opcode.split(".")
    op = {"LDG": "load", "LD": "load", "STG": "store", "ST": "store", "LDSM": "load"}.get(name)
    width = {"64": 8, "128": 16, "U8": 1, "U16": 2, "S8": 1}
    size = 16 if name == "LDSM" else next((width[one] for one in more if one in width), 4)
    return f"{op} {size}" if op else ""


def checked(form: str, arch: str) -> None:
    requests, machine = run(form, arch, shared=False)
    assert requests == machine


@pytest.mark.machine_code
@pytest.mark.parametrize("form", ["half, row col row", "half sums, wide", "s8, col row", "f64"])
def test_matrices_are_moved_as_by_ptxas(form: str) -> None:
    checked(form, "sm_80")


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("form", FORMS)
def test_matrices_of_every_type_are_moved_as_by_ptxas(form: str, arch: str) -> None:
    if arch == "sm_75" and FORMS[form][0] in ("float", "double", "__nv_bfloat16"):
        pytest.skip("not in this architecture")
    checked(form, arch)


@pytest.mark.parametrize(
    ("form", "rows"), [("half, col row col", 2), ("half, tall", 3), ("half sums, wide", 3)]
)
@pytest.mark.machine_code
def test_shared_memory_is_loaded_by_rows(form: str, rows: int) -> None:
    requests, machine = run(form, "sm_80", shared=True)
    assert requests["load 16"] == machine["load 16"] == rows
