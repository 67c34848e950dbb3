"""The chips that lead along a launch too long to show all its instructions at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpuviz.qt.controls.controls import button
from gpuviz.qt.running.in_thread import InThread
from gpuviz.words.language import grouped, tr

if TYPE_CHECKING:
    from gpuviz.views.subject import Subject


class Stretches(QWidget):
    """Asks for the cycles before or after those shown; seen only where there are any.

    Signals
    -------
    came : the `Subject` with another stretch of its timeline
    said : what is being done, or why it could not be
    """

    came = Signal(object)
    said = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._subject: Subject | None = None
        self._work = InThread(self._arrived, self)
        self.earlier = button("‹", tr("The cycles before those shown"), "chip")
        self.later = button("›", tr("The cycles after those shown"), "chip")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.earlier)
        row.addWidget(self.later)
        self.earlier.clicked.connect(lambda: self._step(back=True))
        self.later.clicked.connect(lambda: self._step(back=False))
        self.show_subject(None)

    def show_subject(self, subject: Subject | None) -> None:
        """Lead along this launch; None for none."""
        self._work.forget()
        self._subject = subject
        shown = subject.explained.timeline if subject is not None else None
        before = shown is not None and shown.since > 0
        after = shown is not None and shown.recorded < shown.cycles
        self.setVisible(before or after)
        self.earlier.setEnabled(before)
        self.later.setEnabled(after)

    def _step(self, back: bool) -> None:
        subject = self._subject
        if subject is None:
            return
        shown = subject.explained.timeline
        wide = shown.recorded - shown.since
        cycle = max(shown.since - wide, 0.0) if back else shown.recorded
        self.earlier.setEnabled(False)
        self.later.setEnabled(False)
        self.said.emit(tr("simulating once more, from cycle {n} on …", n=grouped(cycle)))
        self._work.ask(partial(subject.explained.since, cycle), subject)

    def _arrived(self, subject: Subject, outcome: object) -> None:
        if isinstance(outcome, BaseException):
            self.show_subject(subject)
            self.said.emit(str(outcome))
        else:
            self.came.emit(replace(subject, explained=outcome))  # type: ignore[arg-type]
