"""Limits and launches: what a device allows, and what becomes of a launch that asks for more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import F32, Bool
from gpuviz.errors import LaunchError
from gpuviz.language import tr
from gpuviz.panels.boxed import Boxed
from gpuviz.panels.calls import Call, Calls, LaneStrip, ValuesBeside
from gpuviz.panels.figures import Counted, Figure, Paragraph, Said, Sourced
from gpuviz.panels.layout import Node, columns, first, rows, share, spare
from gpuviz.panels.limits import Limit, Limits
from gpuviz.panels.panel import Answer, Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.script import Act, Script
from gpuviz.runners.base import Run
from gpuviz.runners.job import check_limits
from gpuviz.scenes.base import (
    Choice,
    Lesson,
    Parameter,
    Plan,
    Preset,
    Story,
    Value,
    Values,
    offered,
)
from gpuviz.scenes.perform import job_of
from gpuviz.scenes.values import number

_ROLE, _KERNEL, _ENTRY = "fma4", "fma4.cu", "fma4"
_MOST_ELEMENTS, _MOST_THREADS = 4096, 512  # of the launch that is really run
_ASK, _ROW, _CALLS, _CHECKED, _END = 1.5, 0.6, 4.5, 3.5, 2.0  # seconds
_WRONG = 1e-3  # a difference that rounding does not explain

# Seen on an NVIDIA H200 with CUDA 13.0: every launch beyond a limit, and cudaMemcpy of a symbol,
# return this; cudaDeviceSynchronize and later copies return cudaSuccess.
_ERROR, _OK = "cudaErrorInvalidValue", "cudaSuccess"
_SEEN = ("NVIDIA H200, CUDA 13.0, 2026-11-20", "NVIDIA H200, CUDA 13.0", "NVIDIA H200")
_SOURCES = (
    "8600 GTS (1.1, 1458 MHz): Threads and blocks in detail (2013) · GF100 (2.0): CUDA 2da parte",
    "Threads and blocks in detail (2013) · CUDA 2da parte",
    "Threads and blocks (2013), CUDA 2da parte",
)
_TIMED = (
    "fma4 with N = 2^22: 883.584 µs, occupancy 0.667, Tesla C2070 · CUDA 2da parte",
    "N = 2^22: 883.584 µs, Tesla C2070 (CUDA 2da parte)",
)

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
        "threads", "threads per block", 128, choices=offered(32, 64, 128, 256, 512, 1024, 2048)
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
        dynamic_shared=1024 * number(values, "shared"),
        record=(blocks - 1,),
    )


def attempted(values: Values) -> Plan:
    """The launch asked for, which a device may refuse."""
    return launched(values, number(values, "elements"), number(values, "threads"))


def plan(values: Values) -> tuple[Plan, ...]:
    """A launch like the one asked for that every device accepts, of the first elements."""
    elements = min(number(values, "elements"), _MOST_ELEMENTS)
    small = {**values, "shared": 0}
    return (launched(small, elements, min(number(values, "threads"), _MOST_THREADS)),)


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


def sequential(run: Run) -> F32:
    """What a loop on the host computes: a product, rounded, then a sum, rounded."""
    a, b, c = (run.outputs[name] for name in "abc")
    return np.asarray(a * b + c, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Attempt:
    """A launch asked for, and what comes of it.

    `why` is the reason why `arch` refuses it, "" when it does not; `got` what the host has after
    unchecked calls; `difference` its largest difference from `reference`; `guarded` (32,) which
    lanes of the last warp that stores have an element; `ran` elements of the launch that was run.
    """

    arch: str
    limits: tuple[Limit, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    elements: int
    why: str
    plain_copy: bool
    got: F32
    reference: F32
    difference: float
    guarded: Bool
    ran: int

    @property
    def failed(self) -> bool:
        """Whether a call returns an error."""
        return bool(self.why) or self.plain_copy


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of one launch: asked for, held against the limits, called, checked."""
    run, asked = runs[_ROLE], attempted(values)
    attempt = _attempt(values, run, asked)
    title, sentence, count = _title(attempt), _sentence(attempt), len(attempt.limits)
    script = Script(_ROLE)
    ask = script.act(_ASK, "intro", tr("launch"), _geometry(attempt), 2)
    for row in attempt.limits:
        detail = tr("more than is allowed") if row.refused(-1) else tr("within the limit")
        script.act(_ROW, "compute", row.name, detail)
    compared = script.end
    ran = tr("never runs") if attempt.why else tr("runs")
    line = 0 if attempt.why else _line(run)
    calls = script.act(
        _CALLS, "store", tr("unchecked calls"), tr("the kernel {ran}", ran=ran), line
    )
    checks = script.act(_CHECKED, "barrier", tr("checked calls"), attempt.why or tr("no error"))
    difference = tr("maximum difference {d}", d=f"{attempt.difference:.2g}")
    script.act(_END, "result", tr("result"), difference)

    def at(t: float) -> Picture:
        done = Act(ask.end, compared).counted(t, count)
        short = attempt.arch.split("(")[-1].rstrip(")")
        names = (*((card,) for card in PUBLISHED), (attempt.arch, short))
        table = rows(
            Limits(names, attempt.limits, ask.share(t), done),
            Sourced(_TIMED if attempt.elements == 1 << 22 else _SOURCES),
            gap=0.2,
        )
        boxes = _unchecked(attempt, calls.share(t)), _checked(attempt, checks.share(t))
        wide = columns(share(1.4, table), share(1, rows(*boxes, gap=0.6)), gap=0.9)
        beside = columns(*(share(1, box) for box in boxes), gap=0.6)
        return Picture(title, sentence, first(wide, rows(table, beside, gap=0.6), wide))

    return Story.of(script, at, _expected(values))


