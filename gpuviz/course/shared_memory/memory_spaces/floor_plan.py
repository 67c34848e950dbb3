"""The floor plan of a GPU's memories: what lies on a multiprocessor, L2, device memory, the host.

Variables travel between the lanes and the place where they live, by way of the caches in between:
a thin line goes out, the variable comes (or goes) along it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import F32
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide, first_fitting, wrap
from gpuviz.draw.marks import Boxes, Lines, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.panels.figures import Provenance
from gpuviz.panels.panel import Need, Panel
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_LEAST, _WIDE = 9.5, 28.0  # letters high and wide
_LETTERS = 14, 13, 12  # sizes for the words of places, the largest that fits
_CHIP, _L2, _HOST = 0.53, 0.07, 0.1  # shares of the width; device memory has the rest
_GAP = 0.7  # letters between the parts
_EDGE, _APART = 0.5, 0.2  # letters around the places of a part, and between those of the chip
_INSIDE = 4.0  # pixels around the words of a place


@dataclass(frozen=True)
class Place:
    """A box: its name, the variables that live in it ("" for a cache), and wordings of how far it
    is, longest first.
    """

    name: str
    holds: str = ""
    far: tuple[str, ...] = ()
    tip: str = ""


@dataclass(frozen=True)
class Trip:
    """A variable on its way: from the lanes `via` caches to the last place named, and back.

    `share` of the way there and back is over; what is stored is on its way there from the start.
    """

    name: str
    via: tuple[str, ...]
    share: float
    stores: bool = False


@dataclass(frozen=True, eq=False)
class FloorPlan(Panel):
    """Places by keys: on the `chip`, in `device` memory; `l2` between them where there is one."""

    share: ClassVar[float] = 1.0
    who: tuple[str, ...]  # wordings of what the lanes are, longest first
    chip: Mapping[str, Place]
    l2: Place | None
    device: Mapping[str, Place]
    seen: frozenset[str]  # keys of the places told of so far
    trips: tuple[Trip, ...] = ()  # what is under way
    clock: str = ""  # how much time has passed, in words

    def need(self, stage: Stage, width: float) -> Need:
        """Lanes, a row of places below them, and words in these."""
        size = stage.text(14)
        return Need(_LEAST * size, _LEAST * size, _WIDE * size)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The parts, the ways between them, what is on these."""
        laid = _FloorLayout(self, stage, area)
        yield from laid.grounds()
        for key, box in laid.places.items():
            yield from laid.place(key, box)
        yield from lane_row(
            stage, laid.lanes, np.ones(LANES, bool), np.full(LANES, bool(self.trips))
        )
        for trip in self.trips:
            yield from laid.way(trip)
        for trip in self.trips:
            yield from laid.token(trip)


