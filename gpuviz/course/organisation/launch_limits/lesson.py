"""Limits and launches: what a device allows, and a check that passes though nothing ran."""

from gpuviz.base.arrays import Bool
from gpuviz.course import named
from gpuviz.course.organisation.launch_attempt import (
    CORRECTED,
    ELEMENTS,
    FMA,
    PUBLISHED,
    SET,
    Attempt,
    attempt_of,
    plan,
)
from gpuviz.course.organisation.launch_limits.pictures import COPIES, Acts, gpu, host, moving, shape
from gpuviz.memory.counts import Count
from gpuviz.panels.figures import Figure, FigureRow, Provenance
from gpuviz.panels.layout import at_least, columns, rows, share, spare
from gpuviz.panels.picture import Picture, longest
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Preset, Runs, Story, Value, Values, number
from gpuviz.story.measured import LaunchTime, time_of
from gpuviz.story.script import Script
from gpuviz.words.language import grouped, tr, trn

_ASK, _ROW, _SENT, _COPIED, _CHECK, _HEARD, _END = 2.0, 0.45, 2.5, 3.0, 2.5, 4.0, 3.0  # seconds
_CARDS = (
    "8600 GTS (1.1, 1458 MHz): Threads and blocks in detail (2013) · GF100 (2.0): CUDA 2da parte",
    "Threads and blocks in detail (2013) · CUDA 2da parte",
    "Threads and blocks (2013), CUDA 2da parte",
)
_TIMED = (
    "N = 2^22: set 755.168 µs, fma4 883.584 µs, occupancy 0.667, Tesla C2070 · CUDA 2da parte",
    "N = 2^22: fma4 883.584 µs, Tesla C2070 · CUDA 2da parte",
    "fma4 883.584 µs, Tesla C2070",
)

LOOK_FOR = "Which limit turns a launch away, and how a check passes though nothing ran."
WORDS = ("launch", "grid", "block", "compute-capability", "host", "maximum-difference")

PARAMETERS = (
    Parameter(
        "elements",
        "elements",
        1 << 25,
        offers={1000: "1000", 4096: "4096", 1 << 20: "2^20", 1 << 22: "2^22", 1 << 25: "2^25"},
        hint="N: every thread computes one",
    ),
    Parameter("threads", "threads per block", 128, offers=(32, 64, 128, 256, 512, 1024, 2048)),
    Parameter(
        "along",
        "blocks along",
        "y",
        offers={"x": "x", "y": "y"},
        hint="the axis of the grid that gets all blocks",
    ),
    Parameter("shared", "dynamic shared memory", 0, 0, 256, hint="KiB a block, not used"),
    Parameter(
        "copy",
        "results copied by",
        "default",
        offers={
            "symbol": "cudaMemcpyFromSymbol",
            "default": "cudaMemcpy, cudaMemcpyDefault",
            "directed": "cudaMemcpy, cudaMemcpyDeviceToHost",
        },
        hint="from __device__ arrays to the host",
    ),
    Parameter("filled", "d filled with NaN first", False, hint="on the device"),
)

_FINE: dict[str, Value] = {
    "elements": ELEMENTS,
    "threads": 128,
    "along": "y",
    "shared": 0,
    "copy": "symbol",
    "filled": False,
}
PRESETS = (
    Preset("The silent kernel", {**_FINE, "elements": 1 << 25, "copy": "default"}),
    Preset("2^22 elements, as published", _FINE),
    Preset("It runs, but a shadow is copied", {**_FINE, "copy": "default"}),
    Preset("A direction is named", {**_FINE, "copy": "directed"}),
    Preset("Filled with NaN: it is noticed", {**_FINE, "elements": 1 << 25, "filled": True}),
    Preset("2^18 blocks along x", {**_FINE, "elements": 1 << 25, "along": "x"}),
    Preset("2048 threads a block", {**_FINE, "threads": 2048}),
    Preset("Too much shared memory", {**_FINE, "elements": 4096, "shared": 240}),
    Preset("1000 elements: 24 threads too many", {**_FINE, "elements": 1000}),
)


