"""Launches of a small corpus of strangers' kernels, performed once a session."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import Performance, perform
from gpuviz.traces.check_table import ALL

FILE = Path(__file__).parent.parent / "data" / "own_kernels.cu"
_BYTES, _MATRIX = "u8[512]=rand", "f32[4096]=rand"

# Kernel: grid, block, arguments.
LAUNCHES = {
    "histogram": ((2, 1, 1), (256, 1, 1), (_BYTES, "u32[64]=zeros", "i32=512")),
    "sgemm": ((4, 4, 1), (16, 16, 1), (_MATRIX, _MATRIX, "f32[4096]=zeros", "i32=64")),
    "stencil": ((4, 1, 1), (128, 1, 1), ("f32[512]=rand", "f32[512]=zeros", "i32=512")),
    "reduce": ((4, 1, 1), (256, 1, 1), ("f32[1024]=rand", "f32[4]=zeros", "i32=1024")),
    "transpose": ((2, 2, 1), (32, 32, 1), (_MATRIX, "f32[4096]=zeros", "i32=64")),
    "shift": ((4, 1, 1), (128, 1, 1), ("f32[512]=rand", "f32[512]=zeros", "i32=512")),
    "collatz": ((2, 1, 1), (64, 1, 1), ("i32[128]=arange", "i32[128]=zeros", "i32=128")),
    "misaligned": ((1, 1, 1), (32, 1, 1), ("i8[256]=ones", "f32[32]=zeros")),
    "unset": ((1, 1, 1), (64, 1, 1), ("f32[64]=zeros",)),
    "passes_by": ((1, 1, 1), (64, 1, 1), ("f32[64]=zeros",)),
    "spill_over": ((1, 1, 1), (64, 1, 1), ("i32[48]=zeros",)),
    "one_too_far": ((2, 1, 1), (64, 1, 1), ("f32[64]=rand", "f32[64]=zeros")),
    "far_outside": ((1, 1, 1), (64, 1, 1), ("f32[64]=zeros",)),
}
FAULTY = "shift", "misaligned", "spill_over", "one_too_far", "far_outside"


def launch_of(name: str) -> KernelLaunch:
    """The launch of one of them."""
    grid, block, arguments = LAUNCHES[name]
    return KernelLaunch(FILE, name, name, grid, block, arguments)


@lru_cache
def shown(name: str, **values: int | str | bool) -> Performance:
    """One of them with these values, all checks on."""
    return performed(name, ALL, **values)


def performed(name: str, checks: tuple[str, ...], **values: int | str | bool) -> Performance:
    """One of them with these values and checks."""
    return perform(lesson_of(launch_of(name)), values, checks=checks)
