"""Explains where the time of a launch goes, off the GUI thread; the newest wish wins."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.base.errors import Cancelled
from gpuviz.base.waiting import Cancel, Progress
from gpuviz.processes import calls
from gpuviz.qt.controls.controls import button
from gpuviz.qt.controls.layouts import row_of
from gpuviz.qt.running.activity import Activity, InThread
from gpuviz.views.lesson_view import Subject, Wish, explained
from gpuviz.words.language import grouped, tr

if TYPE_CHECKING:
    from gpuviz.story.exhibit import Variant
    from gpuviz.story.lesson import Plan


Explain = Callable[["Variant", "Plan", Progress, Cancel], Subject]


def name_of(wish: Wish) -> Hashable:
    """What is launched, whichever of its blocks are looked at in the picture."""
    variant, plan = wish.variant, wish.plan
    texts = variant.library.texts if variant.library else {}
    return (
        *(plan.kernel, plan.entry, plan.grid, plan.block, plan.arguments, plan.defines),
        *(plan.dynamic_shared, plan.options, variant.arch, variant.prebuilt),
        texts.get(Path(plan.kernel)),
    )


class TimeWork(Activity):
    """One launch at a time."""

    came = Signal(str, Subject)  # name of the launch, and where its time goes
    lost = Signal(str, Exception)  # name of the launch, and the error that ended it

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.explain: Explain = partial(explained, call=calls.call)
        self._now: Wish | None = None
        self._next: Wish | None = None

    @property
    def doing(self) -> str:
        """What is under way, in words."""
        return tr("finding out where the time goes …")

    def ask(self, wish: Wish) -> None:
        """Explain this, and nothing else any more."""
        self._next = wish
        if self.busy:
            self.cancel()
        else:
            self._start()

    def forget(self) -> None:
        """Nothing is wanted any more."""
        self._next = None
        self.cancel()

    def _start(self) -> None:
        wish, self._next = self._next, None
        if wish is not None:
            self._now = wish
            self._begin(partial(self.explain, wish.variant, wish.plan))

    def _end(self, outcome: object, stopped: bool) -> None:
        now = self._now
        self.rested.emit(tr("stopped") if stopped else "")
        if self._next is not None:
            self._start()
        elif now is not None and isinstance(outcome, Subject) and not stopped:
            self.came.emit(now.key, outcome)
        elif now is not None:
            self.lost.emit(now.key, Cancelled() if stopped else outcome)


class Stretches(QWidget):
    """Asks for the cycles before or after those shown; seen only where there are any."""

    came = Signal(Subject)  # the launch with another stretch of its timeline
    said = Signal(str)  # what is being done, or why it could not be

    def __init__(self) -> None:
        super().__init__()
        self._subject: Subject | None = None
        self._work = InThread(self._arrived, self)
        self.earlier = button("‹", tr("The cycles before those shown"), "chip")
        self.later = button("›", tr("The cycles after those shown"), "chip")
        row_of(self.earlier, self.later, on=self, gap=4)
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
