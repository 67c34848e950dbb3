"""`gpuviz.trace` and `gpuviz.count`: a launch run, or all those that a program makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, overload

from gpuviz.api.run import Run, with_time
from gpuviz.api.tables import Counts, brief
from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.base.waiting import SECONDS
from gpuviz.cli.no_kernel import refuse
from gpuviz.compile import Program, compile_arch, compile_cuda, load_program, ptx_program
from gpuviz.files.folders import OPENED
from gpuviz.integrations.calls import BuildOptions, Call, LaunchRequest, of_program
from gpuviz.integrations.watching import LaunchWatch
from gpuviz.launch.job import triple
from gpuviz.ptx.options import Blocks, Engine, Options
from gpuviz.run import emulated
from gpuviz.run import run as base
from gpuviz.run.run import Level
from gpuviz.traces.check_table import ALL
from gpuviz.traces.geometry import Triple

ARCH = "sm_90"
Grid = int | Sequence[int] | Callable[[Mapping[str, Any]], Sequence[int]]
# The module that a kernel's class is in, and the file that knows such kernels.
LIBRARIES = {
    "triton": "triton_kernels",
    "numba": "numba_kernels",
    "cupy": "cupy_kernels",
    "cupyx": "cupy_kernels",
    "cuda": "cuda_core_kernels",
}
Sizes = int | Sequence[int]
Faults = Literal["keep", "raise"]


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
    faults: Faults = "keep"

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


def asked(call: Call) -> LaunchRequest:
    """The launch of any kernel.

    Raises
    ------
    InputError : it is no kernel that is known here, or lacks a size or an argument
    CompileError, UnavailableError : from compiling it
    """
    if isinstance(call.kernel, str | Path):
        return of_program(_program(call), call)
    library = type(call.kernel).__module__.partition(".")[0]
    if library not in LIBRARIES:
        raise InputError(
            f"{type(call.kernel).__name__} is no kernel that gpuviz knows: give CUDA C or PTX as "
            "text, the path of a .cu or .ptx file, or a kernel of Triton, Numba, CuPy or cuda.core"
        )
    known = import_module(f"gpuviz.integrations.{LIBRARIES[library]}")
    made: LaunchRequest = known.asked(call)
    return made


def sizes_of(sizes: int | Sequence[int] | None, what: str) -> Triple | None:
    """A number or several as three; None where none was given."""
    if sizes is None:
        return None
    given = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    return triple(tuple(map(int, given)), what)


def _program(call: Call) -> Program:
    """The program of a text or a file."""
    text, target = str(call.kernel), compile_arch(call.arch or ARCH)
    path = Path(text) if len(text) < 4096 else Path()
    if "\n" not in text and path.suffix in (*OPENED, ".cubin"):
        refuse(path)
        return load_program(path, arch=target, **call.building.wishes)
    if ".version" in text and ".entry" in text:
        return ptx_program(text)
    return compile_cuda(text, arch=target, **call.building.wishes)


def of_asked(made: LaunchRequest, wishes: Wishes) -> Run:
    """The run of a launch."""
    again = partial(_emulated, made, wishes)
    run = again(wishes.record)
    return Run(with_time(run, made.job) if wishes.time else run, made.job, again)


def _emulated(
    made: LaunchRequest, wishes: Wishes, record: tuple[int, ...], thorough: bool = False
) -> base.Run:
    """The run, with these blocks recorded; `thorough` has its checks look at any cost."""
    arch = architecture(wishes.arch or made.job.program.arch.rstrip("af"))
    how = emulated.run if wishes.faults == "raise" else emulated.through
    options = wishes.options(record)
    options = replace(options, thorough=True) if thorough else options
    run = how(made.job, arch, level=wishes.level, options=options)
    return replace(run, trace=replace(run.trace, notes=(*run.trace.notes, *made.notes)))


class Traced(LaunchWatch, Sequence["Run"]):
    """The runs of the launches made inside, in order.

    On a GPU each launch is made as ever, and emulated from a copy of its arguments. Without one the
    emulator leaves the results in the arrays it was given. Libraries are watched that have been
    imported when the block begins; when it ends, be it by an exception, they are as before.
    """

    def __init__(self, max_launches: int, match: str, wishes: Wishes) -> None:
        """Use `gpuviz.trace()`."""
        super().__init__(max_launches, match)
        self._wishes = wishes
        self._runs: list[Run] = []

    def __enter__(self) -> Traced:
        super().__enter__()
        return self

    def _take(self, kernel: str, made: LaunchRequest, keep: bool, alone: bool) -> bool:
        wishes = self._wishes if keep else replace(self._wishes, record=(), checks=())
        run = self._tried(kernel, lambda: of_asked(made, wishes), alone)
        if run is None:
            return False
        if alone:
            made.restore(run.arrays)
        if keep:
            self._runs.append(run)
        return keep

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        left = self.left_out
        told = [f"left out:\n{left!r}"] if left else []
        return "\n".join([f"{len(self)} launches", *map(repr, self._runs), *told])

    def _repr_html_(self) -> str:
        """The runs as a table: their pages are shown one by one."""
        shown = brief([run._run for run in self._runs])._repr_html_()
        return shown + (self.left_out._repr_html_() if self.left_out else "")


@overload
def trace(
    *, max_launches: int = ..., match: str = ..., arch: str = ..., faults: Faults = ...
) -> Traced: ...
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
    faults: Faults = ...,
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
    faults: Faults = "keep",
) -> Run | Traced:
    """Execute a launch in the emulator, and count what its memory accesses cost.

    Without a kernel it is a context manager: `with gpuviz.trace() as runs:` collects the launches
    of Triton, Numba, CuPy and cuda.core made inside, at most `max_launches` of kernels whose name
    contains `match` (see `gpuviz.api.tracing.Traced`).

    Parameters
    ----------
    kernel : CUDA C or PTX, the path of a .cu, .ptx or .cubin file, or a kernel of a library
    grid, block : one to three numbers; a Triton kernel's `block` follows from its warps
    args : one a parameter: an array (NumPy, CuPy, torch, Numba; copied), a number, or a text such
        as "f32[1024]=rand"
    kwargs : arguments by name, for Triton its constants, num_warps and the like, too
    name : of the kernel, where the text has several
    shared : bytes of dynamic shared memory
    cluster : blocks of a cluster, one to three numbers, of code compiled without __cluster_dims__
    defines, include, options : macros, folders of headers and options of the compiler
    arch : to compile for and to count by; by default what the kernel was compiled for, or sm_90
    level : "sass" counts what the assembler made of the code, "ptx" the code as written
    record : the blocks whose requests are kept
    blocks, engine, seconds, checks : as on the command line (`gpuviz count --help`)
    inplace : write results back to the arrays given
    time : model time and the traffic of caches, too: rows of `run.counts`, or a note why not
    faults : "keep" what ends a launch among the findings of the run, which goes past illegal
        accesses (reads give 0, writes are lost), or "raise" it

    Raises
    ------
    InputError, LaunchError : a kernel, an argument or a size that cannot be
    CompileError, UnsupportedError, UnavailableError : from compiling and running it
    KernelFault : a fault, where it is to be raised; an endless loop in any case

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
        return Traced(
            max_launches, match, Wishes(arch, level, tuple(record), blocks, checks, faults=faults)
        )
    how = defines or {}, tuple(map(Path, include)), tuple(options)
    building = BuildOptions(name, shared, *how, sizes_of(cluster, "cluster"))
    wishes = Wishes(arch, level, tuple(record), blocks, checks, engine, seconds, time, faults)
    shape = grid if callable(grid) else sizes_of(grid, "grid"), sizes_of(block, "block")
    run = of_asked(made := asked(Call(kernel, *shape, args, kwargs or {}, building, arch)), wishes)
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
    return trace(
        kernel,
        grid,
        block,
        args,
        kwargs,
        **{"record": (), "checks": (), "faults": "raise", **wishes},
    ).counts
