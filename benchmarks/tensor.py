"""How fast each engine multiplies as tensor cores do: nothing but mma, processor time of one core.

python benchmarks/tensor.py
"""

import time

import numpy as np

from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.options import Options
from gpuviz.ptx.text.parser import parse

FORMS = (
    "m16n8k16.row.col.f32.f16.f16.f32",
    "m16n8k16.row.col.f32.bf16.bf16.f32",
    "m16n8k8.row.col.f32.tf32.tf32.f32",
    "m16n8k32.row.col.f32.e4m3.e4m3.f32",
    "m16n8k32.row.col.s32.s8.s8.s32",
)
UNROLLED = 8
BLOCKS = 64  # of one warp


def kernel(form: str, turns: int) -> str:
    """A loop of products; A and B are small numbers."""
    held = {"a": 4, "b": 2, "c": 4}
    lists = {x: "{" + ", ".join(f"%{x}{i}" for i in range(n)) + "}" for x, n in held.items()}
    product = f"mma.sync.aligned.{form} {lists['c']}, {lists['a']}, {lists['b']}, {lists['c']};\n"
    start = "".join(
        f"mad.lo.u32 %{x}{i}, %r0, 0x00010001, {0 if x == 'c' else 0x34003400};\n"
        for x, n in held.items()
        for i in range(n)
    )
    return f""".version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 D) {{
.reg .b32 %a<4>, %b<2>, %c<4>, %r<4>; .reg .b64 %p<2>; .reg .pred %q;
mov.u32 %r0, %tid.x; mov.u32 %r1, 0; mov.u32 %r2, %ctaid.x;
{start}L:
{UNROLLED * product}add.u32 %r1, %r1, 1; setp.lt.u32 %q, %r1, {turns}; @%q bra L;
ld.param.u64 %p0, [D]; mad.lo.u32 %r0, %r2, 32, %r0; mul.wide.u32 %p1, %r0, 4;
add.u64 %p0, %p0, %p1; st.global.b32 [%p0], %c0; ret;
}}
"""


def seconds(form: str, engine: str, turns: int) -> float:
    """Of a launch, the best of three; machine code is made in the first."""
    module, found = parse(kernel(form, turns)), []
    options = Options(engine=engine, threads=1, record=(), blocks="all")  # type: ignore[arg-type]
    for _ in range(3):
        given, began = [np.zeros(32 * BLOCKS, np.uint32)], time.process_time()
        emulate(module, "k", (BLOCKS, 1, 1), (32, 1, 1), given, options=options)
        found.append(time.process_time() - began)
    return min(found)


def main() -> None:
    for form in FORMS:
        rows, inner = (int(x.strip("m")) for x in form.split(".")[0].split("n8k"))
        for engine, turns in (("numpy", 8), ("compiled", 2000)):
            each = seconds(form, engine, turns) / (turns * UNROLLED * BLOCKS)
            print(
                f"{form:38} {engine:9} {each * 1e9:8.0f} ns, "
                f"{rows * 8 * inner / each / 1e9:7.3f} G multiply-adds/s, "
                f"{32 / each / 1e9:.3f} G thread instructions/s"
            )


if __name__ == "__main__":
    main()
