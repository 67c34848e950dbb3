"""Guess first: the picture asks before it tells, and the numbers beside it are kept back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.lectures.answer import Answer
    from gpuviz.lectures.lecture import Question
    from gpuviz.lectures.prediction import Prediction
    from gpuviz.qt.playing.player import Player
    from gpuviz.qt.running.director import Director
    from gpuviz.story.exhibit import Exhibit


class Guess(QObject):
    """Asks about what is shown, takes a guess, tells."""

    changed = Signal()  # there is a question, or none any more, or its answer is out
    predicted = Signal()  # another number is predicted
    offered = Signal(bool)  # whether something can be asked of what is shown

    def __init__(self, player: Player, director: Director, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._player, self._director = player, director
        self.question: Question | None = None
        self.answer: Answer | None = None
        self.guessed: int | None = None
        self.prediction: Prediction | None = None  # of a number, by dragging
        self.told = False
        director.performed.connect(self._take)
        director.forgotten.connect(self.forget)

    @property
    def asks(self) -> bool:
        """Whether a question waits for its answer."""
        return self.question is not None and not self.told

    def ask(self) -> None:
        """Ask, where the story comes to what is asked about."""
        from gpuviz.lectures.answer import answer
        from gpuviz.lectures.cues import asked_at
        from gpuviz.lectures.desk_question import desk_question
        from gpuviz.lectures.prediction import Prediction, reach_of

        showing = self._director.showing
        found = desk_question(showing.runs, showing.story) if showing is not None else None
        if showing is None or found is None:
            return
        self.question, self.answer = found, answer(found, showing.runs, {})
        self.guessed, self.told = None, False
        reach = reach_of(found.choices)
        self.prediction = Prediction(reach) if reach is not None else None
        self._player.pause()
        self._player.seek(max(self._player.state.start, asked_at(found, showing.story)))
        self.changed.emit()

    def guess(self, number: int) -> None:
        """This is the guess: the answer comes out, and the story with it."""
        if self.asks:
            self.guessed = number
            self._tell()

    def predict(self, value: float) -> None:
        """This is what is predicted so far; nothing comes out yet."""
        if self.asks and self.prediction is not None:
            self.prediction = replace(self.prediction, value=value)
            self.predicted.emit()

    def give(self) -> None:
        """What was predicted is the guess."""
        if self.asks and self.prediction is not None and self.prediction.value is not None:
            self._tell()

    def _tell(self) -> None:
        """The answer comes out, and the story with it."""
        self.told = True
        self.changed.emit()
        if not self._player.state.playing:
            self._player.toggle()

    def forget(self) -> None:
        """Nothing is asked."""
        if self.question is not None:
            self.question = self.answer = self.guessed = self.prediction = None
            self.told = False
            self.changed.emit()

    def said(self) -> str:
        """Whether the guess was right, and the answer."""
        from gpuviz.lectures.answer import shown

        if self.answer is None or not self.told:
            return ""
        if self.guessed is None and self.prediction is not None:
            from gpuviz.lectures.prediction import said

            return said(self.prediction.value or 0.0, self.answer)
        told = {"value": shown(self.answer.value), "unit": self.answer.unit}
        if self.guessed is None or self.question is None or self.guessed == self.answer.right:
            return tr("✓ Right: {value} {unit}", **told)
        told["guess"] = shown(self.question.choices[self.guessed])
        return tr("✗ You said {guess}; it is {value} {unit}", **told)

    def _take(self, showing: Exhibit) -> None:
        from gpuviz.lectures.desk_question import desk_question

        self.forget()
        self.offered.emit(desk_question(showing.runs, showing.story) is not None)
