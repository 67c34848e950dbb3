"""The lecture that is open: changed step by step, undone, saved, and never lost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, QTimer, Signal

from gpuviz.errors import Error
from gpuviz.lectures import bundle
from gpuviz.lectures.lecture import SUFFIX, Lecture, Slide
from gpuviz.lectures.reading import KEY, VERSION, read
from gpuviz.lectures.writing import write
from gpuviz.words import tr

KEEP_MS = 1000  # after a change, before a copy of what is not saved is kept
_STEPS = 200  # that can be undone


def kept_folder() -> Path:
    """Where copies of what is not saved yet are kept."""
    place = QStandardPaths.StandardLocation.AppLocalDataLocation
    return Path(QStandardPaths.writableLocation(place)) / "lectures"


class Document(QObject):
    """One lecture at a time; `path` is None until it has been saved, `bundled` says that the file
    holds kernels and recordings, too.

    Signals
    -------
    changed : the lecture is another one, or has changed
    chosen : the number of the slide to look at
    """

    changed = Signal()
    chosen = Signal(int)

    def __init__(self, parent: QObject | None = None, folder: Path | None = None) -> None:
        super().__init__(parent)
        self._folder = folder or kept_folder()
        self.lecture: Lecture | None = None
        self.path: Path | None = None
        self.bundled = False
        self._home: Path | None = None
        self._saved: Lecture | None = None
        self._past: list[Lecture] = []
        self._future: list[Lecture] = []
        self._keep = QTimer(self)
        self._keep.setSingleShot(True)
        self._keep.setInterval(KEEP_MS)
        self._keep.timeout.connect(self.keep)

    @property
    def dirty(self) -> bool:
        """Whether something is not saved."""
        return self.lecture is not self._saved

    @property
    def name(self) -> str:
        """The file's name, or the title of what has none."""
        if self.path is not None:
            return self.path.name
        return self.lecture.title if self.lecture is not None else ""

    @property
    def undoes(self) -> bool:
        """Whether a change can be taken back."""
        return bool(self._past)

    @property
    def redoes(self) -> bool:
        """Whether one that was taken back can be made again."""
        return bool(self._future)

    def new(self) -> None:
        """An empty lecture."""
        head = f'{KEY} = {VERSION}\ntitle = "{tr("New lecture")}"\n\n'
        self._take(Lecture(tr("New lecture"), raw=head), None)

    def open(self, path: Path) -> None:
        """A lecture from a file; InputError or FormatError when it cannot be read."""
        text = bundle.unpacked(path)
        self._take(read(text), None if path in bundle.shipped() else path)
        self.bundled, self._home = text != path, text.parent

    def close(self) -> None:
        """No lecture is open any more; what was not saved is given up."""
        self._take(None, None)

    def change(self, how: Callable[[Lecture], Lecture], choose: int | None = None) -> None:
        """Change the lecture, and look at a slide of it."""
        before = self.lecture
        if before is None:
            return
        after = how(before)
        if after != before:
            self._past = [*self._past[-_STEPS:], before]
            self._future = []
            self._become(after)
        if choose is not None:
            self.chosen.emit(choose)

    def add(self, slide: Slide, at: int) -> None:
        """A slide before the one of that number; without a lecture, in a new one."""
        if self.lecture is None:
            self.new()
        self.change(lambda lecture: lecture.insert(at, slide), at)

    def retitle(self, title: str) -> None:
        """Another title of the whole."""
        self.change(lambda lecture: replace(lecture, title=title))

    def undo(self) -> None:
        """Take back the last change."""
        if self._past and self.lecture is not None:
            self._future.append(self.lecture)
            self._become(self._past.pop())

    def redo(self) -> None:
        """Make again what was taken back."""
        if self._future and self.lecture is not None:
            self._past.append(self.lecture)
            self._become(self._future.pop())

    def save(self, path: Path) -> None:
        """Write it to a file, which is its own from now on; InputError when that cannot be done."""
        if self.lecture is None:
            return
        path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
        write(self.lecture, path)
        self._home = path.parent
        self.saved(self.lecture, path, bundled=False)

    def saved(self, lecture: Lecture, path: Path, bundled: bool) -> None:
        """This is in that file now."""
        self.path, self.bundled, self._saved = path, bundled, lecture
        if not self.dirty:
            self._forget_copy()
        self.changed.emit()

    def keep(self) -> None:
        """Keep a copy of what is not saved, for the next start if this one ends badly."""
        if self.dirty and self.lecture is not None:
            with suppress(Error, OSError):  # a full disk must not stop anybody from working
                self._folder.mkdir(parents=True, exist_ok=True)
                write(self.lecture, self._copy)
                name = str(self.path) if self.path is not None else ""
                (self._folder / "of.txt").write_text(name, encoding="utf-8")
        else:
            self._forget_copy()

    def recover(self) -> bool:
        """Open the copy of what was not saved last time, if there is one."""
        if not self._copy.is_file():
            return False
        try:
            found = read(self._copy)
            name = (self._folder / "of.txt").read_text(encoding="utf-8")
        except (Error, OSError):
            return False
        self._take(found, Path(name) if name else None)
        self._saved = None
        self.changed.emit()
        return True

    def give_up(self) -> None:
        """What is not saved is not wanted."""
        self._saved = self.lecture
        self._forget_copy()

    @property
    def _copy(self) -> Path:
        return self._folder / f"unsaved{SUFFIX}"

    def _forget_copy(self) -> None:
        self._keep.stop()
        with suppress(OSError):
            self._copy.unlink(missing_ok=True)

    def _take(self, lecture: Lecture | None, path: Path | None) -> None:
        self._past, self._future = [], []
        self.bundled, self._home = False, path.parent if path is not None else None
        self.path, self._saved = path, lecture
        self._forget_copy()
        self.lecture = lecture
        self.changed.emit()

    def _become(self, lecture: Lecture) -> None:
        self.lecture = lecture
        self._keep.start()
        self.changed.emit()
