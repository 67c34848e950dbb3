"""The words of the pages themselves, in the language chosen."""

from __future__ import annotations

from gpuviz.words import glossary
from gpuviz.words.language import chosen, tr


def words() -> dict[str, str]:
    """What pages and their script say, by name; `{value}` and the like are filled in by either."""
    return {
        "course": tr("GPU memory, seen"),
        "lead": tr(
            "Every picture is made from a real CUDA kernel that was executed instruction by "
            "instruction; nothing is drawn by hand."
        ),
        "lessons": tr("Lessons"),
        "lectures": tr("Lectures"),
        "documentation": tr("Documentation"),
        "skip": tr("Skip to the picture"),
        "theme": tr("Colours"),
        "auto": tr("as the system"),
        "light_theme": tr("light"),
        "dark_theme": tr("dark"),
        "before": tr("Previous lesson"),
        "after": tr("Next lesson"),
        "values": tr("Values"),
        "values_there": tr(
            "This page has pictures of {count} combinations, computed beforehand. The program "
            "itself takes any value."
        ),
        "there": tr("There are: {values}"),
        "presets": tr("Examples"),
        "moved": tr("That value has its pictures with {values}, which were changed with it."),
        "not_there": tr("This page has no pictures of {asked}; the nearest it has is shown."),
        "lost": tr("The pictures of these values could not be loaded: {file} is missing."),
        "predict": tr("Predict first"),
        "right": tr("Right: {answer}."),
        "wrong": tr("Not quite: you said {said}, it is {answer}."),
        "give_up": tr("Show me"),
        "close": tr("Close"),
        "see": tr("See also"),
        "slide": tr("Slide {number}"),
        "play_lesson": tr("Play this in the lesson"),
        "language_name": tr("Language"),
    }


def word_list() -> dict[str, object]:
    """The glossary as the script of a page reads it."""
    entries = glossary.entries()
    return {
        "pattern": glossary.pattern().replace(r"\w", r"[\w\u00c0-\u024f]"),  # as Python has it
        "ids": {tr(one.word).lower(): one.id for one in entries.values()},
        "entries": {
            one.id: {"word": tr(one.word), "text": tr(one.text), "see": list(one.see)}
            for one in entries.values()
        },
        "language": chosen(),
    }
