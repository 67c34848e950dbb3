"""Predict how long a launch takes, and why, without a GPU: emulate it, simulate some
multiprocessors, ask what if.
"""

from dataclasses import replace

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.base.errors import UnavailableError
from gpuviz.base.waiting import Cancel, Progress, go_on, quiet
from gpuviz.launch.job import Job
from gpuviz.memory.counts import Count
from gpuviz.memory.operands import lines_of
from gpuviz.ptx.options import Options
from gpuviz.ptx.simt.program import reachable
from gpuviz.ptx.text.ir import Function, Instruction, Module
from gpuviz.ptx.text.parser import parse
from gpuviz.run import emulated
from gpuviz.run.advice import advice
from gpuviz.run.run import Run
from gpuviz.run.throughput import memory_sectors
from gpuviz.sass.level import sass_level
from gpuviz.sass.listing import Listing
from gpuviz.timing.device import Device, device_of
from gpuviz.timing.explanation import Explanation, explained
from gpuviz.timing.prediction import SampledLaunch, predict, predict_each
from gpuviz.timing.sample import each_alone, sample
from gpuviz.timing.schedule import not_measured
from gpuviz.timing.timeline import Timeline, timeline_of
from gpuviz.traces.trace import Trace


def not_timed(module: Module, kernel: Function) -> str:
    """Why no time can be predicted for a kernel, "" when one can."""
    body = [i for f in reachable(module, kernel) for i in f.body]
    if not any(i.opcode.name == "mbarrier" or "bulk" in i.opcode.mods for i in body):
        return ""
    for one in body:
        if reason := _unknown(one):
            return reason
    return ""


def _unknown(one: Instruction) -> str:
    name, mods = one.opcode.name, one.opcode.mods
    together = name in ("mapa", "getctarank") or (name == "barrier" and "cluster" in mods)
    if together or "multicast::cluster" in mods:
        return "blocks of a cluster that wait for each other are not modelled"
    if "bulk" in mods and "mbarrier::complete_tx::bytes" not in mods and "prefetch" not in mods:
        return "how long bulk copies out of shared memory take is not modelled"
    if "tensor" in mods:
        return "how long copies of boxes of tensors take is not modelled"
    if name == "mbarrier" and mods[0] in ("arrive_drop", "complete_tx") or "noinc" in mods:
        return "arrivals for good, and those of asynchronous copies, are not modelled"
    return ""


_REPLAYED = "how long constants take that are loaded again for other lanes is not modelled"
_RECORD = 4_000_000  # rows; the sample is small, and nothing of it may be cut


def launched(
    job: Job, arch: Architecture, device: Device, options: Options, first: Run | None = None
) -> SampledLaunch:
    """A launch as the model of time wants it; `first` is a run of it, some blocks recorded with
    their paths, which does where it has those that are looked at.

    Raises
    ------
    UnavailableError : there is no machine code of it that tells which PTX it was made from, or it
        has what the model does not know (see `not_timed`), or constants that are loaded again
    and whatever `emulated.run` raises
    """
    return _launched(job, arch, device, options, first)[0]


def _launched(
    job: Job, arch: Architecture, device: Device, options: Options, first: Run | None = None
) -> tuple[SampledLaunch, Run]:
    """As `launched`, with the run that it was made from."""
    module = parse(job.program.ptx)
    if lacks := not_timed(module, module.by_name[job.entry]):
        raise _no_time(job, lacks)
    level = sass_level(job.program, module, job.entry, arch.sm)
    if level.listing is None or level.plan is None or job.resources is None:
        raise _no_time(job, level.reason)
    if shape := not_measured(level.listing.instructions, device):
        raise _no_time(job, f"how long {shape} takes was not measured")
    first = first or _run(job, arch, options, ())
    known = set(first.trace.recorded)
    launch, totals = first.trace.launch, first.counts.totals
    if totals.get(Count.CONSTANT_LOAD_REPLAYS):
        raise _no_time(job, _REPLAYED)
    shared = job.resources.static_shared_bytes + job.dynamic_shared
    fits = occupancy(arch, launch.threads_per_block, job.resources.registers, shared)
    warps = launch.blocks * launch.warps_per_block
    looked_at = sample(
        device,
        launch.blocks,
        fits.blocks,
        sum(n for count, n in totals.items() if count.quantity == "requests") / launch.blocks,
        first.trace.warp_instructions / max(warps, 1),
    )
    enough = first.trace.path is not None and known >= set(looked_at.recorded)
    run = first if enough else _run(job, arch, options, looked_at.recorded)
    made = SampledLaunch(
        run.trace,
        module,
        _at_home(level.listing, job),
        level.plan,
        arch,
        looked_at,
        fits.blocks,
        fits.allocated_shared if shared else 0,
        *memory_sectors(run),
        recorded_share(module, run.trace),
    )
    return made, run


