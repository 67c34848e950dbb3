"""Answers of table E: matrix multiplication, and fma4."""

from __future__ import annotations

import numpy as np

from gpuviz.arch import architecture
from gpuviz.course.together.matmul_tiled.lesson import query_of
from gpuviz.course.together.thread_coarsening.inner_loops import inner_loop_of
from gpuviz.memory.counts import Count
from tools.coverage.answers import Shown, answer

_PEAK = 12e12  # operations a second of the course's device


@answer
def reads(shown: Shown, role: str) -> str:
    """How often the watched block loads each element of M and N that it needs."""
    rows = shown.run(role).trace.of(space="global", op="load")
    active = np.stack([rows.lanes(i) for i in range(len(rows))])
    loaded = rows.address[active]
    return f"{len(loaded) / len(np.unique(loaded)):g} loads of each element by a block"


def _operations(shown: Shown, role: str) -> float:
    """Floating-point operations for each 4-byte element loaded from global memory."""
    run = shown.run(role)
    return run.trace.flops / (run.counts.totals[Count.GLOBAL_LOAD_BYTES] / 4)


@answer
def reachable(shown: Shown, gigabytes: float, role: str) -> str:
    """The rate that so many GB/s allow a kernel."""
    each = _operations(shown, role)
    rate = each * gigabytes * 1e9 / 4
    return f"ratio {each:g}: {rate / 1e9:g} GFLOP/s, {rate / _PEAK:.0%} of 12 TFLOP/s"


@answer
def needed(shown: Shown) -> str:
    """What 1 TB/s takes to keep the device busy, and what the naive kernel has."""
    return f"ratio {_PEAK / (1e12 / 4):g} needed, {_operations(shown, 'naive'):g} there"


@answer
def saved(shown: Shown) -> str:
    """Global loads of both kernels."""
    naive, tiled = (
        shown.run(role).counts.totals[Count.GLOBAL_LOAD_BYTES] for role in ("naive", "tiled")
    )
    return f"traffic / {naive / tiled:g}"


@answer
def saved_measured(shown: Shown) -> str:
    """By the sectors that the counters saw; bytes asked for are not counted by hardware."""
    found = [shown.measurement(role) for role in ("naive", "tiled")]
    counts = [one.values().get(Count.GLOBAL_LOAD_SECTORS, 0.0) if one else 0.0 for one in found]
    return f"sectors / {counts[0] / counts[1]:.3g}" if all(counts) else ""


@answer
def phases(shown: Shown) -> str:
    """Barriers passed tell how many phases of load and multiply there were."""
    run = shown.run("tiled")
    barriers = int(run.trace.of(space="global", op="store").phase.max())
    return f"{barriers // 2} phases, {barriers} barriers"


@answer
def correct(shown: Shown) -> str:
    """How many elements the phase count rounded down gets wrong, and what rounding up gives."""
    down, up, naive = (
        shown.run(role).outputs["P"] for role in ("rounded down", "rounded up", "naive")
    )
    wrong = int((down != naive).sum())
    values = sorted({f"{value:g}" for value in up})
    every = f"all elements {values[0]}" if len(values) == 1 else "right"
    left = int((up != naive).sum())
    return f"{wrong} of {len(naive)} wrong rounded down; rounded up {left} wrong, {every}"


@answer
def dynamic(shown: Shown) -> str:
    """Shared memory of the launch and of the kernel."""
    run = shown.run()
    known = run.resources.static_shared_bytes if run.resources else 0
    return f"{run.trace.launch.dynamic_shared} B dynamic, {known} B static"


@answer
def by_the_query(shown: Shown) -> str:
    """The tile that the device's own table allows."""
    run = shown.run()
    return query_of(run.measurement, architecture(run.arch)).said if run.measurement else ""


@answer
def static(shown: Shown) -> str:
    """Shared memory that the kernel declares."""
    known = shown.run("tiled").resources
    return f"{known.static_shared_bytes / 1024:g} KB of shared memory a block" if known else ""


_PARTS = ("fma.rn", "ld.shared", "ld.global", "bar.sync", "mul.wide", "mad.lo", "add.s64")


@answer
def ptx(shown: Shown) -> str:
    """How many instructions of the kernel multiply, load, wait, and compute addresses."""
    _, _, kernel = shown.run("tiled").trace.ptx.partition(".entry tiled(")
    rows = kernel.partition("\n}")[0].splitlines()
    found = {name: sum(name in row for row in rows) for name in _PARTS}
    return ", ".join(f"{count} {name}" for name, count in found.items() if count)


@answer
def fma4(shown: Shown) -> str:
    """Operations and accesses an element."""
    run = shown.run("fma4")
    totals, elements = run.counts.totals, len(run.outputs["d"])
    read = totals[Count.GLOBAL_LOAD_BYTES] / 4 / elements
    written = totals[Count.GLOBAL_STORE_BYTES] / 4 / elements
    return (
        f"{run.trace.flops / elements:g} operations, {read:g} loads and {written:g} store an "
        "element"
    )


@answer
def inner_loop(shown: Shown, role: str) -> str:
    """What the inner loop of a kernel takes for a product, and what of it computes addresses."""
    found = inner_loop_of(shown.run(role))
    return (
        f"inner loop, for a product: {found.each():g} instructions, {found.each('memory'):g} "
        f"loads, {found.each('address'):g} for addresses, {found.each('loop'):g} for the loop"
    )


@answer
def outcome(shown: Shown) -> str:
    """What the race check and the result say."""
    story = shown.performance.story
    return f"{story.steps[-1].detail}; {story.expected.partition('; ')[0]}"


@answer
def returned_difference(shown: Shown) -> str:
    """How far what a GPU returned is from the product as emulated, of the lesson's first kernel."""
    found = shown.measurement()
    if found is None or "P" not in found.differences:
        return ""
    return f"maximum difference {found.differences['P']:g} from the emulator"


@answer
def shape_time(shown: Shown) -> str:
    """Of a block shape, among the times of all shapes."""
    found = shown.measurement("shape")
    return f"{found.timing.median / 1000:.4g} ms" if found and found.timing else ""
