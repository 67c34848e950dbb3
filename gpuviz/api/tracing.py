"""`gpuviz.trace` and `gpuviz.count`: from a kernel with its arguments to a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from gpuviz.api.kernels import Grid, asked, sizes_of
from gpuviz.arch import architecture
from gpuviz.base.errors import UnavailableError
from gpuviz.base.waiting import SECONDS
from gpuviz.integrations.asked import Building, Call
from gpuviz.ptx.options import Blocks, Engine, Options
from gpuviz.run import emulated
from gpuviz.run import run as base
from gpuviz.run.run import Level
from gpuviz.traces.checks import ALL

if TYPE_CHECKING:
    from gpuviz.api.run import Run
    from gpuviz.api.tables import Counts
    from gpuviz.api.traced import Traced
    from gpuviz.integrations.asked import Asked
    from gpuviz.launch.job import Job

Sizes = int | Sequence[int]


@dataclass(frozen=True)
class Wishes:
    """How launches are emulated and counted; see `trace`."""

    arch: str = ""
    level: Level = "sass"
    record: tuple[int, ...] = (0,)
    blocks: Blocks = "auto"
    checks: Sequence[str] = ALL
    engine: Engine = "auto"
    seconds: float = SECONDS
    time: bool = False

    def options(self, record: tuple[int, ...]) -> Options:
        """For a launch of which these blocks are recorded."""
        return Options(
            record=record,
            path=bool(record),
            blocks=self.blocks,
            checks=tuple(self.checks),
            thorough=tuple(self.checks) != ALL,
            engine=self.engine,
            seconds=self.seconds,
        )


@overload
def trace(*, max_launches: int = ..., match: str = ..., arch: str = ...) -> Traced: ...
@overload
def trace(
    kernel: Any,
    grid: Grid | None = ...,
    block: Sizes | None = ...,
    args: Sequence[Any] = ...,
    kwargs: Mapping[str, Any] | None = ...,
    *,
    name: str = ...,
    shared: int = ...,
    cluster: Sizes | None = ...,
    defines: Mapping[str, object] | None = ...,
    include: Sequence[str | Path] = ...,
    options: Sequence[str] = ...,
    arch: str = ...,
    level: Level = ...,
    record: Sequence[int] = ...,
    blocks: Blocks = ...,
    checks: Sequence[str] = ...,
    engine: Engine = ...,
    seconds: float = ...,
    inplace: bool = ...,
    time: bool = ...,
) -> Run: ...
def trace(
    kernel: Any = None,
    grid: Grid | None = None,
    block: Sizes | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    name: str = "",
    shared: int = 0,
    cluster: Sizes | None = None,
    defines: Mapping[str, object] | None = None,
    include: Sequence[str | Path] = (),
    options: Sequence[str] = (),
    arch: str = "",
    level: Level = "sass",
    record: Sequence[int] = (0,),
    blocks: Blocks = "auto",
    checks: Sequence[str] = ALL,
    engine: Engine = "auto",
    seconds: float = SECONDS,
    inplace: bool = False,
    time: bool = False,
    max_launches: int = 16,
    match: str = "",
) -> Run | Traced:
    """Execute a launch in the emulator, and count what its memory accesses cost.

    Without a kernel it is a context manager: `with gpuviz.trace() as runs:` collects the launches
    of Triton, Numba, CuPy and cuda.core made inside, at most `max_launches` of kernels whose name
    contains `match` (see `gpuviz.api.traced.Traced`).

    Parameters
    ----------
    kernel : CUDA C or PTX as text, the path of a .cu, .ptx or .cubin file, a kernel of Triton,
        Numba, CuPy or cuda.core
    grid, block : one to three numbers; of a Triton kernel `block` follows from its warps
    args : one for each parameter: an array (NumPy, CuPy, torch, Numba: copied, not changed), a
        number, or a text such as "f32[1024]=rand"
    kwargs : arguments by name, for Triton its constants, num_warps and the like, too
    name : of the kernel, where the text has several
    shared : bytes of dynamic shared memory
    cluster : blocks of a cluster, one to three numbers, of code compiled without __cluster_dims__
    defines, include, options : macros, folders of headers and options of the compiler
    arch : to compile for and to count by; by default what the kernel was compiled for, or sm_90
    level : "sass" counts what the assembler made of the code, "ptx" the code as written
    record : the blocks whose requests are kept, to be shown
    blocks, engine, seconds, checks : as on the command line (`gpuviz count --help`)
    inplace : write results back to the arrays given
    time : model time and the traffic of caches, too, which takes some seconds: rows of `run.counts`
        where the device is modelled, a note why not where it isn't

    Raises
    ------
    InputError, LaunchError : a kernel, an argument or a size that cannot be
    CompileError, UnsupportedError, KernelFault, UnavailableError : from compiling and running it

    >>> import gpuviz, numpy
    >>> scale = "__global__ void scale(float *x, float a) { x[2 * threadIdx.x] *= a; }"
    >>> run = gpuviz.trace(scale, 1, 32, (numpy.ones(64, "f4"), 3.0))
    >>> run
    scale  1 x 32  sm_90, sass level
    global load       1 request, 8 sectors
    global store      1 request, 8 sectors
    >>> run.arrays["x"][:4]
    array([3., 1., 3., 1.], dtype=float32)
    """
    if kernel is None:
        from gpuviz.api.traced import Traced

        return Traced(max_launches, match, Wishes(arch, level, tuple(record), blocks, checks))
    how = defines or {}, tuple(map(Path, include)), tuple(options)
    building = Building(name, shared, *how, sizes_of(cluster, "cluster"))
    wishes = Wishes(arch, level, tuple(record), blocks, checks, engine, seconds, time)
    shape = grid if callable(grid) else sizes_of(grid, "grid"), sizes_of(block, "block")
    made = asked(Call(kernel, *shape, args, kwargs or {}, building, arch))
    run = of_asked(made, wishes)
    if inplace:
        made.restore(run.arrays)
    return run


def count(
    kernel: Any,
    grid: Grid | None = None,
    block: Sizes | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    **wishes: Any,
) -> Counts:
    """The counts of a launch alone; arguments as of `trace`, and quicker: nothing is kept.

    >>> import gpuviz
    >>> copy = "__global__ void copy(float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }"
    >>> gpuviz.count(copy, 1, 32, ("f32[32]=rand", "f32[32]=zeros"))["global_load_sectors"]
    4
    """
    return trace(kernel, grid, block, args, kwargs, **{"record": (), "checks": (), **wishes}).counts


def of_asked(made: Asked, wishes: Wishes) -> Run:
    """The run of a launch."""
    from gpuviz.api.run import Run

    again = partial(_emulated, made, wishes)
    run = again(wishes.record)
    return Run(with_time(run, made.job) if wishes.time else run, made.job, again)


def with_time(run: base.Run, job: Job) -> base.Run:
    """The run explained, or with a note why no time is modelled of it."""
    from gpuviz.run.explained import explain

    if run.explained is not None:
        return run
    try:
        return replace(run, explained=explain(job, architecture(run.arch)))
    except UnavailableError as why:
        return replace(run, trace=replace(run.trace, notes=(*run.trace.notes, str(why))))


def _emulated(made: Asked, wishes: Wishes, record: tuple[int, ...]) -> base.Run:
    arch = architecture(wishes.arch or made.job.program.arch.rstrip("af"))
    run = emulated.run(made.job, arch, level=wishes.level, options=wishes.options(record))
    return replace(run, trace=replace(run.trace, notes=(*run.trace.notes, *made.notes)))
