"""Keeps the session while the window is there, so that whatever ends it takes nothing along."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QSplitter, QWidget

from gpuviz.qt.history.crash_file import CrashFile, Unsaved
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.views.link import link

SOON_MS = 800  # after a change
TRUSTED_MS = 10_000
_MOVED = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.WindowStateChange)
_SHOWN = (QEvent.Type.Show, QEvent.Type.Hide)


class Autosave(QObject):
    """Stores the view soon after it, or its moment, has changed; and by `remember` all the rest
    when that has. Changes that go on are stored about once a second.
    """

    def __init__(
        self,
        crash_file: CrashFile,
        core: Core,
        recorder: ViewRecorder,
        remember: Callable[[], None],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._crash_file, self._recorder, self._remember = crash_file, recorder, remember
        self._window = window
        self._more = False
        self._last: tuple[str, tuple[Unsaved, ...]] = ("", ())
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SOON_MS)
        self._timer.timeout.connect(self._keep)
        core.view.changed.connect(lambda *_: self.touch())
        for signal in (core.player.speed_changed, core.player.loop_changed):
            signal.connect(lambda *_: self.touch())
        core.player.t_changed.connect(lambda t: self._start())
        window.installEventFilter(self)
        QTimer.singleShot(TRUSTED_MS, self, lambda: crash_file.trust(link(recorder.record())))
        self._start()

    def follow(self, splitter: QSplitter) -> None:
        """Its division, and which of its panes are shown, are worth remembering."""
        splitter.splitterMoved.connect(lambda *_: self.touch())
        for index in range(splitter.count()):
            if (pane := splitter.widget(index)) is not None:
                pane.installEventFilter(self)

    def touch(self) -> None:
        """Something changed that is remembered from start to start, too."""
        self._more = True
        self._start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The window, or one of its panes, looks different now."""
        if event.type() in (_MOVED if watched is self._window else _SHOWN):
            self.touch()
        return False

    def stop(self) -> None:
        """The window ends properly."""
        self._timer.stop()
        self._crash_file.close()

    def _start(self) -> None:
        """Not anew while it runs: a story that plays would put it off for ever."""
        if not self._timer.isActive():
            self._timer.start()

    def _keep(self) -> None:
        said = link(self._recorder.record())
        if (said, self._crash_file.unsaved) != self._last:
            self._last = said, self._crash_file.unsaved
            self._crash_file.keep(said)
        if self._more:
            self._more = False
            self._remember()
