"""Pictures of the memory spaces: a column each, from the threads down to device memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.draw.bands import bands, partly
from gpuviz.draw.ease import smooth
from gpuviz.draw.figures import line_height, sourced
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide, first_fitting
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.language import tr
from gpuviz.scenes.shared_memory.spaces import Placement, Space, fact_names
from gpuviz.trace import LANES

_EVERY = np.ones(LANES, dtype=bool)
_GAP = 4.0  # between columns
_ROW = 1.3  # least height of a row of words, in letter sizes


@dataclass(frozen=True, eq=False)
class Tour:
    """How far the tour has come: the spaces in order, the one it is at, and how much of that."""

    order: tuple[str, ...]
    at: int
    share: float

    def seen(self, key: str) -> bool:
        """Whether the tour has reached a space."""
        return self.at >= len(self.order) or key in self.order[: self.at + 1]

    def is_now(self, key: str) -> bool:
        """Whether the tour is at a space."""
        return self.at < len(self.order) and self.order[self.at] == key


def columns(stage: Stage, area: Rect, spaces: dict[str, Space], tour: Tour) -> tuple[Mark, ...]:
    """Threads at the top, the multiprocessor, device memory, and the facts of each space below."""
    size, palette = stage.text(14), stage.palette
    names = (*fact_names(), tr("requests"), tr("each"))
    room = max(text_width(n, size) for n in (*names, tr("on chip"), tr("device"))) + size * 0.7
    left, inner = area.beside(room)
    slot = (inner.width - (len(spaces) - 1) * _GAP) / len(spaces)
    whole = all(
        text_width(f"{s.each} {s.unit}", size, True) <= slot + size * 0.4 for s in spaces.values()
    )
    row = min(max(area.height * 0.052, size * _ROW), size * 1.75)
    rows = row * (len(names) + (not whole))
    tiers = area.height - rows - size * 2.5 - line_height(stage)
    lane = min(26 * stage.scale, max(tiers * 0.2, 18.0))
    way = min(max((tiers - lane) * 0.36, 12.0), 130 * stage.scale)
    high = min((tiers - lane - way - 4) / 2, 84 * stage.scale)
    lanes = lane_boxes(Rect(inner.x, area.y, inner.width, lane))
    head = area.y + lane + way
    chip = Rect(inner.x, head + size * 1.5, inner.width, high)
    device = Rect(inner.x, chip.bottom + 4, inner.width, high)
    table = Rect(area.x, device.bottom + size * 0.5, area.width, rows)
    slots = chip.columns(len(spaces), _GAP)
    marks: list[Mark] = []
    for (key, space), place in zip(spaces.items(), slots, strict=True):
        marks += _column(stage, key, space, place, device, head, tour)
        marks += _facts(stage, space, place, table, row, whole, (tour.seen(key), tour.is_now(key)))
    marks += _travel(stage, lanes, spaces, slots, device, head, tour)
    busy = np.full(LANES, tour.at < len(tour.order))
    marks += lane_row(stage, lanes, _EVERY, busy)
    for i, name in enumerate(names):
        y = table.y + row * (i + 0.5)
        marks.append(label(left.x, y, name, palette.muted, size))
    for name, box in ((tr("on chip"), chip), (tr("device"), device)):
        marks.append(label(left.x, box.center[1], name, palette.muted, size))
    marks.append(label(left.x, area.y + lane / 2, tr("warp 0"), palette.muted, size))
    low = Rect(area.x, table.bottom + size * 0.2, area.width, line_height(stage))
    return *marks, *_source(stage, low)


def _source(stage: Stage, area: Rect) -> tuple[Mark, ...]:
    """Where requests and registers come from."""
    texts = (
        tr(
            "requests of warp 0 by the PTX, and what each of them takes; registers by the "
            "compiler's log"
        ),
        tr("requests of warp 0; registers by the compiler's log"),
        tr("requests of warp 0"),
    )
    return sourced(stage, area, tr("model"), stage.palette.accent, texts)


def _column(
    stage: Stage, key: str, space: Space, slot: Rect, device: Rect, head: float, tour: Tour
) -> list[Mark]:
    """A space's name, and its boxes in the multiprocessor and in device memory."""
    palette, size = stage.palette, stage.text(14)
    seen, now = tour.seen(key), tour.is_now(key)
    ink = palette.ink if seen else palette.faint
    text = first_fitting((space.name,), slot.width + 4, size, bold=True) or space.name
    marks: list[Mark] = [label(slot.center[0], head + size * 0.7, text, ink, size, True, "center")]
    low = Rect(slot.x, device.y, slot.width, device.height)
    for name, box, place in ((space.chip, slot, "chip"), (space.device, low, "device")):
        if name:
            home = place == space.home
            marks += _box(stage, box, name, home, seen, now and home, _tip(space))
    return marks