@dataclass(frozen=True, eq=False)
class _FloorLayout:
    """Where everything goes."""

    panel: FloorPlan
    stage: Stage
    area: Rect

    @property
    def size(self) -> float:
        """Letters."""
        return self.stage.text(14)

    @cached_property
    def words(self) -> tuple[float, bool]:
        """The letters of the words in places, and whether distances are in full: as much of both as
        the multiprocessor and memory have room for.
        """
        free = self.area.width - self._l2 - 2 * self.size * _GAP
        sizes = [self.stage.text(one) for one in _LETTERS]
        tries = (sizes[0], True), *((size, False) for size in sizes)
        return next((one for one in tries if sum(self._least(*one)) <= free), tries[-1])

    def _needs(self, letters: float, full: bool) -> tuple[list[float], list[float]]:
        """The widths of the places on the multiprocessor, and of the columns in device memory."""
        chip, device = (
            [_wide(one, letters, full) for one in places.values()]
            for places in (self.panel.chip, self.panel.device)
        )
        return chip, [max(device[i::2], default=0.0) for i in (0, 1)]

    def _least(self, letters: float, full: bool) -> tuple[float, float]:
        """The least widths of the multiprocessor and of device memory."""
        chip, device = self._needs(letters, full)
        edges = self.size, self.size * _APART * (len(chip) - 1), self.size * (1 + _EDGE)
        return sum(chip) + edges[0] + edges[1], sum(device) + edges[2]

    @cached_property
    def parts(self) -> tuple[Rect, Rect, Rect, Rect | None]:
        """The multiprocessor, L2, device memory, and the host, where that has room."""
        gap, width = self.size * _GAP, self.area.width
        chip, device = self._least(*self.words)
        host = width * _HOST + gap
        free = width - self._l2 - 2 * gap
        beside = chip + device <= free - host
        free -= host * beside
        chip = max(chip, min(width * _CHIP, free - device))
        first, rest = self.area.beside(chip, gap)
        cache, rest = rest.beside(self._l2, gap)
        if not beside:
            return first, cache, rest, None
        last, rest = rest.beside(free - chip, gap)
        return first, cache, last, rest

    @property
    def _l2(self) -> float:
        """The width of L2; without it one gap less."""
        return self.area.width * _L2 if self.panel.l2 else -self.size * _GAP

    @cached_property
    def lanes(self) -> F32:
        """(32, 4) boxes at the top of the multiprocessor."""
        inner = self.parts[0].inset(self.size * 0.5)
        top = self.size * 1.1
        high = min(self.stage.scale * 26, inner.height * 0.16)
        return lane_boxes(inner._replace(y=inner.y + top, height=high))

    @cached_property
    def places(self) -> dict[str, Rect]:
        """The boxes by their keys."""
        chip, cache, device, _ = self.parts
        edge = self.size * _EDGE
        low = chip.bottom - edge
        top = float(self.lanes[0, 1] + self.lanes[0, 3]) + (low - float(self.lanes[0, 1])) * 0.3
        row = Rect(chip.x + edge, top, chip.width - 2 * edge, low - top)
        needs, columns = self._needs(*self.words)
        boxes = dict(zip(self.panel.chip, _cut(row, needs, self.size * _APART), strict=True))
        if self.panel.l2:
            boxes["l2"] = cache
        inner = device.inset(edge)
        grid = inner._replace(y=inner.y + self.size * 1.1, height=inner.height - self.size * 1.1)
        cells = [box for one in grid.rows(2, edge) for box in _cut(one, columns, edge)]
        return boxes | dict(zip(self.panel.device, cells, strict=False))

    def grounds(self) -> Iterator[Mark]:
        """The multiprocessor, device memory and the host, with their names."""
        palette, (chip, _, device, host) = self.stage.palette, self.parts
        middle = device.center[1]
        if host is not None:
            line = np.array([[[device.right, middle], [host.x, middle]]], np.float32)
            yield Lines(line, palette.border, 2.0 * self.stage.scale)
        for part in (chip, device, host):
            if part is not None:
                yield Boxes(part.array(), palette.panel, stroke=palette.border, radius=6)
        clock = self.panel.clock
        wide = text_width(clock, self.size, True) + self.size * 0.8 if clock else 0.0
        named = (
            (chip, self.panel.who, wide, chip.y + self.size * 0.95),
            (device, (tr("device memory"), tr("memory")), 0.0, device.y + self.size * 0.95),
            (host, (tr("host"),), 0.0, middle),
        )
        for part, names, taken, y in named:
            if part is None:
                continue
            edge = self.size * (0.5 if part is not host else 0.2)
            room = part.width - 2 * edge - taken
            text = first_fitting(names, room, self.size) or elide(names[-1], room, self.size)
            yield label(part.x + edge, y, text, palette.muted, self.size)
        if clock and not self.stage.asks:
            x, y = chip.right - self.size * 0.5, chip.y + self.size * 0.95
            yield label(x, y, clock, palette.accent, self.size, True, "right")

    def place(self, key: str, box: Rect) -> Iterator[Mark]:
        """A full box where variables live, a hollow one for a cache on the way."""
        palette = self.stage.palette
        one = self.panel.l2 if key == "l2" else self.panel.chip.get(key) or self.panel.device[key]
        assert one is not None
        home, seen = bool(one.holds), key in self.panel.seen
        fill = palette.soft(palette.shared, 0.65) if home else palette.ground
        fill = fill if seen or not home else palette.todo(fill)
        edge = palette.shared if home and seen else palette.border
        tip = one.tip or one.name
        yield Boxes(box.array(), fill, stroke=edge, stroke_width=1.5, radius=4, tip=lambda i: tip)
        busy = any(key in trip.via and trip.share < 1 for trip in self.panel.trips)
        if busy:
            outline = palette.outline
            yield Boxes(box.inset(-2).array(), stroke=outline, stroke_width=2.5, radius=5)
        quiet = palette.muted if seen or not home else palette.faint
        size, inner = self.words[0], box.width - _INSIDE
        words = [(line, quiet, False) for line in wrap(one.name, inner, size)]
        ink = palette.ink if seen else palette.faint
        words += [(line, ink, True) for line in wrap(one.holds, inner, size, bold=True)]
        far = first_fitting(one.far, inner, size)
        if far:
            words.append((far, palette.accent if seen or not home else palette.faint, False))
        room = max(int(box.height / (size * 1.25)), 1)
        kept = words if len(words) <= room else words[1:] if home else words[:room]
        kept = kept[:room]
        pitch = size * 1.3
        middle = box.center[1] if key != "l2" else box.y + box.height * 0.25  # ways cross L2
        start = middle - pitch * (len(kept) - 1) / 2
        for number, (text, ink, bold) in enumerate(kept):
            if self.stage.asks and text == far:
                continue  # its room is kept
            said = elide(text, box.width - 1, size, bold=bold)
            yield label(box.center[0], start + pitch * number, said, ink, size, bold, "center")

    def points(self, trip: Trip) -> F32:
        """(N, 2) corners of the way from the lanes to where a variable lives."""
        boxes = [self.places[key] for key in trip.via if key in self.places]
        first, last = boxes[0], boxes[-1]
        foot = float(self.lanes[0, 1] + self.lanes[0, 3]) + 2
        if len(boxes) == 1 and trip.via[0] in self.panel.chip:
            return np.array([(first.center[0], foot), (first.center[0], first.y)], np.float32)
        # Along the gap between the rows of device memory, where nothing stands.
        cached = trip.via[0] in self.panel.chip
        down = first.right - first.width * 0.12 if cached else self.parts[0].right - self.size
        across = self.parts[2].center[1] + self.size * 0.55
        edge = last.bottom if last.bottom <= across else last.y
        target = last.center[0]
        corners = [(down, foot), (down, across), (target, across), (target, edge)]
        return np.array(corners, np.float32)

    def way(self, trip: Trip) -> Iterator[Mark]:
        """The way, as far as the request has gone, and in full where data has been."""
        path = self.points(trip)
        out = 1.0 if trip.stores else min(trip.share * 2, 1.0)
        palette, thin = self.stage.palette, 1.5 * self.stage.scale
        yield Lines(_part(path, 0.0, out), palette.soft(palette.accent, 0.4), thin)
        if trip.stores:
            yield Lines(_part(path, 0.0, trip.share), palette.store, thin * 2)
        elif trip.share > 0.5:
            came = 2 - 2 * trip.share
            yield Lines(_part(path, came, 1.0), palette.accent, thin * 2)

    def token(self, trip: Trip) -> Iterator[Mark]:
        """The variable itself, where it is now; nothing once it is there."""
        loaded = trip.share if trip.stores else 2 - 2 * trip.share
        if trip.share >= 1 or (not trip.stores and trip.share < 0.5):
            return
        x, y = _along(self.points(trip), loaded)
        palette, high = self.stage.palette, self.size * 1.35
        wide = text_width(trip.name, self.size, True) + self.size * 0.7
        left = min(max(x - wide / 2, self.area.x), self.area.right - wide)
        box = Rect(left, y - high / 2, wide, high)
        ink = palette.store if trip.stores else palette.accent
        yield Boxes(box.array(), ink, stroke=palette.ground, radius=4)
        over = palette.ink_on(ink[None])[0]
        yield label(*box.center, trip.name, over, self.size, True, "center")


