"""Kernels that use tensor cores: every type multiplies, matrices are loaded, turned and stored."""

from __future__ import annotations

import numpy as np
import pytest

from gpuviz.base.errors import UnsupportedError
from gpuviz.ptx.arithmetic.formats import FORMATS
from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.tensor.fragments import left, right, total
from gpuviz.ptx.text.parser import parse
from tests.ptx.launching import compiled, launch

# What follows mma.sync.aligned., and how many registers of a lane hold A, B and C.
FORMS = {
    "m8n8k4.row.col.f64.f64.f64.f64": (1, 1, 2),
    "m16n8k8.row.col.f16.f16.f16.f16": (2, 1, 2),
    "m16n8k8.row.col.f32.bf16.bf16.f32": (2, 1, 4),
    "m16n8k4.row.col.f32.tf32.tf32.f32": (2, 1, 4),
    "m8n8k16.row.col.satfinite.s32.s8.u8.s32": (1, 1, 2),
    "m16n8k64.row.col.s32.u4.s4.s32": (4, 2, 4),
    "m16n8k256.row.col.s32.b1.b1.s32.xor.popc": (4, 2, 4),
    "m8n8k128.row.col.s32.b1.b1.s32.and.popc": (1, 1, 2),
}
BITS = {name: form.bits for name, form in FORMATS.items()} | {
    "f64": 64,
    "s32": 32,
    "u8": 8,
    "s8": 8,
    "u4": 4,
    "s4": 4,
    "b1": 1,
}


def types(form: str) -> list[str]:
    """Of D, A, B and C."""
    return [mod for mod in form.split(".") if mod in BITS]


def kernel(form: str) -> str:
    """Registers of A, B and C as they lie in memory, those of D written back."""
    a, b, c = FORMS[form]
    letter = {"f64": "d", "f32": "f"}.get(types(form)[0], "r")
    part = "d" if letter == "d" else "r"
    names = {"d": "double", "f": "float", "r": "unsigned"}
    count = iter(range(99))
    braces = ["{" + ", ".join(f"%{next(count)}" for _ in range(n)) + "}" for n in (c, a, b, c)]
    outs = ", ".join(f'"={letter}"(d[{n}])' for n in range(c))
    ins = [f'"{part}"(a[{n}])' for n in range(a)] + [f'"{part}"(b[{n}])' for n in range(b)]
    ins += [f'"{letter}"(c[{n}])' for n in range(c)]
    return f"""
typedef {names[part]} Part;
typedef {names[letter]} Sum;
extern "C" __global__ void k(const Part* A, const Part* B, const Sum* C, Sum* D) {{
    Part a[{a}], b[{b}];
    Sum c[{c}], d[{c}];
    for (int i = 0; i < {a}; i++) a[i] = A[threadIdx.x * {a} + i];
    for (int i = 0; i < {b}; i++) b[i] = B[threadIdx.x * {b} + i];
    for (int i = 0; i < {c}; i++) c[i] = C[threadIdx.x * {c} + i];
    asm volatile("mma.sync.aligned.{form} {braces[0]}, {braces[1]}, {braces[2]}, {braces[3]};"
                 : {outs} : {", ".join(ins)});
    for (int i = 0; i < {c}; i++) D[threadIdx.x * {c} + i] = d[i];
}}
"""


def some(random: np.random.Generator, shape: tuple[int, int], kind: str) -> np.ndarray:
    """Small whole numbers, which every type has."""
    low, high = (0, 1) if kind == "b1" else (0, 7) if kind[0] == "u" else (-7, 7)
    return random.integers(low, high, shape, endpoint=True)


def bits(numbers: np.ndarray, kind: str) -> np.ndarray:
    """As they lie in a register."""
    if kind == "f64":
        return numbers.astype(np.float64).view(np.uint64)
    if kind in ("f32", "tf32", "bf16"):
        return numbers.astype(np.float32).view(np.uint32) >> (16 if kind == "bf16" else 0)
    if kind == "f16":
        return numbers.astype(np.float16).view(np.uint16).astype(np.uint32)
    return (numbers & ((1 << BITS[kind]) - 1)).astype(np.uint32)


@pytest.mark.parametrize("form", FORMS)
def test_every_type_multiplies(form: str) -> None:
    rows, inner = (int(x.strip("m")) for x in form.split(".")[0].split("n8k"))
    result, first, second, _ = types(form)
    random = np.random.default_rng(2)
    a, b = some(random, (rows, inner), first), some(random, (inner, 8), second)
    c = some(random, (rows, 8), "s32")
    made = total(rows, BITS[result])
    fragments = left(rows, inner, BITS[first]), right(inner, 8, BITS[second]), made
    kinds = first, second, result
    given = [
        fragment.hold(bits(matrix, kind)[None]).reshape(-1)
        for fragment, matrix, kind in zip(fragments, (a, b, c), kinds, strict=True)
    ]
    real = {"f64": np.float64, "f32": np.float32}.get(result, np.uint32)
    given = [x.view(real if n == 2 or first == "f64" else x.dtype) for n, x in enumerate(given)]
    found = launch(kernel(form), "k", 1, 32, *given, np.zeros_like(given[2]), arch="sm_80")
    wanted = (a[:, :, None] != b[None]).sum(axis=1) + c if ".xor" in form else a @ b + c
    raw = found.outputs["arg3"].view(np.uint64 if result == "f64" else np.uint32)
    assert (made.matrix(raw.reshape(1, 32, -1))[0] == bits(wanted, result)).all()


def test_a_shape_that_is_not_executed_is_named() -> None:
    text = compiled(kernel("m16n8k8.row.col.f16.f16.f16.f16"), "sm_80").text
    module = parse(text.replace("m16n8k8", "m8n8k8"))
    arrays = [np.zeros(128, np.uint32)] * 4
    with pytest.raises(UnsupportedError, match=r"shape of matrices .*m8n8k8"):
        emulate(module, "k", (1, 1, 1), (32, 1, 1), arrays)


@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
def test_a_product_of_whole_numbers_is_exact(arch: str) -> None:
    random = np.random.default_rng(1)
    a = random.integers(-8, 9, (48, 32)).astype(np.float16)
    b = random.integers(-8, 9, (32, 8)).astype(np.float16)
    given = a.ravel(), b.ravel(), np.zeros(384, np.float32), 32
    found = launch("tensor_product", "product", 3, 32, *given, arch=arch)
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    assert (found.outputs["arg2"].reshape(48, 8) == wanted).all()
    text = [i.text for i in found.trace.instructions]
    loads = [n for n, one in enumerate(text) if one.startswith("ldmatrix")]
    assert {found.trace.instructions[n].width for n in loads} == {16}
    requests = found.trace.requests
    lanes = {text[n].split(".")[4]: set(requests.active[requests.instruction == n]) for n in loads}
    assert lanes == {"x4": {0xFFFFFFFF}, "x2": {0xFFFF}}  # beyond the last matrix no row is named


def test_a_matrix_is_turned_and_turned_back() -> None:
    numbered = np.arange(64, dtype=np.uint16).view(np.uint32)
    given = numbered, np.zeros(64, np.uint32)
    found = launch("tensor_product", "turned", 1, 32, *given, arch="sm_90")
    out = found.outputs["arg1"]
    turned = np.arange(64, dtype=np.uint16).reshape(8, 8).T.reshape(-1)
    assert (out[:32].view(np.uint16) == turned).all() and (out[32:] == numbered).all()
