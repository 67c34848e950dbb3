"""What is kept from start to start, one a row: its key, what it is at first, and where it applies.

A row with a label is in the dialog, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from gpuviz.arch import ARCHITECTURES
from gpuviz.base.errors import InputError
from gpuviz.base.waiting import CHOICES, SECONDS
from gpuviz.gpu.gpu_state import USES, State
from gpuviz.qt.look.theme import FOLLOW, MODES, NAMES, SCALES
from gpuviz.traces.check_table import ALL, chosen
from gpuviz.views.playback import SPEEDS
from gpuviz.views.state import ARCH, AS_A, LEVEL, LEVELS, ViewState
from gpuviz.words import language
from gpuviz.words.language import LANGUAGES, languages, later, percent, tr

if TYPE_CHECKING:
    from gpuviz.qt.playing.player import Player
    from gpuviz.qt.preferences.settings import Settings
    from gpuviz.qt.running.core import Core

_EFFECTS = (
    Qt.UIEffect.UI_AnimateMenu,
    Qt.UIEffect.UI_FadeMenu,
    Qt.UIEffect.UI_AnimateCombo,
    Qt.UIEffect.UI_AnimateTooltip,
    Qt.UIEffect.UI_FadeTooltip,
)

Value = str | float | bool


class Motion:
    """What moves by itself: the picture while it plays, and what the desktop animates.

    Reduced, pictures stand still, menus are just there, the text cursor does not blink. Qt up to
    6.11 cannot tell whether the desktop asks for it (`QStyleHints.accessibility` knows the contrast
    only), so it is off until the user chooses it.
    """

    def __init__(self, player: Player) -> None:
        self._player = player
        self._blink = QGuiApplication.styleHints().cursorFlashTime()
        self._effects = [effect for effect in _EFFECTS if QApplication.isEffectEnabled(effect)]

    @property
    def reduced(self) -> bool:
        """Whether nothing moves by itself."""
        return self._player.state.calm

    def reduce(self, reduced: bool) -> None:
        """Let nothing move by itself, or all as the desktop has it."""
        if reduced == self.reduced:
            return
        self._player.set_calm(reduced)
        QGuiApplication.styleHints().setCursorFlashTime(0 if reduced else self._blink)
        for effect in self._effects:
            QApplication.setEffectEnabled(effect, not reduced)


@dataclass(frozen=True)
class Preference:
    """One of what is kept."""

    key: str  # in the settings
    default: Value  # at the very first start; says of which type it is, too
    # get, set: as it is in effect, and into effect.
    get: Callable[[Core], Value]
    set: Callable[[Core, Any], object]
    # Of a word all, of a number from the first to the last, or `exact` all.
    choices: Sequence[Any] = ()
    # label, note: in the dialog; one without a label is not there.
    label: str = ""
    note: str = ""
    control: Literal["list", "slider", "switch", "recording"] = "list"  # what it is chosen with
    # offered, name: the choices there, and what each is called.
    offered: Callable[[], Sequence[Value]] | None = None
    name: Callable[[Any], str] = str
    exact: bool = False
    said: Callable[[Any], bool] = lambda value: True  # whether there is reason for the note

    def stored(self, settings: Settings) -> Any:
        """As it was left; the default where what is stored makes no sense."""
        if isinstance(self.default, bool):
            return settings.flag(self.key, self.default)
        if isinstance(self.default, str):
            return settings.text(self.key, self.default, self.choices)
        number = settings.number(self.key, self.default, self.choices)
        return min(self.choices, key=lambda one: abs(one - number)) if self.exact else number

    def change(self, core: Core, value: Value) -> None:
        """Have it so, unless it is."""
        if value != self.get(core):
            self.set(core, value)

    def keep(self, core: Core) -> None:
        """Store it for the next start."""
        value = self.get(core)
        core.settings.keep(self.key, str(value).lower() if isinstance(value, bool) else value)


def _checks(text: str) -> tuple[str, ...]:
    """Checks as they were kept; all of them where that makes no sense."""
    try:
        return chosen(text)
    except InputError:
        return ALL


def _use_recording(core: Core, file: str) -> None:
    core.settings.keep("recording", file)
    core.session.choose_recordings([Path(file)] if file else ())
    core.director.run()


def _use_name(use: float) -> str:
    return tr("all of it") if use >= 1 else tr("at most {share} %", share=round(use * 100))


def _seconds_name(seconds: float) -> str:
    if seconds < 60:
        return tr("at most {n} s", n=round(seconds))
    return tr("at most {n} min", n=round(seconds / 60))


_Get = Callable[["Core"], Any]
_Set = Callable[["Core", Any], object]


def _at(get: str, set: str) -> tuple[_Get, _Set]:
    """What reads and what sets it, by its place in the window's core."""
    setter = attrgetter(set)
    return attrgetter(get), lambda core, value: setter(core)(value)


