"""Films of a view: every picture painted as the window paints it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage

from gpuviz.draw.marks import Frame
from gpuviz.errors import InputError
from gpuviz.export import film
from gpuviz.export.apng import Apng
from gpuviz.export.film import Kind, Open, Rgb
from gpuviz.export.gif import FASTEST, Gif
from gpuviz.export.video import MP4, WEBM
from gpuviz.qt.painting.raster import to_image
from gpuviz.views.lesson_view import Cancel, Options, Progress, View, go_on, quiet

_WIDEST = 65535  # pixels of a GIF
FORMATS: Mapping[str, Open] = {".gif": Gif, ".apng": Apng, ".mp4": MP4, ".webm": WEBM}


def save(
    view: View, path: Path, options: Options, progress: Progress = quiet, cancel: Cancel = go_on
) -> None:
    """Write the stretch of time of a view as a film, in the format that the suffix names.

    Raises
    ------
    UnavailableError : the format needs a library that is not installed
    InputError : a pace or size the format does not take; the file cannot be written
    Cancelled : `cancel` said so
    """
    made, suffix = view.provenance, path.suffix.lower()
    if not 1 <= options.fps <= (FASTEST if suffix == ".gif" else 120):
        raise InputError(
            f"{options.fps} pictures a second: a {suffix} film takes 1 to "
            f"{FASTEST if suffix == '.gif' else 120}"
        )
    size = (round(made.width * options.pixels), round(made.height * options.pixels))
    if suffix == ".gif" and max(size) > _WIDEST:
        raise InputError(f"a GIF of {size[0]}x{size[1]} pixels: at most {_WIDEST} along each side")
    kind = Kind(*size, options.fps, options.loop, made.text())
    times = film.moments(made.time, made.end, options.fps)
    film.write(
        path,
        FORMATS[suffix],
        kind,
        times,
        lambda t: picture(view.frame(t), options.pixels),
        progress,
        cancel,
    )


def picture(frame: Frame, pixels: float = 1.0) -> Rgb:
    """(H, W, 3) pixels of a painted frame."""
    image = to_image(frame, pixels).convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()
