"""Tables A and B: how threads are organised, and how many of them a multiprocessor holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arch.occupancy import Occupancy, occupancy
from gpuviz.arch.occupancy_fit import G80, GF100, TEXTBOOK
from gpuviz.course.organisation.launch_attempt import Attempt, attempt_of, number_of
from gpuviz.course.together.latency_hiding import LOADS, rates_of, waits_of
from gpuviz.course.together.occupancy.lesson import demand_of
from gpuviz.course.together.occupancy.published import C2070_REGISTERS, SHAPES
from gpuviz.course.together.occupancy.resident_blocks import resident_of
from gpuviz.coverage.figure import Figure, Ratio, Row, Said, Settings, Shown
from gpuviz.memory.counts import Count
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated
from gpuviz.story.perform import job_of
from gpuviz.traces.trace import LANES
from gpuviz.words.language import grouped

_MACHINES = {"textbook": TEXTBOOK, "G80": G80, "GF100": GF100}


def _geometry(shown: Shown) -> str:
    launch = shown.run().trace.launch
    return f"{launch.warps_per_block} warps of 32 lanes a block, {launch.blocks} blocks"


def _placed(shown: Shown) -> str:
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


def _verdict(shown: Shown) -> str:
    """What becomes of the launch asked for."""
    return _attempt(shown).why or "within every limit"


def _returned(shown: Shown) -> str:
    """What the launch returned where it was recorded."""
    return _attempt(shown).launch_result or ""


def _checked(shown: Shown) -> str:
    """What the check of the copied arrays finds."""
    found = _attempt(shown)
    if found.host is None:
        return "undefined"
    a, b, c, d = map(number_of, found.host)
    passes = "the check passes" if found.passes else "the check fails"
    return f"{passes}: {d} = {a} × {b} + {c}"


def _copied(shown: Shown) -> str:
    """What the copies returned where that was recorded."""
    found = _attempt(shown)
    result, copied = found.copy_result, found.logged
    return f"{result}, copied {copied}" if result and copied else result or ""


def _device(key: str, unit: str) -> Callable[[Shown], str]:
    """What the recorded device's own table says."""

    def text(shown: Shown) -> str:
        found = shown.measurement()
        return f"{found.device.limits[key]} {unit}" if found and key in found.device.limits else ""

    return text


_MOST_THREADS = _device("maxThreadsPerBlock", "threads a block")
_MOST_SHARED = _device("sharedMemPerBlockOptin", "B of shared memory a block")


def _difference(shown: Shown) -> str:
    return f"maximum difference {_attempt(shown).difference:.6g} from a sequential version"


def _product_difference(shown: Shown) -> str:
    """Of the product at the size people run, from one computed in float64."""
    plan = next(one for one in shown.performance.plans if one.companion_of == "tiled")
    job = job_of(plan, "sm_90")
    run = emulated.run(
        job, architecture("9.0"), level="ptx", options=Options(record=(), blocks="all")
    )
    size = int(shown.values["real"])
    m, n, p = (run.outputs[name].astype(np.float64).reshape(size, size) for name in "MNP")
    return f"maximum difference {np.abs(p - m @ n).max():.6f} from float64"


def _product_as_predicted(shown: Shown) -> str:
    """What the GPU's product comes to: the emulated one, where it is that bit by bit."""
    beside = shown.run("tiled").companion
    found = beside.measurement if beside else None
    if found is None or "P" not in found.differences:
        return ""
    if found.differences["P"] == 0:
        return _product_difference(shown)
    return f"maximum difference {found.differences['P']:.6g} from the emulator"


def _product(size: int, published: float) -> Figure:
    return Figure(
        "matmul-tiled",
        Said(_product_difference, _product_as_predicted),
        f"sgemm, N = {size}: {published:.6f}",
        "32 × 32, tile 16",
        (("real", size),),
        timed="tiled",
    )


def _recorded_difference(role: str) -> Callable[[Shown], str]:
    """Of the recorded results, from the emulated ones."""

    def text(shown: Shown) -> str:
        found = shown.measurement(role)
        if found is None or not found.differences:
            return ""
        return f"maximum difference {max(found.differences.values()):.6g} from the emulator"

    return text


