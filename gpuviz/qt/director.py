"""Keeps the performance in step with the lesson, its values, the architecture and the level."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from gpuviz.qt.player import Player
from gpuviz.qt.worker import Job, Perform, Performed, Performer
from gpuviz.runners.base import Level
from gpuviz.scenes.base import Lesson


class Director(QObject):
    """Asks for a performance whenever something it depends on changes, and hands out its story.

    Signals
    -------
    performed : the newest performance
    failed : job, `Failure`
    arch_changed, level_changed : what is run for
    problem_changed : why the values make no sense, or ""
    """

    performed = Signal(object)
    failed = Signal(object, object)
    arch_changed = Signal(str)
    level_changed = Signal(str)
    problem_changed = Signal(str)

    def __init__(self, player: Player, perform: Perform, arch: str, level: Level,
                 parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._player = player
        self._arch, self._level = arch, level
        self._told: Lesson | None = None
        self._performance: Performed | None = None
        self.performer = Performer(perform, self)
        self.performer.performed.connect(self._take)
        self.performer.failed.connect(self.failed)
        player.values_changed.connect(self.run)

    @property
    def arch(self) -> str:
        """Architecture the launches are compiled and counted for, `sm_90`."""
        return self._arch

    @property
    def level(self) -> Level:
        """Whether counts are of the PTX or of the assembled code."""
        return self._level

    @property
    def performance(self) -> Performed | None:
        """The newest performance."""
        return self._performance

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

    def run(self, *_: object) -> None:
        """Perform the lesson with the values it has now, unless they make no sense."""
        lesson, values = self._player.lesson, dict(self._player.values)
        problem = lesson.problem(values)
        self.problem_changed.emit(problem)
        if problem:
            self.performer.cancel()
        else:
            self.performer.ask(Job(lesson, values, self._arch, self._level))

    def _take(self, job: Job, performance: Performed) -> None:
        """A lesson opened begins at its start; new values keep the place in the story."""
        state = self._player.state
        span = state.end - state.start
        same = self._told is job.lesson and span > 0
        self._told = job.lesson
        self._performance = performance
        self._player.tell(performance.story, (state.t - state.start) / span if same else 0.0)
        self.performed.emit(performance)
