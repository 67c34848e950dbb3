"""`with gpuviz.trace() as runs:` collects the launches that a program makes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, overload

from gpuviz.api.table import Table
from gpuviz.base.errors import Error

if TYPE_CHECKING:
    from gpuviz.api.run import Run
    from gpuviz.api.tracing import Wishes
    from gpuviz.integrations.asked import Asked

Result = TypeVar("Result")
Made = TypeVar("Made")
# Libraries whose launches can be watched, by what is imported where they are in use.
WATCHED = {
    "triton": "triton_kernels",
    "numba.cuda": "numba_kernels",
    "cupy": "cupy_kernels",
    "cuda.core": "cuda_core_kernels",
}


class Traced(Sequence["Run"]):
    """The runs of the launches made inside, in order.

    On a GPU each launch is made as ever, and emulated from a copy of its arguments. Without one the
    emulator leaves the results in the arrays it was given. Libraries are watched that have been
    imported when the block begins; when it ends, be it by an exception, they are as before.
    """

    def __init__(self, max_launches: int, match: str, wishes: Wishes) -> None:
        """Use `gpuviz.trace()`."""
        self._most, self._match, self._wishes = max_launches, match, wishes
        self._runs: list[Run] = []
        self._left: Counter[tuple[str, str]] = Counter()
        self._back = ExitStack()

    def __enter__(self) -> Traced:
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
        """Whether a launch is taken; see `gpuviz.integrations.watching.Watcher`."""
        why = self._why_not(kernel)
        if why:
            self._left[kernel, why] += 1
        return not (why and gpu)

    def _why_not(self, kernel: str) -> str:
        """Why a launch is not kept; "" where it is."""
        if self._match not in kernel:
            return f"its name has no {self._match!r}"
        return f"max_launches={self._most} were kept" if len(self._runs) >= self._most else ""

    def launched(
        self, kernel: str, asked: Callable[[], Asked], launch: Callable[[], Result] | None
    ) -> Result | None:
        """A launch; what cannot be emulated is left out, but where only the emulator can run it."""
        from gpuviz.api.tracing import of_asked

        made = self._tried(kernel, asked, launch is None)
        result = launch() if launch is not None else None
        keep = not self._why_not(kernel)
        wishes = self._wishes if keep else replace(self._wishes, record=(), checks=())
        if made is None:
            return result
        run = self._tried(kernel, lambda: of_asked(made, wishes), launch is None)
        if run is None:
            return result
        if launch is None:
            made.restore(run.arrays)
        if keep:
            self._runs.append(run)
        return result

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

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        left = self.left_out
        told = [f"left out:\n{left!r}"] if left else []
        return "\n".join([f"{len(self)} launches", *map(repr, self._runs), *told])

    def _repr_html_(self) -> str:
        """The runs as a table: their pages are shown one by one."""
        from gpuviz.api.tables import brief

        shown = brief([run._run for run in self._runs])._repr_html_()
        return shown + (self.left_out._repr_html_() if self.left_out else "")
