"""The commands that compare: side B on and off, what it is, A and B exchanged."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gpuviz.arch import ARCHITECTURES
from gpuviz.language import tr
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.playing.player import Player
from gpuviz.qt.running.comparison import AS_A, Comparison
from gpuviz.qt.running.director import Director
from gpuviz.scenes.base import Lesson, Value


class CompareCommands:
    """Acts on player (side A), comparison (side B) and director."""

    def __init__(
        self, player: Player, comparison: Comparison, director: Director, actions: Actions
    ) -> None:
        self._player, self._comparison = player, comparison
        self._director, self._actions = director, actions
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
        """Compare with these values."""
        self.switch(True)
        self._comparison.set_values(values)

    def with_arch(self, arch: str) -> None:
        """Compare with the same launch under another architecture."""
        self.with_values(self._player.values)
        self._comparison.set_arch(arch)

    def swap(self) -> None:
        """A becomes B and B becomes A."""
        self.switch(True)
        a, b = dict(self._player.values), dict(self._comparison.values)
        arch, other = self._director.arch, self._comparison.arch
        self._comparison.set_values(a)
        self._player.set_values(b)
        if other != AS_A:
            self._comparison.set_arch(arch)
            self._director.set_arch(other)
