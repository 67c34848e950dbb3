"""A source text given to a compiler: NVRTC, NVRTC without the host code, nvcc."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpuviz.base.errors import UnavailableError
from gpuviz.compile import advice, archs, cache, headers, log, nvcc, nvrtc
from gpuviz.compile.cache import reading, users_own
from gpuviz.compile.headers import declaring
from gpuviz.compile.program import (
    FOLDER,
    BuildOptions,
    Compilation,
    CompileError,
    Diagnostic,
    NoKernel,
    Program,
    normalise,
)
from gpuviz.compile.project_headers import refuse_devices
from gpuviz.compile.split import Split
from gpuviz.compile.worker import Output, Task
from gpuviz.words.language import tr

# What NVRTC gets besides: functions without a mark are device code; what the pictures need.
_NVRTC = ("--device-as-default-execution-space", "-lineinfo", "--ptxas-options=-v")

_SYSTEM = (Path("/usr"), Path("/opt"))  # where nvcc's own headers and the host's are
_ROUNDS = 16  # each leaves something out, takes something back, or adds a header of CUDA;
_LACKING = 6  # where a library is not installed, which is why, most often
_FULL, _FULL_ROUNDS = 100, 5  # errors that NVRTC tells at a time; rounds with as many
_SHOWN = 3
_STANDARD, _OLDER = re.compile(r"-std=c\+\+1[14]"), "requires at least C++"
_CONCEPTS = re.compile(
    r"^[ \t]*(?:concept\s+\w+\s*=|requires\s|#[ \t]*include[ \t]*<(?:concepts|span|ranges)>)", re.M
)
_NAMES = "__nv_name_map"  # where NVRTC writes the names asked for, one a line
_NEVER_DEFINED = re.compile(r"\[with \w+=(\w+)\]\" was referenced but not defined")
_UNDEFINED = re.compile(r'__nv_name_map\(\d+\): error: identifier "(\w+)" is undefined')
_HOSTS = re.compile(r'identifier "cuda[A-Z]\w*" is undefined|namespace "std" has no member')
_NAME = re.compile(r"#pragma nv_mangled_name (.+?)\s*$", re.MULTILINE)


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
    source, name, instances = wanted.source, wanted.name, wanted.instances
    given = {**headers.builtin(folders), **headers.of_libraries((source,), folders)}
    key = cache.key(source, name, options, instances, compiler.name, given)
    if (kept := cache.load(key)) is not None:
        return kept
    refuse_devices((source, *wanted.macros), wanted.include)
    since = time.time_ns()
    task = Task(source, FOLDER + name, options, given, instances)
    output = compiler.library.compile(task)
    if not output.ok and (newer := _newer(options, output.log)):
        task = replace(task, options=newer)
        output = compiler.library.compile(task)
    if not output.ok and headers.wants_prelude(output.log):
        task = task.with_options(f"--pre-include={headers.PRELUDE}")
        output = compiler.library.compile(task)
        more = [f"--pre-include={header}" for header in headers.declaring(output.log)]
        if not output.ok and more:
            output = compiler.library.compile(task.with_options(*more))
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
    given = {**headers.builtin(compiler.folders)}

    def known(header: str) -> bool:
        return header in given or any((folder / header).is_file() for folder in compiler.folders)

    folder, *more = wanted.include or (Path.cwd(),)
    split = Split(wanted.source, wanted.name, folder, more, known)
    if any(map(archs.asks_for_features, split.read.values())):  # a header may have it
        wanted = replace(wanted, arch=archs.featured(wanted.arch))
        compiler = _Nvrtc.of(wanted)
    given |= headers.of_libraries(split.read.values(), compiler.folders)
    searched = (f"-I{place}" for place in compiler.folders)
    options = (*compiler.options, *searched, f"--pre-include={headers.PRELUDE}")
    if any(map(_CONCEPTS.search, split.read.values())):
        options = tuple(re.sub(r"-std=c\+\+1\d", "-std=c++20", option) for option in options)
    asked = (options, wanted.instances, compiler.name, given)
    key = cache.key("device code, 3", wanted.name, *asked, split.read)
    if (kept := cache.load(key)) is not None:
        return kept
    refuse_devices((wanted.source, *wanted.macros), wanted.include)
    output = _compile_split(compiler.library, split, options, given, wanted.instances)
    if not output.ok and (others := split.elsewhere(output.log)):
        linked = device_code(replace(wanted, source=wanted.source + others))
        return replace(linked, source=wanted.source)
    read = tuple(map(str, split.unit.files.values()))
    if not output.ok or not log.resources(output.log):
        failure = _split_failure(split, output)
        failure.read = read
        raise failure
    made = _program(output, wanted, compiler.name, read)
    warnings = (*split.lost, *made.warnings)
    program = replace(made, note=_split_note(split), warnings=warnings)
    if not any("has_include" in text for text in split.read.values()):
        cache.store(key, program)
    return program


def _compile_split(
    library: nvrtc.Library,
    split: Split,
    options: tuple[str, ...],
    given: Mapping[str, str],
    instances: Sequence[str] = (),
) -> Output:
    """Compile what a split file has of device code; what does not compile is left out of it.

    `given` are headers besides the project's own. The output is the last one, be it a failure.
    """
    wanted = tuple(dict.fromkeys((*instances, *split.instances)))
    refused: set[str] = set()
    lacking, full = bool([*advice.of((), split.missing)]), 0
    for _ in range(_LACKING if lacking else _ROUNDS):
        headers = {**given, **split.headers}
        task = Task(split.source, FOLDER + split.name, options, headers, wanted)
        output, split.made = library.compile(task), wanted
        if output.ok:
            return output
        if split.elsewhere(output.log):
            return output
        if newer := _newer(options, output.log):
            options = newer
            continue
        more = [f"--pre-include={name}" for name in declaring(output.log)]
        if not set(more) <= set(options):
            options = (*options, *(one for one in more if one not in options))
            continue
        errors = [d for d in log.diagnostics(output.log, FOLDER) if d.severity == "error"]
        full += len(errors) >= _FULL
        if full > (0 if lacking else _FULL_ROUNDS):
            return output
        host = [error for error in errors if _HOSTS.search(error.text)]
        if host and split.learn(host):  # a member of a class that a template only happens to read
            continue
        unknown = _unfit(wanted, output.log) or _not_instances(errors, output.log)
        if unknown and set(unknown) & set(instances):
            return output  # asked for by name
        refused |= set(unknown)
        wanted = tuple(name for name in wanted if name not in refused)
        if unknown:  # as the host code has it, in a template of its own: as if nothing launched it
            split.refuse(unknown, errors)
            undefined = set(_UNDEFINED.findall(output.log))
            typed = [_with_types(one, undefined, "float") for one in unknown]
            halves = [_with_types(one, {"float"}, "__half") for one in typed]
            ways = ([one for one in way if one not in refused] for way in (typed, halves))
            more = next(filter(None, ways), [])
            guesses = split.guessed((*wanted, *more))
            wanted = (*wanted, *dict.fromkeys(more), *(g for g in guesses if g not in refused))
        elif not split.learn(errors):
            return output
    return output


def _with_types(instance: str, names: Collection[str], kind: str) -> str:
    """A template kernel with another type in place of some: of those that a function defines."""
    name, sign, given = instance.partition("<")
    return f"{name}{sign}" + re.sub(r"\w+", lambda m: kind if m[0] in names else m[0], given)


def _newer(options: tuple[str, ...], words: str) -> tuple[str, ...]:
    """The options with C++17, which CUDA's own library wants at least; () where it has that."""
    made = tuple(_STANDARD.sub("-std=c++17", option) for option in options)
    return made if made != options and _OLDER in words else ()


