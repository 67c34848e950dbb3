"""Commands that are one choice of several: lessons, architectures, levels, languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuviz.qt.commands.actions import Actions, Command

if TYPE_CHECKING:
    from collections.abc import Callable


class Choices:
    """Adds such commands, and puts a mark at each that says how things are.

    `on` tells the ids of all commands that are on now, these and the table's.
    """

    def __init__(self, actions: Actions, on: Callable[[], set[str]]) -> None:
        self._actions, self._on = actions, on

    def add(self, id: str, text: str, group: str, do: Callable[[], object]) -> None:
        """A choice; choosing it again keeps it."""

        def choose() -> None:
            do()
            self.mark()

        self._actions.add(Command(id, text, group, checkable=True), choose)

    def mark(self, *_: object) -> None:
        """Mark what is on."""
        on = self._on()
        for command, action in self._actions:
            if command.checkable:
                action.setChecked(command.id in on)
