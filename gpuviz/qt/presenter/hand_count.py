"""Hands are counted by typing: a number for each choice, Enter between them."""

from __future__ import annotations

from PySide6.QtCore import Qt

from gpuviz.lectures.hands import Hands
from gpuviz.qt.presenter.conductor import Conductor
from gpuviz.qt.presenter.keys import digit_of

_K = Qt.Key
_ON = (_K.Key_Return, _K.Key_Enter, _K.Key_Right, _K.Key_Down, _K.Key_Tab)
_BACK = (_K.Key_Left, _K.Key_Up)
_ENDS = (_K.Key_Escape, _K.Key_H)


class HandCount:
    """The keys of counting; the conductor has the hands, and shows them."""

    def __init__(self, conductor: Conductor) -> None:
        self._conductor = conductor

    def begin(self) -> None:
        """Count from the first choice on, if a question is shown."""
        question = self._conductor.shown.slide.question
        if question is not None:
            hands = self._conductor.hands or Hands((0,) * len(question.choices))
            self._conductor.set_hands(hands.at(0))

    def takes(self, key: int) -> bool:
        """Whether counting has use for a key; it is used then. Any other ends it."""
        hands = self._conductor.hands
        if hands is None or hands.now < 0:
            return False
        digit, found = digit_of(key), _K(key)
        made: Hands | None = None
        if digit is not None:
            made = hands.typed(digit)
        elif found in _ON:
            made = hands.at(hands.now + 1)
        elif found in _BACK:
            made = hands.at(hands.now - 1)
        elif found == _K.Key_Backspace:
            made = hands.erased()
        self._conductor.set_hands(made or hands.over)
        return made is not None or found in _ENDS
