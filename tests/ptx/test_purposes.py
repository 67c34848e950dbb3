"""What instructions are for: sums, addresses of what they sum, and the loop around them."""

from gpuviz.course.together.thread_coarsening.inner_loops import inner_loop, purposes
from gpuviz.ptx.text.isa import registers_written
from gpuviz.ptx.text.parser import parse

SUM = """.version 8.0
.target sm_90
.address_size 64
.visible .entry sum(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %p<3>;
	.reg .f32 %f<4>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r1, [n];
	mov.f32 %f1, 0f00000000;
	mov.u32 %r2, 0;
	mov.u32 %r3, 0;
OUTER:
	add.s32 %r3, %r3, 1;
INNER:
	ld.global.f32 %f2, [%rd1];
	add.f32 %f1, %f1, %f2;
	mul.wide.s32 %rd3, %r2, 4;
	add.s64 %rd1, %rd1, %rd3;
	add.s32 %r2, %r2, 1;
	xor.b32 %r4, %r1, 1;
	setp.lt.s32 %p1, %r2, %r1;
	@%p1 bra INNER;
	setp.lt.s32 %p2, %r3, 7;
	@%p2 bra OUTER;
	st.global.f32 [%rd2], %f1;
	ret;
}
"""


def test_each_instruction_of_the_innermost_loop_has_its_purpose() -> None:
    (kernel,) = parse(SUM).functions
    known = purposes(kernel)
    assert [(at.opcode.name, known[at.pc]) for at in inner_loop(kernel)] == [
        ("ld", "memory"),
        ("add", "arithmetic"),
        ("mul", "address"),
        ("add", "address"),
        ("add", "address"),  # counts, and what it counts is part of an address, too
        ("xor", "other"),
        ("setp", "loop"),
        ("bra", "loop"),
    ]


def test_without_a_loop_there_is_none() -> None:
    straight = SUM.replace("@%p1 bra INNER;", "").replace("@%p2 bra OUTER;", "")
    assert inner_loop(parse(straight).functions[0]) == ()


def test_an_address_in_the_first_place_is_read() -> None:
    text = SUM.replace("mov.u32 %r2, 0;", "mbarrier.init.shared.b64 [%r2], 1;")
    body = parse(text).functions[0].body
    (init,) = [i for i in body if i.opcode.name == "mbarrier"]
    assert registers_written(init) == []
    assert all(registers_written(i) == [i.operands[0]] for i in body if i.opcode.name == "mov")
