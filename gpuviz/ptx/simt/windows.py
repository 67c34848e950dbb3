"""Where each state space lies in the generic address space of the emulator.

Real devices choose other numbers; kernels must not depend on them. Global memory is placed high, so
that a shared or local offset used as a global pointer is seen as the mistake it is.
"""

from __future__ import annotations

SHARED = 0x1_0000_0000
LOCAL = 0x2_0000_0000
CONSTANT = 0x3_0000_0000
PARAM = 0x4_0000_0000
CODE = 0x5_0000_0000
GLOBAL = 0x7F00_0000_0000
WINDOW = 0x1_0000_0000

BASES = {"shared": SHARED, "local": LOCAL, "const": CONSTANT, "param": PARAM, "global": 0}


def space_of(address: int) -> str:
    """The state space a generic address points into."""
    for name in ("shared", "local", "const", "param"):
        if BASES[name] <= address < BASES[name] + WINDOW:
            return name
    return "global"
