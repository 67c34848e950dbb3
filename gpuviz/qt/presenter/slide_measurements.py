"""Measurements of the slide shown: recorded ones at once, live ones when a GPU has made them.

A GPU that fails is no reason to stop a lecture: what is recorded is told again, and the trouble is
for the speaker alone.
"""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from gpuviz.gpu.consent import Code
from gpuviz.qt.running.live_story import LiveStory
from gpuviz.qt.running.meter import Meter
from gpuviz.recordings.measurement import DeviceFacts, Measurement
from gpuviz.story.exhibit import Exhibit, measurements_of, with_measurements
from gpuviz.words.language import tr


class SlideMeasurements(QObject):
    """Follows the slides with a meter of its own."""

    changed = Signal()  # there are other measurements of what is shown, or it is told with them
    said = Signal(str)  # how the GPU is, in words for the speaker

    def __init__(self, meter: Meter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._meter = meter
        self._showing: Exhibit | None = None
        self._told: dict[Exhibit, Exhibit] = {}
        self.words = ""
        self._live_story = LiveStory(meter, self._now, with_measurements, self._retell, self)
        self._live_story.broke.connect(lambda error: self._say(f"{type(error).__name__}: {error}"))
        meter.measured.connect(self._take)
        meter.troubled.connect(self._fall_back)
        meter.left_out.connect(self._leave_out)
        meter.found.connect(self._begin)

    def look(self) -> None:
        """Find out whether there is a GPU."""
        self._meter.look()

    def show(self, showing: Exhibit | None) -> None:
        """Another slide: what is known of it, and what a GPU makes of it from now on."""
        self._showing = showing
        if showing is None:
            self._meter.forget()
            return
        self._meter.show(self.told(showing))
        self._meter.resume()

    def again(self) -> None:
        """Measure what is shown, if there is a GPU and something to launch."""
        if self._showing is not None and self._showing.plans and self._meter.state.device:
            self._meter.run_once()

    def told(self, showing: Exhibit) -> Exhibit:
        """What a slide shows, told with the newest measurements."""
        return self._told.get(showing, showing)

    def of(self, showing: Exhibit) -> Mapping[str, Measurement]:
        """The measurements of what a slide shows, live ones before recorded ones."""
        told = measurements_of(self.told(showing))
        return {**told, **self._meter.known} if showing is self._showing else told

    def close(self) -> None:
        """End the meter."""
        self._meter.close()

    def _now(self) -> Exhibit | None:
        return self.told(self._showing) if self._showing is not None else None

    def _retell(self, made: Exhibit) -> None:
        if self._showing is not None:
            self._told[self._showing] = made
            self.changed.emit()

    def _take(self, key: str, measurement: Measurement) -> None:
        if measurement.source == "live":
            self._say(tr("measured on {device}", device=measurement.device.name))
        self.changed.emit()

    def _begin(self, device: DeviceFacts) -> None:
        self._say(tr("{device}: ready", device=device.name))

    def _leave_out(self, codes: tuple[Code, ...]) -> None:
        """Nobody is asked in front of a class: what was not agreed to before does not run."""
        self._say(codes[0].refused)

    def _fall_back(self, trouble: str) -> None:
        """What a GPU that fails measured before is not told on: recordings are, until another
        slide is shown.
        """
        self._told.clear()
        self._meter.forget()
        self._meter.pause()
        if self._showing is not None:
            self._meter.show(self._showing)
        self._say(trouble)
        self.changed.emit()

    def _say(self, words: str) -> None:
        self.words = words
        self.said.emit(words)
