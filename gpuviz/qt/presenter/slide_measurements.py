"""Measurements of the slide shown: recorded ones at once, live ones when a GPU has made them.

A GPU that fails is no reason to stop a lecture: what is recorded is told again, and the trouble is
for the speaker alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from gpuviz.language import tr
from gpuviz.qt.running.meter import Meter
from gpuviz.runners.consent import Code
from gpuviz.runners.measurement import DeviceFacts, Measurement
from gpuviz.scenes.showing import Showing


class SlideMeasurements(QObject):
    """Follows the slides with a meter of its own.

    Signals
    -------
    changed : there are other measurements of what is shown
    said : how the GPU is, in words for the speaker
    """

    changed = Signal()
    said = Signal(str)

    def __init__(self, meter: Meter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._meter = meter
        self._showing: Showing | None = None
        self._found: dict[str, Measurement] = {}
        self._live: dict[Showing, dict[str, Measurement]] = {}
        self.words = ""
        meter.measured.connect(self._take)
        meter.troubled.connect(self._fall_back)
        meter.questioned.connect(self._leave_out)
        meter.found.connect(self._begin)

    def look(self) -> None:
        """Find out whether there is a GPU."""
        self._meter.look()

    def show(self, showing: Showing | None) -> None:
        """Another slide: measure it, unless that has been done."""
        self._showing, self._found = showing, {}
        if showing is None:
            self._meter.forget()
            return
        self._meter.show(showing)
        if not self._measured(showing):
            self.again()

    def again(self) -> None:
        """Measure what is shown, if there is a GPU and something to launch."""
        if self._showing is not None and self._showing.plans and self._meter.state.device:
            self._meter.run_once()

    def of(self, showing: Showing) -> Mapping[str, Measurement]:
        """The measurements of what a slide shows, live ones before recorded ones."""
        found = self._found if showing is self._showing else {}
        return {**found, **self._live.get(showing, {})}

    def close(self) -> None:
        """End the meter."""
        self._meter.close()

    def _measured(self, showing: Showing) -> bool:
        """Whether all of its launches have been: the slide may have been left before."""
        return showing.plans.keys() <= self._live.get(showing, {}).keys()

    def _take(self, key: str, measurement: Measurement) -> None:
        if self._showing is None:
            return
        if measurement.source == "live":
            self._live.setdefault(self._showing, {})[key] = measurement
            self._say(tr("measured on {device}", device=measurement.device.name))
        else:
            self._found[key] = measurement
        self.changed.emit()

    def _begin(self, device: DeviceFacts) -> None:
        self._say(tr("{device}: ready", device=device.name))
        if self._showing is not None and not self._measured(self._showing):
            self.again()

    def _leave_out(self, codes: tuple[Code, ...]) -> None:
        """Nobody is asked in front of a class: what was not agreed to before does not run."""
        self._say(codes[0].refused)

    def _fall_back(self, trouble: str) -> None:
        """What a GPU that fails measured before is not told on: recordings are."""
        self._live.clear()
        if self._showing is not None:
            self._meter.show(self._showing)
        self._say(trouble)
        self.changed.emit()

    def _say(self, words: str) -> None:
        self.words = words
        self.said.emit(words)
