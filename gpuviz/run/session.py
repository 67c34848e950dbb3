"""What has been opened since gpuviz was started: one session for a window, or for a command.

A recording that the user chose answers for every view, before those that ship. One that was only
opened answers where neither does. What a lecture carries in its file (recordings, compiled
programs) serves the views of that lecture alone, after all others: it never stands in for what
ships. Nothing of it is kept elsewhere, so it goes with the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuviz.compile.bundled import ProgramKey, Programs
    from gpuviz.compile.program import Program
    from gpuviz.files.allowed_paths import Reach
    from gpuviz.recordings.lookup import Recordings
    from gpuviz.recordings.measurement import DeviceFacts
    from gpuviz.recordings.recording import Recording


@dataclass(frozen=True, eq=False)
class LectureContents:
    """What the file of a lecture holds besides its text; its numbers and programs say so."""

    recordings: tuple[Recording, ...] = ()
    programs: Mapping[ProgramKey, Program] = field(default_factory=dict)
    reach: Reach | None = None


@dataclass(frozen=True, eq=False)
class Library:
    """Where launches are looked up: what was measured of them, programs for machines that cannot
    compile, and the GPU whose measured sweeps are shown.

    Recordings in the files `chosen` are asked first, those in `opened` last; they and those that
    ship are read when they are needed. `file` is the name of the lecture it is for, "" for none;
    kernels in its folder read files within `reach` only, which is None for the user's own. `texts`
    are run in place of what is in these files: they are being edited.
    """

    chosen: tuple[Path, ...] = ()
    opened: tuple[Recording, ...] = ()
    programs: Programs = field(default_factory=dict)
    gpu: DeviceFacts | None = None
    file: str = ""
    reach: Reach | None = None
    texts: Mapping[Path, str] = field(default_factory=dict)

    @cached_property
    def recordings(self) -> Recordings:
        """Those the user chose, those that ship, and those opened."""
        from gpuviz.recordings import lookup

        return lookup.beside_shipped(self.chosen, self.opened, self.texts)


@cache
def shipped() -> Library:
    """What came with gpuviz."""
    return Library()


class Session:
    """Files by their paths: opening one again takes the place of what it brought before."""

    def __init__(self) -> None:
        self._chosen: tuple[Path, ...] = ()
        self._recordings: dict[Path, Recording] = {}
        self._carried: dict[Path, LectureContents] = {}
        self._gpu: DeviceFacts | None = None
        self._texts: dict[Path, str] = {}
        self._libraries: dict[Path | None, Library] = {}

    def library(self, lecture: Path | None = None) -> Library:
        """What the views of a lecture's file are told from, or without one all others.

        It is the same object until something is opened or put away.
        """
        key = lecture if lecture in self._carried else None
        if key not in self._libraries:
            self._libraries[key] = self._made(key)
        return self._libraries[key]

    def choose_recordings(self, files: Iterable[Path]) -> None:
        """Ask the recordings in these files before all others; one that cannot be read is none."""
        self._chosen = tuple(files)
        self._libraries.clear()

    def open_recording(self, file: Path, recording: Recording) -> None:
        """Ask a recording that was opened, before those opened earlier."""
        from gpuviz.recordings.recording import of_file

        self.forget(file)
        self._recordings[file] = of_file(recording, file.name)
        self._libraries.clear()

    def open_lecture(self, file: Path, carried: LectureContents) -> None:
        """Have what a lecture carries; all of it is marked with the name of the file."""
        from gpuviz.compile import bundled
        from gpuviz.recordings import recording

        self._carried[file] = LectureContents(
            tuple(recording.of_file(one, file.name) for one in carried.recordings),
            {key: bundled.of_file(one, file.name) for key, one in carried.programs.items()},
            carried.reach,
        )
        self._libraries.clear()

    def agree(self, lecture: Path, files: frozenset[Path]) -> None:
        """Let the kernels of a lecture read these files outside of its folder."""
        carried = self._carried.get(lecture)
        if carried is not None and carried.reach is not None:
            reach = replace(carried.reach, agreed=carried.reach.agreed | files)
            self._carried[lecture] = replace(carried, reach=reach)
            self._libraries.clear()

    def forget(self, file: Path) -> None:
        """Put away what a file brought, if anything."""
        known = file in self._recordings or file in self._carried
        self._recordings.pop(file, None)
        self._carried.pop(file, None)
        if known:
            self._libraries.clear()

    def use_text(self, file: Path, text: str | None) -> None:
        """Run this text in place of what is in a file, or None: what is in there again."""
        if self._texts.get(file) != text:
            self._texts = {k: v for k, v in self._texts.items() if k != file}
            if text is not None:
                self._texts[file] = text
            self._libraries.clear()

    def use_gpu(self, gpu: DeviceFacts | None) -> bool:
        """Tell of the GPU in use, whose sweeps are shown before those that ship; whether it is
        another one than before."""
        if gpu == self._gpu:
            return False
        self._gpu = gpu
        self._libraries.clear()
        return True

    def _made(self, lecture: Path | None) -> Library:
        carried = self._carried[lecture] if lecture else LectureContents()
        opened = (*reversed(self._recordings.values()), *carried.recordings)
        texts = self._texts
        if not (lecture or self._chosen or opened or self._gpu or texts):
            return shipped()
        name = lecture.name if lecture else ""
        of_lecture = carried.programs, self._gpu, name, carried.reach
        return Library(self._chosen, opened, *of_lecture, texts)
