"""Answers of tables A and B: how threads are organised, and how many fit a multiprocessor."""

from __future__ import annotations

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arch.occupancy import Occupancy, occupancy
from gpuviz.arch.occupancy_fit import G80, GF100, TEXTBOOK
from gpuviz.course.organisation.launch_attempt import Attempt, attempt_of, number_of
from gpuviz.course.together.latency_hiding import LOADS, rates_of, waits_of
from gpuviz.course.together.occupancy.lesson import demand_of
from gpuviz.course.together.occupancy.resident_blocks import resident_of
from gpuviz.memory.counts import Count
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated
from gpuviz.story.perform import job_of
from gpuviz.traces.trace import LANES
from gpuviz.words.language import grouped
from tools.coverage.answers import Shown, answer

_C2070_REGISTERS = 16  # of the lecture's sgemm, as both its compiler and its profiler say
_MACHINES = {"textbook": TEXTBOOK, "G80": G80, "GF100": GF100}


@answer
def geometry(shown: Shown) -> str:
    """Warps and blocks of the launch."""
    launch = shown.run().trace.launch
    return f"{launch.warps_per_block} warps of 32 lanes a block, {launch.blocks} blocks"


@answer
def placed(shown: Shown) -> str:
    """How many multiprocessors the blocks of a recorded launch ran on."""
    found = shown.measurement()
    if found is None or found.placement is None:
        return ""
    return (
        f"{len(found.placement.block)} blocks on {len(np.unique(found.placement.sm))} of "
        f"{found.device.multiprocessors} multiprocessors"
    )


def _attempt(shown: Shown) -> Attempt:
    return attempt_of(shown.values, shown.performance.runs)


@answer
def verdict(shown: Shown) -> str:
    """What becomes of the launch asked for."""
    return _attempt(shown).why or "within every limit"


@answer
def returned(shown: Shown) -> str:
    """What the launch returned where it was recorded."""
    return _attempt(shown).launch_result or ""


@answer
def checked(shown: Shown) -> str:
    """What the check of the copied arrays finds."""
    found = _attempt(shown)
    if found.host is None:
        return "undefined"
    a, b, c, d = map(number_of, found.host)
    passes = "the check passes" if found.passes else "the check fails"
    return f"{passes}: {d} = {a} × {b} + {c}"


@answer
def copied(shown: Shown) -> str:
    """What the copies returned where that was recorded."""
    found = _attempt(shown)
    result, copied = found.copy_result, found.logged
    return f"{result}, copied {copied}" if result and copied else result or ""


@answer
def device_limit(shown: Shown, key: str, unit: str) -> str:
    """What the recorded device's own table says."""
    found = shown.measurement()
    return f"{found.device.limits[key]} {unit}" if found and key in found.device.limits else ""


@answer
def difference(shown: Shown) -> str:
    """From the same computed one by one."""
    return f"maximum difference {_attempt(shown).difference:.6g} from a sequential version"


@answer
def product_difference(shown: Shown) -> str:
    """Of the product at the size people run, from one computed in float64."""
    plan = next(one for one in shown.performance.plans if one.companion_of == "tiled")
    job = job_of(plan, "sm_90")
    run = emulated.run(
        job, architecture("9.0"), level="ptx", options=Options(record=(), blocks="all")
    )
    size = int(shown.values["real"])
    m, n, p = (run.outputs[name].astype(np.float64).reshape(size, size) for name in "MNP")
    return f"maximum difference {np.abs(p - m @ n).max():.6f} from float64"


@answer
def product_as_predicted(shown: Shown) -> str:
    """What the GPU's product comes to: the emulated one, where it is that bit by bit."""
    beside = shown.run("tiled").companion
    found = beside.measurement if beside else None
    if found is None or "P" not in found.differences:
        return ""
    if found.differences["P"] == 0:
        return product_difference(shown)
    return f"maximum difference {found.differences['P']:.6g} from the emulator"


@answer
def recorded_difference(shown: Shown, role: str) -> str:
    """Of the recorded results, from the emulated ones."""
    found = shown.measurement(role)
    if found is None or not found.differences:
        return ""
    return f"maximum difference {max(found.differences.values()):.6g} from the emulator"


@answer
def idle(shown: Shown) -> str:
    """Threads beyond the end."""
    launch = shown.run().trace.launch
    more = launch.blocks * launch.threads_per_block - int(shown.values["elements"])
    return f"{launch.blocks} blocks, {more} threads masked off"


@answer
def idle_measured(shown: Shown) -> str:
    """By the recorded sectors: of all lanes that stored, those whose element there is none of."""
    found = shown.measurement("fma4")
    known = found.values() if found else {}
    if Count.GLOBAL_STORE_SECTORS not in known or Count.GLOBAL_STORE_REQUESTS not in known:
        return ""
    written = known[Count.GLOBAL_STORE_SECTORS] * _FLOATS
    masked = known[Count.GLOBAL_STORE_REQUESTS] * LANES - written
    return f"{masked:g} lanes of the warps that stored wrote nothing"


