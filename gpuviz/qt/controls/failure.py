"""An exception as something to show."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from gpuviz.errors import Error


@dataclass(frozen=True, eq=False)
class Failure:
    """Why a performance failed: a sentence, and what a developer needs to know of it.

    `expected` is true for errors that gpuviz raises on purpose.
    """

    message: str
    details: str
    expected: bool


def failure_of(error: BaseException) -> Failure:
    """An exception as something to show."""
    details = "".join(traceback.format_exception(error))
    if isinstance(error, Error):
        return Failure(str(error), details, expected=True)
    return Failure(f"{type(error).__name__}: {error}", details, expected=False)
