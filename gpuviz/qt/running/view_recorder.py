"""The view of the window as the record that links, lectures, exports and undo keep, and back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject

from gpuviz.qt.running.core import Core
from gpuviz.run.run import Level
from gpuviz.story.exhibit import Exhibit
from gpuviz.story.lesson import Lesson
from gpuviz.views.lesson_view import View, explained_of
from gpuviz.views.make_view import badges, beside_for, fitted, lesson_for
from gpuviz.views.provenance import Provenance
from gpuviz.views.state import ViewState, alike
from gpuviz.words.language import chosen

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class ViewRecorder(QObject):
    """Records the view that `core` shows, in pictures of the size of the stage; shows what was
    recorded.
    """

    def __init__(self, core: Core, stage: QWidget) -> None:
        super().__init__(core.view)
        self._core, self._stage = core, stage
        self._due: tuple[str, float] | None = None  # the lesson, and the moment to go to
        self.asked = False  # whether a view was asked for, by a link or to be restored
        self._seen: dict[str, Lesson] = {}
        core.view.follow("lesson", lambda view: self._seen.update({view.lesson.id: view.lesson}))
        core.director.performed.connect(self._arrive)
        core.director.failed.connect(self._give_up)

    def record(self) -> Provenance:
        """The view as it is now, whether it has been performed already or not."""
        view, showing, look = (
            self._core.view.now,
            self._core.director.showing,
            self._core.theme.look,
        )
        due = self._due is not None and self._due[0] == view.lesson.id
        moment = self._due[1] if self._due and due else self._core.player.t
        made = Provenance(
            view.lesson.id,
            view.values,
            view.arch,
            time=moment,
            end=moment,
            theme=look.palette.name,
            width=self._stage.width(),
            height=self._stage.height(),
            letters=look.scale,
            badges=badges(showing.runs) if showing else {},
            language=chosen(),
        )
        return _with(made, view)

    def view(self) -> View | None:
        """The view with its story and runs; None while there is none.

        While other values are being performed it is the one still shown, with its own record.
        """
        showing, story = self._core.director.showing, self._core.player.story
        if showing is None or story is None:
            return None
        a, b = (one.variant for one in (showing.sides[0], showing.sides[-1]))
        told = ViewState(
            a.lesson,
            a.values,
            a.arch,
            a.level,
            compared=showing.compared,
            compare_lesson=None if alike(b.lesson, a.lesson) else b.lesson,
            compare_values=b.values,
            compare_arch=b.arch if b.arch != a.arch else "",
        )
        return View(story, showing.runs, _with(self.record(), told), partial(explained_of, showing))

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
        lesson, beside = lesson_for(wanted), beside_for(wanted)
        self._turn_to(lesson, beside, fitted(wanted, lesson, beside), lecture)
        self._due = lesson.id, wanted.time
        self.asked = True

    def go_back(self, seen: Provenance) -> None:
        """Show a view that was shown before. The place in the story stays, unless it is one of
        another lesson: then it is the one that lesson was left at.
        """
        elsewhere = seen.lesson != self._core.view.now.lesson.id
        self._turn_to(self.lesson_of(seen), beside_for(seen), seen)
        self._due = (seen.lesson, seen.time) if elsewhere else None

    def _turn_to(
        self, lesson: Lesson, beside: Lesson | None, view: Provenance, lecture: Path | None = None
    ) -> None:
        store = self._core.view
        with store.together():
            self._core.course.open_any(lesson)
            now = store.now.given(view.values)
            if view.compared:
                now = now.beside(beside, view.compare_values)
                now = replace(now, compare_arch=view.compare_arch)
            elif now.compare_lesson is not None:
                now = now.beside(None, view.values)
            store.become(
                replace(
                    now,
                    arch=view.arch,
                    level=cast(Level, view.level),
                    compared=view.compared,
                    lecture=lecture,
                )
            )

    def _arrive(self, showing: Exhibit) -> None:
        """Go to the moment asked for; again, when what came first was what ships."""
        variant = showing.sides[0].variant
        if self._due is not None and self._due[0] == variant.lesson.id:
            self._core.player.seek(self._due[1])
        if not variant.prebuilt:
            self._due = None

    def _give_up(self, *_: object) -> None:
        self._due = None


def _with(made: Provenance, view: ViewState) -> Provenance:
    """The record of this view."""
    beside = view.compare_lesson if view.compared else None
    return replace(
        made,
        lesson=view.lesson.id,
        launch=dict(view.lesson.launch),
        values=dict(view.values),
        arch=view.arch,
        level=view.level,
        compare_values=dict(view.compare_values) if view.compared else {},
        compare_arch=view.compare_arch if view.compared else "",
        compare_lesson=beside.id if beside else "",
        compare_launch=dict(beside.launch) if beside else {},
    )
