"""The story told again while its launches are measured: live numbers reach the picture itself."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gpuviz.qt.running.activity import InThread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpuviz.qt.running.meter import Meter
    from gpuviz.recordings.measurement import Measurement
    from gpuviz.story.exhibit import Exhibit

INTERVAL = 1.0  # seconds between two tellings: numbers that change more often nobody reads


class LiveStory(QObject):
    """Follows the meter: `shown` is what is told now, `measured` tells the same anew with other
    measurements, `take` is given that.

    Nothing is emulated, and the thread of the window never waits.
    """

    # An exception met while telling with what was measured; that story stays as it was.
    broke = Signal(Exception)

    def __init__(
        self,
        meter: Meter,
        shown: Callable[[], Exhibit | None],
        measured: Callable[[Exhibit, Mapping[str, Measurement | None]], Exhibit],
        take: Callable[[Exhibit], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._meter, self._shown, self._measured, self._take = meter, shown, measured, take
        self._busy = False
        self._missed = False  # numbers that came while a story was being told
        self._broken: Exhibit | None = None
        self._last = -INTERVAL
        self._telling = InThread(self._land, self)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._tell)
        for signal in (meter.measured, meter.placed, meter.timed, meter.counted, meter.missing):
            signal.connect(self._note)

    def _note(self, *_: object) -> None:
        """There are other numbers: tell them, but not too often."""
        self._missed = self._busy
        if self._busy:
            return
        wait = round(1000 * self._wait())
        if not self._timer.isActive() or wait < self._timer.remainingTime():
            self._timer.start(wait)

    def _wait(self) -> float:
        """Seconds until the next telling: the first live number of a picture waits for nothing."""
        from gpuviz.story.exhibit import measurements_of

        showing = self._shown()
        told = measurements_of(showing).values() if showing is not None else ()
        if not any(one.source == "live" for one in told):
            return 0.0
        return max(0.0, self._last + INTERVAL - time.monotonic())

    def _tell(self) -> None:
        from gpuviz.story.exhibit import measurements_of

        showing = self._shown()
        if showing is None or showing is self._broken:
            return
        told, known = measurements_of(showing), self._meter.known
        newest = {key: known.get(key) for key in showing.plans}
        if all(_seen(told.get(key)) == _seen(one) for key, one in newest.items()):
            return
        self._busy = True
        self._telling.ask(partial(self._measured, showing, newest), showing)

    def _land(self, showing: Exhibit, made: object) -> None:
        self._busy, self._last = False, time.monotonic()
        if self._shown() is not showing:
            self._note()
        elif isinstance(made, Exception):
            self._broken = showing
            self.broke.emit(made)
        else:
            self._take(made)  # type: ignore[arg-type]
        if self._missed:
            self._note()


def _seen(one: Measurement | None) -> object:
    """What of a measurement can be seen: as long as that stays, the picture does."""
    if one is None:
        return None
    time = f"{one.timing.median:.3g}" if one.timing is not None else ""
    return one.source, one.device, one.date, time, one.values(), id(one.placement)
