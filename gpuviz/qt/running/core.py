"""What everything in the window follows: the lesson shown, its values, how it is run and looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from gpuviz.arch import ARCHITECTURES
from gpuviz.base.errors import InputError
from gpuviz.base.waiting import CHOICES, SECONDS
from gpuviz.gpu.gpu_state import USES, State
from gpuviz.qt.look.theme import FOLLOW, MODES, SCALES, Theme
from gpuviz.qt.playing.player import Player
from gpuviz.qt.running.comparison import AS_A, Comparison
from gpuviz.qt.running.course import Course
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter
from gpuviz.traces.checks import ALL, chosen
from gpuviz.views.playback import SPEEDS
from gpuviz.words.language import later

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from gpuviz.course import LessonEntry
    from gpuviz.qt.history.settings import Settings
    from gpuviz.qt.running.worker import Perform
    from gpuviz.run.run import Level
    from gpuviz.run.session import Session
    from gpuviz.story.sources import Sources

ARCH = "sm_90"
LEVEL: Level = "sass"
LIVE = "gpu_live"  # whether a GPU measures what is shown by itself
LEVELS = {"sass": later("SASS counts"), "ptx": later("PTX counts")}


@dataclass(frozen=True, eq=False)
class Core:
    """One of each for a window; `settings` are kept from start to start, `session` is not."""

    settings: Settings
    session: Session
    theme: Theme
    player: Player
    comparison: Comparison
    director: Director
    course: Course
    meter: Meter


def as_left(
    settings: Settings,
    session: Session,
    lessons: Sequence[LessonEntry],
    perform: Perform,
    sources: Sources,
    parent: QObject,
) -> Core:
    """Everything as it was left at the last start. Nothing is run until the director is let go."""
    ids = [lesson.id for lesson in lessons]
    sms = [arch.sm for arch in ARCHITECTURES]
    theme = Theme(
        settings.text("theme", FOLLOW, MODES), settings.number("scale", 1.0, SCALES), parent
    )
    theme.apply()
    player = Player(lessons[ids.index(settings.text("lesson", ids[0], ids))].open(), parent)
    player.set_speed(settings.number("speed", 1.0, SPEEDS))
    player.set_loop(settings.flag("loop", False))
    comparison = Comparison(player.lesson, parent)
    comparison.set_arch(settings.text("compare_arch", AS_A, (AS_A, *sms)))
    comparison.switch(settings.flag("compare", False), player.values)
    level = cast("Level", settings.text("level", LEVEL, tuple(LEVELS)))
    arch = settings.text("arch", ARCH, sms)
    checks = checks_of(settings.text("checks", "all"))
    director = Director(player, comparison, perform, arch, level, session, parent, checks)
    director.set_seconds(_kept(settings, "emulation_seconds", SECONDS, CHOICES))
    meter = Meter(sources, parent)
    meter.by_itself = settings.flag(LIVE, True)
    meter.set_use(use_of(settings))
    course = Course(lessons, player, comparison, settings)
    return Core(settings, session, theme, player, comparison, director, course, meter)


def use_of(settings: Settings) -> float:
    """The share of its time that a GPU may be kept busy."""
    return _kept(settings, "gpu_use", State().use, USES)


def _kept(settings: Settings, key: str, usual: float, choices: tuple[float, ...]) -> float:
    """Of the choices the one next to what was kept."""
    kept = settings.number(key, usual, choices)
    return min(choices, key=lambda one: abs(one - kept))


def checks_of(text: str) -> tuple[str, ...]:
    """Checks as they were kept; all of them where that makes no sense."""
    try:
        return chosen(text)
    except InputError:
        return ALL


def keep(core: Core) -> None:
    """Keep it for the next start."""
    stored = {
        "theme": core.theme.mode,
        "scale": core.theme.look.scale,
        "lesson": core.player.lesson.id,
        "speed": core.player.state.speed,
        "loop": str(core.player.state.loop).lower(),
        "arch": core.director.arch,
        "level": core.director.level,
        "checks": ",".join(core.director.checks) or "none",
        "emulation_seconds": core.director.seconds,
        "compare_arch": core.comparison.arch,
        "gpu_use": core.meter.state.use,
        LIVE: str(core.meter.by_itself).lower(),
        "compare": str(core.comparison.on).lower(),
    }
    for key, value in stored.items():
        core.settings.keep(key, value)
    core.course.keep_values()


def start_over(core: Core) -> None:
    """As at the very first start, but for the lesson shown."""
    core.theme.set_mode(FOLLOW)
    core.theme.set_scale(1.0)
    core.meter.set_use(State().use)
    core.meter.by_itself = True
    core.player.set_speed(1.0)
    core.player.set_loop(False)
    lesson, comparison = core.player.lesson, core.comparison
    with core.director.together():
        core.player.set_values(lesson.defaults())
        comparison.switch(False, lesson.defaults())
        comparison.set_arch(AS_A)
        comparison.open(lesson, {}, lesson.defaults())
        core.director.set_arch(ARCH)
        core.director.set_level(LEVEL)
        core.director.set_checks(ALL)
        core.director.set_seconds(SECONDS)