def _idle(shown: Shown) -> str:
    launch = shown.run().trace.launch
    more = launch.blocks * launch.threads_per_block - int(shown.values["elements"])
    return f"{launch.blocks} blocks, {more} threads masked off"


def _idle_measured(shown: Shown) -> str:
    """By the recorded sectors: of all lanes that stored, those whose element there is none of."""
    found = shown.measurement("fma4")
    known = found.values() if found else {}
    if Count.GLOBAL_STORE_SECTORS not in known or Count.GLOBAL_STORE_REQUESTS not in known:
        return ""
    written = known[Count.GLOBAL_STORE_SECTORS] * _FLOATS
    masked = known[Count.GLOBAL_STORE_REQUESTS] * LANES - written
    return f"{masked:g} lanes of the warps that stored wrote nothing"


def _written(shown: Shown) -> str:
    """By the recorded sectors, which are full, and the results."""
    found = shown.measurement("fma4")
    known = found.values() if found else {}
    if Count.GLOBAL_STORE_SECTORS not in known:
        return ""
    count = known[Count.GLOBAL_STORE_SECTORS] * _FLOATS
    return f"{count:g} elements written; {_recorded_difference('fma4')(shown)}"


_FLOATS = 8  # of a sector
_GUARDED = Ratio(Count.GLOBAL_STORE_BYTES, unit="elements written", role="fma4", by=4)
_S1, _S2, _S3, _S4 = ("S1",), ("S2",), ("S3",), ("S4",)

ORGANISATION = (
    Row(
        "A",
        "From the grid to blocks, warps and lanes; each block stays on one multiprocessor",
        ("S1", "S4"),
        (
            Figure("hierarchy", Said(_geometry, _placed), "32 threads a warp", "2-D, 16 x 16"),
            Figure(
                "hierarchy",
                Said(_geometry, _placed),
                "8 cores × 4 cycles of the fastest instruction",
                "3-D, 4 x 4 x 4",
            ),
            Figure("chip", Said(_geometry, _placed), "", "fma4, 2^22 elements"),
        ),
    ),
    Row(
        "A",
        "The limits of a device, and a launch that breaks one",
        ("S2", "S4"),
        (
            Figure(
                "launch-limits",
                Said(_verdict, _MOST_THREADS),
                "8600 GTS: 512 threads a block; GF100: 1024",
                "2048 threads a block",
            ),
            Figure("launch-limits", Said(_verdict, _returned), "", "2048 threads a block"),
            Figure(
                "launch-limits",
                Said(_verdict, _MOST_SHARED),
                "8600 GTS: 16384 B of shared memory",
                "Too much shared memory",
            ),
            Figure("launch-limits", Said(_verdict, _returned), "", "Too much shared memory"),
        ),
    ),
    Row(
        "A",
        "A kernel that did nothing and said nothing: too many blocks, a symbol copied like a "
        "pointer",
        _S2,
        (
            Figure(
                "launch-limits",
                Said(_verdict, _returned),
                "N = 2^25, 128 threads: 2^18 blocks, 65535 allowed",
                "The silent kernel",
            ),
            Figure(
                "launch-limits",
                Said(_checked, _copied),
                "the check passes; the profiler's log: memcpyHtoH",
                "The silent kernel",
            ),
            Figure("launch-limits", Said(_checked, _copied), "", "A direction is named"),
            Figure("launch-limits", Said(_checked, _copied), "", "Filled with NaN: it is noticed"),
            Figure("launch-limits", Said(_verdict, _returned), "", "2^18 blocks along x"),
        ),
    ),
    Row(
        "A",
        "Results held against a sequential version by their largest difference",
        _S2,
        (
            Figure(
                "launch-limits",
                Said(_difference, _recorded_difference("fma4")),
                "",
                "2^22 elements, as published",
            ),
            _product(256, 0.000023),
            _product(512, 0.000046),
            _product(1024, 0.000092),
            _product(2048, 0.000183),
        ),
    ),
    Row(
        "A",
        "Grids rounded up, and the threads beyond the end",
        ("S2", "S3"),
        (
            Figure(
                "launch-limits",
                Said(_idle, _idle_measured),
                "",
                "1000 elements: 24 threads too many",
            ),
            Figure(
                "launch-limits",
                Said(_GUARDED.predicted, _written),
                "",
                "1000 elements: 24 threads too many",
            ),
        ),
    ),
)


