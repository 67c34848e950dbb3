"""Pictures of views as PDF files: shapes and texts stay such."""

from __future__ import annotations

from typing import IO

from gpuviz.export.export import Export


def write(export: Export, file: IO[bytes]) -> None:
    """The picture at the view's own moment, as one page."""
    view = export.view
    file.write(export.paints().pdf((export.still,), view.story.title, view.provenance.text()))
