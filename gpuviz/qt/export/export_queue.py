"""Files being written: one after another in a thread, with progress; what fails is told."""

from collections import deque
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PySide6.QtCore import QByteArray, QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication, QImage

from gpuviz.base.errors import failure_of
from gpuviz.export.export import Export, Options
from gpuviz.export.formats import PNG, SVG
from gpuviz.qt.export.file_dialogs import shortened
from gpuviz.qt.painting.qt_painter import QtPainter
from gpuviz.qt.running.activity import Activity, Work
from gpuviz.views.lesson_view import View
from gpuviz.words.language import tr, trn


@dataclass(frozen=True, eq=False)
class Clip:
    """A picture as other programs take it from the clipboard: image, PNG file and SVG."""

    image: QImage
    png: bytes
    svg: bytes

    def mime(self) -> QMimeData:
        """For the clipboard, which wants it made in the GUI's thread."""
        data = QMimeData()
        data.setImageData(self.image)
        data.setData(PNG.mime, QByteArray(self.png))
        data.setData(SVG.mime, QByteArray(self.svg))
        return data

    def is_in(self, data: QMimeData) -> bool:
        """Whether this is what is on the clipboard."""
        return bytes(data.data(PNG.mime).data()) == self.png


def clip(view: View, options: Options) -> Clip:
    """The picture in every form, in any thread."""
    PNG.check(view.provenance, options)
    export, png, svg = Export(view, options, QtPainter()), BytesIO(), BytesIO()
    PNG.write(export, png)
    SVG.write(Export(view), svg)
    return Clip(QImage.fromData(QByteArray(png.getvalue())), png.getvalue(), svg.getvalue())


@dataclass(frozen=True, eq=False)
class ExportResult:
    """What was written, and what belongs on the clipboard."""

    files: tuple[Path, ...] = ()
    clip: Clip | None = None

    def words(self) -> str:
        """What the status bar says."""
        if not self.files:
            return tr("picture copied")
        if len(self.files) > 1:
            return trn(
                "{n} file saved in {folder}",
                "{n} files saved in {folder}",
                len(self.files),
                folder=shortened(self.files[0].parent.name),
            )
        file = shortened(self.files[0].name)
        return (
            tr("saved and copied: {file}", file=file)
            if self.clip
            else tr("saved: {file}", file=file)
        )


@dataclass(frozen=True, eq=False)
class Task:
    """Something to be written: a name for people, and the work, which returns `ExportResult`."""

    name: str
    work: Work


class ExportQueue(Activity):
    """Does tasks in the order in which they were asked for."""

    saved = Signal(ExportResult)  # what is on the disk, or on the clipboard, now

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[Task] = deque()
        self._task: Task | None = None
        self._clip: Clip | None = None
        self._over = False  # the window has closed

    @property
    def doing(self) -> str:
        """What is being written, and how much is to follow."""
        name = shortened(self._task.name) if self._task else ""
        if self._waiting:
            return tr("saving {file} …, {count} more to come", file=name, count=len(self._waiting))
        return tr("saving {file} …", file=name)

    def add(self, task: Task) -> None:
        """Do this when all that was asked for before is done."""
        self._waiting.append(task)
        self._next()

    def close(self) -> None:
        """Forget what waits, and stop what is under way: it leaves no file."""
        self._over = True
        self._waiting.clear()
        super().close()
        self._leave_clipboard()

    def _copy(self, clip: Clip) -> None:
        """In every form; what is done only when the window has closed already, as an image."""
        if self._over:
            QGuiApplication.clipboard().setImage(clip.image)
        else:
            self._clip = clip
            QGuiApplication.clipboard().setMimeData(clip.mime())

    def _leave_clipboard(self) -> None:
        """The picture stays on the clipboard, as data of Qt's own.

        What Python made is destroyed with the clipboard, when Python is over already, and the
        program would end in a crash.
        """
        clip, self._clip = self._clip, None
        data = QGuiApplication.clipboard().mimeData()
        if clip is not None and data is not None and clip.is_in(data):
            QGuiApplication.clipboard().setImage(clip.image)

    def _next(self) -> None:
        if self._waiting and not self.busy:
            self._task = self._waiting.popleft()
            self._begin(self._task.work)

    def _end(self, outcome: object, stopped: bool) -> None:
        """A file that was whole when it was asked to stop stays."""
        name = shortened(self._task.name) if self._task else ""
        self._task = None
        if isinstance(outcome, ExportResult):
            if outcome.clip is not None:
                self._copy(outcome.clip)
            self.rested.emit(outcome.words())
            self.saved.emit(outcome)
        elif stopped:
            self.rested.emit(tr("cancelled: {file} was not saved", file=name))
        else:
            assert isinstance(outcome, BaseException)
            self.rested.emit(tr("{file} was not saved", file=name))
            self.failed.emit(failure_of(outcome))
        self._next()
