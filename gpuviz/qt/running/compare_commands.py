"""The commands that compare: side B on and off, what it is, A and B exchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gpuviz.arch import ARCHITECTURES
from gpuviz.course import LessonEntry
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.running.core import Core
from gpuviz.story.lesson import Lesson, Value
from gpuviz.views.state import shared
from gpuviz.words.language import tr


class CompareCommands:
    """Acts on side B of the view."""

    def __init__(self, core: Core, actions: Actions) -> None:
        self._view, self._course, self._actions = core.view, core.course, actions
        for arch in reversed(ARCHITECTURES):
            text = tr("Compare with CC {version} {name}", version=arch.version, name=arch.name)
            command = Command(f"compare.arch.{arch.sm}", text, "Compare")
            actions.add(command, partial(self.with_arch, arch.sm))
        actions.bind("compare.toggle", self.toggle)
        actions.bind("compare.swap", self.swap)

    def offer(self, lesson: Lesson) -> None:
        """Commands for the presets of a lesson."""
        self._actions.remove("compare.preset.")
        for number, preset in enumerate(lesson.presets):
            values = {**lesson.defaults(), **preset.values}
            text = tr("Compare with: {preset}", preset=tr(preset.label))
            command = Command(f"compare.preset.{number}", text, "Compare")
            self._actions.add(command, partial(self.with_values, values))

    def toggle(self) -> None:
        """Show side B, or A alone."""
        now = self._view.now
        self._view.become(now.compare(not now.compared))

    def with_values(self, values: Mapping[str, Value]) -> None:
        """Compare with these values of the lesson that A is of."""
        self._view.become(self._view.now.beside(None, values))

    def with_listed(self, listed: LessonEntry) -> None:
        """Compare with another lesson, as it begins."""
        lesson, now = listed.open(), self._view.now
        self._view.become(now.beside(lesson, shared(lesson, now.values)))

    def add(self, listed: LessonEntry) -> None:
        """A command that compares with a lesson."""
        text = tr("Compare with: {preset}", preset=tr(listed.title))
        command = Command(f"compare.lesson.{listed.id}", text, "Compare")
        self._actions.add(command, partial(self.with_listed, listed))

    def with_arch(self, arch: str) -> None:
        """Compare with the same launch under another architecture."""
        now = self._view.now
        self._view.become(replace(now.beside(None, now.values), compare_arch=arch))

    def swap(self) -> None:
        """A becomes B and B becomes A."""
        now = self._view.now
        if now.compare_lesson is not None:
            self._course.keep_values()
            self._course.enlist(now.compare_lesson)
        self._view.become(now.swapped())
