"""Exercises in the window: opened by a command, judged whenever their kernel has run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.qt.commands.actions import Command
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.lectures.exercises import Exercise, Verdict
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.running.core import Core
    from gpuviz.run.run import Run
    from gpuviz.story.exhibit import Exhibit
    from gpuviz.views.state import ViewState


class Practice(QObject):
    """Follows what is shown; `exercise` is the one that it is, if it is one."""

    # Another exercise is shown, or none; or there is something else to say of it.
    changed = Signal()
    broke = Signal(Exception)  # an exception met while one was opened

    def __init__(self, core: Core, actions: Actions, parent: QObject) -> None:
        super().__init__(parent)
        self._core = core
        self.exercise: Exercise | None = None
        self.verdict: Verdict | None = None
        self._run: Run | None = None
        core.view.follow("lesson", self._turn)
        core.director.performed.connect(self._judge)
        self._offer(actions)

    @property
    def secret(self) -> bool:
        """Whether a line is still looked for: what lines cost would give it away."""
        solved = self.verdict is not None and self.verdict.solved
        return self.exercise is not None and bool(self.exercise.find) and not solved

    def open(self, exercise: Exercise) -> None:
        """Show its kernel: a copy of the user's own."""
        from gpuviz.lectures.exercises import launch_of
        from gpuviz.story.own_kernel.story import lesson_of

        try:
            self._core.course.open_any(lesson_of(launch_of(exercise)))
        except Exception as error:  # there may be no room for the copy
            self.broke.emit(error)

    def choose(self, line: int) -> None:
        """A line of the source was clicked: is it the one that is looked for?"""
        from gpuviz.lectures.exercises import guessed

        if self.exercise is not None and self.exercise.find and self._run is not None:
            self.verdict = guessed(self.exercise, self._run, line)
            self.changed.emit()

    def said(self) -> str:
        """The task, or what became of it; "" where there is none."""
        if self.exercise is None:
            return ""
        task, found = tr(self.exercise.task), self.verdict
        return task if found is None else found.text if found.solved else f"{task} {found.text}"

    def _offer(self, actions: Actions) -> None:
        """A command for each."""
        from gpuviz.lectures.exercises import exercises

        for one in exercises().values():
            name = {"title": tr(one.title)}
            find, change = tr("Find the line: {title}", **name), tr("Exercise: {title}", **name)
            text = find if one.find else change
            actions.add(Command(f"exercise.{one.id}", text, "Help"), partial(self.open, one))

    def _turn(self, view: ViewState) -> None:
        from gpuviz.lectures.exercises import exercise_of

        self.exercise = exercise_of(str(view.lesson.launch.get("file", "")))
        self.verdict = self._run = None
        self.changed.emit()

    def _judge(self, showing: Exhibit) -> None:
        from gpuviz.lectures.exercises import judged

        if self.exercise is None:
            return
        self._run = next(iter(showing.runs.values()))
        if not self.exercise.find and self._run.outputs:
            try:
                self.verdict = judged(self.exercise, self._run)
            except Exception as error:  # a kernel may have become anything
                self.broke.emit(error)
        self.changed.emit()
