"""Pictures of runs and lessons, as notebooks show them and as files."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpuviz.base.errors import InputError
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import badges, timed
from gpuviz.views.provenance import Provenance, Values

if TYPE_CHECKING:
    from gpuviz.export.page import Contents
    from gpuviz.run.run import Run

# The picture of a run that a panel is, and of which memory; of any where none is named.
PANELS = {
    "": ("request", ""),
    "coalescing": ("request", "global"),
    "banks": ("request", "shared"),
    "lanes": ("lanes", ""),
    "phases": ("phases", ""),
    "buffer": ("buffer", "global"),
}
_STEPS = 24  # of a run that a page in a notebook shows
_PAGE = (1120, 630)
_PACE = 5  # pictures a second of a page in a notebook: enough to follow, and small


class Picture:
    """A moment of a story: SVG in a notebook, and any format as a file."""

    def __init__(self, view: View) -> None:
        """The view at its own moment."""
        self._view = view

    @property
    def title(self) -> str:
        """What is seen: the story, and what happens in it at this moment."""
        story = self._view.story
        step = story.steps[story.step_at(self.time)] if story.steps else None
        return f"{story.title}: {step.detail or step.label}" if step else story.title

    @property
    def time(self) -> float:
        """Seconds into the story."""
        return self._view.provenance.time

    @property
    def duration(self) -> float:
        """Seconds that the story takes."""
        return self._view.story.duration

    def at(self, time: float) -> Picture:
        """The same story at another moment, in seconds."""
        return Picture(timed(self._view, time))

    def svg(self) -> str:
        """The picture as an SVG document."""
        from gpuviz.export import svg

        return svg.document(self._view.still, self._view.provenance, self.title)

    def html(self) -> str:
        """The story to play, as an element of a page: nothing is loaded from anywhere."""
        from gpuviz.export import page
        from gpuviz.export.export import Options

        text = page.document(_whole(self._view), Options(fps=_PACE))
        return (
            f'<iframe srcdoc="{escape(text)}" sandbox="allow-scripts" title="{escape(self.title)}"'
            ' style="width:100%;height:760px;border:0"></iframe>'
        )

    def save(self, path: str | Path, *, scale: float = 1.0) -> Path:
        """Write it in the format of the suffix (.svg, .png, .pdf, .html, .mp4, ...); the path.

        A page or a film is of the whole story. `scale` is pixels of the file to one of the picture.

        Raises
        ------
        InputError, UnavailableError : there is no such format, or it lacks something here
        """
        from gpuviz.cli.painter import painter_for
        from gpuviz.export.export import Options
        from gpuviz.export.formats import format_of
        from gpuviz.export.save import save

        file = Path(path)
        form = format_of(file)
        view = timed(self._view, 0.0, self.duration) if form.stretch else self._view
        with painter_for(form) as painter:
            save(view, file, Options(pixels=scale), painter)
        return file

    def __repr__(self) -> str:
        return f"<Picture {self.title!r} at {self.time:.1f} of {self.duration:.1f} s>"

    def _repr_svg_(self) -> str:
        return self.svg()


def page_of(view: View) -> Contents:
    """What a page of a story shows, for another element."""
    from gpuviz.export import page
    from gpuviz.export.export import Options

    return page.contents(_whole(view), Options(fps=_PACE))


def _whole(view: View) -> View:
    """The stretch that a view is of; the story where it is of a moment."""
    made = view.provenance
    stretch = (made.time, made.end) if made.end > made.time else (0.0, view.story.duration)
    return timed(view, *stretch)


def of_run(run: Run, theme: str = "light") -> Picture:
    """The story of the first warp's requests, of the first block that was recorded."""
    if not run.trace.recorded:
        raise InputError("no block of this run was recorded: trace it with record=(0,)")
    told = _pictured(run, run.trace.recorded[0], 0, "request", theme, _PAGE)
    steps = told._view.story.steps
    return Picture(timed(told._view, 0.0, steps[min(len(steps), _STEPS) - 1].end))


def of_request(
    run: Run,
    panel: str,
    line: int,
    block: int,
    warp: int,
    turn: int,
    theme: str,
    size: tuple[int, int],
) -> Picture:
    """The moment at which a request has been served; see `Run.picture`."""
    if panel not in PANELS:
        there = ", ".join((*filter(None, PANELS), "timeline", "limits"))
        raise InputError(f"there is no panel {panel!r}; there are: {there}")
    from gpuviz.arch import architecture
    from gpuviz.story.own_kernel.events import events_of
    from gpuviz.story.own_kernel.moment import steps_of

    events = events_of(run.trace, architecture(run.arch), block, warp)
    picture, space = PANELS[panel]
    number = events.request_on(line, space, turn)
    if number is None:
        lines = np.unique(events.lines[events.lines > 0]).tolist()
        at = f" at line {line}" if line else ""
        raise InputError(
            f"warp {warp} of block {block} makes no {panel or 'memory'} request{at}; it makes "
            f"requests at lines {', '.join(map(str, lines)) or '(none)'}"
        )
    told = _pictured(run, block, warp, picture, theme, size)
    return told.at(float(steps_of(events, "").stops[number]))


def _pictured(
    run: Run, block: int, warp: int, picture: str, theme: str, size: tuple[int, int]
) -> Picture:
    from gpuviz.story.own_kernel import story as kernel

    values: Values = {"block": block, "warp": warp, "picture": picture}
    runs = {kernel.ROLE: run}
    made = Provenance(
        run.trace.launch.kernel,
        values,
        run.arch,
        run.level,
        theme=theme,
        width=size[0],
        height=size[1],
        badges=badges(runs),
    )
    return Picture(View(kernel.narrate(values, runs), runs, made))