def _of_view(field: str) -> tuple[_Get, _Set]:
    """The same of a field of the view."""
    return attrgetter(f"view.now.{field}"), lambda core, value: core.view.set(**{field: value})


_SMS = tuple(arch.sm for arch in ARCHITECTURES)

PREFERENCES = (
    Preference(
        "theme",
        FOLLOW,
        *_at("theme.mode", "theme.set_mode"),
        MODES,
        later("Theme"),
        name=lambda mode: tr(NAMES[mode]),
    ),
    Preference(
        "scale",
        1.0,
        *_at("theme.look.scale", "theme.set_scale"),
        SCALES,
        later("Size of text"),
        control="slider",
        name=percent,
    ),
    Preference(
        "reduced_motion",
        False,
        *_at("motion.reduced", "motion.reduce"),
        label=later("Reduced motion"),
        note=later(
            "Pictures stand still: playing shows the end of each step, for as long as the step "
            "takes."
        ),
        control="switch",
    ),
    Preference(
        "language",  # of the next start, "" that of the system; a newer gpuviz may have more
        "",
        lambda core: core.settings.text("language", ""),
        lambda core, code: core.settings.keep("language", code),
        label=later("Language"),
        note=later("The language changes when gpuviz starts again."),
        offered=languages,
        name=lambda code: LANGUAGES.get(code, code),
        said=lambda code: code != language.chosen(),
    ),
    Preference(
        "gpu_use",
        State().use,
        *_at("meter.state.use", "meter.set_use"),
        USES,
        later("Share of the GPU's time"),
        later("How much of the time lessons that run on and on may keep the GPU busy."),
        exact=True,
        name=_use_name,
    ),
    Preference(
        "emulation_seconds",
        SECONDS,
        *_of_view("seconds"),
        CHOICES,
        later("Time to emulate a launch"),
        later("What takes longer is counted from some of its blocks, and says so."),
        exact=True,
        name=_seconds_name,
    ),
    Preference(
        "recording",  # a file, "" for none
        "",
        lambda core: core.settings.text("recording", ""),
        _use_recording,
        label=later("Your own recording"),
        note=later(
            "Its measurements are shown before those that came with gpuviz, wherever it has them."
        ),
        control="recording",
    ),
    # What follows is kept, and chosen elsewhere.
    Preference(
        "gpu_live",
        True,
        attrgetter("meter.by_itself"),
        lambda core, live: setattr(core.meter, "by_itself", live),
    ),
    Preference("speed", 1.0, *_at("player.state.speed", "player.set_speed"), SPEEDS),
    Preference("loop", False, *_at("player.state.loop", "player.set_loop")),
    Preference("arch", ARCH, *_of_view("arch"), _SMS),
    Preference("level", LEVEL, *_of_view("level"), tuple(LEVELS)),
    Preference("compare_arch", AS_A, *_of_view("compare_arch"), (AS_A, *_SMS)),
    Preference(
        "compare",
        False,
        attrgetter("view.now.compared"),
        lambda core, on: core.view.become(core.view.now.compare(on)),
    ),
    Preference(
        "checks",
        "all",
        lambda core: ",".join(core.view.now.checks) or "none",
        lambda core, text: core.view.set(checks=_checks(text)),
    ),
)
BY_KEY = {row.key: row for row in PREFERENCES}


def restore(core: Core) -> None:
    """All as it was left at the last start."""
    for row in PREFERENCES:
        row.set(core, row.stored(core.settings))


def keep(core: Core) -> None:
    """Keep it for the next start, and how the lesson shown is left."""
    for row in PREFERENCES:
        row.keep(core)
    core.settings.keep("lesson", core.view.now.lesson.id)
    core.course.keep_values()


def start_over(core: Core) -> None:
    """As at the very first start, but for the lesson shown."""
    lesson = core.view.now.lesson
    with core.view.together():
        for row in PREFERENCES:
            row.change(core, row.default)
        now = ViewState(lesson, lesson.defaults(), lecture=core.view.now.lecture)
        core.view.become(now)
