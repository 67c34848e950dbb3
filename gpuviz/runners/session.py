"""What has been opened since gpuviz was started: one session for a window, or for a command.

Recordings that the user opened are asked for every view, until they are put away. What a lecture
carries in its file (recordings, compiled programs) serves the views of that lecture alone: it never
stands in for what ships. Nothing of it is kept elsewhere, so it goes with the session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuviz.compile.bundled import ProgramKey, Programs
    from gpuviz.compile.program import Program
    from gpuviz.runners.recorded import Recordings
    from gpuviz.runners.recording import Recording
    from gpuviz.runners.sweep_file import Times


@dataclass(frozen=True, eq=False)
class Carried:
    """What the file of a lecture holds besides its text."""

    recordings: tuple[Recording, ...] = ()
    programs: Mapping[ProgramKey, Program] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Library:
    """Where launches are looked up: what was measured of them, programs for machines that cannot
    compile, and the times of all block shapes (`sweep`).

    Recordings in `opened` are asked before those that ship, which are read when they are needed.
    """

    opened: tuple[Recording, ...] = ()
    programs: Programs = field(default_factory=dict)
    own_times: Times | None = None

    @cached_property
    def recordings(self) -> Recordings:
        """Those opened, and those that ship."""
        from gpuviz.runners import recorded

        return recorded.Recordings((*self.opened, *recorded.shipped().recordings))

    @property
    def shape_times(self) -> Times | None:
        """The user's own, or those that ship."""
        from gpuviz.runners import sweep_file

        return self.own_times or sweep_file.shipped()[1]


@cache
def shipped() -> Library:
    """What came with gpuviz."""
    return Library()


class Session:
    """Files by their paths: opening one again takes the place of what it brought before."""

    def __init__(self) -> None:
        self._recordings: dict[Path, Recording] = {}
        self._carried: dict[Path, Carried] = {}
        self._times: Times | None = None
        self._libraries: dict[Path | None, Library] = {}

    def library(self, lecture: Path | None = None) -> Library:
        """What the views of a lecture's file are told from, or without one all others.

        It is the same object until something is opened or put away.
        """
        key = lecture if lecture in self._carried else None
        if key not in self._libraries:
            self._libraries[key] = self._made(self._carried[key] if key else Carried())
        return self._libraries[key]

    def open_recording(self, file: Path, recording: Recording) -> None:
        """Ask a recording that the user opened, before those opened earlier."""
        self.forget(file)
        self._recordings[file] = recording
        self._libraries.clear()

    def open_lecture(self, file: Path, carried: Carried) -> None:
        """Have what a lecture carries."""
        self._carried[file] = carried
        self._libraries.clear()

    def forget(self, file: Path) -> None:
        """Put away what a file brought, if anything."""
        known = file in self._recordings or file in self._carried
        self._recordings.pop(file, None)
        self._carried.pop(file, None)
        if known:
            self._libraries.clear()

    def use_shape_times(self, times: Times | None) -> bool:
        """Tell of the user's own times of all block shapes, or of those that ship; whether that is
        another thing than before."""
        if times is self._times:
            return False
        self._times = times
        self._libraries.clear()
        return True

    def _made(self, carried: Carried) -> Library:
        opened = (*carried.recordings, *reversed(self._recordings.values()))
        if not (opened or carried.programs or self._times):
            return shipped()
        return Library(opened, carried.programs, self._times)
