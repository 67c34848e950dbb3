"""Opens whatever gpuviz knows: kernels, exported files, traces, recordings, reports, lectures."""

from collections.abc import Callable
from functools import partial
from os.path import isfile
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, QUrl, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from gpuviz.base.errors import Error, Failure, InputError, failure_of
from gpuviz.export.formats import FORMATS
from gpuviz.export.reading import check_files, read_any, read_content
from gpuviz.files.allowed_paths import local
from gpuviz.files.folders import KERNELS, LECTURE
from gpuviz.qt.export.file_dialogs import AskWhich, ask_which, shortened
from gpuviz.qt.running.activity import InThread
from gpuviz.recordings.recording import Recording
from gpuviz.story.lesson import Lesson
from gpuviz.story.own_kernel.profiled import OpenedReport
from gpuviz.views import link
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr, trn

_PICTURES = tuple(one.mime for one in FORMATS if one.mime)
Asked = Path | str | bytes  # a file, a link, or the content of a file


class FileOpener(QObject):
    """Finds out off the GUI thread what a file is; the newest wish counts."""

    said = Signal(str)  # what goes on, in words
    refused = Signal(Failure)  # why it cannot be opened
    view_asked = Signal(Provenance)  # what to show
    lesson_opened = Signal(Lesson)  # what was made of a trace
    recording_opened = Signal(Path, Recording)  # a file, and what is recorded there
    # kernel_asked, lecture_asked: a file to be opened by others.
    kernel_asked = Signal(Path)
    lecture_asked = Signal(Path)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._folder = ""
        self.ask_which: AskWhich = ask_which
        self._reading = InThread(self._take, self)

    def choose(self) -> None:
        """Ask for a file, then open it."""
        if path := self.ask_which(self._window, self._folder):
            self._folder = str(path.parent)
            self.open(path)

    def paste(self) -> None:
        """Open what is on the clipboard."""
        asked = asked_by(QGuiApplication.clipboard().mimeData())
        if asked is None:
            self.said.emit(tr("Nothing that gpuviz can open has been copied."))
        else:
            self.open(asked)

    def open(self, asked: Asked) -> None:
        """Open a file, a link, or a picture's content."""
        self._reading.forget()
        if isinstance(asked, str):
            self._try(lambda: _checked(link.parse(asked), tr("the link")))
        elif isinstance(asked, bytes):
            name = tr("the picture copied")
            self._try(lambda: _checked(read_content(asked, name), name))
        elif asked.suffix.lower() in KERNELS:
            self.kernel_asked.emit(asked)
        elif asked.suffix.lower() == LECTURE:
            self.lecture_asked.emit(asked)
        else:
            self.said.emit(tr("reading {file} …", file=shortened(asked.name)))
            self._reading.ask(partial(read_any, asked), asked)

    def _try(self, read: Callable[[], Provenance]) -> None:
        try:
            found = read()
        except Error as error:
            self.refused.emit(failure_of(error))
        else:
            self.view_asked.emit(found)

    def _take(self, path: Path, outcome: object) -> None:
        file = shortened(path.name)
        if isinstance(outcome, BaseException):
            self.said.emit(tr("{file}: not opened", file=file))
            self.refused.emit(failure_of(outcome))
            return
        self.said.emit(tr("opened: {file}", file=file))
        if isinstance(outcome, Provenance):
            self.view_asked.emit(outcome)
        elif isinstance(outcome, Lesson):
            self.lesson_opened.emit(outcome)
        elif isinstance(outcome, tuple):
            for lesson in reversed(outcome):  # the first is shown
                self.lesson_opened.emit(lesson)
        elif isinstance(outcome, OpenedReport):
            self.recording_opened.emit(path, outcome.recording)
            for lesson in reversed(outcome.lessons):
                self.lesson_opened.emit(lesson)
        elif isinstance(outcome, Recording):
            self.recording_opened.emit(path, outcome)
            self.said.emit(
                trn(
                    "{n} launch recorded on {device}, for what has no recording yet; the "
                    "preferences can put it first",
                    "{n} launches recorded on {device}, for what has no recording yet; the "
                    "preferences can put them first",
                    len(outcome.entries),
                    device=outcome.device.name,
                )
            )


def _checked(view: Provenance, name: str) -> Provenance:
    check_files(view, name)
    return view


def asked_by(data: QMimeData | None) -> Asked | None:
    """What something dropped or pasted asks to open, None when it is nothing for gpuviz.

    Any file may be: what is in it is found out when it is opened. An empty clipboard has no data.
    """
    if data is None:
        return None
    for url in data.urls():
        path = _own_file(url)
        if path is not None and isfile(path):
            return path
    if data.hasText() and data.text().strip().startswith(f"{link.SCHEME}://"):
        return data.text().strip()
    kind = next((one for one in _PICTURES if data.hasFormat(one)), None)
    return bytes(data.data(kind).data()) if kind is not None else None


def _own_file(url: QUrl) -> Path | None:
    """The file of this machine that a URL names, None when it names something else."""
    try:
        here = url.isLocalFile() and not url.host()
        return Path(local(url.toLocalFile())) if here else None
    except InputError:
        return None


def called(asked: Asked) -> str:
    """What people call it."""
    if isinstance(asked, Path):
        return shortened(asked.name)
    return tr("a link to a view") if isinstance(asked, str) else tr("a picture")
