"""Floating-point operations of a launch, from how often threads executed each basic block.

An addition, multiplication, division or root counts one, a multiply-add two, packed types twice
that, a matrix multiply-add 2mnk for its warp or warpgroup. Guards are not looked at: a block counts
for every thread that entered it.
"""

import math
import re
from collections.abc import Mapping

from gpuviz.ptx.arithmetic.formats import shape_of
from gpuviz.ptx.text.ir import Instruction, Module
from gpuviz.traces.trace import Stretch

_WEIGHTS = {
    "add": 1,
    "sub": 1,
    "mul": 1,
    "div": 1,
    "rcp": 1,
    "sqrt": 1,
    "rsqrt": 1,
    "fma": 2,
    "mad": 2,
}
_FLOAT = re.compile(r"b?f(?:16|32|64)(x2)?$")
_TOGETHER = {"mma": 32, "wmma": 32, "wgmma": 128}  # threads that multiply matrices


def floating_operations(module: Module, threads: Mapping[Stretch, int]) -> int:
    """Operations executed; `threads` counts those that executed each stretch of the program."""
    per_pc = {i.pc: _operations(i) for f in module.functions for i in f.body}
    total = sum(
        count * sum(per_pc.get(pc, 0.0) for pc in range(one.pc, one.pc + one.count))
        for one, count in threads.items()
    )
    return round(total)


def _operations(instruction: Instruction) -> float:
    """Of one thread."""
    opcode = instruction.opcode
    if opcode.name in _TOGETHER:
        shape = shape_of(opcode.mods)
        ours = opcode.name == "mma" or {"mma", "mma_async"} & set(opcode.mods)
        threads = _TOGETHER[opcode.name]
        if "m8n8k4" in opcode.mods and "f64" not in opcode.mods:
            threads //= 4  # four products at once
        return 2 * math.prod(shape) / threads if shape and ours else 0.0
    kind = _FLOAT.match(opcode.mods[-1]) if opcode.mods else None
    if kind is None:
        return 0.0
    return _WEIGHTS.get(opcode.name, 0) * (2 if kind[1] else 1)
