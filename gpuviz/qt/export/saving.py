"""A view into a file, the format by its suffix; a picture for the clipboard.

Needs a QGuiApplication and the fonts (the window has them; see `headless.session`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData
from PySide6.QtGui import QImage, QImageWriter, QPainter

from gpuviz import trace_file
from gpuviz.draw.marks import Frame
from gpuviz.errors import InputError
from gpuviz.export import counts, page, png, svg
from gpuviz.export.film import whole
from gpuviz.export.provenance import KEYWORD, file_name
from gpuviz.export.view import Cancel, Options, Progress, View, go_on, quiet
from gpuviz.qt.export import film, pdf
from gpuviz.qt.painting.painter import paint

MOST_PIXELS = 1 << 28


def save(view: View, path: Path, options: Options | None = None, progress: Progress = quiet,
         cancel: Cancel = go_on) -> None:
    """Write a view; the file appears whole or not at all, its folder is made.

    Raises
    ------
    InputError : an unknown suffix, a size or pace the format does not take, no place to write
    UnavailableError : the format needs a library that is not installed
    Cancelled : `cancel` said so
    """
    suffix = check_suffix(path)
    logging.getLogger("gpuviz").info("export of %s to %s", view.provenance.lesson, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    if suffix in film.FORMATS:
        film.save(view, path, options or Options(), progress, cancel)
        return
    content = _CONTENT[suffix](view, options or Options())
    with whole(path) as file:
        file.write(content)
    progress(1.0)


def check_suffix(path: Path) -> str:
    """The suffix of a file to write; InputError when there is no such format."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        said = f"the format {suffix} cannot be written" if suffix else "which format?"
        raise InputError(f"{path}: {said}; name it OUT.png (PNG), or one of: {' '.join(FORMATS)}")
    return suffix


def name_for(view: View, suffix: str = ".png") -> str:
    """A file name that says what the view is."""
    return file_name(view.provenance, suffix)


def png_file(view: View, options: Options) -> bytes:
    """The picture as a PNG file."""
    size = view.provenance.width * view.provenance.height * options.pixels**2
    if not 0.1 <= options.pixels <= 8 or size > MOST_PIXELS:
        raise InputError(f"{options.pixels:g} pixels for each of "
                         f"{view.provenance.width}x{view.provenance.height}: that is too large or "
                         "too small; from 0.1 to 8, and at most 16384x16384 in all")
    image = image_of(view.frame(view.provenance.time, options.transparent), options.pixels)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(b"png"))
    if not writer.write(image):
        raise InputError(f"the picture cannot be written as PNG: {writer.errorString()}")
    return png.with_text(bytes(buffer.data().data()), KEYWORD, view.provenance.text())


def image_of(frame: Frame, pixels: float = 1.0) -> QImage:
    """The picture with `pixels` image pixels to a logical pixel, clear where it has no ground."""
    size = round(frame.width * pixels), round(frame.height * pixels)
    image = QImage(*size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    try:  # a painter left open would bring the process down with its image
        painter.scale(pixels, pixels)
        paint(painter, frame)
    finally:
        painter.end()
    return image


def for_clipboard(view: View, options: Options | None = None) -> QMimeData:
    """The picture as other programs take it from the clipboard: image, PNG file and SVG."""
    file = png_file(view, options or Options())
    data = QMimeData()
    data.setImageData(QImage.fromData(QByteArray(file)))
    data.setData("image/png", QByteArray(file))
    drawing = svg.document(view.still, view.provenance, view.story.title)
    data.setData("image/svg+xml", QByteArray(drawing.encode()))
    return data


def save_traces(view: View, path: Path) -> tuple[Path, ...]:
    """Write the trace of each run, named after its role where there are several."""
    paths = []
    for role, run in view.runs.items():
        name = f"{path.stem}-{role.replace(' ', '-')}{path.suffix}"
        paths.append(path if len(view.runs) == 1 else path.with_name(name))
        trace_file.save(run.trace, paths[-1])
    return tuple(paths)


def _svg(view: View, options: Options) -> bytes:
    frame = view.frame(view.provenance.time, options.transparent)
    return svg.document(frame, view.provenance, view.story.title).encode()


def _pdf(view: View, options: Options) -> bytes:
    frame = view.frame(view.provenance.time, options.transparent)
    return pdf.page(frame, view.provenance, view.story.title)


_CONTENT: Mapping[str, Callable[[View, Options], bytes]] = {
    ".png": png_file,
    ".svg": _svg,
    ".pdf": _pdf,
    ".html": lambda view, options: page.document(view, options).encode(),
    ".csv": lambda view, options: counts.table(view.runs).csv().encode(),
    ".json": lambda view, options: counts.as_json(view.runs, view.provenance).encode(),
    ".md": lambda view, options: page.totals(view.runs).markdown().encode(),
}
STRETCHES = (*film.FORMATS, ".html")  # of these a stretch of time is told, not a moment
FORMATS = (*_CONTENT, *film.FORMATS)
