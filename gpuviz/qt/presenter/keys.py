"""The keys of a lecture, those of remote clickers among them."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Qt, Signal

from gpuviz.lectures.hands import Hands
from gpuviz.qt.controls.controls import timer
from gpuviz.qt.presenter.conductor import Conductor

_K = Qt.Key
KEYS: Mapping[str, tuple[Qt.Key, ...]] = {
    "forward": (
        _K.Key_Space,
        _K.Key_Right,
        _K.Key_Down,
        _K.Key_PageDown,
        _K.Key_Return,
        _K.Key_Enter,
        _K.Key_N,
    ),
    "back": (_K.Key_Left, _K.Key_Up, _K.Key_PageUp, _K.Key_Backspace),
    "first": (_K.Key_Home,),
    "last": (_K.Key_End,),
    "black": (_K.Key_B, _K.Key_Period),
    "white": (_K.Key_W, _K.Key_Comma),
    "tune": (_K.Key_P,),
    "laser": (_K.Key_L,),
    "lens": (_K.Key_Z,),
    "pen": (_K.Key_D,),
    "marker": (_K.Key_T,),
    "undo": (_K.Key_U,),
    "clear": (_K.Key_C,),
    "keep": (_K.Key_K,),
    "part": (_K.Key_X,),
    "freeze": (_K.Key_R,),
    "hands": (_K.Key_H,),
    "larger": (_K.Key_Plus, _K.Key_Equal),
    "smaller": (_K.Key_Minus,),
    "measure": (_K.Key_M,),
    "speaker": (_K.Key_S,),
    "full": (_K.Key_F,),
    "start": (_K.Key_F5,),  # clickers have a key for it, which may be pressed again
    "leave": (_K.Key_Escape,),
}
_ACTS = {key: act for act, keys in KEYS.items() for key in keys}


def act_of(key: int) -> str:
    """What a key does, "" for nothing."""
    return _ACTS.get(Qt.Key(key), "")


def digit_of(key: int) -> int | None:
    """The digit of a number key."""
    number = key - _K.Key_0
    return number if 0 <= number <= 9 else None


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


_LONGEST = 9  # digits


class TypedNumber(QObject):
    """"""

    typed = Signal(int)  # the number, when it counts
    changed = Signal()  # there are other digits

    def __init__(self, wait_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        self._wait = timer(self, wait_ms, self.finish)

    def add(self, digit: int, most: int) -> None:
        """One more digit of a number that is at most so large."""
        self.text = (self.text + str(digit))[-_LONGEST:]
        self.changed.emit()
        if int(self.text) * 10 > most:
            self.finish()
        else:
            self._wait.start()

    def finish(self) -> None:
        """It counts as it is."""
        if text := self.forget():
            self.typed.emit(int(text))

    def forget(self) -> str:
        """What was typed; it does not count any more."""
        self._wait.stop()
        text, self.text = self.text, ""
        if text:
            self.changed.emit()
        return text
