"""One palette of 255 colours for a whole film, and its pictures in these colours."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gpuviz.export.film import Rgb

MOST = 255  # colours; number 255 is left to say "as before"
_EXACT = 160  # colours kept as they are, the most frequent: grounds and fills
_AT_ONCE = 4096
Packed = npt.NDArray[np.uint32]


def packed(pixels: Rgb) -> Packed:
    """(...,) numbers from (..., 3) colours."""
    wide = pixels.astype(np.uint32)
    return np.asarray(wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2])


def unpacked(codes: Packed) -> Rgb:
    """(..., 3) colours from (...,) numbers."""
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1).astype(np.uint8)


def film_palette(samples: Iterable[Rgb]) -> Rgb:
    """(at most 255, 3): the most frequent colours themselves, and means of the others."""
    colors, counts = _counted(samples)
    order = np.argsort(counts, kind="stable")[::-1]
    if len(order) <= MOST:
        return unpacked(colors[order])
    from PIL import Image  # a window starts without it

    rest = unpacked(np.sort(colors[order[_EXACT:]]))
    means = Image.fromarray(rest[None]).quantize(MOST - _EXACT, Image.Quantize.MEDIANCUT)
    table = np.array(means.getpalette(), np.uint8).reshape(-1, 3)[: MOST - _EXACT]
    return np.concatenate([unpacked(colors[order[:_EXACT]]), table])


def _counted(samples: Iterable[Rgb]) -> tuple[Packed, npt.NDArray[np.int64]]:
    """All colours of some pictures, and of how many pixels each is."""
    found = [np.unique(packed(picture), return_counts=True) for picture in samples]
    colors, where = np.unique(np.concatenate([f[0] for f in found]), return_inverse=True)
    counts = np.bincount(where, weights=np.concatenate([f[1] for f in found]))
    return colors, counts.astype(np.int64)


class Indexer:
    """Pictures in the colours of a palette, each pixel in the nearest; every colour asked once."""

    def __init__(self, palette: Rgb) -> None:
        self._palette = palette.astype(np.int32)
        self._known = np.full(1 << 24, -1, np.int16)

    def __call__(self, picture: Rgb) -> npt.NDArray[np.uint8]:
        """(H, W) numbers of colours."""
        codes = packed(picture)
        found = self._known[codes]
        if (found < 0).any():
            unknown = np.unique(codes[found < 0])
            for start in range(0, len(unknown), _AT_ONCE):
                part = unknown[start : start + _AT_ONCE]
                self._known[part] = self._nearest(unpacked(part))
            found = self._known[codes]
        return found.astype(np.uint8)

    def _nearest(self, colors: Rgb) -> npt.NDArray[np.intp]:
        away = colors[:, None].astype(np.int32) - self._palette[None]
        return np.asarray((away * away).sum(axis=2).argmin(axis=1))
