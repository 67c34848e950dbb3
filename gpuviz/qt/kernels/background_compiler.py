"""Compiles a user's kernel off the GUI thread, while it is edited: the newest wish wins."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpuviz.base.waiting import stopped_by
from gpuviz.compile import Program, own_program
from gpuviz.compile.bundled import Programs
from gpuviz.files.allowed_paths import Reach
from gpuviz.launch.texts import Kernel

PATIENCE = 1.5  # seconds that a compilation nobody wants any more may still take


@dataclass(frozen=True)
class BuildRequest:
    """What decides a program: a file, or a text in place of what is in it; how it is compiled.

    `reach` and `programs` are those of a lecture (see `own_program`).
    """

    path: Path
    text: str | None
    arch: str
    defines: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()
    reach: Reach | None = None
    programs: Programs = field(default_factory=dict, compare=False)


@dataclass(frozen=True, eq=False)
class Build:
    """A program, and what each of its kernels takes."""

    building: BuildRequest
    program: Program
    kernels: Mapping[str, Kernel]

    @classmethod
    def of(cls, wanted: BuildRequest) -> Build:
        """Compile it; any `errors.Error`."""
        program = own_program(
            wanted.path,
            wanted.arch,
            dict(wanted.defines),
            wanted.programs,
            wanted.reach,
            wanted.options,
            wanted.text,
        )
        return cls(wanted, program, {name: Kernel.of(program, name) for name in program.kernels})


class BackgroundCompiler(QObject):
    """One compilation at a time. One that goes on is let end, as the compiler's process would have
    to be started anew; when it takes long it is stopped.
    """

    built = Signal(Build)  # what was made of the newest wish
    failed = Signal(BuildRequest, Exception)  # the newest wish, and why nothing was made of it
    _compiled = Signal(Build)
    _refused = Signal(BuildRequest, Exception)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wanted: BuildRequest | None = None
        self._now: BuildRequest | None = None
        self._late = 0.0  # when what goes on is stopped
        self._compiled.connect(self._take)
        self._refused.connect(self._fail)

    @property
    def busy(self) -> bool:
        """Whether something is being compiled."""
        return self._now is not None

    def ask(self, wanted: BuildRequest) -> None:
        """Compile this; what was asked for before is of no interest any more."""
        self._wanted = wanted
        if self._now is None:
            self._start(wanted)
        else:
            self._late = 0.0 if self._now == wanted else time.monotonic() + PATIENCE

    def cancel(self) -> None:
        """Nothing is wanted any more."""
        self._wanted, self._late = None, 1.0

    def _start(self, wanted: BuildRequest) -> None:
        self._now, self._late = wanted, 0.0
        threading.Thread(target=self._work, args=(wanted,), daemon=True).start()

    def _work(self, wanted: BuildRequest) -> None:
        """Runs in a thread: every way to end is reported, none escapes."""
        with suppress(RuntimeError):  # the window may be gone by now
            try:
                with stopped_by(lambda: 0 < self._late < time.monotonic()):
                    build = Build.of(wanted)
            except Exception as error:
                self._refused.emit(wanted, error)
            else:
                self._compiled.emit(build)

    def _take(self, build: Build) -> None:
        if self._answers(build.building):
            self.built.emit(build)

    def _fail(self, made: BuildRequest, error: Exception) -> None:
        if self._answers(made):
            self.failed.emit(made, error)

    def _answers(self, made: BuildRequest) -> bool:
        """Whether this is what is wanted; what is wanted instead is begun."""
        self._now = None
        if self._wanted is not None and made != self._wanted:
            self._start(self._wanted)
        return made == self._wanted
