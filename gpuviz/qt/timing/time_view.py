"""The tab that shows where the time of a launch goes: its timeline, and what limits."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QScrollArea, QSplitter, QWidget

from gpuviz.base.errors import Cancelled, Error, UnavailableError
from gpuviz.qt.controls.controls import ElidedLabel, button, keep_space, label, show_words
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.qt.running.activity import InThread
from gpuviz.qt.timing.time_work import Stretches, TimeWork, name_of
from gpuviz.qt.timing.timeline_canvas import LimitsCanvas, TimelineCanvas
from gpuviz.views.lesson_view import Subject, wish_of
from gpuviz.words.language import percent, tr

if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Theme
    from gpuviz.story.exhibit import Exhibit
    from gpuviz.views.lesson_view import Wish

_LARGE = 1180, 760
_KEPT = 6  # launches that are shown at once when they are looked at again


class TimePane(QSplitter):
    """The timeline beside the bars."""

    # Line of the source; block, warp, and the how-manieth of its requests there (0: none).
    pointed = Signal(int, int, int, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.subject: Subject | None = None
        self.canvas = TimelineCanvas(theme)
        self.limits = LimitsCanvas(theme)
        scroll = QScrollArea()
        scroll.setWidget(self.limits)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.addWidget(self.canvas)
        self.addWidget(scroll)
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.setStretchFactor(0, 3)
        self.setStretchFactor(1, 2)
        self.setSizes([600, 400])
        self.canvas.chosen.connect(self._choose)
        self.limits.pointed.connect(lambda line: self.pointed.emit(line, -1, -1, 0))

    def show_subject(self, subject: Subject | None) -> None:
        """Show a launch, or nothing."""
        self.subject = subject
        if subject is None:
            self.canvas.show_panel(None)
            self.limits.show_explained(None)
            return
        from gpuviz.panels.warp_timeline import WarpTimeline

        record = subject.explained.timeline
        self.canvas.show_panel(WarpTimeline(record, record.since, record.recorded))
        self.limits.show_explained(subject.explained)

    def _choose(self, row: int) -> None:
        """What was clicked: of a wait what is waited for, else the instruction issued."""
        assert self.subject is not None
        record = self.subject.explained.timeline
        cause, event = int(record.spans.cause[row]), int(record.spans.event[row])
        event = cause if cause >= 0 else event
        block, warp = record.block_and_warp(event)
        self.pointed.emit(record.line(event), block, warp, record.turn(event))


class TimeView(QWidget):
    """Explains the run in view when its tab comes to the front."""

    pointed = Signal(str, int)  # name of a run and a line of its source
    # Block, warp, and words that find a moment, of the request that was clicked.
    asked = Signal(int, int, str)
    told = Signal(str, Subject)  # name of a launch, and where its time goes

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._role = ""
        self._wish: Wish | None = None
        self._known: dict[Hashable, Subject] = {}
        self.work = TimeWork(self)
        self._saving = InThread(self._saved, self)
        self.badge, self.said = label(tr("model"), "badge"), ElidedLabel("quiet")
        self.launch_size = label("", "quiet")
        self.reason = label("", "quiet", wraps=True)
        self.stop = button(tr("Cancel"), tr("Cancel finding out where the time goes"), "chip")
        self.again = button(tr("Try again"), tr("Find out where the time goes"), "chip")
        formats = tr("As a picture, or as a trace for ui.perfetto.dev (.trace.json)")
        self.save = button(tr("Save …"), tr("Save the timeline"), "chip", formats)
        self.large = button(tr("large"), tr("Timeline in a window of its own"), "chip")
        self.stretches = Stretches()
        self.pane = TimePane(theme)
        self.focus = self.pane.canvas
        self.window_: QDialog | None = None
        for chip in (self.stop, self.again, self.save, self.large):
            keep_space(chip)
        self._lay_out()
        self.stop.clicked.connect(self.work.forget)
        self.again.clicked.connect(self._ask)
        self.save.clicked.connect(self._save)
        self.large.clicked.connect(self.enlarge)
        self.work.progressed.connect(self._progress)
        self.work.came.connect(self._come)
        self.work.lost.connect(self._lose)
        self.pane.pointed.connect(self._point)
        self.stretches.came.connect(self._keep)
        self.stretches.said.connect(self.said.say)
        self.clear()

    def show_run(self, showing: Exhibit, role: str) -> None:
        """Explain a run, which takes a moment; what is known already is shown at once."""
        self._role = role
        try:
            self._wish = wish_of(showing, role)
        except UnavailableError as error:
            self._wish = None
            self._tell(str(error))
            return
        size = showing.sizes.get(self._wish.key, "")
        self.launch_size.setText(size)
        known = self._known.get(name_of(self._wish))
        if known is not None:
            self.work.forget()
            if known is not self.pane.subject:
                self._show(known)
            self.told.emit(self._wish.key, known)
        else:
            self._ask()

    def clear(self) -> None:
        """Nothing is shown."""
        self._wish = None
        self.work.forget()
        self._tell("")

    def shut(self) -> None:
        """Stop what runs, for good."""
        self.work.forget()
        self.work.close()
        self._saving.forget()

    def hush(self, asks: bool) -> None:
        """Keep back what answers a question."""
        shown = None if asks else self.pane.subject
        self.stretches.show_subject(shown)
        self.pane.setVisible(shown is not None)
        self.said.setVisible(shown is not None)

    def enlarge(self) -> None:
        """The same in a window of its own, which stays while others are looked at here."""
        subject = self.pane.subject
        if subject is None:
            return
        shown = self.window_ = QDialog(self.window())
        shown.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        shown.setWindowTitle(tr("Where the time goes: {kernel}", kernel=subject.kernel))
        shown.resize(*_LARGE)
        pane = TimePane(self._theme)
        pane.show_subject(subject)
        pane.pointed.connect(self._point)
        said = label(self.said.said, "quiet", wraps=True)
        said.setMargin(8)
        column_of(said, (pane, 1), on=shown)
        shown.show()

    def _lay_out(self) -> None:
        words = self.badge, (self.said, 1), (self.reason, 1), self.launch_size
        chips = self.stop, self.again, self.stretches, self.save, self.large
        head = row_of(*words, *chips, gap=8, margins=(10, 2, 12, 0))
        column_of(head, (self.pane, 1), 0, on=self, gap=2)

    def _ask(self) -> None:
        if self._wish is not None:
            self._tell(self.work.doing, busy=True)
            self.work.ask(self._wish)

    def _progress(self, share: float) -> None:
        if self._wish is not None and not self.stop.isHidden():
            self.reason.setText(f"{self.work.doing} {percent(share)}")

    def _come(self, key: str, subject: Subject) -> None:
        if self._wish is not None and self._wish.key == key:
            self._keep(subject)
            self.told.emit(key, subject)

    def _lose(self, key: str, error: Exception) -> None:
        if self._wish is None or self._wish.key != key:
            return
        if isinstance(error, Cancelled):
            self._tell(tr("stopped"), again=True)
        else:
            said = str(error) if isinstance(error, Error) else repr(error)
            self._tell(said, again=not isinstance(error, UnavailableError))

    def _keep(self, subject: Subject) -> None:
        """Show it, and once more when the same launch is looked at again."""
        assert self._wish is not None
        name = name_of(self._wish)
        while name not in self._known and len(self._known) >= _KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[name] = subject
        self._show(subject)

    def _show(self, subject: Subject) -> None:
        from gpuviz.panels.limit_bars import notes
        from gpuviz.panels.limit_words import limit_sentence

        self._tell("")
        e = subject.explained
        self.pane.show_subject(subject)
        self.stretches.show_subject(subject)
        self.said.say(f"{limit_sentence(e, subject.source.splitlines())} · {notes(e)}")
        for widget in (self.pane, self.said, self.badge, self.launch_size, self.save, self.large):
            widget.show()
        self.pane.canvas.setAccessibleDescription(self.said.said)

    def _tell(self, why: str, busy: bool = False, again: bool = False) -> None:
        """Why nothing is shown, and what can be done about it."""
        self.pane.show_subject(None)
        self.stretches.show_subject(None)
        for widget in (self.pane, self.said, self.badge, self.launch_size, self.save, self.large):
            widget.hide()
        show_words(self.reason, why)
        self.stop.setVisible(busy)
        self.again.setVisible(again)

    def _point(self, line: int, block: int, warp: int, turn: int) -> None:
        self.pointed.emit(self._role, line)
        if turn:
            self.asked.emit(block, warp, f"line {line} turn {turn} | line {line}")

    def _save(self) -> None:
        from gpuviz.export.formats import PDF, PNG, SVG, TIMELINE
        from gpuviz.qt.export.file_dialogs import Question, ask_where, pictures_folder

        subject, panel = self.pane.subject, self.pane.canvas.panel
        if subject is None or panel is None:
            return
        name = "".join(c if c.isalnum() else "-" for c in subject.kernel.partition("(")[0])
        proposed = pictures_folder() / f"{name}-timeline.svg"
        title = tr("Save the timeline")
        suffixes = [one.suffix for one in (SVG, PNG, PDF, TIMELINE)]
        question = Question(title, proposed, suffixes)
        if (path := ask_where(self, question)) is not None:
            cycles, theme = (panel.begin, panel.end), self._theme.look.palette.name
            self._saving.ask(partial(written, subject, path, theme, cycles), path)

    def _saved(self, path: Path, outcome: object) -> None:
        failed = isinstance(outcome, BaseException)
        said = str(outcome) if failed else tr("saved: {file}", file=path)
        self.said.say(said)


def written(subject: Subject, path: Path, theme: str, cycles: tuple[float, float]) -> None:
    """Write the timeline, in the format of the suffix."""
    from gpuviz.export.save import save
    from gpuviz.qt.painting.qt_painter import QtPainter
    from gpuviz.views.time_view import time_view

    save(time_view(subject, "timeline", theme, cycles=cycles), path, None, QtPainter())
