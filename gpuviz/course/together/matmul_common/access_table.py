"""Which elements each thread accesses at each step, a row a thread; and a track of the phases.

Where there is no room for all of it, a window shows the steps around the one under way and the
threads around the one that is followed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from gpuviz.base.arrays import F32, I64, Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, around, centers, elide, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.matrix import guards, heat, outlined
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.lines import Heading
from gpuviz.panels.panel import Ink, Need, Panel, color
from gpuviz.words.language import tr

_CAPTION, _HEAD, _ROW = 1.7, 1.4, 1.6  # letters
_TIGHT_HEAD, _TIGHT_ROW = 1.3, 1.45  # without a caption
_TALLEST = 2.2  # a row, in letters
_STRIP = 5.0  # pixels of hatching under an element that is accessed again


class Window(NamedTuple):
    """The part that is shown: threads and steps from the first on."""

    thread: int
    threads: int
    step: int
    steps: int

    def of(self, values: I64) -> I64:
        """That part of (steps, T) numbers, flat, thread by thread."""
        steps = slice(self.step, self.step + self.steps)
        return values[steps, self.thread : self.thread + self.threads].T.ravel()


@dataclass(frozen=True, eq=False)
class Accesses:
    """What the threads access of one array: (steps, T) `element`, -1 for none.

    `before` (steps, T) is how often it has been accessed until then, `most` the most often that any
    one is in all. `name` says in a few letters what an element is called, `tip` what hovering it
    tells.
    """

    element: I64
    before: I64
    most: int
    name: Callable[[int], str]
    tip: Callable[[int], str]


@dataclass(frozen=True, eq=False)
class AccessTable(Panel):
    """Accesses of several arrays side by side in each step."""

    share: ClassVar[float] = 1.0
    names: tuple[str, str]  # of whose accesses they are, the last where there is little room
    arrays: tuple[Accesses, ...]
    # who, when: names of the threads and of the steps.
    who: tuple[str, ...]
    when: tuple[str, ...]
    # seen, now: steps over or under way; the one under way, -1 for none.
    seen: int
    now: int
    followed: int  # the thread that is followed
    whole: bool = False  # whether it may not be cut down to a window
    corner: str = ""  # what the names of the threads are made of

    def need(self, stage: Stage, width: float) -> Need:
        """All of it, or enough of it."""
        size = stage.text(14)
        threads, steps = (len(self.who), len(self.when)) if self.whole else (2, 1)
        high = size * (_CAPTION + _HEAD + _ROW * threads)
        least = size * (_TIGHT_HEAD + _TIGHT_ROW * threads)
        return Need(high, least, self._side(stage) + steps * self._step(stage))

    def used(self, stage: Stage, area: Rect) -> Rect:
        """No more height than makes rows easy to read."""
        window = self.window(stage, area)
        rows = window.threads * _TALLEST if window else 0.0
        high = stage.text(14) * (_CAPTION + _HEAD + rows)
        return area._replace(height=min(area.height, high))

    def window(self, stage: Stage, area: Rect) -> Window | None:
        """As much as fits an area; None when that is next to nothing.

        Steps are turned over like pages; the threads stay the same all the time.
        """
        steps, threads, size = len(self.when), len(self.who), stage.text(14)
        across = int((area.width - self._side(stage) + 0.5) / self._step(stage))
        down = int((area.height - size * (_CAPTION + _HEAD)) / (size * _ROW))
        if down < threads:  # more of them without a caption
            tight = (area.height - size * _TIGHT_HEAD + 0.5) / (size * _TIGHT_ROW)
            down = max(down, int(tight))
        across, down = min(across, steps), min(down, threads)
        if across < 1 or down < min(2, threads):
            return None
        first = min(max(self.seen - 1, 0) // across * across, steps - across)
        return Window(min(max(self.followed - down // 2, 0), threads - down), down, first, across)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Caption, names, and the elements in their cells."""
        shown, size = self.window(stage, area), stage.text(14)
        if shown is None:
            return
        bare = area.height < size * (_CAPTION + _HEAD + _ROW * shown.threads) - 0.5
        caption, rest = area.above(0.0 if bare else size * _CAPTION)
        side = self._side(stage)
        names, rest = rest.above(size * (_TIGHT_HEAD if bare else _HEAD))
        wide = min(area.width, (side + shown.steps * self._step(stage)) * 1.3) - side
        high = min(rest.height, shown.threads * size * _TALLEST)
        space = size * 0.3  # between steps; rows stand closer
        body = Rect(rest.x + side, rest.y, wide + space, high)
        cells = grid(body, shown.threads, shown.steps, 2.0)
        cells[:, 2] -= space
        if bare:
            y = names.y + size * 0.6
            yield label(names.x, y, self.names[1], stage.palette.ink, size, True)
        else:
            yield from Heading(self.names[:1], self._notes(shown)).draw(stage, caption)
            y = names.y + size * 0.6
            yield label(names.x, y, self.corner, stage.palette.muted, size)
        yield from self._heads(stage, names, cells, shown)
        for number, one in enumerate(self.arrays):
            yield from self._part(stage, cells, one, shown, number / len(self.arrays))
        yield guards(stage, cells[shown.of(self.arrays[0].element) < 0], False)
        yield from self._now(stage, cells, shown)

    def _side(self, stage: Stage) -> float:
        """Width of the column that names the threads."""
        size = stage.text(14)
        words = text_width(self.who[-1], size), text_width(self.corner, size)
        widest = max(*words, text_width(self.names[1], size, True))
        return widest + size * 0.5

    def _step(self, stage: Stage) -> float:
        """Width of one step: an element of each array, and the space to the next step."""
        size = stage.text(14)
        last = [one.name(int(one.element.max(initial=0))) for one in self.arrays]
        widest = max(text_width(name, size) for name in last) + size * 0.4
        return len(self.arrays) * widest + size * 0.5

    def _notes(self, shown: Window) -> tuple[str, ...]:
        """What is seen, and what is left out, in more words or less."""
        again = tr("reads global memory every time (hatched: again)"), tr("hatched: read again")
        if (shown.threads, shown.steps) == (len(self.who), len(self.when)):
            return again
        part = tr(
            "{a} of {threads} threads, {b} of {steps} steps",
            a=shown.threads,
            threads=len(self.who),
            b=shown.steps,
            steps=len(self.when),
        )
        return f"{part} · {again[1]}", part, *again[1:]

    def _heads(self, stage: Stage, names: Rect, cells: F32, shown: Window) -> Iterator[Mark]:
        """Steps above the columns, threads beside the rows."""
        size, palette, middle = stage.text(14), stage.palette, centers(cells)
        over = middle[: shown.steps].copy()
        over[:, 1] = names.y + size * 0.6
        beside = middle[:: shown.steps].copy()
        beside[:, 0] = names.x
        when = self.when[shown.step : shown.step + shown.steps]
        who = self.who[shown.thread : shown.thread + shown.threads]
        own = np.arange(shown.threads) == self.followed - shown.thread
        ink = np.where(own[:, None], palette.ink, palette.muted).astype(np.uint8)
        yield Texts(over, when, palette.muted, size, "center")
        yield Texts(beside, who, ink, size)

    def _part(
        self, stage: Stage, cells: F32, one: Accesses, shown: Window, at: float
    ) -> Iterator[Mark]:
        """The elements of one array: to come dim, done in the heat of their accesses so far."""
        palette, strip = stage.palette, _STRIP * stage.scale
        rects, count = cells.copy(), len(self.arrays)
        rects[:, 2] = cells[:, 2] / count - 0.5
        rects[:, 0] += at * (cells[:, 2] + 1)
        over = shown.step + np.tile(np.arange(shown.steps), shown.threads) < self.seen
        element = shown.of(one.element)
        before = shown.of(one.before) * (not stage.asks)
        fill = np.where(over[:, None], heat(palette, before + 1, one.most), palette.cell)
        ink = np.where(over[:, None], palette.ink_on(fill.astype(np.uint8)), palette.muted)
        some = element >= 0
        again = rects[over & some & (before > 0)].copy()
        again[:, 1] += again[:, 3] - strip
        again[:, 3] = strip
        middle = centers(rects) - np.array([0, strip * 0.45], np.float32)
        known = element[some].tolist()
        words = tuple(map(one.name, known))
        yield Boxes(
            rects[some], fill[some].astype(np.uint8), radius=2, tip=lambda i: one.tip(known[i])
        )
        yield Boxes(again, palette.waste_ground, hatch=palette.waste)
        yield Texts(middle[some], words, ink[some].astype(np.uint8), stage.text(14), "center")

    def _now(self, stage: Stage, cells: F32, shown: Window) -> Iterator[Mark]:
        """A line around the step that is made now, and around the followed thread's cell."""
        at, row = self.now - shown.step, self.followed - shown.thread
        if self.now < 0 or not 0 <= at < shown.steps:
            return
        column, palette = cells[at :: shown.steps], stage.palette
        yield outlined(around(column), palette.accent, 2.0, pad=-1.0)
        yield Boxes(column[row : row + 1], stroke=palette.outline, stroke_width=2.0, radius=3)


