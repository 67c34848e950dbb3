"""Keeps the performance in step with the view."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import Failure
from gpuviz.panels.panel import GO
from gpuviz.qt.controls.controls import timer
from gpuviz.qt.running.worker import Job, Perform, Performer
from gpuviz.story.compare import SIDES
from gpuviz.story.exhibit import (
    Exhibit,
    Variant,
    going_on,
    measurements_of,
    showing,
    with_measurements,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpuviz.qt.playing.player import Player
    from gpuviz.qt.running.view_store import ViewStore
    from gpuviz.recordings.measurement import Measurement
    from gpuviz.run.session import Session
    from gpuviz.story.lesson import Lesson, Story, Values
    from gpuviz.story.perform import Performance
    from gpuviz.views.state import ViewState

# A lesson that takes longer to perform than this no longer shows the picture of the one before.
PATIENCE_MS = 250


class Director(QObject):
    """Asks for a performance whenever the view changes, and hands out its story.

    The first one is of the PTX that ships, so that no picture has to wait for a compiler; what was
    asked for follows, and takes its place.
    """

    performed = Signal(Exhibit)  # the newest `Exhibit`
    updated = Signal(Exhibit)  # the `Exhibit` of the same launches, of which more is known
    failed = Signal(Job, Failure)  # job, `Failure`
    problem_changed = Signal(str)  # why the values make no sense, or ""
    forgotten = Signal()  # another lesson is shown, and nothing of it yet

    def __init__(
        self,
        player: Player,
        view: ViewStore,
        perform: Perform,
        session: Session,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._player, self._view, self._session = player, view, session
        # Makes a picture ready, of the beginning of a story or where the player is.
        self.foresee: Callable[[Story, bool], None] = lambda story, keeps: None
        self._told: Lesson | None = None
        self._showing: Exhibit | None = None
        self._hurry = True
        self._going = ""
        self._held = True  # until it is let go
        self.performer = Performer(perform, self, True, self._exhibited)
        self.performer.performed.connect(self._take)
        self.performer.failed.connect(self._fail)
        self._patience = timer(self, PATIENCE_MS, self._forget)
        view.changed.connect(self._follow)

    @property
    def showing(self) -> Exhibit | None:
        """What is shown, None while there is nothing."""
        return self._showing

    def let_go(self) -> None:
        """Perform, now and whenever something changes: the window is there."""
        self._held = False
        self.run()

    def hurry(self) -> None:
        """Show the next performance of the PTX first: machine code that is new has to be
        disassembled, which takes longer than all the rest. What was asked for follows.
        """
        self._hurry = True

    def again(self) -> None:
        """Perform anew what was performed already."""
        self.performer.forget()
        self.run()

    def look_again(self) -> None:
        """Tell what is shown anew, without running it: more is known of it than before."""
        if self._showing is not None and not (self._held or self.performer.busy):
            sides = self._showing.sides
            performances = tuple(side.performance for side in sides)
            self.performer.ask(Job(tuple(side.variant for side in sides), performances))

    def pick(self, values: Values, right: bool) -> None:
        """What was clicked in a picture: that side with these values, from the beginning, or at
        the moment that it names (`GO`).
        """
        compared = self._showing is not None and self._showing.compared
        right = right and compared
        now = self._view.now
        self._going = str(values.get(GO, ""))
        wanted = {id: value for id, value in values.items() if id != GO}
        known = now.compare_values if right else now.values
        if self._going and not wanted.items() - known.items():
            self._arrive()
            return
        self._player.seek(self._player.state.start)
        self._view.set_values(wanted, right)

    def _arrive(self) -> None:
        """Go to where a click wants to be, now that its story is told."""
        going, self._going = self._going, ""
        story = self._player.story
        if not going or story is None or story.search is None:
            return
        for text in going.split(" | "):
            moments = story.search.find(text)
            if len(moments):
                self._player.pause()
                self._player.seek(float(moments[0]))
                return

    def run(self) -> None:
        """Perform the view as it is now, unless its values make no sense."""
        if self._held:
            return
        variants = self.variants()
        problem = _problem(variants)
        self.problem_changed.emit(problem)
        if problem:
            self.performer.cancel()
        elif self._hurry:
            self._hurry = False
            self.performer.ask(Job(tuple(map(_hurried, variants))))
        else:
            self.performer.ask(Job(variants))

    def variants(self) -> tuple[Variant, ...]:
        """What is to be shown: side A, and B when it is compared with."""
        view = self._view.now
        a = Variant(
            view.lesson,
            dict(view.values),
            view.arch,
            view.level,
            library=self._session.library(view.lecture),
            checks=view.checks,
            seconds=view.seconds,
        )
        if not view.compared:
            return (a,)
        lesson, values = view.compare_lesson or view.lesson, dict(view.compare_values)
        return a, replace(a, lesson=lesson, values=values, arch=view.compare_arch or view.arch)

    def _follow(self, before: ViewState, now: ViewState) -> None:
        """A kernel that is launched in another way keeps its picture until there is the next."""
        if now.lesson.id != before.lesson.id:
            self._player.pause()
            self._patience.start()
        self.run()

    def _exhibited(self, job: Job, performances: tuple[Performance, ...]) -> Exhibit:
        """What is performed as it is shown, told with what was measured live of the same launches
        until now: in the thread that performs, as that takes as long as a picture.
        """
        made, before = showing(job.variants, performances), self._showing
        if job.begun and before is not None:
            return self.measured(made, measurements_of(before))
        made = going_on(before, made)
        self._foresee(made, self._told is not None and self._told.id == job.lesson.id)
        return made

    def measured(self, shown: Exhibit, found: Mapping[str, Measurement | None]) -> Exhibit:
        """The same, told with other measurements (`with_measurements`); in any thread."""
        made = with_measurements(shown, found)
        self._foresee(made, True)
        return made

    def _foresee(self, made: Exhibit, keeps: bool) -> None:
        with suppress(Exception):  # the stage says what is wrong with a picture
            self.foresee(made.story, keeps)

    def _take(self, job: Job, performances: tuple[Performance, ...], made: Exhibit) -> None:
        if job.begun:
            self.retell(made)
        else:
            self._show(job, made)
        if job.hurried:
            self.run()
        elif any(one.waiting for one in performances):
            self.performer.ask(Job(job.variants, performances))

    def _show(self, job: Job, made: Exhibit) -> None:
        """A lesson opened begins at its start; new values keep the place in the story."""
        self._patience.stop()
        same = self._told is not None and self._told.id == job.lesson.id
        self._told, self._showing = job.lesson, made
        self._player.tell(made.story, keep=same)
        self._arrive()
        self.performed.emit(made)

    def retell(self, made: Exhibit) -> None:
        """Show the same launches, of which more is known."""
        self._showing = made
        self._player.tell(made.story, keep=True)
        self.updated.emit(made)

    def _fail(self, job: Job, failure: Failure) -> None:
        """What was shown may stay, but not that of another lesson."""
        if job.hurried:
            self.run()
        if job.hurried or job.begun:
            return
        self._forget()
        self.failed.emit(job, failure)

    def _forget(self) -> None:
        if self._told is not None and self._told.id != self._view.now.lesson.id:
            self._told = self._showing = None
            self._player.forget()
            self.forgotten.emit()


def _hurried(variant: Variant) -> Variant:
    return replace(variant, level="ptx", prebuilt=True, checks=())


def _problem(variants: tuple[Variant, ...]) -> str:
    """Why a variant makes no sense; which one, when there are two."""
    for letter, variant in zip(SIDES, variants, strict=False):
        if problem := variant.lesson.problem(variant.values):
            return f"{letter}: {problem}" if len(variants) > 1 else problem
    return ""
