"""What can be preferred, as one record, and where each of it takes effect."""

from __future__ import annotations

from dataclasses import dataclass

from gpuviz.language import chosen, languages
from gpuviz.qt.history.settings import Settings
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.playing.player import Player
from gpuviz.qt.preferences.motion import KEY, Motion
from gpuviz.qt.running.meter import Meter


@dataclass(frozen=True)
class Preferences:
    """Theme and size of text, reduced motion, language of the next start ("": the system's), and
    the share of the GPU's time that may be used.
    """

    theme: str
    scale: float
    calm: bool
    language: str
    use: float


class PreferenceStore:
    """Reads and sets them; what is set is in effect, and remembered, at once."""

    def __init__(self, theme: Theme, player: Player, meter: Meter, settings: Settings) -> None:
        self._theme, self._meter, self._settings = theme, meter, settings
        self.motion = Motion(player)
        self.motion.reduce(settings.flag(KEY, False))

    def now(self) -> Preferences:
        """As it is."""
        return Preferences(
            self._theme.mode,
            self._theme.look.scale,
            self.motion.reduced,
            self._settings.text("language", ""),
            self._meter.state.use,
        )

    def language(self) -> str:
        """The language of the next start; one that a newer gpuviz may have is not among ours."""
        return self._settings.text("language", chosen(), languages())

    def set(self, wanted: Preferences) -> None:
        """As it shall be; only what differs is touched."""
        now, kept = self.now(), self._settings
        if wanted.theme != now.theme:
            self._theme.set_mode(wanted.theme)
        if wanted.scale != now.scale:
            self._theme.set_scale(wanted.scale)
        if wanted.calm != now.calm:
            self.motion.reduce(wanted.calm)
        if wanted.use != now.use:
            self._meter.set_use(wanted.use)
        stored = {
            "theme": wanted.theme,
            "scale": wanted.scale,
            "gpu_use": wanted.use,
            KEY: str(wanted.calm).lower(),
            "language": wanted.language,
        }
        for key, value in stored.items():
            kept.keep(key, value)
