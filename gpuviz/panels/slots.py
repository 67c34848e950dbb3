"""A multiprocessor as rows of slots that blocks fill, one by one, until a resource is used up."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.arch.occupancy_fit import Fit
from gpuviz.base.arrays import F32
from gpuviz.draw.ease import passed
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel
from gpuviz.words.language import grouped, tr, trn

_MOST_OVER = 0.3  # of a row, kept for the part of a block that does not fit
_LEAST_OVER = 0.06
_ROW = 3.0  # letters high at least
_LEAST_CELL = 5  # pixels


@dataclass(frozen=True)
class Resource:
    """One row."""

    # name, unit: what it is; what a block has of it, in words.
    name: str
    unit: str
    # capacity, need: of the multiprocessor; of one block.
    capacity: int
    need: int
    room: int | None  # blocks it has room for, None when none of it is used
    limits: bool  # whether it is what keeps one block more out
    used: tuple[str, ...]  # of capacity, so far: wordings from the longest
    counted: bool = False  # whether single slots are told apart, where there is room
    idle: float = 0.0  # the part of each block's need that is given and not used, 0 to 1
    empty: bool = False  # whether slots that stay empty are a loss


@dataclass(frozen=True, eq=False)
class Slots(Panel):
    """The rows: `arrived` of `blocks` are there (the fraction is the one under way); `tried` goes
    from 0 to 1 while one block more is tried.
    """

    share: ClassVar[float] = 1.0
    resources: tuple[Resource, ...]
    blocks: int
    arrived: float
    tried: float

    def need(self, stage: Stage, width: float) -> Need:
        """Words and a bar for each."""
        high = _ROW * stage.text(14) * len(self.resources)
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """One row below the other, all ending at the same line."""
        rows = area.rows(len(self.resources), stage.text(14) * 0.5)
        end = area.x + area.width / (1 + self._over())
        for one, row in zip(self.resources, rows, strict=True):
            yield from self._row(stage, row, end, one)

    def _over(self) -> float:
        """How far beyond the end one block more would reach, of the row's length."""
        held = [one for one in self.resources if one.limits]
        reach = [(self.blocks + 1) * one.need / one.capacity - 1 for one in held]
        return min(max(*reach, _LEAST_OVER), _MOST_OVER) if reach else 0.0

    def _row(self, stage: Stage, row: Rect, end: float, one: Resource) -> Iterator[Mark]:
        """One resource: its words, and its bar."""
        size, palette = stage.text(14), stage.palette
        words, bar = row.above(size * 1.3)
        bar = Rect(bar.x, bar.y, end - bar.x, min(bar.height, size * 5.5))
        yield from self._words(stage, words._replace(width=end - words.x), one)
        base = palette.cell if one.room is not None else palette.panel
        yield Boxes(bar.array(), base, stroke=palette.border, radius=3)
        if one.room is None:
            return
        yield from _cells(stage, bar, one)
        yield from self._filled(stage, bar, one)
        if self.tried > 0 and not stage.asks:
            yield from self._tried(stage, bar, row.right, one)
        line = np.array([[[bar.right, bar.y - 3], [bar.right, bar.bottom + 3]]], np.float32)
        yield Lines(line, palette.ink, 2.0)

    def _words(self, stage: Stage, area: Rect, one: Resource) -> Iterator[Mark]:
        """Name, used of capacity, and room; the name alone while the stage asks."""
        palette, size, y = stage.palette, stage.text(14), area.y + stage.text(14) * 0.55
        yield label(area.x, y, one.name, palette.ink, size, bold=True)
        if stage.asks:
            return
        limits = one.limits and self.tried > 0
        room, ink = _room(one, limits), palette.warn if limits else palette.muted
        yield label(area.right, y, room, ink, size, limits, "right")
        x = area.x + text_width(one.name, size, True) + size * 0.7
        free = area.right - text_width(room, size, limits) - size - x
        if text := first_fitting(one.used, free, size):
            yield label(x, y, text, palette.muted, size)

    def _filled(self, stage: Stage, bar: Rect, one: Resource) -> Iterator[Mark]:
        """The blocks that are there: done, now."""
        palette, size = stage.palette, stage.text(13)
        spans, number = _spans(bar, one, self.blocks), np.arange(self.blocks)
        over = passed(self.arrived)
        there, now = spans[number < over], spans[(number == over) & (self.arrived > number)]
        accent, edge, color = palette.accent, palette.outline, palette.soft(palette.accent, 0.35)

        def tip(block: int) -> str:
            return tr("block {n}: {need} {what}", n=block, need=grouped(one.need), what=one.unit)

        yield Boxes(there, color, radius=2, tip=tip)
        yield Boxes(now, accent, stroke=edge, stroke_width=2, radius=2)
        if one.idle and len(there):
            rest = there.copy()
            rest[:, 2] *= one.idle
            rest[:, 0] += there[:, 2] - rest[:, 2]
            yield Boxes(rest, palette.waste_ground, hatch=palette.waste)
        widest = text_width(str(self.blocks - 1), size, True) + 4
        if len(there) and there[0, 2] >= widest and bar.height >= size + 4:
            at, ink = centers(there), palette.ink_on(color)
            yield Texts(at, tuple(map(str, range(len(there)))), ink, size, "center", bold=True)

    def _tried(self, stage: Stage, bar: Rect, right: float, one: Resource) -> Iterator[Mark]:
        """One block more: outlined where there is room, hatched where there is none.

        Once it has been tried, slots that stay empty are hatched.
        """
        palette, wide = stage.palette, bar.width * one.need / one.capacity
        x = bar.x + self.blocks * wide
        if one.empty and x < bar.right - 1 and self.tried >= 1:
            rest = Rect(x + 1, bar.y + 2, bar.right - x - 3, bar.height - 4)
            yield Boxes(rest.array(), palette.waste_ground, hatch=palette.waste, radius=2)
        reach = max(min(wide - 2, right - x - 1), 2.0)
        ghost = Rect(x + 1, bar.y + 2, reach, bar.height - 4).array()
        if one.limits:
            bad, fill = palette.bad, palette.soft(palette.bad, 0.7)
            yield Boxes(ghost, fill, stroke=bad, stroke_width=2, hatch=bad, radius=2)
        elif self.tried < 1:
            yield Boxes(ghost, stroke=palette.muted, stroke_width=1.5, radius=2)


