"""Predict how long a launch takes, without a GPU: emulate it, look at some multiprocessors."""

from __future__ import annotations

from dataclasses import replace

from gpuviz.arch import Architecture
from gpuviz.errors import UnavailableError
from gpuviz.machine.device import Device
from gpuviz.machine.prediction import Launched
from gpuviz.machine.sample import sample
from gpuviz.memory.counts import Count
from gpuviz.occupancy import occupancy
from gpuviz.ptx.options import Options
from gpuviz.ptx.text.parser import parse
from gpuviz.runners import emulated
from gpuviz.runners.base import Run
from gpuviz.runners.job import Job
from gpuviz.sass.level import sass_level

_RECORD = 4_000_000  # rows; the sample is small, and nothing of it may be cut


def launched(job: Job, arch: Architecture, device: Device, options: Options) -> Launched:
    """A launch as the model of time wants it.

    Raises
    ------
    UnavailableError : there is no machine code of it that tells which PTX it was made from
    and whatever `emulated.run` raises
    """
    module = parse(job.program.ptx)
    level = sass_level(job.program, module, job.entry, arch.sm)
    if level.listing is None or level.plan is None or job.resources is None:
        raise UnavailableError(f"no time is predicted for {job.entry}: {level.reason}")
    first = _run(job, arch, options, (0,))
    launch, totals = first.trace.launch, first.counts.totals
    shared = job.resources.static_shared_bytes + job.dynamic_shared
    fits = occupancy(arch, launch.threads_per_block, job.resources.registers, shared)
    warps = launch.blocks * launch.warps_per_block
    looked_at = sample(
        device,
        launch.blocks,
        fits.blocks,
        len(first.trace.requests),
        first.trace.warp_instructions / max(warps, 1),
    )
    run = first if looked_at.recorded == (0,) else _run(job, arch, options, looked_at.recorded)
    return Launched(
        run.trace,
        module,
        level.listing,
        level.plan,
        arch,
        looked_at,
        fits.blocks,
        fits.allocated_shared if shared else 0,
        2 * first.counts.distinct_load_pairs,
        min(totals[Count.GLOBAL_STORE_SECTORS], sum(b.size for b in launch.buffers) // 32),
    )


def _run(job: Job, arch: Architecture, options: Options, record: tuple[int, ...]) -> Run:
    wanted = replace(options, record=record, path=True, record_limit=_RECORD)
    return emulated.run(job, arch, level="ptx", options=wanted)
