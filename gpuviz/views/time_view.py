"""Where the time of a launch goes, as a view: the timeline fills up, then what limits."""

from dataclasses import replace
from typing import Literal

from gpuviz.panels.limit_bars import limits_picture, timeline_picture
from gpuviz.panels.picture import Picture
from gpuviz.panels.warp_timeline import WarpTimeline
from gpuviz.story.lesson import Story
from gpuviz.story.script import Script
from gpuviz.views.lesson_view import Subject, View
from gpuviz.views.provenance import Provenance
from gpuviz.words import language
from gpuviz.words.language import tr

Shown = Literal["timeline", "limits"]
_FILLS, _STAYS = 8.0, 3.0  # seconds


def time_story(subject: Subject, begin: float = 0.0, end: float = 0.0) -> Story:
    """The timeline from a cycle to another (0: to the end) as it fills up; then what limits."""
    e, source = subject.explained, subject.source.splitlines()
    script = Script()
    fills = script.act(_FILLS, "compute", tr("timeline"), line=e.line)
    stays = script.act(_STAYS, "result", tr("what limits"), line=e.line)
    whole, limits = timeline_picture(e, source, begin, end), limits_picture(e, source)
    shown = whole.body
    assert isinstance(shown, WarpTimeline)

    def at(t: float) -> Picture:
        if t > stays.start:
            return limits
        now = shown.begin + fills.share(t) * (shown.end - shown.begin)
        return replace(whole, body=replace(shown, now=now if now < shown.end else None))

    return Story.of(script, at)


def time_view(
    subject: Subject,
    shown: Shown = "timeline",
    theme: str = "light",
    size: tuple[int, int] = (1280, 720),
    cycles: tuple[float, float] = (0.0, 0.0),
) -> View:
    """The view at the moment at which all of one is shown; `cycles` from which to which."""
    made = Provenance(
        subject.kernel,
        {},
        subject.arch,
        time=_FILLS if shown == "timeline" else _FILLS + _STAYS,
        theme=theme,
        width=size[0],
        height=size[1],
        badges={"times": "modelled"},
        language=language.chosen(),
    )
    return View(time_story(subject, *cycles), {}, made, lambda role, progress, cancel: subject)