def _wide(place: Place, letters: float, full: bool) -> float:
    """The width of a box in which the words of a place fit, each on its own line if need be."""
    far = place.far[:1] if full else place.far[-1:]
    words = [(word, False) for word in (*place.name.split(), *far)]
    words += [(word, True) for word in place.holds.split()]
    return max(text_width(word, letters, bold) for word, bold in words) + _INSIDE


def _cut(row: Rect, needs: list[float], gap: float) -> Iterator[Rect]:
    """Boxes side by side, each as wide as it needs and what is over in equal parts."""
    over = (row.width - gap * (len(needs) - 1) - sum(needs)) / len(needs)
    for need in needs:
        box, row = row.beside(need + over, gap)
        yield box


def _along(path: F32, share: float) -> tuple[float, float]:
    """The point at a share of a way."""
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    where = share * at[-1]
    return float(np.interp(where, at, path[:, 0])), float(np.interp(where, at, path[:, 1]))


def _part(path: F32, low: float, high: float) -> F32:
    """(N, 2, 2) the segments of a way from one share of it to another."""
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(steps)]) / max(float(steps.sum()), 1e-6)
    inside = path[(at > low) & (at < high)]
    corners = [_along(path, low), *map(tuple, inside.tolist()), _along(path, high)]
    return np.array([[a, b] for a, b in zip(corners, corners[1:], strict=False)], np.float32)


