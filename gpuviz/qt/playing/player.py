"""The clock of the window: which story, and at which time. One signal each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal

from gpuviz.views import playback
from gpuviz.views.playback import Playback

if TYPE_CHECKING:
    from gpuviz.story.lesson import Story

TICK_MS = 16
# After a stall (the window was dragged, the machine slept) the story goes on where it was.
LONGEST_TICK = 0.25


class Player(QObject):
    """Plays a story. Every setter announces a change, and only a change."""

    story_changed = Signal()
    t_changed = Signal(float)
    playing_changed = Signal(bool)
    speed_changed = Signal(float)
    loop_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._story: Story | None = None
        self._state = Playback()
        self._elapsed = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)

    @property
    def story(self) -> Story | None:
        """What is being played, None until the first run is done."""
        return self._story

    @property
    def state(self) -> Playback:
        """Time, speed and whether it runs, as one immutable record."""
        return self._state

    @property
    def t(self) -> float:
        """Seconds into the story."""
        return self._state.t

    def tell(self, story: Story, keep: bool = False) -> None:
        """Take a new story, from its beginning or at the place that the one before was at."""
        self._story = story
        state = playback.told(self._state, story, keep)
        self.story_changed.emit()
        self._become(state, announce_t=True)

    def forget(self) -> None:
        """There is no story to play any more."""
        self._story = None
        self.story_changed.emit()
        state = replace(self._state, t=0.0, playing=False, bounds=(0.0,), clock=None)
        self._become(state, announce_t=True)

    def seek(self, t: float) -> None:
        """Go to a time."""
        self._become(playback.sought(self._state, t))

    def toggle(self) -> None:
        """Play or pause."""
        self._become(playback.toggled(self._state))

    def pause(self) -> None:
        """Stop the clock."""
        self._become(replace(self._state, playing=False, clock=None))

    def step(self, forward: bool = True) -> None:
        """Pause at the next (or previous) step boundary."""
        self._become(playback.stepped(self._state, forward))

    def set_speed(self, speed: float) -> None:
        """Play so many times as fast as told."""
        self._become(replace(self._state, speed=speed))

    def pace(self, faster: bool) -> None:
        """One speed up or down."""
        self._become(playback.paced(self._state, faster))

    def set_loop(self, loop: bool) -> None:
        """Start again at the end, or stop there."""
        self._become(replace(self._state, loop=loop))

    def set_calm(self, calm: bool) -> None:
        """Show only how each step ends, for as long as it takes, or let the picture move."""
        self._become(playback.calmed(self._state, calm))

    def _become(self, state: Playback, announce_t: bool = False) -> None:
        before, self._state = self._state, state
        if state.playing != before.playing:
            self._elapsed.restart()
            (self._timer.start if state.playing else self._timer.stop)()
            self.playing_changed.emit(state.playing)
        if state.speed != before.speed:
            self.speed_changed.emit(state.speed)
        if state.loop != before.loop:
            self.loop_changed.emit(state.loop)
        if announce_t or state.t != before.t:
            self.t_changed.emit(state.t)

    def _tick(self) -> None:
        seconds = min(self._elapsed.restart() / 1000.0, LONGEST_TICK)
        self._become(playback.advanced(self._state, seconds))
