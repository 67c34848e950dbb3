"""Run a launch without a GPU: emulate its PTX, count what its memory accesses cost."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from traceback import clear_frames

from gpuviz.arch import Architecture
from gpuviz.arguments import UNSET, check_room, passed, variables
from gpuviz.base.errors import KernelFault
from gpuviz.launch.job import Job, check_limits
from gpuviz.memory.bulk import BulkCopies
from gpuviz.memory.counting import Counter, Counts
from gpuviz.memory.counts import Count
from gpuviz.ptx.emulator import Options, Result, emulate
from gpuviz.ptx.simt.program import reachable
from gpuviz.ptx.text.ir import Instruction, Module
from gpuviz.ptx.text.isa import kind_of
from gpuviz.ptx.text.parser import parse
from gpuviz.run.run import Level, Run, not_checked
from gpuviz.sass.apply import Replay, finish, original
from gpuviz.sass.level import SassLevel, note, sass_level
from gpuviz.sass.tensor import TensorInstructions
from gpuviz.source.kernel_names import source_parameters
from gpuviz.traces.observe import Sink, Sums
from gpuviz.traces.trace import Finding, Trace


def not_modelled(module: Module, entry: str) -> str:
    """What counts do not tell of a kernel, "" where they tell all."""
    every = [at for f in reachable(module, module.by_name[entry]) for at in f.body]
    images = [at for at in every if kind_of(at) == "image"]
    maps = [at for at in every if at.opcode.name == "tensormap"]
    return "; ".join((*_of_images(images), *_of_maps(maps)))


def _of_images(found: list[Instruction]) -> list[str]:
    if not found:
        return []
    words = [
        f"requests of textures and surfaces (lines {_lines(found)}) are not modelled: they are in "
        "none of the counts"
    ]
    if levels := [at for at in found if at.opcode.mods[0] in ("level", "grad")]:
        words.append(
            f"levels of mipmaps (lines {_lines(levels)}) are not emulated: an image has one, "
            "which is read in place of any other"
        )
    return words


def _of_maps(found: list[Instruction]) -> list[str]:
    """Machine code changes a field by a load and a store in shared memory, and copies a map by a
    load there and an atomic exchange in global memory: seen in what ptxas 13.0 makes for sm_90.
    """
    if not found:
        return []
    return [
        f"tensor maps that the kernel makes itself (lines {_lines(found)}): its loads and stores "
        "in shared memory and its atomics in global memory for them are in none of the counts"
    ]


def _lines(found: list[Instruction]) -> str:
    return ", ".join(map(str, sorted({at.line for at in found} - {0}))) or "?"


def run(
    job: Job, arch: Architecture, *, level: Level = "sass", options: Options | None = None
) -> Run:
    """Emulate a launch and predict its counts on an architecture.

    At the sass level accesses are those of the machine code; where there is none for this
    architecture the level of the result is "ptx", and `level_note` says why.

    Raises
    ------
    LaunchError, UnsupportedError, KernelFault, Cancelled : as `emulate` and `check_limits` do
    """
    check_limits(job, arch)
    module = parse(job.program.ptx)
    sass = sass_level(job.program, module, job.entry, arch.sm) if level == "sass" else SassLevel()
    counter = Counter(arch)
    sink = Replay(sass.plan, counter) if sass.plan else counter
    executed = sass.plan.module if sass.plan else module
    tensor = TensorInstructions(executed, _number(arch), sass.listing if sass.plan else None)
    copies = BulkCopies()
    sinks = (sink, copies, tensor) if tensor else (sink, copies)
    result = _emulated(job, arch, executed, sinks, options)
    counts, reason = _level_counts(sass, sink, counter, result.executed)
    counts = replace(counts, others=tensor.counts | copies.counts)
    notes = filter(None, [not_modelled(module, job.entry), tensor.note])
    trace = replace(result.trace, notes=(*result.trace.notes, *notes))
    return Run(
        _trace(job, sass, trace),
        counts,
        result.outputs,
        arch.sm,
        "sass" if sass.plan else "ptx",
        reason,
        job.resources,
        differences=sass.plan.differences if sass.plan else (),
        listing=sass.listing,
        unchecked=job.program.origin,
        engine=result.engine,
        checked=result.checked,
        engine_note=result.engine_note,
        coverage=result.coverage,
        bounds=_bounds(result, sass, tensor, copies, arch),
        size=job.size,
        inputs=result.inputs,
    )


def through(
    job: Job, arch: Architecture, *, level: Level = "sass", options: Options | None = None
) -> Run:
    """As `run`, and past the faults that can be gone past."""
    try:
        return run(job, arch, level=level, options=options)
    except KernelFault as fault:
        return past(fault, job, arch, level=level, options=options)


def past(
    fault: KernelFault,
    job: Job,
    arch: Architecture,
    *,
    level: Level = "sass",
    options: Options | None = None,
) -> Run:
    """A launch that a fault ended, run once more by the NumPy engine: past illegal accesses, and up
    to what nothing can go on after. All that is found of it is among its findings.

    Raises
    ------
    KernelFault : the same, of which there is no such run
    """
    if not isinstance(fault.finding, Finding):
        raise fault
    wanted = replace(options or Options(), goes_on=True, engine="numpy")
    clear_frames(fault.__traceback__)  # they hold the memory of the first run
    try:
        return run(job, arch, level=level, options=wanted)
    except KernelFault:
        raise fault from None


def _emulated(
    job: Job, arch: Architecture, module: Module, sinks: Sequence[Sink], options: Options | None
) -> Result:
    """The launch, by this module in place of its program's."""
    check_room(job.arguments)
    arguments = passed(job.arguments)
    return emulate(
        module,
        job.entry,
        job.grid,
        job.block,
        arguments,
        dynamic_shared=job.dynamic_shared,
        sinks=sinks,
        options=options,
        names=job.names or source_parameters(job.program.source, job.entry, len(arguments)),
        arch=arch.sm,
        source=job.program.source,
        unset=[n for n, s in enumerate(job.arguments) if getattr(s, "fill", "") == UNSET],
        variables=variables(job.arguments),
    )


