"""The device code of a file that holds host code, compiled by NVRTC."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gpuviz.compile import log
from gpuviz.compile.binding import Output
from gpuviz.compile.headers import declaring
from gpuviz.compile.nvrtc import Library
from gpuviz.compile.program import CompileError, Diagnostic
from gpuviz.compile.split import Split
from gpuviz.words.language import tr

_ROUNDS = 16  # each leaves something out, takes something back, or adds a header of CUDA
_SHOWN = 3
_NAMES = "__nv_name_map"  # where NVRTC writes the names asked for, one a line
_NAME = re.compile(r"#pragma nv_mangled_name (.+?)\s*$", re.MULTILINE)


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
    refused: set[str] = set()
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
        unknown = _unfit(wanted, output.log) or _not_instances(errors, output.log)
        if unknown and set(unknown) & set(instances):
            return output  # asked for by name
        refused |= set(unknown)
        wanted = tuple(name for name in wanted if name not in refused)
        if unknown:  # as the host code has it, in a template of its own: as if nothing launched it
            wanted = (*wanted, *(one for one in split.guessed(wanted) if one not in refused))
        elif not split.learn(errors):
            return output
    return output


def _unfit(wanted: Sequence[str], words: str) -> list[str]:
    """The template kernels that do not compile as they are made, though others of them may."""
    made = {name: _spelt(name) for name in wanted}
    unfit: list[str] = []
    for name, given in log.instantiated(words):
        known = [one for one, (called, _) in made.items() if called == name]
        exact = [one for one in known if made[one][1] == _spelt(f"{name}<{given}>")[1]]
        unfit += exact or known
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


def failure(split: Split, output: Output, folder: str) -> CompileError:
    """The error of a file of which no kernel compiles: what was wrong with its device code."""
    lost = split.lost
    if output.ok and not lost:
        return CompileError(
            tr(
                "{name} has no kernel to compile: no __global__ function is in it, or templates "
                "alone, of which it does not say with what: name one, as in --entry {example}",
                name=split.name,
                example="'f<float, 256>'",
            )
        )
    made = log.failure(split.name, output.log, folder)
    words = str(made)
    if lost:
        shown = "\n".join(f"  {error}" for error in lost[:20])
        words = f"{tr('{name}: none of its kernels compiles:', name=split.name)}\n{shown}"
    if split.missing:
        few = _few(split.missing)
        words += "\n" + tr("Not found (-I FOLDER says where they are): {files}", files=few)
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
