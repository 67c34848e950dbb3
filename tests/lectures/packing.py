"""A bundle at once, for tests that nobody is asked in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuviz.lectures.bundle_contents import gather, write
from gpuviz.lectures.lecture import Lecture


def pack(lecture: Lecture, path: Path, *more: Any, **named: Any) -> None:
    """Gather what `gather` does with these arguments, and write it."""
    write(gather(lecture, None, *more, **named), path)