def _machine(shown: Shown) -> Architecture:
    return _MACHINES.get(str(shown.values["sm"]), architecture(shown.run().arch))


def _fits(shown: Shown) -> str:
    """What the occupancy lesson finds."""
    return _text(demand_of(shown.values, shown.run()).on(_machine(shown)))


def _resident(shown: Shown) -> str:
    """What a GPU's own record of its blocks says."""
    blocks = resident_of(shown.run()).blocks
    return f"at most {blocks} blocks at once on one multiprocessor" if blocks else ""


def _text(found: Occupancy) -> str:
    return (
        f"{found.blocks} blocks, {grouped(found.threads)} of {grouped(32 * found.max_warps)} "
        f"threads ({found.fraction:.2f}), limited by {', '.join(found.limiters)}"
    )


def _two_places(shown: Shown) -> str:
    """As the lecture writes it, cut off after two places, with what limits it."""
    found = demand_of(shown.values, shown.run()).on(_machine(shown))
    return (
        f".{int(found.fraction * 100 + 1e-9):02d}".replace(".100", "1.0")
        + f", limited by {', '.join(found.limiters)}"
    )


def _shared(shown: Shown) -> str:
    demand = demand_of(shown.values, shown.run())
    found = demand.on(_machine(shown))
    return f"{demand.shared} B a block; room for {found.limits['shared']}; {_text(found)}"


def _full_residency(shown: Shown) -> str:
    """Most registers with which all thread slots are taken."""
    threads = shown.run().trace.launch.threads_per_block
    full = [r for r in range(1, 256) if occupancy(_machine(shown), threads, r).fraction == 1]
    return f"{max(full)} registers a thread"


def _registers(shown: Shown) -> str:
    known = shown.run().resources
    return f"{known.registers} registers (our kernel, CC 9.0)" if known else ""


def _drivers_registers(shown: Shown) -> str:
    found = shown.measurement()
    if found is None or found.registers is None:
        return ""
    return f"{found.registers} registers by the driver"


def _warps_needed(shown: Shown) -> str:
    """The title of the lesson says how many there are and how many it takes."""
    return shown.performance.story.title


def _not_here(shown: Shown) -> str:
    """Why a multiprocessor of the documents is not measured."""
    machine = str(shown.values["sm"])
    said = {"textbook": "an example, no device"}
    return said.get(machine, f"no {machine}") if machine in _MACHINES else ""


def rate_of(loads: int) -> Callable[[Shown], str]:
    """What the lesson's sweep measured with so many loads at once."""

    def text(shown: Shown) -> str:
        rates = rates_of(shown.run("sweep"))
        waits = waits_of(shown.run("sweep"))
        if rates is None or waits is None:
            return ""
        at, device = LOADS.index(loads), shown.run("sweep").measurement
        name = device.device.name if device else ""
        return (
            f"{name}: a warp alone waits {waits[0, at]:.0f} cycles for {loads} at once; 32 warps "
            f"load {rates[-1, at]:.3g} GB/s on one multiprocessor"
        )

    return text


def _by_occupancy(x: int, y: int, published: str) -> Figure:
    """A block shape: its occupancy, then and now, beside its time."""

    def predicted(shown: Shown) -> str:
        run = shown.run("shape")
        registers = run.resources.registers if run.resources else 0
        then = occupancy(GF100, x * y, C2070_REGISTERS).fraction
        now = occupancy(architecture(run.arch), x * y, registers).fraction
        return f"occupancy {then:.2f} on CC 2.0, {now:.2f} on CC 9.0"

    def measured(shown: Shown) -> str:
        found = shown.measurement("shape")
        achieved = found.values().get("achieved_occupancy") if found else None
        if found is None or achieved is None or found.timing is None:
            return ""
        return f"achieved {achieved / 100:.2f}; {found.timing.median / 1000:.4g} ms"

    return Figure(
        "block-shape", Said(predicted, measured), published, settings=(("x", x), ("y", y))
    )