@answer
def written(shown: Shown) -> str:
    """By the recorded sectors, which are full, and the results."""
    found = shown.measurement("fma4")
    known = found.values() if found else {}
    if Count.GLOBAL_STORE_SECTORS not in known:
        return ""
    count = known[Count.GLOBAL_STORE_SECTORS] * _FLOATS
    return f"{count:g} elements written; {recorded_difference(shown, 'fma4')}"


_FLOATS = 8  # of a sector


def _machine(shown: Shown) -> Architecture:
    return _MACHINES.get(str(shown.values["sm"]), architecture(shown.run().arch))


@answer
def fits(shown: Shown) -> str:
    """What the occupancy lesson finds."""
    return _text(demand_of(shown.values, shown.run()).on(_machine(shown)))


@answer
def resident(shown: Shown) -> str:
    """What a GPU's own record of its blocks says."""
    blocks = resident_of(shown.run()).blocks
    return f"at most {blocks} blocks at once on one multiprocessor" if blocks else ""


def _text(found: Occupancy) -> str:
    return (
        f"{found.blocks} blocks, {grouped(found.threads)} of {grouped(32 * found.max_warps)} "
        f"threads ({found.fraction:.2f}), limited by {', '.join(found.limiters)}"
    )


@answer
def two_places(shown: Shown) -> str:
    """As the lecture writes it, cut off after two places, with what limits it."""
    found = demand_of(shown.values, shown.run()).on(_machine(shown))
    return (
        f".{int(found.fraction * 100 + 1e-9):02d}".replace(".100", "1.0")
        + f", limited by {', '.join(found.limiters)}"
    )


@answer
def shared(shown: Shown) -> str:
    """What a block takes of it, and how many blocks there is room for."""
    demand = demand_of(shown.values, shown.run())
    found = demand.on(_machine(shown))
    return f"{demand.shared} B a block; room for {found.limits['shared']}; {_text(found)}"


@answer
def full_residency(shown: Shown) -> str:
    """Most registers with which all thread slots are taken."""
    threads = shown.run().trace.launch.threads_per_block
    full = [r for r in range(1, 256) if occupancy(_machine(shown), threads, r).fraction == 1]
    return f"{max(full)} registers a thread"


@answer
def registers(shown: Shown) -> str:
    """By our compiler."""
    known = shown.run().resources
    return f"{known.registers} registers (our kernel, CC 9.0)" if known else ""


@answer
def drivers_registers(shown: Shown) -> str:
    """By the driver, where recorded."""
    found = shown.measurement()
    if found is None or found.registers is None:
        return ""
    return f"{found.registers} registers by the driver"


@answer
def warps_needed(shown: Shown) -> str:
    """The title of the lesson says how many there are and how many it takes."""
    return shown.performance.story.title


@answer
def not_here(shown: Shown) -> str:
    """Why a multiprocessor of the documents is not measured."""
    machine = str(shown.values["sm"])
    said = {"textbook": "an example, no device"}
    return said.get(machine, f"no {machine}") if machine in _MACHINES else ""


@answer
def rate(shown: Shown, loads: int) -> str:
    """What the lesson's sweep measured with so many loads at once."""
    rates = rates_of(shown.run("sweep"))
    waits = waits_of(shown.run("sweep"))
    if rates is None or waits is None:
        return ""
    at, device = LOADS.index(loads), shown.measurement("sweep")
    name = device.device.name if device else ""
    return (
        f"{name}: a warp alone waits {waits[0, at]:.0f} cycles for {loads} at once; 32 warps "
        f"load {rates[-1, at]:.3g} GB/s on one multiprocessor"
    )


@answer
def occupancy_then_and_now(shown: Shown) -> str:
    """Of a block shape, with the registers of the lecture's compiler and of ours."""
    run = shown.run("shape")
    threads = run.trace.launch.threads_per_block
    registers = run.resources.registers if run.resources else 0
    then = occupancy(GF100, threads, _C2070_REGISTERS).fraction
    now = occupancy(architecture(run.arch), threads, registers).fraction
    return f"occupancy {then:.2f} on CC 2.0, {now:.2f} on CC 9.0"


@answer
def achieved_occupancy(shown: Shown) -> str:
    """Of a block shape, as counted, and its time."""
    found = shown.measurement("shape")
    achieved = found.values().get("achieved_occupancy") if found else None
    if found is None or achieved is None or found.timing is None:
        return ""
    return f"achieved {achieved / 100:.2f}; {found.timing.median / 1000:.4g} ms"
