"""Every command of the window in one table: its id, words, place in the menu, and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence

from gpuviz.words.language import later, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QMenu, QWidget


LONGER = "Ctrl+Shift+G"  # goes on with what a budget ended


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


GROUPS = {
    "File": later("File"),
    "Edit": later("Edit"),
    "Play": later("Play"),
    "Lesson": later("Lesson"),
    "Compare": later("Compare"),
    "Lecture": later("Lecture"),
    "Export": later("Export"),
    "GPU": later("GPU"),
    "View": later("View"),
    "Checks": later("Checks"),
    "Help": later("Help"),
}

COMMANDS = (
    Command("file.open", later("Open …"), "File", ("Ctrl+O",)),
    Command("file.paste", later("Open what was copied"), "File", ("Ctrl+V",)),
    Command("file.link", later("Open link …"), "File"),
    Command("file.quit", later("Quit"), "File", ("Ctrl+Q",)),
    Command("edit.undo", later("Undo"), "Edit", ("Ctrl+Z",)),
    Command("edit.redo", later("Redo"), "Edit", ("Ctrl+Shift+Z", "Ctrl+Y")),
    Command("edit.link", later("Copy link to this view"), "Edit", ("Ctrl+Shift+L",)),
    Command("edit.preferences", later("Preferences …"), "Edit", ("Ctrl+,",)),
    Command("play.toggle", later("Play or pause"), "Play", ("Space",)),
    Command("play.forward", later("Next step"), "Play", ("Right",)),
    Command("play.back", later("Previous step"), "Play", ("Left",)),
    Command("play.first", later("To the beginning"), "Play", ("Home",)),
    Command("play.last", later("To the end"), "Play", ("End",)),
    Command("play.slower", later("Slower"), "Play", ("[",)),
    Command("play.faster", later("Faster"), "Play", ("]",)),
    Command("play.loop", later("Loop"), "Play", ("L",), checkable=True),
    Command("find.open", later("Find in the story …"), "Play", ("Ctrl+F",)),
    Command("find.next", later("Next one found"), "Play", ("F3",)),
    Command("find.back", later("Previous one found"), "Play", ("Shift+F3",)),
    Command("lesson.next", later("Next lesson"), "Lesson", ("Alt+Down", "Ctrl+PgDown")),
    Command("lesson.previous", later("Previous lesson"), "Lesson", ("Alt+Up", "Ctrl+PgUp")),
    Command("lesson.reset", later("Reset parameters"), "Lesson", ("Ctrl+R",)),
    Command("lesson.guess", later("Guess first"), "Lesson", ("Ctrl+G",)),
    Command("run.again", later("Run again"), "Lesson", ("Ctrl+Shift+R",)),
    Command("run.longer", later("Go on: count more blocks"), "Lesson", (LONGER,)),
    Command("run.cancel", later("Cancel the run"), "Lesson", ("Esc",)),
    Command("compare.toggle", later("Compare A | B"), "Compare", ("Ctrl+B",), checkable=True),
    Command("compare.swap", later("Exchange A and B"), "Compare", ("Ctrl+Shift+B",)),
    Command("compare.launch", later("Compare with another launch of this file …"), "Compare"),
    Command("compare.file", later("Compare with a kernel of another file …"), "Compare"),
    Command("present.start", later("Present"), "Lecture", ("F5",)),
    Command("present.here", later("Present from this slide"), "Lecture", ("Shift+F5",)),
    Command("present.rehearse", later("Rehearse the lecture"), "Lecture"),
    Command("lecture.new", later("New lecture"), "Lecture"),
    Command("lecture.open", later("Open lecture …"), "Lecture", ("Ctrl+Shift+O",)),
    Command("lecture.save", later("Save lecture"), "Lecture", ("Ctrl+S",)),
    Command("lecture.save_as", later("Save lecture as …"), "Lecture"),
    Command("lecture.pack", later("Save lecture with all it needs …"), "Lecture"),
    Command("lecture.print", later("Save as pages to print …"), "Lecture"),
    Command("lecture.notes", later("Save the notes to print …"), "Lecture"),
    Command("lecture.copy", later("Duplicate the lecture"), "Lecture"),
    Command("lecture.replace", later("Find and replace in the lecture …"), "Lecture"),
    Command("lecture.close", later("Close lecture"), "Lecture"),
    Command("lecture.add", later("Add this view to lecture"), "Lecture", ("Ctrl+Shift+A",)),
    Command("lecture.words", later("Add a slide of words"), "Lecture"),
    Command("lecture.update", later("Give the slide this view"), "Lecture", ("Ctrl+Shift+U",)),
    Command(
        "lecture.edit",
        later("Edit the slide: title, stops, question …"),
        "Lecture",
        ("Ctrl+Shift+E",),
    ),
    Command("lecture.duplicate", later("Duplicate the slide"), "Lecture", ("Ctrl+Shift+D",)),
    Command("lecture.up", later("Move the slide up"), "Lecture", ("Ctrl+Shift+Up",)),
    Command("lecture.down", later("Move the slide down"), "Lecture", ("Ctrl+Shift+Down",)),
    Command("lecture.remove", later("Remove the slide"), "Lecture"),
    Command("lecture.undo", later("Undo a change of the lecture"), "Lecture"),
    Command("lecture.redo", later("Redo a change of the lecture"), "Lecture"),
    Command(
        "export.quick", later("Save picture at once, and copy it"), "Export", ("Ctrl+Shift+S",)
    ),
    Command("export.still", later("Save picture …"), "Export", ("Ctrl+E",)),
    Command("export.film", later("Save film …"), "Export"),
    Command("export.page", later("Save page for browsers …"), "Export"),
    Command("export.window", later("Save window as picture …"), "Export"),
    Command("export.copy", later("Copy picture"), "Export"),
    Command("counts.copy", later("Copy counts as text"), "Export", ("Ctrl+Shift+C",)),
    Command("export.table", later("Copy counts as Markdown table"), "Export"),
    Command("export.counts", later("Save counts …"), "Export"),
    Command("export.trace", later("Save trace …"), "Export"),
    Command("export.times", later("Save timings …"), "Export"),
    Command("export.timeline", later("Save timeline …"), "Export"),
    Command("gpu.once", later("Run once on the GPU"), "GPU", ("F9",)),
    Command(
        "gpu.continuous", later("Run continuously on the GPU"), "GPU", ("F10",), checkable=True
    ),
    Command("gpu.stop", later("Stop the GPU"), "GPU", ("Shift+F10",)),
    Command("run.sweep", later("Sweep over parameters …"), "Lesson", ("Ctrl+Shift+W",)),
    Command("kernel.rename", later("Rename this kernel in the list …"), "Lesson"),
    Command("kernel.remove", later("Remove this kernel from the list"), "Lesson"),
    Command("run.map", later("Predict the map of this lesson"), "Lesson"),
    Command("gpu.map", later("Measure the map of this lesson on this GPU"), "GPU"),
    Command("gpu.look", later("Look for GPUs again"), "GPU"),
    Command("gpu.use.10", later("Use at most 10 % of the GPU's time"), "GPU", checkable=True),
    Command("gpu.use.25", later("Use at most 25 % of the GPU's time"), "GPU", checkable=True),
    Command("gpu.use.50", later("Use at most 50 % of the GPU's time"), "GPU", checkable=True),
    Command("gpu.use.100", later("Use all of the GPU's time"), "GPU", checkable=True),
    Command("pane.lessons", later("Go to lessons"), "View", ("Ctrl+1",)),
    Command("pane.stage", later("Go to stage"), "View", ("Ctrl+2",)),
    Command("pane.timeline", later("Go to timeline"), "View", ("Ctrl+3",)),
    Command("pane.source", later("Go to source"), "View", ("Ctrl+4",)),
    Command("pane.parameters", later("Go to parameters"), "View", ("Ctrl+5",)),
    Command("pane.counts", later("Go to counts"), "View", ("Ctrl+6",)),
    Command("pane.timing", later("Go to times"), "View", ("Ctrl+7",)),
    Command("pane.lecture", later("Go to the lecture"), "View", ("Ctrl+8",)),
    Command("pane.time", later("Go to where the time goes"), "View", ("Ctrl+9",)),
    Command("show.lessons", later("Show lessons"), "View", ("Ctrl+Shift+1",), checkable=True),
    Command("show.source", later("Show source"), "View", ("Ctrl+Shift+4",), checkable=True),
    Command(
        "show.side", later("Show parameters and counts"), "View", ("Ctrl+Shift+5",), checkable=True
    ),
    Command("code.next", later("Next tab: source, PTX, SASS, SMs"), "View", ("Ctrl+T",)),
    Command("code.find", later("Find in the code"), "View", ("Ctrl+Shift+F",)),
    Command("view.words", later("The picture in words"), "View", ("Ctrl+D",)),
    Command("zoom.in", later("Enlarge the picture"), "View", ("+", "=")),
    Command("zoom.out", later("Enlarge it less"), "View", ("-",)),
    Command("zoom.all", later("Show all of the picture"), "View", ("0",)),
    Command("theme.system", later("Theme: follow the system"), "View", checkable=True),
    Command("theme.dark", later("Theme: dark"), "View", checkable=True),
    Command("theme.light", later("Theme: light"), "View", checkable=True),
    Command("theme.projector", later("Theme: projector"), "View", checkable=True),
    Command("theme.contrast", later("Theme: high contrast"), "View", checkable=True),
    Command("text.larger", later("Larger text"), "View", ("Ctrl++", "Ctrl+=")),
    Command("text.smaller", later("Smaller text"), "View", ("Ctrl+-",)),
    Command("text.normal", later("Normal text"), "View", ("Ctrl+0",)),
    Command("help.commands", later("Find a command"), "Help", ("Ctrl+K",)),
    Command("help.tour", later("Guided tour, two minutes"), "Help"),
    Command("help.keys", later("Keyboard shortcuts"), "Help", ("F1",)),
    Command("help.diagnostics", later("Copy diagnostics"), "Help"),
    Command("help.log", later("Open log folder"), "Help"),
)

# What a line in the menu is drawn above of: it parts what is done with different things.
PARTED = (
    *("edit.link", "edit.preferences", "play.slower", "find.open", "lesson.reset", "lecture.new"),
    *("lecture.add", "lecture.up", "lecture.undo", "export.copy", "export.counts", "run.map"),
    *("gpu.map", "gpu.use.10", "show.lessons", "zoom.in", "theme.system", "text.larger"),
    "help.diagnostics",
)


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
                if command.id in PARTED:
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
