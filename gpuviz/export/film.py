"""Films: pictures one after another into a file, never more than a few of them in memory."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol

import numpy as np
import numpy.typing as npt

from gpuviz.base.errors import Cancelled
from gpuviz.base.waiting import Cancel, Progress, go_on, quiet
from gpuviz.export.export import Export, Write

Rgb = npt.NDArray[np.uint8]  # (H, W, 3)
_SAMPLES = 8  # pictures that a film's palette is made from


@dataclass(frozen=True)
class Kind:
    """What every encoder is told: size in image pixels, pace, the record of where it is from."""

    width: int
    height: int
    fps: int
    loop: bool = True
    comment: str = ""


class Encoder(Protocol):
    """Takes the pictures of a film in order."""

    def add(self, picture: Rgb) -> None:
        """The next picture."""

    def close(self) -> None:
        """No more pictures follow: finish the file."""


class EncoderFactory(Protocol):
    """Begins a film in an empty file; `samples` are some of the pictures that will follow."""

    def __call__(self, file: IO[bytes], kind: Kind, samples: Iterable[Rgb]) -> Encoder:
        """The encoder, ready for the first picture."""


def moments(start: float, end: float, fps: int) -> tuple[float, ...]:
    """The times to draw: `fps` a second from `start` until before `end`, at least one."""
    count = max(math.ceil((end - start) * fps - 1e-6), 1)
    return tuple(start + number / fps for number in range(count))


def writer(begin: EncoderFactory) -> Write:
    """Writes the stretch of time of a view as a film, every picture painted."""

    def write(export: Export, file: IO[bytes]) -> None:
        view, options, paint = export.view, export.options, export.paints().pixels
        made, pixels = view.provenance, options.pixels
        size = round(made.width * pixels), round(made.height * pixels)
        encode(
            file,
            begin,
            Kind(*size, options.fps, options.loop, made.text()),
            moments(made.time, made.end, options.fps),
            lambda t: np.ascontiguousarray(paint(view.frame(t), pixels)[..., :3]),
            export.progress,
            export.cancel,
        )

    return write


def encode(
    file: IO[bytes],
    begin: EncoderFactory,
    kind: Kind,
    times: Sequence[float],
    picture: Callable[[float], Rgb],
    progress: Progress = quiet,
    cancel: Cancel = go_on,
) -> None:
    """Draw a film picture by picture; Cancelled when `cancel` says so."""
    chosen = times[:: max(len(times) // _SAMPLES, 1)][:_SAMPLES]
    encoder = begin(file, kind, (picture(t) for t in chosen))
    for number, t in enumerate(times):
        if cancel():
            raise Cancelled("stopped; the film was not written")
        encoder.add(picture(t))
        progress((number + 1) / len(times))
    encoder.close()


Picture = npt.NDArray[np.uint8]  # (H, W) or (H, W, channels)


@dataclass(frozen=True)
class Patch:
    """A rectangle of pixels from (left, top)."""

    left: int
    top: int
    width: int
    height: int

    def of(self, picture: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """That part of a picture."""
        return picture[self.top : self.top + self.height, self.left : self.left + self.width]


def changed(before: Picture | None, after: Picture) -> Patch | None:
    """The smallest rectangle that holds every changed pixel; None when nothing changed."""
    height, width = after.shape[:2]
    if before is None:
        return Patch(0, 0, width, height)
    differs = before != after
    if differs.ndim == 3:
        differs = differs.any(axis=2)
    rows = np.flatnonzero(differs.any(axis=1))
    if not len(rows):
        return None
    columns = np.flatnonzero(differs[rows[0] : rows[-1] + 1].any(axis=0))
    left, top = int(columns[0]), int(rows[0])
    return Patch(left, top, int(columns[-1]) + 1 - left, int(rows[-1]) + 1 - top)
