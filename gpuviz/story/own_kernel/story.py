"""The story of any kernel: all that a block did, as the picture chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpuviz.arch import architecture
from gpuviz.draw.follow import following
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.run.run import Run, not_checked
from gpuviz.story.lesson import Story, Values
from gpuviz.story.long_steps import step_at
from gpuviz.story.own_kernel import findings
from gpuviz.story.own_kernel.events import ALL, Events, events_of
from gpuviz.story.own_kernel.moment import Moment, shares, steps_of
from gpuviz.story.own_kernel.pictures import FINDINGS, NAME, picture
from gpuviz.story.own_kernel.search import search
from gpuviz.story.script import Script
from gpuviz.words.language import tr

_END = 1.5  # seconds


@dataclass(frozen=True)
class WarpSelection:
    """What of a launch is shown: one warp of a block (or `ALL`)."""

    block: int = 0
    warp: int = 0


def narrate(role: str, shown: WarpSelection, values: Values, runs: Mapping[str, Run]) -> Story:
    """What the chosen warp, or all warps of the block, did, from the first event to the last."""
    run = runs[role]
    events = events_of(run.trace, architecture(run.arch), shown.block, shown.warp)
    doubt = _doubt(run.unchecked)
    if not len(events):
        return _nothing(role, shown, doubt)
    steps = steps_of(events, role)

    def moment_at(t: float) -> Moment:
        number = step_at(steps, t)
        return Moment(run, events, number, *shares(steps.edges, number, t), values)

    def at(t: float) -> Picture:
        told = picture(moment_at(t))
        return Picture(told.title, told.sentence, rows(told.body, *doubt))

    story = Story.of(steps, at, search=search(events, steps))
    if values.get(NAME) != FINDINGS:
        return story
    frame = story.frame

    def lit(t: float, stage: Stage) -> Frame:
        lane = findings.lane_at(moment_at(t))
        return frame(t, stage) if lane is None else following(frame(t, stage), lane)

    return replace(story, frame=lit)


def _doubt(file: str) -> tuple[Provenance, ...]:
    """Below the picture of a program that a file brought: what it is worth."""
    return (Provenance((not_checked(file),), tr("not checked"), whole=True),) if file else ()


def _nothing(role: str, shown: WarpSelection, doubt: tuple[Provenance, ...]) -> Story:
    """A warp without requests to show is no error: it may be beyond the data."""
    who: dict[str, object] = {"warp": shown.warp, "block": shown.block}
    words = (
        tr("Block {block} asks nothing of memory", **who)
        if shown.warp == ALL
        else tr("Warp {warp} of block {block} asks nothing of memory", **who)
    )
    said = tr("Choose another warp or block; the counts beside are of the whole launch.")
    script = Script(role)
    script.act(_END, "result", tr("nothing"))
    return Story.of(script, lambda t: Picture(words, said, rows(*doubt)))


__all__ = ["Events", "WarpSelection", "narrate"]
