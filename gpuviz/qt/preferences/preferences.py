"""What can be preferred, as one record, and where each of it takes effect."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpuviz.qt.preferences.motion import KEY, Motion
from gpuviz.qt.running.core import Core
from gpuviz.words.language import chosen, languages

RECORDING = "recording"  # the key of the setting


@dataclass(frozen=True)
class Preferences:
    """Theme and size of text, reduced motion, language of the next start ("": the system's), the
    share of the GPU's time that may be used, the seconds that the emulation of a launch may take,
    and the file of the user's own recording ("": none).
    """

    theme: str
    scale: float
    calm: bool
    language: str
    use: float
    seconds: float
    recording: str = ""


class PreferenceStore:
    """Reads and sets them; what is set is in effect, and remembered, at once."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._theme, self._meter, self._settings = core.theme, core.meter, core.settings
        self.motion = Motion(core.player)
        self.motion.reduce(core.settings.flag(KEY, False))
        self._choose(core.settings.text(RECORDING, ""))

    def now(self) -> Preferences:
        """As it is."""
        return Preferences(
            self._theme.mode,
            self._theme.look.scale,
            self.motion.reduced,
            self._settings.text("language", ""),
            self._meter.state.use,
            self._core.director.seconds,
            self._settings.text(RECORDING, ""),
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
        if wanted.seconds != now.seconds:
            self._core.director.set_seconds(wanted.seconds)
        if wanted.recording != now.recording:
            self._choose(wanted.recording)
            self._core.director.run()
        stored = {
            "theme": wanted.theme,
            "scale": wanted.scale,
            "gpu_use": wanted.use,
            "emulation_seconds": wanted.seconds,
            KEY: str(wanted.calm).lower(),
            "language": wanted.language,
            RECORDING: wanted.recording,
        }
        for key, value in stored.items():
            kept.keep(key, value)

    def _choose(self, recording: str) -> None:
        self._core.session.choose_recordings([Path(recording)] if recording else ())
