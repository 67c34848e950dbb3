"""The picture of phases: what every warp of the block does between its barriers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.base.keeping import kept_with_first
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import Node, rows, spare
from gpuviz.panels.legend import ColorKey, Key
from gpuviz.panels.panel import GO, Ink, Need, Panel, Values, color
from gpuviz.story.own_kernel import mbarriers
from gpuviz.story.own_kernel.events import ALL, Events, events_of, every_warp, kind_of
from gpuviz.story.own_kernel.moment import Moment, Narration
from gpuviz.story.script import KINDS
from gpuviz.words.language import grouped, tr, trn

_HEAD = 1.6  # letters above the rows
_LOW, _TALL = 3.0, 3.5  # pixels of a row at the least, letters at the most


@dataclass(frozen=True)
class Phase:
    """A stretch between barriers, in the unit of the boxes; wordings, longest first.

    A barrier stands at its end, unless it is the last one.
    """

    start: float
    end: float
    names: tuple[str, ...]
    barrier: bool


@dataclass(frozen=True, eq=False)
class WarpPhases(Panel):
    """The rows at a time."""

    share: ClassVar[float] = 1.0
    # From left to right; what a warp leaves of one it waits at the barrier.
    phases: tuple[Phase, ...]
    warps: int
    # warp, start, end: (B,) of each box: its row, and where it lies.
    warp: I64
    start: F64
    end: F64
    ink: I64  # (B,) number of its colour among `inks`
    inks: tuple[Ink, ...]
    # now, row: where time is, and whose request is under way (-1: nobody's).
    now: float
    row: int
    # tip, choose: hover text of a box, and what a click on it sets.
    tip: Callable[[int], str]
    choose: Callable[[int], Values]
    marked: I64  # boxes that something is wrong with, by number; two of them belong together

    def need(self, stage: Stage, width: float) -> Need:
        """Rows that can be told apart."""
        head = _HEAD * stage.text(14)
        rows = self.warps * stage.text(14)
        least = max(self.warps * _LOW, 4 * stage.text(14))
        return Need(head + max(rows, 6 * stage.text(14)), head + least, 14 * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Phases by name, waiting, requests, barriers, where time is."""
        plot = self._plot(stage, area)
        palette = stage.palette
        rects = self._rects(plot)
        yield from self._names(stage, area, plot)
        idle = self._idle(plot)
        if len(idle):
            ground, hatch = palette.waste_ground, palette.waste
            yield Boxes(idle, ground, hatch=hatch, tip=lambda i: tr("waits at the barrier"))
        yield Boxes(rects, self._fill(stage), tip=self.tip)
        yield from self._barriers(stage, plot)
        here = (self.warp == self.row) & (self.start <= self.now) & (self.now < self.end)
        if here.any():
            yield Boxes(rects[here], stroke=palette.outline, stroke_width=2.0)
        yield from self._marks(stage, rects[self.marked])
        x = self._x(plot, np.array([self.now + 0.5]))[0]
        ends = np.array([[[x, plot.y - 3], [x, plot.bottom + 3]]], np.float32)
        yield Lines(ends, palette.ink, 1.5, dash=True)

    def _marks(self, stage: Stage, rects: F32) -> Iterator[Mark]:
        """What is wrong, wide enough to be seen, and a line between two that race."""
        if not len(rects):
            return
        red, least = stage.palette.bad, stage.text(14) * 0.6
        wide = rects.copy()
        wide[:, 0] -= np.maximum(least - wide[:, 2], 0) / 2
        wide[:, 2] = np.maximum(wide[:, 2], least)
        if len(wide) > 1:
            yield Lines(centers(wide)[None, :2], red, 2.0)
        yield Boxes(wide, stage.palette.waste_ground, hatch=red, stroke=red, stroke_width=2.0)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """A click on a request goes to it."""
        rects = self._rects(self._plot(stage, area))
        inside = (rects[:, 0] <= x) & (x < rects[:, 0] + rects[:, 2])
        inside &= (rects[:, 1] <= y) & (y < rects[:, 1] + rects[:, 3])
        found = np.flatnonzero(inside)
        return self.choose(int(found[0])) if len(found) else None

    def _plot(self, stage: Stage, area: Rect) -> Rect:
        size = stage.text(14)
        side = text_width(tr("warp") + f" {self.warps - 1}", size) + size * 0.7
        body = area.above(size * _HEAD)[1].beside(side)[1]
        return body._replace(height=min(body.height, self.warps * size * _TALL))

    @property
    def _ends(self) -> tuple[float, float]:
        return self.phases[0].start, self.phases[-1].end

    def _x(self, plot: Rect, at: F64) -> F64:
        first, last = self._ends
        return np.asarray(plot.x + plot.width * (at - first) / max(last - first, 1e-9))

    def _rects(self, plot: Rect) -> F32:
        """(B, 4) the requests."""
        high = plot.height / self.warps
        left, right = self._x(plot, self.start), self._x(plot, self.end)
        wide = right - left
        gap = np.where(wide >= 4, 1.0, 0.0)
        low = 1.0 if high >= 5 else 0.4
        rects = [left, plot.y + self.warp * high, wide - gap, np.full(len(left), high - low)]
        return np.stack(rects, axis=1).astype(np.float32)

    def _fill(self, stage: Stage) -> Rgba:
        palette = stage.palette
        full = np.stack([color(stage, ink) for ink in self.inks])[self.ink]
        here = (self.warp == self.row) & (self.start <= self.now) & (self.now < self.end)
        over, later = palette.soft(full, 0.3), palette.soft(full, 0.72)
        fill = np.where((self.start <= self.now)[:, None], over, later)
        return np.where(here[:, None], full, fill).astype(np.uint8)

    def _idle(self, plot: Rect) -> F32:
        """(I, 4) from a warp's last request in a phase to the barrier."""
        high, boxes = plot.height / self.warps, []
        for phase in self.phases:
            mine = (self.start >= phase.start) & (self.end <= phase.end)
            last = np.full(self.warps, phase.start)
            np.maximum.at(last, self.warp[mine], self.end[mine])
            for warp in np.flatnonzero(phase.barrier & (phase.end - last > 0)).tolist():
                x = self._x(plot, np.array([last[warp], phase.end]))
                boxes.append((x[0], plot.y + warp * high, x[1] - x[0] - 1, high - 0.5))
        return np.array(boxes, np.float32).reshape(-1, 4)

    def _barriers(self, stage: Stage, plot: Rect) -> Iterator[Mark]:
        ends = self._x(plot, np.array([p.end for p in self.phases if p.barrier]))
        points = [[[x, plot.y - 2], [x, plot.bottom + 2]] for x in ends.tolist()]
        yield Lines(np.array(points, np.float32).reshape(-1, 2, 2), stage.palette.barrier, 3.0)

    def _names(self, stage: Stage, area: Rect, plot: Rect) -> Iterator[Mark]:
        """Above the rows: phases; beside them: warps, as many as there is room for."""
        size, palette = stage.text(14), stage.palette
        for phase in self.phases:
            left, right = self._x(plot, np.array([phase.start, phase.end])).tolist()
            said = first_fitting(phase.names, right - left - size * 0.5, size)
            if said:
                now = phase.start <= self.now < phase.end
                ink = palette.ink if now else palette.muted
                yield label(left, area.y + size * 0.6, said, ink, size, now)
        high = plot.height / self.warps
        every = max(1, int(np.ceil(size * 1.15 / high)))
        rows = np.arange(0, self.warps, every)
        at = np.stack([np.full(len(rows), plot.x - size * 0.5), plot.y + (rows + 0.5) * high], 1)
        said_rows = (tr("warp") + " 0", *map(str, rows[1:].tolist()))
        yield Texts(at.astype(np.float32), said_rows, palette.muted, size, "right")


