"""Pictures of a lecture as pixels: files in its own folder or bundle, read with bounds."""

import io
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from PIL import Image, ImageOps

from gpuviz.base.arrays import Rgba
from gpuviz.base.errors import Error, InputError
from gpuviz.files import bounded
from gpuviz.lectures.markdown.files import LARGEST
from gpuviz.words.language import tr

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
_MOST = 16_000_000  # pixels of it
_SIDE = 2048  # pixels of a side that are kept
_KEPT = 24  # pictures
Found = Mapping[str, Path]
NONE: Found = MappingProxyType({})


def pixels(file: Path) -> Rgba:
    """(H, W, 4) pixels of a picture, as large as a wall needs them; InputError when there are none.

    A file is read once, until it changes.
    """
    try:
        stamp = file.stat()
        return _read(file, stamp.st_mtime_ns, stamp.st_size)
    except OSError as error:
        raise InputError(f"cannot read {file.name}: {error.strerror or error}") from None


@lru_cache(maxsize=_KEPT)
def _read(file: Path, changed: int, size: int) -> Rgba:
    content = bounded.read(file, LARGEST)
    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            if image.width * image.height > _MOST:
                raise InputError(
                    tr(
                        "{name} has {width} × {height} pixels: at most {most} million are shown",
                        name=file.name,
                        width=image.width,
                        height=image.height,
                        most=_MOST // 1_000_000,
                    )
                )
            image.draft("RGB", (_SIDE, _SIDE))
            shown = ImageOps.exif_transpose(image).convert("RGBA")
            shown.thumbnail((_SIDE, _SIDE))
            made = np.array(shown, np.uint8)
    except Error:
        raise
    except Exception as error:  # a damaged file is told of in many ways
        raise InputError(tr("{name} cannot be read as a picture", name=file.name)) from error
    made.setflags(write=False)
    return made
