"""The device code of a file that holds host code, compiled by NVRTC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuviz.compile import log
from gpuviz.compile.binding import Output
from gpuviz.compile.headers import declaring
from gpuviz.compile.nvrtc import Library
from gpuviz.compile.program import CompileError, Diagnostic
from gpuviz.compile.split.splitting import Split

_ROUNDS = 16  # each leaves something out, takes something back, or adds a header of CUDA
_SHOWN = 3
_NAMES, _FIRST_NAME = "__nv_name_map", 2  # where NVRTC writes the names asked for, one a line


def compile(
    library: Library,
    split: Split,
    folder: str,
    options: Sequence[str],
    given: Mapping[str, str],
    instances: Sequence[str] = (),
) -> Output:
    """Compile what a split file has of device code; what does not compile is left out of it.

    `given` are headers besides the project's own. The output is the last one, be it a failure.
    """
    wanted = tuple(dict.fromkeys((*instances, *split.instances)))
    for _ in range(_ROUNDS):
        headers = {**given, **split.headers}
        output = library.compile(split.source, folder + split.name, options, headers, wanted)
        if output.ok:
            return output
        more = [f"--pre-include={name}" for name in declaring(output.log)]
        if not set(more) <= set(options):
            options = (*options, *(one for one in more if one not in options))
            continue
        errors = [d for d in log.diagnostics(output.log, folder) if d.severity == "error"]
        unknown = _not_instances(errors, wanted)
        if unknown and set(unknown) & set(instances):
            return output  # asked for by name
        wanted = tuple(name for name in wanted if name not in unknown)
        if not split.learn(errors) and not unknown:
            return output
    return output


def _not_instances(errors: Sequence[Diagnostic], wanted: Sequence[str]) -> list[str]:
    """The names of template kernels that cannot be made, as NVRTC's list of names has it."""
    lines = [error.line for error in errors if error.file.endswith(_NAMES)]
    return [name for number, name in enumerate(wanted, _FIRST_NAME) if number in lines]


def failure(split: Split, output: Output, folder: str) -> CompileError:
    """The error of a file of which no kernel compiles: what was wrong with its device code."""
    lost = split.lost
    if output.ok and not lost:
        return CompileError(
            f"{split.name} has no kernel to compile: no __global__ function is in it, or templates "
            "alone, of which it does not say with what: name one, as in --entry 'f<float, 256>'"
        )
    made = log.failure(split.name, output.log, folder)
    words = str(made)
    if lost:
        shown = "\n".join(f"  {error}" for error in lost[:20])
        words = f"{split.name}: none of its kernels compiles:\n{shown}"
    if split.missing:
        words += f"\nNot found (-I FOLDER says where they are): {_few(split.missing)}"
    return CompileError(words, lost or made.diagnostics, output.log)


def note(split: Split) -> str:
    """What to know of a program that was made so, in a sentence or two."""
    words = ["its host code was set aside"]
    if split.lost:
        words.append(f"left out, as it does not compile: {_few(list(map(_place, split.lost)))}")
        if split.missing:
            words.append(f"headers not found: {_few(split.missing)}")
    return "; ".join(words)


def _place(error: Diagnostic) -> str:
    return f"{error.file}:{error.line} ({error.text})"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
