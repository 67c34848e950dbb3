"""The keys of a lecture, those of remote clickers among them."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt

from gpuviz.words.language import later

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
# What the speaker is told of them.
WORDS = {
    "Space → PageDown": later("next"),
    "← PageUp": later("back"),
    "1 2 3 …": later("slide"),
    "B  W": later("black, white"),
    "P": later("parameters"),
    "L": later("laser"),
    "Z": later("lens"),
    "D  T": later("pen, highlighter"),
    "U  C  K": later("ink: undo, clear, keep"),
    "H": later("count hands"),
    "X": later("enlarge a part"),
    "R": later("freeze"),
    "+  −": later("letters"),
    "M": later("measure again"),
    "S": later("notes"),
    "F": later("full screen"),
    "Esc": later("end"),
}
_ACTS = {key: act for act, keys in KEYS.items() for key in keys}


def act_of(key: int) -> str:
    """What a key does, "" for nothing."""
    return _ACTS.get(Qt.Key(key), "")


def digit_of(key: int) -> int | None:
    """The digit of a number key."""
    number = key - _K.Key_0
    return number if 0 <= number <= 9 else None
