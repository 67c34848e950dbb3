"""What is exported: a story at a moment or over a stretch of time, on its stage, with its runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Story
from gpuviz.views.provenance import Provenance


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
