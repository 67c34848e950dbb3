"""Tables C and D: global memory, shared memory and constants."""

from __future__ import annotations

from collections.abc import Callable

from gpuviz.arch import architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.arch.occupancy_fit import GF100
from gpuviz.course.global_memory.square_array.lesson import expected_row
from gpuviz.course.global_memory.square_array.trials import PUBLISHED, THEN, Triple, loads
from gpuviz.course.together.latency.lesson import Chase
from gpuviz.coverage.figure import Answer, Figure, Ratio, Row, Said, Shown
from gpuviz.coverage.organisation import rate_of
from gpuviz.memory.coalescing import transactions
from gpuviz.memory.counts import Count, count_of
from gpuviz.traces.trace import lane_mask
from gpuviz.words.language import grouped

_S1, _S2, _S4 = ("S1",), ("S2",), ("S4",)

_SECTORS = Ratio(Count.GLOBAL_LOAD_SECTORS, Count.GLOBAL_LOAD_REQUESTS, "sectors a request")

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


def _slides(preset: str, published: str, width: int = 4) -> Figure:
    """A pattern of the slides, under the rules of their GPU."""
    settings = (("bytes", width),)
    return Figure("coalescing", Said(_first_half), published, preset, settings, "sm_10")


def _first_half(shown: Shown) -> str:
    """Transactions of the first half warp: on 1.x it is served by itself."""
    trace = shown.run().trace
    row = trace.of(block=0, warp=0, op="load").select(slice(0, 1))
    width = trace.instructions[int(row.instruction[0])].width
    active = lane_mask(row.active)
    active[:, 16:] = False
    moved = transactions(architecture(shown.run().arch), row.address, active, width)
    return f"{moved.count[0]} of {moved.moved[0]} bytes in all"


def _through_the_years(shown: Shown) -> str:
    """Transactions of the same load on every architecture."""
    trace = shown.run().trace
    row = trace.of(block=0, warp=0, op="load").select(slice(0, 1))
    width = trace.instructions[int(row.instruction[0])].width
    counts = {
        sm: int(transactions(architecture(sm), row.address, lane_mask(row.active), width).count[0])
        for sm in _HISTORY
    }
    return ", ".join(f"{architecture(sm).version}: {count}" for sm, count in counts.items())


def _loads_a_warp(role: str) -> Ratio:
    """Load instructions a warp executes; each warp stores once."""
    return Ratio(Count.GLOBAL_LOAD_REQUESTS, Count.GLOBAL_STORE_REQUESTS, "loads a thread", role)


def _trial(triple: Triple) -> Figure:
    role = "({}, {}, {})".format(*triple)

    def text(shown: Shown) -> str:
        run = shown.run(role)
        then, now = (loads(run.trace, arch) for arch in (THEN, architecture(run.arch)))
        return (
            f"for 32 elements {then.transactions:g} segments on CC 1.1; {now.transactions:g} "
            f"sectors on CC 9.0 (requests: {now.requests:g}, lines: {now.lines:g})"
        )

    return Figure(
        "square-array",
        Said(text),
        f"{role}: {PUBLISHED[triple]} ms",
        "The seven trials",
        timed=role,
    )


def _same_elements(shown: Shown) -> str:
    """Which element is squared and which doubled says who worked on it."""
    found = shown.measurement()
    if found is None or "a" not in found.differences:
        return ""
    if found.differences["a"]:
        return f"maximum difference {found.differences['a']:.6g} from the emulator"
    return "the same elements squared, and the same doubled, as emulated"


