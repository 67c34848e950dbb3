"""The address map: a warp's lanes, bands to what they ask for, and the strip of their addresses.

Touched bytes are solid, in the colour of the lane that asks for them; what the request moves and
does not use is hatched. Boxes are transactions, brackets below them gather these to lines of 128
bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.draw.axis import Scales
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import backwards, bands, lane_boxes, lane_row, partly
from gpuviz.memory.request import Request
from gpuviz.memory.units import in_bytes
from gpuviz.panels.address_strip import (
    Longest,
    StripLayout,
    box_tip,
    cell_tip,
    height_of,
    lane_tip,
    lines,
    numbers,
    place,
)
from gpuviz.panels.panel import Need, Panel
from gpuviz.words.language import grouped, tr

_BELOW_LANES, _ABOVE_STRIP = np.array([0, 3], np.float32), np.array([0, 2], np.float32)
_AROUND = np.array([-1.5, -1.5, 3, 3], np.float32)
_CAPTION, _LABELS = 1.5, 3.9  # letters high: above the lanes, below the strip
_BYTES, _BOXES = "bytes of a request", "transactions of a request"
_LEAST, _WIDE = 11.5, 24.0  # letters that all of it is high and wide at least


@dataclass(frozen=True, eq=False)
class _MapLayout:
    """Where everything goes, whatever the time; `curves` (32, 4, 2) run from lanes to the strip."""

    caption: Rect
    lanes: F32
    strip: StripLayout
    curves: F32
    below: Rect


@dataclass(frozen=True, eq=False)
class AddressMap(Panel):
    """A request of which `sent` (0 to 1) went out and `served` transactions came back.

    A fraction of `served` belongs to the transaction under way; `least` is how many letters high it
    is at least.
    """

    share: ClassVar[float] = 1.0
    request: Request
    sent: float = 1.0
    served: float = np.inf
    least: float = _LEAST

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to tell bands and words apart."""
        size = stage.text(14)
        return Need(_LEAST * size, self.least * size, _WIDE * size)

    def scales(self) -> Scales:
        """The strip."""
        return _scales(self.request)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The lanes at the top, the strip with its labels at the bottom, bands between them."""
        request, laid = self.request, _laid(self.request, stage, area)
        over, now = self._progress >= 1, (self._progress > 0) & (self._progress < 1)
        lanes = request.active & now[request.strip.lane_box]
        yield _caption(stage, request, laid.caption)
        yield from self._bands(stage, laid.curves)
        yield from lane_row(
            stage, laid.lanes, request.active, lanes, lambda i: lane_tip(request, i)
        )
        if not stage.asks:  # frames can be counted
            yield from _boxes(stage, request, laid.strip, over, now)
        yield from self._cells(stage, laid.strip.cells)
        yield from numbers(stage, request, laid.strip.boxes, laid.below, over, now)
        yield from lines(stage, request, laid.strip.boxes, laid.below)

    @cached_property
    def _progress(self) -> F64:
        """(S,) how much of each transaction has come, 0 to 1."""
        return np.clip(self.served - self.request.turn, 0.0, 1.0)

    def _bands(self, stage: Stage, curves: F32) -> Iterator[Mark]:
        """Hardly there before; thin once asked for; full where data travels, as far as it came."""
        request, palette = self.request, stage.palette
        lane = np.flatnonzero(request.active)
        came = self._progress[request.strip.lane_box[lane]]
        curves, colors, thin = curves[lane], palette.lanes[lane], 1.2 * stage.scale
        going, waits, sent = came > 0, came < 1, np.full(len(lane), float(smooth(self.sent)))
        if self.sent < 1:
            yield Curves(curves, palette.todo(colors), thin, _tips(request, lane), lane)
        asked = partly(curves, sent)[waits]
        soft = palette.soft(colors[waits], 0.4)
        yield Curves(asked, soft, thin, _tips(request, lane[waits]), lane[waits])
        source = curves if request.is_store else backwards(curves)
        brought = partly(source[going], smooth(came[going]))
        tips, which = _tips(request, lane[going]), lane[going]
        yield Curves(brought, colors[going], 2.5 * stage.scale, tips, which)

    def _cells(self, stage: Stage, cells: F32) -> Iterator[Mark]:
        """Words in the colour of the lane that asks for them, the others hatched."""
        request, palette, strip = self.request, stage.palette, self.request.strip
        used, came = strip.cell_lane >= 0, self._progress[strip.cell_box]
        fill = palette.state(palette.lanes[strip.cell_lane[used]], smooth(came[used]))
        tips, whose = _cell_tips(request, used), strip.cell_lane[used]
        yield Boxes(cells[used], fill, tip=tips, lanes=whose)
        yield from self._waste(stage, cells, ~used, came > 0.5)
        yield from _lane_numbers(stage, strip.cell_lane[used], cells[used], fill)

    def _waste(self, stage: Stage, cells: F32, unused: Bool, came: Bool) -> Iterator[Mark]:
        """What nobody asks for: hatched, unless the stage asks how much that is."""
        palette, request = stage.palette, self.request
        if stage.asks:
            return
        ground, hatch = palette.waste_ground, palette.waste
        dim_ground, dim = palette.todo(ground), palette.todo(hatch)
        done, ahead = unused & came, unused & ~came
        yield Boxes(cells[done], ground, hatch=hatch, tip=_cell_tips(request, done))
        yield Boxes(cells[ahead], dim_ground, hatch=dim, tip=_cell_tips(request, ahead))


def _scales(request: Request) -> dict[str, float]:
    return {_BYTES: float(request.strip.size.sum()), _BOXES: float(len(request.strip.start))}


def _longest(request: Request, stage: Stage) -> Longest | None:
    """What the strips beside this one share with it, None where it stands alone."""
    if _BYTES not in stage.scales:
        return None
    return Longest(*(stage.most(name, own) for name, own in _scales(request).items()))


def _laid(request: Request, stage: Stage, area: Rect) -> _MapLayout:
    small, scale = stage.text(14), stage.scale
    caption, rest = area.above(small * _CAPTION)
    row, rest = rest.above(min(30 * scale, rest.height * 0.12))
    under = small * _LABELS
    longest = _longest(request, stage)
    tall = height_of(request.strip, area.width, rest.height - under, scale, longest)
    low = Rect(area.x, rest.bottom - under - tall, area.width, tall)
    strip, lanes = place(request.strip, low, scale, longest, stage.asks), lane_boxes(row)
    start = np.stack([lanes[:, 0] + lanes[:, 2] / 2, lanes[:, 1] + lanes[:, 3]], axis=1)
    curves = bands(start + _BELOW_LANES, strip.target - _ABOVE_STRIP)
    return _MapLayout(caption, lanes, strip, curves, Rect(area.x, low.bottom, area.width, under))


def _caption(stage: Stage, request: Request, area: Rect) -> Mark:
    """What the row of lanes is, in as many words as there is room for."""
    size = stage.text(14)
    start = tr("warp {warp} of block {block}", warp=request.warp, block=request.block)
    if request.blocks > 1:
        given = {"warp": request.warp, "block": request.block, "all": grouped(request.blocks)}
        start = tr("warp {warp} of block {block}, of {all}", **given)
    what = {"bytes": in_bytes(request.instruction.width), "name": request.name}
    if request.is_update:
        each = f"{start} · {tr('each lane updates {bytes} of {name}', **what)}"
    elif request.is_store:
        each = f"{start} · {tr('each lane writes {bytes} of {name}', **what)}"
    else:
        each = f"{start} · {tr('each lane reads {bytes} of {name}', **what)}"
    forms = (*(f"{each}  ({hint})" for hint in _hints(request)), each, start)
    text = first_fitting(forms, area.width, size)
    return label(area.x, area.y + size * 0.55, text, stage.palette.muted, size)


def _hints(request: Request) -> tuple[str, ...]:
    """What else there is to know, longest first: parts served by themselves, what colours say."""
    if request.groups == 2:
        return tr("each half warp is served by itself"), tr("half by half")
    if request.groups == 4:
        return tr("each quarter warp is served by itself"), tr("quarter by quarter")
    return (tr("hue = quarter warp, brighter = higher lane"),)


def _boxes(
    stage: Stage, request: Request, strip: StripLayout, over: Bool, now: Bool
) -> Iterator[Mark]:
    """A box a transaction: done in the accent, now outlined; dots where addresses are left out."""
    palette, size = stage.palette, stage.text(14)
    edge = np.where(over[:, None], palette.accent, palette.border).astype(np.uint8)
    tip = partial(box_tip, request)
    yield Boxes(strip.boxes, palette.panel, stroke=edge, stroke_width=1.5, radius=5, tip=tip)
    yield Boxes(strip.boxes[now] + _AROUND, stroke=palette.outline, stroke_width=2.5, radius=6)
    if count := len(strip.breaks):
        yield Texts(strip.breaks, ("…",) * count, palette.muted, size, "center")


def _lane_numbers(stage: Stage, lane: I64, cells: F32, fill: Rgba) -> Iterator[Mark]:
    """The lane's number on each element, where all are wide and high enough."""
    size = stage.text(13)
    first = np.flatnonzero(np.diff(lane, prepend=-1))
    last = np.append(first[1:] - 1, len(lane) - 1)
    low, high = cells[first], cells[last]
    room = high[:, 0] + high[:, 2] - low[:, 0]
    if len(first) == 0 or min(room) < text_width("31", size, True) + 3 or min(low[:, 3]) < size:
        return
    at = np.stack([low[:, 0] + room / 2, (low[:, 1] + high[:, 1] + high[:, 3]) / 2], axis=1)
    words, ink = tuple(map(str, lane[first].tolist())), stage.palette.ink_on(fill[first])
    at = at.astype(np.float32)
    yield Texts(at, words, ink, size, "center", bold=True, lanes=lane[first])


def _tips(request: Request, lanes: I64) -> Tip:
    """The hover text of bands that belong to these lanes."""
    return lambda i: lane_tip(request, int(lanes[i]))


def _cell_tips(request: Request, chosen: Bool) -> Tip:
    """The hover text of the chosen cells."""
    cells = np.flatnonzero(chosen)
    return lambda i: cell_tip(request, int(cells[i]))
