"""Scalar video instructions, by both engines, beside what the PTX ISA says of them in NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpuviz.ptx.emulator import Options, emulate
from gpuviz.ptx.text.parser import parse
from tests.ptx.checks import interesting

THREADS = 512
PARTS = {"": (0, 32), "b0": (0, 8), "b1": (8, 8), "b2": (16, 8), "b3": (24, 8), "h0": (0, 16)}
PARTS["h1"] = (16, 16)
KINDS = [*itertools.product(("u32", "s32"), repeat=3)]
WAYS = [
    *((kinds, "", second, ("", "", "")) for kinds in KINDS for second in ("", "add", "min", "max")),
    *((kinds, ".sat", "max", ("", "b3", "h1")) for kinds in KINDS),
    *((kinds, "", "", (d, "h0", "b2")) for kinds in KINDS[::3] for d in PARTS),
    *((kinds, ".sat", "", (d, "", "h1")) for kinds in KINDS[::3] for d in PARTS),
]


def number(words: np.ndarray, kind: str, part: str = "") -> np.ndarray:
    """Parts of words as the kind reads them."""
    first, width = PARTS[part]
    bits = (words.astype(np.int64) >> first) & ((1 << width) - 1)
    return np.where((bits >> width - 1) & (kind == "s32"), bits - (1 << width), bits)


def expected(name: str, way, words: list[np.ndarray]) -> np.ndarray:
    (to, *kinds), sat, second, (d, *parts) = way
    a, b = (number(*one) for one in zip(words, kinds, parts, strict=False))
    every = {"vadd": a + b, "vsub": a - b, "vabsdiff": abs(a - b)}
    made = (every | {"vmin": np.minimum(a, b), "vmax": np.maximum(a, b)})[name]
    first, width = PARTS[d]
    if sat:
        low = -(1 << width - 1) if to == "s32" else 0
        made = np.clip(made, low, low + (1 << width) - 1)
    c = number(words[2], to)
    made = {"": made, "add": made + c, "min": np.minimum(made, c), "max": np.maximum(made, c)}[
        second
    ]
    mask = (1 << width) - 1
    kept = words[2].astype(np.int64) & ~(mask << first) if d else 0
    return (((made & mask) << first) | kept).astype(np.uint32)


def source(name: str, ways) -> str:
    """A kernel that does one instruction in many ways, a row of results each."""

    def line(number: int, way) -> str:
        kinds, sat, second, parts = way
        second = f".{second}" if second else ""
        d, a, b = (
            f"%r{n}.{part}" if part else f"%r{n}" for n, part in zip((9, 1, 2), parts, strict=True)
        )
        third = ", %r3" if second or parts[0] else ""
        return (
            f"{name}.{'.'.join(kinds)}{sat}{second} {d}, {a}, {b}{third};"
            f" st.global.u32 [%d0+{number * 4 * THREADS}], %r9;"
        )

    lines = "\n".join(itertools.starmap(line, enumerate(ways)))
    loads = "\n".join(f"ld.global.u32 %r{n}, [%d1+{(n - 1) * 4 * THREADS}];" for n in (1, 2, 3))
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{{
.reg .b32 %r<12>; .reg .b64 %d<8>;
ld.param.u64 %d0, [k_0]; ld.param.u64 %d1, [k_1]; mov.u32 %r8, %tid.x;
mad.wide.u32 %d0, %r8, 4, %d0; mad.wide.u32 %d1, %r8, 4, %d1;
{loads}
{lines}
ret;
}}"""


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize("name", ["vadd", "vsub", "vabsdiff", "vmin", "vmax"])
def test_each_way_is_as_the_isa_says(name: str, engine) -> None:
    words = [interesting("u32", THREADS, seed) for seed in (1, 2, 3)]
    given = [np.zeros(len(WAYS) * THREADS, np.uint32), np.concatenate(words)]
    module, options = parse(source(name, WAYS)), Options(engine=engine)
    run = emulate(module, "k", (1, 1, 1), (THREADS, 1, 1), given, options=options)
    assert run.engine == engine
    for way, row in zip(WAYS, run.outputs["arg0"].reshape(-1, THREADS), strict=True):
        np.testing.assert_array_equal(row, expected(name, way, words), str(way))
