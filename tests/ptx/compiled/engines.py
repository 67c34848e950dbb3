"""One launch on both engines, and whether all that is seen of it is the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpuviz.arch import architecture
from gpuviz.base.errors import KernelFault
from gpuviz.memory.counting import Counter
from gpuviz.ptx.emulator import Options, Result, emulate
from gpuviz.ptx.text.ir import Module
from gpuviz.run.run import Run
from gpuviz.traces.trace import MemoryInstruction, Trace

ARCHES = ("sm_90", "sm_60")


def run(module: Module, kernel: str, grid: Any, block: Any, arguments: Any, **more: Any) -> Any:
    """The result and what was counted on two architectures, or the fault in words."""
    counters = [Counter(architecture(arch)) for arch in ARCHES]
    given = [np.array(a, copy=True) if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        result = emulate(module, kernel, grid, block, given, sinks=counters, **more)
    except KernelFault as fault:
        return str(fault), []
    return result, [counter.result() for counter in counters]


def same(
    module: Module,
    kernel: str,
    grid: Any,
    block: Any,
    arguments: Any,
    *,
    options: Options | None = None,
    runs_on: str = "compiled",
    **more: Any,
) -> Result | str:
    """Run on both engines and compare; `runs_on` is the engine that is expected to do it."""
    options = options or Options()
    one, counts = run(
        module, kernel, grid, block, arguments, options=replace(options, engine="numpy"), **more
    )
    two, others = run(
        module, kernel, grid, block, arguments, options=replace(options, engine="compiled"), **more
    )
    if isinstance(one, str) or isinstance(two, str):
        assert one == two
        return one
    assert not runs_on or two.engine == runs_on, two.engine_note
    alike(one, two)
    assert counts == others
    return two


def alike(one: Result, two: Result) -> None:
    """Compare two results."""
    assert one.outputs.keys() == two.outputs.keys()
    for name, array in one.outputs.items():
        assert array.tobytes() == two.outputs[name].tobytes(), name
    assert one.executed == two.executed
    a, b = one.trace, two.trace
    for field in (
        "thread_instructions",
        "warp_instructions",
        "branches",
        "findings",
        "printed",
        "flops",
        "blocks_emulated",
        "instructions",
        "notes",
    ):
        assert getattr(a, field) == getattr(b, field), field
    for block in a.recorded:
        for warp in range(a.launch.warps_per_block):
            x, y = a.of(block=block, warp=warp), b.of(block=block, warp=warp)
            for column in ("instruction", "phase", "active", "address"):
                assert (getattr(x, column) == getattr(y, column)).all(), column


def alike_runs(one: Run, two: Run) -> None:
    """Compare what two engines made of a job: memory, counts, findings, and what is recorded."""
    for key, array in one.outputs.items():
        assert array.tobytes() == two.outputs[key].tobytes(), key
    assert one.counts == two.counts and one.level_note == two.level_note
    a, b = one.trace, two.trace
    for field in ("thread_instructions", "branches", "findings", "printed", "flops"):
        assert getattr(a, field) == getattr(b, field), field
    # Their numbers are in the order in which blocks come to them, and blocks take turns otherwise.
    assert _requested(a) == _requested(b)


def _requested(trace: Trace) -> dict[MemoryInstruction, int]:
    """How many recorded requests each instruction made."""
    numbers, counts = np.unique(trace.requests.instruction, return_counts=True)
    return {trace.instructions[n]: int(m) for n, m in zip(numbers, counts, strict=True)}
