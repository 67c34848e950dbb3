"""Answers of tables C and D: global memory, shared memory and constants."""

from __future__ import annotations

from gpuviz.arch import architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.arch.occupancy_fit import GF100
from gpuviz.course.global_memory.square_array.lesson import expected_row
from gpuviz.course.global_memory.square_array.trials import THEN, loads
from gpuviz.course.together.latency.lesson import Chase
from gpuviz.memory.coalescing import transactions
from gpuviz.memory.counts import Count
from gpuviz.traces.trace import lane_mask
from gpuviz.words.language import grouped
from tools.coverage.answers import Shown, answer, with_unit

_HISTORY = (
    "sm_10",
    "sm_12",
    "sm_20",
    "sm_30",
    "sm_50",
    "sm_60",
    "sm_70",
    "sm_80",
    "sm_90",
    "sm_100",
    "sm_120",
)


@answer
def first_half(shown: Shown) -> str:
    """Transactions of the first half warp: on 1.x it is served by itself."""
    trace = shown.run().trace
    row = trace.of(block=0, warp=0, op="load").select(slice(0, 1))
    width = trace.instructions[int(row.instruction[0])].width
    active = lane_mask(row.active)
    active[:, 16:] = False
    moved = transactions(architecture(shown.run().arch), row.address, active, width)
    return f"{moved.count[0]} of {moved.moved[0]} bytes in all"


@answer
def through_the_years(shown: Shown) -> str:
    """Transactions of the same load on every architecture."""
    trace = shown.run().trace
    row = trace.of(block=0, warp=0, op="load").select(slice(0, 1))
    width = trace.instructions[int(row.instruction[0])].width
    counts = {
        sm: int(transactions(architecture(sm), row.address, lane_mask(row.active), width).count[0])
        for sm in _HISTORY
    }
    return ", ".join(f"{architecture(sm).version}: {count}" for sm, count in counts.items())


@answer
def segments_and_sectors(shown: Shown, role: str) -> str:
    """What a trial's loads take on the document's GPU and on today's."""
    run = shown.run(role)
    then, now = (loads(run.trace, arch) for arch in (THEN, architecture(run.arch)))
    return (
        f"for 32 elements {then.transactions:g} segments on CC 1.1; {now.transactions:g} "
        f"sectors on CC 9.0 (requests: {now.requests:g}, lines: {now.lines:g})"
    )


@answer
def same_elements(shown: Shown) -> str:
    """Which element is squared and which doubled says who worked on it."""
    found = shown.measurement()
    if found is None or "a" not in found.differences:
        return ""
    if found.differences["a"]:
        return f"maximum difference {found.differences['a']:.6g} from the emulator"
    return "the same elements squared, and the same doubled, as emulated"


@answer
def first_row(shown: Shown) -> str:
    """Where the eight threads of the small example start, as executed."""
    run, values = shown.run(), shown.values
    rows = run.trace.of(block=0, op="load")
    buffer = run.trace.launch.buffers[0]
    first = [int(a - buffer.address) // 4 for a in rows.address[0][rows.lanes(0)]]
    count = run.trace.launch.threads_per_block
    stride, offset = int(values["stride"]), int(values["offset"])
    same = tuple(first) == expected_row(count, buffer.count // count, stride, offset)
    return f"iteration 0 reads elements {', '.join(map(str, first))}" + ("" if same else " (!)")


@answer
def c2070_occupancy(shown: Shown) -> str:
    """Of fma4 on the lecture's card, with the registers of our compiler."""
    run = shown.run("fma4")
    registers = run.resources.registers if run.resources else 0
    found = occupancy(GF100, run.trace.launch.threads_per_block, registers)
    return f"occupancy {found.fraction:.3f} on CC 2.0 with {registers} registers"


@answer
def most_under_way(shown: Shown) -> str:
    """What the last block says that is shown over time: most warps, most loads of each."""
    story = shown.performance.story
    over_time = [step for step in story.steps if step.kind == "load"]
    return story.at(over_time[-1].start).title if story.at else ""


@answer
def branch_efficiency(shown: Shown) -> str:
    """Targets of branches that all lanes of a warp took, of all, as profilers count them."""
    found = shown.measurement()
    counted = found.values() if found else {}
    if not counted.get("branch_targets"):
        return ""
    share = counted.get("branch_targets_uniform", 0.0) / counted["branch_targets"]
    return f"branch efficiency {100 * share:.4g} %"


def _chase(shown: Shown) -> Chase | None:
    """One warp that follows one chain on each multiprocessor."""
    run = shown.run("1 × 1")
    return Chase(1, 1, run.timeline, run) if run.timeline else None


@answer
def latency(shown: Shown) -> str:
    """Of a chain in L2, as modelled."""
    one = _chase(shown)
    return f"{one.latency:.0f} cycles, the data in L2" if one else ""


@answer
def hop(shown: Shown) -> str:
    """As the recorded kernel's own timer has it."""
    one = _chase(shown)
    return f"{one.hop:.0f} cycles a hop, by a block's own timer" if one and one.hop else ""


@answer
def banks(shown: Shown) -> str:
    """And the shared memory of a multiprocessor."""
    arch = architecture(shown.run().arch)
    return f"{arch.banks} banks, {arch.shared // 1024} KB a multiprocessor"


@answer
def shared_here(shown: Shown) -> str:
    """What the recorded device's own table says."""
    found = shown.measurement("warp")
    size = found.device.limits.get("sharedMemPerMultiprocessor") if found else None
    return f"{size // 1024} KB a multiprocessor" if size else ""


@answer
def passes_and_replays(shown: Shown) -> str:
    """Passes, and what of them a GPU counts: those beyond the first."""
    totals = shown.run("constant").counts.totals
    passes = with_unit(
        totals[Count.CONSTANT_LOAD_WAVEFRONTS] / totals[Count.CONSTANT_LOAD_REQUESTS],
        "passes a request",
    )
    return f"{passes}, {grouped(totals[Count.CONSTANT_LOAD_REPLAYS])} replays in all"


@answer
def replays(shown: Shown) -> str:
    """Those the counters saw."""
    found = shown.measurement("constant")
    count = found.values().get(Count.CONSTANT_LOAD_REPLAYS) if found else None
    return "" if count is None else f"{grouped(count)} replays"
