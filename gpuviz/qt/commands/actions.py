"""Every command of the window, as the table of the menu has them (resources/words/menu.toml)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence

from gpuviz.words.language import texts, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QMenu, QWidget


@dataclass(frozen=True)
class Command:
    """One thing a user can ask for. `checkable` commands are states that are on or off.

    Those of the table are English and shown by `tr`; added ones are in the language chosen.
    """

    id: str
    text: str
    group: str
    keys: tuple[str, ...] = ()
    checkable: bool = False
    parted: bool = False  # in the menu, by a line above it, from what is done with other things


_TABLE = texts("menu")
GROUPS = {name: name for name in _TABLE}
COMMANDS = tuple(
    Command(id, group=group, **{**row, "keys": tuple(row.get("keys", ()))})
    for group in GROUPS
    for id, row in _TABLE[group].items()
)
LONGER = next(one.keys[0] for one in COMMANDS if one.id == "run.longer")
"""What goes on with what a budget ended."""


class Actions:
    """The commands as QActions of a window, by id; more may be added (lessons, presets)."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._commands: dict[str, Command] = {}
        self._actions: dict[str, QAction] = {}
        for command in COMMANDS:
            self.add(command)

    def __getitem__(self, id: str) -> QAction:
        """The action of a command."""
        return self._actions[id]

    def __iter__(self) -> Iterator[tuple[Command, QAction]]:
        """Every command with its action, in the order they were added."""
        return ((command, self._actions[id]) for id, command in self._commands.items())

    def add(self, command: Command, do: Callable[[], object] | None = None) -> QAction:
        """Register a command, and what it does if that is known."""
        action = QAction(tr(command.text), self._window)
        action.setObjectName(command.id)
        action.setCheckable(command.checkable)
        action.setShortcuts([QKeySequence(k) for k in command.keys])
        self._window.addAction(action)
        self._commands[command.id] = command
        self._actions[command.id] = action
        if do is not None:
            self.bind(command.id, do)
        return action

    def remove(self, prefix: str) -> None:
        """Forget every command whose id begins so."""
        for id in [i for i in self._commands if i.startswith(prefix)]:
            del self._commands[id]
            action = self._actions.pop(id)
            self._window.removeAction(action)
            action.deleteLater()

    def bind(self, id: str, do: Callable[[], object]) -> None:
        """Say what a command does."""
        self._actions[id].triggered.connect(lambda checked=False: do())

    def fill(self, menu: QMenu) -> None:
        """Add a submenu for each group of the table."""
        for group in GROUPS:
            part = menu.addMenu(tr(GROUPS[group]))
            part.setObjectName(group)
            part.setToolTipsVisible(group == "GPU")  # they say why a command is not to be had
            self.fill_group(part, group)

    def fill_group(self, menu: QMenu, group: str) -> None:
        """Add the commands of one group of the table."""
        for command in COMMANDS:
            if command.group == group:
                if command.parted:
                    menu.addSeparator()
                menu.addAction(self._actions[command.id])


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
