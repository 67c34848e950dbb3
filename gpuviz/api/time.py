"""Where the time of a run goes: `Run.timeline` and `Run.limits`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gpuviz.panels.limit_bars import bars_of
from gpuviz.panels.limit_words import limit_sentence, model_note, what_if_words
from gpuviz.panels.state_inks import NAMES
from gpuviz.results.table import Table
from gpuviz.words.language import english

if TYPE_CHECKING:
    from gpuviz.api.picture import Picture
    from gpuviz.timing.timeline import Timeline as Record
    from gpuviz.views.lesson_view import Subject
    from gpuviz.views.time_view import Shown


class Limits(Table):
    """The cycles that each resource works, the largest first; `kind` "waits" is what a warp waits
    on average. All is modelled: `caption` says for which device, and how well; `interval` between
    which microseconds eight of ten launches of its class lie.
    """

    def __init__(self, subject: Subject) -> None:
        """Of a launch that was explained."""
        e = subject.explained
        self._subject, made = subject, e.prediction
        self.limiter, self.line = e.limits.limiter, e.line
        self.cycles, self.microseconds, self.interval = made.cycles, made.microseconds, e.interval
        rows = [
            (
                bar.resource,
                round(bar.cycles),
                round(bar.cycles / made.cycles, 4),
                bar.line or None,
                "waits" if bar.waits else "works",
            )
            for bar in bars_of(e)
        ]
        super().__init__(
            ("resource", "cycles", "share", "line", "kind"), rows, model_note(made.device)
        )

    @property
    def sentence(self) -> str:
        """What limits, and its cause on a line of the source."""
        return limit_sentence(self._subject.explained, self._subject.source.splitlines())

    @property
    def what_ifs(self) -> Table:
        """What the launch would take without each of its larger costs: simulated, not guessed."""
        e = self._subject.explained
        rows = [
            (
                one.resource,
                round(one.cycles),
                round(one.microseconds, 2),
                one.limiter,
                what_if_words(e, one),
            )
            for one in e.what_ifs
        ]
        return Table(("without", "cycles", "us", "then limited by", "told"), rows)

    @property
    def waits(self) -> Table:
        """The part of its time that a resident warp spends issuing, or waiting for what."""
        shares = self._subject.explained.waits.items()
        rows = [(NAMES[state], round(share, 4)) for state, share in shares]
        return Table(("state", "share"), rows)


class Timeline:
    """One multiprocessor cycle by cycle, as modelled; a picture in a notebook."""

    def __init__(self, subject: Subject) -> None:
        """Of a launch that was explained."""
        self._subject = subject

    @property
    def record(self) -> Record:
        """All of it, as arrays."""
        return self._subject.explained.timeline

    def picture(
        self,
        begin: float = 0.0,
        end: float = 0.0,
        *,
        theme: str = "light",
        size: tuple[int, int] = (1280, 720),
    ) -> Picture:
        """The cycles from one to another (0: to the end)."""
        return pictured(self._subject, "timeline", theme, size, (begin, end))

    def save(self, path: str | Path) -> Path:
        """Write `.trace.json`, which ui.perfetto.dev and chrome://tracing open, or a picture in the
        format of the suffix; the path.
        """
        return self.picture().save(path)

    def __repr__(self) -> str:
        made = self.record
        blocks = english("{n} block", "{n} blocks", len(made.blocks))
        return (
            f"<Timeline of {blocks} on one multiprocessor of an "
            f"{made.device.name} (modelled): {made.cycles:,.0f} cycles, "
            f"{len(made.events):,} instructions>"
        )

    def _repr_svg_(self) -> str:
        return self.picture().svg()


def pictured(
    subject: Subject,
    shown: Shown,
    theme: str,
    size: tuple[int, int],
    cycles: tuple[float, float] = (0.0, 0.0),
) -> Picture:
    """The picture of a launch that was explained."""
    from gpuviz.api.picture import Picture
    from gpuviz.views.time_view import time_view

    return Picture(time_view(subject, shown, theme, size, cycles))
