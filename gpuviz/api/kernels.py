"""What `gpuviz.trace` is given as a kernel: whose it is, and what is launched of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from gpuviz.compile import (
    Program,
    compile_arch,
    compile_cuda,
    entry_name,
    load_program,
    ptx_program,
)
from gpuviz.errors import InputError
from gpuviz.integrations.asked import Asked, Building, collected
from gpuviz.kernels.names import source_parameters
from gpuviz.ptx.text.parser import parse
from gpuviz.runners.job import Job, Triple, triple
from gpuviz.suffixes import KERNELS

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


def asked(
    kernel: Any,
    grid: Grid | None,
    block: int | Sequence[int] | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    building: Building,
    arch: str,
) -> Asked:
    """The launch of any kernel.

    Raises
    ------
    InputError : it is no kernel that is known here, or lacks a size or an argument
    CompileError, UnavailableError : from compiling it
    """
    if isinstance(kernel, str | Path):
        if kwargs:
            raise InputError(f"arguments by name ({', '.join(kwargs)}) are for Triton: use args")
        shape = _needed(grid, "grid"), _needed(block, "block")
        return _own(_program(kernel, building, arch), *shape, args, building)
    library = type(kernel).__module__.partition(".")[0]
    if library not in LIBRARIES:
        raise InputError(
            f"{type(kernel).__name__} is no kernel that gpuviz knows: give CUDA C or PTX as text, "
            "the path of a .cu or .ptx file, or a kernel of Triton, Numba, CuPy or cuda.core"
        )
    known = import_module(f"gpuviz.integrations.{LIBRARIES[library]}")
    sizes = grid if callable(grid) else sizes_of(grid, "grid")
    made: Asked = known.asked(kernel, sizes, sizes_of(block, "block"), args, kwargs, building, arch)
    return made


def sizes_of(sizes: int | Sequence[int] | None, what: str) -> Triple | None:
    """A number or several as three; None where none was given."""
    if sizes is None:
        return None
    given = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    return triple(tuple(map(int, given)), what)


def _needed(sizes: Grid | None, what: str) -> Triple:
    if callable(sizes):
        raise InputError(f"a {what} that follows from constants is for Triton: give numbers")
    found = sizes_of(sizes, what)
    if found is None:
        raise InputError(f"a launch needs a {what}: one to three numbers, as in {what}=64")
    return found


def _program(kernel: str | Path, building: Building, arch: str) -> Program:
    text, path = str(kernel), Path(kernel) if len(str(kernel)) < 4096 else Path()
    defines = {key: str(value) for key, value in building.defines.items()}
    target = compile_arch(arch or ARCH)
    instances = (building.name,) if "<" in building.name else ()
    if "\n" not in text and path.suffix in (*KERNELS, ".cuh", ".cubin"):
        return load_program(
            path,
            arch=target,
            defines=defines,
            include=building.include,
            instances=instances,
            options=building.options,
        )
    if ".version" in text and ".entry" in text:
        return ptx_program(text)
    return compile_cuda(
        text,
        arch=target,
        defines=defines,
        include=building.include,
        instances=instances,
        options=building.options,
    )


def _own(
    program: Program, grid: Triple, block: Triple, args: Sequence[Any], building: Building
) -> Asked:
    entry = entry_name(program.kernels, building.name)
    parameters = parse(program.ptx).by_name[entry].params
    names = source_parameters(program.source, entry, len(parameters))
    made = collected(args, names, parameters)
    job = Job(
        program,
        entry,
        grid,
        block,
        tuple(made.specs),
        building.shared,
        "named",
        names=tuple(made.names),
    )
    return Asked(job, made.arrays, made.notes)
