"""The view that a window begins with: the one asked for, or the one that a crash left behind."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QWidget

from gpuviz.base.errors import InputError
from gpuviz.qt.controls.controls import button, keep_space, timer
from gpuviz.qt.controls.message import Message
from gpuviz.qt.diagnostics.log import LOG
from gpuviz.qt.diagnostics.report import homeless
from gpuviz.qt.history.crash_file import CrashFile, LastView, UnsavedText
from gpuviz.qt.history.view_history import ViewHistory
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.views.link import link, parse
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr


class CrashNotice(QObject):
    """A button in the status bar that says gpuviz did not end properly; it tells more, then goes.

    `restored` says whether the view of then is shown again, `aside` where else it is.
    """

    def __init__(
        self,
        restored: bool,
        aside: Path | None,
        folder: Path | None,
        message: Message,
        bar: QWidget,
    ) -> None:
        super().__init__(bar)
        self._message = message
        where = homeless(str(folder)) if folder else ""
        self._said = _told(restored, where)
        if aside is not None:
            self._said += "\n" + tr("What was kept of it is put aside: {file}", file=aside.name)
        self.button: QPushButton = button(
            "▲ " + tr("unexpected end last time"),
            tr("gpuviz did not end properly last time"),
            "link",
            self._said,
        )
        self.button.setProperty("severity", "warning")
        self.button.setMinimumWidth(32)  # in a narrow window it gives way to what else is said
        self.button.clicked.connect(self._tell)
        keep_space(self.button)

    def _tell(self) -> None:
        self._message.say("note", tr("gpuviz did not end properly last time"), self._said)
        self.button.hide()


def _told(restored: bool, folder: str) -> str:
    """What became of the view, and where the log is."""
    kept = (
        tr("The view it showed is shown again, at the same moment.")
        if restored
        else tr(
            "The view it showed is not shown again, for it may be the cause; it is among the "
            "recent views."
        )
    )
    log = (
        tr(
            "The log is in {folder}; “Copy diagnostics” in the Help menu has its end.",
            folder=folder,
        )
        if folder
        else ""
    )
    return f"{kept}\n{log}".strip()


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
        self._last: tuple[str, tuple[UnsavedText, ...]] = ("", ())
        self._timer = timer(self, SOON_MS, self._keep)
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


class Recovery(QObject):
    """Shows it once, with `begin`; then keeps the view in `state`, the folder of what outlives a
    crash, if there is one.
    """

    refused = Signal(Exception)  # the exception when a view cannot be shown

    def __init__(
        self,
        core: Core,
        recorder: ViewRecorder,
        history: ViewHistory,
        crash_file: CrashFile,
        state: Path | None,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._core, self._recorder, self._history = core, recorder, history
        self._crash_file, self._state, self._window = crash_file, state, window
        self.autosave: Autosave | None = None
        self.notice: CrashNotice | None = None

    def begin(self, first: Provenance | None) -> bool:
        """Show the view asked for, or else the one that a crash left behind; whether that was so
        (`tell_of_crash`).
        """
        left = self._crash_file.left
        lost = _view_in(left) if left is not None else None
        self.restored = False
        if first is not None:
            self._show(first)
        elif lost is not None and left is not None and left.hopeful:
            self.restored = self._show(lost)
        given_up = left is not None and not self.restored and (left.view or not left.hopeful)
        if first is None and given_up:
            self._core.course.open_first()
            self._crash_file.put_aside()
        if lost is not None and not self.restored:
            self._history.recents.keep(lost)
        self._history.undo.begin()
        return left is not None

    def tell_of_crash(self, message: Message, bar: QWidget) -> None:
        """A button in the status bar."""
        self.notice = CrashNotice(self.restored, self._crash_file.aside, self._state, message, bar)
        row = bar.layout()
        assert isinstance(row, QHBoxLayout)
        row.insertWidget(0, self.notice.button)

    def keep(self, remember: Callable[[], None]) -> Autosave | None:
        """Keep the view from now on, and by `remember` what lasts from start to start."""
        if self._state is None:
            return None
        self.autosave = Autosave(
            self._crash_file, self._core, self._recorder, remember, self._window
        )
        return self.autosave

    def close(self) -> None:
        """The window ends properly."""
        self._history.recents.leave()
        if self.autosave is not None:
            self.autosave.stop()

    def _show(self, view: Provenance) -> bool:
        """Show a view; whether it is shown. Whatever keeps it from that keeps no window away."""
        try:
            self._recorder.show(view)
        except MemoryError:
            said = tr("The view to begin with needs more memory than there is.")
            self.refused.emit(InputError(said))
        except Exception as error:
            LOG.warning("the view to begin with cannot be shown: %s", error)
            self.refused.emit(error)
        else:
            return True
        return False


def _view_in(left: LastView) -> Provenance | None:
    """The view that was left behind; None when its link cannot be read."""
    try:
        return parse(left.view)
    except InputError:
        return None