def _unfit(wanted: Sequence[str], words: str) -> list[str]:
    """The template kernels that do not compile as they are made, though others of them may."""
    made = {name: _spelt(name) for name in wanted}
    unfit: list[str] = []
    for name, given in log.instantiated(words):
        known = [one for one, (called, _) in made.items() if called == name]
        exact = [one for one in known if made[one][1] == _spelt(f"{name}<{given}>")[1]]
        unfit += exact or known
    for kind in _NEVER_DEFINED.findall(words):
        unfit += [one for one, (_, given) in made.items() if kind in re.split(r"[<>,]", given)]
    return unfit


def _spelt(instance: str) -> tuple[str, str]:
    """A kernel's name and what it is made with, whatever way these are written."""
    name, _, given = instance.replace(" ", "").rstrip(">").partition("<")
    return name.rpartition("::")[2], re.sub(r"\b(\d+)[uUlL]+", r"\1", given)


def _not_instances(errors: Sequence[Diagnostic], words: str) -> list[str]:
    """The names of template kernels that cannot be made, as NVRTC's list of names has it; none
    while something else is wrong, which may be why.
    """
    if not all(error.file.endswith(_NAMES) for error in errors):
        return []
    return _NAME.findall(words)


def _split_failure(split: Split, output: Output) -> CompileError:
    """The error of a file of which no kernel compiles: what was wrong with its device code."""
    lost, more = split.lost, tuple(advice.of(split.read.values(), split.missing))
    if output.ok and not lost:
        return _no_kernel(split, more)
    made = log.failure(split.name, output.log, FOLDER)
    words = str(made)
    if lost:
        shown = "\n".join(f"  {error}" for error in lost[:20])
        words = f"{tr('{name}: none of its kernels compiles:', name=split.name)}\n{shown}"
    if split.missing:
        few = _few(split.missing)
        words += (
            "\n"
            + tr("Not found (-I FOLDER says where they are): {files}", files=few)
            + split.bounds
        )
    return CompileError("\n".join((words, *more)), lost or made.diagnostics, output.log)


