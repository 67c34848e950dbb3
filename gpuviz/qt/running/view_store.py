"""Where the view of the window is: one record, which everything follows."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from gpuviz.views.state import ViewState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gpuviz.story.lesson import Value


class ViewStore(QObject):
    """`now` is what is shown; it is another record with every change."""

    # What was shown before, and what is shown now; never the same.
    changed = Signal(ViewState, ViewState)

    def __init__(self, state: ViewState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.now = state
        self._before: ViewState | None = None  # while several changes are made together

    def become(self, state: ViewState) -> None:
        """Show this."""
        with self.together():
            self.now = state

    def set(self, **fields: Any) -> None:
        """Change some of it (`ViewState`)."""
        self.become(replace(self.now, **fields))

    def set_values(self, values: Mapping[str, Value], right: bool = False) -> None:
        """Change some or all values of side A, or of B."""
        self.become(self.now.given(values, right))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Several changes are announced as one."""
        if self._before is not None:
            yield
            return
        before = self._before = self.now
        try:
            yield
        finally:
            self._before = None
            if self.now != before:
                self.changed.emit(before, self.now)

    def follow(self, fields: str, show: Callable[[ViewState], object]) -> None:
        """Have the view shown now, and whenever one of these fields (parted by spaces) changes."""
        of = attrgetter(*fields.split())

        def take(before: ViewState, now: ViewState) -> None:
            if of(before) != of(now):
                show(self.now)

        self.changed.connect(take)
        show(self.now)
