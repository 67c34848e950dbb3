"""Memory spaces: one kernel with a variable in each, and where an automatic array ends up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpuviz.arch import Architecture, architecture
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.memory.transaction_names import counted, noun_of
from gpuviz.panels.figures import Sourced
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.script import Act, Script, StepKind
from gpuviz.panels.spaces import Space, Spaces
from gpuviz.runners.base import Run
from gpuviz.scenes.automatic_array import arrays_of, compared, cost_of, loading
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.values import number
from gpuviz.trace import LANES, MemoryInstruction, Requests, Trace

_KERNEL = "spaces.cu"
VARIANTS = ("indexed", "unrolled")
_STOP, _ALL, _LOCAL, _ARRAY = 1.6, 2.6, 5.0, 5.0  # seconds: a space, all, loads, the array

PARAMETERS = (
    Parameter(
        "variant",
        "the array is",
        "indexed",
        choices=(
            Choice("indexed", "indexed at run time"),
            Choice("unrolled", "indexed by an unrolled loop"),
        ),
    ),
    Parameter(
        "elements",
        "its elements",
        16,
        compiled=True,
        choices=tuple(Choice(n, str(n)) for n in (4, 8, 16, 32)),
    ),
    Parameter("turn", "turn", 3, 0, 31, hint="kept[(k * turn + thread * spread) % elements]"),
    Parameter("spread", "spread", 0, 0, 31, hint="0: all lanes read the same element number"),
    Parameter(
        "threads",
        "threads per block",
        128,
        choices=tuple(Choice(n, str(n)) for n in (32, 64, 128, 256)),
    ),
    Parameter("blocks", "blocks", 16384, 1, 16384),
)

PRESETS = (
    Preset("Indexed at run time", {"variant": "indexed", "elements": 16, "spread": 0}),
    Preset("Unrolled", {"variant": "unrolled", "elements": 16}),
    Preset("Each lane another element", {"variant": "indexed", "elements": 16, "spread": 1}),
    Preset("A small array", {"variant": "indexed", "elements": 8, "spread": 0}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """Both kernels."""
    threads, blocks = number(values, "threads"), number(values, "blocks")
    count = threads * blocks
    buffers = (f"f32[{count}]=rand", f"f32[{threads}]=rand", f"f32[{count}]=zeros")
    scalars = (f"i32={number(values, 'turn')}", f"i32={number(values, 'spread')}")
    defines = (("KEPT", str(number(values, "elements"))),)
    return tuple(
        Plan(
            name,
            _KERNEL,
            name,
            (blocks, 1, 1),
            (threads, 1, 1),
            buffers + (scalars if name == "indexed" else ()),
            defines,
            outputs=False,
        )
        for name in VARIANTS
    )


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """A tour of the spaces in the order in which a warp uses them; then the array."""
    variant, run = str(values["variant"]), runs[str(values["variant"])]
    arch = architecture(run.arch)
    order, uses = order_of(run.trace), uses_of(run.trace, arch)
    if len(order) < 2:
        raise InputError("the trace has no request of warp 0 of block 0; record block 0")
    spaces = spaces_of(run, arch, uses)
    arrays = arrays_of(runs["indexed"], runs["unrolled"], number(values, "elements"))
    loads, line = arrays.loads, arrays.placed[VARIANTS.index(variant)].line

    script = Script(variant)
    stops = [_stop(script, spaces[key], uses.get(key)) for key in order]
    rest = script.act(_ALL, "result", tr("all spaces"))
    reads = Act(rest.end, rest.end)
    if loads is not None and "local" in order:
        detail = f"{len(loads.counted)} × {loads.counted[0]}"
        reads = script.act(_LOCAL, "load", tr("loads of the array"), detail, line)
    last = script.act(_ARRAY, "result", tr("the array"), line=line)
    tour = stops[0].until(stops[-1])

    def at(t: float) -> Picture:
        if t >= last.start:
            return compared(arrays, last.share(t))
        if t >= reads.start and loads is not None:
            return loading(loads, reads.share(t))
        done = tour.counted(t, len(order))
        return _tour(spaces, order, int(done), done % 1.0)

    return Story.of(script, at, _expected(values), arrays.verdict)


@dataclass(frozen=True, eq=False)
class Use:
    """What a warp asks of a memory space: `requests`, of which one takes `each` of `unit`.

    `each` is a range where not all take the same. `first` is the first request's instruction.
    """

    requests: int
    each: str
    unit: str
    first: MemoryInstruction
    stores: bool
    loads: bool


def space_of(instruction: MemoryInstruction) -> str:
    """The space an instruction belongs to; the read-only path has its own."""
    return "texture" if instruction.path == "nc" else instruction.space


def order_of(trace: Trace) -> tuple[str, ...]:
    """The spaces in the order in which warp 0 of block 0 first uses them, registers first."""
    rows = trace.of(block=0, warp=0)
    used = (space_of(trace.instructions[i]) for i in rows.instruction.tolist())
    return ("register", *dict.fromkeys(used))


def uses_of(trace: Trace, arch: Architecture) -> dict[str, Use]:
    """What warp 0 of block 0 asks of each space."""
    rows, found = trace.of(block=0, warp=0), dict[str, list[int]]()
    for row, instruction in enumerate(rows.instruction.tolist()):
        found.setdefault(space_of(trace.instructions[instruction]), []).append(row)
    return {key: _use(trace, arch, rows, some) for key, some in found.items()}


def _use(trace: Trace, arch: Architecture, rows: Requests, some: list[int]) -> Use:
    """Rows of requests to one space; a wide one to local memory is one for each of its words."""
    did = [trace.instructions[rows.instruction[row]] for row in some]
    costs = [cost_of(trace, arch, rows, row) for row in some]
    each = sorted({cost // asked for asked, cost in costs})
    unit = counted(noun_of(arch, did[0].space), each[-1]).removeprefix(str(each[-1])).strip()
    return Use(
        sum(asked for asked, _ in costs),
        f"{each[0]}–{each[-1]}" if len(each) > 1 else str(each[0]),
        unit,
        did[0],
        any(one.op == "store" for one in did),
        any(one.op != "store" for one in did),
    )


def spaces_of(run: Run, arch: Architecture, uses: Mapping[str, Use]) -> dict[str, Space]:
    """Every space: what lies where, who may use it, and what warp 0 of block 0 asks of it."""
    read, both, none = tr("read"), tr("read, write"), "–"
    one, block, every = tr("one thread"), tr("its block"), tr("all threads")
    thread, program, freed = tr("the thread"), tr("the program"), tr("until freed")
    cache = tr("L1 cache") if arch.caches_global else ""
    texture = tr("L1 cache") if arch.has_sectors else tr("texture")
    array = ("", "kept") if "local" in uses else (", kept", "")
    found = {
        "register": (tr("registers"), f"i, sum{array[0]}", "", one, thread, both, none),
        "shared": (tr("shared"), "row", "", block, tr("the block"), both, none),
        "constant": (tr("constant"), tr("cache"), "scale", every, program, read, tr("write")),
        "texture": (tr("read-only"), texture, "table", every, freed, read, both),
        "global": (tr("global"), cache, "in, out", every, freed, both, both),
        "local": (tr("local"), cache, array[1], one, thread, both, none),
    }
    log = str(run.resources.registers) if run.resources else tr("not known")
    cost = {key: (use.each, use.unit) for key, use in uses.items()}
    cost["register"] = (log, tr("a thread"))
    return {
        key: Space(
            name,
            chip,
            device,
            key in ("register", "shared"),
            tuple(facts),
            str(uses[key].requests) if key in uses else "–",
            cost.get(key, ("–", "")),
            _tip(name, *facts),
            key in uses and uses[key].loads and not uses[key].stores,
        )
        for key, (name, chip, device, *facts) in found.items()
    }


def _tip(name: str, seen: str, lasts: str, threads: str, host: str) -> str:
    return tr(
        "{name} · seen by {seen} · lasts for {lasts}\nthreads: {threads} · host: {host}",
        name=name,
        seen=seen,
        lasts=lasts,
        threads=threads,
        host=host,
    )


def _stop(script: Script, space: Space, use: Use | None) -> Act:
    """The tour's act at a space."""
    detail = " ".join(space.cost)
    if use is None:
        return script.act(_STOP, "compute", space.name, detail)
    did = use.first
    kind: StepKind = "store" if did.op == "store" else "load"
    detail = f"{did.text} · {use.requests} × {detail}"
    return script.act(
        _STOP, "shared" if did.space == "shared" else kind, space.name, detail, did.line
    )


