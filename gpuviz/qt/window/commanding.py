"""What the window's commands do: those of the table, and one for each lesson, preset,
architecture, level and language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from gpuviz.arch import ARCHITECTURES
from gpuviz.language import LANGUAGES, chosen, languages, tr
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.commands.choices import Choices
from gpuviz.qt.commands.keys_dialog import KeysDialog
from gpuviz.qt.commands.palette_dialog import Entry, PaletteDialog
from gpuviz.qt.look.theme import MODES
from gpuviz.qt.playing.words_dialog import show_words
from gpuviz.qt.running.comparing import Comparing
from gpuviz.qt.running.device_button import use_id
from gpuviz.qt.running.meter import USES
from gpuviz.qt.window.host import Host
from gpuviz.qt.window.left_tabs import LECTURE, LESSONS
from gpuviz.qt.window.toolbar import LEVELS
from gpuviz.runners.base import Level
from gpuviz.scenes.base import Lesson


class Commanding(QObject):
    """Made before the window's parts, which show commands; bound to what they do behind them.

    `find_more` has commands for what is typed where one is looked for, besides those there are.
    """

    def __init__(self, window: Host) -> None:
        super().__init__(window)
        self._window = window
        self.find_more: Callable[[str], Sequence[Entry]] = lambda text: ()
        self.actions = actions = Actions(window)
        self.choices = Choices(actions, self._on)
        for lesson in window.course.lessons:
            self.add_lesson(lesson)
        for arch in reversed(ARCHITECTURES):
            self.choices.add(
                f"arch.{arch.sm}",
                f"CC {arch.version} {arch.name}",
                "Architecture",
                partial(self._choose_arch, arch.sm),
            )
        for level in LEVELS:
            choose = partial(window.director.set_level, cast(Level, level))
            self.choices.add(f"level.{level}", tr(LEVELS[level]), "Level", choose)
        for code in languages():
            text = tr("Language: {name}", name=LANGUAGES.get(code, code))
            choose = partial(self._choose_language, code)
            self.choices.add(f"language.{code}", text, "View", choose)
        self._comparing = Comparing(window.player, window.comparison, window.director, actions)
        window.course.added.connect(self.add_lesson)

    def add_lesson(self, lesson: Lesson) -> None:
        """A command that opens a lesson."""
        show = partial(self._window.course.open, lesson)
        self.choices.add(f"open.{lesson.id}", tr(lesson.title), "Lesson", show)

    def offer(self, lesson: Lesson) -> None:
        """Commands for the presets of the lesson shown."""
        self.actions.remove("preset.")
        for number, preset in enumerate(lesson.presets):
            values = {**lesson.defaults(), **preset.values}
            text = tr("Preset: {name}", name=tr(preset.label))
            command = Command(f"preset.{number}", text, "Lesson")
            self.actions.add(command, partial(self._window.player.set_values, values))
        self._comparing.offer(lesson)
        self.choices.mark()

    def go_to(self, name: str) -> None:
        """Show a pane, and give it the focus."""
        window = self._window
        if name == "lecture" and window.lecturing.document.lecture is None:
            window.lecturing.begin()
            return
        pane, target = self._targets()[name]
        if pane is window.panes.list:
            window.panes.left.show_tab(LECTURE if name == "lecture" else LESSONS)
        window.visible.reveal(pane)
        self.choices.mark()
        target().setFocus(Qt.FocusReason.ShortcutFocusReason)
        window.panes.reveal(target())

    def bind(self) -> None:
        """What the table's commands do; those of lectures, exports and the like bind their own."""
        window = self._window
        player, theme, meter = window.player, window.theme, window.meter
        doing: dict[str, Callable[[], object]] = {
            "file.quit": window.close,
            "play.toggle": player.toggle,
            "play.forward": lambda: player.step(True),
            "play.back": lambda: player.step(False),
            "play.first": lambda: player.seek(player.state.start),
            "play.last": lambda: player.seek(player.state.end),
            "play.slower": lambda: player.pace(False),
            "play.faster": lambda: player.pace(True),
            "play.loop": lambda: player.set_loop(not player.state.loop),
            "lesson.next": lambda: window.course.open_neighbour(1),
            "lesson.previous": lambda: window.course.open_neighbour(-1),
            "lesson.reset": window.parameters.restore,
            "run.again": window.director.again,
            "run.cancel": self._escape,
            "gpu.once": meter.run_once,
            "gpu.continuous": meter.toggle,
            "gpu.stop": meter.stop,
            "gpu.look": meter.look,
            "counts.copy": window.counts.copy,
            "code.next": window.source.next_tab,
            "text.larger": lambda: theme.zoom(True),
            "text.smaller": lambda: theme.zoom(False),
            "text.normal": lambda: theme.set_scale(1.0),
            "help.commands": self._find_command,
            "view.words": lambda: show_words(window.player, window.stage, window.theme, window),
            "help.keys": lambda: KeysDialog(self.actions, window).open(),
        }
        doing |= {use_id(u): partial(meter.set_use, u) for u in USES}
        doing |= {f"theme.{m}": partial(theme.set_mode, m) for m in MODES}
        doing |= {f"pane.{n}": partial(self.go_to, n) for n in self._targets()}
        doing |= {f"show.{n}": partial(self._toggle, n) for n in window.visible.names}
        for id, do in doing.items():
            self.actions.bind(id, do)

    def _targets(self) -> dict[str, tuple[QWidget, Callable[[], QWidget]]]:
        """For each pane that has a key: what to show, and what to focus."""
        window, panes = self._window, self._window.panes
        return {
            "lessons": (panes.list, lambda: window.lessons),
            "lecture": (panes.list, lambda: window.lecturing.pane.list),
            "stage": (window.stage, lambda: window.stage),
            "timeline": (window.timeline, lambda: window.timeline),
            "source": (panes.code, window.source.view),
            "parameters": (panes.side, window.parameters.first),
            "counts": (panes.side, lambda: window.counts.table),
            "timing": (panes.side, lambda: window.timing),
        }

    def _toggle(self, name: str) -> None:
        self._window.visible.toggle(name)
        self.choices.mark()

    def _escape(self) -> None:
        """Close the message if there is one, else stop the run."""
        window = self._window
        if window.message.isVisible():
            window.message.hide()
            window.stage.setFocus()
        else:
            window.status.stop()

    def _find_command(self) -> None:
        window = self._window
        PaletteDialog(self.actions, window.theme, window, self.find_more).open()

    def _choose_arch(self, arch: str) -> None:
        self._window.settings.keep("arch_chosen", "true")
        self._window.director.set_arch(arch)

    def _choose_language(self, code: str) -> None:
        self._window.settings.keep("language", code)
        said = tr("The language changes when gpuviz starts again.")
        self._window.message.say("note", LANGUAGES.get(code, code), said)

    def _on(self) -> set[str]:
        """The commands that say how things are."""
        window = self._window
        player, director, meter = window.player, window.director, window.meter
        on = {
            f"open.{player.lesson.id}",
            f"arch.{director.arch}",
            f"level.{director.level}",
            f"theme.{window.theme.mode}",
            use_id(meter.state.use),
            f"language.{chosen()}",
        }
        flags = {
            "play.loop": player.state.loop,
            "compare.toggle": window.comparison.on,
            "gpu.continuous": meter.state.activity == "continuous",
        }
        on |= {id for id, state in flags.items() if state}
        return on | {f"show.{name}" for name in window.visible.shown}
