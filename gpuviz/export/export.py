"""An export under way: a view, how it is to be written, and who paints it."""

import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Protocol

from gpuviz.base.arrays import Rgba
from gpuviz.base.waiting import Cancel, Progress, go_on, quiet
from gpuviz.draw.marks import Frame
from gpuviz.views.lesson_view import View

Content = mmap.mmap | bytes
# From the content of a file and the place where a record begins: the record and what follows.
FindRecord = Callable[[Content, int], bytes | None]
LONGEST = 1 << 16  # bytes of a record that is believed


class Painter(Protocol):
    """Makes pixels of pictures, and pages. The window's library can; nothing here knows it."""

    def pixels(self, frame: Frame, scale: float = 1.0) -> Rgba:
        """(H, W, 4) image pixels, `scale` of them to a logical pixel."""

    def pdf(self, frames: Sequence[Frame], title: str = "", record: str = "") -> bytes:
        """A PDF file with a page for each picture; all are of the size of the first."""


@dataclass(frozen=True)
class Options:
    """How to write: image pixels to a logical pixel, no ground, pictures a second, endless film."""

    pixels: float = 1.0
    transparent: bool = False
    fps: int = 20
    loop: bool = True


@dataclass(frozen=True, eq=False)
class Export:
    """What a format is told; only formats that are `painted` are given a painter."""

    view: View
    options: Options = Options()
    painter: Painter | None = None
    progress: Progress = quiet
    cancel: Cancel = go_on

    @property
    def still(self) -> Frame:
        """The picture at the view's own moment."""
        return self.view.frame(self.view.provenance.time, self.options.transparent)

    def paints(self) -> Painter:
        """The painter."""
        assert self.painter is not None, "the format is not said to be painted"
        return self.painter


class Write(Protocol):
    """Writes a view into an empty file."""

    def __call__(self, export: Export, file: IO[bytes]) -> None:
        """All of it, or an `errors.Error`."""


def in_one_piece(content: Content, at: int) -> bytes | None:
    """What follows the place."""
    return content[at : at + LONGEST]
