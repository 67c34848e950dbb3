"""Every arithmetic opcode the compiled engine takes, on random and special bits of both engines."""

from __future__ import annotations

import numpy as np
import pytest

from gpuviz.ptx.arithmetic.kinds import CONTAINERS, bits_of
from gpuviz.ptx.arithmetic.ops import operation
from gpuviz.ptx.emulator import Options, emulate
from gpuviz.ptx.text.ir import Opcode
from gpuviz.ptx.text.parser import parse
from tests.ptx.checks import interesting
from tests.ptx.test_ops_on_hardware import NAMES

THREADS = 4096
LETTER = {1: "p", 8: "c", 16: "h", 32: "r", 64: "d"}
# Rounding to other than nearest, and what else the code is not made for.
LEFT = (
    r"rz|rm|rp|xorsign|tf32|"
    r"fma.*bf16|add.*f32.f16|add.f32.bf16|approx.*f64|cvt.*64|redux"
)


def kernel(name: str) -> tuple[str, list[np.ndarray]] | None:
    """A kernel that applies one opcode to all threads, and its operands."""
    text, *extra = name.split(" ")
    two = extra == ["p|q"]
    found = operation(Opcode.parse(text), 2 if two else 1)
    if found is None or "pred" in found.sources[:-1]:
        return None
    cc = ".cc" in text
    loads, operands, arrays = [], [], []
    for place, kind in enumerate(found.sources):
        if text.startswith("lop3") and place == 3:
            operands.append(extra[0])
            continue
        if kind == "pred":
            operands.append("%p0")
            continue
        bits = bits_of(kind)
        register = f"%{LETTER[bits]}{place}"
        arrays.append(interesting(kind, THREADS, 7 + place))
        number = len(arrays)
        loads.append(
            f"ld.param.u64 %d9, [k_{number}]; mad.wide.u32 %d8, %r9, {bits // 8}, %d9;"
            f" ld.global.b{bits} {register}, [%d8];"
        )
        operands.append(register)
    results = [f"%{LETTER[bits_of(kind)]}{5 + i}" for i, kind in enumerate(found.results)]
    target = "|".join(results[: 1 if cc else 2])
    if text.startswith(("addc", "subc", "madc")):
        operands.pop()
    stores = []
    for register, kind in zip(results[: 1 if cc else 2], found.results, strict=False):
        if kind == "pred":
            stores.append(f"selp.u32 %r8, 1, 0, {register};")
            register, kind = "%r8", "u32"
        bits = bits_of(kind)
        stores.append(f"st.global.b{bits} [%d7], {register}; add.u64 %d7, %d7, 8;")
    parameters = ", ".join(f".param .u64 k_{n}" for n in range(len(arrays) + 1))
    source = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k({parameters})
{{
.reg .pred %p<10>; .reg .b8 %c<10>; .reg .b16 %h<10>; .reg .b32 %r<12>; .reg .b64 %d<10>;
mov.u32 %r9, %ctaid.x; mov.u32 %r10, %ntid.x; mov.u32 %r11, %tid.x;
mad.lo.u32 %r9, %r9, %r10, %r11;
setp.lt.u32 %p0, %r11, 40;
{" ".join(loads)}
ld.param.u64 %d9, [k_0]; mad.wide.u32 %d7, %r9, 16, %d9;
{text} {target}, {", ".join(operands)};
{" ".join(stores)}
ret;
}}"""
    return source, arrays


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("family", sorted({name.split(".")[0] for name in NAMES}))
def test_same_bits_as_numpy(family: str) -> None:
    import re

    wrong, left, taken = [], [], 0
    for name in NAMES:
        made = kernel(name) if name.split(".")[0] == family else None
        if made is None:
            continue
        source, arrays = made
        module = parse(source)
        given = [np.zeros(THREADS * 2, np.uint64), *arrays]
        found = [
            emulate(
                module, "k", (THREADS // 128, 1, 1), (128, 1, 1), given, options=Options(engine=e)
            )
            for e in ("numpy", "compiled")
        ]
        if found[1].engine != "compiled":
            left.append((name, found[1].engine_note))
            continue
        taken += 1
        a, b = (one.outputs["arg0"] for one in found)
        if (a != b).any():
            place = int(np.flatnonzero(a != b)[0])
            inputs = [hex(int(x[place // 2])) for x in arrays]
            wrong.append(f"{name} {inputs}: {int(a[place]):#x}, here {int(b[place]):#x}")
    print(taken, "taken, left:", *(f"\n  {n}: {why}" for n, why in left))
    assert not wrong, "\n".join(wrong)
    assert not [n for n, _ in left if not re.search(LEFT, n)]


_ = CONTAINERS