def _first_row(shown: Shown) -> str:
    """Where the eight threads of the small example start, as executed."""
    run, values = shown.run(), shown.values
    rows = run.trace.of(block=0, op="load")
    buffer = run.trace.launch.buffers[0]
    first = [int(a - buffer.address) // 4 for a in rows.address[0][rows.lanes(0)]]
    count = run.trace.launch.threads_per_block
    stride, offset = int(values["stride"]), int(values["offset"])
    same = tuple(first) == expected_row(count, buffer.count // count, stride, offset)
    return f"iteration 0 reads elements {', '.join(map(str, first))}" + ("" if same else " (!)")


def _c2070_occupancy(shown: Shown) -> str:
    """Of fma4 on the lecture's card, with the registers of our compiler."""
    run = shown.run("fma4")
    registers = run.resources.registers if run.resources else 0
    found = occupancy(GF100, run.trace.launch.threads_per_block, registers)
    return f"occupancy {found.fraction:.3f} on CC 2.0 with {registers} registers"


def _most_under_way(shown: Shown) -> str:
    """What the last block says that is shown over time: most warps, most loads of each."""
    story = shown.performance.story
    over_time = [step for step in story.steps if step.kind == "load"]
    return story.at(over_time[-1].start).title if story.at else ""


def _branch_efficiency(shown: Shown) -> str:
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


def _latency(shown: Shown) -> str:
    one = _chase(shown)
    return f"{one.latency:.0f} cycles, the data in L2" if one else ""


def _hop(shown: Shown) -> str:
    one = _chase(shown)
    return f"{one.hop:.0f} cycles a hop, by a block's own timer" if one and one.hop else ""


GLOBAL = (
    Row(
        "C",
        "Coalescing as the first GPUs do it, by half warps in order",
        ("S1", "S4"),
        (
            _slides("In order", "1 transaction (64 B)"),
            _slides("In order", "1 transaction (128 B)", 8),
            _slides("In order", "2 transactions (128 B each)", 16),
            _slides("Inactive lanes", "1 transaction"),
            _slides("Permuted pair", "16 transactions"),
            _slides("Misaligned start", "16 transactions"),
        ),
    ),
    Row(
        "C",
        "The same pattern on every later architecture",
        _S1,
        (
            Figure(
                "coalescing",
                Said(_through_the_years, _SECTORS.measured),
                "newer machines fix this",
                "Misaligned start",
            ),
            Figure("coalescing", Said(_through_the_years, _SECTORS.measured), "", "Stride 2"),
        ),
    ),
    Row(
        "C",
        "Sizes of words and alignment: a struct of five floats",
        _S1,
        (
            Figure("alignment", _loads_a_warp("packed"), "5 loads of 32 bits", "Packed struct"),
            Figure(
                "alignment", _loads_a_warp("aligned"), "2 loads of 128 bits", "Aligned to 16 bytes"
            ),
            Figure("alignment", _loads_a_warp("arrays"), "", "Five arrays"),
        ),
    ),
    Row(
        "C",
        "Walks with a stride, an offset and groups: the small example, and seven trials (8600 "
        "GTS, 2^25 elements)",
        _S4,
        (
            Figure(
                "square-array",
                Said(_first_row, _same_elements),
                "512 elements, 8 threads",
                "Stride 4, offset 0",
            ),
            Figure(
                "square-array",
                Said(_first_row, _same_elements),
                "512 elements, 8 threads",
                "Stride 4, offset 1",
            ),
            *map(_trial, PUBLISHED),
        ),
    ),
    Row(
        "C",
        "Matrices stored row by row, and who reads what",
        _S1,
        (
            Figure(
                "matrix-layout",
                Ratio(
                    Count.GLOBAL_LOAD_SECTORS,
                    Count.GLOBAL_LOAD_REQUESTS,
                    "sectors a request",
                    "row",
                ),
                "",
                "Each thread a row",
            ),
            Figure(
                "matrix-layout",
                Ratio(
                    Count.GLOBAL_LOAD_SECTORS,
                    Count.GLOBAL_LOAD_REQUESTS,
                    "sectors a request",
                    "column",
                ),
                "",
                "Each thread a column",
            ),
        ),
    ),
    Row(
        "C",
        "Latency of global memory, and what fills it",
        ("S1", "S4"),
        (
            Figure(
                "ilp-tlp",
                Said(lambda shown: shown.performance.story.sentence, rate_of(1)),
                "400 to 600 cycles",
                "Today, one load at a time",
            ),
            Figure("ilp-tlp", Said(_most_under_way, rate_of(8)), "", "Today, eight at once"),
            Figure("latency", Said(_latency, _hop), "400 to 600 cycles", "One chain each"),
        ),
    ),
    Row(
        "C",
        "The profiler's counters",
        _S2,
        (
            Figure(
                "launch-limits",
                Said(_c2070_occupancy),
                "fma4: 883.584 µs, occupancy 0.667 (N = 2^22)",
                "2^22 elements, as published",
                timed="fma4",
            ),
            Figure(
                "launch-limits",
                Ratio(
                    Count.GLOBAL_STORE_SECTORS,
                    Count.GLOBAL_STORE_REQUESTS,
                    "sectors a request",
                    "set",
                ),
                "set: 755.168 µs (N = 2^22)",
                "2^22 elements, as published",
                timed="set",
            ),
            Figure(
                "launch-limits",
                Ratio(
                    Count.GLOBAL_LOAD_SECTORS,
                    Count.GLOBAL_LOAD_REQUESTS,
                    "sectors a request",
                    "fma4",
                ),
                "",
                "2^22 elements, as published",
            ),
            Figure(
                "divergence",
                Said(lambda shown: shown.performance.story.expected, _branch_efficiency),
                "",
                "Groups of 16",
            ),
        ),
    ),
)

_DEGREE = Ratio(
    Count.SHARED_LOAD_WAVEFRONTS, Count.SHARED_LOAD_WAVEFRONTS_IDEAL, "× the ideal", "warp"
)
_WAVEFRONTS = Ratio(
    Count.SHARED_LOAD_WAVEFRONTS, Count.SHARED_LOAD_REQUESTS, "wavefronts a request", "warp"
)


def _banks(shown: Shown) -> str:
    arch = architecture(shown.run().arch)
    return f"{arch.banks} banks, {arch.shared // 1024} KB a multiprocessor"


def _shared_here(shown: Shown) -> str:
    """What the recorded device's own table says."""
    found = shown.measurement("warp")
    size = found.device.limits.get("sharedMemPerMultiprocessor") if found else None
    return f"{size // 1024} KB a multiprocessor" if size else ""


def _bank(preset: str, published: str, **settings: int) -> tuple[Figure, Figure]:
    """A pattern under the slides' rules, and under today's."""
    given = tuple(settings.items())
    return (
        Figure("banks", _DEGREE, published, preset, given, "sm_10"),
        Figure("banks", _WAVEFRONTS, "", preset, given, timed="warp"),
    )


def _passes(role: str, preset: str, published: str) -> Figure:
    kind = ("constant" if role == "constant" else "shared", "load")
    unit = "passes a request" if role == "constant" else "wavefronts a request"
    answer = Ratio(count_of(kind, "wavefronts"), count_of(kind, "requests"), unit, role)
    counted: Answer = answer if role == "shared" else Said(_replayed(answer.predicted), _replays)
    return Figure("constant-memory", counted, published, preset, timed=role, of=role)


def _replayed(passes: Callable[[Shown], str]) -> Callable[[Shown], str]:
    """Passes, and what of them a GPU counts: those beyond the first."""

    def text(shown: Shown) -> str:
        totals = shown.run("constant").counts.totals
        return f"{passes(shown)}, {grouped(totals[Count.CONSTANT_LOAD_REPLAYS])} replays in all"

    return text


def _replays(shown: Shown) -> str:
    found = shown.measurement("constant")
    count = found.values().get(Count.CONSTANT_LOAD_REPLAYS) if found else None
    return "" if count is None else f"{grouped(count)} replays"


def _local(role: str, preset: str, published: str) -> Figure:
    unit = "local loads for each load of the input"
    return Figure(
        "memory-spaces",
        Ratio(Count.LOCAL_LOAD_REQUESTS, Count.GLOBAL_LOAD_REQUESTS, unit, role),
        published,
        preset,
    )


SHARED = (
    Row(
        "D",
        "Banks",
        _S1,
        (
            Figure("banks", Said(_banks), "16 KB, 16 banks", arch="sm_10"),
            Figure("banks", Said(_banks, _shared_here), "32 banks since"),
        ),
    ),
    Row(
        "D",
        "Consecutive words, and any permutation of them",
        _S1,
        (
            *_bank("Stride 1", "no conflict"),
            *_bank("Permutation", "no conflict within the 16 words of a half warp"),
        ),
    ),
    Row(
        "D",
        "Strides of 2 and 8",
        _S1,
        (*_bank("Stride 8", "2-way conflict", stride=2), *_bank("Stride 8", "8-way conflict")),
    ),
    Row("D", "Odd strides are free", _S1, _bank("Stride 7", "no conflict: the stride is odd")),
    Row("D", "Broadcast of one word", _S1, _bank("Broadcast", "no conflict", share=32)),
    Row(
        "D",
        "Half warps do not conflict with each other",
        _S1,
        (
            Figure(
                "banks",
                _WAVEFRONTS,
                "2 half warps, each without a conflict",
                "Stride 1",
                (),
                "sm_10",
            ),
        ),
    ),
    Row(
        "D",
        "Constant memory: one word for the warp is broadcast (others one by one: NVIDIA's guide)",
        ("S1", "S3"),
        (
            _passes("constant", "One word", "one access"),
            _passes("constant", "32 words", "one access for each word"),
            _passes("shared", "32 words", ""),
        ),
    ),
    Row(
        "D",
        "The memory spaces, who sees them, and how long they last",
        ("S0", "S1", "S3"),
        (
            _local("indexed", "Indexed at run time", "automatic arrays are in local memory"),
            _local("unrolled", "Unrolled", ""),
        ),
    ),
)
