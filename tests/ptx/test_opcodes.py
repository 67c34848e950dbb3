"""Every instruction variant that public CUDA files compile to is decoded, and executed once.

tests/data/ptx_opcodes.csv lists the variants; what is left out on purpose is listed here.
"""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import KernelFault, UnsupportedError
from gpuviz.ptx.arithmetic.kinds import CONTAINERS
from gpuviz.ptx.decode.decoder import unsupported
from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.text.parser import parse

DATA = Path(__file__).parent.parent / "data" / "ptx_opcodes.csv"
LEFT_OUT = {"cube maps": r"tex\.cube\."}
ELSEWHERE = {  # what takes more around it than one instruction
    "test_images": r"(tex|suld|sust)\.(?!cube)",
    "test_asynchronous": r"mbarrier\.|cp\.async\.(mbarrier|bulk)",
}
SOURCES = {
    "mov": 1,
    "cvt": 1,
    "abs": 1,
    "neg": 1,
    "not": 1,
    "rcp": 1,
    "sqrt": 1,
    "rsqrt": 1,
    "sin": 1,
    "cos": 1,
    "ex2": 1,
    "lg2": 1,
    "brev": 1,
    "popc": 1,
    "clz": 1,
    "bfind": 1,
    "fma": 3,
    "mad": 3,
    "cvta": 1,
    "vabsdiff4": 3,
}
REGISTER = {"pred": "%p1", 8: "%h1", 16: "%h1", 32: "%r1", 64: "%d1"}
SPECIAL = {
    "selp": "{r}, {r}, {r}, %p1",
    "bfi": "{r}, {r}, {r}, %r1, %r2",
    "shf": "%r1, %r1, %r2, %r2",
    "prmt": "%r1, %r1, %r2, 0x5410",
    "bmsk": "%r1, %r1, %r2",
    "activemask": "%r1",
    "shfl": "%r1|%p1, %r1, 1, 31, -1",
    "match": "%r1, {r}, -1",
    "redux": "%r1, {r}, -1",
    "bra": "LAST",
    "ret": "",
    "exit": "",
    "trap": "",
    "nanosleep": "%r1",
    "membar": "",
    "fence": "",
    "griddepcontrol": "",
}


def variants():
    rows = [row["instruction"] for row in csv.DictReader(DATA.read_text().splitlines())]
    left, others = (re.compile("|".join(t.values())) for t in (LEFT_OUT, ELSEWHERE))
    here = [r for r in rows if not others.match(r)]
    assert len(rows) - len(here) == 24
    return [r for r in here if not left.match(r)], [r for r in here if left.match(r)]


def register(kind):
    return REGISTER["pred" if kind == "pred" else CONTAINERS[kind].itemsize * 8]


def vector(mods, kind):
    count = next((int(m[1]) for m in mods if re.fullmatch("v[248]", m)), 1)
    found = ", ".join([register(kind)] * count)
    return "{" + found + "}" if count > 1 else found


def address(mods):
    space = next((m for m in mods if m in ("shared", "local", "const", "param")), "")
    return {"shared": "[sh]", "local": "[lo]", "const": "[co]", "param": "[po]"}.get(space, "[%d9]")


def operands(name, mods):
    kind = mods[-1] if mods else ""
    if name in ("bar", "barrier"):
        return {
            "bar.warp.sync": "-1",
            "barrier.cluster.arrive": "",
            "barrier.cluster.wait": "",
            "bar.red.or.pred": "%p1, 0, %p1",
        }.get(".".join((name, *mods)), "0")
    if name == "vote":
        return "%r1, %p1, -1" if "ballot" in mods else "%p1, %p1, -1"
    if name == "cp":
        return {"commit_group": "", "wait_group": "0"}.get(kind, "[sh], [%d9], 16")
    if name == "wmma":
        return matrices(mods)
    if name in SPECIAL:
        return SPECIAL[name].format(r=register(kind) if kind in (*CONTAINERS,) else "")
    if name == "ld":
        return f"{vector(mods, kind)}, {address(mods) if 'param' not in mods else '[given]'}"
    if name == "st":
        return f"{address(mods)}, {vector(mods, kind)}"
    if name in ("atom", "red"):
        values = [register(kind)] * (2 if "cas" in mods else 1)
        return ", ".join([*([register(kind)] if name == "atom" else []), address(mods), *values])
    return arithmetic(name, mods, kind)


