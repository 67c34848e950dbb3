"""The picture of this moment in words, for whoever does not see it or wants to quote it."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from gpuviz.draw.marks import Frame
from gpuviz.draw.spoken import hints, lines
from gpuviz.qt.controls.controls import ask
from gpuviz.qt.controls.message import SELECTABLE
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.playing.spoken_steps import step_words
from gpuviz.qt.playing.stage_view import StageView
from gpuviz.qt.running.core import Core
from gpuviz.story.lesson import Story
from gpuviz.words.glossary import entry, explained
from gpuviz.words.language import tr


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
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 12)
        column.setSpacing(10)
        column.addWidget(self.text, 1)
        column.addWidget(self.buttons)
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
