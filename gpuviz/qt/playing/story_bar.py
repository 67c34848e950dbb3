"""Below the stage: which picture of a run is shown, and what is looked for in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QSizePolicy, QWidget

from gpuviz.base.errors import InputError
from gpuviz.qt.commands.actions import Command
from gpuviz.qt.controls.controls import (
    IconButton,
    button,
    keep_arrows,
    keep_space,
    label,
    set_look,
    timer,
)
from gpuviz.qt.controls.layouts import row_of
from gpuviz.qt.running.activity import InThread
from gpuviz.views.playback import CLOSE
from gpuviz.words.language import grouped, tr

if TYPE_CHECKING:
    from gpuviz.base.arrays import F64
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.playing.player import Player
    from gpuviz.qt.running.view_store import ViewStore
    from gpuviz.story.lesson import Parameter, Value
    from gpuviz.views.state import ViewState


_WAIT_MS = 150  # after the last letter
_NONE: F64 = np.zeros(0)


class Finder(QWidget):
    """Follows the player; what is looked for is looked for again in another story."""

    found = Signal(np.ndarray)  # the moments, none when nothing is looked for

    def __init__(self, player: Player, theme: Theme) -> None:
        super().__init__()
        self._player, self._theme = player, theme
        self.moments: F64 = _NONE
        self._finding = InThread(self._land, self)
        self._goes = False
        self.line = QLineEdit()
        self.line.setClearButtonEnabled(True)
        self.line.setAccessibleName(tr("Find in the story"))
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.line.setMinimumWidth(90)
        self.count = label("", "muted")
        self.back = IconButton("back", tr("Previous one found"), "Shift+F3", theme, 26)
        self.next = IconButton("forward", tr("Next one found"), "F3", theme, 26)
        row_of((self.line, 1), self.count, self.back, self.next, on=self, gap=4)
        self._timer = timer(self, _WAIT_MS, lambda: self._look())
        self._wire()

    def _wire(self) -> None:
        self.line.textEdited.connect(lambda text: self._timer.start())
        self.line.textChanged.connect(self._cleared)
        self.line.returnPressed.connect(lambda: self.go(True))
        self.back.clicked.connect(lambda: self.go(False))
        self.next.clicked.connect(lambda: self.go(True))
        for part in (self.back, self.next):
            keep_space(part)
        keep_arrows(self.line)
        keep_space(self.line)
        self._player.story_changed.connect(self._follow)
        self._player.t_changed.connect(self._tell)
        self._follow()

    def _cleared(self, text: str) -> None:
        if not text:
            self._look()

    def open(self) -> None:
        """Type what to look for."""
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def look_for(self, text: str) -> None:
        """Look for something, and go to the first moment of it."""
        self.line.setText(text)
        self._look(goes=True)

    def go(self, forward: bool) -> None:
        """To the next moment found, or the previous one; from the last to the first."""
        if self._timer.isActive():
            self._timer.stop()
            self._look(goes=True)
            return
        if not len(self.moments):
            return
        t = self._player.t
        if forward:
            at = int(np.searchsorted(self.moments, t + CLOSE, side="right"))
        else:
            at = int(np.searchsorted(self.moments, t - CLOSE, side="left")) - 1
        self._player.pause()
        self._player.seek(float(self.moments[at % len(self.moments)]))

    def _follow(self) -> None:
        story = self._player.story
        search = story.search if story is not None else None
        self.line.setPlaceholderText(search.hint if search is not None else "")
        self.line.setToolTip(search.hint if search is not None else "")
        self.setVisible(search is not None)
        self._look()

    def _look(self, goes: bool = False) -> None:
        """In a thread: there may be millions of steps. Then it `goes` to the first one."""
        story, text = self._player.story, self.line.text().strip()
        self._goes = goes
        if story is None or story.search is None or not text:
            self._finding.forget()
            self._show(_NONE, "")
        else:
            self._finding.ask(partial(story.search.find, text))

    def _land(self, about: object, outcome: object) -> None:
        if isinstance(outcome, np.ndarray):
            self._show(outcome, tr("none") if not len(outcome) else "")
            if self._goes:
                self._goes = False
                self.go(True)
        else:
            known = isinstance(outcome, InputError)
            self._show(_NONE, "?" if known else "!", str(outcome))

    def _show(self, moments: F64, said: str, why: str = "") -> None:
        self.moments = moments
        for part in (self.back, self.next):
            part.setEnabled(bool(len(moments)))
        self.count.setToolTip(why)
        self.line.setToolTip(why or self.line.placeholderText())
        self.count.setText(said)
        set_look(self.count, "role", "problem" if why else "muted")
        self.found.emit(moments)
        self._tell()

    def _tell(self, *_: object) -> None:
        """Which of how many is shown."""
        if not len(self.moments):
            return
        at = int(np.searchsorted(self.moments, self._player.t - CLOSE))
        here = at < len(self.moments) and abs(float(self.moments[at]) - self._player.t) < CLOSE
        of = grouped(len(self.moments))
        number = grouped(at + 1)
        self.count.setText(tr("{number} of {count}", number=number, count=of) if here else of)


FINDINGS = "findings"  # the picture of what checks found


class StoryBar(QFrame):
    """A button and a key for each picture, and the finder; not there where a lesson has neither."""

    def __init__(self, player: Player, view: ViewStore, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._player, self._view, self._actions = player, view, actions
        self._parameter: Parameter | None = None
        self.setObjectName("timepane")
        self.buttons: dict[Value, QPushButton] = {}
        self.finder = Finder(player, theme)
        self._row = row_of((self.finder, 1), on=self, gap=4, margins=(12, 4, 12, 0))
        player.story_changed.connect(self._show)
        view.follow("lesson", self._offer)
        view.follow("values", self._mark)

    def _offer(self, view: ViewState) -> None:
        """Buttons for the pictures of a lesson."""
        self._actions.remove("picture.")
        for made in self.buttons.values():
            made.hide()
            made.deleteLater()
        self.buttons = {}
        self._parameter = next((p for p in view.lesson.parameters if p.pictures), None)
        choices = self._parameter.choices if self._parameter is not None else ()
        for number, choice in enumerate(choices, 1):
            show = partial(self._choose, choice.value)
            text = tr("Picture: {name}", name=choice.label)
            self._actions.add(Command(f"picture.{number}", text, "View", (str(number),)), show)
            made = button(choice.label, text, "chip", f"{text}  ({number})")
            made.setCheckable(True)
            made.clicked.connect(lambda checked=False, show=show: show())
            keep_space(made)
            self._row.insertWidget(number - 1, made)
            self.buttons[choice.value] = made
        self._mark(view)
        self._show()

    def show_picture(self, value: Value) -> bool:
        """Show one of the pictures, if the lesson has it."""
        if value not in self.buttons:
            return False
        self._choose(value)
        return True

    def _choose(self, value: Value) -> None:
        """Both sides show the same picture."""
        if self._parameter is None:
            return
        now, values = self._view.now, {self._parameter.id: value}
        both = now.given(values, right=True) if now.compared else now
        self._view.become(both.given(values))
        self._mark(self._view.now)

    def _mark(self, view: ViewState) -> None:
        shown = view.values.get(self._parameter.id) if self._parameter else None
        for value, made in self.buttons.items():
            made.setChecked(value == shown)

    def _show(self) -> None:
        story = self._player.story
        self.setVisible(bool(self.buttons) or (story is not None and story.search is not None))
