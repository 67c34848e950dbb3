"""What the window shows as a record, and back: for exports, links, lectures, and to restore."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.arch import architecture
from gpuviz.errors import InputError
from gpuviz.export.performed import badges, lesson_for
from gpuviz.export.provenance import Provenance
from gpuviz.export.view import View
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.playing.player import Player
from gpuviz.qt.running.comparison import AS_A, Comparison
from gpuviz.qt.running.director import Director
from gpuviz.runners.base import Level
from gpuviz.scenes.base import Lesson
from gpuviz.scenes.perform import check_values
from gpuviz.words import chosen

_SIZE = (1280, 720)


class Viewing(QObject):
    """Tells the view shown, and shows the view told.

    Signals
    -------
    changed : another view is shown; moving in its story changes nothing
    """

    changed = Signal()

    def __init__(self, player: Player, comparison: Comparison, director: Director, theme: Theme,
                 open_lesson: Callable[[Lesson], None]) -> None:
        super().__init__(player)
        self._player, self._comparison = player, comparison
        self._director, self._theme = director, theme
        self._open = open_lesson
        self._stage: QWidget | None = None
        self._due: float | None = None
        director.performed.connect(self._arrive)
        director.failed.connect(self._give_up)
        for signal in (player.lesson_changed, player.values_changed, comparison.changed,
                       director.arch_changed, director.level_changed):
            signal.connect(lambda *_: self.changed.emit())

    def fit_to(self, stage: QWidget) -> None:
        """Pictures have the size of this widget."""
        self._stage = stage

    def record(self) -> Provenance:
        """The view as it is now, whether it has been performed already or not."""
        player, other, director = self._player, self._comparison, self._director
        width, height = (self._stage.width(), self._stage.height()) if self._stage else _SIZE
        look, showing, lesson = self._theme.look, director.showing, player.lesson
        return Provenance(
            lesson.id, dict(player.values), director.arch, director.level,
            dict(other.values) if other.on else {},
            other.arch if other.on and other.arch != AS_A else "",
            player.t, player.t, look.palette.name, width, height, look.scale,
            badges(showing.runs) if showing else {}, chosen(),
            launch=dict(lesson.launch))

    def view(self) -> View | None:
        """The view with its story and runs; None while there is none.

        While other values are being performed it is the one still shown, with its own record.
        """
        showing, story = self._director.showing, self._player.story
        if showing is None or story is None:
            return None
        a, b = (one.variant for one in (showing.sides[0], showing.sides[-1]))
        other = b if showing.compared else None
        made = replace(
            self.record(), lesson=a.lesson.id, launch=dict(a.lesson.launch),
            values=dict(a.values), arch=a.arch, level=a.level,
            compare_values=dict(other.values) if other else {},
            compare_arch=other.arch if other and other.arch != a.arch else "")
        return View(story, showing.runs, made)

    def show(self, wanted: Provenance) -> None:
        """Show a view; its moment is gone to when it has been performed.

        Raises
        ------
        InputError : a lesson, value, architecture or level that there is not; nothing is changed
        """
        lesson = lesson_for(wanted)
        values = check_values(lesson, wanted.values)
        others = check_values(lesson, {**values, **wanted.compare_values})
        for sm in filter(None, (wanted.arch, wanted.compare_arch)):
            architecture(sm)
        if wanted.level not in ("sass", "ptx"):
            raise InputError(f"there is no level {wanted.level!r}; there are: sass, ptx")
        with self._director.together():
            self._open(lesson)
            self._player.set_values(values)
            self._director.set_arch(wanted.arch)
            self._director.set_level(cast(Level, wanted.level))
            self._comparison.switch(wanted.compared, values)
            if wanted.compared:
                self._comparison.set_values(others)
                self._comparison.set_arch(wanted.compare_arch or AS_A)
            self._due = wanted.time

    def _arrive(self, *_: object) -> None:
        if self._due is not None:
            self._player.seek(self._due)
            self._due = None

    def _give_up(self, *_: object) -> None:
        self._due = None
