"""What the window shows as a record, and back: for exports, links, lectures, and to restore."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.qt.look.theme import Theme
from gpuviz.qt.playing.player import Player
from gpuviz.qt.running.comparison import AS_A, Comparison, alike
from gpuviz.qt.running.director import Director
from gpuviz.run.run import Level
from gpuviz.story.exhibit import Exhibit
from gpuviz.story.lesson import Lesson
from gpuviz.views.check_record import fitted
from gpuviz.views.lesson_view import View
from gpuviz.views.performed import badges, beside_for, lesson_for
from gpuviz.views.provenance import Provenance
from gpuviz.views.subject import explained_of
from gpuviz.words.language import chosen

_SIZE = (1280, 720)


class Viewing(QObject):
    """Tells the view shown, and shows the view told.

    Signals
    -------
    changed : another view is shown; moving in its story changes nothing
    """

    changed = Signal()

    def __init__(
        self,
        player: Player,
        comparison: Comparison,
        director: Director,
        theme: Theme,
        open_lesson: Callable[[Lesson], None],
    ) -> None:
        super().__init__(player)
        self._player, self._comparison = player, comparison
        self._director, self._theme = director, theme
        self._open = open_lesson
        self._stage: QWidget | None = None
        self._due: tuple[str, float] | None = None  # the lesson, and the moment to go to
        self.told = False  # whether a view was asked for, by a link or to be restored
        self._seen = {player.lesson.id: player.lesson}
        player.lesson_changed.connect(lambda lesson: self._seen.update({lesson.id: lesson}))
        director.performed.connect(self._arrive)
        director.failed.connect(self._give_up)
        for signal in (
            player.lesson_changed,
            player.values_changed,
            comparison.changed,
            director.arch_changed,
            director.level_changed,
        ):
            signal.connect(lambda *_: self.changed.emit())

    def fit_to(self, stage: QWidget) -> None:
        """Pictures have the size of this widget."""
        self._stage = stage

    def record(self) -> Provenance:
        """The view as it is now, whether it has been performed already or not."""
        player, other, director = self._player, self._comparison, self._director
        width, height = (self._stage.width(), self._stage.height()) if self._stage else _SIZE
        look, showing, lesson = self._theme.look, director.showing, player.lesson
        beside = other.other if other.on else None
        moment = self._due[1] if self._due and self._due[0] == lesson.id else player.t
        return Provenance(
            lesson.id,
            dict(player.values),
            director.arch,
            director.level,
            dict(other.values) if other.on else {},
            other.arch if other.on and other.arch != AS_A else "",
            moment,
            moment,
            look.palette.name,
            width,
            height,
            look.scale,
            badges(showing.runs) if showing else {},
            chosen(),
            launch=dict(lesson.launch),
            compare_lesson=beside.id if beside else "",
            compare_launch=dict(beside.launch) if beside else {},
        )

    def view(self) -> View | None:
        """The view with its story and runs; None while there is none.

        While other values are being performed it is the one still shown, with its own record.
        """
        showing, story = self._director.showing, self._player.story
        if showing is None or story is None:
            return None
        a, b = (one.variant for one in (showing.sides[0], showing.sides[-1]))
        other = b if showing.compared else None
        beside = b.lesson if other and not alike(b.lesson, a.lesson) else None
        made = replace(
            self.record(),
            lesson=a.lesson.id,
            launch=dict(a.lesson.launch),
            values=dict(a.values),
            arch=a.arch,
            level=a.level,
            compare_values=dict(other.values) if other else {},
            compare_arch=other.arch if other and other.arch != a.arch else "",
            compare_lesson=beside.id if beside else "",
            compare_launch=dict(beside.launch) if beside else {},
        )
        return View(story, showing.runs, made, partial(explained_of, showing))

    def knows(self, wanted: Provenance) -> bool:
        """Whether the lesson of a view has been shown: it need not be read."""
        return wanted.lesson in self._seen

    def lesson_of(self, wanted: Provenance) -> Lesson:
        """The lesson of a view that was shown, or fits; InputError when there is none."""
        seen = self._seen.get(wanted.lesson)
        same = seen is not None and dict(seen.launch) == dict(wanted.launch)
        return seen if seen is not None and same else lesson_for(wanted)

    def fit(self, wanted: Provenance) -> Provenance:
        """The record with all its values, each of its own kind; InputError when it cannot be."""
        return fitted(wanted, lesson_for(wanted), beside_for(wanted))

    def show(self, wanted: Provenance, lecture: Path | None = None) -> None:
        """Show a view, or a slide of the lecture in this file; its moment is gone to when it has
        been performed.

        Raises
        ------
        InputError : a lesson, value, architecture or level that there is not; nothing is changed
        """
        lesson = lesson_for(wanted)
        self._turn_to(lesson, fitted(wanted, lesson, beside_for(wanted)), lecture)
        self._due = lesson.id, wanted.time
        self.told = True

    def go_back(self, seen: Provenance) -> None:
        """Show a view that was shown before. The place in the story stays, unless it is one of
        another lesson: then it is the one that lesson was left at.
        """
        elsewhere = seen.lesson != self._player.lesson.id
        self._turn_to(self.lesson_of(seen), seen)
        self._due = (seen.lesson, seen.time) if elsewhere else None

    def _turn_to(self, lesson: Lesson, view: Provenance, lecture: Path | None = None) -> None:
        with self._director.together():
            self._open(lesson)
            self._director.set_lecture(lecture)
            self._player.set_values(view.values)
            self._director.set_arch(view.arch)
            self._director.set_level(cast(Level, view.level))
            beside = beside_for(view)
            if beside is not None:
                self._comparison.set_lesson(beside, view.compare_values)
            elif self._comparison.other is not None:
                self._comparison.set_lesson(None, view.compare_values or view.values)
            self._comparison.switch(view.compared, view.values)
            if view.compared:
                self._comparison.set_values(view.compare_values)
                self._comparison.set_arch(view.compare_arch or AS_A)

    def _arrive(self, showing: Exhibit) -> None:
        """Go to the moment asked for; again, when what came first was what ships."""
        variant = showing.sides[0].variant
        if self._due is not None and self._due[0] == variant.lesson.id:
            self._player.seek(self._due[1])
        if not variant.prebuilt:
            self._due = None

    def _give_up(self, *_: object) -> None:
        self._due = None
