"""A record as it came from outside (a link, a file), checked against the lesson it names."""

from __future__ import annotations

from dataclasses import replace
from os.path import isfile
from pathlib import Path

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.story import traced
from gpuviz.story.check import check_values
from gpuviz.story.kernel_launch import launch_of
from gpuviz.story.lesson import Lesson
from gpuviz.views.provenance import Provenance

LEVELS = ("sass", "ptx")


def fitted(wanted: Provenance, lesson: Lesson, beside: Lesson | None = None) -> Provenance:
    """The record with every value said, and as its parameter's own kind; `beside` is the lesson of
    the variant beside it, where that is another.

    Raises
    ------
    InputError : a value, architecture or level that there is not
    """
    values = check_values(lesson, wanted.values)
    said = wanted.compare_values if beside else {**values, **wanted.compare_values}
    others = check_values(beside or lesson, said)
    for sm in filter(None, (wanted.arch, wanted.compare_arch)):
        architecture(sm)
    if wanted.level not in LEVELS:
        raise InputError(f"there is no level {wanted.level!r}; there are: {', '.join(LEVELS)}")
    return replace(
        wanted, lesson=lesson.id, values=values, compare_values=others if wanted.compared else {}
    )


def check_file(view: Provenance) -> None:
    """InputError when the view is of a kernel or trace of the user's own whose file is gone."""
    file = missing(view)
    if file is not None:
        what = "trace" if traced.FILE in view.launch else "kernel"
        raise InputError(
            f"the {what} of this view is gone: there is no file {str(file)[:300]}. "
            f"Put it back there, or open the {what} where it is now (Ctrl+O)"
        )


def missing(view: Provenance) -> Path | None:
    """The user's own file that the view needs and that is not there; None when nothing is missing.

    Raises
    ------
    InputError : the record of the launch cannot be read
    """
    if not view.launch:
        return None
    own = traced.path_of(view.launch) if traced.FILE in view.launch else launch_of(view.launch).path
    return None if isfile(own) else own  # of a name that no file can have `Path.is_file` raises
