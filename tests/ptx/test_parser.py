"""Reading PTX text."""

import struct

import numpy as np
import pytest

from gpuviz.base.errors import FormatError
from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.simt.program import relocated
from gpuviz.ptx.text.ir import Addr, Imm, Not, Pair, Reg, Relocation, Sym, Vec
from gpuviz.ptx.text.parser import parse
from gpuviz.ptx.text.stream import tokens
from tests.ptx.launching import compiled

HEAD = ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n"


def body(text, declarations=""):
    module = parse(f"{HEAD}{declarations}\n.visible .entry k(.param .u64 o) {{\n{text}\n}}")
    return module.by_name["k"]


def variable(text):
    (found,) = parse(HEAD + text).variables
    return found


def test_tokens_have_lines():
    found = tokens("a /* b\n c */ 0x1F // d\n%e.f:")
    assert [(t.text, t.line) for t in found] == [("a", 1), ("0x1F", 2), ("%e.f", 3), (":", 3)]


@pytest.mark.parametrize(
    "text, value",
    [
        ("5", Imm(5)),
        ("-5", Imm(-5)),
        ("0x10", Imm(16)),
        ("0X1fU", Imm(31)),
        ("017", Imm(15)),
        ("0b101", Imm(5)),
        ("0f3F800000", Imm(0x3F800000, "f32")),
        ("0d3FF0000000000000", Imm(0x3FF0000000000000, "f64")),
        ("1.5", Imm(struct.unpack("<Q", struct.pack("<d", 1.5))[0], "f64")),
    ],
)
def test_literals(text, value):
    assert body(f".reg .b32 %r; mov.u32 %r, {text};").body[0].operands[1] == value


def test_operands():
    found = body(""".reg .b32 %r<4>; .reg .pred p, q; .reg .b64 %d;
        ld.global.v2.u32 {%r0, _}, [%d+-8]; setp.lt.and.s32 p|q, %r1, %r2, !p;
        @!q bra L; st.shared.u32 [s+4], %r1; st.u32 [16], 7; L: ret;""").body
    load, compare, branch, store, absolute, _ = found
    pair, address = load.operands
    assert isinstance(pair, Vec) and pair.items[1] == Sym("_")
    assert isinstance(address, Addr) and isinstance(address.base, Reg) and address.offset == -8
    assert isinstance(compare.operands[0], Pair) and isinstance(compare.operands[3], Not)
    assert isinstance(branch.guard, Not) and branch.operands == (Sym("L"),)
    assert store.operands[0] == Addr(Sym("s"), 4) and absolute.operands[0] == Addr(None, 16)


def test_scopes_shadow_registers_and_need_no_space_after_reg():
    found = body(
        ".reg.b32 %r<3>; mov.u32 %r1, 1; { .reg.b32 %r<2>, t; mov.u32 %r1, 2; mov.u32 t, 3; }"
        " mov.u32 %r1, 4; ret;"
    ).body
    first, inner, _, last, _ = (i.operands[0] if i.operands else None for i in found)
    assert first == last and inner != first


def test_locations_follow_inlining_to_the_file_itself():
    found = body(
        """
        .loc 1 7 3
        membar.gl;
        .loc 2 99 1
        membar.gl;
        .loc 2 98 1, function_name $L__info+12, inlined_at 1 9 5
        membar.gl;
        ret;""",
        '.file 1 "kernel.cu"\n.file 2 "math.h"',
    )
    assert [i.line for i in found.body] == [7, 7, 9, 9]


def test_variables():
    v = variable(".visible .global .align 8 .b8 a[6] = {1, 2, 0xFF};")
    assert (v.space, v.align, v.size, v.initial) == ("global", 8, 6, b"\x01\x02\xff")
    v = variable(".const .f32 c[2][3] = {{0f3F800000, 2.0}, {-1.5}};")
    assert v.size == 24 and v.initial == struct.pack("<fff", 1, 2, -1.5)
    v = variable(".extern .shared .align 16 .b8 s[];")
    assert v.extern and v.size == 0 and v.align == 16
    v = variable(".global .u64 p[2] = {generic(a)+4, b};")
    assert v.relocations == (Relocation(0, 8, "a", 4, True), Relocation(8, 8, "b", 0, False))
    assert (
        variable(".global .v4 .f32 q;").size == 16
        and variable(".global .u64 t[] = {1, 2};").size == 16
    )