def recorded_share(module: Module, trace: Trace) -> float:
    """Which part of what the recorded blocks do was recorded: 1 where all warps have ended."""
    path = trace.path
    if path is None or not len(path.stretch):
        return 1.0
    ends = {i.pc for f in module.functions for i in f.body if i.opcode.name in ("ret", "exit")}
    last = {n for n, s in enumerate(trace.stretches) if s.pc + s.count - 1 in ends}
    if int(path.stretch[-1]) in last:
        return 1.0
    done = int(np.array([s.count for s in trace.stretches])[path.stretch].sum())
    every = trace.warp_instructions * len(trace.recorded) / max(trace.launch.blocks, 1)
    return min(1.0, done / max(every, 1.0))


def _at_home(listing: Listing, job: Job) -> Listing:
    """Machine code whose accesses stand on the lines of their expressions."""
    at = lines_of(job.program, ((i.ptx_line, i.line) for i in listing.memory))
    if not at:
        return listing
    memory = {id(one) for one in listing.memory}
    moved = (
        replace(i, line=at.get(i.ptx_line, i.line)) if id(i) in memory else i
        for i in listing.instructions
    )
    return replace(listing, instructions=tuple(moved))


def _no_time(job: Job, why: str) -> UnavailableError:
    return UnavailableError(f"no time is predicted for {job.entry}: {why}")


def timelines(
    job: Job, arch: Architecture, options: Options, first: Run, each: bool = False
) -> tuple[Timeline, ...]:
    """Multiprocessors over time, what the launch reads being in L2: the one that takes longest, or,
    where `each` block is alone on one, all of them. None where the device is not modelled. `first`
    is a run of the launch (see `launched`), of `each` with all blocks recorded.

    Raises
    ------
    Cancelled, KernelFault : from the emulation
    """
    try:
        device = device_of(arch)
        known = launched(job, arch, device, options, first)
    except UnavailableError:
        return ()
    if not each:
        return (timeline_of(predict(known, device, cold=False)),)
    alone = replace(known, sample=each_alone(first.trace.launch.blocks))
    return tuple(timeline_of(one) for one in predict_each(alone, device, cold=False))


def _run(job: Job, arch: Architecture, options: Options, record: tuple[int, ...]) -> Run:
    wanted = replace(options, record=record, path=True, record_limit=_RECORD)
    return emulated.through(job, arch, level="ptx", options=wanted)


_EMULATING = 0.6  # of the time it takes


def explain(
    job: Job,
    arch: Architecture,
    cold: bool = True,
    options: Options | None = None,
    *,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
    advise: bool | None = None,
) -> Explanation:
    """Explain a launch on the device that stands for its architecture; `cold` when its data is in
    memory only. `advise`: with what to change, which simulates it some times more (None: what is no
    lesson's).

    Raises
    ------
    UnavailableError : no device of the architecture is known, or there is no machine code
    Cancelled : `cancel` said so
    and whatever emulating the launch raises
    """
    device = device_of(arch)

    def emulated(share: float) -> None:
        progress(share * _EMULATING)

    given = replace(options or Options(), progress=emulated, cancel=cancel)
    known, run = _launched(job, arch, device, given)
    prediction = predict(known, device, cold)
    found = explained(
        prediction, lambda share: progress(_EMULATING + share * (1 - _EMULATING)), cancel
    )
    wanted = job.whose == "stranger" if advise is None else advise
    fault = next((one.message for one in run.trace.findings if one.severity == "error"), "")
    found = replace(found, fault=fault)
    return replace(found, advice=advice(found, run, job)) if wanted else found
