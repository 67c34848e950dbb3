"""The record of the view that an exported file shows, read back from it."""

from __future__ import annotations

import mmap
from pathlib import Path

from gpuviz.base.errors import FormatError, InputError
from gpuviz.export.formats import FORMATS
from gpuviz.export.record_in_file import Content, FindRecord, in_one_piece
from gpuviz.files import bounded
from gpuviz.views.provenance import MARK, Provenance, parse

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
