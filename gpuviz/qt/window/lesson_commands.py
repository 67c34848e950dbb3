"""Commands for what there is to choose: lessons and their presets, architectures, levels."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gpuviz.arch import ARCHITECTURES
from gpuviz.qt.commands.actions import Command
from gpuviz.qt.running.compare_commands import CompareCommands
from gpuviz.traces.checks import CHECKS
from gpuviz.views.state import LEVELS
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.course import LessonEntry
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.commands.choices import Choices
    from gpuviz.qt.running.core import Core
    from gpuviz.story.lesson import Lesson


class LessonCommands(QObject):
    """Made before the parts that show commands."""

    def __init__(self, core: Core, actions: Actions, choices: Choices) -> None:
        super().__init__(core.view)
        self._core, self._actions, self._choices = core, actions, choices
        self._compare = CompareCommands(core, actions)
        for lesson in core.course.lessons:
            self._add(lesson)
        for arch in reversed(ARCHITECTURES):
            text = f"CC {arch.version} {arch.name}"
            choose = partial(self._choose_arch, arch.sm)
            choices.add(f"arch.{arch.sm}", text, "Architecture", choose)
        for level in LEVELS:
            change = partial(core.view.set, level=level)
            choices.add(f"level.{level}", tr(LEVELS[level]), "Level", change)
        for name, check in CHECKS.items():
            toggle = partial(self._toggle_check, name)
            choices.add(f"check.{name}", tr(check.title), "Checks", toggle)
        core.course.added.connect(self._add)
        core.course.removed.connect(self._remove)
        core.course.renamed.connect(lambda one: actions[f"open.{one.id}"].setText(one.title))
        core.course.added.connect(self._compare.add)  # kernels of one's own

    def _remove(self, id: str) -> None:
        for command in ("open", "compare.lesson"):
            self._actions.remove(f"{command}.{id}")

    def offer(self, lesson: Lesson) -> None:
        """Commands for the presets of the lesson shown."""
        self._actions.remove("preset.")
        for number, preset in enumerate(lesson.presets):
            values = {**lesson.defaults(), **preset.values}
            text = tr("Preset: {name}", name=tr(preset.label))
            command = Command(f"preset.{number}", text, "Lesson")
            self._actions.add(command, partial(self._core.view.set_values, values))
        self._compare.offer(lesson)
        self._choices.mark()

    def _add(self, lesson: LessonEntry) -> None:
        """A command that opens a lesson."""
        show = partial(self._core.course.open, lesson)
        self._choices.add(f"open.{lesson.id}", tr(lesson.title), "Lesson", show)

    def _toggle_check(self, name: str) -> None:
        """Look for a class of faults, or no longer."""
        view = self._core.view
        wanted = {*view.now.checks} ^ {name}
        view.set(checks=tuple(one for one in CHECKS if one in wanted))

    def _choose_arch(self, arch: str) -> None:
        self._core.settings.keep("arch_chosen", "true")
        self._core.view.set(arch=arch)
