"""Source text or file to Program: chooses the compiler; the options that people may choose."""

import os
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from gpuviz.base.errors import InputError
from gpuviz.compile import advice, archs, log, nvcc, process, program, split
from gpuviz.compile.compilers import device_code, with_nvcc, with_nvrtc
from gpuviz.compile.program import Compilation, CompileError, CompilerLost, Program, kernels
from gpuviz.files import bounded
from gpuviz.words.language import tr

# What every compilation here has anyway, and frameworks pass.
_ALWAYS = ("-lineinfo", "-generate-line-info")
# What CuPy's RawModule passes, so that numerics agree.
STANDARD, FLUSH = "-std=c++17", "-ftz=true"

_KNOWN = {
    r"-std=c\+\+(11|14|17|20)": "the C++ standard",
    "-use_fast_math": "approximate functions, and subnormal numbers as zero",
    "-(ftz|prec-div|prec-sqrt|fmad)=(true|false)": "how floats are rounded",
    "-maxrregcount=[0-9]{1,3}": "registers of a thread at most",
    "-(G|extra-device-vectorization|dopt=on|restrict)": "how machine code is made",
}


def chosen(given: Iterable[str]) -> tuple[str, ...]:
    """Options as both compilers take them, with the standard ones where nothing else is said.

    InputError for an option that is not among those that may be chosen.
    """
    flags = ("-" + option.strip().lstrip("-") for option in given)
    made = tuple(dict.fromkeys(_checked(flag) for flag in flags if flag not in _ALWAYS))
    said = {option.partition("=")[0] for option in made}
    usual = [one for one in (STANDARD, FLUSH) if one.partition("=")[0] not in said]
    if "-use_fast_math" in made and FLUSH in usual:
        usual.remove(FLUSH)  # which it is one of
    return (*usual, *made)


def _checked(flag: str) -> str:
    if not any(re.fullmatch(pattern, flag) for pattern in _KNOWN):
        known = "  ".join(re.sub(r"[\\()]|\{.*\}", "", pattern) for pattern in _KNOWN)
        raise InputError(f"compiler option {flag!r} is not passed on; these are: {known}")
    return flag


Compiler = Literal["auto", "nvcc"]

_LACKS = re.compile(r"not supported on \.target '?sm_\d+'?")
_NO_HEADER = re.compile(r"cannot open source file|#error directive")
_TARGET = re.compile(r"^[ \t]*\.target[ \t]+(sm_\w+)", re.MULTILINE)
_BARE = "read from {file}: no machine code, so no registers and no sass level"
_MADE_BY = re.compile(r"^//.*?(release \d+\.\d+, V[\d.]+)", re.MULTILINE)


def compile_cuda(
    source: str,
    *,
    arch: str = "sm_90",
    name: str = "kernel.cu",
    defines: Mapping[str, str] | None = None,
    include: tuple[Path, ...] = (),
    instances: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
    compiler: Compiler = "auto",
) -> Program:
    """Compile CUDA C for one architecture to PTX and cubin.

    Parameters
    ----------
    arch : a real architecture that the compiler supports (`compile_arch` maps any to such a one)
    defines : macros, name to value
    include : folders to search for headers, before NVIDIA's own
    instances : template kernels to compile besides those the source instantiates, `f<float>`

    options : of the compiler, besides the usual ones (see `flags`)
    compiler : "nvcc" compiles the whole text, host code and all, and needs a toolkit

    Raises CompileError with diagnostics; UnavailableError when a compiler, or its support for
    `arch`, is missing here; InputError for an option that is not passed on. NVRTC compiles the
    device code; what it does not take goes to nvcc, where there is one.
    """
    macros = defines or {}
    wanted = Compilation(
        source,
        program.quotable(name),
        arch,
        tuple(f"-D{key}" + (f"={value}" if value else "") for key, value in macros.items()),
        chosen(options),
        tuple(folder.absolute() for folder in include),
        instances,
    )
    how = partial(with_nvcc, reason="as was asked for") if compiler == "nvcc" else _made
    return _with_features(wanted, how)


def _with_features(wanted: Compilation, how: Callable[[Compilation], Program]) -> Program:
    """Compiled as `how` does; with what no later architecture has (sm_90a: wgmma, setmaxnreg)
    where the text, or what its headers have, needs that.
    """
    with process.limited():
        return _featured(wanted, how)


def _featured(wanted: Compilation, how: Callable[[Compilation], Program]) -> Program:
    featured = replace(wanted, arch=archs.featured(wanted.arch))
    if archs.asks_for_features(wanted.source):
        return how(featured)
    try:
        return how(wanted)
    except CompileError as error:
        if featured == wanted or not _LACKS.search(f"{error}{error.log}"):
            raise
        return how(featured)


def again(program: Program, source: str) -> Program:
    """Compile another text as a program was compiled; as `compile_cuda` raises.

    What nvcc compiled is compiled by NVRTC where that can.
    """
    asked = program.asked
    include = tuple(map(Path, asked.include))
    return _with_features(
        Compilation(
            source,
            program.name,
            program.arch,
            asked.macros,
            program.flags,
            include,
            asked.instances,
        ),
        _made,
    )


