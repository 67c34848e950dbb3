"""What a file that gpuviz wrote tells: the record of a view, a recording or a trace."""

import mmap
from pathlib import Path

from gpuviz.base.errors import FormatError, InputError
from gpuviz.export.export import Content, FindRecord, in_one_piece
from gpuviz.export.formats import FORMATS
from gpuviz.files import bounded
from gpuviz.files.archive import form_of
from gpuviz.files.folders import PAGE, REPORT
from gpuviz.launch import capture
from gpuviz.recordings import recording
from gpuviz.recordings.recording import Recording
from gpuviz.story import traced
from gpuviz.story.lesson import Lesson
from gpuviz.story.own_kernel import profiled
from gpuviz.story.own_kernel.profiled import OpenedReport
from gpuviz.story.own_kernel.story import captured_lesson
from gpuviz.traces import file as trace_file
from gpuviz.views.make_view import missing
from gpuviz.views.provenance import MARK, Provenance, parse
from gpuviz.words.language import tr

LARGEST = 1 << 34  # bytes of a film; it is mapped, not read
_STEP = 1 << 20  # bytes searched at once


def read(path: Path) -> Provenance:
    """The record in an exported file, whatever its format.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : there is no record in it, it is damaged, or of a newer gpuviz
    """
    try:
        with (
            bounded.opened(path, LARGEST) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return read_content(content, str(path))
    except ValueError:  # an empty file cannot be mapped
        raise InputError(f"cannot read {path}: it is empty") from None


def read_content(content: Content, name: str) -> Provenance:
    """The record in the content of an exported file; `name` is what errors call it."""
    at = _place(content)
    found = _finder(content)(content, at) if at >= 0 else None
    if found is None:
        raise FormatError(
            f"{name} does not say which view it shows: it was not exported by "
            "gpuviz, or another program removed its metadata"
        )
    return parse(found, name)


def _finder(content: Content) -> FindRecord:
    """How the record lies in a file that begins so."""
    known = ((one.begins, one.record) for one in FORMATS if one.begins)
    found = (find for begins, find in known if content[: len(begins)] == begins)
    return next(found, None) or in_one_piece


def _place(content: Content) -> int:
    """Where the mark is, -1 when it is nowhere; in steps, so that other threads can run between."""
    for start in range(0, len(content), _STEP):
        at = content.find(MARK, start, start + _STEP + len(MARK))
        if at >= 0:
            return at
    return -1


Read = Provenance | Recording | Lesson | tuple[Lesson, ...] | OpenedReport


def read_any(path: Path) -> Read:
    """What is in a file, whatever its name: the record of a view, a recording, the lesson of a
    trace, those of a capture, or of a report of Nsight Compute.

    Raises
    ------
    InputError : the file cannot be read, or it shows a kernel whose file is gone
    FormatError : gpuviz did not write it, it is damaged, or of a newer gpuviz
    """
    if path.suffix.lower() in (PAGE, REPORT):
        return profiled.opened(path)
    with bounded.opened(path, LARGEST) as file:
        zipped = file.read(4) == b"PK\x03\x04"
    if zipped:
        form = form_of(path)
        if form == recording.FORM.name:
            return recording.read(path)
        if form == trace_file.FORM.name:
            return traced.lesson_of(path.absolute())
        if form == capture.FORM.name:
            return tuple(map(captured_lesson, capture.unpacked(path)))
        raise FormatError(
            tr(
                "{file} is a zip file, but neither a trace nor a recording nor a capture of gpuviz",
                file=path,
            )
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