def narrate(values: Values, runs: Runs) -> Story:
    """The story of one launch: asked for, held against the limits, copied, checked, asked."""
    attempt = attempt_of(values, runs)
    names = (SET, FMA) if attempt.ran else (CORRECTED[SET], CORRECTED[FMA])
    made, fma = {name: runs[name] for name in names}, runs[names[1]]
    idle = attempt.ran and attempt.elements % attempt.asked.block[0] > 0
    title, sentences, guards = _title(attempt), _sentences(attempt), _guards(fma) if idle else None
    script, acts = _script(attempt, fma)
    costs = _costs(attempt, made)

    def at(t: float) -> Picture:
        said = sentences[script.at(t)[0]]
        left, right = host(attempt, acts, t), gpu(attempt, acts, t, guards)
        sources = (
            spare(Provenance(_CARDS if t < acts.copied.start else _TIMED), 2),
            spare(_recorded(attempt)),
        )
        both = at_least(columns(share(1, left), share(1.3, right), gap=0.8), width=52)
        low = right if t < acts.copied.start else left
        return Picture(
            title,
            said,
            rows(share(1, both), costs, *sources, gap=0.2),
            longest(sentences),
            Picture(title, said, rows(share(1, low), spare(costs)), longest(sentences)),
            moving(attempt, acts, t),
        )

    return Story.of(script, at, _expected(values))


def _script(attempt: Attempt, run: Run) -> tuple[Script, Acts]:
    """What happens, step by step."""
    script = Script(FMA if attempt.ran else CORRECTED[FMA])
    stores = next(i.line for i in run.trace.instructions if i.op == "store")
    asked = script.act(_ASK, "intro", tr("launch"), geometry(attempt), 0)
    held = script.act(
        _ROW * len(attempt.gates), "compute", tr("limits"), attempt.why or tr("within every limit")
    )
    sent = (
        script.act(_SENT, "barrier", tr("turned away"), tr("the kernels never run"))
        if attempt.why
        else script.act(_SENT, "store", tr("runs"), geometry(attempt), stores)
    )
    copied = script.act(_COPIED, "load", tr("copies"), COPIES[attempt.way][-1])
    checked = script.act(_CHECK, "compute", tr("check"), "hd = ha × hb + hc")
    heard = script.act(_HEARD, "barrier", tr("every call asked"), "cudaGetLastError")
    result = script.act(_END, "result", tr("result"), _verdict(attempt))
    return script, Acts(asked, held, sent, copied, checked, heard, result)


def geometry(attempt: Attempt) -> str:
    """Grid and block in words."""
    grid, block = (
        " × ".join(map(grouped, shape(size))) for size in (attempt.asked.grid, attempt.asked.block)
    )
    return tr("grid {grid}, block {block}", grid=grid, block=block)


def _guards(run: Run) -> Bool:
    """(32,) which lanes of the last warp that stores have an element."""
    stores = run.trace.of(op="store")
    return stores.lanes(len(stores) - 1)


def _costs(attempt: Attempt, runs: Runs) -> FigureRow:
    """What ran, how big it was, and how long it took."""
    size = next(iter(runs.values())).size
    said = size if attempt.ran else tr("corrected: {size}", size=size)
    made = [Figure(said, "accent", True)]
    for entry, run in zip((SET, FMA), runs.values(), strict=True):
        time = time_of(run)
        made += [_time(f"{entry} {time.attributed}", time)] if time else []
    if attempt.proven:
        said = tr("maximum difference {d}", d=f"{attempt.difference:.2g}")
        made.append(Figure(said, shorter=(tr("max. diff. {d}", d=f"{attempt.difference:.2g}"),)))
    stores = list(runs.values())[1].counts.totals[Count.GLOBAL_STORE_REQUESTS]
    made.append(
        Figure(trn("{n} store request", "{n} store requests", stores, n=grouped(stores)), "muted")
    )
    return FigureRow(tuple(made))


