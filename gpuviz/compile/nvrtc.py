"""The NVRTC libraries of this machine. They work in a process of their own."""

import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from gpuviz.base import records
from gpuviz.base.errors import FormatError, UnavailableError
from gpuviz.compile import process
from gpuviz.compile.worker import Facts, Output, Task
from gpuviz.files.disk_cache import DiskCache, key, stamp
from gpuviz.processes.programs import nvidia_folders

_KEPT = DiskCache("libraries")

_WITHOUT = (
    "the lessons work at their prebuilt sizes, and .ptx files compiled elsewhere (nvcc -ptx "
    "-lineinfo) can be opened."
)
MISSING = (
    "NVRTC, NVIDIA's runtime compiler, is not on this machine, so CUDA C cannot be compiled here. "
    + (
        f"NVIDIA makes no NVRTC for macOS: {_WITHOUT}"
        if sys.platform == "darwin"
        else f"This bundle brings none, but uses that of a CUDA toolkit; without it {_WITHOUT}"
        if getattr(sys, "frozen", False)
        else "Install it: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt "
        "nvidia-cuda-cccl"
    )
)


@dataclass(frozen=True)
class Library:
    """An NVRTC. `path` is its file; headers of the same release are looked for beside it."""

    path: Path

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor version."""
        return self._facts.version

    @property
    def archs(self) -> tuple[int, ...]:
        """Compute capabilities it compiles for, times ten: 75, 80, ..., in order."""
        return self._facts.archs

    @cached_property
    def _facts(self) -> Facts:
        """What it says of itself; kept, for to ask it is to load 100 MB."""
        name = key("nvrtc", stamp(self.path))
        with suppress(FormatError):
            return records.read(_KEPT.load(name) or b"", Facts, name)
        facts = process.facts(self.path)
        _KEPT.store(name, records.text(facts).encode())
        return facts

    def compile(self, task: Task) -> Output:
        """Compile one source text.

        CompileError when the compiler crashes, or takes too much time or memory.
        """
        return process.compile(self.path, task)


@cache
def libraries() -> tuple[Library, ...]:
    """Every NVRTC found, the preferred one first; none is not an error.

    One of CUDA 12 goes before a newer one: it is only there because somebody's driver or card
    needs it (the extra `cuda12`), and a driver of CUDA 12 cannot load what 13 compiles.
    """
    paths = [*_wheel_of_cuda_12(), *(_wheel() or _by_pathfinder())]
    return tuple(Library(path) for path in dict.fromkeys(paths))


def find(arch: int) -> Library:
    """The NVRTC to use for a compute capability (times ten), else the preferred one.

    UnavailableError when there is none at all.
    """
    found = libraries()
    if not found:
        raise UnavailableError(MISSING)
    return next((library for library in found if arch in library.archs), found[0])


def _wheel_of_cuda_12() -> list[Path]:
    pattern = re.compile(r"(libnvrtc\.so\.12|nvrtc64_12\d_\d\.dll)$")
    folders = [folder / "cuda_nvrtc" for folder in nvidia_folders()]
    files = [file for folder in folders for file in sorted(folder.glob("*/*nvrtc*"))]
    return [file for file in files if pattern.match(file.name)]


def _wheel() -> list[Path]:
    """The library of the wheel, where pathfinder would look first: that loads what it finds."""
    folders = nvidia_folders()
    return [file for folder in folders for file in sorted(folder.glob("cu*/lib/libnvrtc.so.??"))]


def _by_pathfinder() -> list[Path]:
    try:
        from cuda import pathfinder
    except ImportError:
        return []
    try:
        found = pathfinder.load_nvidia_dynamic_lib("nvrtc").abs_path
    except (pathfinder.DynamicLibNotFoundError, RuntimeError, OSError):
        return []
    return [Path(found)] if found else []
