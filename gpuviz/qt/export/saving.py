"""A view into a file, the format by its suffix; a picture for the clipboard.

Needs a QGuiApplication and the fonts (the window has them; see `headless.session`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QByteArray, QMimeData
from PySide6.QtGui import QImage

from gpuviz import files, trace_file
from gpuviz.errors import Cancelled, InputError
from gpuviz.export import page, svg
from gpuviz.qt.export import film, pdf
from gpuviz.qt.export.picture_file import png_of
from gpuviz.qt.painting.raster import to_image
from gpuviz.results import count_tables as counts
from gpuviz.views.lesson_view import Cancel, Options, Progress, View, go_on, quiet
from gpuviz.views.provenance import file_name

MOST_PIXELS = 1 << 28


def save(
    view: View,
    path: Path,
    options: Options | None = None,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
) -> None:
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
        made, pixels = view.provenance, (options or Options()).pixels
        check_pixels(made.width, made.height, pixels)
        film.save(view, path, options or Options(), progress, cancel)
        return
    content = _CONTENT[suffix](view, options or Options(), progress, cancel)
    if cancel():
        raise Cancelled(f"stopped; {path} was not written")
    files.write(path, content)
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
    check_pixels(view.provenance.width, view.provenance.height, options.pixels)
    image = to_image(view.frame(view.provenance.time, options.transparent), options.pixels)
    return png_of(image, view.provenance)


def check_pixels(width: int, height: int, pixels: float) -> None:
    """InputError when a picture of this size would have too many pixels, or too few."""
    if not 0.1 <= pixels <= 8 or width * height * pixels**2 > MOST_PIXELS:
        raise InputError(
            f"{pixels:g} pixels for each of {width}x{height}: that is too large or "
            "too small; from 0.1 to 8, and at most 16384x16384 in all"
        )


@dataclass(frozen=True, eq=False)
class Clip:
    """A picture as other programs take it from the clipboard: image, PNG file and SVG."""

    image: QImage
    png: bytes
    svg: bytes

    def mime(self) -> QMimeData:
        """For the clipboard, which wants it made in the GUI's thread."""
        data = QMimeData()
        data.setImageData(self.image)
        data.setData("image/png", QByteArray(self.png))
        data.setData("image/svg+xml", QByteArray(self.svg))
        return data

    def is_in(self, data: QMimeData) -> bool:
        """Whether this is what is on the clipboard."""
        return bytes(data.data("image/png").data()) == self.png


def clip(view: View, options: Options | None = None) -> Clip:
    """The picture in every form, in any thread."""
    file = png_file(view, options or Options())
    drawing = svg.document(view.still, view.provenance, view.story.title)
    return Clip(QImage.fromData(QByteArray(file)), file, drawing.encode())


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


def _svg(view: View, options: Options) -> bytes:
    frame = view.frame(view.provenance.time, options.transparent)
    return svg.document(frame, view.provenance, view.story.title).encode()


def _pdf(view: View, options: Options) -> bytes:
    frame = view.frame(view.provenance.time, options.transparent)
    return pdf.page(frame, view.provenance, view.story.title)


Content = Callable[[View, Options, Progress, Cancel], bytes]


def _at_once(made: Callable[[View, Options], bytes | str]) -> Content:
    """Content that takes no time worth telling of."""

    def content(view: View, options: Options, progress: Progress, cancel: Cancel) -> bytes:
        found = made(view, options)
        return found.encode() if isinstance(found, str) else found

    return content


_CONTENT: Mapping[str, Content] = {
    ".png": _at_once(png_file),
    ".svg": _at_once(_svg),
    ".pdf": _at_once(_pdf),
    ".html": lambda *all: page.document(*all).encode(),
    ".csv": _at_once(lambda view, options: counts.table(view.runs).csv()),
    ".json": _at_once(lambda view, options: counts.as_json(view.runs, view.provenance)),
    ".md": _at_once(lambda view, options: counts.summary(view.runs).markdown()),
}
STRETCHES = (*film.FORMATS, ".html")  # of these a stretch of time is told, not a moment
FORMATS = (*_CONTENT, *film.FORMATS)
