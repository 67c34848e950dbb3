"""Values combined in rounds: from which places to which, by which lanes, and what a round costs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import bands, partly
from gpuviz.panels.panel import Need, Panel
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_GAP = 0.7  # between the columns, in letters
_LEAST = 13.85  # letters high


@dataclass(frozen=True, eq=False)
class Round:
    """One round: (A,) `thread` writes `target` from `source`, and `useful` is what is needed later.

    `reads` says that places are read at all, `adds` that a target's own value is kept. `lanes` of
    the `issued` ones do something useful; `wavefronts` of shared memory, `ideal` without conflicts.
    `tip` is the hover text of entry i.
    """

    name: str
    thread: I64
    target: I64
    source: I64
    useful: Bool
    reads: bool
    adds: bool
    issued: int
    wavefronts: int
    ideal: int
    tip: Callable[[int], str]

    @property
    def lanes(self) -> int:
        """Lanes whose work counts."""
        return int(self.useful.sum())


class _Chart(NamedTuple):
    """Where everything goes: `cells` (R, P, 4) of the places after each round, the bars' area, and
    the x at which counts of lanes and of wavefronts end.
    """

    head: Rect
    cells: F32
    bars: Rect
    lanes: float
    waves: float


@dataclass(frozen=True, eq=False)
class Rounds(Panel):
    """All rounds below each other; `done` of them are over, the fraction being under way.

    `places` is how many values there are; `title` says what they are in.
    """

    share: ClassVar[float] = 1.0
    rounds: tuple[Round, ...]
    places: int
    title: str
    done: float

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to tell the rows apart."""
        return Need(_LEAST * stage.text(14), _LEAST * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Titles; then of each round its curves, its row, its bar."""
        chart = self._chart(stage, area)
        yield from self._head(stage, chart)
        for number, one in enumerate(self.rounds):
            share = min(max(self.done - number, 0.0), 1.0)
            if number and one.reads:
                yield from _curves(stage, chart.cells[number - 1 : number + 1], one, share)
            yield from self._row(stage, area.x, chart.cells[number], one, share)
            if not stage.asks:
                yield from self._bar(stage, chart, number, share)

    def _chart(self, stage: Stage, area: Rect) -> _Chart:
        """Names, places, bars of lanes, and two columns of numbers, from left to right."""
        size = stage.text(14)
        gap = size * _GAP
        names = max(text_width(one.name, size) for one in self.rounds) + gap
        head, body = area.above(size * 1.5)
        lanes, waves = (text_width(title, size) for title in _titles())
        bars = min(max(area.width * 0.14, size * 4), size * 14)
        wide = body.width - names - lanes - waves - 3 * gap - bars
        left, count = body.x + names, len(self.rounds)
        tall = min(body.height / count * 0.45, 20 * stage.scale)
        pitch = (body.height - tall) / max(count - 1, 1)
        space = 1.0 if wide > self.places * 3 else 0.0
        rows = [Rect(left, body.y + i * pitch, wide, tall) for i in range(count)]
        cells = np.stack([grid(row, 1, self.places, space) for row in rows])
        beside = Rect(left + wide + gap, body.y, bars, body.height)
        return _Chart(head, cells, beside, body.right - waves - gap, body.right)

    def _head(self, stage: Stage, chart: _Chart) -> Iterator[Mark]:
        size, muted = stage.text(14), stage.palette.muted
        y, (lanes, waves) = chart.head.y + size * 0.6, _titles()
        yield label(float(chart.cells[0, 0, 0]), y, self.title, muted, size)
        yield label(chart.lanes, y, lanes, muted, size, align="right")
        yield label(chart.waves, y, waves, muted, size, align="right")

    def _row(
        self, stage: Stage, left: float, cells: F32, one: Round, share: float
    ) -> Iterator[Mark]:
        """The places after a round: new values in their lanes' colours, idle work hatched."""
        palette, now = stage.palette, 0 < share < 1
        written = np.zeros(self.places, bool)
        written[one.target] = True
        come = float(smooth(2 * share - 1))
        fill = palette.state(
            palette.lanes[one.thread[one.useful] % LANES], np.full(one.lanes, come)
        )
        ground, hatch = palette.waste_ground, palette.waste
        if come < 0.5:
            ground, hatch = palette.todo(ground), palette.todo(hatch)
        y, ink = float(cells[0, 1] + cells[0, 3] / 2), palette.ink if now else palette.muted
        yield label(left, y, one.name, ink, stage.text(14), bold=now)
        yield Boxes(cells[~written], palette.soft(palette.cell, 0.6), tip=_unwritten(written))
        lost, kept = cells[one.target[~one.useful]], cells[one.target[one.useful]]
        yield Boxes(lost, ground, hatch=hatch, tip=_tip(one, ~one.useful))
        yield Boxes(_widened(kept, stage), fill, tip=_tip(one, one.useful))

    def _bar(self, stage: Stage, chart: _Chart, number: int, share: float) -> Iterator[Mark]:
        """Lanes at work, solid, of those that the warps have, hatched; and the wavefronts."""
        palette, one, cell = stage.palette, self.rounds[number], chart.cells[number][0]
        y, each, ahead = float(cell[1] + cell[3] / 2), chart.bars.width / self.places, share <= 0
        used = Rect(chart.bars.x, float(cell[1]), each * one.lanes, float(cell[3]))
        idle = used._replace(x=used.right, width=each * (one.issued - one.lanes))
        accent, ground, hatch = palette.accent, palette.waste_ground, palette.waste
        if ahead:
            accent, ground, hatch = map(palette.todo, (accent, ground, hatch))
        yield Boxes(used.array(), accent)
        if idle.width > 0:
            yield Boxes(idle.array(), ground, hatch=hatch)
        ink = palette.faint if ahead else palette.ink
        cost = palette.warn if one.wavefronts > one.ideal and not ahead else ink
        words = tr("{a} of {b}", a=one.lanes, b=one.issued), str(one.wavefronts or "–")
        at = np.array([[chart.lanes, y], [chart.waves, y]], np.float32)
        yield Texts(at, words, np.stack([ink, cost]), stage.text(14), "right")


def _titles() -> tuple[str, str]:
    """The columns of numbers; their widest texts."""
    return tr("lanes at work"), tr("wavefronts")


def _curves(stage: Stage, cells: F32, one: Round, share: float) -> Iterator[Mark]:
    """From the places that are read to the one that is written, in the lane's colour.

    `cells` (2, P, 4) are the places before and after the round.
    """
    palette, before, after = stage.palette, cells[0], cells[1]
    target, source = one.target[one.useful], one.source[one.useful]
    sources = [source, target] if one.adds else [source]
    low, high = np.array([0.5, 1.0], np.float32), np.array([0.5, 0.0], np.float32)
    start = np.concatenate([before[s, :2] + before[s, 2:] * low for s in sources])
    end = np.concatenate([after[target, :2] + after[target, 2:] * high] * len(sources))
    color = np.concatenate([palette.lanes[one.thread[one.useful] % LANES]] * len(sources))
    curves = bands(start, end)
    if share >= 1:
        yield Curves(curves, palette.soft(color, 0.35), stage.scale)
        return
    yield Curves(curves, palette.soft(palette.todo(color), 0.5), stage.scale * 0.8)
    if share > 0:
        come: F64 = np.full(len(curves), float(smooth(share * 1.6)))
        yield Curves(partly(curves, come), color, 1.6 * stage.scale)


def _widened(cells: F32, stage: Stage) -> F32:
    """Cells as wide as there is room for beside each other, so that single ones are seen."""
    apart = float(np.diff(np.sort(cells[:, 0])).min(initial=64.0))
    wide = max(min(apart * 0.6, 9 * stage.scale), float(cells[:, 2].min(initial=apart)))
    grown = cells.copy()
    grown[:, 2] = wide
    return grown


def _unwritten(written: Bool) -> Tip:
    """The hover text of places that a round does not write."""
    places = np.flatnonzero(~written)
    return lambda i: tr("place {n} is not written in this round", n=places[i])


def _tip(one: Round, chosen: Bool) -> Tip:
    """The hover text of some of a round's entries."""
    entries = np.flatnonzero(chosen)
    return lambda i: one.tip(int(entries[i]))
