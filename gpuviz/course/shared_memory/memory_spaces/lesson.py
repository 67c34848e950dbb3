"""Memory spaces: one kernel with a variable in each, and where an automatic array ends up."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpuviz.arch import Architecture, architecture
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.course.shared_memory.memory_spaces.automatic_array import (
    arrays_of,
    compared,
    cost_of,
    loading,
)
from gpuviz.course.shared_memory.memory_spaces.floor_plan import (
    FloorPlan,
    Place,
    Trip,
    cache_far,
    cycles_of,
    far,
    source,
    way_of,
)
from gpuviz.memory.units import counted, noun_of
from gpuviz.panels.layout import first, rows, spare
from gpuviz.panels.picture import Picture
from gpuviz.panels.table import Columns, Table
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.script import Act, Script, StepKind
from gpuviz.traces.geometry import size_of
from gpuviz.traces.trace import LANES, MemoryInstruction, Requests, Trace
from gpuviz.words.language import grouped, tr

_KERNEL = "spaces.cu"
VARIANTS = ("indexed", "unrolled")
_STOP, _ALL, _LOCAL, _ARRAY = 1.0, 1.2, 3.5, 4.0  # seconds: a space, all, loads, the array
_SPEED, _NEAR = 200.0, 100  # cycles a second of the story; a variable this near is in a cache

LOOK_FOR = (
    "Where each variable of a kernel lives, who sees it, how long it lasts, what its access costs."
)
WORDS = (
    "register",
    "local-memory",
    "shared-memory",
    "global-memory",
    "constant-memory",
    "spill",
    "host",
)

PARAMETERS = (
    Parameter(
        "variant",
        "the array is",
        "indexed",
        offers={"indexed": "indexed at run time", "unrolled": "indexed by an unrolled loop"},
    ),
    Parameter(
        "elements", "its elements", 16, compiled=True, offers={n: str(n) for n in (4, 8, 16, 32)}
    ),
    Parameter("turn", "turn", 3, 0, 31, hint="kept[(k * turn + thread * spread) % elements]"),
    Parameter("spread", "spread", 0, 0, 31, hint="0: all lanes read the same element number"),
    Parameter("threads", "threads per block", 128, offers={n: str(n) for n in (32, 64, 128, 256)}),
    Parameter("blocks", "blocks", 16384, 1, 16384, small=16),
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
            size=size_of((blocks, 1, 1), (threads, 1, 1)),
            outputs=False,
        )
        for name in VARIANTS
    )


def narrate(values: Values, runs: Runs) -> Story:
    """A tour of the spaces in the order in which a warp uses them; all at once; then the array."""
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
    longest = max(spaces[key].cycles for key in order)
    rest = script.act(longest / _SPEED + _ALL, "result", tr("all spaces"))
    reads = Act(rest.end, rest.end)
    if loads is not None and "local" in order:
        detail = f"{len(loads.counted)} × {loads.counted[0]}"
        reads = script.act(_LOCAL, "load", tr("loads of the array"), detail, line)
    last = script.act(_ARRAY, "result", tr("the array"), line=line)
    blocks = run.trace.launch.blocks

    def at(t: float) -> Picture:
        if t >= last.start:
            return compared(arrays, last.share(t))
        if t >= reads.start and loads is not None:
            return loading(loads, reads.share(t))
        place = next((i for i, stop in enumerate(stops) if t < stop.end), len(stops))
        start = rest.start if place == len(stops) else stops[place].start
        return _tour(spaces, order, place, (t - start) * _SPEED, arch, blocks)

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


@dataclass(frozen=True, eq=False)
class Space:
    """A space: its variables, the way to them, how far that is, and what is said of it.

    `via` are the keys of the places on the way, the last one being where variables live; `cycles`
    is how long the first access takes at that distance, `far` that in words.
    """

    name: str
    holds: str
    via: tuple[str, ...]
    cycles: int
    far: tuple[str, ...]
    facts: tuple[str, ...]
    requests: str
    cost: tuple[str, str]
    tip: str
    stores: bool = False


def spaces_of(run: Run, arch: Architecture, uses: Mapping[str, Use]) -> dict[str, Space]:
    """Every space: what lies where, who may use it, and what warp 0 of block 0 asks of it."""
    read, both, none = tr("read"), tr("read, write"), "–"
    one, block, every = tr("one thread"), tr("its block"), tr("all threads")
    thread, program, freed = tr("the thread"), tr("the program"), tr("until freed")
    array = ("", "kept") if "local" in uses else (", kept", "")
    found = {
        "register": (tr("registers"), f"i, sum{array[0]}", one, thread, both, none),
        "shared": (tr("shared"), "row", block, tr("the block"), both, none),
        "constant": (tr("constant"), "scale", every, program, read, both),
        "texture": (tr("read-only"), "table", every, freed, read, both),
        "global": (tr("global"), "in, out", every, freed, both, both),
        "local": (tr("local"), array[1], one, thread, both, none),
    }
    log = str(run.resources.registers) if run.resources else tr("not known")
    cost = {key: (use.each, use.unit) for key, use in uses.items()}
    cost["register"] = (log, tr("a thread"))
    return {
        key: Space(
            name,
            holds,
            way_of(arch, key),
            cycles_of(arch, key),
            far(arch, key),
            tuple(facts),
            str(uses[key].requests) if key in uses else "–",
            cost.get(key, ("–", "")),
            _tip(name, *facts),
            key in uses and uses[key].first.op == "store",
        )
        for key, (name, holds, *facts) in found.items()
    }


def _tip(name: str, seen: str, lasts: str, threads: str, host: str) -> str:
    what = {"name": name, "seen": seen, "lasts": lasts, "threads": threads, "host": host}
    return tr(
        "{name} · seen by {seen} · lasts for {lasts}\nthreads: {threads} · host: {host}", **what
    )


def _stop(script: Script, space: Space, use: Use | None) -> Act:
    """The tour's act at a space: as long as the way takes, and time to read."""
    seconds, detail = _STOP + space.cycles / _SPEED, " ".join(space.cost)
    if use is None:
        return script.act(seconds, "compute", space.name, f"{space.name}: {detail}")
    did = use.first
    kind: StepKind = "store" if did.op == "store" else "load"
    detail = f"{did.text} · {use.requests} × {detail}"
    return script.act(
        seconds, "shared" if did.space == "shared" else kind, space.name, detail, did.line
    )


