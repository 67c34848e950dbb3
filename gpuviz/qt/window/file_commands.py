"""Views into files and back: saving, opening, dropping and pasting, wired to the window."""

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMainWindow

from gpuviz.base.errors import Error, Failure, failure_of
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.controls.message import Message
from gpuviz.qt.export.drop_target import DropTarget
from gpuviz.qt.export.export_commands import ExportCommands, Parts
from gpuviz.qt.export.export_queue import ExportResult
from gpuviz.qt.export.file_opener import FileOpener
from gpuviz.qt.preferences.settings import Settings
from gpuviz.qt.window.status import Offer, Status
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr


class FileCommands(QObject):
    """`exporting` writes what is shown, `reopening` shows what was written."""

    def __init__(self, window: QMainWindow, parts: Parts, kept: Settings, actions: Actions) -> None:
        super().__init__(window)
        self._parts = parts
        self.exporting = ExportCommands(window, parts, kept, actions)
        self.reopening = FileOpener(window)
        self.dropping = DropTarget(window, parts.theme, self.reopening.open)
        actions.bind("file.open", self.reopening.choose)
        actions.bind("file.paste", self.reopening.paste)

    def report_to(self, status: Status, message: Message) -> None:
        """Progress and remarks in the bar, what went wrong on the card."""
        self._status, self._message = status, message
        exports = self.exporting.exports
        status.follow_activity(exports)
        exports.saved.connect(self._offer_folder)
        exports.failed.connect(
            lambda failure: message.show_failure(failure, tr("This could not be saved"), True)
        )
        self.exporting.said.connect(status.say)
        self.reopening.said.connect(status.say)
        self.reopening.refused.connect(self._refuse)
        self.reopening.view_asked.connect(self._show)

    def close(self) -> None:
        """Stop writing: what is not whole is not left behind."""
        self.exporting.exports.close()

    def _show(self, wanted: Provenance) -> None:
        try:
            self._parts.recorder.show(wanted)
        except Error as error:
            self._refuse(failure_of(error))

    def _refuse(self, failure: Failure) -> None:
        self._message.show_failure(failure, tr("This could not be opened"), stays=True)

    def _offer_folder(self, saved: ExportResult) -> None:
        if saved.files:
            folder = saved.files[-1].parent
            tip = tr("Open the folder {folder}", folder=folder)
            show = partial(self.exporting.open_folder, folder)
            self._status.offer(Offer(tr("show in folder"), tip, show))
