"""Table E: matrix multiplication, and fma4."""

from __future__ import annotations

import numpy as np

from gpuviz.arch import architecture
from gpuviz.course.together.matmul_tiled.published import query_of
from gpuviz.course.together.thread_coarsening.inner_loops import inner_loop_of
from gpuviz.coverage.figure import Answer, Figure, Ratio, Row, Said, Shown
from gpuviz.memory.counts import Count

_S0, _S2, _S3 = ("S0",), ("S2",), ("S3",)
_ASSUMED = "the course's device, not a real one"
_TBS, _GBS, _PEAK = 1e12, 150e9, 12e12  # the course's devices: bytes and operations a second


def _reads(role: str) -> Said:
    """How often the watched block loads each element of M and N that it needs."""

    def text(shown: Shown) -> str:
        rows = shown.run(role).trace.of(space="global", op="load")
        active = np.stack([rows.lanes(i) for i in range(len(rows))])
        loaded = rows.address[active]
        return f"{len(loaded) / len(np.unique(loaded)):g} loads of each element by a block"

    return Said(text)


def _ratio(shown: Shown) -> float:
    """Floating-point operations for each 4-byte element loaded from global memory."""
    run = shown.run("naive")
    return run.trace.flops / (run.counts.totals[Count.GLOBAL_LOAD_BYTES] / 4)


def _reachable(bandwidth: float, tile: bool = False) -> Said:
    """The rate that so many bytes a second allow."""

    def text(shown: Shown) -> str:
        run = shown.run("tiled" if tile else "naive")
        ratio = run.trace.flops / (run.counts.totals[Count.GLOBAL_LOAD_BYTES] / 4)
        rate = ratio * bandwidth / 4
        return f"ratio {ratio:g}: {rate / 1e9:g} GFLOP/s, {rate / _PEAK:.0%} of 12 TFLOP/s"

    return Said(text)


def _needed(shown: Shown) -> str:
    return f"ratio {_PEAK / (_TBS / 4):g} needed, {_ratio(shown):g} there"


def _saved(shown: Shown) -> str:
    """Global loads of both kernels."""
    naive, tiled = (
        shown.run(role).counts.totals[Count.GLOBAL_LOAD_BYTES] for role in ("naive", "tiled")
    )
    return f"traffic / {naive / tiled:g}"


def _saved_measured(shown: Shown) -> str:
    """By the sectors that the counters saw; bytes asked for are not counted by hardware."""
    found = [shown.measurement(role) for role in ("naive", "tiled")]
    counts = [one.values().get(Count.GLOBAL_LOAD_SECTORS, 0.0) if one else 0.0 for one in found]
    return f"sectors / {counts[0] / counts[1]:.3g}" if all(counts) else ""


def _phases(shown: Shown) -> str:
    """Barriers passed tell how many phases of load and multiply there were."""
    run = shown.run("tiled")
    barriers = int(run.trace.of(space="global", op="store").phase.max())
    return f"{barriers // 2} phases, {barriers} barriers"


def _correct(shown: Shown) -> str:
    """How many elements the phase count rounded down gets wrong, and what rounding up gives."""
    down, up, naive = (
        shown.run(role).outputs["P"] for role in ("rounded down", "rounded up", "naive")
    )
    wrong = int((down != naive).sum())
    values = sorted({f"{value:g}" for value in up})
    every = f"all elements {values[0]}" if len(values) == 1 else "right"
    left = int((up != naive).sum())
    return f"{wrong} of {len(naive)} wrong rounded down; rounded up {left} wrong, {every}"


def _dynamic(shown: Shown) -> str:
    run = shown.run()
    known = run.resources.static_shared_bytes if run.resources else 0
    return f"{run.trace.launch.dynamic_shared} B dynamic, {known} B static"


def _by_the_query(shown: Shown) -> str:
    """The tile that the device's own table allows."""
    run = shown.run()
    return query_of(run.measurement, architecture(run.arch)).said if run.measurement else ""


def _static(shown: Shown) -> str:
    known = shown.run("tiled").resources
    return f"{known.static_shared_bytes / 1024:g} KB of shared memory a block" if known else ""


_PARTS = ("fma.rn", "ld.shared", "ld.global", "bar.sync", "mul.wide", "mad.lo", "add.s64")


