"""The system's part of a block's shared memory, where cooperative groups keep what warps tell."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gpuviz.ptx.emulator import Result, emulate
from gpuviz.ptx.options import Options
from gpuviz.ptx.text.parser import parse

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.visible .entry k(.param .u64 D) {
.reg .b32 %r<12>; .reg .b64 %d<4>; .shared .align 4 .b32 own[3];
ld.param.u64 %d0, [D]; mov.u32 %r0, %tid.x;
mov.u32 %r1, own; mov.u32 %r2, dyn; mov.u32 %r3, %reserved_smem_offset_1;
mov.u32 %r4, %reserved_smem_offset_begin; mov.u32 %r5, %reserved_smem_offset_end;
shl.b32 %r6, %r0, 2; add.u32 %r7, %r3, %r6;
st.shared.u32 [%r7], %r0; bar.sync 0; xor.b32 %r8, %r7, 124; ld.shared.u32 %r9, [%r8];
mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r9;
st.global.u32 [%d0+256], %r3; st.global.u32 [%d0+512], %r4; st.global.u32 [%d0+768], %r5;
ret; }
"""


def run(text: str, engine: str, dynamic: int = 100) -> Result:
    made = np.zeros(256, np.uint32)
    options = Options(engine=engine, checks=("init",))  # type: ignore[arg-type]
    shape = (1, 1, 1), (64, 1, 1)
    return emulate(parse(text), "k", *shape, [made], dynamic_shared=dynamic, options=options)


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_it_lies_behind_the_blocks_own_and_can_be_used(engine: str) -> None:
    found = run(KERNEL, engine).outputs["arg0"].reshape(4, 64)
    assert found[0].tolist() == [n ^ 31 for n in range(64)]
    scratch, begin, end = found[1:, 0].tolist()
    assert 16 + 100 <= begin <= scratch and scratch + 288 == end


def test_sizes_are_as_an_h200_told_them() -> None:
    """With 16 bytes of a variable: [total, aggregate] by dynamic bytes."""
    text = KERNEL.replace("offset_begin", "offset_0").replace("own[3]", "own[4]")
    text = re.sub(r"mov.u32 %r4, [^;]*", "mov.u32 %r4, %total_smem_size", text)
    text = re.sub(r"mov.u32 %r5, [^;]*", "mov.u32 %r5, %aggr_smem_size", text)
    wanted = {0: [128, 1040], 16: [128, 1056], 4096: [4224, 5136], 100000: [100096, 101040]}
    for dynamic, sizes in wanted.items():
        found = run(text, "numpy", dynamic).outputs["arg0"].reshape(4, 64)
        assert found[2:, 0].tolist() == sizes


def test_nobody_has_it_who_does_not_ask() -> None:
    text = re.sub(r"%reserved_smem_offset_\w+", "200", KERNEL)
    with pytest.raises(Exception, match="illegal shared"):
        run(text, "numpy")


def test_what_the_system_wrote_there_is_no_read_of_nothing() -> None:
    found = run(KERNEL.replace("st.shared.u32 [%r7], %r0; ", ""), "numpy")
    assert found.checked and not found.trace.findings
