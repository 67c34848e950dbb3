"""Above the stage: what to look for; a question to guess at, and its choices."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton

from gpuviz.qt.controls.controls import button, keep_space, label
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.start.guess import Guess
    from gpuviz.qt.start.practice import Practice
    from gpuviz.qt.start.prediction_slider import PredictionSlider
    from gpuviz.story.lesson import Lesson


class LessonBar(QFrame):
    """One row, and a line to drag along where a number is asked for. `follow` gives it a guess to
    offer; before, it says what to look for.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("lessonbar")
        self._look_for = ""
        self._guess: Guess | None = None
        self._practice: Practice | None = None
        self.words = label("", "quiet", wraps=True)
        self.choices: list[QPushButton] = []
        self.asked = button(
            tr("Guess first"), tr("Guess first"), "link", tr("Be asked before the picture tells")
        )
        self.asked.hide()
        keep_space(self.asked)
        self.line: PredictionSlider | None = None  # while a number is asked for
        self.given = button(tr("Show"), tr("Show the answer"), "chip", tr("This is my prediction"))
        self.given.hide()
        keep_space(self.given)
        self._row = row_of((self.words, 1), (self.asked, Qt.AlignmentFlag.AlignTop), gap=8)
        self._below = row_of(self.given, gap=8)
        column_of(self._row, self._below, on=self, gap=0, margins=(20, 5, 14, 3))

    def show_lesson(self, lesson: Lesson) -> None:
        """Say what to look for in it."""
        self._look_for = tr(lesson.look_for)
        self._show()

    def follow(self, guess: Guess) -> None:
        """Offer to ask, and show what can be guessed."""
        self._guess = guess
        guess.changed.connect(self._show)
        guess.predicted.connect(self._show_line)
        self.given.clicked.connect(guess.give)
        guess.offered.connect(self.asked.setVisible)
        self.asked.clicked.connect(lambda: guess.forget() if guess.question else guess.ask())

    def follow_practice(self, practice: Practice) -> None:
        """Say what an exercise asks for, while one is shown."""
        self._practice = practice
        practice.changed.connect(self._show)

    def _show(self) -> None:
        for one in self.choices:
            self._row.removeWidget(one)
            one.hide()
            one.deleteLater()
        self.choices = []
        self._show_line()
        guess = self._guess
        if guess is None or guess.question is None:
            asked = self._practice.said() if self._practice is not None else ""
            self.words.setText(asked or self._look_for)
            self.asked.setText(tr("Guess first"))
            return
        self.asked.setText(tr("Close") if not guess.asks else tr("Do not ask"))
        asking = (
            tr("Drag to your prediction, or choose:") if self.line else tr("What do you think?")
        )
        said = guess.said()
        self.words.setText(f"{guess.question.ask} {said}" if said else asking)
        self._offer_choices(guess)

    def _show_line(self) -> None:
        """The line of the number that is predicted, and once it is out the answer."""
        one = self._guess.prediction if self._guess is not None else None
        if one is None or self._guess is None:
            if self.line is not None:
                self.line.hide()
                self.line.deleteLater()
                self.line = None
            self.given.hide()
            return
        if self.line is None:
            from gpuviz.qt.start.prediction_slider import PredictionSlider

            self.line = PredictionSlider(self._theme)
            self.line.predicted.connect(self._guess.predict)
            self.line.given.connect(self._guess.give)
            self._below.insertWidget(0, self.line, 1)
            self.line.show()
        asks, answer = self._guess.asks, self._guess.answer
        out = float(answer.value) if answer is not None and not asks else None
        self.line.show_prediction(one, out)
        if not asks and self.given.hasFocus():
            self.asked.setFocus(Qt.FocusReason.OtherFocusReason)
        self.given.setVisible(asks)
        self.given.setEnabled(one.value is not None)

    def _offer_choices(self, guess: Guess) -> None:
        """A button a choice; once the answer is out, the right one is marked."""
        from gpuviz.lectures.answer import shown

        assert guess.question is not None and guess.answer is not None
        for number, choice in enumerate(guess.question.choices):
            text = shown(choice) if isinstance(choice, int | float) else choice
            right = not guess.asks and number == guess.answer.right
            made = button(f"✓ {text}" if right else text, text, "chip")
            made.setEnabled(guess.asks or right)
            keep_space(made)
            made.clicked.connect(partial(guess.guess, number))
            self._row.insertWidget(self._row.count() - 1, made)
            self.choices.append(made)
        if guess.asks:
            self.choices[0].setFocus(Qt.FocusReason.OtherFocusReason)
