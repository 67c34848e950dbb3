"""The user's own recording, whose measurements come first everywhere: chosen, named, put away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from gpuviz.base.errors import failure_of
from gpuviz.files.suffixes import RECORDING
from gpuviz.qt.controls.controls import ElidedLabel, button, keep_space, label, restyle
from gpuviz.qt.running.in_thread import InThread
from gpuviz.words.language import brief, tr, trn

AskWhich = Callable[[QWidget], Path | None]


def ask_which(parent: QWidget) -> Path | None:
    """The file of a recording."""
    kinds = f"{tr('Recordings')} (*{RECORDING});;{tr('All files')} (*)"
    name, _ = QFileDialog.getOpenFileName(parent, tr("Choose a recording"), "", kinds)
    return Path(name) if name else None


class RecordingRow(QWidget):
    """A file is read off the GUI thread; one that cannot be read is not chosen.

    Signals
    -------
    changed : another file is chosen, or none
    told : there is something else to be said of it
    """

    changed = Signal()
    told = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.file = ""
        self._reading = InThread(self._take, self)
        self.ask_which: AskWhich = ask_which
        self.name = ElidedLabel()
        self.choose = button(tr("Choose …"), tr("Choose your own recording"))
        self.remove = button(tr("Remove"), tr("Use your own recording no more"))
        self.said = label("", "quiet")
        self.said.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.name, 1)
        for made in (self.choose, self.remove):
            keep_space(made)
            row.addWidget(made)
        self.choose.clicked.connect(self._choose)
        self.remove.clicked.connect(lambda: self._become(""))
        self.show_file("")

    def show_file(self, file: str) -> None:
        """This file is chosen; "" for none."""
        self._reading.forget()
        self.file = file
        self.name.say(Path(file).name if file else tr("no recording"))
        self.remove.setEnabled(bool(file))
        self._say("")
        if file:
            self._look_at(Path(file))

    def _choose(self) -> None:
        if path := self.ask_which(self):
            self._look_at(path)

    def _become(self, file: str) -> None:
        self.show_file(file)
        self.changed.emit()

    def _look_at(self, path: Path) -> None:
        from gpuviz.recordings.recording import read

        path = path.absolute()
        self._reading.ask(partial(read, path), path)

    def _take(self, path: Path, outcome: object) -> None:
        from gpuviz.recordings.recording import Recording

        if not isinstance(outcome, Recording):
            assert isinstance(outcome, Exception)
            self._say(f"▲ {failure_of(outcome).message}", "problem")
            return
        if str(path) != self.file:
            self._become(str(path))
            return
        self._say(
            trn(
                "{n} launch on {device}",
                "{n} launches on {device}",
                len(outcome.entries),
                device=brief(outcome.device.name),
            )
        )

    def _say(self, text: str, role: str = "quiet") -> None:
        self.said.setProperty("role", role)
        self.said.setText(text)
        self.said.setVisible(bool(text))
        restyle(self.said)
        self.told.emit()