def _time(said: str, time: LaunchTime) -> Figure:
    """How long a kernel took; quiet, and with the reason, where that is mostly the launching."""
    whole = ", ".join(filter(None, (said, time.overhead)))
    return Figure(whole, "muted" if time.overhead else "ink", badge=time.badge, shorter=(said,))


def _recorded(attempt: Attempt) -> Provenance:
    """Whose word the returned values are."""
    if attempt.calls is None or attempt.launch_result is None:
        texts = (
            tr("what the calls return: no recording has this launch"),
            tr("calls: no recording"),
        )
        return Provenance(texts, tr("unavailable"))
    source = attempt.calls.source
    logged = tr("profiler: copied {kind}", kind=attempt.logged) if attempt.logged else ""
    texts = (
        *((f"{source} · {logged}",) if logged else ()),
        tr("what the calls returned: {source}", source=source),
        source,
    )
    return Provenance(texts, tr("recorded"), "good")


def _title(attempt: Attempt) -> str:
    """What becomes of it."""
    if attempt.why and attempt.passes:
        return tr("The kernels never ran, and the check passes")
    if attempt.why:
        return tr("The kernels never ran, and the check notices")
    if not attempt.proven:
        return tr("The kernels ran, but their results never reach the host")
    if any(gate.refused(i) for gate in attempt.gates for i in range(1, 1 + len(PUBLISHED))):
        return tr("{arch} runs what the cards of the documents refuse", arch=attempt.arch)
    return tr("A launch within every limit, and its result checked")


def _sentences(attempt: Attempt) -> tuple[str, ...]:
    """One for each step."""
    why = f"{attempt.why[:1].upper()}{attempt.why[1:]}."
    n = grouped(attempt.elements)
    blocks = grouped(attempt.asked.grid[0] * attempt.asked.grid[1])
    within = tr("Every number is within what {arch} allows.", arch=attempt.arch)
    copies = {
        "symbol": tr(
            "cudaMemcpyFromSymbol looks up where the GPU has each array, and copies that."
        ),
        "default": tr(
            "On the host a symbol's name is the address of its shadow: host memory is copied to "
            "host memory."
        ),
        "directed": tr(
            "A symbol's name is a host address, and the call says device to host: the two disagree."
        ),
    }
    return (
        tr(
            "{n} elements, a thread each: {blocks} blocks of {threads}.",
            n=n,
            blocks=blocks,
            threads=attempt.asked.block[0],
        ),
        why if attempt.why else within,
        tr("The launch is turned away; the error it returns is read by nobody.")
        if attempt.why
        else tr("set fills a, b and c; fma4 computes d."),
        copies[attempt.way],
        _of_check(attempt),
        tr("The same calls, each asked what it returned."),
        _verdict(attempt),
    )


def _of_check(attempt: Attempt) -> str:
    if attempt.host is None:
        return tr("CUDA's manual leaves open what such a copy does.")
    if not attempt.passes:
        return tr("d still holds what it was filled with, and so the check fails.")
    if attempt.proven:
        return tr(
            "The largest difference from a loop on the host is {d}: fma rounds once, the loop "
            "twice.",
            d=f"{attempt.difference:.2g}",
        )
    return tr("0 = 0 × 0 + 0: the check passes, and the program prints ok.")


def _verdict(attempt: Attempt) -> str:
    """What to take home."""
    if attempt.proven:
        return tr("Checked against a sequential version: the largest difference, never equality.")
    if attempt.why and attempt.way == "symbol" and not attempt.passes:
        return tr("Fill what a kernel is to write before it runs: what it did not write shows.")
    return tr(
        "Ask every call, fill results with NaN first, copy symbols with cudaMemcpyFromSymbol."
    )


def _expected(values: Values) -> str:
    """The grid by arithmetic alone."""
    n, threads = number(values, "elements"), number(values, "threads")
    return tr(
        "by arithmetic: {n} / {threads}, rounded up = {blocks} blocks; {over} threads of the "
        "last one have no element",
        n=grouped(n),
        threads=threads,
        blocks=grouped(-(-n // threads)),
        over=-n % threads,
    )


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
