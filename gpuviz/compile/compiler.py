"""Source text or file to Program: chooses the compiler, asks the cache first."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gpuviz import bounded
from gpuviz.compile import archs, cache, elf, headers, host, log, nvcc, nvrtc, paths
from gpuviz.compile.binding import Output
from gpuviz.compile.program import CompileError, Program, Resources
from gpuviz.compile.reading import reading, users_own
from gpuviz.errors import InputError, UnavailableError

# What CuPy's RawModule passes, so that numerics agree; then what the pictures need.
FLAGS = (
    "-std=c++17",
    "-ftz=true",
    "--device-as-default-execution-space",
    "-lineinfo",
    "--ptxas-options=-v",
)

# NVRTC writes the folder it runs in into its output, unless the name is absolute.
_FOLDER = "/gpuviz/"
_SYSTEM = (Path("/usr"), Path("/opt"))  # where nvcc's own headers and the host's are
_NO_HEADER = re.compile(r"cannot open source file|#error directive")
_TARGET = re.compile(r"^[ \t]*\.target[ \t]+(sm_\w+)", re.MULTILINE)
_MADE_BY = re.compile(r"^//.*?(release \d+\.\d+, V[\d.]+)", re.MULTILINE)


def compile_cuda(
    source: str,
    *,
    arch: str = "sm_90",
    name: str = "kernel.cu",
    defines: Mapping[str, str] | None = None,
    include: tuple[Path, ...] = (),
    instances: tuple[str, ...] = (),
) -> Program:
    """Compile CUDA C for one architecture to PTX and cubin.

    Parameters
    ----------
    arch : a real architecture that the compiler supports (`compile_arch` maps any to such a one)
    defines : macros, name to value
    include : folders to search for headers, before NVIDIA's own
    instances : template kernels to compile besides those the source instantiates, `f<float>`

    Raises CompileError with diagnostics; UnavailableError when a compiler, or its support for
    `arch`, is missing here. Device-only sources go to NVRTC; those with host code to nvcc.
    """
    macros = tuple(
        f"-D{key}={value}" if value else f"-D{key}" for key, value in (defines or {}).items()
    )
    name = paths.quotable(name)
    include = tuple(folder.absolute() for folder in include)
    found = host.host_line(source)
    if found is not None:
        return _with_nvcc(source, name, arch, macros, include, _host_reason(name, *found))
    try:
        return _with_nvrtc(source, name, arch, macros, include, instances)
    except CompileError as error:
        if not _NO_HEADER.search(error.log) or nvcc.find() is None:
            raise
        return _with_nvcc(source, name, arch, macros, include, "it includes headers NVRTC lacks")


def load_program(
    path: Path,
    *,
    arch: str = "sm_90",
    defines: Mapping[str, str] | None = None,
    include: tuple[Path, ...] = (),
    instances: tuple[str, ...] = (),
) -> Program:
    """Compile a .cu file, or read a .ptx file (with the .cu file of the same name beside it).

    InputError when the file cannot be read; else as `compile_cuda`.
    """
    text = read_text(path)
    if path.suffix == ".ptx":
        return _from_ptx(path, text)
    folders = (path.parent.resolve(), *include)
    return compile_cuda(
        text, arch=arch, name=path.name, defines=defines, include=folders, instances=instances
    )


def read_text(path: Path) -> str:
    """Text of a source file; InputError in words when it cannot be read."""
    return bounded.text(path)


def _from_ptx(path: Path, ptx: str) -> Program:
    if (target := _TARGET.search(ptx)) is None:
        raise InputError(f"{path} is not PTX: it has no .target line.")
    beside = path.with_suffix(".cu")
    name = paths.quotable(beside.name)
    source = read_text(beside) if beside.is_file() else ""
    made_by = _MADE_BY.search(ptx)
    return Program(
        ptx=paths.normalise(ptx, name),
        cubin=b"",
        log="",
        resources={},
        warnings=(),
        source=source,
        name=name,
        arch=target[1],
        compiler=made_by[1] if made_by else "unknown",
        note=f"read from {path.name}: no machine code, so no registers and no sass level",
        read=(str(beside),) if source else (),
    )


def _with_nvrtc(
    source: str,
    name: str,
    arch: str,
    macros: tuple[str, ...],
    include: tuple[Path, ...],
    instances: tuple[str, ...],
) -> Program:
    library = nvrtc.find(archs.capability(arch))
    compiler = "NVRTC {}.{}".format(*library.version)
    archs.require(arch, library.archs, compiler)
    folders = (*include, *headers.folders(library))
    options = (f"-arch={arch}", *FLAGS, *macros, *(f"-I{folder}" for folder in folders))
    given = headers.builtin(folders)
    key = cache.key(source, name, options, instances, compiler, given)
    if (kept := cache.load(key)) is not None:
        return kept
    since = time.time_ns()
    output = library.compile(source, _FOLDER + name, options, given, instances)
    if not output.ok and headers.wants_prelude(output.log):
        options = (*options, f"--pre-include={headers.PRELUDE}")
        output = library.compile(source, _FOLDER + name, options, given, instances)
    foreign = folders[len(include) :]
    read = users_own(output.read, (source, *macros), given, foreign)
    program = _program(output, source, name, arch, compiler, include, read)
    known = reading(output.read, (source, *macros), given, include, foreign, since)
    cache.store(key, program, known)
    return program


def _with_nvcc(
    source: str,
    name: str,
    arch: str,
    macros: tuple[str, ...],
    include: tuple[Path, ...],
    reason: str,
) -> Program:
    command = nvcc.find()
    if command is None:
        raise UnavailableError(
            f"{name} needs nvcc, which is not on PATH: {reason}. Install the CUDA toolkit, or move "
            "the kernels to a file of their own, which needs only NVRTC."
        )
    compiler = nvcc.version(command)
    key = cache.key(source, name, arch, macros, include, compiler)
    if (kept := cache.load(key)) is not None:
        return kept
    since = time.time_ns()
    output = nvcc.compile(command, source, name, arch, macros, include)
    read = users_own(output.read, (source, *macros), (), _SYSTEM)
    made = _program(output, source, name, arch, compiler, include, read)
    program = replace(made, note=f"compiled by {compiler}: {reason}")
    known = reading(output.read, (source, *macros), (), include, _SYSTEM, since)
    cache.store(key, program, known)
    return program


def _host_reason(name: str, line: int, text: str) -> str:
    return f"it has host code (line {line}: {text})"


def _program(
    output: Output,
    source: str,
    name: str,
    arch: str,
    compiler: str,
    include: tuple[Path, ...],
    read: tuple[str, ...] | None,
) -> Program:
    if not output.ok:
        failure = log.failure(name, output.log, _FOLDER)
        failure.read = read
        raise failure
    found = log.diagnostics(output.log, _FOLDER)
    return Program(
        ptx=paths.normalise(output.ptx, name, include),
        cubin=output.cubin,
        log=log.lasting(output.log),
        resources=_resources(output),
        warnings=tuple(d for d in found if d.severity != "error"),
        source=source,
        name=name,
        arch=arch,
        compiler=compiler,
        read=read,
    )


def _resources(output: Output) -> dict[str, Resources]:
    return {
        kernel: replace(facts, constant_bytes=elf.constant_bytes(output.cubin, kernel))
        for kernel, facts in log.resources(output.log).items()
    }
