"""The view that a window begins with: the one asked for, or the one that a crash left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpuviz.base.errors import InputError
from gpuviz.qt.controls.message import Message
from gpuviz.qt.diagnostics.crash_notice import CrashNotice
from gpuviz.qt.diagnostics.log import LOG
from gpuviz.qt.history.autosave import Autosave
from gpuviz.qt.history.crash_file import CrashFile, LastView
from gpuviz.qt.history.view_history import ViewHistory
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.views.link import parse
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr


class Recovery(QObject):
    """Shows it once, with `begin`; then keeps the view in `state`, the folder of what outlives a
    crash, if there is one.

    Signals
    -------
    refused : the exception when a view cannot be shown
    """

    refused = Signal(object)

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
