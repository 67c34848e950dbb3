"""What of the window lasts from start to start: read, written, and forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QObject, Qt

from gpuviz.arch import ARCHITECTURES
from gpuviz.qt.history.recents import KEY as RECENTS
from gpuviz.qt.history.settings import Settings
from gpuviz.qt.look.theme import FOLLOW, MODES, SCALES, Theme
from gpuviz.qt.playing.player import Player
from gpuviz.qt.running.comparison import AS_A, Comparison
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import State
from gpuviz.qt.running.worker import Perform
from gpuviz.qt.window.host import Host
from gpuviz.qt.window.toolbar import LEVELS
from gpuviz.runners.base import Level
from gpuviz.runners.session import Session
from gpuviz.scenes.base import Lesson
from gpuviz.views.playback import SPEEDS

SIZE = (1440, 860)
ARCH = "sm_90"
LEVEL: Level = "sass"


@dataclass(frozen=True, eq=False)
class Core:
    """What everything else in the window follows."""

    theme: Theme
    player: Player
    comparison: Comparison
    director: Director


def core(
    kept: Settings, lessons: Sequence[Lesson], perform: Perform, session: Session, parent: QObject
) -> Core:
    """Theme, player, comparison and director, as they were left."""
    ids = [lesson.id for lesson in lessons]
    sms = [arch.sm for arch in ARCHITECTURES]
    theme = Theme(kept.text("theme", FOLLOW, MODES), kept.number("scale", 1.0, SCALES), parent)
    theme.apply()
    player = Player(lessons[ids.index(kept.text("lesson", ids[0], ids))], parent)
    player.set_speed(kept.number("speed", 1.0, SPEEDS))
    player.set_loop(kept.flag("loop", False))
    comparison = Comparison(player.lesson, parent)
    comparison.set_arch(kept.text("compare_arch", AS_A, (AS_A, *sms)))
    comparison.switch(kept.flag("compare", False), player.values)
    level = cast(Level, kept.text("level", LEVEL, tuple(LEVELS)))
    arch = kept.text("arch", ARCH, sms)
    director = Director(player, comparison, perform, arch, level, session, parent)
    return Core(theme, player, comparison, director)


def restore_layout(window: Host) -> None:
    """Panes and their divisions as they were left."""
    window.panes.divide(*SIZE)
    window.settings.restore_layout(window, window.panes.splitters)
    window.visible.restore(window.settings)
    tabs = window.source.tabs
    tabs.setCurrentIndex(int(window.settings.number("code", 0, range(max(tabs.count(), 1)))))
    window.show_compared(window.comparison.on)
    window.stage.setFocus()


def remember(window: Host) -> None:
    """Keep everything for the next start."""
    kept, player, director = window.settings, window.player, window.director
    stored = {
        "theme": window.theme.mode,
        "scale": window.theme.look.scale,
        "lesson": player.lesson.id,
        "speed": player.state.speed,
        "loop": str(player.state.loop).lower(),
        "arch": director.arch,
        "level": director.level,
        "compare_arch": window.comparison.arch,
        "gpu_use": window.meter.state.use,
        "compare": str(window.comparison.on).lower(),
        "code": window.source.tabs.currentIndex(),
    }
    for key, value in stored.items():
        kept.keep(key, value)
    window.course.keep_values()
    window.visible.keep(kept)
    kept.keep_layout(window, window.panes.splitters)


def start_over(window: Host) -> None:
    """Everything as at the very first start; undo brings back the view."""
    window.settings.forget(but=(RECENTS,))
    if window.windowState() != Qt.WindowState.WindowNoState:
        window.showNormal()
    window.resize(*SIZE)
    window.theme.set_mode(FOLLOW)
    window.theme.set_scale(1.0)
    window.meter.set_use(State().use)
    window.player.set_speed(1.0)
    window.player.set_loop(False)
    _start_view_over(window)
    restore_layout(window)
    window.choices.mark()


def _start_view_over(window: Host) -> None:
    lesson, comparison = window.player.lesson, window.comparison
    with window.director.together():
        window.player.set_values(lesson.defaults())
        comparison.switch(False, lesson.defaults())
        comparison.set_arch(AS_A)
        comparison.open(lesson, {}, lesson.defaults())
        window.director.set_arch(ARCH)
        window.director.set_level(LEVEL)
    window.viewing.told = False
    if window.meter.state.device is not None:
        window.suit(window.meter.state.device)