_GAP = 4.0
_HEIGHT, _SLIM = 3.5, 1.9  # letters; a slim track does not number the phases


@dataclass(frozen=True)
class Part:
    """A part of a phase: its name, its colour, and the phase's number (-1: after the last).

    One that is `skipped` never happens: it is hatched, whatever the time, unless a class is asked.
    """

    name: str
    ink: Ink
    phase: int
    skipped: bool = False


@dataclass(frozen=True, eq=False)
class Track(Panel):
    """The parts, `now` being the one under way (their number when all are done)."""

    parts: tuple[Part, ...]
    now: int
    slim: bool = False

    def need(self, stage: Stage, width: float) -> Need:
        """One line, or two."""
        high = stage.text(14) * (_SLIM if self.slim else _HEIGHT)
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """A box a part, and the phases below."""
        size = stage.text(14)
        row, below = area.above(min(size * 2.0, area.height), size * 0.25)
        needed = max(text_width(p.name, size, True) for p in self.parts) + size * 0.8
        every = tuple(range(len(self.parts)))
        if needed * len(every) + _GAP * (len(every) - 1) <= area.width:
            yield from self._boxes(stage, row, every)
            yield from self._names(stage, row, below)
            return
        phase = self.parts[min(self.now, len(every) - 1)].phase
        phase = phase if phase >= 0 else max(p.phase for p in self.parts)
        few = tuple(i for i in every if self.parts[i].phase in (phase, -1))
        yield from self._boxes(stage, row, few)
        yield from self._overview(stage, below, phase)

    def _boxes(self, stage: Stage, row: Rect, shown: tuple[int, ...]) -> Iterator[Mark]:
        """One box a part: full when done, outlined now, dim when still to come."""
        size, cells = stage.text(14), grid(row, 1, len(shown), _GAP)
        fill = np.stack([self._fill(stage, i) for i in shown])
        skipped = np.array([self._skipped(stage, i) for i in shown], bool)
        room = float(cells[0, 2]) - 4
        words = tuple(elide(self.parts[i].name, room, size, bold=True) for i in shown)
        current = cells[[i == self.now for i in shown]]
        yield Boxes(cells[~skipped], fill[~skipped], radius=5)
        if skipped.any():
            names = [word for word, one in zip(words, skipped, strict=True) if one]
            yield from _hatched(stage, cells[skipped], names)
        yield Boxes(current, stroke=stage.palette.outline, stroke_width=2.5, radius=5)
        yield Texts(centers(cells), words, stage.palette.ink_on(fill), size, "center", bold=True)

    def _skipped(self, stage: Stage, number: int) -> bool:
        return self.parts[number].skipped and not stage.asks

    def _fill(self, stage: Stage, number: int) -> Rgba:
        palette, full = stage.palette, color(stage, self.parts[number].ink)
        if self._skipped(stage, number):
            return palette.waste_ground
        if number == self.now:
            return full
        return palette.soft(full, 0.45) if number < self.now else palette.todo(full)

    def _names(self, stage: Stage, row: Rect, below: Rect) -> Iterator[Mark]:
        """The phases' numbers under their first parts; none in a slim track."""
        size = stage.text(14)
        if below.height < size:
            return
        cells, before = grid(row, 1, len(self.parts), _GAP), -1
        for cell, part in zip(cells.tolist(), self.parts, strict=True):
            if part.phase not in (-1, before):
                name = tr("phase {n}", n=part.phase + 1)
                yield label(cell[0], below.y + size * 0.6, name, stage.palette.muted, size)
            before = part.phase

    def _overview(self, stage: Stage, below: Rect, phase: int) -> Iterator[Mark]:
        """Which phase of how many, in words and as a row of marks; nothing in a slim track."""
        palette, size = stage.palette, stage.text(14)
        if below.height < size:
            return
        count = max(p.phase for p in self.parts) + 1
        text = tr("phase {n} of {all}", n=phase + 1, all=count)
        widest = text_width(tr("phase {n} of {all}", n=count, all=count), size) + size
        bar = below.beside(widest)[1]
        cells = grid(Rect(bar.x, below.y + size * 0.3, bar.width, size * 0.6), 1, count, 2.0)
        over = (np.arange(count) < (phase + (self.now >= len(self.parts))))[:, None]
        fill = np.where(over, palette.soft(palette.accent, 0.45), palette.todo(palette.accent))
        fill[phase] = palette.accent
        yield label(below.x, below.y + size * 0.6, text, palette.muted, size)
        yield Boxes(cells, fill.astype(np.uint8), radius=2)


def _hatched(stage: Stage, cells: F32, names: list[str]) -> Iterator[Mark]:
    """Skipped parts, with plain ground for their names."""
    size, palette, middle = stage.text(14), stage.palette, centers(cells)
    wide = np.array([text_width(name, size, True) for name in names], np.float32) + size * 0.6
    left, top = middle[:, 0] - wide / 2, middle[:, 1] - size * 0.65
    plates = np.stack([left, top, wide, np.full_like(wide, size * 1.3)], axis=1)
    yield Boxes(cells, palette.waste_ground, hatch=palette.waste, radius=5)
    yield Boxes(plates, palette.waste_ground, radius=3)