_NONE: I64 = np.zeros(0, np.int64)
_ROOM, _MOST = 200, 6  # boxes of a warp beside each other, and phases, that can be told apart
_INKS: dict[str, Ink] = {"load": "load", "store": "store", "shared": "shared", "atomic": "compute"}
_INK_OF = np.array([list(_INKS).index(kind) if kind in _INKS else 0 for kind in KINDS])


@dataclass(frozen=True, eq=False)
class _Block:
    """Where the (R,) requests of a block lie: `warp`, `phase`, place in it, kind by `KINDS`.

    `wide` (P,) is how many requests each phase has, of the warp that has most of them.
    """

    events: Events
    warp: I64
    phase: I64
    place: I64
    kind: I64
    wide: I64


@kept_with_first(4)
def _block_of(every: Events) -> _Block:
    warp, phase = every.rows.warp.astype(np.int64), every.rows.phase.astype(np.int64)
    order = np.lexsort((phase, warp))
    new = np.diff(warp[order], prepend=-1) | np.diff(phase[order], prepend=-1)
    first = np.flatnonzero(new)
    place = np.empty(len(warp), np.int64)
    place[order] = np.arange(len(warp)) - np.repeat(first, np.diff([*first, len(warp)]))
    wide = np.ones(int(phase.max(initial=0)) + 1, np.int64)
    np.maximum.at(wide, phase, place + 1)
    kinds = np.array([KINDS.index(kind_of(did)) for did in every.trace.instructions], np.int64)
    return _Block(every, warp, phase, place, kinds[every.rows.instruction], wide)


