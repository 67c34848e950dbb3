"""Every arithmetic opcode the compiled engine takes, on random and special bits of both engines."""

from __future__ import annotations

import re

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


def compared(source: str, arrays: list[np.ndarray]) -> tuple[str, str]:
    """Why the compiled engine left an opcode, or where it differs; "" twice when all is well."""
    module = parse(source)
    given = [np.zeros(THREADS * 2, np.uint64), *arrays]
    one, two = (
        emulate(module, "k", (THREADS // 128, 1, 1), (128, 1, 1), given, options=Options(engine=e))  # type: ignore[arg-type]
        for e in ("numpy", "compiled")
    )
    a, b = one.outputs["arg0"], two.outputs["arg0"]
    if two.engine != "compiled" or (a == b).all():
        return "" if two.engine == "compiled" else two.engine_note, ""
    place = int(np.flatnonzero(a != b)[0])
    inputs = [hex(int(x[place // 2])) for x in arrays]
    return "", f"{inputs}: {int(a[place]):#x}, here {int(b[place]):#x}"


TRACED = (
    *("vadd4.s32.u32.s32.sat", "vavrg4.u32.u32.u32.add", "fns.b32", "cvt.pack.sat.u8.s32.b32"),
    *("prmt.b32", "prmt.b32.rc16", "shf.l.clamp.b32", "shf.r.wrap.b32", "bfe.s64", "bfi.b32"),
    *("div.s32", "rem.u16", "mul.hi.s64", "madc.hi.cc.u32", "lop3.b32 0x96", "szext.clamp.s32"),
    *(
        "cvt.rna.tf32.f32",
        "cvt.sat.u8.s64",
        "bfind.shiftamt.s64",
        "dp2a.hi.s32.u32",
        "testp.normal.f64",
    ),
)


@pytest.mark.parametrize("name", TRACED)
def test_definitions_of_integers_are_compiled(name: str) -> None:
    made = kernel(name)
    assert made is not None
    assert compared(*made) == ("", "")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("family", sorted({name.split(".")[0] for name in NAMES}))
def test_same_bits_as_numpy(family: str) -> None:
    wrong, left, taken = [], [], 0
    for name in NAMES:
        made = kernel(name) if name.split(".")[0] == family else None
        if made is None:
            continue
        why, differs = compared(*made)
        taken += not why
        left += [(name, why)] if why else []
        wrong += [f"{name} {differs}"] if differs else []
    print(taken, "taken, left:", *(f"\n  {n}: {why}" for n, why in left))
    assert not wrong, "\n".join(wrong)
    assert not [n for n, _ in left if not re.search(LEFT, n)]


_ = CONTAINERS
