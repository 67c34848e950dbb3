"""Reductions that one lane makes for its warp: the assembler sums before it adds.

Where all lanes add to one address, machine code reduces over the warp first (`REDUX`, or a count
of the lanes), and the lane that `UFLO` finds in the vote of the active ones makes the access:

    VOTEU.ANY UR6, UPT, PT
    UFLO.U32 UR6, UR6
    ISETP.EQ.U32.AND P0, PT, R5, UR6, PT
    @P0 REDG.E.ADD.STRONG.GPU desc[UR8][R2.64], R7
"""

import re
from collections.abc import Iterable

from gpuviz.sass.listing import SassInstruction

_NAMES = re.compile(r"\bU?[RP]\d+\b")
_REDUCES = frozenset({"RED", "REDG"})


def led(code: Iterable[SassInstruction]) -> frozenset[int]:
    """Addresses of the reductions of a listing, in address order, that only a leader makes."""
    highest: set[str] = set()  # registers that hold what UFLO found
    leads: set[str] = set()  # predicates that hold for that lane only
    found = set()
    for one in code:
        name = one.opcode.partition(".")[0]
        if name in _REDUCES and one.guard in leads:
            found.add(one.address)
            continue
        operands = one.operands.split(",")
        written = {n for part in operands[:2] for n in _NAMES.findall(part) if "[" not in part}
        elects = one.opcode.startswith("ISETP.EQ.U32") and highest.intersection(
            _NAMES.findall(one.operands)
        )
        leads -= written
        highest -= set(_NAMES.findall(operands[0]))
        if elects:
            leads.update(_NAMES.findall(operands[0]))
        elif name == "UFLO":
            highest.update(_NAMES.findall(operands[0]))
    return frozenset(found)
