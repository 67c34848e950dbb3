"""A source text given to a compiler: NVRTC, NVRTC without the host code, nvcc."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from gpuviz.base.errors import UnavailableError
from gpuviz.compile import archs, cache, device_only, elf, headers, log, nvcc, nvrtc, paths
from gpuviz.compile.binding import Output
from gpuviz.compile.dependencies import reading, users_own
from gpuviz.compile.program import BuildOptions, Program, Resources
from gpuviz.compile.split import Split

# What NVRTC gets besides: functions without a mark are device code; what the pictures need.
_NVRTC = ("--device-as-default-execution-space", "-lineinfo", "--ptxas-options=-v")

# NVRTC writes the folder it runs in into its output, unless the name is absolute.
_FOLDER = "/gpuviz/"
_SYSTEM = (Path("/usr"), Path("/opt"))  # where nvcc's own headers and the host's are


@dataclass(frozen=True)
class Compilation:
    """What is to be compiled: see `compile_cuda`. `macros` are `-DK=V`; `include` are absolute."""

    source: str
    name: str
    arch: str
    macros: tuple[str, ...]
    flags: tuple[str, ...]
    include: tuple[Path, ...]
    instances: tuple[str, ...]


@dataclass(frozen=True)
class _Nvrtc:
    """The library that compiles for an architecture, and what it is given each time."""

    library: nvrtc.Library
    name: str
    folders: tuple[Path, ...]
    options: tuple[str, ...]

    @classmethod
    def of(cls, wanted: Compilation) -> _Nvrtc:
        library = nvrtc.find(archs.capability(wanted.arch))
        name = "NVRTC {}.{}".format(*library.version)
        archs.require(wanted.arch, library.archs, name)
        options = (f"-arch={wanted.arch}", *wanted.flags, *_NVRTC, *wanted.macros)
        return cls(library, name, headers.folders(library), options)


def with_nvrtc(wanted: Compilation) -> Program:
    """A text of device code alone, as it is."""
    compiler = _Nvrtc.of(wanted)
    folders = (*wanted.include, *compiler.folders)
    options = (*compiler.options, *(f"-I{folder}" for folder in folders))
    given = headers.builtin(folders)
    source, name, instances = wanted.source, wanted.name, wanted.instances
    key = cache.key(source, name, options, instances, compiler.name, given)
    if (kept := cache.load(key)) is not None:
        return kept
    since = time.time_ns()
    output = compiler.library.compile(source, _FOLDER + name, options, given, instances)
    if not output.ok and headers.wants_prelude(output.log):
        options = (*options, f"--pre-include={headers.PRELUDE}")
        output = compiler.library.compile(source, _FOLDER + name, options, given, instances)
        more = [f"--pre-include={header}" for header in headers.declaring(output.log)]
        if not output.ok and more:
            options = (*options, *more)
            output = compiler.library.compile(source, _FOLDER + name, options, given, instances)
    texts = (source, *wanted.macros)
    read = users_own(output.read, texts, given, compiler.folders)
    program = _program(output, wanted, compiler.name, read)
    cache.store(
        key, program, reading(output.read, texts, given, wanted.include, compiler.folders, since)
    )
    return program


def device_code(wanted: Compilation) -> Program:
    """The device code of a text that holds host code as well. `include` begins with its folder."""
    compiler = _Nvrtc.of(wanted)
    given = headers.builtin(compiler.folders)

    def known(header: str) -> bool:
        return header in given or any((folder / header).is_file() for folder in compiler.folders)

    folder, *more = wanted.include or (Path.cwd(),)
    split = Split(wanted.source, wanted.name, folder, more, known)
    if any(map(archs.asks_for_features, split.read.values())):  # a header may have it
        wanted = replace(wanted, arch=archs.featured(wanted.arch))
        compiler = _Nvrtc.of(wanted)
    searched = (f"-I{place}" for place in compiler.folders)
    options = (*compiler.options, *searched, f"--pre-include={headers.PRELUDE}")
    asked = (options, wanted.instances, compiler.name, given)
    key = cache.key("device code, 2", wanted.name, *asked, split.read)
    if (kept := cache.load(key)) is not None:
        return kept
    output = device_only.compile(compiler.library, split, _FOLDER, options, given, wanted.instances)
    read = tuple(map(str, split.unit.files.values()))
    if not output.ok or not log.resources(output.log):
        failure = device_only.failure(split, output, _FOLDER)
        failure.read = read
        raise failure
    made = _program(output, wanted, compiler.name, read)
    warnings = (*split.lost, *made.warnings)
    program = replace(made, note=device_only.note(split), warnings=warnings)
    cache.store(key, program)
    return program


def with_nvcc(wanted: Compilation, reason: str) -> Program:
    """A text as it is, host code and all; UnavailableError without nvcc."""
    command = nvcc.find()
    if command is None:
        raise UnavailableError(
            f"{wanted.name} was to be compiled by nvcc, which is not on PATH: install the CUDA "
            "toolkit, or leave the choice of the compiler to gpuviz."
        )
    compiler = nvcc.version(command)
    texts = (wanted.source, *wanted.macros)
    key = cache.key(wanted, compiler)
    if (kept := cache.load(key)) is not None:
        return kept
    since = time.time_ns()
    output = nvcc.compile(
        command,
        wanted.source,
        wanted.name,
        wanted.arch,
        wanted.macros,
        wanted.include,
        wanted.flags,
    )
    read = users_own(output.read, texts, (), _SYSTEM)
    made = _program(output, wanted, compiler, read)
    program = replace(made, note=f"compiled by {compiler}: {reason}")
    cache.store(key, program, reading(output.read, texts, (), wanted.include, _SYSTEM, since))
    return program


def _program(
    output: Output, wanted: Compilation, compiler: str, read: tuple[str, ...] | None
) -> Program:
    if not output.ok:
        failure = log.failure(wanted.name, output.log, _FOLDER)
        failure.read = read
        raise failure
    found = log.diagnostics(output.log, _FOLDER)
    return Program(
        ptx=paths.normalise(output.ptx, wanted.name, wanted.include),
        cubin=output.cubin,
        log=log.lasting(output.log),
        resources=_resources(output),
        warnings=tuple(d for d in found if d.severity != "error"),
        source=wanted.source,
        name=wanted.name,
        arch=wanted.arch,
        compiler=compiler,
        flags=wanted.flags,
        read=read,
        asked=BuildOptions(wanted.macros, tuple(map(str, wanted.include)), wanted.instances),
    )


def _resources(output: Output) -> dict[str, Resources]:
    return {
        kernel: replace(facts, constant_bytes=elf.constant_bytes(output.cubin, kernel))
        for kernel, facts in log.resources(output.log).items()
    }