_TUTORIAL: Settings = (("kernel", "naive"), ("registers", 8), ("sm", "textbook"), ("y", 1))


def _slots(threads: int, published: str) -> Figure:
    return Figure(
        "occupancy", Said(_fits, _not_here), published, settings=(*_TUTORIAL, ("x", threads))
    )


def _shape(x: int, y: int, share: float, milliseconds: int) -> Figure:
    settings: Settings = (("sm", "GF100"), ("registers", C2070_REGISTERS), ("x", x), ("y", y))
    return Figure(
        "occupancy",
        Said(_two_places, _not_here),
        f"{x} × {y}: {share:g}, {milliseconds} ms",
        settings=settings,
    )


OCCUPANCY = (
    Row(
        "B",
        "Thread slots",
        ("S0",),
        (
            _slots(512, "3 blocks fill 1536 slots"),
            _slots(256, "6 blocks fill 1536 slots"),
            Figure("occupancy", Said(_fits, _resident), "", "32 × 5 threads"),
        ),
    ),
    Row(
        "B",
        "Block slots",
        ("S0",),
        (
            Figure(
                "occupancy",
                Said(_fits, _not_here),
                "128 threads: 12 blocks wanted, 8 slots, 1024 of 1536 threads",
                "128 threads in 8 block slots",
            ),
        ),
    ),
    Row(
        "B",
        "Registers, and the cliff where one more costs a block",
        ("S0", "S1", "S3"),
        (
            Figure("occupancy", Said(_fits, _not_here), "6 blocks, 1536 threads", "10 registers"),
            Figure("occupancy", Said(_fits, _not_here), "5 blocks, 1280 threads", "12 registers"),
            Figure("occupancy", Said(_fits, _not_here), "3 blocks", "G80, 10 registers"),
            Figure("occupancy", Said(_fits, _not_here), "2 blocks", "G80, 11 registers"),
            Figure(
                "occupancy",
                Said(_full_residency, _not_here),
                "16384 / 1536 = 10 registers",
                "10 registers",
            ),
        ),
    ),
    Row(
        "B",
        "Shared memory of tiles",
        ("S2", "S3"),
        (
            Figure(
                "occupancy",
                Said(_shared, _not_here),
                "2 KB a block: 8 fit in 16 KB, threads allow 6",
                "2 KB tiles",
            ),
            Figure(
                "occupancy",
                Said(_shared, _not_here),
                "GF100: 8 × 2 KB = 16 KB of 48 KB",
                "GF100, 2 KB tiles",
            ),
        ),
    ),
    Row(
        "B",
        "Occupancy of block shapes, with what limits each",
        _S2,
        tuple(_shape(s.x, s.y, s.occupancy, s.milliseconds) for s in SHAPES),
    ),
    Row(
        "B",
        "Registers of a kernel, by the compiler and by the profiler",
        _S2,
        (
            Figure(
                "occupancy",
                Said(_registers, _drivers_registers),
                "16 registers (CC 2.0), 64 B cmem[0], 24 B cmem[2]",
            ),
        ),
    ),
    Row(
        "B",
        "Occupancy is not performance",
        _S2,
        (
            _by_occupancy(32, 5, "32 × 5, at .83, is the fastest: 33 ms"),
            _by_occupancy(32, 2, "32 × 2, at .33: 49 ms"),
            _by_occupancy(2, 32, "2 × 32, at .33: 182 ms"),
        ),
    ),
    Row(
        "B",
        "Independent instructions against resident warps",
        _S1,
        (
            Figure(
                "ilp-tlp",
                Said(_warps_needed, rate_of(4)),
                "10 registers: 3 blocks",
                "4 independent, 10 registers",
            ),
            Figure(
                "ilp-tlp",
                Said(_warps_needed, rate_of(8)),
                "200 / (8 × 4) = 7 warps needed, 2 blocks have 16",
                "8 independent, 11 registers",
            ),
        ),
    ),
)
