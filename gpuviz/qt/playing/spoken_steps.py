"""What the stage shows, in words: told to a screen reader, or to be read and quoted.

A reader is told the story when it is another one, and each step; while a story plays nobody could
listen to its steps: they are told when it stands still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from gpuviz.draw.spoken import hints, lines
from gpuviz.qt.controls.controls import ask
from gpuviz.qt.controls.layouts import column_of
from gpuviz.qt.controls.message import SELECTABLE, Announcer
from gpuviz.qt.playing.timeline import caption
from gpuviz.words.glossary import entry, explained
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.draw.marks import Frame
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.playing.player import Player
    from gpuviz.qt.playing.stage_view import StageView
    from gpuviz.qt.running.core import Core
    from gpuviz.story.lesson import Story


class SpokenSteps(QObject):
    """Follows the player."""

    def __init__(self, player: Player, stage: QWidget) -> None:
        super().__init__(stage)
        self._player = player
        self._story = ""
        self._step = -1
        self.announcer = Announcer(stage)
        player.story_changed.connect(self._tell_story)
        player.t_changed.connect(self._tell_step)
        player.playing_changed.connect(self._tell_step)

    def _tell_story(self, *_: object) -> None:
        story = self._player.story
        told = f"{story.title}. {story.sentence}" if story is not None else ""
        if told and told != self._story:
            self.announcer.say(told)
            self._step = _step_at(story, self._player.t) if story is not None else -1
        self._story = told

    def _tell_step(self, *_: object) -> None:
        story = self._player.story
        if story is None or not story.steps or self._player.state.playing:
            return
        step = _step_at(story, self._player.t)
        if step != self._step:
            self._step = step
            self.announcer.say(step_words(story, step))


def step_words(story: Story, index: int) -> str:
    """Which step of how many, and what happens in it."""
    step = story.steps[index]
    said = tr(
        "step {number} of {count}: {label}",
        number=index + 1,
        count=len(story.steps),
        label=step.label,
    )
    return f"{said}. {caption(step)}"


def _step_at(story: Story, t: float) -> int:
    return story.step_at(t) if story.steps else -1


class WordsDialog(QDialog):
    """A text to read with the arrow keys; Esc closes it."""

    def __init__(self, text: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("The picture in words"))
        self.text = QPlainTextEdit(text)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(tr("The picture in words"))
        self.text.setTabChangesFocus(True)
        self.text.setTextInteractionFlags(SELECTABLE)
        self.text.setProperty("role", "field")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.buttons.button(QDialogButtonBox.StandardButton.Close).setText(tr("Close"))
        self.buttons.rejected.connect(self.reject)
        column_of((self.text, 1), self.buttons, on=self, gap=10, margins=(16, 14, 16, 12))
        look = theme.look
        self.resize(min(look.px(640), parent.width() - 40), min(look.px(480), parent.height() - 60))


def show_words(core: Core, stage: StageView, parent: QWidget) -> None:
    """Show the words of what the stage shows; nothing before the first story."""
    stage.grab()  # it may have been hidden since the last change
    player = core.player
    if player.story is not None and stage.frame is not None:
        words = in_words(player.story, player.t, stage.frame, core.view.now.lesson.words)
        ask(WordsDialog(words, core.theme, parent))


def in_words(story: Story, t: float, frame: Frame, words: tuple[str, ...] = ()) -> str:
    """Title and sentence, the step, what stands in the picture, what hovering it says; and what
    words of the glossary mean.
    """
    told = [story.title, story.sentence]
    if story.steps:
        told.append(step_words(story, story.step_at(t)))
    parts = ["\n".join(told)]
    stands = tuple(line for line in lines(frame) if line not in told)
    meanings = tuple(explained(entry(word)) for word in words)
    for heading, found in (
        (tr("In the picture"), stands),
        (tr("Its parts"), hints(frame)),
        (tr("Words of this lesson"), meanings),
    ):
        if found:
            parts.append("\n".join((f"{heading}:", *found)))
    return "\n\n".join(parts)