def _ptx(shown: Shown) -> str:
    """How many instructions of the kernel multiply, load, wait, and compute addresses."""
    _, _, kernel = shown.run("tiled").trace.ptx.partition(".entry tiled(")
    rows = kernel.partition("\n}")[0].splitlines()
    found = {name: sum(name in row for row in rows) for name in _PARTS}
    return ", ".join(f"{count} {name}" for name, count in found.items() if count)


def _fma4(shown: Shown) -> str:
    run = shown.run("fma4")
    totals, elements = run.counts.totals, len(run.outputs["d"])
    read = totals[Count.GLOBAL_LOAD_BYTES] / 4 / elements
    written = totals[Count.GLOBAL_STORE_BYTES] / 4 / elements
    return (
        f"{run.trace.flops / elements:g} operations, {read:g} loads and {written:g} store an "
        "element"
    )


def _tile(size: int, width: int, published: str) -> Figure:
    preset = f"{size} × {size}, tile {width}"
    return Figure("matmul-tiled", Said(_static), published, preset, timed="tiled")


def _coarse(role: str, preset: str, published: str) -> Figure:
    answer: Answer = Ratio(
        Count.GLOBAL_LOAD_SECTORS, Count.GLOBAL_LOAD_REQUESTS, "sectors a request", role
    )
    return Figure("thread-coarsening", answer, published, preset, timed=role, of=role)


def _loop(role: str) -> Figure:
    """What the inner loop of a kernel takes for a product, and what of it computes addresses."""

    def text(shown: Shown) -> str:
        found = inner_loop_of(shown.run(role))
        return (
            f"inner loop, for a product: {found.each():g} instructions, {found.each('memory'):g} "
            f"loads, {found.each('address'):g} for addresses, {found.each('loop'):g} for the loop"
        )

    return Figure("thread-coarsening", Said(text), "", "A block apart", timed=role, of=role)


def _outcome(shown: Shown) -> str:
    """What the race check and the result say."""
    story = shown.performance.story
    return f"{story.steps[-1].detail}; {story.expected.partition('; ')[0]}"


def _returned(shown: Shown) -> str:
    """How far what a GPU returned is from the product as emulated, of the lesson's first kernel."""
    found = shown.measurement()
    if found is None or "P" not in found.differences:
        return ""
    return f"maximum difference {found.differences['P']:g} from the emulator"


def _said(shown: Shown) -> str:
    return shown.performance.story.sentence


# BX, BY and milliseconds on a Tesla C2070, N = 1024; the first one is 60 GFLOP/s.
_FASTEST = (
    (32, 5, 33.264),
    (32, 6, 33.275),
    (32, 24, 33.732),
    (32, 4, 33.780),
    (16, 10, 35.538),
    (32, 3, 35.789),
    (32, 8, 35.800),
)


def shape(x: int, y: int, published: str) -> Figure:
    """A block shape: the sectors of its loads, and its time among those of all shapes."""
    loads = Ratio(Count.GLOBAL_LOAD_SECTORS, Count.GLOBAL_LOAD_REQUESTS, "sectors a request")

    def timed(shown: Shown) -> str:
        found = shown.performance.runs["shape"].measurement
        return f"{found.timing.median / 1000:.4g} ms" if found and found.timing else ""

    return Figure(
        "block-shape", Said(loads.predicted, timed), published, settings=(("x", x), ("y", y))
    )


