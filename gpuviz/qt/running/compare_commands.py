"""The commands that compare: side B on and off, what it is, A and B exchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from gpuviz.arch import ARCHITECTURES
from gpuviz.course import LessonEntry
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.playing.player import Player
from gpuviz.qt.running.comparison import AS_A, Comparison
from gpuviz.qt.running.director import Director
from gpuviz.story.lesson import Lesson, Parameter, Value
from gpuviz.words.language import tr


class CompareCommands:
    """Acts on player (side A), comparison (side B) and director."""

    def __init__(
        self,
        player: Player,
        comparison: Comparison,
        director: Director,
        actions: Actions,
        open_lesson: Callable[[Lesson], None],
    ) -> None:
        self._player, self._comparison = player, comparison
        self._director, self._actions = director, actions
        self._open = open_lesson
        for arch in reversed(ARCHITECTURES):
            text = tr("Compare with CC {version} {name}", version=arch.version, name=arch.name)
            actions.add(
                Command(f"compare.arch.{arch.sm}", text, "Compare"),
                partial(self.with_arch, arch.sm),
            )
        actions.bind("compare.toggle", lambda: self.switch(not comparison.on))
        actions.bind("compare.swap", self.swap)

    def offer(self, lesson: Lesson) -> None:
        """Commands for the presets of a lesson."""
        self._actions.remove("compare.preset.")
        for number, preset in enumerate(lesson.presets):
            values = {**lesson.defaults(), **preset.values}
            text = tr("Compare with: {preset}", preset=tr(preset.label))
            command = Command(f"compare.preset.{number}", text, "Compare")
            self._actions.add(command, partial(self.with_values, values))

    def switch(self, on: bool) -> None:
        """Show side B, or A alone."""
        self._comparison.switch(on, self._player.values)

    def with_values(self, values: Mapping[str, Value]) -> None:
        """Compare with these values of the lesson that A is of."""
        if self._comparison.other is not None:
            self._comparison.set_lesson(None, values)
        self.switch(True)
        self._comparison.set_values(values)

    def with_listed(self, listed: LessonEntry) -> None:
        """Compare with another lesson, as it begins."""
        lesson = listed.open()
        self._comparison.set_lesson(lesson, shared(lesson, self._player.values))

    def add(self, listed: LessonEntry) -> None:
        """A command that compares with a lesson."""
        text = tr("Compare with: {preset}", preset=tr(listed.title))
        command = Command(f"compare.lesson.{listed.id}", text, "Compare")
        self._actions.add(command, partial(self.with_listed, listed))

    def with_arch(self, arch: str) -> None:
        """Compare with the same launch under another architecture."""
        self.with_values(self._player.values)
        self._comparison.set_arch(arch)

    def swap(self) -> None:
        """A becomes B and B becomes A."""
        self.switch(True)
        if self._comparison.other is not None:
            self._swap_lessons(self._comparison.other)
            return
        a, b = dict(self._player.values), dict(self._comparison.values)
        arch, other = self._director.arch, self._comparison.arch
        self._comparison.set_values(a)
        self._player.set_values(b)
        if other != AS_A:
            self._comparison.set_arch(arch)
            self._director.set_arch(other)

    def _swap_lessons(self, other: Lesson) -> None:
        lesson, a, b = self._player.lesson, dict(self._player.values), dict(self._comparison.values)
        with self._director.together():
            if other.id == lesson.id:  # another launch of the same kernel
                self._player.open(other, b)
            else:
                self._open(other)
                self._player.set_values(b)
            self._comparison.set_lesson(lesson, a)


def shared(lesson: Lesson, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of A that another lesson can take as well, so that both show the same place."""
    known = {parameter.id: parameter for parameter in lesson.parameters}
    return {
        key: value for key, value in values.items() if key in known and _takes(known[key], value)
    }


def _takes(parameter: Parameter, value: Value) -> bool:
    if parameter.choices:
        return value in [choice.value for choice in parameter.choices]
    if parameter.typed:
        return isinstance(value, str)
    if isinstance(parameter.default, bool) or not isinstance(value, int):
        return isinstance(value, bool) and isinstance(parameter.default, bool)
    return parameter.minimum <= value <= parameter.maximum
