"""The dialog of preferences: what is chosen is seen at once, Cancel brings back what was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from gpuviz.base.waiting import CHOICES
from gpuviz.gpu.gpu_state import USES
from gpuviz.qt.controls.controls import (
    Combo,
    Switch,
    answers,
    button,
    keep_arrows,
    keep_space,
    label,
)
from gpuviz.qt.look.theme import MODES, NAMES, SCALES, Theme
from gpuviz.qt.preferences.preferences import PreferenceStore
from gpuviz.qt.preferences.recording_row import RecordingRow
from gpuviz.words.language import LANGUAGES, chosen, languages, percent, tr

_CONTROLS, _NOTES = 300, 430  # pixels at scale 1: of controls, and of a line of a note
_GAP = 6  # between one preference and the next


class PreferencesDialog(QDialog):
    """`reset` brings back the defaults of everything; it is asked about first."""

    def __init__(
        self, store: PreferenceStore, reset: Callable[[], None], theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._store, self._reset, self._theme = store, reset, theme
        self._before = store.now()
        self.setWindowTitle(tr("Preferences"))
        self.setModal(True)
        self.theme = _combo(tr("Theme"), {mode: _theme_name(mode) for mode in MODES}, theme)
        self.text = QSlider(Qt.Orientation.Horizontal)
        self.text.setRange(0, len(SCALES) - 1)
        self.text.setPageStep(1)
        self.text.setAccessibleName(tr("Size of text"))
        keep_arrows(self.text)
        self.percent = label("", "value")
        self.calm = Switch(tr("Reduced motion"), theme)
        keep_space(self.calm)
        names = {code: LANGUAGES.get(code, code) for code in languages()}
        self.language = _combo(tr("Language"), names, theme)
        self.use = _combo(
            tr("Share of the GPU's time"), {use: _use_name(use) for use in USES}, theme
        )
        self.seconds = _combo(
            tr("Time to emulate a launch"),
            {seconds: _seconds_name(seconds) for seconds in CHOICES},
            theme,
        )
        self.recording = RecordingRow()
        self.everything = button(
            tr("Reset everything to defaults …"), tr("Reset everything to defaults")
        )
        self.buttons = answers(self, tr("Done"))
        self._lay_out()
        self._show()
        self._wire()

    def reject(self) -> None:
        """Cancel: as it was before."""
        self._store.set(self._before)
        super().reject()

    def _wire(self) -> None:
        for combo in (self.theme, self.language, self.use, self.seconds):
            combo.currentIndexChanged.connect(self._apply)
        self.text.valueChanged.connect(self._apply)
        self.calm.toggled.connect(self._apply)
        self.recording.changed.connect(self._apply)
        self.recording.told.connect(self._fit)
        self.everything.clicked.connect(self._ask)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self._theme.changed.connect(self._fit)

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        self._notes: list[QLabel] = []
        self.later = self._note(tr("The language changes when gpuviz starts again."))
        row = self.recording
        self._notes.append(row.said)
        rows: Sequence[tuple[str, QWidget, QLabel | None]] = (
            (tr("Theme"), self.theme, None),
            (tr("Size of text"), _row(self.text, self.percent), None),
            (
                tr("Reduced motion"),
                self.calm,
                self._note(
                    tr(
                        "Pictures stand still: playing shows the end of each step, for as long as "
                        "the step takes."
                    )
                ),
            ),
            (tr("Language"), self.language, self.later),
            (
                tr("Share of the GPU's time"),
                self.use,
                self._note(
                    tr("How much of the time lessons that run on and on may keep the GPU busy.")
                ),
            ),
            (
                tr("Time to emulate a launch"),
                self.seconds,
                self._note(
                    tr("What takes longer is counted from some of its blocks, and says so.")
                ),
            ),
            (
                tr("Your own recording"),
                row,
                self._note(
                    tr(
                        "Its measurements are shown before those that came with gpuviz, wherever "
                        "it has them."
                    )
                ),
            ),
            ("", row.said, None),
        )
        for name, control, note in rows:
            _add_row(grid, name, control, note)
        foot = QHBoxLayout()
        foot.addWidget(self.everything)
        foot.addStretch(1)
        foot.addSpacing(24)
        foot.addWidget(self.buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 18)
        column.setSpacing(22)
        column.addLayout(grid)
        column.addStretch(1)
        column.addLayout(foot)

    def _note(self, text: str) -> QLabel:
        made = label(text, "quiet")
        made.setWordWrap(True)
        self._notes.append(made)
        return made

    def _show(self) -> None:
        """The controls say how it is."""
        now = self._store.now()
        steps = [abs(scale - now.scale) for scale in SCALES]
        shown = (
            (self.theme, now.theme),
            (self.language, self._store.language()),
            (self.use, now.use),
            (self.seconds, now.seconds),
        )
        for combo, value in shown:
            with QSignalBlocker(combo):
                combo.setCurrentIndex(combo.findData(value))
        with QSignalBlocker(self.text), QSignalBlocker(self.calm):
            self.text.setValue(steps.index(min(steps)))
            self.calm.setChecked(now.calm)
        if now.recording != self.recording.file:
            self.recording.show_file(now.recording)
        self._fit()

    def _apply(self, *_: object) -> None:
        """What the controls say is in effect."""
        now = self._store.now()
        language = str(self.language.currentData())
        kept = now.language if language == self._store.language() else language
        self._store.set(
            replace(
                now,
                theme=str(self.theme.currentData()),
                scale=SCALES[self.text.value()],
                calm=self.calm.isChecked(),
                language=kept,
                use=float(self.use.currentData()),
                seconds=float(self.seconds.currentData()),
                recording=self.recording.file,
            )
        )
        self._fit()

    def _fit(self) -> None:
        """Larger text needs a larger dialog, once the style sheet has reached every part of it."""
        look = self._theme.look
        self.percent.setText(percent(SCALES[self.text.value()]))
        self.percent.setMinimumWidth(look.px(48))
        self.later.setVisible(self.language.currentData() != chosen())
        for made in self._notes:
            made.setMaximumWidth(look.px(_NOTES))
        row = self.recording
        combos = (self.theme, self.language, self.use, self.seconds)
        for control in (*combos, self.text, row, row.said):
            control.setMinimumWidth(look.px(_CONTROLS))
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
        self._before = self._store.now()
        self._show()


def _add_row(grid: QGridLayout, name: str, control: QWidget, note: QLabel | None) -> None:
    """A name, its control, and below that what is to be said of it."""
    row = grid.rowCount()
    grid.addWidget(label(name), row, 0)
    grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignLeft)
    if note is not None:
        grid.addWidget(note, row + 1, 1)
    grid.setRowMinimumHeight(row + 2, _GAP)


def _row(*widgets: QWidget) -> QWidget:
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(10)
    for widget in widgets:
        row.addWidget(widget)
    return made


def _combo(name: str, entries: Mapping[str, str] | Mapping[float, str], theme: Theme) -> Combo:
    made = Combo(name, theme)
    for value, text in entries.items():
        made.addItem(text, value)
    keep_arrows(made)
    keep_space(made)
    return made


def _theme_name(mode: str) -> str:
    return tr(NAMES[mode])


def _seconds_name(seconds: float) -> str:
    if seconds < 60:
        return tr("at most {n} s", n=round(seconds))
    return tr("at most {n} min", n=round(seconds / 60))


def _use_name(use: float) -> str:
    return tr("all of it") if use >= 1 else tr("at most {share} %", share=round(use * 100))
