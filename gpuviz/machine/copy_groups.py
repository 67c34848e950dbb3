"""Groups of asynchronous copies (cp.async): what machine code does with them.

A warp's LDGSTS belong to the group that it has open; LDGDEPBAR closes it, and a scoreboard counts
those under way; DEPBAR.LE waits until no more than so many, the latest, are. Groups are over in the
order they were closed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from gpuviz.arrays import I32
from gpuviz.machine import simulation as sim
from gpuviz.sass.flow import name_of
from gpuviz.sass.listing import SassInstruction

_LEFT = re.compile(r"SB(\d), (0x[0-9a-f]+)")


def groups_of(code: Sequence[SassInstruction], sets: I32) -> I32:
    """(I,) 0 for nothing; what instructions do with groups, by the names in `simulation`.

    `sets` is the scoreboard that each instruction sets.
    """
    boards = {int(b) for i, b in zip(code, sets, strict=True) if name_of(i) == "LDGDEPBAR"}
    return np.array([_group(i, boards) for i in code], np.int32)


def _group(instruction: SassInstruction, boards: set[int]) -> int:
    name = name_of(instruction)
    if name == "LDGSTS":
        return sim.COPIES
    if name == "LDGDEPBAR":
        return sim.CLOSES
    found = _LEFT.match(instruction.operands) if name == "DEPBAR" else None
    if found is None or int(found[1]) not in boards:
        return 0
    return sim.LEAVES + int(found[2], 16)
