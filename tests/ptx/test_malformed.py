"""Instructions with operands as no compiler writes them: told of as unsupported."""

import numpy as np
import pytest

from gpuviz.base.errors import FormatError, KernelFault, UnsupportedError
from gpuviz.ptx.decode.decoder import unsupported
from gpuviz.ptx.emulator import Options, emulate
from gpuviz.ptx.text.parser import parse

HEAD = """.version 9.0
.target sm_90
.address_size 64
.func (.param .b32 out) callee (.param .b32 in) { ret; }
"""
REGISTERS = (
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>; .shared .b8 s[64];"
)


def kernel(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u32 n)\n{{\n{REGISTERS}\n{body}\n}}\n"


@pytest.mark.parametrize(
    "body",
    [
        "call.uni (0x0), callee, (%r1); ret;",
        "call.uni (%r1), callee, ([s]); ret;",
        "atom.shared.add.v2.f32 %r1, [s], {%f1, %f2}; ret;",
        "atom.shared.cas.b32 %r1, [s], %r2; ret;",
        "cp.async.ca.shared.global [s], [%rd1], 0; ret;",
        "cp.async.ca.shared.global [s], [%rd1], 3; ret;",
        "ld.param.u32 %r1, [n+99999999999999999999]; ret;",
        "st.param.b32 %r1, %r2; ret;",
        "shfl.sync.idx.b32 %r1, %r2, 1; ret;",
        "bar.warp.sync; ret;",
        "ld.global.u32 {}, [%rd1]; ret;",
        "st.shared.v4.u32 [s], {%r1, %r2, %r3}; ret;",
        "redux.sync.aadd.s32 %r1, %r2, -1; ret;",
        "mov.b32 {}, %r1; ret;",
        "mov.b32 %r1, {}; ret;",
        "@%p1 bar.sync 0;",
        "@%p1 ret;",
    ],
)
def test_what_cannot_be_is_unsupported(body: str) -> None:
    with pytest.raises((UnsupportedError, FormatError), match="not supported|64 bits"):
        emulate(parse(kernel(body)), "k", (1, 1, 1), (32, 1, 1), [np.uint32(1)])


def test_an_atomic_that_lacks_its_value_is_told_of() -> None:
    (problem,) = unsupported(parse(kernel("atom.shared.add.u32 %r1, [s]; ret;")))["k"]
    assert problem.opcode == "atom.shared.add.u32"


def test_loops_within_loops_have_an_end() -> None:
    labels = "".join(f"L{n}: bar.sync 0;\n" for n in range(400))
    back = "".join(f"@%p1 bra L{n};\n" for n in reversed(range(400)))
    with pytest.raises(FormatError, match="more than 100 loops within each other"):
        unsupported(parse(kernel(f"{labels}{back}ret;")))


def test_the_compiled_engine_leaves_it_to_who_can_tell() -> None:
    options = Options(engine="compiled")
    module = parse(kernel("shfl.sync.idx.b32 %r1, %r2, 1; ret;"))
    with pytest.raises(UnsupportedError, match="this form of the instruction is not supported"):
        emulate(module, "k", (1, 1, 1), (32, 1, 1), [np.uint32(1)], options=options)


def test_a_global_variable_of_a_function_has_its_place() -> None:
    body = ".global .b32 own = 7; mov.u64 %rd1, own; ld.global.u32 %r1, [%rd1]; ret;"
    assert unsupported(parse(kernel(body)))["k"] == ()
    emulate(parse(kernel(body)), "k", (1, 1, 1), (32, 1, 1), [np.uint32(1)])


def test_a_name_of_two_variables_is_refused() -> None:
    twice = HEAD + ".shared .b32 g; .global .b32 g = 7;\n.visible .entry k() { ret; }\n"
    (problem,) = unsupported(parse(twice))["k"]
    assert problem.why == "g is a variable of global and of shared memory"


def test_the_compiled_engine_leaves_the_address_of_a_parameter() -> None:
    options = Options(engine="compiled")
    module = parse(kernel("ld.global.u32 %r1, [n]; ret;"))
    with pytest.raises(KernelFault, match="illegal global access"):
        emulate(module, "k", (1, 1, 1), (32, 1, 1), [np.uint32(1)], options=options)


@pytest.mark.parametrize("how", ["ld.global.u32 %r1, [{}]", "atom.global.add.u32 %r1, [{}], %r2"])
def test_an_address_whose_end_wraps_round_is_outside_of_all_buffers(how: str) -> None:
    """In machine code, which would go on in the memory of this very process."""
    options = Options(engine="compiled")
    body = f".local .b8 l[64]; {how.format('l+-4')}; ret;"
    with pytest.raises(KernelFault, match="illegal global access"):
        emulate(parse(kernel(body)), "k", (1, 1, 1), (32, 1, 1), [np.uint32(1)], options=options)
