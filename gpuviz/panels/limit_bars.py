"""Time against the bound of each resource, as bars in cycles; and what would be without them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, wrap
from gpuviz.draw.marks import Boxes, Lines, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import at_least, columns, first, rows, share
from gpuviz.panels.limit_words import (
    RESOURCES,
    advice_words,
    limit_sentence,
    model_note,
    size_note,
    time_words,
    what_if_words,
)
from gpuviz.panels.panel import Need, Panel, line
from gpuviz.panels.picture import Picture
from gpuviz.panels.warp_timeline import WarpTimeline
from gpuviz.timing.explanation import Explanation
from gpuviz.timing.warp_states import State
from gpuviz.words.language import grouped, tr

_LEAST = 0.002  # of the cycles: what is less is not shown
_WAITING = (
    State.SHARED,
    State.L1,
    State.L2,
    State.MEMORY,
    State.ATOMIC,
    State.UNIT,
    State.TENSOR,
    State.DEPENDENCE,
    State.FETCH,
)


class LimitBar(NamedTuple):
    """The cycles that a resource works, or that a warp waits on average; `line` asks most of it."""

    resource: str
    cycles: float
    waits: bool = False
    line: int = 0


def bars_of(e: Explanation) -> tuple[LimitBar, ...]:
    """All bounds of a launch, the largest first."""
    scale = e.timeline.scale
    found = [LimitBar(b.resource, b.cycles * scale, False, b.line) for b in e.limits.bounds]
    waits, cycles = e.waits, e.prediction.cycles
    latency = sum(waits.get(state, 0.0) for state in _WAITING) * cycles
    found.append(LimitBar("latency", latency, True))
    found.append(LimitBar("barrier", waits.get(State.BARRIER, 0.0) * cycles, True))
    found.append(LimitBar("tail", e.tail))
    shown = [bar for bar in found if bar.cycles >= _LEAST * cycles]
    return tuple(sorted(shown, key=lambda bar: -bar.cycles))


@dataclass(frozen=True, eq=False)
class LimitBars(Panel):
    """The bars below each other; a line across them all is the time that the launch takes."""

    answers: ClassVar[bool] = True
    bars: tuple[LimitBar, ...]
    cycles: float
    limiter: str

    def need(self, stage: Stage, width: float) -> Need:
        """A line each, and one for the time."""
        high = line(stage) * (len(self.bars) + 1.2)
        return Need(high, high, stage.text(14) * 22)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Names, bars, cycles; what limits is set off."""
        size, palette = stage.text(14), stage.palette
        names = [tr(RESOURCES[bar.resource]) for bar in self.bars]
        side = max(text_width(name, size, True) for name in names) + size * 0.8
        values = [self._value(bar) for bar in self.bars]
        room = area.beside(side)[1]
        scale = room.width / self.cycles
        for bar, value in zip(self.bars, values, strict=True):  # each has room for its words
            free = max(room.width - text_width(value, size) - size, size * 4)
            scale = min(scale, free / bar.cycles)
        x = room.x + self.cycles * scale
        head, rest = area.above(line(stage))
        said = tr("{n} cycles", n=grouped(self.cycles))
        wide = text_width(said, size, True)
        left = min(max(x - wide / 2, area.x), area.right - wide)
        yield label(left, head.center[1], said, palette.ink, size, True)
        down = np.array([[[x, rest.y], [x, rest.y + line(stage) * len(names)]]], np.float32)
        yield Lines(down, palette.outline, 1.5, dash=True)
        for bar, name, value, row in zip(
            self.bars,
            names,
            values,
            rest.above(line(stage) * len(names))[0].rows(len(names)),
            strict=True,
        ):
            limits, y = bar.resource == self.limiter, row.center[1]
            box = Rect(room.x, row.y + row.height * 0.16, bar.cycles * scale, row.height * 0.68)
            ink = palette.bad if limits else palette.accent
            if bar.waits:
                yield Boxes(
                    box.array(), palette.soft(ink, 0.8), hatch=palette.soft(ink, 0.3), radius=2
                )
            else:
                yield Boxes(box.array(), palette.soft(ink, 0.15), radius=2)
            ink = palette.ink if limits else palette.muted
            yield label(area.x, y, ("▸ " if limits else "") + name, ink, size, limits)
            plate = Rect(box.right + size * 0.3, row.y + 2, text_width(value, size) + size * 0.4, 0)
            if plate.x < x < plate.right:
                yield Boxes(plate._replace(height=row.height - 4).array(), palette.ground)
            yield label(box.right + size * 0.5, y, value, ink, size)

    def _value(self, bar: LimitBar) -> str:
        at = " · " + tr("line {n}", n=bar.line) if bar.line else ""
        waits = " " + tr("(a warp waits)") if bar.waits else ""
        return grouped(bar.cycles) + waits + at

    def line_at(self, stage: Stage, area: Rect, y: float) -> int:
        """The line of the source of the bar at a height, 0 for none."""
        number = int((y - area.y) / line(stage)) - 1
        return self.bars[number].line if 0 <= number < len(self.bars) else 0


@dataclass(frozen=True, eq=False)
class WhatIfs(Panel):
    """What to change, and what the launch would take without each of its larger costs, a sentence
    each.
    """

    answers: ClassVar[bool] = True
    explained: Explanation

    def need(self, stage: Stage, width: float) -> Need:
        """As many lines as the sentences take."""
        count = sum(len(said) for said in self._said(stage, width))
        e = self.explained
        high = stage.text(14) * (1.4 * count + 0.4 * len((*e.advice, *e.what_ifs)))
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """One below the other."""
        size, y = stage.text(14), area.y + stage.text(14) * 0.7
        for said in self._said(stage, area.width):
            yield label(area.x, y, "▸", stage.palette.accent, size)
            for row in said:
                yield label(area.x + size * 1.1, y, row, stage.palette.ink, size)
                y += size * 1.4
            y += size * 0.4

    def _said(self, stage: Stage, width: float) -> list[tuple[str, ...]]:
        size = stage.text(14)
        e = self.explained
        said = [advice_words(e, one) for one in e.advice]
        said += [what_if_words(e, one) for one in e.what_ifs]
        return [wrap(one, width - size * 1.1, size) for one in said]


def timeline_picture(
    e: Explanation, source: Sequence[str] = (), begin: float = 0.0, end: float = 0.0
) -> Picture:
    """The multiprocessor that takes longest, from a cycle to another (0: to the end), as
    far as it was recorded.
    """
    record = e.timeline
    shown = WarpTimeline(record, max(begin, record.since), min(end or np.inf, record.recorded))
    return Picture(limit_sentence(e, source), notes(e), shown)


def limits_picture(e: Explanation, source: Sequence[str] = ()) -> Picture:
    """Bars of what each resource takes, and what would be without."""
    bars = LimitBars(bars_of(e), e.prediction.cycles, e.limits.limiter)
    what_ifs = WhatIfs(e)
    body = first(
        at_least(columns(share(3, bars), share(2, what_ifs)), width=62), rows(bars, what_ifs)
    )
    return Picture(limit_sentence(e, source), notes(e), body)


def notes(e: Explanation) -> str:
    """The time, what was looked at, and how far the model can be trusted."""
    said = time_words(e), size_note(e), model_note(e.timeline.device)
    return " · ".join(filter(None, said))
