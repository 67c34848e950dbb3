"""The words of badges, and the colour of each source: one set, in pictures and in the window.

What is predicted is in the accent; what a GPU said is green, filled while it says it; all else,
published or missing, is quiet.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpuviz.recordings.measurement import WORDS
from gpuviz.words.language import later, tr

BADGES: Mapping[str, str] = {
    "model": later("model"),
    "unchecked": later("model, not checked"),
    **WORDS,
    "unavailable": later("unavailable"),
}
_INKS = {
    "model": "accent",
    "unchecked": "accent",
    "live": "good",
    "recorded": "good",
    "file": "good",
}


def source_of(word: str) -> str:
    """The kind of source (a key of `BADGES`) that a badge names, in the language in use, or "".

    A model may be named with its architecture: `model, CC 9.0`.
    """
    named = (word, word.partition(", ")[0])
    return next((kind for one in named for kind in BADGES if one == tr(BADGES[kind])), "")


def ink_of(word: str) -> str:
    """The colour of a badge with this word: a name of the palette's."""
    return _INKS.get(source_of(word), "muted")


def is_live(word: str) -> bool:
    """Whether a badge says that its number is being measured now."""
    return source_of(word) == "live"