def _level_counts(
    sass: SassLevel, sink: Sums, counter: Counter, executed: Mapping[int, int]
) -> tuple[Counts, str]:
    """The counts at the level there is, and what to know of them."""
    if sass.plan is None or not isinstance(sink, Replay):
        return counter.result(), f"counted as in the PTX: {sass.reason}" if sass.reason else ""
    return (
        finish(sass.plan, counter.result(), executed),
        note(sass.plan, sink.unmatched, sink.misaligned),
    )


def _number(arch: Architecture) -> int:
    """Its compute capability times ten."""
    return 10 * arch.cc[0] + arch.cc[1]


def _bounds(
    result: Result,
    sass: SassLevel,
    tensor: TensorInstructions,
    copies: BulkCopies,
    arch: Architecture,
) -> dict[Count, tuple[int, int]]:
    """Of a sample: the least and the most that a block counted, times all blocks."""
    each = []
    for one in result.samples:
        counter = Counter(arch)
        sink = Replay(sass.plan, counter) if sass.plan else counter
        one.announce(result.trace.launch, [sink, tensor, copies])
        counts = _level_counts(sass, sink, counter, one.executed)[0]
        each.append(replace(counts, others=tensor.counts | copies.counts).totals)
    if not each:
        return {}
    blocks = result.coverage.blocks
    ranges = {key: [totals[key] for totals in each] for key in each[0]}
    del ranges[Count.L2_LOAD_SECTORS_LEAST]  # what blocks have in common is loaded once
    return {key: (blocks * min(n), blocks * max(n)) for key, n in ranges.items() if any(n)}


def _trace(job: Job, sass: SassLevel, trace: Trace) -> Trace:
    """The trace in terms of the PTX as written, with the program's note."""
    program = job.program
    notes = (*trace.notes, *(n for n in (program.note, not_checked(program.origin)) if n))
    trace = replace(trace, notes=notes, ptx=program.ptx)
    return original(trace, sass.plan) if sass.plan else trace
