"""Launches of the kernels beside the tests: compiled once, run on the emulator."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.compile import compile_cuda, entry_name
from gpuviz.ptx.emulator import Options, Result, emulate
from gpuviz.ptx.text.ir import Module
from gpuviz.ptx.text.parser import parse

KERNELS = Path(__file__).parent / "kernels"
# Registers without types; with types is what all other tests are written in.
DIALECTS = ("sm_100", pytest.param("sm_80", marks=pytest.mark.slow))


@cache
def compiled(source: str, arch: str) -> Module:
    """`source` is CUDA text, or the name of a file in kernels/."""
    text = source if "\n" in source else (KERNELS / f"{source}.cu").read_text()
    return parse(compile_cuda(text, arch=arch).ptx)


def triple(size: int | tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*((size,) if isinstance(size, int) else size), 1, 1)[:3]
    return x, y, z


def launch(
    source: str,
    kernel: str,
    grid: Any,
    block: Any,
    *arguments: Any,
    arch: str = "sm_80",
    shared: int = 0,
    options: Options | None = None,
    **more: Any,
) -> Result:
    """Run a kernel; a Python int is an int32, a float a float32."""
    module = compiled(source, arch)
    given = [
        np.int32(a) if isinstance(a, int) else np.float32(a) if isinstance(a, float) else a
        for a in arguments
    ]
    return emulate(
        module,
        entry_name(module.kernels, kernel),
        triple(grid),
        triple(block),
        given,
        dynamic_shared=shared,
        options=options,
        **more,
    )


def outputs(*launched: Any, **options: Any) -> list[np.ndarray]:
    """The buffers after a launch, in the order of the arguments."""
    return list(launch(*launched, **options).outputs.values())
