"""Which panes are shown: by the user's choice, and by whether there is room for them."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QWidget

from gpuviz.qt.history.settings import Settings


class VisiblePanes:
    """Panes by name that can be hidden. One of them makes room when room is needed."""

    def __init__(self, panes: Mapping[str, QWidget], yielding: str) -> None:
        self._panes = panes
        self._yielding = yielding
        self._folded = False

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return tuple(self._panes)

    @property
    def shown(self) -> set[str]:
        """The names of those that are shown."""
        return {name for name, pane in self._panes.items() if not pane.isHidden()}

    def toggle(self, name: str) -> None:
        """Show it, or hide it."""
        pane = self._panes[name]
        pane.setVisible(pane.isHidden())

    def reveal(self, pane: QWidget) -> None:
        """Show a pane that is about to have the focus."""
        if pane in self._panes.values():
            pane.show()

    def make_room(self, tight: bool) -> None:
        """Fold the yielding pane while room is tight; it comes back by itself."""
        pane = self._panes[self._yielding]
        if tight and not self._folded and not pane.isHidden():
            self._folded = True
            pane.hide()
        elif self._folded and not tight:
            self._folded = False
            pane.show()

    def restore(self, kept: Settings) -> None:
        """Show those that were shown."""
        for name, pane in self._panes.items():
            pane.setVisible(kept.flag(f"show/{name}", True))

    def keep(self, kept: Settings) -> None:
        """Remember which are shown; a folded one is."""
        for name in self._panes:
            shown = name in self.shown or (self._folded and name == self._yielding)
            kept.keep(f"show/{name}", str(shown).lower())
