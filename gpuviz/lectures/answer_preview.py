"""What the answer to a question is, told while the question is being written."""

from __future__ import annotations

from gpuviz.base.errors import InputError
from gpuviz.lectures.answer import answer, shown
from gpuviz.lectures.band import LETTERS
from gpuviz.lectures.lecture import Question
from gpuviz.story.exhibit import Exhibit
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

_RUN = (
    *("lesson", "values", "arch", "level", "launch"),
    *("compare_lesson", "compare_launch", "compare_values", "compare_arch"),
)


def same_run(one: Provenance | None, other: Provenance) -> bool:
    """Whether two views are of the same launches."""
    return all(getattr(one, name, None) == getattr(other, name) for name in _RUN)


def told(question: Question, showing: Exhibit) -> str:
    """The answer and its letter among the choices; InputError when no choice is right."""
    try:
        found = answer(question, showing.runs, {})
    except (KeyError, InputError) as error:
        raise InputError(str(error)) from None
    return tr(
        "The answer is {value} {unit}: choice {letter}.",
        value=shown(found.value),
        unit=found.unit,
        letter=LETTERS[found.right % len(LETTERS)],
    )
