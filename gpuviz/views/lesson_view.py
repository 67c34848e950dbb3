"""What is exported: a story at a moment or over a stretch of time, on its stage, with its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gpuviz.base.errors import InputError
from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.run.run import Cancel, Progress, Run
from gpuviz.story.lesson import Story
from gpuviz.views.provenance import Provenance

if TYPE_CHECKING:
    from gpuviz.views.subject import Subject

Explain = Callable[[str, Progress, Cancel], "Subject"]  # the first is the name of a run


@dataclass(frozen=True, eq=False)
class View:
    """A story with all that its pictures need; `provenance` holds moment, theme and size.

    `runs` are those the story tells of, by the roles that its steps name; two variants beside each
    other have "A naive" and "B naive". `explain` finds out where the time of one of them goes, None
    where nothing was launched.
    """

    story: Story
    runs: Mapping[str, Run]
    provenance: Provenance
    explain: Explain | None = None

    @property
    def stage(self) -> Stage:
        """What it is drawn on."""
        made = self.provenance
        return Stage(made.width, made.height, THEMES[made.theme], made.letters)

    def frame(self, t: float, transparent: bool = False) -> Frame:
        """The picture at a time, without its ground if asked."""
        drawn = self.story.frame(t, self.stage)
        return replace(drawn, ground=np.zeros(4, np.uint8)) if transparent else drawn

    def subject(self, progress: Progress, cancel: Cancel) -> Subject:
        """The launch that is shown at the view's own moment, with where its time goes.

        Raises
        ------
        InputError : nothing was launched
        UnavailableError : no time is modelled of it
        Cancelled : `cancel` said so
        """
        if self.explain is None:
            raise InputError("nothing is launched here: there is no timeline to write")
        steps = self.story.steps
        role = steps[self.story.step_at(self.provenance.time)].role if steps else ""
        return self.explain(role or next(iter(self.runs), ""), progress, cancel)

    @property
    def still(self) -> Frame:
        """The picture at the view's own moment."""
        return self.frame(self.provenance.time)
