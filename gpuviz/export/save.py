"""A view into a file, the format by its suffix."""

import logging
from collections.abc import Callable
from pathlib import Path

from gpuviz.base.errors import Cancelled
from gpuviz.base.waiting import Cancel, Progress, go_on, quiet
from gpuviz.course import COURSE, lesson
from gpuviz.export.export import Export, Options, Painter
from gpuviz.export.formats import PNG, format_of
from gpuviz.files.writing import whole
from gpuviz.traces import file as trace_file
from gpuviz.views.lesson_view import View
from gpuviz.views.provenance import file_name

_ROOM = (1280, 720)  # that a timeline has at the least


def save(
    view: View,
    path: Path,
    options: Options | None = None,
    painter: Painter | None = None,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
) -> None:
    """Write a view; the file appears whole or not at all.

    Formats that are `painted` need a painter.

    Raises
    ------
    InputError : an unknown suffix, a size or pace the format does not take, no place to write
    UnavailableError : the format needs a library that is not installed
    Cancelled : `cancel` said so
    """
    form, options = format_of(path), options or Options()
    logging.getLogger("gpuviz").info("export of %s to %s", view.provenance.lesson, path)
    form.check(view.provenance, options)
    with whole(path) as file:
        form.write(Export(view, options, painter, progress, cancel), file)
        if cancel():
            raise Cancelled(f"stopped; {path} was not written")
    progress(1.0)


def save_timeline(
    view: View,
    path: Path,
    painter: Painter | None = None,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
) -> None:
    """Write where the time of the launch goes that the view shows at its moment: for Perfetto, or
    as a picture.

    Raises
    ------
    UnavailableError : no time is modelled of it
    and whatever `save` raises
    """
    if format_of(path).holds != "timeline":
        from gpuviz.views.time_view import time_view  # the model of time, where it is asked for

        made = view.provenance
        size = max(made.width, _ROOM[0]), max(made.height, _ROOM[1])
        view = time_view(view.subject(progress, cancel), theme=made.theme, size=size)
    save(view, path, None, painter, progress, cancel)


def name_for(view: View, suffix: str = PNG.suffix) -> str:
    """A file name that says what the view is: in what it differs from its lesson as it begins."""
    made = view.provenance
    listed = any(one.id == made.lesson for one in COURSE)
    return file_name(made, suffix, lesson(made.lesson).defaults() if listed else {})


def save_traces(
    view: View, path: Path, free: Callable[[Path], Path] = lambda path: path
) -> tuple[Path, ...]:
    """Write the trace of each run, named after its role where there are several.

    `free` makes a name that nobody was asked about one that is not taken.
    """
    paths = []
    for role, run in view.runs.items():
        name = f"{path.stem}-{role.replace(' ', '-')}{path.suffix}"
        paths.append(path if len(view.runs) == 1 else free(path.with_name(name)))
        trace_file.save(run.trace, paths[-1])
    return tuple(paths)
