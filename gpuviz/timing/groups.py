"""Groups of asynchronous copies (cp.async) and products (wgmma): what machine code does with them.

A warp's LDGSTS belong to the group that it has open; LDGDEPBAR closes it, and a scoreboard counts
those under way; DEPBAR.LE waits until no more than so many, the latest, are. Its HGMMA and the like
belong to another, which one that names a gsb closes; WARPGROUP.DEPBAR.LE waits for those. Groups
are over in the order they were closed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from gpuviz.base.arrays import I32
from gpuviz.sass.flow import name_of
from gpuviz.sass.listing import SassInstruction
from gpuviz.timing import simulation as sim
from gpuviz.timing.tensor_cores import shape_of

_LEFT = re.compile(r"(?:SB(\d)|gsb\d), (0x[0-9a-f]+)")


def groups_of(code: Sequence[SassInstruction], sets: I32) -> I32:
    """(I,) 0 for nothing; what instructions do with groups, by the names in `simulation`.

    `sets` is the scoreboard that each instruction sets.
    """
    boards = {int(b) for i, b in zip(code, sets, strict=True) if name_of(i) == "LDGDEPBAR"}
    return np.array([_group(i, boards) for i in code], np.int32)


def _group(instruction: SassInstruction, boards: set[int]) -> int:
    name, operands = name_of(instruction), instruction.operands
    if name == "LDGSTS":
        return sim.JOINS
    if name == "LDGDEPBAR":
        return sim.CLOSES
    if shape_of(instruction).startswith("GMMA"):
        return sim.PRODUCTS + sim.JOINS + (sim.CLOSES if ", gsb" in operands else 0)
    found = _LEFT.match(operands) if "DEPBAR.LE" in instruction.opcode else None
    if found is None or (found[1] and int(found[1]) not in boards):
        return 0
    return (0 if found[1] else sim.PRODUCTS) + sim.LEAVES + int(found[2], 16)