def _room(one: Resource, limits: bool) -> str:
    """How many blocks a resource has room for."""
    if one.room is None:
        return tr("none used")
    text = trn("room for {n} block", "room for {n} blocks", one.room)
    return "▸ " + tr("{room}: the limit", room=text) if limits else text


def _cells(stage: Stage, bar: Rect, one: Resource) -> Iterator[Mark]:
    """Fine lines between slots, where there are few enough of them to be told apart."""
    if not one.counted or bar.width / one.capacity < _LEAST_CELL:
        return
    x = bar.x + np.arange(1, one.capacity) / one.capacity * bar.width
    low, high = np.full_like(x, bar.bottom - 1), np.full_like(x, bar.y + 1)
    points = np.stack([x, high, x, low], axis=1).reshape(-1, 2, 2).astype(np.float32)
    yield Lines(points, stage.palette.border, 1.0)


def _spans(bar: Rect, one: Resource, count: int) -> F32:
    """(count, 4) what each block takes of a row."""
    wide = bar.width * one.need / one.capacity
    x = bar.x + np.arange(count) * wide
    gap = 2.0 if wide >= 6 else 1.0 if wide >= 3 else 0.0
    sizes = np.full_like(x, wide - gap), np.full_like(x, bar.height - 4)
    return np.stack([x + gap / 2, np.full_like(x, bar.y + 2), *sizes], axis=1).astype(np.float32)


def slots_of(fit: Fit, arrived: float, tried: float) -> Slots:
    """The rows when so many blocks have arrived, and one more is tried, 0 to 1."""
    blocks = passed(arrived)
    resources = tuple(_resource(fit, number, blocks) for number in range(len(fit.slots)))
    return Slots(resources, fit.found.blocks, arrived, tried)


def title_of(fit: Fit) -> str:
    """How full it gets."""
    blocks, threads = fit.found.blocks, fit.demand.threads
    if blocks == 0:
        return tr("No block of {threads} threads fits", threads=threads)
    if blocks == 1:
        what = {"threads": threads, "percent": fit.percent}
        return tr("One block of {threads} threads: {percent} of the warp slots", **what)
    what = {"blocks": blocks, "threads": threads, "percent": fit.percent}
    return tr("{blocks} blocks of {threads} threads: {percent} of the warp slots", **what)


def _resource(fit: Fit, number: int, blocks: int) -> Resource:
    """A row of slots when so many blocks are there."""
    one = fit.slots[number]
    lanes = one.need * fit.arch.warp
    warps = one.id == "warps"
    return Resource(
        one.name,
        one.name,
        one.capacity,
        one.need,
        one.room,
        one.id in fit.limiters,
        _used(fit, number, blocks),
        counted=one.id in ("warps", "blocks"),
        idle=(lanes - fit.demand.threads) / lanes if warps else 0.0,
        empty=warps,
    )


def _used(fit: Fit, number: int, blocks: int) -> tuple[str, ...]:
    """Used of capacity, in wordings from long to short."""
    one = fit.slots[number]
    if one.room is None:
        return ("",)
    used, all_, need = (grouped(n) for n in (blocks * one.need, one.capacity, one.need))
    brief, plain = f"{used} / {all_}", tr("{used} of {all}", used=used, all=all_)
    if one.id == "blocks":
        return plain, brief
    each = tr("{plain} · {need} a block", plain=plain, need=need)
    if one.id == "warps":
        own = -(-fit.demand.threads // fit.arch.warp)
        if own < one.need:  # slots are given out in twos: more are taken than warps are there
            what = {"plain": plain, "need": need, "warps": own}
            given = tr("{plain} taken · {need} a block for its {warps} warps", **what)
            return given, tr("{plain} taken", plain=plain), plain, brief
        threads = grouped(blocks * fit.demand.threads)
        return tr("{each} · {threads} threads", each=each, threads=threads), each, plain, brief
    if one.id == "registers":
        return each, plain, brief
    said = tr("{plain} bytes · {need} a block", plain=plain, need=need)
    if fit.demand.shared == 0:  # what it is given all the same
        said = tr("{plain} bytes · {need} a block for the system", plain=plain, need=need)
    return said, each, plain, brief
