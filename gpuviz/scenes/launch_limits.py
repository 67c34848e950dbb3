"""Limits and launches: what a device allows, and what becomes of a launch that asks for more."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.errors import LaunchError
from gpuviz.language import tr
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.runners.job import check_limits
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Value, Values
from gpuviz.scenes.organisation.launch_limits_view import Attempt, Limit, picture
from gpuviz.scenes.perform import job_of

_ROLE, _KERNEL, _ENTRY = "fma4", "fma4.cu", "fma4"
_MOST_ELEMENTS, _MOST_THREADS = 4096, 512  # of the launch that is really run
_ASK, _ROW, _CALLS, _CHECKED, _END = 1.5, 0.6, 4.5, 3.5, 2.0  # seconds

PARAMETERS = (
    Parameter(
        "elements",
        "elements",
        1 << 25,
        choices=(
            Choice(1000, "1000"),
            Choice(4096, "4096"),
            Choice(1 << 20, "2^20"),
            Choice(1 << 22, "2^22"),
            Choice(1 << 25, "2^25"),
            Choice(1 << 28, "2^28"),
        ),
        hint="N: every thread computes one",
    ),
    Parameter(
        "threads",
        "threads per block",
        128,
        choices=tuple(Choice(n, str(n)) for n in (32, 64, 128, 256, 512, 1024, 2048)),
    ),
    Parameter(
        "along",
        "blocks along",
        "y",
        choices=(Choice("x", "x"), Choice("y", "y")),
        hint="the axis of the grid that gets all blocks",
    ),
    Parameter("shared", "dynamic shared memory", 0, 0, 256, hint="KiB a block, not used"),
    Parameter(
        "copy",
        "result copied",
        "pointer",
        choices=(Choice("pointer", "from a pointer"), Choice("symbol", "from a __device__ symbol")),
        hint="both with cudaMemcpy; a symbol needs cudaMemcpyFromSymbol",
    ),
)

_FINE: dict[str, Value] = {
    "elements": 1 << 25,
    "threads": 128,
    "along": "x",
    "shared": 0,
    "copy": "pointer",
}
PRESETS = (
    Preset("2^18 blocks along y", {**_FINE, "along": "y"}),
    Preset("2^18 blocks along x", _FINE),
    Preset("2048 threads a block", {**_FINE, "threads": 2048}),
    Preset("Too much shared memory", {**_FINE, "elements": 4096, "shared": 240}),
    Preset("Plain copy of a symbol", {**_FINE, "elements": 4096, "copy": "symbol"}),
    Preset("1000 elements: it works", {**_FINE, "elements": 1000}),
    Preset("2^22 elements, as published", {**_FINE, "elements": 1 << 22}),
)

# What the documents say of their cards: limit by row id; what they do not say is left out.
PUBLISHED = {
    "8600 GTS": {
        "threads": 512,
        "block x": 512,
        "block y": 512,
        "block z": 64,
        "grid x": 65535,
        "grid y": 65535,
        "shared": 16384,
        "registers": 8192,
        "warp": 32,
    },
    "GF100": {"threads": 1024, "grid x": 65535, "grid y": 65535},
}


def launched(values: Values, elements: int, threads: int) -> Plan:
    """The launch of so many elements in blocks of so many threads."""
    blocks = -(-elements // threads)
    grid = (blocks, 1, 1) if values["along"] == "x" else (1, blocks, 1)
    buffers = tuple(f"f32[{elements}]={fill}" for fill in ("rand", "rand", "rand", "zeros"))
    return Plan(
        _ROLE,
        _KERNEL,
        _ENTRY,
        grid,
        (threads, 1, 1),
        (*buffers, f"i32={elements}"),
        dynamic_shared=1024 * int(values["shared"]),
        record=(blocks - 1,),
    )


def attempted(values: Values) -> Plan:
    """The launch asked for, which a device may refuse."""
    return launched(values, int(values["elements"]), int(values["threads"]))


def plan(values: Values) -> tuple[Plan, ...]:
    """A launch like the one asked for that every device accepts, of the first elements."""
    elements = min(int(values["elements"]), _MOST_ELEMENTS)
    small = {**values, "shared": 0}
    return (launched(small, elements, min(int(values["threads"]), _MOST_THREADS)),)


def refusal(asked: Plan, arch: str) -> str:
    """Why an architecture refuses a launch, or ""."""
    try:
        check_limits(job_of(asked, arch), architecture(arch))
    except LaunchError as error:
        return str(error)
    return ""


def limits(asked: Plan, run: Run, arch: Architecture) -> tuple[Limit, ...]:
    """What the launch asks for beside what the devices allow."""
    threads = asked.block[0] * asked.block[1] * asked.block[2]
    registers = run.resources.registers * threads if run.resources else None
    rows = (
        ("threads", tr("threads a block"), threads, arch.max_threads_per_block),
        ("block x", tr("block x"), asked.block[0], arch.max_block[0]),
        ("block y", tr("block y"), asked.block[1], arch.max_block[1]),
        ("block z", tr("block z"), asked.block[2], arch.max_block[2]),
        ("grid x", tr("grid x"), asked.grid[0], arch.max_grid[0]),
        ("grid y", tr("grid y"), asked.grid[1], arch.max_grid[1]),
        ("shared", tr("shared bytes"), asked.dynamic_shared, arch.shared_per_block_optin),
        ("registers", tr("registers"), registers, arch.registers_per_block),
        ("warp", tr("lanes a warp"), None, arch.warp),
    )
    return tuple(
        Limit(name, value, (*(PUBLISHED[card].get(key) for card in PUBLISHED), here))
        for key, name, value, here in rows
    )


def sequential(run: Run) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """What a loop on the host computes: a product, rounded, then a sum, rounded."""
    a, b, c = (run.outputs[name] for name in "abc")
    return np.asarray(a * b + c, dtype=np.float32)


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of one launch: asked for, held against the limits, called, checked."""
    run, asked = runs[_ROLE], attempted(values)
    attempt = _attempt(values, run, asked)
    steps = _steps(attempt, run)
    title, sentence = _title(attempt), _sentence(attempt)

    def frame(t: float, given: Stage) -> Frame:
        return picture(given.roomy(), attempt, title, sentence, _moments(steps, t))

    return Story(title, sentence, steps, frame, _expected(values))


