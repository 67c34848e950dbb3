"""The end of a lesson: launches as bars on one axis of time, each with its name and its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from gpuviz.base.arrays import Rgba
from gpuviz.draw.axis import Axis, Scales, linear, logarithmic
from gpuviz.draw.heading import badge, ink_of, label, pill_width
from gpuviz.draw.layout import Rect, elide, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, Values
from gpuviz.words.language import duration, time_unit, tr

_LOW, _TALL = 1.25, 14.0  # letters of the lowest and of the highest row
_SIDE, _SPARE = 0.36, 0.04  # of the width: names at most; what is free behind the longest time
_HEAD, _FOOT, _TICKS = 1.9, 1.5, 6


@dataclass(frozen=True)
class TimeBar:
    """A launch: wordings of its name, longest first, its time in microseconds (None: not known),
    and the `badge` of that.

    `note` says in wordings what differs from the other launches; a time that is not that of the
    work is `quiet`, and `where` says why; `ink` is for what launches are held to, in place of the
    colour of the badge.
    """

    names: tuple[str, ...]
    us: float | None
    badge: str = ""
    note: tuple[str, ...] = ()
    quiet: bool = False
    ink: Ink | None = None

    @property
    def modelled(self) -> bool:
        """Whether nobody has measured it: its bar is hollow."""
        return ink_of(self.badge) == "accent"


class _Laid(NamedTuple):
    """The launches that are `shown`, `pitch` from row to row; names in `letters` are left of
    `side`, with what differs `below` them where there is room.
    """

    shown: range
    top: float
    pitch: float
    letters: float
    side: float
    below: bool


@dataclass(frozen=True, eq=False)
class TimeBars(Panel):
    """The launches below each other, `now` the one that the story is of; `where` are wordings of
    the device and the day, longest first.

    All begin at 0 and run at one pace: `over` (0 to 1) of the longest time has passed. A `log`
    axis is for launches of which one takes a thousand times as long as another. Where there is no
    room for all, those around the one that the story is of are shown. A click on a launch sets its
    `picks`, where there are any.
    """

    share: ClassVar[float] = 1.0
    answers: ClassVar[bool] = True
    bars: tuple[TimeBar, ...]
    where: tuple[str, ...]
    now: int | None = None
    over: float = 1.0
    log: bool = False
    picks: tuple[Values, ...] = ()

    def need(self, stage: Stage, width: float) -> Need:
        """Rows two letters high, and the axis; a few rows at least."""
        size, rows = stage.text(14), len(self.bars)
        rest = size * (_HEAD + _FOOT)
        return Need(rest + 2 * size * rows, rest + _LOW * size * min(rows, 6), 24 * size)

    def scales(self) -> Scales:
        """How long the longest launch takes."""
        return {"time of a launch": self._most} if self._times else {}

    @property
    def _times(self) -> list[float]:
        return [one.us for one in self.bars if one.us is not None]

    @property
    def _most(self) -> float:
        return max(self._times)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Where the times are from, the axis, the bars with their words."""
        yield from self._source(stage, area)
        laid, axis = self._laid(stage, area), self._axis(stage)
        most = max(text_width(_said(one), laid.letters, True) for one in self.bars)
        left = area.x + laid.side
        width = area.width * (1 - _SPARE) - laid.side - most - laid.letters
        yield from _grid(stage, Rect(left, laid.top, width, laid.pitch * len(laid.shown)), axis)
        for place, number in enumerate(laid.shown):
            row = Rect(area.x, laid.top + laid.pitch * place, area.width, laid.pitch)
            reached = self._reached(axis, self.bars[number])
            wide, over = float(axis.share(reached)) * width, reached == self.bars[number].us
            yield from self._launch(stage, laid, row, number, wide, over)

    def _laid(self, stage: Stage, area: Rect) -> _Laid:
        """Which launches there is room for, and how they lie."""
        size, count = stage.text(14), len(self.bars)
        high = area.height - size * (_HEAD + _FOOT)
        room = min(max(int(high / (size * _LOW)), 1), count)
        first = min(max((self.now or 0) - room // 2, 0), count - room)
        pitch = min(high / room, size * _TALL)
        letters = min(max(pitch * 0.4, size), stage.text(18))
        side = max(text_width(_name(one, area.width, letters), letters, True) for one in self.bars)
        below = pitch > letters + 1.6 * size and any(any(one.note) for one in self.bars)
        if below:
            notes = (text_width(_note(one, area.width, size), size) for one in self.bars)
            side = max(side, *notes)
        shown = range(first, first + room)
        return _Laid(shown, area.y + size * _HEAD, pitch, letters, side + size, below)

    def _source(self, stage: Stage, head: Rect) -> Iterator[Mark]:
        """The badges, and the device and the day."""
        size, x = stage.text(14), head.x
        for word in dict.fromkeys(one.badge for one in self.bars if one.badge and not one.ink):
            yield from badge(stage, x, head.y + size * 0.8, word)
            x += pill_width(stage, word)
        said = first_fitting(self.where, head.right - x, size)
        said = said or elide(self.where[-1], head.right - x, size)
        yield label(x, head.y + size * 0.8, said, stage.palette.muted, size)

    def _axis(self, stage: Stage) -> Axis:
        """From 0, or from the power of ten below the shortest time."""
        if not self._times:
            return Axis((), 0.0, 1.0, (), ())
        most = stage.most("time of a launch", self._most)
        if self.log:
            low = 10.0 ** np.floor(np.log10(min(self._times)) - 0.3)
            made = logarithmic((), float(low), most)
        else:
            step = next(s for s in _steps(most) if most / s <= _TICKS)
            made = linear((), 0.0, most, step)
        return made

    def _reached(self, axis: Axis, one: TimeBar) -> float:
        """The time up to which a launch has come."""
        if one.us is None:
            return axis.low
        reach = axis.high**self.over * axis.low ** (1 - self.over) if self.log else axis.high
        return min(one.us, reach if self.log else axis.high * self.over)

    def _launch(
        self, stage: Stage, laid: _Laid, row: Rect, number: int, wide: float, over: bool
    ) -> Iterator[Mark]:
        """A name, what differs below it, a bar, and behind it the time, once it is over."""
        one, now, size, palette = (
            self.bars[number],
            number == self.now,
            stage.text(14),
            stage.palette,
        )
        y, letters, note = row.center[1], laid.letters, _note(one, row.width, size)
        apart = (letters + size) * 0.35 if laid.below and note else 0.0
        yield label(row.x, y - apart, _name(one, row.width, letters), palette.ink, letters, now)
        if apart:
            yield label(row.x, y + apart, note, palette.muted, size)
        ink: Rgba = getattr(palette, "muted" if one.quiet else one.ink or ink_of(one.badge))
        bar = Rect(row.x + laid.side, row.y + row.height * 0.16, max(wide, 2.0), row.height * 0.68)
        if one.modelled:
            yield Boxes(bar.array(), palette.soft(ink, 0.85), ink, 2.0, 2)
        elif one.us is not None:
            yield Boxes(bar.array(), ink if now or one.ink else palette.soft(ink, 0.4), radius=2)
        if one.us is None or over:
            said, faint = _said(one), one.quiet or one.us is None
            ink = palette.muted if faint else palette.ink
            yield label(bar.right + size * 0.5, y, said, ink, letters, True)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The launch of the row."""
        laid = self._laid(stage, area)
        row = int((y - laid.top) // laid.pitch)
        return self.picks[laid.shown[row]] if self.picks and 0 <= row < len(laid.shown) else None


def _name(one: TimeBar, width: float, size: float) -> str:
    """The longest wording of a name that leaves room for its bar."""
    room = width * _SIDE
    return first_fitting(one.names, room, size, True) or elide(one.names[-1], room, size, True)


def _note(one: TimeBar, width: float, size: float) -> str:
    return first_fitting(one.note, width * _SIDE, size)


def _said(one: TimeBar) -> str:
    return tr("not measured") if one.us is None else duration(one.us)


def _steps(most: float) -> Iterator[float]:
    """Round numbers, in the unit that the longest time is told in."""
    unit = time_unit(most)[0]
    for power in range(-3, 6):
        yield from (unit * n * 10.0**power for n in (1, 2, 5))


def _grid(stage: Stage, span: Rect, axis: Axis) -> Iterator[Mark]:
    """Upright lines at round times, and these below."""
    if not axis.ticks:
        return
    x = span.x + axis.share(axis.ticks) * span.width
    ends = np.stack([x, np.full_like(x, span.y), x, np.full_like(x, span.bottom)], axis=1)
    yield Lines(ends.reshape(-1, 2, 2).astype(np.float32), stage.palette.border, 1.0)
    size, kept = stage.text(14), _apart(stage, x, axis.ticks)
    at = np.stack([x[kept], np.full(len(kept), span.bottom + size * 0.85)], axis=1)
    words = tuple("0" if axis.ticks[n] == 0 else duration(axis.ticks[n], True) for n in kept)
    yield Texts(at.astype(np.float32), words, stage.palette.muted, size, "center")


def _apart(stage: Stage, x: np.ndarray, ticks: Sequence[float]) -> list[int]:
    """The ticks whose numbers do not touch."""
    size, kept, free = stage.text(14), list[int](), -np.inf
    for n, (at, tick) in enumerate(zip(x.tolist(), ticks, strict=True)):
        wide = text_width(duration(tick, True), size) / 2
        if at - wide >= free:
            kept.append(n)
            free = at + wide + size * 0.6
    return kept
