"""What a file that gpuviz wrote tells: a view, a recording or a trace."""

from __future__ import annotations

from pathlib import Path

from gpuviz.base.errors import FormatError, InputError
from gpuviz.export.reading import LARGEST, read
from gpuviz.files import bounded
from gpuviz.files.archive import form_of
from gpuviz.recordings import recording
from gpuviz.recordings.recording import Recording
from gpuviz.story import traced
from gpuviz.story.lesson import Lesson
from gpuviz.traces import file as trace_file
from gpuviz.views.check_record import missing
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr


def read_any(path: Path) -> Provenance | Recording | Lesson:
    """What is in a file, whatever its name: the record of a view, a recording, a trace's lesson.

    Raises
    ------
    InputError : the file cannot be read, or it shows a kernel whose file is gone
    FormatError : gpuviz did not write it, it is damaged, or of a newer gpuviz
    """
    with bounded.opened(path, LARGEST) as file:
        zipped = file.read(4) == b"PK\x03\x04"
    if zipped:
        form = form_of(path)
        if form == recording.FORM.name:
            return recording.read(path)
        if form == trace_file.FORM.name:
            return traced.lesson_of(path.absolute())
        raise FormatError(
            tr("{file} is a zip file, but neither a trace nor a recording of gpuviz", file=path)
        )
    found = read(path)
    check_files(found, str(path))
    return found


def check_files(view: Provenance, name: str) -> None:
    """InputError when a view is of a file that is gone; `name` is what tells of the view."""
    wanted = missing(view)
    if wanted is not None:
        raise InputError(
            f"{name} shows what is in {str(wanted)[:300]}, and that file is missing: "
            "put it back there to see it again"
        )