MATRICES = (
    Row(
        "E",
        "The naive kernel's accesses: 4 × 4 matrices, 2 × 2 blocks",
        ("S0", "S3"),
        (
            Figure(
                "matmul-naive",
                _reads("naive"),
                "each element of M and N twice",
                "4 × 4, blocks of 2 × 2",
                timed="naive",
            ),
        ),
    ),
    Row(
        "E",
        "Operations for each global access, and the roof they meet",
        _S3,
        (
            Figure(
                "matmul-naive",
                _reachable(_TBS),
                "1 TB/s: 250 Gops/s, 2% of 12 TFLOP/s",
                "4 × 4, blocks of 2 × 2",
                why=_ASSUMED,
            ),
            Figure(
                "matmul-naive", Said(_needed), "48 needed", "4 × 4, blocks of 2 × 2", why=_ASSUMED
            ),
            Figure(
                "matmul-naive",
                _reachable(_GBS, tile=True),
                "16 × 16 tiles, 150 GB/s: 600 GFLOP/s",
                "32 × 32, blocks of 16 × 16, 150 GB/s",
                why=_ASSUMED,
            ),
            Figure(
                "roofline",
                Said(_said),
                "48 needed",
                "1 TB/s, 12 TFLOP/s, as published",
                why=_ASSUMED,
            ),
            Figure("roofline", Said(_said), "600 GFLOP/s", "150 GB/s, as published", why=_ASSUMED),
            Figure(
                "roofline", Said(lambda shown: "", _said), "", "The GPU measured", timed="naive"
            ),
        ),
    ),
    Row(
        "E",
        "Tiling, phase by phase",
        ("S0", "S3"),
        (
            Figure(
                "matmul-tiled",
                Said(_saved, _saved_measured),
                "traffic / 2",
                "4 × 4, tile 2",
                timed="tiled",
            ),
            Figure(
                "matmul-tiled",
                Said(_saved, _saved_measured),
                "traffic / 16",
                "32 × 32, tile 16",
                timed="tiled",
            ),
            Figure(
                "matmul-tiled",
                Said(_phases),
                "N / TILE phases",
                "32 × 32, tile 16",
                why="no counter counts barriers",
            ),
        ),
    ),
    Row(
        "E",
        "Boundaries: sizes that are no multiple of the tile, rectangular matrices",
        _S3,
        (
            Figure(
                "matmul-boundary", Said(_correct, _returned), "k / TILE phases", "3 × 3, tile 2"
            ),
            Figure(
                "matmul-boundary",
                Said(_correct, _returned),
                "ones times twos is 6",
                "10 × 3 times 3 × 5, tile 2",
            ),
        ),
    ),
    Row(
        "E",
        "A misplaced barrier, and missing ones",
        _S0,
        (
            Figure(
                "matmul-barrier",
                Said(_outcome, _returned),
                "the second barrier is in the inner loop, the store in the loop over phases",
                "Published listing: barrier in the inner loop",
            ),
            Figure("matmul-barrier", Said(_outcome, _returned), "", "First barrier missing"),
            Figure("matmul-barrier", Said(_outcome, _returned), "", "Second barrier missing"),
        ),
    ),
    Row(
        "E",
        "Shared memory whose size the launch chooses",
        _S3,
        (
            Figure(
                "matmul-tiled",
                Said(_dynamic, _by_the_query),
                "the size of tiles by the device query",
                "32 × 32, tile 16",
                (("shared", "dynamic"),),
            ),
            Figure("occupancy", Said(_dynamic), "", "16 × 16, tiled", timed="kernel"),
        ),
    ),
    Row(
        "E",
        "The naive sgemm over all block shapes, 1 to 32 each way (C2070, N = 1024)",
        _S2,
        tuple(shape(x, y, f"{x} × {y}: {ms} ms") for x, y, ms in _FASTEST),
    ),
    Row(
        "E",
        "Several cells a thread, and unrolling by hand",
        _S2,
        (
            _coarse("one cell", "A block apart", ""),
            _coarse("one cell unrolled", "A block apart", "unrolling gains 5 to 10 %"),
            _coarse("interleaved", "A block apart", "no gain by itself"),
            _coarse("interleaved unrolled", "A block apart", ""),
            _coarse("adjacent unrolled", "Side by side", ""),
        ),
    ),
    Row(
        "E",
        "sgemm through shared memory, B = 8, 16, 32 (C2070, N = 1024)",
        _S2,
        (
            _tile(16, 8, "0.5 KB, 20 ms"),
            _tile(32, 16, "2 KB, 12.1 ms, 166 GFLOP/s"),
            _tile(64, 32, "8 KB, 12.2 ms"),
        ),
    ),
    Row(
        "E",
        "The PTX of the kernel beside its source",
        _S2,
        (
            Figure("matmul-tiled", Said(_ptx), "", "32 × 32, tile 16", why="PTX, not run as such"),
            _loop("one cell"),
            _loop("one cell unrolled"),
        ),
    ),
    Row(
        "E",
        "fma4: d = a * b + c over a whole array",
        _S2,
        (
            Figure(
                "launch-limits",
                Said(_fma4),
                "N = 2^22",
                "2^22 elements, as published",
                timed="fma4",
            ),
            Figure("launch-limits", Said(_fma4), "N = 2^25", "2^18 blocks along x", timed="fma4"),
        ),
    ),
)
