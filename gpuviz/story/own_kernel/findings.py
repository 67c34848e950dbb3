"""The picture of what was found: faults that the checks saw, then accesses that cost more than
they have to; a list, and the moment and the lane of one of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import at_least, columns, first, rows, share, spare
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import GO, Ink, Need, Panel, Values, color
from gpuviz.story.own_kernel import phases, requests
from gpuviz.story.own_kernel.costs import Costly, costly
from gpuviz.story.own_kernel.events import ALL, Events, every_warp
from gpuviz.story.own_kernel.moment import Moment, Narration
from gpuviz.traces.check_table import CHECKS, name_of
from gpuviz.traces.trace import LANES, OUTSIDE, Finding, Launch, MemoryInstruction, lane_mask
from gpuviz.words.language import grouped, tr, trn

_ROW, _GAP = 3.1, 0.4  # letters
_LINES = 4  # at most, that are named


@dataclass(frozen=True)
class Found:
    """One of them: wordings of what it is, longest first, where, and all of it as a sentence."""

    names: tuple[str, ...]
    where: tuple[str, ...]
    told: str
    ink: Ink


@dataclass(frozen=True, eq=False)
class FindingList(Panel):
    """As many as there is room for, those around the `chosen` one (-1: none)."""

    answers: ClassVar[bool] = True
    share: ClassVar[float] = 1.0
    rows: tuple[Found, ...]
    chosen: int
    choose: Callable[[int], Values]

    def need(self, stage: Stage, width: float) -> Need:
        """Two lines each; at least one of them."""
        size = stage.text(14)
        row = size * (_ROW + _GAP)
        return Need(row * len(self.rows), row, size * 12)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Boxes with a bar in the colour of how bad it is."""
        size, palette = stage.text(14), stage.palette
        shown = self._shown(stage, area)
        boxes = [self._box(stage, area, place) for place in range(len(shown))]
        if not boxes:
            return
        rects = np.concatenate([box.array() for box in boxes])
        tips = [self.rows[i].told for i in shown]
        yield Boxes(rects, palette.cell, radius=4, tip=lambda i: tips[i])
        bars = rects.copy()
        bars[:, 2] = size * 0.3
        yield Boxes(bars, np.stack([color(stage, self.rows[i].ink) for i in shown]), radius=1)
        for box, number in zip(boxes, shown, strict=True):
            row, room = self.rows[number], box.width - size * 1.2
            name = first_fitting(row.names, room, size, True) or elide(row.names[-1], room, size)
            where = first_fitting(row.where, room, size) or elide(row.where[-1], room, size)
            yield label(box.x + size * 0.8, box.y + size, name, palette.ink, size, True)
            yield label(box.x + size * 0.8, box.y + size * 2.3, where, palette.muted, size)
            if number == self.chosen:
                yield Boxes(box.array(), stroke=palette.outline, stroke_width=2.0, radius=4)
        left = len(self.rows) - len(shown)
        if left and boxes[-1].bottom + size * 1.3 <= area.bottom:
            said = tr("and {n} more", n=left)
            yield label(area.x, boxes[-1].bottom + size * 0.8, said, palette.muted, size)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """A click goes to one."""
        for place, number in enumerate(self._shown(stage, area)):
            box = self._box(stage, area, place)
            if box.x <= x < box.right and box.y <= y < box.bottom:
                return self.choose(number)
        return None

    def _shown(self, stage: Stage, area: Rect) -> range:
        row, size = stage.text(14) * (_ROW + _GAP), stage.text(14)
        whole = len(self.rows) * row <= area.height + size * _GAP
        room = max(1, int((area.height + (0 if whole else -size * 1.3)) / row) + whole)
        first = max(0, min(self.chosen - room // 2, len(self.rows) - room))
        return range(first, min(first + room, len(self.rows)))

    def _box(self, stage: Stage, area: Rect, place: int) -> Rect:
        size = stage.text(14)
        return Rect(area.x, area.y + place * size * (_ROW + _GAP), area.width, size * _ROW)


CHOSEN = "finding"  # the parameter


@dataclass(frozen=True)
class Where:
    """A thread of a launch: its block, its warp in it, its lane in that; all counted from 0."""

    block: int
    warp: int
    lane: int


def place_of(launch: Launch, block: tuple[int, ...], thread: tuple[int, ...]) -> Where:
    """Where a thread is, given by its indices."""
    number = _linear(block, launch.grid)
    warp, lane = divmod(_linear(thread, launch.block), LANES)
    return Where(number, warp, lane)


def _linear(index: tuple[int, ...], sizes: tuple[int, int, int]) -> int:
    return sum(i * prod(sizes[:axis]) for axis, i in enumerate(index))


def picture(moment: Moment) -> Narration:
    """All findings, and what happens at the moment, of which one may be of them."""
    found, costs = moment.events.trace.findings, costly(moment.run)
    if not found and not costs:
        return _none(moment)
    chosen = chosen_at(moment)
    launch = moment.events.trace.launch

    def choose(number: int) -> Values:
        faults = len(found)
        if number < faults:
            return {CHOSEN: number, **_go(moment.events, found[number])}
        at = costs[number - faults].access.instruction
        op = "atomic" if at.op == "reduction" else at.op
        return {CHOSEN: number, GO: f"line {at.line} {op} {at.space} | line {at.line} | #1"}

    listed = FindingList(
        (*(_row(launch, one) for one in found), *map(_cost_row, costs)),
        chosen if chosen >= 0 else _costly_at(moment, len(found), costs),
        choose,
    )
    here = requests.picture(moment)
    marked = _marked(moment.events, found[chosen]) if chosen >= 0 else np.zeros(0, np.int64)
    below = phases.body(moment, marked)
    beside = columns(share(2, listed), share(3, at_least(here.body, width=32)))
    every = at_least(rows(share(3, beside), share(1, below)), height=30, width=46)
    barrier = moment.events.row[moment.number] < 0  # whose picture is that of the warps anyway
    single = not found and len(costs) == 1  # beside the picture a column would be empty
    wide = rows(share(0, listed), share(3, here.body)) if single else every
    body = first(
        *(() if barrier and not single else (wide,)),
        at_least(beside, width=45),
        here.body if single else rows(share(2, listed), spare(share(3, here.body))),
    )
    if listed.chosen >= len(found) or not found:
        one = costs[max(listed.chosen - len(found), 0)]
        alone = single and listed.chosen == 0  # the title says it
        whole = body if found else rows(here.body if alone else body, spare(_looked_for(moment)))
        said, line = one.access.reason.said, int(moment.events.lines[moment.number])
        if listed.chosen < 0 and line:
            said += " " + tr("Below: line {n}.", n=line)
        return Narration(one.title, said, whole)
    if chosen < 0:
        return Narration(_count(found), _first(found[0]), body)
    return Narration(_title(found[chosen]), _sentence(launch, found[chosen]), body)


def _costly_at(moment: Moment, faults: int, costs: Sequence[Costly]) -> int:
    """Which of the accesses the moment is of, counted behind the faults; -1 for none."""
    did, line = moment.events.did(moment.number), int(moment.events.lines[moment.number])
    here = (line, did.space, did.op) if did is not None else None
    every = (one.access.instruction for one in costs)
    fitting = [faults + n for n, at in enumerate(every) if (at.line, at.space, at.op) == here]
    clicked = moment.values.get(CHOSEN, -1)
    return int(clicked) if clicked in fitting else next(iter(fitting), -1)


def chosen_at(moment: Moment) -> int:
    """Which finding the moment is of, -1 for none; of several the one that was clicked."""
    found = moment.events.trace.findings
    fitting = [n for n, one in enumerate(found) if _is_of(moment.events, moment.number, one)]
    clicked = moment.values.get(CHOSEN, -1)
    return int(clicked) if clicked in fitting else next(iter(fitting), -1)


def _is_of(events: Events, number: int, one: Finding) -> bool:
    """Whether an event is what a finding is of."""
    row, who = int(events.row[number]), place_of(events.trace.launch, one.block, one.thread)
    here = who.block == events.block and one.line == int(events.lines[number])
    if not here or events.warp_of(number) not in (who.warp, ALL):
        return False
    return row < 0 or _touches(events, row, one, who.lane)


def lane_at(moment: Moment) -> int | None:
    """The lane whose fault the moment is of."""
    chosen = chosen_at(moment)
    if chosen < 0 or moment.events.row[moment.number] < 0:
        return None
    one = moment.events.trace.findings[chosen]
    return place_of(moment.events.trace.launch, one.block, one.thread).lane


def _touches(events: Events, row: int, one: Finding, lane: int) -> bool:
    """Whether a request is of the kind of a finding, and has its address in its lane."""
    did = events.trace.instructions[int(events.rows.instruction[row])]
    if not _does(did, _ops(one)[0]):
        return False
    if not one.address:
        return True
    address = int(events.rows.address[row][lane])
    here = bool(events.rows.lanes(row)[lane])
    return here and address <= one.address < address + did.width


def _ops(one: Finding) -> tuple[str, str]:
    """What a race's second access does, and its first: load, store, or "" where it is not said."""
    _, _, kind = one.kind.partition("race, ")
    words = {"read": "load", "write": "store"}
    second, _, before = kind.partition(" after ")
    return words.get(second, ""), words.get(before, "")


def _does(did: MemoryInstruction, op: str) -> bool:
    return op in ("", did.op) or did.op not in ("load", "store")


def _marked(events: Events, one: Finding) -> I64:
    """The requests of the block that a finding is of: one, or both that race."""
    every, launch = every_warp(events), events.trace.launch
    second, before = _ops(one)
    parties = [(one.line, place_of(launch, one.block, one.thread), second)]
    if one.other_thread:
        other = place_of(launch, one.other_block, one.other_thread)
        parties.append((one.other_line, other, before))
    made: list[int] = []
    for line, who, op in parties:
        found = _rows_of(every, one, line, who, op) if who.block == events.block else ()
        made += [i for i in found if i not in made][:1]
    return np.array(made, np.int64)


def _rows_of(every: Events, one: Finding, line: int, who: Where, op: str) -> list[int]:
    """The first requests of a thread on a line that touch the address of a finding."""
    made, instructions = every.rows, every.trace.instructions
    fitting = np.array([did.line == line and _does(did, op) for did in instructions], bool)
    width = np.array([did.width for did in instructions], np.uint64)
    start, address = made.address[:, who.lane], np.uint64(one.address)
    fits = (made.warp == who.warp) & fitting[made.instruction]
    fits &= lane_mask(made.active)[:, who.lane]
    fits &= (start <= address) & (address < start + width[made.instruction])
    here = fits & (made.phase == one.phase)
    return [int(i) for i in np.flatnonzero(here if here.any() else fits)[:2]]


def _go(events: Events, one: Finding) -> Values:
    """To the moment of a finding: its request, its line, or a barrier of that line."""
    who = place_of(events.trace.launch, one.block, one.thread)
    line = f"line {one.line}"
    if one.check == "sync" and events.trace.launch.warps_per_block > 1:  # of nobody's alone
        go = f"{line} barrier | {line} | barrier | #1"
        return _if_known({"block": who.block, "every": True, GO: go}, events.trace.launch)
    exact = f"{line} {_ops(one)[0]} lane {who.lane}" + (f" {one.address:#x}" if one.address else "")
    phase = f" phase {one.phase}" if one.phase >= 0 else ""
    go = f"{exact}{phase} | {exact} | {line} barrier | {line} | #1"
    if events.warp == ALL:
        go = " | ".join(f"warp {who.warp} {part}" for part in go.split(" | ")[:2]) + f" | {go}"
        return _if_known({"block": who.block, GO: go}, events.trace.launch)
    return _if_known({"block": who.block, "warp": who.warp, GO: go}, events.trace.launch)


def _if_known(values: Values, launch: Launch) -> Values:
    """Without what there is nothing to choose of."""
    only = {"block": launch.blocks == 1, "warp": launch.warps_per_block == 1}
    return {name: value for name, value in values.items() if not only.get(name)}


def _row(launch: Launch, one: Finding) -> Found:
    """A finding in two short lines."""
    line = tr("line {n}", n=one.line) if one.line else tr("PTX line {n}", n=one.ptx_line)
    often = f"{line} · {grouped(one.count)} ×" if one.count > 1 else line
    who = place_of(launch, one.block, one.thread)
    where = tr("block {block} · warp {warp} · lane {lane}", **vars(who))
    return Found(
        (name_of(one),),
        (f"{often} · {where}", often, line),
        f"{one.message}\n{one.remedy}".strip(),
        "bad" if one.severity == "error" else "warn",
    )


def _cost_row(one: Costly) -> Found:
    return Found(one.names, one.where, one.access.reason.said, "warn")


def _count(found: Sequence[Finding]) -> str:
    """How many there are, and where."""
    count = trn("The checks found {n} fault", "The checks found {n} faults", len(found))
    if all(one.message.startswith("as proposed") for one in found):
        count = trn(
            "{n} fault that may follow from what was proposed",
            "{n} faults that may follow from what was proposed",
            len(found),
        )
    lines = sorted({one.line for one in found if one.line})
    if not lines or len(lines) > _LINES:
        return count
    where = trn("line {lines}", "lines {lines}", len(lines), lines=", ".join(map(str, lines)))
    return f"{count}: {where}"


def _first(one: Finding) -> str:
    """What the first one is, and what to do about it."""
    said = tr("Click one: the story goes to where it happened.")
    return f"{_title(one)}: {one.remedy}. {said}" if one.remedy else said


def _title(one: Finding) -> str:
    kind = name_of(one)
    return f"{kind[:1].upper()}{kind[1:]}, " + tr("line {n}", n=one.line)


def _sentence(launch: Launch, one: Finding) -> str:
    """Who, and who else; what to do about it."""
    who = place_of(launch, one.block, one.thread)
    told = tr("Lane {lane} of warp {warp} in block {block}", **vars(who))
    if one.other_thread:
        other = place_of(launch, one.other_block, one.other_thread)
        told = tr(
            "{one}, and before it lane {lane} of warp {warp} in block {block} at line {line}, "
            "with nothing to order them",
            one=told,
            line=one.other_line,
            **vars(other),
        )
    if one.phase >= 0:
        told += " · " + tr("phase {n}", n=one.phase + 1)
    if one.kind == OUTSIDE and (near := _nearest(launch, one.address)):
        told += " · " + near
    return f"{told}. {one.remedy[:1].upper()}{one.remedy[1:]}."


def _nearest(launch: Launch, address: int) -> str:
    """Where an address lies, as an element of the buffer before it."""
    before = [buffer for buffer in launch.buffers if buffer.address <= address]
    if not before:
        return ""
    last = max(before, key=lambda buffer: buffer.address)
    place = (address - last.address) // max(last.size // max(last.count, 1), 1)
    what = {"name": last.name, "place": grouped(place), "count": grouped(last.count)}
    return tr("{name}[{place}], and {name} has {count} elements", **what)


def _none(moment: Moment) -> Narration:
    """Nothing was found, or looked for."""
    run = moment.run
    here = requests.picture(moment)
    if not run.checked:
        said = tr("It is large, and runs many times as fast without the checks.")
        return Narration(tr("This launch was not checked"), said, here.body)
    title = tr("The checks found no fault")
    return Narration(title, here.title, rows(here.body, _looked_for(moment)))


def _looked_for(moment: Moment) -> Lines:
    """What no fault was found of."""
    names = ", ".join(tr(CHECKS[name].title).lower() for name in moment.run.checked)
    said = tr("This launch was not checked")
    if names:
        said = tr("No fault. Looked for: {names}", names=names)
    return Lines((Line((said,), "muted"),))