def picture(moment: Moment) -> Narration:
    """The phase under way and those around it, in all warps of the block."""
    known = _block_of(every_warp(moment.events))
    phase, _ = _here(moment, known)
    handed = mbarriers.lanes(moment)
    shown = rows(with_key(moment), *((spare(handed),) if handed else ()), gap=0.8)
    return Narration(_title(known, phase), _sentence(known, phase, _scale(known, phase)), shown)


def with_key(moment: Moment) -> Node:
    """The boxes of the requests, and what their colours mean."""
    return rows(body(moment), _key(_block_of(every_warp(moment.events))))


def body(moment: Moment, marked: I64 = _NONE) -> WarpPhases:
    """The boxes of the requests; those `marked`, by row of all warps' requests, stand out."""
    events = moment.events
    known = _block_of(every_warp(events))
    phase, place = _here(moment, known)
    shown, scale = _window(known, phase), _scale(known, phase)
    edges = np.concatenate([[0], np.cumsum(-(-known.wide[shown] // scale))]).astype(np.float64)
    inside = (known.phase >= shown[0]) & (known.phase <= shown[-1])
    which = np.flatnonzero(inside & ((known.place % scale == 0) | _is_in(marked, len(inside))))
    start = edges[known.phase[which] - shown[0]] + known.place[which] // scale
    return WarpPhases(
        _phases(known, shown, edges),
        events.trace.launch.warps_per_block,
        known.warp[which],
        start,
        start + 1.0,
        _INK_OF[known.kind[which]],
        tuple(_INKS.values()),
        float(edges[phase - shown[0]] + place // scale) - 0.5 * (events.row[moment.number] < 0),
        events.warp_of(moment.number),
        lambda i: _tip(known, int(which[i]), scale),
        lambda i: _go(known, int(which[i]), events),
        np.flatnonzero(np.isin(which, marked)),
    )


def _is_in(marked: I64, count: int) -> Bool:
    found: Bool = np.zeros(count, bool)
    found[marked] = True
    return found


def _scale(known: _Block, phase: int) -> int:
    """Requests that a box stands for."""
    return max(1, -(-int(known.wide[_window(known, phase)].max()) // _ROOM))


def _here(moment: Moment, known: _Block) -> tuple[int, int]:
    """The phase under way, and how many of its requests the warp has made."""
    events, number = moment.events, moment.number
    phase, row = int(events.phase[number]), int(events.row[number])
    if row < 0:
        return phase, int(known.wide[phase])
    before = events.rows.phase[: row + 1] == phase
    mine = events.rows.warp[: row + 1] == events.rows.warp[row]
    return phase, int((before & mine).sum()) - 1


def _window(known: _Block, phase: int) -> I64:
    """The phases shown: that one, and as many around it as there is room for."""
    first = last = phase
    while last - first + 1 < _MOST:
        grown = [(first - 1, last), (first, last + 1)]
        fits = [
            (a, b)
            for a, b in grown
            if a >= 0 and b < len(known.wide) and known.wide[a : b + 1].sum() <= _ROOM
        ]
        if not fits:
            break
        first, last = fits[-1] if phase - first >= last - phase else fits[0]
    return np.arange(first, last + 1)


def _phases(known: _Block, shown: I64, edges: F64) -> tuple[Phase, ...]:
    last = len(known.wide) - 1
    return tuple(
        Phase(float(a), float(b), (tr("phase {n}", n=int(p) + 1), f"{int(p) + 1}"), bool(p < last))
        for p, a, b in zip(shown, edges, edges[1:], strict=False)
    )


def _tip(known: _Block, row: int, scale: int) -> str:
    """What hovering a request says."""
    events = known.events
    did = events.trace.instructions[int(events.rows.instruction[row])]
    number = grouped(int(known.place[row]) + 1)
    what = {"warp": int(known.warp[row]), "n": number, "line": did.line, "did": did.text}
    said = tr("warp {warp} · request {n} of its phase · line {line}\n{did}", **what)
    more = tr("{n} requests a box", n=scale) if scale > 1 else ""
    return f"{said}\n{more}".strip()


def _go(known: _Block, row: int, events: Events) -> Values:
    """To a request of any warp, in the story of that warp or of all."""
    warp = int(known.warp[row])
    if events.warp == ALL:
        number = int(np.flatnonzero(events.row == row)[0])
        return {GO: f"#{number + 1}"}
    own = events_of(events.trace, events.arch, events.block, warp)
    mine = int(np.flatnonzero(np.flatnonzero(known.warp == warp) == row)[0])
    number = int(np.flatnonzero(own.row == mine)[0])
    return {"warp": warp, GO: f"#{number + 1}"}


def _title(known: _Block, phase: int) -> str:
    warps = known.events.trace.launch.warps_per_block
    count = len(known.wide)
    if count == 1:
        return trn(
            "What the {n} warp of the block asks of memory",
            "What the {n} warps of the block ask of memory",
            warps,
        )
    what = {"n": phase + 1, "count": grouped(count)}
    return tr("Phase {n} of {count}: what the warps ask between two barriers", **what)


def _sentence(known: _Block, phase: int, scale: int) -> str:
    """Who has most to do in the phase."""
    here = known.phase == phase
    per = np.bincount(known.warp[here], minlength=known.events.trace.launch.warps_per_block)
    least, most = int(per.min()), int(per.max())
    if least == most:
        said = trn(
            "Every warp makes {n} request; as if all were equally fast.",
            "Every warp makes {n} requests; as if all were equally fast.",
            most,
        )
    else:
        who = {"warp": int(per.argmax()), "other": int(per.argmin())}
        each = {"most": grouped(most), "least": grouped(least)}
        said = (
            tr(
                "Warp {warp} makes {most} requests, warp {other} {least}: it waits. As if all were "
                "equally fast.",
                **who,
                **each,
            )
            if phase < len(known.wide) - 1
            else tr("Warp {warp} makes {most} requests, warp {other} {least}.", **who, **each)
        )
    return f"{said} {tr('A box is {n} requests.', n=scale)}" if scale > 1 else said


def _key(known: _Block) -> ColorKey:
    words = {
        "load": tr("load"),
        "store": tr("store"),
        "shared": tr("shared memory"),
        "atomic": tr("atomic"),
    }
    there = {KINDS[k] for k in np.unique(known.kind).tolist()}
    keys = [Key(words[kind], ink) for kind, ink in _INKS.items() if kind in there]
    if len(known.wide) > 1:
        keys += [Key(tr("barrier"), "barrier"), Key(tr("waits"), hatched=True)]
    return ColorKey(tuple(keys))
