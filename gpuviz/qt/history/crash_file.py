"""What outlives a crash: a small file for each window, held by a lock while the window is there.

A window that ends properly removes its file. A file whose lock nobody holds is one that a window
left behind which did not. The lock is given up by the system's account of processes, so that
nothing has to be cleaned up after a crash.

Each start counts as a try before anything is restored: what ends the process while it starts, and
whatever it is, is not tried for ever. What is given up is put aside, never deleted.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta
from PySide6.QtCore import QLockFile

from gpuviz.base import records
from gpuviz.base.errors import InputError
from gpuviz.files import bounded
from gpuviz.files import writing as files

_WINDOWS = 8  # that keep a session at the same time
_TRIES = 2  # a view that was restored so often and never shown for long is not restored again


@dataclass(frozen=True)
class UnsavedText:
    """A text that was edited and not saved: its file, and what was in there when that began."""

    file: str
    text: str
    base: str


@dataclass(frozen=True)
class LastView:
    """What a window left behind: the link to its view, and how often that was restored; texts that
    were not saved.
    """

    view: str
    tries: Annotated[int, Meta(ge=0, lt=2**31)] = 0
    unsaved: tuple[UnsavedText, ...] = ()

    @property
    def hopeful(self) -> bool:
        """Whether to show the view again; it may be what made the window end."""
        return self.tries < _TRIES

    @property
    def blameless(self) -> bool:
        """Whether windows ended again and again before they showed a view: something else does it,
        such as the settings.
        """
        return not self.view and self.tries > 0


class CrashFile:
    """The file of this window. Without a folder, or a place in it, nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._lock: QLockFile | None = None
        self._file: Path | None = None
        self._tries = 0
        self.left: LastView | None = None
        self.aside: Path | None = None  # where what is not restored lies now
        self.stays = False  # whether the view is to be shown at the next start, too
        self.unsaved: tuple[UnsavedText, ...] = ()  # texts, which each `keep` stores
        if folder is not None:
            self._take_place(folder)

    def keep(self, link: str) -> None:
        """Store the view now."""
        if self._file is None:
            return
        said = records.text(LastView(link, self._tries, self.unsaved))
        with suppress(InputError):  # a full disk must not stop the window
            files.write(self._file, said, durable=False)

    def put_aside(self) -> None:
        """What was left is not restored: it stays in a file beside."""
        if self._file is None or self.left is None or self.aside is not None:
            return
        aside = _beside(self._file)
        with suppress(InputError):
            files.write(aside, records.text(self.left), durable=False)
            self.aside = aside

    def trust(self, link: str) -> None:
        """The view restored has been shown for long enough: it does no harm."""
        self._tries = 0
        self.keep(link)

    def close(self) -> None:
        """The window ends properly, or it is no fault of its own."""
        if self._file is not None:
            with suppress(OSError):
                if not self.stays:
                    self._file.unlink()
            self._file = None
        if self._lock is not None:
            self._lock.unlock()

    def _take_place(self, folder: Path) -> None:
        """The first place nobody holds, rather one where something was left behind."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return
        places = [folder / f"window-{number}.json" for number in range(_WINDOWS)]
        for file in sorted(places, key=lambda place: not place.exists()):
            lock = QLockFile(str(file.with_suffix(".lock")))
            lock.setStaleLockTime(0)  # windows stay open for days
            if lock.tryLock(0):
                self._lock, self._file = lock, file
                self._take(file)
                return

    def _take(self, file: Path) -> None:
        """Read what was left, and count this start before anything comes of it."""
        files.remove_left(file.parent)
        try:
            self.left = _read(file)
        except InputError:
            self.left = LastView("")
            with suppress(OSError):
                os.replace(file, _beside(file))
                self.aside = _beside(file)
        self._tries = self.left.tries + 1 if self.left else 0
        self.unsaved = self.left.unsaved if self.left else ()
        self.keep(self.left.view if self.left else "")


def _read(file: Path) -> LastView | None:
    """What was left in a file, None when there is nothing; InputError when it is damaged."""
    if not file.exists():
        return None
    return records.read(bounded.read(file), LastView, str(file))


def _beside(file: Path) -> Path:
    """Where a file is put aside; one that lies there already is given up for it."""
    return file.with_suffix(".aside.json")
