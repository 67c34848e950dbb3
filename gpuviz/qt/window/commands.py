"""What the commands of the table do to the lesson shown, and which of them are on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gpuviz.arch import ARCHITECTURES
from gpuviz.base.waiting import longer
from gpuviz.course import LessonEntry
from gpuviz.draw.zoom import STEP
from gpuviz.gpu.gpu_state import USES
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.look.theme import MODES
from gpuviz.qt.running.core import Core
from gpuviz.qt.window.toolbar import use_id
from gpuviz.story.lesson import Lesson, Value
from gpuviz.traces.check_table import CHECKS
from gpuviz.views.state import LEVELS, shared
from gpuviz.words.language import LANGUAGES, chosen, languages, tr

if TYPE_CHECKING:
    from gpuviz.qt.commands.actions import Choices
    from gpuviz.qt.window.panes import Panes


def bind(actions: Actions, core: Core, panes: Panes) -> None:
    """Bind them; those of lectures, exports and the like bind their own."""
    player, theme, meter, course = core.player, core.theme, core.meter, core.course
    doing: dict[str, Callable[[], object]] = {
        "play.toggle": player.toggle,
        "play.forward": lambda: player.step(True),
        "play.back": lambda: player.step(False),
        "play.first": lambda: player.seek(player.state.start),
        "play.last": lambda: player.seek(player.state.end),
        "play.slower": lambda: player.pace(False),
        "play.faster": lambda: player.pace(True),
        "play.loop": lambda: player.set_loop(not player.state.loop),
        "find.open": panes.bar.finder.open,
        "find.next": lambda: panes.bar.finder.go(True),
        "find.back": lambda: panes.bar.finder.go(False),
        "lesson.next": lambda: course.open_neighbour(1),
        "lesson.previous": lambda: course.open_neighbour(-1),
        "lesson.reset": panes.parameters.restore,
        "run.again": core.director.again,
        "run.longer": lambda: core.view.set(seconds=longer(core.view.now.seconds)),
        "run.cancel": partial(_escape, panes),
        "gpu.once": meter.run_once,
        "gpu.continuous": meter.toggle,
        "gpu.stop": meter.stop,
        "gpu.look": meter.look,
        "code.next": panes.source.next_tab,
        "code.find": panes.source.find_words,
        "zoom.in": lambda: panes.stage.enlarge(STEP),
        "zoom.out": lambda: panes.stage.enlarge(1 / STEP),
        "zoom.all": panes.stage.show_all,
        "text.larger": lambda: theme.zoom(True),
        "text.smaller": lambda: theme.zoom(False),
        "text.normal": lambda: theme.set_scale(1.0),
    }
    doing |= {use_id(use): partial(meter.set_use, use) for use in USES}
    doing |= {f"theme.{mode}": partial(theme.set_mode, mode) for mode in MODES}
    for id, do in doing.items():
        actions.bind(id, do)


def add_languages(choices: Choices, core: Core, panes: Panes) -> None:
    """A command for each language; it is that of the next start."""

    def choose(code: str) -> None:
        core.settings.keep("language", code)
        said = tr("The language changes when gpuviz starts again.")
        panes.message.say("note", LANGUAGES.get(code, code), said)

    for code in languages():
        text = tr("Language: {name}", name=LANGUAGES.get(code, code))
        choices.add(f"language.{code}", text, "View", partial(choose, code))


def on(core: Core, shown: set[str]) -> set[str]:
    """The commands that say how things are, with these panes shown."""
    view, meter = core.view.now, core.meter
    flags = {
        "play.loop": core.player.state.loop,
        "compare.toggle": view.compared,
        "gpu.continuous": meter.state.activity == "continuous",
    }
    return {
        f"open.{view.lesson.id}",
        f"arch.{view.arch}",
        f"level.{view.level}",
        f"theme.{core.theme.mode}",
        use_id(meter.state.use),
        f"language.{chosen()}",
        *(id for id, state in flags.items() if state),
        *(f"check.{name}" for name in view.checks),
        *(f"show.{name}" for name in shown),
    }


def _escape(panes: Panes) -> None:
    """Close the message if there is one, else stop the run."""
    if panes.message.isVisible():
        panes.message.hide()
        panes.stage.setFocus()
    else:
        panes.status.stop()


class LessonCommands(QObject):
    """Commands for what there is to choose (lessons and their presets, architectures, levels,
    checks), and to compare with. Made before the parts that show commands.
    """

    def __init__(self, core: Core, actions: Actions, choices: Choices) -> None:
        super().__init__(core.view)
        self._core, self._view = core, core.view
        self._actions, self._choices = actions, choices
        for lesson in core.course.lessons:
            self._add(lesson)
        for arch in reversed(ARCHITECTURES):
            name = f"CC {arch.version} {arch.name}"
            choices.add(f"arch.{arch.sm}", name, "Architecture", partial(self._to_arch, arch.sm))
            text = tr("Compare with CC {version} {name}", version=arch.version, name=arch.name)
            command = Command(f"compare.arch.{arch.sm}", text, "Compare")
            actions.add(command, partial(self._compare_arch, arch.sm))
        for level in LEVELS:
            change = partial(core.view.set, level=level)
            choices.add(f"level.{level}", tr(LEVELS[level]), "Level", change)
        for name, check in CHECKS.items():
            toggle = partial(self._toggle_check, name)
            choices.add(f"check.{name}", tr(check.title), "Checks", toggle)
        actions.bind("compare.toggle", self._toggle)
        actions.bind("compare.swap", self._swap)
        core.course.added.connect(self._add)
        core.course.added.connect(self._add_beside)  # kernels of one's own
        core.course.removed.connect(self._remove)
        core.course.renamed.connect(lambda one: actions[f"open.{one.id}"].setText(one.title))

    def offer(self, lesson: Lesson) -> None:
        """Commands for the presets of the lesson shown."""
        for id in ("preset.", "compare.preset."):
            self._actions.remove(id)
        for number, preset in enumerate(lesson.presets):
            values, name = {**lesson.defaults(), **preset.values}, tr(preset.label)
            show = Command(f"preset.{number}", tr("Preset: {name}", name=name), "Lesson")
            self._actions.add(show, partial(self._view.set_values, values))
            text = tr("Compare with: {preset}", preset=name)
            compare = Command(f"compare.preset.{number}", text, "Compare")
            self._actions.add(compare, partial(self._compare, values))
        self._choices.mark()

    def _add(self, listed: LessonEntry) -> None:
        """A command that opens a lesson."""
        show = partial(self._core.course.open, listed)
        self._choices.add(f"open.{listed.id}", tr(listed.title), "Lesson", show)

    def _add_beside(self, listed: LessonEntry) -> None:
        """A command that compares with a lesson, as it begins."""

        def show() -> None:
            lesson, now = listed.open(), self._view.now
            self._view.become(now.beside(lesson, shared(lesson, now.values)))

        text = tr("Compare with: {preset}", preset=tr(listed.title))
        self._actions.add(Command(f"compare.lesson.{listed.id}", text, "Compare"), show)

    def _remove(self, id: str) -> None:
        for command in ("open", "compare.lesson"):
            self._actions.remove(f"{command}.{id}")

    def _toggle_check(self, name: str) -> None:
        """Look for a class of faults, or no longer."""
        wanted = {*self._view.now.checks} ^ {name}
        self._view.set(checks=tuple(one for one in CHECKS if one in wanted))

    def _to_arch(self, arch: str) -> None:
        self._core.settings.keep("arch_chosen", "true")
        self._view.set(arch=arch)

    def _toggle(self) -> None:
        """Show side B, or A alone."""
        now = self._view.now
        self._view.become(now.compare(not now.compared))

    def _compare(self, values: Mapping[str, Value]) -> None:
        """Compare with these values of the lesson that A is of."""
        self._view.become(self._view.now.beside(None, values))

    def _compare_arch(self, arch: str) -> None:
        """Compare with the same launch under another architecture."""
        now = self._view.now
        self._view.become(replace(now.beside(None, now.values), compare_arch=arch))

    def _swap(self) -> None:
        """A becomes B and B becomes A."""
        now = self._view.now
        if now.compare_lesson is not None:
            self._core.course.keep_values()
            self._core.course.enlist(now.compare_lesson)
        self._view.become(now.swapped())
