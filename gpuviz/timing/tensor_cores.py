"""Tensor cores: the shapes of matrix instructions, by which a device says what they take."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuviz.sass.listing import SassInstruction
from gpuviz.timing.device import Device

_OF_A_WARP = re.compile(r"([HIBDQ]MMA(?:\.SP)?\.\d+(?:x\d+x\d+)?)\b(.*)")
_OF_A_WARPGROUP = re.compile(r"[HIQB]GMMA(\.SP)?\.64x(\d+)x\d+\b")


def shape_of(instruction: SassInstruction) -> str:
    """The shape of a matrix instruction ("HMMA.16816", "HMMA.1688.TF32", "GMMA.64x128"), "" of any
    other.
    """
    if found := _OF_A_WARPGROUP.match(instruction.opcode):
        return f"GMMA{found[1] or ''}.64x{found[2]}"
    if found := _OF_A_WARP.match(instruction.opcode):
        return found[1] + (".TF32" if ".TF32" in found[2] else "")
    return ""


def busy_cycles(shape: str, device: Device) -> float | None:
    """Cycles that it keeps the tensor core of a scheduler; None where that was not measured."""
    kind, _, columns = shape.rpartition("x")
    if kind == "GMMA.64":
        return max(device.wgmma_column * int(columns), device.wgmma_read * (64 + int(columns)))
    return device.tensor.get(shape)


def not_measured(code: Sequence[SassInstruction], device: Device) -> str:
    """The first matrix instruction of which it is not known what it takes, "" for none."""
    shapes = dict.fromkeys(shape for i in code if (shape := shape_of(i)))
    return next((shape for shape in shapes if busy_cycles(shape, device) is None), "")
