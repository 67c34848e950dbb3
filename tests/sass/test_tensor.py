"""Machine instructions of tensor cores: as an H200 counted them, and as ptxas makes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuviz.arch import architecture
from gpuviz.compile import ptx_program
from gpuviz.launch.job import Job
from gpuviz.memory.counts import Count
from gpuviz.ptx.text.ir import Instruction, Opcode
from gpuviz.ptx.text.parser import parse
from gpuviz.run.emulated import run
from gpuviz.sass.listing import Listing, SassInstruction
from gpuviz.sass.match import make_plan
from gpuviz.sass.tensor import TensorInstructions, per_warp

DATA = Path(__file__).parents[1] / "data"
H200: dict[str, int] = json.loads((DATA / "tensor_instructions_h200.json").read_text())["forms"]
MMA = "mma.sync.aligned."
# Of ptxas 13.0: how many machine instructions a form is for sm_75, 80, 86, 89, 90, 100 and 120;
# None where it does not assemble.
ASSEMBLED: dict[str, tuple[int | None, ...]] = {
    MMA + "m16n8k8.row.col.f32.f16.f16.f32": (1, 1, 1, 1, 1, 1, 1),
    MMA + "m16n8k16.row.col.f32.bf16.bf16.f32": (None, 1, 1, 1, 1, 1, 1),
    MMA + "m16n8k8.row.col.f32.tf32.tf32.f32": (None, 1, 1, 1, 1, 1, 1),
    MMA + "m16n8k16.row.col.f64.f64.f64.f64": (None, None, None, None, 1, 8, 8),
    MMA + "m8n8k4.row.col.f64.f64.f64.f64": (None, 1, 1, 1, 1, 1, 1),
    MMA + "m8n8k4.row.col.f32.f16.f16.f32": (4, None, None, None, None, None, None),
    MMA + "m8n8k4.row.col.f16.f16.f16.f16": (2, None, None, None, None, None, None),
    MMA + "m16n8k32.row.col.s32.s8.u8.s32": (None, 1, 1, 1, 1, 1, 1),
    MMA + "m8n8k32.row.col.s32.s4.s4.s32": (1, 1, 1, 1, 2, 2, 2),
    MMA + "m16n8k64.row.col.s32.u4.u4.s32": (None, 1, 1, 1, 2, 2, 2),
    MMA + "m8n8k128.row.col.s32.b1.b1.s32.xor.popc": (1, 1, 1, 1, 2, 4, 4),
    MMA + "m16n8k256.row.col.s32.b1.b1.s32.and.popc": (None, 1, 1, 1, 1, 8, 8),
    MMA + "m16n8k32.row.col.f32.e4m3.e5m2.f32": (None, None, None, 1, 2, 2, 1),
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32": (
        *(None, None, None, 1, 2, 2, 1),
    ),
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32": (4, 2, 2, 2, 2, 2, 2),
    "wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32": (4, 2, 2, 2, 2, 2, 2),
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32": (None, 4, 4, 4, 4, 4, 4),
}


def _instruction(text: str, line: int = 1, pc: int = 0) -> Instruction:
    return Instruction(pc, Opcode.parse(text), (), None, 0, line)


def test_forms_are_as_many_instructions_as_an_h200_counted() -> None:
    found = {text: per_warp(_instruction(text), 90) for text in H200}
    assert found == H200


@pytest.mark.parametrize("text", ASSEMBLED)
def test_forms_are_as_many_instructions_as_the_assembler_makes(text: str) -> None:
    for sm, wanted in zip((75, 80, 86, 89, 90, 100, 120), ASSEMBLED[text], strict=True):
        if wanted is not None:
            assert per_warp(_instruction(text), sm) == wanted, sm


KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {
.reg .b32 %r<4>; .reg .f32 %f<4>; .reg .pred %p; .reg .b64 %d;
mov.b32 %r1, 0; mov.b32 %r0, 0; mov.b32 %r2, %tid.x;
LOOP:
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r2,%r2}, {%r2},
{%f0,%f1,%f2,%f3};
add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 5;
@%p bra LOOP;
ret; }
"""


def test_a_launch_counts_them_for_each_warp_that_comes_by() -> None:
    job = Job(ptx_program(KERNEL), "k", (3, 1, 1), (64, 1, 1), ())
    found = run(job, architecture("sm_80"))
    assert found.counts.totals[Count.TENSOR_MATRIX_INSTRUCTIONS] == 3 * 2 * 5


def _listing(*opcodes: str) -> Listing:
    made = (SassInstruction(16 * n, o, "", o, "", 1, 8) for n, o in enumerate(opcodes))
    return Listing("k", tuple(made), {})


def test_machine_code_says_how_many_they_are() -> None:
    module = parse(KERNEL)

    def each(*opcodes: str) -> list[int]:
        return list(TensorInstructions(module, 80, _listing(*opcodes))._each.values())

    assert each("HMMA.1688.F32", "FADD") == [1]
    assert each("FADD") == []  # what nobody uses is left out
    assert each(*["HMMA.1688.F32"] * 5) == [1]  # a loop unrolled five times


def test_what_is_not_known_is_said() -> None:
    module = parse(KERNEL.replace("m16n8k8", "m8n8k4"))
    assert "PTX lines 8 " in TensorInstructions(module, 80).note


WARPGROUP = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k() {
.reg .b32 %r<4>; .reg .f32 %f<4>; .reg .pred %p; .reg .b64 %d<2>;
LOOP:
fence.proxy.async.shared::cta;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1, 0, 0;
@%p bra LOOP;
ret; }
"""


def test_products_of_warpgroups_are_one_for_each_warp_wherever_their_lines_are() -> None:
    listing = _listing("HGMMA.64x8x16.F32", "HGMMA.64x8x16.F32")  # of line 8, which has another
    found = TensorInstructions(parse(WARPGROUP.replace("LOOP:\n", "LOOP:\n\n")), 90, listing)
    assert list(found._each.values()) == [1]


def test_idle_loads_that_come_with_a_fence_are_issued_with_it() -> None:
    module, idle = parse(WARPGROUP), "@!PT LDS RZ, [RZ]"
    made = [
        SassInstruction(16 * n, idle, "!PT", "LDS", "RZ, [RZ]", 0, 7, control=1) for n in range(4)
    ]
    plan = make_plan(module, Listing("k", tuple(made), {}))
    fence = next(i for i in module.functions[0].body if i.opcode.name == "fence")
    assert [(pc, emit.owner) for pc, emit in plan.idle] == [(fence.pc, fence.pc)] * 4
