"""A kernel with the headers that its compiler read, to be found again wherever they are put."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.compile import CompileError, own_program
from gpuviz.compile.program import Program
from gpuviz.files.allowed_paths import Reach, whole_name
from gpuviz.story.kernel_launch import KernelLaunch


@dataclass(frozen=True)
class KernelTree:
    """Files by their names as seen from the lowest folder that holds them all.

    `kernel` is the name of the kernel's own file.
    """

    kernel: str
    files: Mapping[str, Path]


def tree_of(kernel: Path, read: Iterable[str] | None) -> KernelTree:
    """A kernel's file and the headers `read` (`Program.read`), in folders as they are.

    Raises
    ------
    InputError : the compiler did not say what it read, or there is no folder that holds all
    """
    if read is None:
        raise InputError(
            f"{kernel} cannot be packed: this compiler does not tell which headers it reads. "
            "Include none, or install NVRTC: pip install nvidia-cuda-nvrtc"
        )
    own = kernel.parent.resolve() / kernel.name
    every = {own, *map(whole_name, map(Path, read))}
    try:
        root = Path(os.path.commonpath([file.parent for file in every]))
    except ValueError:  # other drives
        raise InputError(
            f"{kernel} and its headers cannot be packed: they share no drive"
        ) from None
    files = {file.relative_to(root).as_posix(): file for file in sorted(every)}
    return KernelTree(own.relative_to(root).as_posix(), files)


def check_moved(launch: KernelLaunch, copy: Path, home: Path, made: Mapping[str, Program]) -> None:
    """InputError unless the copy compiles to the same programs, by architecture, with nothing but
    what lies in `home`.

    It does not where headers are included by their whole names.
    """
    kernel = launch.path
    for arch, program in made.items():
        try:
            again = own_program(copy, arch, dict(launch.defines), options=launch.options)
        except UnavailableError:
            return  # what it carries was not compiled here, but came with it
        except CompileError as error:
            raise InputError(_unmoved(kernel, str(error))) from None
        if any(Reach(home).elsewhere(Path(file)) for file in again.read or ()):
            raise InputError(_unmoved(kernel, "It would not find them there."))
        if again.ptx != program.ptx:
            raise InputError(_unmoved(kernel, "It would become another program there."))


def _unmoved(kernel: Path, why: str) -> str:
    return (
        f"{kernel} cannot be packed: it does not compile away from its folder. Include its headers "
        f"by names as seen from there, as in “../include/mine.h”. {why}"
    )
