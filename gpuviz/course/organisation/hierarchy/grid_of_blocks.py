"""The blocks of a grid in their places and order, and the multiprocessors they ran on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.draw.ease import staggered
from gpuviz.draw.figures import lines, pill_width
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.volume import numbers, planes, volume
from gpuviz.panels.panel import Need, Panel
from gpuviz.traces.trace import Launch
from gpuviz.words.language import tr

_AROUND = np.array([-2, -2, 4, 4], np.float32)


@dataclass(frozen=True)
class SmAssignment:
    """The multiprocessor `sm` of each block, of the `count` that a device has; who said so."""

    sm: dict[int, int]
    count: int
    badge: str
    device: str


@dataclass(frozen=True, eq=False)
class GridOfBlocks(Panel):
    """The blocks of a launch, `counted` (0 to 1) of them numbered; `shown` is outlined.

    `placement` says where they ran, if that was measured.
    """

    share: ClassVar[float] = 0.31
    launch: Launch
    shown: int
    placement: SmAssignment | None
    counted: float

    def need(self, stage: Stage, width: float) -> Need:
        """A few cells."""
        return Need(8 * stage.text(14), 6 * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The grid above, where its blocks ran below."""
        palette, size, launch = stage.palette, stage.text(14), self.launch
        name = size * 1.4
        inside = area.above(name)[1]
        half = inside._replace(height=inside.height * 0.5)
        blocks = volume(half, launch.grid, name if launch.grid[2] > 1 else 0.0, 52 * stage.scale)
        number = np.arange(launch.blocks)
        rects = blocks.cells(*np.array([launch.block_index(int(b)) for b in number]).T)
        done = staggered(self.counted, launch.blocks)
        fill = palette.state(np.broadcast_to(palette.accent_soft, (launch.blocks, 4)), done)
        forms = tr("grid: {n} blocks", n=launch.blocks), tr("grid")
        text = first_fitting(forms, area.width, size)
        yield label(area.x, area.y + size * 0.6, text, palette.muted, size)
        yield from planes(stage, blocks)
        yield Boxes(rects, fill, stroke=palette.border, radius=3, tip=self.tip)
        chosen = rects[self.shown : self.shown + 1] + _AROUND
        yield Boxes(chosen, stroke=palette.accent, stroke_width=2.5, radius=4)
        yield from numbers(stage, rects[done >= 1], number[done >= 1], fill[done >= 1])
        top = blocks.area.bottom + size * 0.9
        yield from _placed(stage, self, Rect(area.x, top, area.width, area.bottom - top))

    def tip(self, block: int) -> str:
        """What hovering a block says."""
        x, y, z = self.launch.block_index(block)
        where = tr("block {block} · blockIdx ({x}, {y}, {z})", block=block, x=x, y=y, z=z)
        if self.placement and block in self.placement.sm:
            return f"{where}\n{tr('ran on multiprocessor {sm}', sm=self.placement.sm[block])}"
        return where


def _placed(stage: Stage, seen: GridOfBlocks, rest: Rect) -> tuple[Mark, ...]:
    """Which multiprocessor ran which block, if that was measured."""
    palette, size = stage.palette, stage.text(14)
    head, below = rest.above(size * 1.7, size * 0.3)
    if seen.placement is None:
        why = tr("The multiprocessor (SM) of each block is measured: no GPU and no recording.")
        said, left = lines(stage, below, why, palette.muted)
        if left.height < -size * 0.4:
            said = ()
        word = tr("SM: unavailable") if not said else tr("unavailable")
        return *badge(stage, head.x, head.center[1], word), *said
    placed = seen.placement
    sms = sorted(set(placed.sm.values()))
    pill = pill_width(stage, placed.badge)
    few = tr("{n} of {all} SMs", n=len(sms), all=placed.count)
    text = first_fitting((f"{few} · {placed.device}", few), head.width - pill, size)
    return (
        *badge(stage, head.x, head.center[1], placed.badge),
        label(head.x + pill, head.center[1], text, palette.muted, size),
        *_processors(stage, placed.sm, sms, seen.shown, below),
    )


def _processors(
    stage: Stage, placement: dict[int, int], sms: list[int], shown: int, area: Rect
) -> tuple[Mark, ...]:
    """A box for each multiprocessor at work, as many as there is room for, with its blocks."""
    size = stage.text(14)
    blocks = {sm: [b for b, s in placement.items() if s == sm] for sm in sms}
    numbers = {sm: " ".join(map(str, blocks[sm])) for sm in sms}
    for words in (
        [tr("SM {sm}: block {n}", sm=sm, n=numbers[sm]) for sm in sms],
        [f"SM {sm}: {numbers[sm]}" for sm in sms],
    ):
        wide = max(text_width(w, size) for w in words) + size
        columns = max(int(area.width // wide), 1)
        fitting = max(int(area.height // (size * 1.7)), 0) * columns
        if fitting >= len(words):
            break
    if not fitting:
        return ()
    home = next((i for i, sm in enumerate(sms) if shown in blocks[sm]), 0)
    kept = _kept(len(sms), fitting, home)
    few = [words[i] for i in kept] + ["…"] * (1 < fitting < len(words))
    rows = -(-len(few) // columns)
    rects = grid(Rect(area.x, area.y, area.width, rows * size * 1.7), rows, columns, 3.0)
    rects = rects[: len(few)]
    mine = np.array([shown in blocks[sms[i]] for i in kept], bool)
    inner = rects[:, :2] + np.array([size * 0.4, float(rects[0, 3]) / 2], np.float32)
    return (
        Boxes(rects, stage.palette.panel, stroke=stage.palette.border, radius=3),
        Boxes(rects[: len(kept)][mine], stroke=stage.palette.accent, stroke_width=2, radius=3),
        Texts(inner, tuple(few), stage.palette.ink, size),
    )


def _kept(count: int, fitting: int, home: int) -> list[int]:
    """Which of so many are shown where only some fit, an ellipsis among them: the first ones, and
    always the one at `home`.
    """
    if count <= fitting:
        return list(range(count))
    first = list(range(max(fitting - 1, 1)))
    return first if home in first else [*first[:-1], home]