def matrices(mods):
    """Registers of a warp's matrices, which lie in the buffer or in shared memory."""

    def held(role, kind):
        counts = {"f64": 2 if role in "cd" else 1, "f32": 8, "s32": 8, "f16": 8, "u8": 2}
        one = "%d1" if kind == "f64" else "%r1"
        return "{" + ", ".join([one] * counts.get(kind, 4)) + "}"

    place = "[large]" if "shared" in mods else "[%d9]"
    kinds = [mod for mod in mods if mod in ("f64", "f32", "s32", "f16", "u8", "bf16", "tf32")]
    if mods[0] == "mma":
        types = kinds if len(kinds) == 4 else (kinds[0], "f16", "f16", kinds[1])
        return ", ".join(map(held, "dabc", types))
    if mods[0] == "load":
        return f"{held(mods[1], kinds[0])}, {place}, 16"
    return f"{place}, {held('d', kinds[0])}, 16"


def arithmetic(name, mods, kind):
    count, source = SOURCES.get(name, 2), register(kind if kind in CONTAINERS else "u32")
    target = source
    if name == "setp":
        target = "%p1"
    elif name in ("popc", "clz", "bfind"):
        target = "%r1"
    elif name == "cvt":
        target = register(mods[-2])
    elif "wide" in mods:
        target = register(f"{kind[0]}{2 * int(kind[1:])}")
    sources = [source] * count
    if name in ("shl", "shr"):
        sources[1] = "%r1"
    if name == "mad" and "wide" in mods:
        sources[2] = target
    return ", ".join([target, *sources])


def module(opcode):
    name, *mods = opcode.split(".")
    return f""".version 8.0
.target sm_90
.address_size 64
.const .align 16 .b8 co[32];
.visible .entry k(.param .u64 buffer, .param .align 16 .b8 given[16])
{{
.reg .pred %p<2>; .reg .b16 %h<2>; .reg .b32 %r<3>; .reg .b64 %d<10>;
.shared .align 16 .b8 sh[32]; .shared .align 128 .b8 large[1024]; .local .align 16 .b8 lo[32];
ld.param.u64 %d9, [buffer];
st.shared.v2.b64 [sh], {{%d1, %d1}}; st.shared.v2.b64 [sh+16], {{%d1, %d1}};
{{ .param .align 16 .b8 po[16];
{opcode} {operands(name, mods)};
}}
LAST: ret;
}}"""


@pytest.mark.parametrize("opcode", variants()[0])
def test_is_decoded_and_executed(opcode):
    parsed = parse(module(opcode))
    assert unsupported(parsed) == {"k": ()}
    given = [np.zeros(1024, np.uint8), np.void(bytes(16))]
    if opcode == "trap":
        with pytest.raises(KernelFault, match="trap"):
            emulate(parsed, "k", (1, 1, 1), (40, 1, 1), given)
        return
    result = emulate(parsed, "k", (1, 1, 1), (40, 1, 1), given)
    assert result.trace.thread_instructions >= 40 * 4


@pytest.mark.parametrize("opcode", variants()[1])
def test_what_is_left_out_is_named(opcode):
    text = module("mov.u32").replace("mov.u32 %r1, %r1;", f"\n.loc 1 77 3\n{opcode} %r1, [%d9];")
    line = text.splitlines().index(f"{opcode} %r1, [%d9];") + 1
    parsed = parse(text)
    (problem,) = unsupported(parsed)["k"]
    assert (problem.opcode, problem.ptx_line, problem.line) == (opcode, line, 77)
    with pytest.raises(
        UnsupportedError, match=rf"PTX line {line}, CUDA line 77: {re.escape(opcode)}"
    ):
        emulate(parsed, "k", (1, 1, 1), (32, 1, 1), [np.zeros(64, np.uint8), np.void(bytes(16))])


def test_the_list_of_what_is_left_out_is_short():
    done, left = variants()
    assert len(done) + len(left) == 479 - 24 and len(left) == 1
