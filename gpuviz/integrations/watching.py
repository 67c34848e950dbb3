"""Launches of the libraries in use, watched while a block of a program runs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import TypeVar

from gpuviz.arch import architecture
from gpuviz.base.errors import Error
from gpuviz.integrations.calls import LaunchRequest
from gpuviz.ptx.options import Options
from gpuviz.results.table import Table
from gpuviz.run import emulated

Result = TypeVar("Result")
Made = TypeVar("Made")
# Libraries whose launches can be watched, by what is imported where they are in use.
WATCHED = {
    "triton": "triton_kernels",
    "numba.cuda": "numba_kernels",
    "cupy": "cupy_kernels",
    "cuda.core": "cuda_core_kernels",
}


class LaunchWatch:
    """Takes launches, at most so many, of kernels whose name contains a text.

    On a GPU each launch is made as ever; without one it has to be executed by whoever watches.
    Libraries are watched that have been imported when the block begins; when it ends, be it by an
    exception, they are as before.
    """

    def __init__(self, max_launches: int, match: str) -> None:
        """Nothing is watched yet."""
        self._most, self._match, self._kept = max_launches, match, 0
        self._left: Counter[tuple[str, str]] = Counter()
        self._back = ExitStack()

    def __enter__(self) -> LaunchWatch:
        with ExitStack() as back:
            for imported, file in WATCHED.items():
                if imported in sys.modules:
                    known = import_module(f"gpuviz.integrations.{file}")
                    back.enter_context(known.watching(self))
            self._back = back.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._back.close()

    @property
    def left_out(self) -> Table:
        """Launches that were not kept: of which kernel, how many, and why."""
        rows = [(kernel, n, why) for (kernel, why), n in self._left.items()]
        return Table(("kernel", "launches", "why"), rows)

    def wants(self, kernel: str, gpu: bool) -> bool:
        """Whether a launch is taken; see `gpuviz.integrations.calls.Watcher`."""
        why = self._why_not(kernel)
        if why:
            self._left[kernel, why] += 1
        return not (why and gpu)

    def _why_not(self, kernel: str) -> str:
        """Why a launch is not kept; "" where it is."""
        if self._match not in kernel:
            return f"its name has no {self._match!r}"
        return f"max_launches={self._most} were kept" if self._kept >= self._most else ""

    def launched(
        self, kernel: str, asked: Callable[[], LaunchRequest], launch: Callable[[], Result] | None
    ) -> Result | None:
        """A launch; what cannot be emulated is left out, but where only the emulator can run it."""
        made = self._tried(kernel, asked, launch is None)
        result = launch() if launch is not None else None
        keep = not self._why_not(kernel)
        if made is not None:
            self._kept += bool(self._take(kernel, made, keep, launch is None))
        return result

    def _take(self, kernel: str, made: LaunchRequest, keep: bool, alone: bool) -> bool:
        """Take a launch; whether it was kept. Nobody else executes it where one is `alone`."""
        raise NotImplementedError

    def _tried(self, kernel: str, do: Callable[[], Made], needed: bool) -> Made | None:
        """What is made of a launch. On a GPU nothing that fails here may fail the program."""
        try:
            return do()
        except Exception as error:
            if needed:
                raise
            told = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
            self._left[kernel, told] += 1
            return None


class CapturingWatch(LaunchWatch):
    """Keeps launches as they were asked for; without a GPU the emulator executes them."""

    def __init__(self, max_launches: int, match: str) -> None:
        """Nothing is watched yet."""
        super().__init__(max_launches, match)
        self.requests: list[LaunchRequest] = []

    def _take(self, kernel: str, made: LaunchRequest, keep: bool, alone: bool) -> bool:
        if keep:
            self.requests.append(made)
        if alone:
            job = made.job
            arch = architecture(job.program.arch.rstrip("af"))
            made.restore(emulated.run(job, arch, level="ptx", options=Options()).outputs)
        return keep
