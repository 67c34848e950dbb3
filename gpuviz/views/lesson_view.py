"""What is exported: a story at a moment or over a stretch of time, on its stage, with its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Story
from gpuviz.views.provenance import Provenance

Progress = Callable[[float], None]  # called with the share done, 0 to 1
Cancel = Callable[[], bool]  # asked now and then; True stops with errors.Cancelled


@dataclass(frozen=True, eq=False)
class View:
    """A story with all that its pictures need; `provenance` holds moment, theme and size.

    `runs` are those the story tells of, by the roles that its steps name; two variants beside each
    other have "A naive" and "B naive".
    """

    story: Story
    runs: Mapping[str, Run]
    provenance: Provenance

    @property
    def stage(self) -> Stage:
        """What it is drawn on."""
        made = self.provenance
        return Stage(made.width, made.height, THEMES[made.theme], made.letters)

    def frame(self, t: float, transparent: bool = False) -> Frame:
        """The picture at a time, without its ground if asked."""
        drawn = self.story.frame(t, self.stage)
        return replace(drawn, ground=np.zeros(4, np.uint8)) if transparent else drawn

    @property
    def still(self) -> Frame:
        """The picture at the view's own moment."""
        return self.frame(self.provenance.time)


@dataclass(frozen=True)
class Options:
    """How to write: image pixels to a logical pixel, no ground, pictures a second, endless film."""

    pixels: float = 1.0
    transparent: bool = False
    fps: int = 20
    loop: bool = True


def go_on() -> bool:
    """A `Cancel` that never cancels."""
    return False


def quiet(share: float) -> None:
    """A `Progress` that tells nobody."""
