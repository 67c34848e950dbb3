"""The dialog of preferences: what is chosen is seen at once, Cancel brings back what was."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QGridLayout,
    QLabel,
    QMessageBox,
    QSlider,
    QWidget,
)

from gpuviz.base.errors import failure_of
from gpuviz.files.folders import RECORDING
from gpuviz.qt.controls.controls import (
    Combo,
    ElidedLabel,
    Switch,
    answers,
    button,
    keep_arrows,
    keep_space,
    label,
    set_look,
)
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.preferences.preferences import PREFERENCES, Preference
from gpuviz.qt.running.activity import InThread
from gpuviz.qt.running.core import Core
from gpuviz.words.language import brief, chosen, tr, trn

_CONTROLS, _NOTES = 300, 430  # pixels at scale 1: of controls, and of a line of a note
_GAP = 6  # between one preference and the next


class PreferencesDialog(QDialog):
    """A control for each preference that has a label, by its key. `reset` brings back the defaults
    of everything; it is asked about first.
    """

    def __init__(self, core: Core, reset: Callable[[], None], parent: QWidget) -> None:
        super().__init__(parent)
        self._core, self._reset, self._theme = core, reset, core.theme
        self._rows = [row for row in PREFERENCES if row.label]
        self._before = self._now()
        self.setWindowTitle(tr("Preferences"))
        self.setModal(True)
        self.controls = {row.key: _CONTROLS_OF[row.control](row, core.theme) for row in self._rows}
        self.notes = {
            row.key: label(tr(row.note), "quiet", wraps=True) for row in self._rows if row.note
        }
        self.everything = button(
            tr("Reset everything to defaults …"), tr("Reset everything to defaults")
        )
        self.buttons = answers(self, tr("Done"))
        self._lay_out()
        self._show()
        self._wire()

    def reject(self) -> None:
        """Cancel: as it was before."""
        for row in self._rows:
            self._change(row, self._before[row.key])
        super().reject()

    def _now(self) -> dict[str, Any]:
        return {row.key: row.get(self._core) for row in self._rows}

    def _change(self, row: Preference, value: Any) -> None:
        """What is chosen is in effect, and remembered, at once."""
        row.change(self._core, value)
        row.keep(self._core)

    def _wire(self) -> None:
        for row in self._rows:
            self.controls[row.key].changed.connect(partial(self._apply, row))
        recording = self.controls["recording"]
        assert isinstance(recording, RecordingRow)
        recording.told.connect(self._fit)
        self.everything.clicked.connect(self._ask)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self._theme.changed.connect(self._fit)

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for row in self._rows:
            control = self.controls[row.key]
            _add_row(grid, tr(row.label), control, self.notes.get(row.key))
            if isinstance(control, RecordingRow):
                _add_row(grid, "", control.said, None)
        foot = row_of(self.everything, 1, self.buttons)
        foot.insertSpacing(2, 24)
        column_of(grid, 1, foot, on=self, gap=22, margins=(24, 20, 24, 18))

    def _show(self) -> None:
        """The controls say how it is."""
        for key, value in self._now().items():
            with QSignalBlocker(self.controls[key]):
                self.controls[key].show_value(value)
        self._fit()

    def _apply(self, row: Preference) -> None:
        self._change(row, self.controls[row.key].value())
        self._fit()

    def _fit(self) -> None:
        """Larger text needs a larger dialog, once the style sheet has reached every part of it."""
        look = self._theme.look
        for row in self._rows:
            control, note = self.controls[row.key], self.notes.get(row.key)
            control.fit(look.px(_CONTROLS))
            if note is not None:
                note.setMaximumWidth(look.px(_NOTES))
                note.setVisible(row.said(control.value()))
        QTimer.singleShot(0, self, self.adjustSize)

    def _ask(self) -> None:
        """Reset everything, if that is what is wanted; what Cancel brings back is then that."""
        asked = QMessageBox(self)
        asked.setWindowTitle(tr("Reset everything to defaults"))
        asked.setIcon(QMessageBox.Icon.NoIcon)
        asked.setText(tr("Reset everything to defaults?"))
        asked.setInformativeText(
            tr(
                "Layout, theme, size of text, language, the share of the GPU, the time for a "
                "launch, your own recording and the parameters of all lessons become what they "
                "were at first; kernels that may run on the GPU are asked about again. Recent "
                "views stay."
            )
        )
        wide = self._theme.look.px(_NOTES)  # Qt would break the text after a few words
        asked.setStyleSheet(f"QLabel#qt_msgbox_informativelabel {{ min-width: {wide}px; }}")
        reset = asked.addButton(tr("Reset"), QMessageBox.ButtonRole.AcceptRole)
        stay = asked.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        asked.setDefaultButton(stay)
        self.asked = asked
        reset.clicked.connect(self._start_over)
        asked.open()

    def _start_over(self) -> None:
        self._reset()
        self._before = self._now()
        self._show()


class ListControl(Combo):
    """One of several."""

    changed = Signal()

    def __init__(self, row: Preference, theme: Theme) -> None:
        super().__init__(tr(row.label), theme)
        for value in row.offered() if row.offered is not None else row.choices:
            self.addItem(row.name(value), value)
        keep_arrows(self)
        keep_space(self)
        self.currentIndexChanged.connect(lambda index: self.changed.emit())

    def value(self) -> Any:
        """The one chosen."""
        return self.currentData()

    def show_value(self, value: Any) -> None:
        """Choose it; a language that is not there is the one in use."""
        index = self.findData(value)
        self.setCurrentIndex(index if index >= 0 else self.findData(chosen()))

    def fit(self, width: int) -> None:
        """At least so wide."""
        self.setMinimumWidth(width)


class SliderControl(QWidget):
    """One of several numbers, and beside the slider which."""

    changed = Signal()

    def __init__(self, row: Preference, theme: Theme) -> None:
        super().__init__()
        self._row, self._theme = row, theme
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, len(row.choices) - 1)
        self.slider.setPageStep(1)
        self.slider.setAccessibleName(tr(row.label))
        self.name = label("", "value")
        keep_arrows(self.slider)
        row_of(self.slider, self.name, on=self, gap=10)
        self.slider.valueChanged.connect(lambda at: self.changed.emit())

    def value(self) -> Any:
        """The number chosen."""
        return self._row.choices[self.slider.value()]

    def show_value(self, value: float) -> None:
        """Choose the nearest."""
        steps = [abs(choice - value) for choice in self._row.choices]
        self.slider.setValue(steps.index(min(steps)))

    def fit(self, width: int) -> None:
        """The slider at least so wide."""
        self.slider.setMinimumWidth(width)
        self.name.setText(self._row.name(self.value()))
        self.name.setMinimumWidth(self._theme.look.px(48))


class SwitchControl(Switch):
    """Yes or no."""

    changed = Signal()

    def __init__(self, row: Preference, theme: Theme) -> None:
        super().__init__(tr(row.label), theme)
        keep_space(self)
        self.toggled.connect(lambda on: self.changed.emit())

    def value(self) -> bool:
        """Whether it is on."""
        return self.isChecked()

    def show_value(self, value: bool) -> None:
        """Switch it."""
        self.setChecked(value)

    def fit(self, width: int) -> None:
        """As wide as ever."""


AskWhich = Callable[[QWidget], Path | None]


def ask_which(parent: QWidget) -> Path | None:
    """The file of a recording."""
    kinds = f"{tr('Recordings')} (*{RECORDING});;{tr('All files')} (*)"
    name, _ = QFileDialog.getOpenFileName(parent, tr("Choose a recording"), "", kinds)
    return Path(name) if name else None


class RecordingRow(QWidget):
    """A file is read off the GUI thread; one that cannot be read is not chosen."""

    changed = Signal()  # another file is chosen, or none
    told = Signal()  # there is something else to be said of it

    def __init__(self, row: Preference, theme: Theme) -> None:
        super().__init__()
        self.file = ""
        self._reading = InThread(self._take, self)
        self.ask_which: AskWhich = ask_which
        self.name = ElidedLabel()
        self.choose = button(tr("Choose …"), tr("Choose your own recording"))
        self.remove = button(tr("Remove"), tr("Use your own recording no more"))
        self.said = label("", "quiet", wraps=True)
        for made in (self.choose, self.remove):
            keep_space(made)
        row_of((self.name, 1), self.choose, self.remove, on=self)
        self.choose.clicked.connect(self._choose)
        self.remove.clicked.connect(lambda: self._become(""))
        self._show_file("")

    def value(self) -> str:
        """The file chosen, "" for none."""
        return self.file

    def show_value(self, file: str) -> None:
        """This file is chosen."""
        if file != self.file:
            self._show_file(file)

    def fit(self, width: int) -> None:
        """At least so wide, and so what is said of it."""
        for widget in (self, self.said):
            widget.setMinimumWidth(width)
        self.said.setMaximumWidth(width * _NOTES // _CONTROLS)

    def _show_file(self, file: str) -> None:
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
        self._show_file(file)
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
        set_look(self.said, "role", role)
        self.said.setText(text)
        self.said.setVisible(bool(text))
        self.told.emit()


def _add_row(grid: QGridLayout, name: str, control: QWidget, note: QLabel | None) -> None:
    """A name, its control, and below that what is to be said of it."""
    row = grid.rowCount()
    grid.addWidget(label(name), row, 0)
    grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignLeft)
    if note is not None:
        grid.addWidget(note, row + 1, 1)
    grid.setRowMinimumHeight(row + 2, _GAP)


_CONTROLS_OF: dict[
    str, type[ListControl] | type[SliderControl] | type[SwitchControl] | type[RecordingRow]
] = {
    "list": ListControl,
    "slider": SliderControl,
    "switch": SwitchControl,
    "recording": RecordingRow,
}