def _attempt(values: Values, run: Run, asked: Plan) -> Attempt:
    """All that is known of the launch asked for."""
    arch = architecture(run.arch)
    why, plain_copy = refusal(asked, run.arch), values["copy"] == "symbol"
    reference = sequential(run)
    got = np.zeros_like(reference) if why or plain_copy else run.outputs["d"]
    stores = run.trace.of(op="store")
    return Attempt(
        str(arch),
        tuple(PUBLISHED),
        limits(asked, run, arch),
        asked.grid,
        asked.block,
        int(values["elements"]),
        why,
        plain_copy,
        got,
        reference,
        float(np.abs(got.astype(np.float64) - reference).max()),
        stores.lanes(len(stores) - 1),
        len(reference),
    )


def _steps(attempt: Attempt, run: Run) -> tuple[Step, ...]:
    """Asked, compared row by row, called without checks, called with checks, result."""
    text = run.trace.source.splitlines()
    line = next((n for n, row in enumerate(text, 1) if "d[i] =" in row), 0)
    made = [Step(0.0, _ASK, "intro", tr("launch"), _geometry(attempt), 2, _ROLE)]
    for row in attempt.limits:
        t, bad = made[-1].end, row.refused(-1)
        detail = tr("more than is allowed") if bad else tr("within the limit")
        made.append(Step(t, t + _ROW, "compute", row.name, detail, 0, _ROLE))
    t = made[-1].end
    ran = tr("never runs") if attempt.why else tr("runs")
    made.append(
        Step(
            t,
            t + _CALLS,
            "store",
            tr("unchecked calls"),
            tr("the kernel {ran}", ran=ran),
            0 if attempt.why else line,
            _ROLE,
        )
    )
    made.append(
        Step(
            t + _CALLS,
            t + _CALLS + _CHECKED,
            "barrier",
            tr("checked calls"),
            attempt.why or tr("no error"),
            0,
            _ROLE,
        )
    )
    t = made[-1].end
    made.append(
        Step(
            t,
            t + _END,
            "result",
            tr("result"),
            tr("maximum difference {d}", d=f"{attempt.difference:.2g}"),
            role=_ROLE,
        )
    )
    return tuple(made)


def _moments(steps: tuple[Step, ...], t: float) -> tuple[float, float, float, float]:
    """How far asking, comparing (in rows), calling and checking have come."""
    rows = steps[1:-3]

    def share(start: float, end: float) -> float:
        return min(max((t - start) / (end - start), 0.0), 1.0)

    compared = share(rows[0].start, rows[-1].end) * len(rows)
    calls, checks = steps[-3], steps[-2]
    return (
        share(0.0, _ASK),
        compared,
        share(calls.start, calls.end),
        share(checks.start, checks.end),
    )


def _geometry(attempt: Attempt) -> str:
    grid, block = (" x ".join(f"{n:,}" for n in size) for size in (attempt.grid, attempt.block))
    return tr("grid {grid}, block {block}", grid=grid, block=block)


def _title(attempt: Attempt) -> str:
    """What becomes of it."""
    if attempt.why:
        return tr("This launch never happens, and no call says so unless it is asked")
    if attempt.plain_copy:
        return tr("The kernel ran, but a plain copy of a symbol brings nothing back")
    if any(row.refused(i) for row in attempt.limits for i in range(len(attempt.cards))):
        return tr("{arch} runs what the cards of the documents refuse", arch=attempt.arch)
    return tr("A launch within every limit, and its result checked")


def _sentence(attempt: Attempt) -> str:
    """The limit, or the check."""
    if attempt.why:
        return f"{attempt.why[0].upper()}{attempt.why[1:]}."
    if attempt.plain_copy:
        return tr(
            "cudaMemcpy takes the symbol for an address, and returns an error that nobody "
            "reads; cudaMemcpyFromSymbol is meant."
        )
    if attempt.difference == 0:
        return tr("The result is compared with a sequential loop: there is no difference.")
    return tr(
        "It differs a little from a sequential loop: a fused multiply-add rounds once, the "
        "loop twice."
    )


def _expected(values: Values) -> str:
    """The grid by arithmetic alone."""
    n, threads = int(values["elements"]), int(values["threads"])
    over = -n % threads
    return tr(
        "closed form: {n} / {threads}, rounded up = {blocks} blocks; {over} threads of the "
        "last one have no element",
        n=f"{n:,}",
        threads=threads,
        blocks=f"{-(-n // threads):,}",
        over=over,
    )


LESSON = Lesson(
    "launch-limits",
    "Limits and launches",
    "Organisation",
    "Which limit a launch breaks, and what an unchecked call makes of it.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("launch", "grid", "block", "compute-capability", "host", "maximum-difference"),
)