def _box(
    stage: Stage, box: Rect, name: str, home: bool, seen: bool, now: bool, tip: Callable[[int], str]
) -> list[Mark]:
    """A full box where variables live, a hollow one for a cache on the way."""
    palette, size = stage.palette, stage.text(14)
    color = palette.shared if home else palette.border
    fill = palette.soft(palette.shared, 0.65) if home else palette.ground
    if not seen:
        fill, color = palette.todo(fill), palette.border
    marks: list[Mark] = [
        Boxes(box.array(), fill, stroke=color, stroke_width=1.5, radius=4, tip=tip)
    ]
    if now:
        grown = box.inset(-2)
        marks.append(Boxes(grown.array(), stroke=palette.outline, stroke_width=2.5, radius=5))
    words = elide(name, box.width - 4, size, bold=home)
    ink = palette.ink if seen and home else palette.muted if seen else palette.faint
    marks.append(label(*box.center, words, ink, size, bold=home, align="center"))
    return marks


def _tip(space: Space) -> Callable[[int], str]:
    """What hovering a box says."""
    seen, lasts, threads, host = space.facts

    def tip(index: int) -> str:
        return tr(
            "{name} · seen by {seen} · lasts for {lasts}\nthreads: {threads} · host: {host}",
            name=space.name,
            seen=seen,
            lasts=lasts,
            threads=threads,
            host=host,
        )

    return tip


def _facts(
    stage: Stage,
    space: Space,
    slot: Rect,
    table: Rect,
    row: float,
    whole: bool,
    seen_now: tuple[bool, bool],
) -> list[Mark]:
    """Who sees a space, how long it lasts, what its requests take; once the tour is there.

    What they take is kept back while the stage asks.
    """
    seen, now = seen_now
    if not seen:
        return []
    size, palette = stage.text(14), stage.palette
    count = str(space.requests) if space.requests else "–"
    cost = (f"{space.each} {space.unit}".strip(),) if whole else (space.each, space.unit)
    cells = tuple(cell for cell in (*space.facts, count, *cost) if cell)
    marks: list[Mark] = []
    if now:
        back = Rect(slot.x - 2, table.y - 2, slot.width + 4, table.height + 2)
        marks.append(Boxes(back.array(), palette.accent_soft, radius=4))
    y = table.y + row * (np.arange(len(cells)) + 0.5)
    at = np.stack([np.full_like(y, slot.center[0]), y], axis=1).astype(np.float32)
    wide = slot.width + size * 0.4
    words = tuple(_narrow(cell, wide, size) for cell in cells)
    plain = Texts(at[:4], words[:4], palette.ink, size, "center")
    if stage.asks:
        return [*marks, plain]
    return [*marks, plain, Texts(at[4:], words[4:], palette.accent, size, "center", bold=True)]


def _narrow(text: str, width: float, size: float) -> str:
    """A cell's words, cut where a column is too narrow for them."""
    return elide(text, width, size, bold=True)


def _travel(
    stage: Stage,
    lanes: np.ndarray[tuple[int, int], np.dtype[np.float32]],
    spaces: dict[str, Space],
    slots: tuple[Rect, ...],
    device: Rect,
    head: float,
    tour: Tour,
) -> list[Mark]:
    """Bands from the lanes to the space in use: down for a store, up for a load."""
    if tour.at >= len(tour.order):
        return []
    key = tour.order[tour.at]
    slot, space = slots[list(spaces).index(key)], spaces[key]
    start = np.stack([lanes[:, 0] + lanes[:, 2] / 2, lanes[:, 1] + lanes[:, 3] + 3], axis=1)
    x = np.linspace(slot.x + 6, slot.right - 6, LANES)
    end = np.stack([x, np.full(LANES, head - 1)], axis=1)
    curves = bands(start.astype(np.float32), end.astype(np.float32))
    if space.loads and not space.stores:
        curves = np.ascontiguousarray(curves[:, ::-1])
    share = np.full(LANES, float(smooth(min(tour.share * 2, 1.0))))
    colors = stage.palette.lanes
    return [Curves(partly(curves, share), colors, 1.6 * stage.scale)]


def array_facts(one: Placement, other: Placement) -> tuple[tuple[str, str, str], ...]:
    """Rows of the comparison: what, indexed at run time, unrolled."""

    def known(value: int, text: str) -> str:
        return tr("not known") if value < 0 else text

    def row(name: str, pick: Callable[[Placement], int], unit: str) -> tuple[str, str, str]:
        a, b = (known(pick(p), f"{pick(p):,}{unit}".replace(",", "\u2009")) for p in (one, other))
        return name, a, b

    return (
        row(tr("stack of a thread (log)"), lambda p: p.stack, tr(" bytes")),
        row(tr("registers of a thread (log)"), lambda p: p.registers, ""),
        row(tr("local requests (model)"), lambda p: p.requests, ""),
        row(tr("local sectors (model)"), lambda p: p.sectors, ""),
    )
