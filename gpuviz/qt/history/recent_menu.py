"""The recent views as a submenu, and as commands that the palette finds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QMenu

from gpuviz.base.errors import InputError
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.history.recents import Recents
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.story import traced
from gpuviz.views.naming import described
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

_PREFIX = "recent."


class RecentMenu(QMenu):
    """Follows the recent views; `show_view` opens one."""

    def __init__(
        self,
        recents: Recents,
        recorder: ViewRecorder,
        actions: Actions,
        show_view: Callable[[Provenance], object],
        parent: QMenu,
    ) -> None:
        super().__init__(tr("Recent views"), parent)
        self._recents, self._recorder, self._actions = recents, recorder, actions
        self._show = show_view
        recents.changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        self.clear()
        self._actions.remove(_PREFIX)
        for number, view in enumerate(self._recents.views):
            try:
                said = self._described(view)
            except InputError:
                continue
            command = Command(f"{_PREFIX}{number}", said, "Recent views")
            self.addAction(self._actions.add(command, partial(self._show, view)))
        self.menuAction().setEnabled(bool(self._recents.views))

    def _described(self, view: Provenance) -> str:
        """The view in words. A trace is not read for that; InputError when there is no lesson."""
        if traced.FILE in view.launch and not self._recorder.knows(view):
            return tr("Trace: {file}", file=traced.path_of(view.launch).name)
        return described(view, self._recorder.lesson_of(view))
