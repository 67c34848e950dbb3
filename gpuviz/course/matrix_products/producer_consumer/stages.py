"""Who hands stages of shared memory to whom at mbarriers, read out of a trace, and laid along time.

Who does what in which order, to which bytes, and for which phase of which mbarrier a warp waits:
that is the trace's. How long things last it does not tell: a read is drawn as one step, a copy as
`COPY`, and a wait until the phase is over.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import ClassVar, Literal

import numpy as np

from gpuviz.base.errors import InputError
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color
from gpuviz.traces.trace import HANDOVERS, LANES, Handovers, Trace
from gpuviz.words.language import grouped, tr, trn

ISSUE, COPY, READ = 0.5, 2.5, 1.0  # steps that are drawn
Op = Literal["wait", "arrive", "over", "copy", "read"]
Side = Literal["full", "empty"]
SIDES: tuple[Side, ...] = ("full", "empty")
Mbarrier = tuple[Side, int]  # which one of which stage


@dataclass(frozen=True)
class Fact:
    """What a warp does with a stage, or at an mbarrier of it.

    `number` is the tile of copies and reads, else the phase; -1 is the one before the first.
    `lanes` do so; `counted` are copies whose bytes the mbarrier counts, the others are waited for
    by the next to arrive.
    """

    warp: int
    op: Op
    mbarrier: Mbarrier
    number: int
    line: int
    lanes: int = LANES
    counted: bool = False

    @property
    def stage(self) -> int:
        """The part of the ring."""
        return self.mbarrier[1]


@dataclass(frozen=True)
class Event:
    """A fact from `start` to `end`; a copy is issued until `issued`, and under way from then on.

    What is `early` nothing keeps from meeting what was in its stage before, or is to come there.
    """

    fact: Fact
    start: float
    end: float
    issued: float
    early: bool


@dataclass(frozen=True, eq=False)
class Ring:
    """All events, and when phases of each mbarrier were over; the last warp is the producer."""

    events: tuple[Event, ...]
    over: dict[Mbarrier, tuple[float, ...]]
    producer: int
    tile_bytes: int

    @property
    def end(self) -> float:
        """When the last event is over."""
        return max(event.end for event in self.events)

    def of(self, op: Op) -> tuple[Event, ...]:
        """Events of a kind, in the order of the trace."""
        return tuple(one for one in self.events if one.fact.op == op)


@dataclass(frozen=True)
class StageContent:
    """What a stage holds: a tile on its way, or there, or read; -1 for none."""

    coming: int = -1
    there: int = -1
    read: int = -1
    wrong: bool = False  # nothing keeps the reads of one apart from the copy of another, or of it


def held(ring: Ring, stage: int, now: float) -> StageContent:
    """What a stage holds at a time."""
    copies = [one for one in ring.of("copy") if one.fact.stage == stage and one.start <= now]
    reads = [one for one in ring.of("read") if one.fact.stage == stage]
    read = next((one for one in reads if one.start <= now < one.end), None)
    if not copies:
        return StageContent(read=read.fact.number, wrong=read.early) if read else StageContent()
    copy, tile = copies[-1], copies[-1].fact.number
    if now >= copy.end:
        over = max(one.end for one in reads if one.fact.number == tile)
        there, number = tile if now < over else -1, read.fact.number if read else -1
        return StageContent(-1, there, number, read is not None and read.early)
    if read is None:
        return StageContent(tile)
    return StageContent(tile, read=read.fact.number, wrong=read.early or copy.early)


def spans(ring: Ring, stage: int) -> Iterator[tuple[float, float, StageContent]]:
    """What a stage holds from when to when; it is left out where that is nothing."""
    mine = [
        one for one in ring.events if one.fact.stage == stage and one.fact.op in ("copy", "read")
    ]
    edges = sorted({time for one in mine for time in (one.start, one.end)})
    parts = ((a, b, held(ring, stage, (a + b) / 2)) for a, b in pairwise(edges))
    for what, group in groupby(parts, key=lambda part: _seen(part[2])):
        some = list(group)
        if what != StageContent():
            yield some[0][0], some[-1][1], what


def _seen(what: StageContent) -> StageContent:
    """Without a difference between what is there and what is read as it should be."""
    if what.wrong or what.read < 0:
        return what
    return StageContent(what.coming, what.read if what.coming < 0 else -1)


def ring_of(trace: Trace) -> Ring:
    """What block 0 of a sum did with its stages.

    Raises
    ------
    InputError : its mbarriers are not in the trace
    """
    if trace.handovers is None:
        raise InputError("the trace has no mbarriers of block 0; record block 0")
    producer = trace.launch.warps_per_block - 1
    facts = tuple(_facts(trace, trace.handovers, producer))
    early = _early(facts, producer)
    events, over = _laid(facts, early)
    return Ring(events, over, producer, _tile_bytes(trace))


def _tile_bytes(trace: Trace) -> int:
    return (trace.launch.threads_per_block - LANES) * 16


def _facts(trace: Trace, handed: Handovers, producer: int) -> Iterator[Fact]:
    """Handovers and requests, in the order in which they happened."""
    rows, size, source = trace.of(block=0), _tile_bytes(trace), trace.launch.buffers[0].address
    did = [trace.instructions[n] for n in rows.instruction.tolist()]
    first = [int(rows.address[n][rows.lanes(n)].min()) for n in range(len(rows))]
    read = [one.op == "load" and one.space == "shared" for one in did]
    base = min(at for at, here in zip(first, read, strict=True) if here)
    kinds = [HANDOVERS[kind] for kind in handed.kind.tolist()]
    named = _named(handed, kinds, producer)
    order = [(int(step), 0, n) for n, step in enumerate(rows.step)]
    order += [(int(step), 1, n) for n, step in enumerate(handed.step)]
    over, tiles, into = defaultdict[Mbarrier, int](int), defaultdict[int, int](int), -1
    for _, which, n in sorted(order):
        warp, line = (int(handed.warp[n]), int(handed.line[n])) if which else (0, 0)
        if which and kinds[n] == "load":
            stage = (int(handed.address[n]) - base) // size
            tile = (int(handed.source[n]) - source) // size
            yield Fact(warp, "copy", ("full", stage), tile, line, 1, True)
        elif which and kinds[n] in ("wait", "arrive", "over"):
            mbarrier = named[int(handed.address[n])]
            phase, lanes = over[mbarrier] - (kinds[n] == "wait"), int(handed.threads[n])
            yield Fact(warp, kinds[n], mbarrier, phase, line, lanes)
            over[mbarrier] += kinds[n] == "over"
        elif which:
            continue
        elif read[n]:
            warp = int(rows.warp[n])
            yield Fact(warp, "read", ("empty", (first[n] - base) // size), tiles[warp], did[n].line)
            tiles[warp] += 1
        elif did[n].op == "copy" and did[n].space == "shared":
            into = (first[n] - base) // size
        elif did[n].op == "copy" and (first[n] - source) % size == 0:  # the first of several
            tile = (first[n] - source) // size
            yield Fact(int(rows.warp[n]), "copy", ("full", into), tile, did[n].line)


def _named(handed: Handovers, kinds: list[str], producer: int) -> dict[int, Mbarrier]:
    """What the mbarriers are, by address: the producer arrives at those that say full."""
    arrives = np.array([kind == "arrive" for kind in kinds])
    mine = handed.warp == producer
    full, empty = (np.unique(handed.address[arrives & who]).tolist() for who in (mine, ~mine))
    return {one: ("full", stage) for stage, one in enumerate(full)} | {
        one: ("empty", stage) for stage, one in enumerate(empty)
    }


def _early(facts: tuple[Fact, ...], producer: int) -> list[bool]:
    """Which copies nothing orders after the reads of what was there, which reads after the copy."""
    told = defaultdict[Mbarrier, set[tuple[int, int]]](set)  # (warp, tile) that mbarriers heard of
    knows = defaultdict[int, set[tuple[int, int]]](set)
    there, found = dict[int, int](), list[bool]()  # the tile that each stage has
    for one in facts:
        early = False
        if one.op == "arrive":
            told[one.mbarrier] |= knows[one.warp]
        elif one.op == "wait" and one.number >= 0:
            knows[one.warp] |= told[one.mbarrier]
        elif one.op == "copy":
            before = there.get(one.stage)
            early = before is not None and any(
                (w, before) not in knows[one.warp] for w in range(producer)
            )
            there[one.stage] = one.number
            told[one.mbarrier].add((producer, one.number))
        elif one.op == "read":
            early = (producer, one.number) not in knows[one.warp]
            knows[one.warp].add((one.warp, one.number))
        found.append(early)
    return found


def _laid(
    facts: tuple[Fact, ...], early: list[bool]
) -> tuple[tuple[Event, ...], dict[Mbarrier, tuple[float, ...]]]:
    """Each fact as soon as its warp is there, and a wait until its phase is over."""
    clock, ready = defaultdict[int, float](float), defaultdict[Mbarrier, float](float)
    over, events = defaultdict[Mbarrier, list[float]](list), list[Event]()
    landing = dict[int, float]()  # of copies that are waited for by who arrives
    for one, is_early in zip(facts, early, strict=True):
        start = issued = end = clock[one.warp]
        if one.op == "over":
            over[one.mbarrier].append(ready.pop(one.mbarrier))
            continue
        if one.op == "wait" and one.number >= 0:
            issued = end = max(start, over[one.mbarrier][one.number])
        elif one.op == "copy":
            issued, end = start + ISSUE, start + ISSUE + COPY
            landing[one.warp] = 0.0 if one.counted else end
        elif one.op == "arrive":
            start = end = max(start, landing.pop(one.warp, 0.0))
        elif one.op == "read":
            issued = end = start + READ
        if one.op in ("copy", "arrive"):
            ready[one.mbarrier] = max(ready[one.mbarrier], end)
        clock[one.warp] = issued
        events.append(Event(one, start, end, issued, is_early))
    return tuple(events), {name: tuple(times) for name, times in over.items()}


_HEAD, _SLOT, _LINE = 1.4, 2.0, 1.55  # letters high


@dataclass(frozen=True)
class Counter:
    """An mbarrier: what it says when a phase is over, how many are, what has come to this one.

    `came` of `expected` have arrived; `missing` bytes of copies are still to come.
    """

    name: str
    phase: int
    came: int
    expected: int
    missing: int = 0

    @property
    def parity(self) -> int:
        """Of the phase that is under way."""
        return self.phase % 2

    def words(self) -> str:
        """Which phase is under way."""
        what = {"n": self.phase, "name": self.name, "parity": self.parity}
        return tr("phase {n} of {name} is under way: parity {parity}", **what)

    def lacks(self) -> tuple[str, ...]:
        """What it waits for, wordings from the longest."""
        came = tr("{n} of {all} arrived", n=self.came, all=self.expected)
        brief = f"{self.came}/{self.expected}"
        if not self.missing:
            return came, brief
        rest = trn("{n} byte to come", "{n} bytes to come", self.missing)
        return f"{came}, {rest}", rest, f"{brief}, {grouped(self.missing)} B", brief


@dataclass(frozen=True)
class Slot:
    """A stage now: wordings of what is in it, in a colour; `wrong` when two meet there."""

    name: str
    texts: tuple[str, ...]
    ink: Ink
    wrong: bool
    mbarriers: tuple[Counter, ...]


@dataclass(frozen=True, eq=False)
class StageRing(Panel):
    """The stages from left to right. Parities and arrivals are kept back while a class is asked."""

    share: ClassVar[float] = 0.0
    slots: tuple[Slot, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """A heading, the slot, and a line for each mbarrier."""
        high = (_HEAD + _SLOT + _LINE * len(self.slots[0].mbarriers)) * stage.text(14)
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """A column for each stage."""
        gap = stage.text(14) * 0.9
        for slot, column in zip(self.slots, area.columns(len(self.slots), gap), strict=True):
            yield from self._column(stage, column, slot)

    def _column(self, stage: Stage, area: Rect, slot: Slot) -> Iterator[Mark]:
        size, palette = stage.text(14), stage.palette
        head, area = area.above(size * _HEAD)
        yield label(head.x, head.y + size * 0.6, slot.name, palette.muted, size)
        box, area = area.above(size * (_SLOT - 0.3), size * 0.3)
        wrong = slot.wrong and not stage.asks
        fill = color(stage, slot.ink)
        yield Boxes(box.array(), fill, stroke=palette.border, radius=4, tip=lambda i: slot.texts[0])
        if wrong:
            yield Boxes(
                box.array(), hatch=palette.bad, stroke=palette.bad, stroke_width=2, radius=4
            )
        text = first_fitting(slot.texts, box.width - size, size, True)
        if text and wrong:
            wide = text_width(text, size, True) + size * 0.6
            middle = Rect(box.center[0] - wide / 2, box.y + 3, wide, box.height - 6)
            yield Boxes(middle.array(), fill, radius=3)
        yield label(*box.center, text, palette.ink_on(fill), size, True, "center")
        for mbarrier, row in zip(slot.mbarriers, area.rows(len(slot.mbarriers)), strict=True):
            yield from self._mbarrier(stage, row, mbarrier)

    def _mbarrier(self, stage: Stage, row: Rect, one: Counter) -> Iterator[Mark]:
        """Its name, its parity as a switch between 0 and 1, and what it lacks."""
        size, palette, y = stage.text(14), stage.palette, row.center[1]
        names = max(text_width(name.name, size) for name in self.slots[0].mbarriers)
        yield label(row.x, y, one.name, palette.ink, size)
        side = size * 1.25
        left = row.x + names + size * 0.5
        told = "" if stage.asks else one.words()
        chips = [Rect(left + side * bit, y - side / 2, side, side) for bit in (0, 1)]
        for bit, chip in enumerate(chips):
            here = bit == one.parity and not stage.asks
            fill = palette.accent if here else palette.cell
            yield Boxes(chip.array(), fill, stroke=palette.border, radius=3, tip=lambda i: told)
            ink = palette.ink_on(fill) if here else palette.muted
            yield label(*chip.center, str(bit), ink, size, here, "center")
        room = row.right - chips[-1].right - size * 0.5
        text = "" if stage.asks else first_fitting(one.lacks(), room, size)
        yield label(chips[-1].right + size * 0.5, y, text, palette.muted, size)