def _tour(spaces: Mapping[str, Space], order: tuple[str, ...], place: int, share: float) -> Picture:
    """The spaces seen so far, the one in use pointed out."""
    seen, over = order[: place + 1], place >= len(order)
    shown = tuple(replace(space, seen=over or key in seen) for key, space in spaces.items())
    now = None if over else list(spaces).index(order[place])
    facts = tr("seen by"), tr("lasts for"), tr("threads"), tr("host")
    last = tr("On the chip it is small and fast; in device memory large, and slow to reach.")
    texts = (
        tr(
            "requests of warp 0 by the PTX, and what each of them takes; registers by the "
            "compiler's log"
        ),
        tr("requests of warp 0; registers by the compiler's log"),
        tr("requests of warp 0"),
    )
    return Picture(
        tr("One kernel, a variable in each memory space"),
        last if over else _sentences()[order[place]],
        rows(Spaces(tr("warp 0"), facts, shown, now, share), Sourced(texts, tr("model"), "accent")),
    )


def _sentences() -> dict[str, str]:
    """What is to be said about each space."""
    return {
        "register": tr("Plain variables live in registers, which only their thread sees."),
        "shared": tr("__shared__ row: every thread of the block reads what another one wrote."),
        "constant": tr("__constant__ scale: written by the host, read by all threads, cached."),
        "texture": tr("__ldg(table): global memory that nobody writes, read by the texture path."),
        "global": tr("in and out: device memory that all threads and the host share."),
        "local": tr("kept has run-time indices: each thread has its own in device memory."),
    }


def _expected(values: Values) -> str:
    """Local requests of a warp: stores of four elements at once, loads one by one."""
    elements = number(values, "elements")
    warps = number(values, "threads") // LANES * number(values, "blocks")
    if values["variant"] == "unrolled":
        return tr("by arithmetic: no local request, {count} shared loads", count=elements * warps)
    return tr(
        "by arithmetic: {loads} local loads by the PTX, one for each element and warp",
        loads=elements * warps,
    )


LESSON = Lesson(
    "memory-spaces",
    "Memory spaces",
    "Shared memory",
    "Where each variable of a kernel lives, who sees it, how long it lasts, what its access costs.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=(
        "register",
        "local-memory",
        "shared-memory",
        "global-memory",
        "constant-memory",
        "spill",
        "host",
    ),
)
