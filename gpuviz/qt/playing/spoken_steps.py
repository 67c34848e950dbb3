"""What the stage shows, told to a screen reader: the story when it is another one, and each step.

While a story plays nobody could listen to its steps: they are told when it stands still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gpuviz.qt.controls.message import Announcer
from gpuviz.qt.playing.timeline import caption
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gpuviz.qt.playing.player import Player
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
