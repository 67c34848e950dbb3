"""mma.sp: a matrix half of whose elements are zero and not held."""

from __future__ import annotations

import numpy as np
import pytest

from gpuviz.base.errors import UnsupportedError
from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.tensor.fragments import left, right, total
from gpuviz.ptx.tensor.mma import metadata_of
from gpuviz.ptx.text.parser import parse
from tests.ptx.launching import compiled, launch
from tests.ptx.test_tensor_kernels import BITS, bits, some, types

# What follows mma.sp::ordered_metadata.sync.aligned., how many registers of a lane hold A, B and C,
# and how many lanes of every four tell where the elements are.
FORMS = {
    "m16n8k16.row.col.f32.f16.f16.f32": (2, 2, 4, 1),
    "m16n8k32.row.col.f16.f16.f16.f16": (4, 4, 2, 2),
    "m16n8k32.row.col.f32.bf16.bf16.f32": (4, 4, 4, 2),
    "m16n8k8.row.col.f32.tf32.tf32.f32": (2, 2, 4, 1),
    "m16n8k16.row.col.f32.tf32.tf32.f32": (4, 4, 4, 2),
    "m16n8k32.row.col.s32.s8.u8.s32": (2, 2, 4, 2),
    "m16n8k64.row.col.satfinite.s32.u8.s8.s32": (4, 4, 4, 4),
    "m16n8k64.row.col.s32.u4.s4.s32": (2, 2, 4, 2),
    "m16n8k128.row.col.s32.s4.s4.s32": (4, 4, 4, 4),
}


def kernel(form: str, selector: int) -> str:
    """Registers of A, B, C and the metadata as they lie in memory, those of D written back."""
    a, b, c, _ = FORMS[form]
    letter, kind = ("f", "float") if types(form)[0] == "f32" else ("r", "unsigned")
    count = iter(range(99))
    braces = ["{" + ", ".join(f"%{next(count)}" for _ in range(n)) + "}" for n in (c, a, b, c)]
    outs = ", ".join(f'"={letter}"(d[{n}])' for n in range(c))
    ins = [f'"r"(A[threadIdx.x * {a} + {n}])' for n in range(a)]
    ins += [f'"r"(B[threadIdx.x * {b} + {n}])' for n in range(b)]
    ins += [f'"{letter}"(C[threadIdx.x * {c} + {n}])' for n in range(c)]
    told = f"%{next(count)}"
    return f"""
extern "C" __global__ void k(const unsigned* A, const unsigned* B, const {kind}* C, {kind}* D,
                             const unsigned* told) {{
    {kind} d[{c}];
    asm volatile("mma.sp::ordered_metadata.sync.aligned.{form} {", ".join(braces)}, {told}, "
                 "{selector};" : {outs} : {", ".join(ins)}, "r"(told[threadIdx.x]));
    for (int i = 0; i < {c}; i++) D[threadIdx.x * {c} + i] = d[i];
}}
"""


def nibbles(random: np.random.Generator, bits: int, count: int) -> np.ndarray:
    """Valid metadata: of chunks in which two of four are there, or one of two."""
    pairs = [0b0100, 0b1110] if bits == 32 else [4, 8, 12, 9, 13, 14]
    return random.choice(np.array(pairs), count)


def places(nibble: int, bits: int) -> list[int]:
    """As the PTX ISA's figures have it."""
    low, high = nibble & 3, nibble >> 2
    if bits == 32:
        return [low // 2]
    return [2 * low, 2 * low + 1, 2 * high, 2 * high + 1] if bits == 4 else [low, high]


def of_row(form: str, selector: int, row: int, words: np.ndarray) -> list[int]:
    """The nibbles of a row, chunk by chunk, out of the lanes' words."""
    lanes, g = FORMS[form][3], row % 8
    wide = BITS[types(form)[1]] >= 16
    first = 4 * g + lanes * selector
    if wide:  # halves of a word are two rows
        parts = [int(words[first + n]) >> 16 * (row // 8) & 0xFFFF for n in range(lanes)]
        return [part >> 4 * n & 15 for part in parts for n in range(4)]
    own = [int(words[first + row // 8 + n]) for n in range(0, lanes, 2)]
    return [word >> 4 * n & 15 for word in own for n in range(8)]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_there_is_multiplied(form: str) -> None:
    """With every selector; the words of lanes that it leaves out are other chunks'."""
    inner = int(form.split(".")[0].split("n8k")[1])
    result, first, second, _ = types(form)
    width, lanes = BITS[first], FORMS[form][3]
    random = np.random.default_rng(5)
    words = (nibbles(random, width, 256).reshape(32, 8) << 4 * np.arange(8)).sum(1)
    words = words.astype(np.uint32)
    held, b = some(random, (16, inner // 2), first), some(random, (inner, 8), second)
    c, made = some(random, (16, 8), "s32"), total(16, BITS[result])
    fragments = left(16, inner // 2, width), right(inner, 8, BITS[second]), made
    given = [
        fragment.hold(bits(matrix, kind)[None]).reshape(-1)
        for fragment, matrix, kind in zip(
            fragments, (held, b, c), (first, second, result), strict=True
        )
    ]
    given[2] = given[2].view(np.float32 if result == "f32" else np.uint32)
    for selector in {0, 4 // lanes - 1}:
        a = np.zeros((16, inner), np.int64)
        for row in range(16):
            chunks = of_row(form, selector, row, words)
            size = inner // len(chunks)
            columns = [size * n + at for n, one in enumerate(chunks) for at in places(one, width)]
            a[row, columns] = held[row]
        arrays = *given, np.zeros_like(given[2]), words
        found = launch(kernel(form, selector), "k", 1, 32, *arrays, arch="sm_80")
        raw = found.outputs["arg3"].view(np.uint32).reshape(1, 32, -1)
        assert (made.matrix(raw)[0] == bits(a @ b + c, result)).all()


def test_a_selector_or_a_shape_that_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="selector 2"):
        metadata_of(32, 16, 2)
    text = compiled(kernel("m16n8k32.row.col.f16.f16.f16.f16", 0), "sm_80").text
    arrays = [np.zeros(256, np.uint32)] * 5
    module = parse(text.replace("m16n8k32", "m16n8k64"))
    with pytest.raises(UnsupportedError, match=r"shape of matrices .*mma\.sp"):
        emulate(module, "k", (1, 1, 1), (32, 1, 1), arrays)
