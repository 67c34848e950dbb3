"""Keeps the performance in step with the lesson, its values, the architecture and the level."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gpuviz.base.waiting import SECONDS
from gpuviz.panels.panel import GO
from gpuviz.qt.running.comparison import AS_A, Comparison
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
from gpuviz.traces.checks import ALL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gpuviz.base.errors import Failure
    from gpuviz.qt.playing.player import Player
    from gpuviz.run.run import Level
    from gpuviz.run.session import Session
    from gpuviz.story.lesson import Lesson, Values
    from gpuviz.story.perform import Performance

# A lesson that takes longer to perform than this no longer shows the picture of the one before.
PATIENCE_MS = 250


class Director(QObject):
    """Asks for a performance whenever something it depends on changes, and hands out its story.

    The first one is of the PTX that ships, so that no picture has to wait for a compiler; what was
    asked for follows, and takes its place.

    Signals
    -------
    performed : the newest `Exhibit`
    with_measurements : the `Exhibit` of the same launches, of which more is known
    failed : job, `Failure`
    arch_changed, level_changed, checks_changed : what is run for
    problem_changed : why the values make no sense, or ""
    forgotten : another lesson is shown, and nothing of it yet
    """

    performed = Signal(object)
    with_measurements = Signal(object)
    failed = Signal(object, object)
    arch_changed = Signal(str)
    level_changed = Signal(str)
    checks_changed = Signal(object)
    problem_changed = Signal(str)
    forgotten = Signal()

    def __init__(
        self,
        player: Player,
        comparison: Comparison,
        perform: Perform,
        arch: str,
        level: Level,
        session: Session,
        parent: QObject | None = None,
        checks: tuple[str, ...] = ALL,
    ) -> None:
        super().__init__(parent)
        self._player, self._comparison = player, comparison
        self._arch, self._level, self._checks = arch, level, checks
        self._seconds = SECONDS
        self._session = session
        self._lecture: Path | None = None
        self._told: Lesson | None = None
        self._turned = ""  # the id of the lesson turned to
        self._showing: Exhibit | None = None
        self._hurry = True
        self._going = ""
        self._held = 1  # until it is let go
        self.performer = Performer(perform, self)
        self.performer.performed.connect(self._take)
        self.performer.failed.connect(self._fail)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._forget)
        player.lesson_changed.connect(self._turn)
        player.values_changed.connect(self.run)
        comparison.changed.connect(self.run)

    @property
    def arch(self) -> str:
        """Architecture the launches are compiled and counted for, `sm_90`."""
        return self._arch

    @property
    def level(self) -> Level:
        """Whether counts are of the PTX or of the assembled code."""
        return self._level

    @property
    def checks(self) -> tuple[str, ...]:
        """What is looked for while launches run."""
        return self._checks

    @property
    def seconds(self) -> float:
        """Seconds that the emulation of a launch may take."""
        return self._seconds

    @property
    def lecture(self) -> Path | None:
        """The file of the lecture whose slide is shown, None where there is none."""
        return self._lecture

    @property
    def showing(self) -> Exhibit | None:
        """What is shown, None while there is nothing."""
        return self._showing

    def let_go(self) -> None:
        """Perform, now and whenever something changes: the window is there."""
        self._held -= 1
        self.run()

    def set_arch(self, arch: str) -> None:
        """Run for another architecture."""
        if arch != self._arch:
            self._arch = arch
            self.arch_changed.emit(arch)
            self.run()

    def set_level(self, level: Level) -> None:
        """Count at another level."""
        if level != self._level:
            self._level = level
            self.level_changed.emit(level)
            self.run()

    def set_checks(self, checks: tuple[str, ...]) -> None:
        """Look for other faults."""
        if checks != self._checks:
            self._checks = checks
            self.checks_changed.emit(checks)
            self.run()

    def set_seconds(self, seconds: float) -> None:
        """Give launches so many seconds each."""
        if seconds != self._seconds:
            self._seconds = seconds
            self.run()

    def set_lecture(self, lecture: Path | None) -> None:
        """What is shown is a slide of the lecture in this file, until another lesson is opened."""
        if lecture != self._lecture:
            self._lecture = lecture
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
        side = self._comparison if compared and right else self._player
        self._going = str(values.get(GO, ""))
        wanted = {id: value for id, value in values.items() if id != GO}
        if self._going and not wanted.items() - side.values.items():
            self._arrive()
            return
        self._player.seek(self._player.state.start)
        side.set_values(wanted)

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

    @contextmanager
    def together(self) -> Iterator[None]:
        """Several changes, and one performance after the last of them."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
        self.run()

    def run(self, *_: object) -> None:
        """Perform the lesson with the values it has now, unless they make no sense."""
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
        lesson, other = self._player.lesson, self._comparison
        library = self._session.library(self._lecture)
        a = Variant(
            lesson,
            dict(self._player.values),
            self._arch,
            self._level,
            library=library,
            checks=self._checks,
            seconds=self._seconds,
        )
        if not other.on:
            return (a,)
        arch = self._arch if other.arch == AS_A else other.arch
        beside = other.other or lesson
        return a, replace(a, lesson=beside, values=dict(other.values), arch=arch)

    def _turn(self, lesson: Lesson) -> None:
        """A kernel that is launched in another way keeps its picture until there is the next."""
        if lesson.id != self._turned:
            self._turned = lesson.id
            self._lecture = None
            self._patience.start()

    def _take(self, job: Job, performances: tuple[Performance, ...]) -> None:
        """A lesson opened begins at its start; new values keep the place in the story."""
        if job.begun:
            made = showing(job.variants, performances)
            live = measurements_of(self._showing) if self._showing is not None else {}
            self.retell(with_measurements(made, live))
            return
        self._patience.stop()
        same = self._told is not None and self._told.id == job.lesson.id
        self._told = job.lesson
        self._showing = made = going_on(self._showing, showing(job.variants, performances))
        self._player.tell(made.story, keep=same)
        self._arrive()
        self.performed.emit(made)
        if job.hurried:
            self.run()
        elif any(one.waiting for one in performances):
            self.performer.ask(Job(job.variants, performances))

    def retell(self, made: Exhibit) -> None:
        """Show the same launches, of which more is known."""
        self._showing = made
        self._player.tell(made.story, keep=True)
        self.with_measurements.emit(made)

    def _fail(self, job: Job, failure: Failure) -> None:
        """What was shown may stay, but not that of another lesson."""
        if job.hurried:
            self.run()
        if job.hurried or job.begun:
            return
        self._forget()
        self.failed.emit(job, failure)

    def _forget(self) -> None:
        if self._told is not None and self._told.id != self._player.lesson.id:
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
