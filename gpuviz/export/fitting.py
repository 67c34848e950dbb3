"""A record as it came from outside (a link, a file), checked against the lesson it names."""

from __future__ import annotations

from dataclasses import replace

from gpuviz.arch import architecture
from gpuviz.errors import InputError
from gpuviz.export.provenance import Provenance
from gpuviz.scenes.base import Lesson
from gpuviz.scenes.kernel import launch_of
from gpuviz.scenes.perform import check_values

LEVELS = ("sass", "ptx")


def fitted(wanted: Provenance, lesson: Lesson) -> Provenance:
    """The record with every value said, and as its parameter's own kind.

    Raises
    ------
    InputError : a value, architecture or level that there is not
    """
    values = check_values(lesson, wanted.values)
    others = check_values(lesson, {**values, **wanted.compare_values})
    for sm in filter(None, (wanted.arch, wanted.compare_arch)):
        architecture(sm)
    if wanted.level not in LEVELS:
        raise InputError(f"there is no level {wanted.level!r}; there are: {', '.join(LEVELS)}")
    return replace(wanted, lesson=lesson.id, values=values,
                   compare_values=others if wanted.compared else {})


def check_file(view: Provenance) -> None:
    """InputError when the view is of a kernel of the user's own whose file is gone."""
    if not view.launch:
        return
    file = launch_of(view.launch).path
    try:
        there = file.is_file()
    except OSError:  # no name that a file could have
        there = False
    if not there:
        raise InputError(f"the kernel of this view is gone: there is no file {str(file)[:300]}. "
                         "Put it back there, or open the kernel where it is now (Ctrl+O)")