def test_addresses_in_initial_bytes():
    v = variable(
        ".global .align 8 .u8 r[16] = {7, 0, 0, 0, 0, 0, 0, 0, 0xFF(t), 0xFF00(t), 0xFF0000(t), "
        "0xFF000000(t), 0xFF00000000(t), 0xFF0000000000(t), 0xFF000000000000(t), "
        "0xFF00000000000000(t)};"
    )
    assert v.size == 16 and v.initial == b"\x07" + bytes(15)
    filled = relocated(v, {"t": 0x123456789A}, {"t": "global"})
    assert filled[8:] == (0x123456789A).to_bytes(8, "little")


def test_declarations_and_tuning():
    module = parse(
        HEAD
        + """
        .extern .func (.param .b32 r) outside(.param .b64 a, .param .align 8 .b8 b[24]);
        .visible .entry k() .maxntid 16, 4, 1 .minnctapersm 2 { ret; }"""
    )
    assert module.kernels == ("k",) and module.by_name["k"].max_threads == 64
    outside = module.by_name["outside"]
    assert [p.size for p in outside.params] == [8, 24] and not outside.defined
    assert module.target == "sm_80"


def test_branch_tables_and_sections_are_read():
    found = body(
        """.reg .b32 %r<2>; mov.u32 %r1, 1;
        T: .branchtargets A, B; P: .callprototype (.param .b32 _) _ (.param .b32 _);
        brx.idx %r1, T; A: ret; B: exit;""",
        ".section .debug_str { info: .b8 1, 2; }",
    )
    assert found.tables == {"T": ("A", "B")} and found.labels == {"A": 2, "B": 3}


@pytest.mark.parametrize(
    "text, words",
    [
        ("int main() {}", "PTX line 1"),
        ("", "no .version"),
        (HEAD + ".visible .entry k() { add.u32 %r1 %r2; }", "line 4: expected ',' or ';'"),
        (HEAD + ".visible .entry k() { ret;", "ends in the middle"),
        (HEAD + ".global .u32 a = 08;", "expected an integer"),
        (HEAD + ".visible .entry k() { @5 ret; }", "guard"),
        (HEAD + "\x01", "unexpected character"),
        (HEAD + ".visible .entry k() { bra NOWHERE; ret; }", "line 4: there is no label NOWHERE"),
        (HEAD + ".global .f32 a = -x;", "line 4: not understood"),
    ],
)
def test_what_is_not_ptx_is_refused_with_its_line(text, words):
    with pytest.raises(FormatError, match=words):
        parse(text)


def test_managed_variables_are_variables():
    found = variable(".visible .global .attribute(.managed) .align 4 .b8 m[128];")
    assert (found.name, found.size, found.align) == ("m", 128, 4)


@pytest.mark.parametrize("arch", ["sm_75", "sm_100"])
def test_reads_what_the_compiler_writes(arch):
    module = compiled("language", arch)
    assert "recursion" in module.kernels and len(module.kernels) > 20
    total = sum(len(f.body) for f in module.functions)
    pcs = [i.pc for f in module.functions for i in f.body]
    assert pcs == list(range(total))


def test_a_function_may_end_without_ret():
    module = parse(
        HEAD
        + """.visible .entry k(.param .u64 o) { .reg .b64 %a; .reg .b32 %t;
        ld.param.u64 %a, [o]; mov.u32 %t, 9; st.global.u32 [%a], %t; }"""
    )
    out = emulate(module, "k", (1, 1, 1), (1, 1, 1), [np.zeros(1, np.int32)]).outputs["arg0"]
    assert out == 9


def test_labels_of_braces_are_their_own() -> None:
    """As inline PTX of a function that was inlined twice."""
    wait = "{ again: add.u32 %r1, %r1, 1; @%p1 bra done; bra again; done: }"
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k() {{ .reg .b32 %r<2>; .reg .pred %p<2>; {wait} {wait} ret; }}
"""
    function = parse(text).by_name["k"]
    targets = [
        function.labels[at.operands[0].name] for at in function.body if at.opcode.name == "bra"
    ]
    assert targets == [3, 0, 6, 3]
