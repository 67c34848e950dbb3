"""The lecture that is open: changed step by step, undone, saved, and never lost."""

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from os.path import isfile
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QLockFile, QObject, QUuid, Signal

from gpuviz.base import records
from gpuviz.base.errors import Error, InputError
from gpuviz.files import bounded, folders
from gpuviz.files import writing as files
from gpuviz.files.allowed_paths import Reach, local
from gpuviz.lectures import agreements, bundle
from gpuviz.lectures.lecture import SUFFIX, Lecture, Slide
from gpuviz.lectures.markdown.files import carry
from gpuviz.lectures.own_files import files_of
from gpuviz.lectures.reading import KEY, VERSION, read
from gpuviz.lectures.writing import text_of, write
from gpuviz.qt.controls.controls import timer
from gpuviz.run.session import Library, Session
from gpuviz.words.language import chosen, tr

TYPING_MS = 1000  # between two letters that are undone together
KEEP_MS = 1000  # after a change, before a copy of what is not saved is kept
_STEPS = 200  # that can be undone
_LONGEST = 1 << 20  # bytes of what is told of a copy


class Document(QObject):
    """One lecture at a time; `path` is None until it has been saved, `bundled` says that the file
    holds kernels and recordings, too.
    """

    changed = Signal()  # the lecture is another one, or has changed
    chosen = Signal(int)  # the number of the slide to look at

    def __init__(
        self, session: Session, parent: QObject | None = None, folder: Path | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._folder = folder or folders.data() / "lectures"
        self.lecture: Lecture | None = None
        self.path: Path | None = None
        self.file: Path | None = None  # what it was read from; what that carries serves its slides
        self.bundled = False
        self._home = self._folder  # where files that its slides name may lie unasked
        self._agreed: frozenset[Path] = frozenset()  # and those elsewhere
        self._packed: frozenset[Path] = frozenset()  # elsewhere, and in its bundle all the same
        self.turn = 0  # grows whenever another lecture is opened
        self._seen: bytes | None = None  # of the file, when it was read or written last
        self._keep_as(QUuid.createUuid().toString(QUuid.StringFormat.Id128))
        self._saved: Lecture | None = None
        self._past: list[Lecture] = []
        self._future: list[Lecture] = []
        self._typing, self._typed = "", QElapsedTimer()
        self._keep = timer(self, KEEP_MS, self.keep)

    @property
    def library(self) -> Library:
        """What its slides are told from."""
        return self._session.library(self.file)

    @property
    def reach(self) -> Reach:
        """The files that may go into a bundle without anybody being asked: that a lecture may read
        a file does not mean that it may take it along.
        """
        return Reach(self._home, self._packed)

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

    def duplicate(self) -> None:
        """The same slides as a lecture that has no file yet."""
        if self.lecture is None:
            return
        title = tr("{title}, a copy", title=self.lecture.title)
        self._past, self._future = [], []
        self.turn += 1
        self._forget_copy()
        self.path = self._seen = self._saved = None
        self._become(replace(self.lecture, title=title))

    def open(self, path: Path) -> None:
        """A lecture from a file; InputError or FormatError when it cannot be read."""
        agreed = agreements.of(path)
        lecture = bundle.opened(path, self._session, agreed, chosen())
        self._take(lecture, None if path in bundle.shipped() else path, path)
        self._home, self._agreed = bundle.unpacked(path)[0].absolute().parent, agreed
        self.bundled = bundle.is_bundle(path)

    def agree_to_pack(self, files: Iterable[Path]) -> None:
        """Its bundle may hold these files from outside of its folder."""
        self._packed |= frozenset(files)

    def agree(self, files: Iterable[Path]) -> None:
        """It may read these files outside of its folder, now and later."""
        self._agreed |= frozenset(files)
        if self.file is not None:
            self._session.agree(self.file, self._agreed)
        for path in {self.file, self.path}:
            if path is not None:
                agreements.remember(path, self._agreed)

    def close(self) -> None:
        """No lecture is open any more; what was not saved is given up."""
        self._take(None, None)

    def change(
        self, how: Callable[[Lecture], Lecture], choose: int | None = None, typing: str = ""
    ) -> None:
        """Change the lecture, and look at a slide of it.

        Letters that follow each other soon, with the same `typing`, are undone together.
        """
        before = self.lecture
        if before is None:
            return
        after = how(before)
        if after != before:
            soon = self._typed.isValid() and self._typed.elapsed() < TYPING_MS
            if not (typing and typing == self._typing and soon and self._past):
                self._past = [*self._past[-_STEPS:], before]
            self._typing = typing
            self._typed.restart()
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
        for slide in self.lecture.slides:
            carry(slide.pictures, path.absolute().parent)
        write(self.lecture, path)
        self.saved(self.lecture, path, bundled=False)

    def saved(self, lecture: Lecture, path: Path, bundled: bool) -> None:
        """This is in that file now."""
        self.path, self.bundled, self._saved = path, bundled, lecture
        self._seen = _content(path)
        if not bundled:
            self._home = path.absolute().parent
            agreements.remember(path, _elsewhere(lecture, self._home))
        if not self.dirty:
            self._forget_copy()
        self.changed.emit()

    @property
    def changed_elsewhere(self) -> bool:
        """Whether another program has written the file since it was read or written here."""
        if self.path is None or self._seen is None:
            return False
        now = _content(self.path)
        return now is not None and now != self._seen

    def keep(self) -> None:
        """Keep a copy of what is not saved, for the next start if this one ends badly."""
        if self.dirty and self.lecture is not None:
            with suppress(Error, OSError):  # a full disk must not stop anybody from working
                self._folder.mkdir(parents=True, exist_ok=True)
                self.lock.tryLock(0)
                files.write(self._copy, text_of(self.lecture, self._home))
                path = str(self.path) if self.path is not None else ""
                own = sorted(map(str, _elsewhere(self.lecture, self._home)))
                seen = self._seen.hex() if self._seen is not None else ""
                kept = _Companion(path, str(self._home), tuple(own), seen)
                files.write(self._copy.with_suffix(".json"), records.text(kept))
        else:
            self._forget_copy()

    def recover(self) -> bool:
        """Open the copy of what was not saved last time, if there is one.

        One that a running gpuviz keeps is none; nor is any taken in place of an open lecture.
        """
        if self.lecture is not None:
            return False
        return any(self._recover(copy) for copy in sorted(self._folder.glob(f"*{SUFFIX}")))

    def _recover(self, copy: Path) -> bool:
        lock = _lock_of(copy)
        if not lock.tryLock(0):
            return False
        kept = _companion(copy)
        path: Path | None = None
        with suppress(InputError):
            path = Path(local(kept.path)) if kept.path and "\0" not in kept.path else None
        home, bundled = Path(kept.folder or copy.parent), False
        agreed = frozenset(map(Path, kept.agreed))
        with suppress(Error):  # what the copy is of may be gone, or damaged
            if path is not None and isfile(path) and bundle.is_bundle(path):
                home, bundled = bundle.unpacked(path)[0].parent, True
        try:
            found = read(copy, agreed, home)
        except (Error, OSError):
            lock.unlock()
            return False
        self._take(found, path)
        lock.unlock()
        self._keep_as(copy.stem)
        self.bundled, self._home, self._agreed = bundled, home, agreed
        with suppress(ValueError):
            self._seen = bytes.fromhex(kept.seen) or self._seen
        self._saved = None
        self.keep()
        self.changed.emit()
        return True

    def give_up(self) -> None:
        """What is not saved is not wanted."""
        self._saved = self.lecture
        self._forget_copy()

    def _keep_as(self, name: str) -> None:
        """Keep the copy under this name; who holds its lock is alive."""
        self._copy = self._folder / f"{name}{SUFFIX}"
        self.lock = _lock_of(self._copy)

    def _forget_copy(self) -> None:
        self._keep.stop()
        with suppress(OSError):
            self._copy.unlink(missing_ok=True)
            self._copy.with_suffix(".json").unlink(missing_ok=True)
        self.lock.unlock()

    def _take(self, lecture: Lecture | None, path: Path | None, file: Path | None = None) -> None:
        self._past, self._future = [], []
        self.turn += 1
        if self.file is not None and self.file != file:
            self._session.forget(self.file)
        self.file = file
        self.path, self.bundled, self._saved = path, False, lecture
        self._seen = _content(path) if path is not None else None
        self._home, self._agreed, self._packed = self._folder, frozenset(), frozenset()
        self._forget_copy()
        self.lecture = lecture
        self.changed.emit()

    def _become(self, lecture: Lecture) -> None:
        self.lecture = lecture
        self._keep.start()
        self.changed.emit()


@dataclass(frozen=True)
class _Companion:
    """What a kept copy does not say itself: the lecture's file, the folder that files are named
    from, those elsewhere, and what tells the file from one that another window has written since.
    """

    path: str = ""
    folder: str = ""
    agreed: tuple[str, ...] = ()
    seen: str = ""


def _companion(copy: Path) -> _Companion:
    """That of a copy; where it is gone or damaged the copy is worth as much."""
    try:
        told = bounded.read(copy.with_suffix(".json"), _LONGEST)
        return records.read(told, _Companion, copy.name)
    except InputError:
        return _Companion()


def _elsewhere(lecture: Lecture, home: Path) -> frozenset[Path]:
    """Files outside of a folder that slides show: the user put them there, or agreed to them."""
    found: set[Path] = set()
    for slide in lecture.slides:
        with suppress(Error):
            found |= files_of(slide.view.launch) if slide.view is not None else frozenset()
    return frozenset(file for file in found if Reach(home).elsewhere(file) is not None)


def _lock_of(copy: Path) -> QLockFile:
    """The lock of a copy; it is as good as none when its process has ended."""
    lock = QLockFile(str(copy.with_suffix(".lock")))
    lock.setStaleLockTime(0)  # a lecture may be open for days
    return lock


def _content(path: Path) -> bytes | None:
    """What tells a file from another one, None when it cannot be read."""
    try:
        with bounded.opened(path, 1 << 30) as file:
            return hashlib.file_digest(file, "sha256").digest()
    except InputError:
        return None