def _tour(
    spaces: Mapping[str, Space],
    order: tuple[str, ...],
    place: int,
    passed: float,
    arch: Architecture,
    blocks: int,
) -> Picture:
    """The spaces seen so far, `passed` cycles after the one in use, or all, was asked."""
    over = place >= len(order)
    going = order if over else (order[place],)
    longest = max(spaces[key].cycles for key in going)
    clock = tr("cycle {n}", n=int(min(passed, longest))) if longest else ""
    plan = _plan(spaces, frozenset(spaces if over else order[: place + 1]), arch, blocks)
    plan = replace(
        plan,
        clock=clock,
        trips=tuple(_trip(spaces[key], passed) for key in going if spaces[key].cycles),
    )
    table = _facts(spaces, order, None if over else place, len(order) if over else place + 1)
    said = tr("On the chip it is small and fast; in device memory large, and slow to reach.")
    brief = rows(plan, spare(source(arch)), gap=0.3)
    return Picture(
        tr("One kernel, a variable in each memory space"),
        said if over else _sentences()[order[place]],
        first(rows(plan, table, spare(source(arch)), gap=0.4), brief, plan),
    )


def _trip(space: Space, passed: float) -> Trip:
    name = space.holds.split(",")[0]
    share = min(max(passed / space.cycles, 0.0), 1.0)
    near = space.via if space.cycles > _NEAR or len(space.via) == 1 else space.via[:1]
    return Trip(name, near, share, space.stores)


def _plan(
    spaces: Mapping[str, Space], seen: frozenset[str], arch: Architecture, blocks: int
) -> FloorPlan:
    """The places, without what is under way."""

    def here(key: str) -> Place:
        space = spaces[key]
        return Place(space.name, space.holds, space.far, space.tip)

    chip = {key: here(key) for key in ("register", "shared")}
    chip["cache"] = Place(tr("constant cache"), far=spaces["constant"].far)
    modern = arch.cc >= (2, 0)
    name = tr("L1 cache") if modern else tr("texture cache")
    chip["l1"] = Place(name, far=cache_far(arch, "l1"))
    l2 = Place("L2", far=cache_far(arch, "l2")) if modern else None
    device = {
        key: replace(here(key), far=spaces[key].far * (key in ("global", "texture")))
        for key in ("global", "texture", "constant", "local")
        if spaces[key].holds
    }
    who = (
        tr("a multiprocessor: warp 0 of block 0, of {blocks}", blocks=grouped(blocks)),
        tr("a multiprocessor: warp 0"),
        tr("warp 0"),
    )
    return FloorPlan(who, chip, l2, device, seen)


def _facts(
    spaces: Mapping[str, Space], order: tuple[str, ...], now: int | None, shown: int
) -> Table:
    """What is said of the spaces, one row each, in the order in which the warp uses them."""
    keys = (*order, *(key for key in spaces if key not in order))
    listed = [spaces[key] for key in keys if spaces[key].holds]
    of, requests = Columns(listed), (tr("requests of warp 0"), tr("requests"))
    made = (
        of("", lambda s: s.name, "left"),
        of(tr("variables"), lambda s: s.holds, "left", given=True),
        of(tr("seen by"), lambda s: s.facts[0], "left", given=True),
        of(tr("lasts for"), lambda s: s.facts[1], "left", given=True),
        of(tr("threads"), lambda s: s.facts[2], "left", given=True),
        of(tr("host"), lambda s: s.facts[3], "left", given=True),
        of(requests, lambda s: s.requests, optional=2, badge=tr("model")),
        of(tr("each"), lambda s: " ".join(s.cost), optional=1),
    )
    return Table(made, now, len(listed) if now is None else shown)


def _sentences() -> dict[str, str]:
    """What is to be said about each space."""
    return {
        "register": tr("Plain variables live in registers, which only their thread sees."),
        "shared": tr("__shared__ row: every thread of the block reads what another one wrote."),
        "constant": tr(
            "__constant__ scale: the host reads and writes it, all threads read it, cached."
        ),
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


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