def _no_kernel(split: Split, more: Sequence[str]) -> CompileError:
    """The error of a file in which nothing is a kernel, or templates alone."""
    if not split.kernels:
        return NoKernel(
            tr("{name} has no kernel: no __global__ function is in it", name=split.name)
        )
    said = tr(
        "{name} has template kernels alone, and does not say with what: name one, as in --entry "
        "{example}",
        name=split.name,
        example="'f<float, 256>'",
    )
    tried = [tr("tried: {kernel}", kernel=one) for one in split.refused[:_SHOWN]]
    return CompileError("\n".join((said, *tried, *more)))


def _split_note(split: Split) -> str:
    """What to know of a program that was made so, in a sentence or two."""
    words = ["its host code was set aside"]
    if split.lost:
        words.append(f"left out, as it does not compile: {_few(list(map(_place, split.lost)))}")
        if split.missing:
            words.append(f"headers not found: {_few(split.missing)}{split.bounds}")
        words += advice.of(split.read.values(), split.missing)
    if split.refused:
        words.append(f"templates that could not be made: {_few(split.refused)}")
    if split.children:
        lines = ", ".join(map(str, split.children))
        words.append(
            f"a kernel runs without those that it launches (line {lines}), which are "
            "launches of their own"
        )
    return "; ".join(words)


def _place(error: Diagnostic) -> str:
    return f"{error.file}:{error.line} ({error.text})"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


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
    refuse_devices(texts, wanted.include)
    since = time.time_ns()
    output = nvcc.compile(command, wanted)
    read = users_own(output.read, texts, (), _SYSTEM)
    made = _program(output, wanted, compiler, read)
    program = replace(made, note=f"compiled by {compiler}: {reason}")
    cache.store(key, program, reading(output.read, texts, (), wanted.include, _SYSTEM, since))
    return program


def _program(
    output: Output, wanted: Compilation, compiler: str, read: tuple[str, ...] | None
) -> Program:
    if not output.ok:
        failure = log.failure(wanted.name, output.log, FOLDER)
        failure.read = read
        raise failure
    found = log.diagnostics(output.log, FOLDER)
    return Program(
        ptx=normalise(output.ptx, wanted.name, wanted.include),
        cubin=output.cubin,
        log=log.lasting(output.log),
        resources=log.resources(output.log, output.cubin),
        warnings=tuple(d for d in found if d.severity != "error"),
        source=wanted.source,
        name=wanted.name,
        arch=wanted.arch,
        compiler=compiler,
        flags=wanted.flags,
        read=read,
        asked=BuildOptions(wanted.macros, tuple(map(str, wanted.include)), wanted.instances),
    )