def _made(wanted: Compilation) -> Program:
    """Compiled by NVRTC, with host code set aside if there is any, else by nvcc."""
    if split.host_line(wanted.source) is not None:
        return _parted(wanted)
    try:
        return with_nvrtc(wanted)
    except CompilerLost:
        raise
    except CompileError as error:
        if _NO_HEADER.search(error.log):
            return _parted(wanted)
        if (made := _without_hidden_host_code(wanted)) is None:
            raise
        return made


def _parted(wanted: Compilation) -> Program:
    """The device code of a text, or by nvcc all of it."""
    try:
        return device_code(wanted)
    except CompileError as error:
        if isinstance(error, CompilerLost) or nvcc.find() is None:
            raise
        try:
            return with_nvcc(wanted, "NVRTC does not take its device code")
        except CompileError:
            raise error from None  # which speaks of the device code alone


def _without_hidden_host_code(wanted: Compilation) -> Program | None:
    """The device code of a text, whole, where only what shows no sign of it was the host's, in
    macros or headers; None where device code is at fault.
    """
    try:
        made = device_code(wanted)
    except CompileError:
        return None
    return None if any(one.severity == "error" for one in made.warnings) else made


def load_program(
    path: Path,
    *,
    arch: str = "sm_90",
    defines: Mapping[str, str] | None = None,
    include: tuple[Path, ...] = (),
    instances: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
    compiler: Compiler = "auto",
    text: str | None = None,
) -> Program:
    """Compile a .cu file, or read a .ptx file (with the source and the .cubin of its name), or a
    .cubin file that holds the PTX it was made of.

    `text` is taken in place of what is in the file. InputError when that cannot be read; else as
    `compile_cuda`.
    """
    if path.suffix == ".cubin":
        return _from_cubin(path)
    text = bounded.text(path) if text is None else text
    if path.suffix == ".ptx":
        return _from_ptx(path, text.replace("\0", ""))  # CuTe DSL ends its files with zeros
    folders = (path.parent.resolve(), *include)
    try:
        return compile_cuda(
            text,
            arch=arch,
            name=path.name,
            defines=defines,
            include=folders,
            instances=instances,
            options=options,
            compiler=compiler,
        )
    except CompileError as error:
        raise _as_part(path, error) from None


def _as_part(path: Path, error: CompileError) -> CompileError:
    """The error of a file that others include, which may be all that is wrong, with their names."""
    if found := advice.includers(path):
        names = ", ".join(os.path.relpath(one, path.absolute().parent) for one in found[:3])
        said = tr(
            "{file} is a part of others, which include it: open {whole}",
            file=path.name,
            whole=names,
        )
        error.args = (f"{error}\n{said}",)
    return error


def _from_ptx(path: Path, ptx: str) -> Program:
    """A .ptx file; with the .cu or .py file and the .cubin file of the same name, if there are."""
    named = (path.with_suffix(suffix) for suffix in (".cu", ".py"))
    beside = next(filter(Path.is_file, named), path.with_suffix(".cu"))
    source = bounded.text(beside) if beside.is_file() else ""
    code = path.with_suffix(".cubin")
    cubin = bounded.read(code) if code.is_file() else b""
    try:
        made = ptx_program(ptx, cubin, source=source, name=beside.name, file=str(path))
    except (ValueError, IndexError, struct.error):  # of ELF tables that lead nowhere
        raise InputError(f"{code} is no machine code, or is damaged: move it away") from None
    return replace(made, read=tuple(str(f) for f in (beside, code) if f.is_file()))


def _from_cubin(path: Path) -> Program:
    """A .cubin file with line information; InputError where it holds no PTX."""
    cubin = bounded.read(path)
    if not (ptx := log.embedded_ptx(cubin)):
        raise InputError(
            f"{path} holds no PTX: have it compiled with line information (-lineinfo), or put the "
            ".ptx file beside it and give that"
        )
    return ptx_program(ptx, cubin, file=str(path))


def ptx_program(
    ptx: str, cubin: bytes = b"", *, source: str = "", name: str = "kernel.cu", file: str = "text"
) -> Program:
    """PTX that is there already, with its machine code if that is.

    `source` is what its lines are of, in a file `name`; `file` is what errors call the PTX.

    Raises
    ------
    InputError : it is no PTX
    """
    if (target := _TARGET.search(ptx)) is None:
        raise InputError(f"{file} is not PTX: it has no .target line.")
    name = program.quotable(name)
    made_by = _MADE_BY.search(ptx)
    return Program(
        ptx=program.normalise(ptx, name),
        cubin=cubin,
        log="",
        resources={kernel: log.cubin_resources(cubin, kernel) for kernel in kernels(ptx)}
        if cubin
        else {},
        warnings=(),
        source=source,
        name=name,
        arch=target[1],
        compiler=made_by[1] if made_by else "unknown",
        note="" if cubin else _BARE.format(file=Path(file).name),
    )
