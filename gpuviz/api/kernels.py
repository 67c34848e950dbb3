"""What `gpuviz.trace` is given as a kernel: whose it is, what is launched of it, and its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from gpuviz.api.run import Run, with_time
from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.base.waiting import SECONDS
from gpuviz.cli.no_kernel import refuse
from gpuviz.compile import Program, compile_arch, compile_cuda, load_program, ptx_program
from gpuviz.files.folders import OPENED
from gpuviz.integrations.calls import Call, LaunchRequest, of_program
from gpuviz.launch.job import triple
from gpuviz.ptx.options import Blocks, Engine, Options
from gpuviz.run import emulated
from gpuviz.run import run as base
from gpuviz.run.run import Level
from gpuviz.traces.checks import ALL
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


def _emulated(made: LaunchRequest, wishes: Wishes, record: tuple[int, ...]) -> base.Run:
    arch = architecture(wishes.arch or made.job.program.arch.rstrip("af"))
    run = emulated.run(made.job, arch, level=wishes.level, options=wishes.options(record))
    return replace(run, trace=replace(run.trace, notes=(*run.trace.notes, *made.notes)))
