"""The commands that change slides of the lecture that is open."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.lectures.answer import same_run, told
from gpuviz.lectures.lecture import Question, Slide
from gpuviz.lectures.markdown.files import taken
from gpuviz.memory.units import UNITS
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.lecture.pane import LecturePane
from gpuviz.qt.playing.timeline import Timeline
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.lecture.slide_dialog import SlideDialog
    from gpuviz.qt.lecture.slide_words_dialog import SlideWordsDialog

_NEEDS_SLIDE = (
    "lecture.update",
    "lecture.edit",
    "lecture.duplicate",
    "lecture.up",
    "lecture.down",
    "lecture.remove",
)


class SlideCommands(QObject):
    """Acts on the slide chosen in the pane."""

    added = Signal(int)  # the number of a slide that was made of the view shown

    def __init__(
        self,
        document: Document,
        pane: LecturePane,
        recorder: ViewRecorder,
        core: Core,
        actions: Actions,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._document, self._pane, self._recorder = document, pane, recorder
        self._director, self._player, self._theme = core.director, core.player, core.theme
        self._actions = actions
        self._window = window
        self.dialog: SlideDialog | SlideWordsDialog | None = None
        self.timeline: Timeline | None = None  # where clicks set stops
        doing: dict[str, Callable[[], object]] = {
            "lecture.add": self._add,
            "lecture.words": self._add_words,
            "lecture.update": self._update,
            "lecture.edit": self.edit,
            "lecture.duplicate": self._duplicate,
            "lecture.up": lambda: self._move(-1),
            "lecture.down": lambda: self._move(1),
            "lecture.remove": self._remove,
            "lecture.undo": document.undo,
            "lecture.redo": document.redo,
        }
        for id, do in doing.items():
            actions.bind(id, do)
        pane.list.itemDoubleClicked.connect(lambda item: self.edit())
        document.changed.connect(self._offer)
        self._offer()

    def edit(self) -> None:
        """Ask for what a slide has besides its view."""
        lecture, at = self._document.lecture, self._pane.slide
        if lecture is None or not 0 <= at < len(lecture.slides):
            return
        if self.dialog is not None:
            self.dialog.reject()  # that of another slide
        slide = lecture.slides[at]
        self.dialog = dialog = self._form(slide)
        dialog.accepted.connect(lambda: self._replace(slide, dialog.slide()))
        dialog.finished.connect(self._forget)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    def _form(self, slide: Slide) -> SlideDialog | SlideWordsDialog:
        """What is filled in for a slide."""
        if slide.view is None:
            from gpuviz.qt.lecture.slide_words_dialog import SlideWordsDialog

            home = self._document.reach.folder
            return SlideWordsDialog(
                slide, home, partial(taken, folder=home), self._theme, self._window
            )
        from gpuviz.qt.lecture.slide_dialog import SlideDialog

        showing = self._director.showing
        told = self._player.story is not None  # else that of the view before is still known
        shown = showing is not None and told and same_run(slide.view, self._recorder.record())
        dialog = SlideDialog(
            slide,
            self._counts(),
            self._recorder.record().time,
            self._theme,
            self._window,
            self._told_of(slide),
            showing.story.duration
            if showing is not None and shown and not slide.show
            else math.inf,
        )
        self._player.t_changed.connect(dialog.at_moment)
        if (line := self.timeline) is not None:
            dialog.marking.connect(lambda stops, on: line.mark(stops if on else None))
            line.marked.connect(dialog.click)
        return dialog

    def _forget(self) -> None:
        self.dialog = None

    def _replace(self, slide: Slide, made: Slide) -> None:
        """The slide as it was filled in, wherever it is by now."""
        lecture = self._document.lecture
        slides = lecture.slides if lecture is not None else ()
        at = next((n for n, one in enumerate(slides) if one is slide), -1)
        if at >= 0:
            self._document.change(lambda lecture: lecture.change(at, lambda _: made))

    def _told_of(self, slide: Slide) -> Callable[[Question], str]:
        """How the answer to a question about a slide is found: its view has to be shown."""
        showing = self._director.showing
        if showing is None or slide.show or not same_run(slide.view, self._recorder.record()):
            return lambda question: ""
        return partial(told, showing=showing)

    def _add(self) -> None:
        """The view that is shown, as it is at this moment, behind the slide chosen."""
        view = self._recorder.record().for_slide
        stops = (round(view.time, 2),) if view.time > 0 else ()
        self._document.add(Slide(view=view, stops=stops), self._pane.slide + 1)
        self.added.emit(self._pane.slide)

    def _add_words(self) -> None:
        slide = Slide(tr("New slide"), words=tr("Words"), markdown=True)
        self._document.add(slide, self._pane.slide + 1)
        self.edit()

    def _update(self) -> None:
        view = self._recorder.record().for_slide
        self._change(lambda slide: slide.with_view(view))

    def _duplicate(self) -> None:
        at = self._pane.slide
        self._document.change(lambda lecture: lecture.insert(at + 1, lecture.slides[at]), at + 1)

    def _move(self, way: int) -> None:
        at, lecture = self._pane.slide, self._document.lecture
        if lecture is not None and 0 <= at + way < len(lecture.slides):
            self._document.change(lambda lecture: lecture.move(at, at + way), at + way)

    def _remove(self) -> None:
        at = self._pane.slide
        self._document.change(lambda lecture: lecture.remove(at), at)

    def _change(self, how: Callable[[Slide], Slide]) -> None:
        at = self._pane.slide
        if at >= 0:
            self._document.change(lambda lecture: lecture.change(at, how))

    def _counts(self) -> list[str]:
        """The counts that the view shown has, and that can be asked for."""
        showing = self._director.showing
        if showing is None:
            return []
        found = (
            count
            for run in showing.runs.values()
            for count, n in run.counts.totals.items()
            if n and count.quantity in UNITS
        )
        return [str(count) for count in dict.fromkeys(found)]

    def _offer(self) -> None:
        """Commands that have nothing to act on cannot be given."""
        lecture = self._document.lecture
        self._actions["lecture.undo"].setEnabled(self._document.undoes)
        self._actions["lecture.redo"].setEnabled(self._document.redoes)
        for id in _NEEDS_SLIDE:
            self._actions[id].setEnabled(lecture is not None and bool(lecture.slides))
