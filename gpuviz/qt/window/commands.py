"""What the commands of the table do to the lesson shown, and which of them are on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gpuviz.draw.zoom import STEP
from gpuviz.gpu.gpu_state import USES
from gpuviz.qt.look.theme import MODES
from gpuviz.qt.running.device_button import use_id
from gpuviz.words.language import LANGUAGES, chosen, languages, tr

if TYPE_CHECKING:
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.commands.choices import Choices
    from gpuviz.qt.running.core import Core
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
