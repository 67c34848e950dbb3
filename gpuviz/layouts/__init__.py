"""Layouts as CuTe writes them: `shape:stride`, from coordinates to offsets; and swizzles of these.

layout   parsed, written, evaluated, coalesced, composed
swizzle  bits of an offset exchanged with others by XOR
"""

from gpuviz.layouts.layout import Layout, compose
from gpuviz.layouts.swizzle import Swizzle

__all__ = ["Layout", "Swizzle", "compose"]
