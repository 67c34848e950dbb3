"""A multiprocessor over time: what each resident warp does or waits for, and below it how busy
what they share is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import F32, F64, I64, Bool
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Raster, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel
from gpuviz.panels.state_inks import NAMES, TOLD, StateKey, colors
from gpuviz.timing.timeline import Busy, Instruction, Timeline, tracks
from gpuviz.timing.warp_states import HELD, State
from gpuviz.words.language import grouped, later, percent, tr, trn

_FEW = 6000  # spans that are drawn one by one
_CLOSEST = 12.0  # cycles that are shown at least
_COLUMN = 3.0  # pixels of a column of a track
_TRACK, _AXIS = 1.9, 1.5  # letters high
_NAMED = 2.6  # letters that an instruction needs at least to be named
TRACKS = {
    "issue": later("issue"),
    "lsu": later("L1 + shared"),
    "l1": later("L1 hits"),
    "l2": later("L2"),
    "dram": later("memory"),
}

_VEIL = 190  # opacity, of 255, of what hides the cycles that are still to come


@dataclass(frozen=True, eq=False)
class WarpTimeline(Panel):
    """The cycles from `begin` to `end`; the instruction issued as event `chosen` is outlined. The
    cycles after `now` are still to come (None: all are over). `busy` says whether tracks are shown.
    """

    share: ClassVar[float] = 1.0
    record: Timeline
    begin: float
    end: float
    chosen: int = -1
    now: float | None = None
    busy: bool = True

    def need(self, stage: Stage, width: float) -> Need:
        """Lanes that can be told apart, and the tracks."""
        size = stage.text(14)
        below = self._below(stage)
        return Need(below + self.record.places * size * 1.2, below + size * 6, size * 22)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Lanes, tracks, the axis, and the key of the colours."""
        lanes, below = self._parts(stage, area)
        yield from self._names(stage, area, lanes)
        yield from self._lanes(stage, lanes)
        if self.busy:
            columns = max(int(lanes.width / _COLUMN), 1)
            found = tracks(self.record, self.begin, self.end, columns)
            for one, row in zip(found, below[:-2], strict=True):
                yield from self._track(stage, area, row, one)
        yield from self._axis(stage, below[-2])
        taken = self.record.spans.time_in(self.begin, self.end)
        shares = taken / max(taken.sum(), 1.0)
        key = below[-1]._replace(x=area.x, width=area.width)
        yield from StateKey(tuple(shares.tolist())).draw(stage, key)

    def span_at(self, stage: Stage, area: Rect, x: float, y: float) -> int:
        """The row of the record's spans at a point, -1 for none."""
        lanes = self._parts(stage, area)[0]
        if not (lanes.x <= x < lanes.right and lanes.y <= y < lanes.bottom):
            return -1
        place = int((y - lanes.y) / lanes.height * self.record.places)
        return self.record.spans.at(place, self.cycle_at(stage, area, x))

    def cycle_at(self, stage: Stage, area: Rect, x: float) -> float:
        """The cycle that is shown at an x."""
        lanes = self._parts(stage, area)[0]
        return self.begin + (x - lanes.x) / lanes.width * (self.end - self.begin)

    def across(self, stage: Stage, area: Rect) -> float:
        """Pixels across which the cycles lie."""
        return self._parts(stage, area)[0].width

    # Where things are

    def _below(self, stage: Stage) -> float:
        size = stage.text(14)
        return size * (_TRACK * len(TRACKS) * self.busy + _AXIS + 3.4)

    def _parts(self, stage: Stage, area: Rect) -> tuple[Rect, list[Rect]]:
        """The lanes; below them the tracks, the axis, the key."""
        size = stage.text(14)
        words = [f"{tr(TRACKS[one])} {percent(1)}" for one in TRACKS if self.busy]
        last = f"  {self.record.warps - 1}" if self.record.warps > 1 else ""
        words.append(self._slot(self.record.slots - 1) + last)
        side = max(text_width(said, size) for said in words) + size * 0.8
        inner = area.beside(side)[1]
        lanes, rest = inner.above(max(inner.height - self._below(stage), size * 3))
        found = []
        for high in (*(_TRACK,) * (len(TRACKS) * self.busy), _AXIS, 3.2):
            row, rest = rest.above(size * high)
            found.append(row)
        return lanes, found

    def _x(self, lanes: Rect, cycle: npt.ArrayLike) -> F64:
        share = (np.asarray(cycle, np.float64) - self.begin) / (self.end - self.begin)
        return np.asarray(lanes.x + np.clip(share, 0.0, 1.0) * lanes.width)

    # Lanes

    def _lanes(self, stage: Stage, lanes: Rect) -> Iterator[Mark]:
        record, inks = self.record, colors(stage)
        yield Boxes(lanes.array(), inks[State.ABSENT])
        rows = record.spans.within(self.begin, self.end)
        if len(rows) <= _FEW:
            yield from self._boxes(stage, lanes, rows)
        else:
            columns = max(int(lanes.width), 1)
            mostly = record.spans.mostly(self.begin, self.end, columns)
            wide = (self.end - self.begin) / columns

            def said(place: int, column: int) -> str:
                return self._said(place, self.begin + (column + 0.5) * wide)

            yield Raster((lanes.x, lanes.y, lanes.width, lanes.height), inks[mostly], tip=said)
        edges = np.arange(1, record.slots) * lanes.height / record.slots + lanes.y
        left, right = np.full_like(edges, lanes.x), np.full_like(edges, lanes.right)
        lines = np.stack([left, edges, right, edges], axis=1).reshape(-1, 2, 2)
        yield Lines(lines.astype(np.float32), stage.palette.ground, 2.0)
        if self.now is not None and self.now < self.end:  # the rest is still to come
            x = float(self._x(lanes, self.now))
            rest = Rect(x, lanes.y, lanes.right - x + 1, lanes.height)
            veil = stage.palette.ground.copy()
            veil[3] = _VEIL
            yield Boxes(rest.array(), veil)
            line = np.array([[[x, lanes.y], [x, lanes.bottom]]], np.float32)
            yield Lines(line, stage.palette.outline, 1.5)

    def _boxes(self, stage: Stage, lanes: Rect, rows: I64) -> Iterator[Mark]:
        """Each span by itself, and what is issued by its name where there is room."""
        spans, inks = self.record.spans, colors(stage)
        high = lanes.height / self.record.places
        # A box is painted a pixel wide at the least: those at the end are not to stand beyond it.
        left = np.minimum(self._x(lanes, spans.start[rows]), lanes.right - 1.0)
        right = self._x(lanes, spans.end[rows])
        top = lanes.y + spans.place[rows] * high
        edge = min(1.0, high * 0.15)
        sides = left, top + edge, right - left, np.full_like(left, high - 2 * edge)
        rects = np.stack(sides, axis=1).astype(np.float32)
        states = spans.state[rows]

        def said(box: int) -> str:
            return self._tip(int(rows[box]))

        yield Boxes(rects, inks[states], tip=said)
        chosen = (spans.event[rows] == self.chosen) & (states == State.ISSUE) & (self.chosen >= 0)
        size = stage.text(13)
        yield Boxes(rects[chosen], stroke=stage.palette.outline, stroke_width=2.0)
        over = (spans.end[rows] <= self.now) if self.now is not None else np.ones(len(rows), bool)
        roomy = np.flatnonzero((rects[:, 2] > size * _NAMED) & (states != State.DONE) & over)
        if high < size * 1.15 or not len(roomy):
            return
        words = [self._word(int(rows[n]), float(rects[n, 2]) - 6, size) for n in roomy]
        yield Texts(
            centers(rects[roomy]),
            tuple(words),
            stage.palette.ink_on(inks[states[roomy]]),
            size,
            "center",
        )

    def _word(self, row: int, room: float, size: float) -> str:
        """What a span is called in so much room."""
        spans = self.record.spans
        state = State(int(spans.state[row]))
        if state != State.ISSUE:
            return first_fitting((tr(NAMES[state]),), room, size)
        name = self._instruction(int(spans.event[row])).name
        return first_fitting((name, name.partition(".")[0]), room, size)

    def _instruction(self, event: int) -> Instruction:
        return self.record.code[int(self.record.events.instruction[event])]

    def _slot(self, slot: int) -> str:
        """What the lanes of a block are called: by the block, where only one was there."""
        record = self.record
        single = len(record.blocks) <= record.slots
        return tr("block {n}", n=int(record.blocks[slot])) if single else tr("slot {n}", n=slot)

    def _names(self, stage: Stage, area: Rect, lanes: Rect) -> Iterator[Mark]:
        """Blocks, and warps where there is room."""
        record, size, palette = self.record, stage.text(14), stage.palette
        high = lanes.height / record.slots
        step = max(1, int(np.ceil(size * 1.1 / high)))
        for slot in range(0, record.slots, step):
            y = lanes.y + slot * high + min(size * 0.65, high / 2)
            yield label(area.x, y, self._slot(slot), palette.muted, size)
        row = lanes.height / record.places
        if row < size * 1.05 or record.warps == 1:
            return
        count = record.places
        at = np.stack(
            [np.full(count, lanes.x - size * 0.5), lanes.y + (np.arange(count) + 0.5) * row], axis=1
        ).astype(np.float32)
        words = tuple(str(place % record.warps) for place in range(count))
        yield Texts(at, words, palette.muted, stage.text(13), "right")

    # Tracks

    def _track(self, stage: Stage, area: Rect, row: Rect, one: Busy) -> Iterator[Mark]:
        """A bar a column, and how much of what there is was used in all."""
        palette, size, y = stage.palette, stage.text(14), row.center[1]
        whole = float(one.used.sum() + (0.0 if one.lost is None else one.lost.sum()))
        share = float(one.used.mean()) if one.lost is None else one.used.sum() / max(whole, 1e-9)
        name = tr(TRACKS[one.resource])
        yield label(area.x, y, name, palette.muted, size)
        if whole and not stage.asks:
            said = percent(share)
            yield label(row.x - size * 0.5, y, said, palette.ink, size, align="right")
        bar = row.inset(0, row.height * 0.1)
        yield Boxes(bar.array(), palette.panel)
        ink = palette.good if one.resource == "issue" else palette.load
        tip = partial(self._used, one)
        used = one.used * self._over(len(one.used))
        yield Boxes(_columns(bar, used, used * 0), palette.soft(ink, 0.25), tip=tip)
        if one.lost is not None and one.lost.any():
            lost = one.lost * self._over(len(one.lost))
            yield Boxes(_columns(bar, lost, used), palette.waste_ground, hatch=palette.waste)

    def _over(self, columns: int) -> Bool:
        """Which columns are over; the others are still to come."""
        now = self.end if self.now is None else self.now
        share = (now - self.begin) / (self.end - self.begin)
        return np.asarray(np.arange(columns) < columns * share)

    def _used(self, one: Busy, column: int) -> str:
        wide = (self.end - self.begin) / len(one.used)
        at = self.begin + column * wide
        return tr(
            "cycles {a} to {b}: {what} {share}",
            a=grouped(round(at)),
            b=grouped(round(at + wide)),
            what=tr(TRACKS[one.resource]),
            share=percent(one.used[column]),
        )

    def _axis(self, stage: Stage, row: Rect) -> Iterator[Mark]:
        """Ticks at round cycles."""
        size, palette = stage.text(13), stage.palette
        unit = tr("cycles")
        room = row.width - text_width(unit, size) - size
        least = (self.end - self.begin) / max(room / (size * 7), 1.0)
        step = 10.0 ** np.floor(np.log10(max(least, 1.0)))
        step *= next(n for n in (1.0, 2.0, 5.0, 10.0) if step * n >= max(least, 1.0))
        ticks = np.arange(np.ceil(self.begin / step), np.floor(self.end / step) + 1) * step
        x = self._x(row, ticks)
        points = np.stack([x, np.full_like(x, row.y), x, np.full_like(x, row.y + 4)], axis=1)
        yield Lines(points.reshape(-1, 2, 2).astype(np.float32), palette.muted, 1.0)
        half = text_width(grouped(int(ticks[-1])), size) / 2 if len(ticks) else 0.0
        shown = x + half <= row.x + room
        at = np.stack([x, np.full_like(x, row.y + size)], axis=1).astype(np.float32)
        words = tuple(grouped(int(n)) for n in ticks[shown])
        yield Texts(at[shown], words, palette.muted, size, "center")
        yield label(row.right, row.y + size, unit, palette.muted, size, align="right")

    # Words

    def _said(self, place: int, cycle: float) -> str:
        row = self.record.spans.at(place, cycle)
        return tr(TOLD[State.ABSENT]) if row < 0 else self._tip(row)

    def _tip(self, row: int) -> str:
        """What a span is: cycles, block and warp, what it does, with which instruction and line."""
        record, spans = self.record, self.record.spans
        state, event = State(int(spans.state[row])), int(spans.event[row])
        start, end = int(spans.start[row]), int(spans.end[row])
        block, warp = record.block_and_warp(event)
        parts = [tr("block {block}, warp {warp}", block=block, warp=warp)]
        if state == State.ISSUE:
            parts.append(tr("cycle {n}", n=grouped(start)))
            parts.append(f"{tr(TOLD[state])} {_code(record, event)}")
        else:
            cycles = tr(
                "cycles {a} to {b} ({n})", a=grouped(start), b=grouped(end), n=grouped(end - start)
            )
            parts += [cycles, tr(TOLD[state])]
            cause = int(spans.cause[row])
            if cause >= 0 or state in HELD:
                parts.append(_code(record, cause if cause >= 0 else event))
        e = record.events
        if state == State.ISSUE and (request := int(e.request[event])) >= 0:
            hit, missed = int(e.hit[event]), int(e.missed[event])
            if hit + missed:
                parts.append(tr("{hit} sectors found in L1, {missed} not", hit=hit, missed=missed))
            elif record.turns[request] > 1:
                parts.append(trn("{n} wavefront", "{n} wavefronts", int(record.turns[request])))
        return " · ".join(parts)

    def zoomed(self, about: float, by: float) -> WarpTimeline:
        """So many times as large, what is at a cycle staying where it is."""
        record = self.record
        wide = min(max((self.end - self.begin) / by, _CLOSEST), record.recorded - record.since)
        share = (about - self.begin) / (self.end - self.begin)
        return self._from(about - share * wide, wide)

    def moved(self, cycles: float) -> WarpTimeline:
        """So many cycles later, or earlier."""
        return self._from(self.begin + cycles, self.end - self.begin)

    def whole(self) -> WarpTimeline:
        """All that was recorded."""
        return replace(self, begin=self.record.since, end=self.record.recorded)

    def _from(self, begin: float, wide: float) -> WarpTimeline:
        begin = min(max(begin, self.record.since), self.record.recorded - wide)
        return replace(self, begin=begin, end=begin + wide)


def _code(record: Timeline, event: int) -> str:
    """An instruction, and its line."""
    one = record.code[int(record.events.instruction[event])]
    return f"{one.text} ({tr('line {n}', n=one.line)})" if one.line else one.text


def _columns(bar: Rect, high: F64, above: F64) -> F32:
    """(N, 4) bars side by side, so high, standing on others."""
    wide = bar.width / len(high)
    x = bar.x + np.arange(len(high)) * wide
    y = bar.bottom - (high + above) * bar.height
    return np.stack([x, y, np.full_like(x, wide), high * bar.height], axis=1).astype(np.float32)
