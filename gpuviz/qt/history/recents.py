"""The views that were looked at, newest first, remembered from start to start as links."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from gpuviz.base import records
from gpuviz.base.errors import FormatError, InputError
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.story import traced
from gpuviz.views.history import changes
from gpuviz.views.link import link, parse
from gpuviz.views.provenance import Provenance, Value

KEY = "recents"
MOST = 12
LOOKED_MS = 4000  # a view shown for so long was looked at
LEFT_MS = 1000  # one left for another lesson, if it was shown for so long


def with_view(views: Iterable[Provenance], view: Provenance) -> tuple[Provenance, ...]:
    """The views with this one first; the same one at another moment is replaced."""
    return (view, *(other for other in views if changes(other, view)))[:MOST]


def _number(value: Value) -> Value:
    digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10
    return int(value) if digits else value


class Recents(QObject):
    """Follows the view.

    Signals
    -------
    changed : there are other views
    """

    changed = Signal()

    def __init__(self, core: Core, recorder: ViewRecorder) -> None:
        super().__init__(recorder)
        self._recorder, self._settings = recorder, core.settings
        self._views = tuple(self._restored())
        self._now = recorder.record()
        self._since = QElapsedTimer()
        self._since.start()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(LOOKED_MS)
        self._timer.timeout.connect(self._look)
        core.view.changed.connect(self._follow)
        self._timer.start()

    @property
    def views(self) -> tuple[Provenance, ...]:
        """Newest first."""
        return self._views

    def keep(self, view: Provenance | None = None) -> None:
        """Remember a view, or the one now: it was exported, or its link was copied.

        One that does not fit its lesson is not remembered.
        """
        with suppress(InputError):
            self._take(self._fitted(view) if view is not None else self._recorder.record())

    def leave(self) -> None:
        """The view now is left for good: the window closes."""
        self._timer.stop()
        if self._since.elapsed() >= LEFT_MS:
            self._look()

    def clear(self) -> None:
        """Forget all."""
        self._become(())

    def _follow(self, *_: object) -> None:
        before, self._now = self._now, self._recorder.record()
        what = changes(before, self._now)
        if not what:
            return
        seen = self._recorder.view() is not None and self._since.elapsed() >= LEFT_MS
        if "lesson" in what and seen:
            self._take(replace(before, time=self._now.time))
        self._since.start()
        self._timer.start()

    def _look(self) -> None:
        """Nothing was seen of a view that has not been performed."""
        if self._recorder.view() is not None:
            self._take(self._recorder.record())

    def _take(self, view: Provenance) -> None:
        self._become(with_view(self._views, view))

    def _become(self, views: tuple[Provenance, ...]) -> None:
        self._views = views
        self._settings.keep(KEY, records.text([link(view) for view in views]))
        self.changed.emit()

    def _restored(self) -> Iterable[Provenance]:
        """What was remembered, as far as it still fits."""
        try:
            lines = records.read(self._settings.text(KEY, "[]"), list[Any], KEY)
        except FormatError:
            return
        for line in lines[:MOST]:
            try:
                yield self._fitted(parse(str(line)))
            except InputError:
                continue

    def _fitted(self, view: Provenance) -> Provenance:
        """Its values as their parameters' own kind. A trace is not read for that: its parameters
        are numbers.
        """
        if traced.FILE not in view.launch:
            return self._recorder.fit(view)
        values = {key: _number(value) for key, value in view.values.items()}
        return replace(view, values=values)