# Cycles that an access takes where Accel-Sim's model of Hopper finds it (fitted to measurements).
_HOPPER = {"register": 0, "shared": 29, "l1": 41, "l2": 237, "device": 431}
# The slides on the first GPUs: 400 to 600 cycles for global memory, a few on the chip.
_SLIDES = {"register": 0, "shared": 4, "l1": 4, "device": 500}


def fitted(arch: Architecture) -> bool:
    """Whether the numbers of the model are of a chip built like this one: one L1 for all loads."""
    return arch.cc >= (7, 0)


def way_of(arch: Architecture, key: str) -> tuple[str, ...]:
    """The places on the way from a warp to the variables of a space, these last."""
    if key in ("register", "shared"):
        return (key,)
    l2 = ("l2",) if arch.cc >= (2, 0) else ()
    if key == "constant":
        return "cache", *l2, key
    looked = arch.cc >= (2, 0) or key == "texture"
    return *(("l1",) * looked), *l2, key


def cycles_of(arch: Architecture, key: str) -> int:
    """About how many cycles the first access to a space's variables takes.

    What was stored a moment ago is still in L1 where that caches local memory; constants are in
    their cache once a warp has read them, which is taken for granted, and as near as any memory on
    the chip: no number for that is known here.
    """
    known = _HOPPER if fitted(arch) else _SLIDES
    if key in ("register", "shared"):
        return known[key]
    if key == "constant":
        return known["shared"]
    if key == "local" and in_l1(arch):
        return known["l1"]
    return known["device"]


def in_l1(arch: Architecture) -> bool:
    """Whether L1 caches local memory: on 2.x and 3.x, and from 7.0 on."""
    return fitted(arch) or (2, 0) <= arch.cc < (5, 0)


def far(arch: Architecture, key: str) -> tuple[str, ...]:
    """The distance of a space in words, longest first: a number where somebody has fitted one."""
    if key == "register":
        return ()
    if key == "constant":
        return _few()
    if fitted(arch):
        return _cycles(cycles_of(arch, key))
    if cycles_of(arch, key) < _SLIDES["device"]:
        return _few()
    return tr("400 to 600 cycles"), "400–600"


def cache_far(arch: Architecture, key: str) -> tuple[str, ...]:
    """The distance of a cache ("l1", "l2") in words; nothing where nobody has fitted it."""
    return _cycles(_HOPPER[key]) if fitted(arch) else ()


def _few() -> tuple[str, ...]:
    return tr("a few cycles"), tr("a few")


def _cycles(n: int) -> tuple[str, ...]:
    return tr("{n} cycles", n=n), str(n)


def source(arch: Architecture) -> Provenance:
    """Where the distances come from."""
    if not fitted(arch):
        said = tr("lecture slides: 400 to 600 cycles for global memory, a few on the chip")
        return Provenance((said, tr("slides: 400 to 600 cycles for global memory")))
    return Provenance(
        (
            tr(
                "cycles: Accel-Sim\u2019s model of Hopper, fitted to measurements · lecture "
                "slides: 400 to 600 cycles for global memory, a few on the chip"
            ),
            tr("cycles: Accel-Sim\u2019s model of Hopper · slides: 400 to 600 for global memory"),
            tr("cycles: Accel-Sim\u2019s model of Hopper"),
        )
    )