def _line(run: Run) -> int:
    """The CUDA line that stores."""
    return next(i.line for i in run.trace.instructions if i.op == "store")


def _attempt(values: Values, run: Run, asked: Plan) -> Attempt:
    """All that is known of the launch asked for."""
    arch = architecture(run.arch)
    why, plain_copy = refusal(asked, run.arch), values["copy"] == "symbol"
    reference = sequential(run)
    got = np.zeros_like(reference) if why or plain_copy else run.outputs["d"]
    stores = run.trace.of(op="store")
    return Attempt(
        str(arch),
        limits(asked, run, arch),
        asked.grid,
        asked.block,
        number(values, "elements"),
        why,
        plain_copy,
        got,
        reference,
        float(np.abs(got.astype(np.float64) - reference).max()),
        stores.lanes(len(stores) - 1),
        len(reference),
    )


def _unchecked(attempt: Attempt, done: float) -> Boxed:
    """The calls one after another, whose results nobody reads, and what the host then has."""
    names = ("fma4<<<grid, block>>>", "fma4<<<…>>>"), ("cudaDeviceSynchronize", "cudaDevice…")
    failed = bool(attempt.why), False, attempt.plain_copy
    calls = tuple(
        Call(forms, tr("fails, silently"), "bad") if bad else Call(forms, tr("no error"))
        for forms, bad in zip((*names, ("cudaMemcpy",)), failed, strict=True)
    )
    made: Node = Calls(calls, int(np.ceil(done * 4)))
    if done * 4 > 3:
        made = rows(made, _brought(attempt))
    return Boxed(tr("unchecked: no call is asked"), made, 18.0)


def _brought(attempt: Attempt) -> Node:
    """What the host has, as bars or as numbers, and the largest difference from the reference."""
    ink: Ink = "bad" if attempt.difference > _WRONG else "good"
    long = tr("maximum difference {d}", d=f"{attempt.difference:.3g}")
    short = tr("max. diff. {d}", d=f"{attempt.difference:.2g}")
    said = Counted((Figure(long, ink, bold=True, shorter=(short,)),))
    captions = (
        tr("first 32 elements of d (solid) and of the reference (hollow)"),
        tr("d solid, reference hollow"),
    )
    numbers = [f"{v:.3f}".rstrip("0").rstrip(".") for v in attempt.got[:8]]
    values = tuple("d = " + "  ".join(numbers[:n]) + " …" for n in range(8, 0, -1))
    bars = ValuesBeside(attempt.got, attempt.reference, captions)
    return first(rows(bars, said), rows(Answer(Said(values)), said))


def _checked(attempt: Attempt, done: float) -> Boxed:
    """What the same calls say to a program that asks, or the lanes that are guarded off."""
    title = tr("checked: cudaGetLastError")
    if done <= 0:
        return Boxed(title, None, 9.0)
    if not attempt.failed:
        body = (
            Paragraph(_OK, "good", bold=True),
            Paragraph(_guards(attempt), "muted"),
            LaneStrip(attempt.guarded),
        )
        return Boxed(title, rows(*body), 9.0)
    why = attempt.why or tr("the address of a symbol on the host is no device address")
    returned = Paragraph(_ERROR, "bad", bold=True)
    said = (spare(Paragraph(why)),) if done > 0.4 else ()
    # The sentence at the top says why, too, where there is no room for it here.
    return Boxed(title, rows(returned, *said, Sourced(_SEEN, tr("recorded"), "good")), 9.0)


def _guards(attempt: Attempt) -> str:
    """The lanes of the last warp: those beyond N are switched off by the kernel's if."""
    off = int((~attempt.guarded).sum())
    text = (
        tr("last warp that stores: {n} lanes have no element", n=off)
        if off
        else tr("last warp: every lane has an element")
    )
    if attempt.ran < attempt.elements:
        text = f"{text} ({tr('of the first {n} run here', n=attempt.ran)})"
    return text


def _geometry(attempt: Attempt) -> str:
    grid, block = (" x ".join(f"{n:,}" for n in size) for size in (attempt.grid, attempt.block))
    return tr("grid {grid}, block {block}", grid=grid, block=block)


def _title(attempt: Attempt) -> str:
    """What becomes of it."""
    if attempt.why:
        return tr("This launch never happens, and no call says so unless it is asked")
    if attempt.plain_copy:
        return tr("The kernel ran, but a plain copy of a symbol brings nothing back")
    if any(row.refused(i) for row in attempt.limits for i in range(len(PUBLISHED))):
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
    n, threads = number(values, "elements"), number(values, "threads")
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
