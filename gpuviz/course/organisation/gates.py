"""What a launch asks for, sliding against a wall that stands at the limits of a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel
from gpuviz.words.language import grouped, tr

_ROW, _LOW = 1.75, 1.2  # letters that a row is high at most, and at least
_TRACK = 5.0  # letters that the way to the wall is long at least
_HIT, _RECOIL = 0.45, 0.2  # of a row's time until the wall is hit; how far back it then goes


@dataclass(frozen=True)
class Gate:
    """What a launch asks for (None: nothing) and what each device allows (None: not said)."""

    name: str
    asked: int | None
    allowed: tuple[int | None, ...]

    def refused(self, device: int) -> bool:
        """Whether a device refuses."""
        most = self.allowed[device]
        return self.asked is not None and most is not None and self.asked > most


@dataclass(frozen=True, eq=False)
class Gates(Panel):
    """One row a limit: a bar as long as its share of what is allowed, up to the wall or at it."""

    share: ClassVar[float] = 1.0
    # Names, each with wordings from the longest; the first is the one whose wall it is.
    devices: tuple[tuple[str, ...], ...]
    gates: tuple[Gate, ...]
    asked: float  # share of the rows in which is said what is asked for
    # Rows compared so far, the fraction being the one under way; none while a class is asked what
    # comes of the launch.
    compared: float

    def need(self, stage: Stage, width: float) -> Need:
        """Rows as high as they may be; they can do with less."""
        size, rows = stage.text(14), len(self.gates) + 1
        return Need(size * _ROW * rows, size * _LOW * rows, self._side(stage, 1) + _TRACK * size)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Titles, then the rows, then the wall."""
        size, muted, view = stage.text(14), stage.palette.muted, self._view(stage, area)
        yield _cell(view.name, view.rows[0], tr("limit"), muted, size, left=True)
        yield _cell(view.asked, view.rows[0], tr("asked"), muted, size)
        for column, forms in zip(view.devices, self.devices, strict=False):
            yield _cell(column, view.rows[0], first_fitting(forms, column.width, size), muted, size)
        for number, row in enumerate(view.rows[1:]):
            yield from self._row(stage, view, row, number)

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """Where a `launch` waits before the wall."""
        if name != "launch":
            return None
        view, size = self._view(stage, area), stage.text(14)
        top = view.rows[0]
        tall = min(size * 1.2, top.height - 2)
        return Rect(view.track.x, top.center[1] - tall / 2, size * 2.6, tall).array()

    def _side(self, stage: Stage, devices: int) -> float:
        """What all columns but the track take, with so many devices."""
        size = stage.text(14)
        return sum(self._columns(stage, devices)) + size * (1.4 + 0.6 * devices)

    def _columns(self, stage: Stage, devices: int) -> list[float]:
        """How wide the names, what is asked, and each device are."""
        size = stage.text(14)
        names = max(text_width(one.name, size) for one in self.gates)
        said = [tr("asked"), *(counted(one.asked) for one in self.gates)]
        asked = max(text_width(text, size, True) for text in said)
        each = [
            max(
                text_width(self.devices[i][-1], size),
                *(text_width(counted(one.allowed[i]), size, True) for one in self.gates),
            )
            for i in range(devices)
        ]
        return [names, asked, *each]

    def _view(self, stage: Stage, area: Rect) -> _View:
        """Where everything goes: as many devices as leave a track."""
        size, count = stage.text(14), len(self.gates) + 1
        devices = next(
            (
                n
                for n in range(len(self.devices), 1, -1)
                if self._side(stage, n) + _TRACK * size <= area.width
            ),
            1,
        )
        names, asked, *each = self._columns(stage, devices)
        high = min(area.height, size * _ROW * count)
        rows = area._replace(height=high).rows(count)
        track = area.width - self._side(stage, devices)
        x = area.x + names + size * 0.4 + asked + size * 0.5
        places, right = [], x + track
        for wide in each:
            places.append(Rect(right + size * 0.6, area.y, wide, high))
            right += wide + size * 0.6
        return _View(
            rows,
            Rect(area.x, area.y, names, high),
            Rect(area.x + names + size * 0.4, area.y, asked, high),
            Rect(x, area.y, track, high),
            tuple(places),
        )

    def _row(self, stage: Stage, view: _View, row: Rect, number: int) -> Iterator[Mark]:
        palette, size, gate = stage.palette, stage.text(14), self.gates[number]
        compared = min(max((-1.0 if stage.asks else self.compared) - number, 0.0), 1.0)
        worst = compared > 0 and gate.refused(0)
        ink = palette.bad if worst else palette.ink
        yield _cell(view.name, row, gate.name, ink, size, left=True)
        if self.asked > number / len(self.gates):
            strong = palette.bad if worst else palette.accent
            yield _cell(view.asked, row, counted(gate.asked), strong, size, bold=True)
        yield from self._bar(stage, view, row, gate, compared)
        for device, column in enumerate(view.devices):
            yield from self._allowed(stage, column, row, gate, device, compared >= 1)

    def _bar(
        self, stage: Stage, view: _View, row: Rect, gate: Gate, compared: float
    ) -> Iterator[Mark]:
        """The way to the wall, what has come of it, and the wall's piece in this row."""
        palette, size, track = stage.palette, stage.text(14), view.track
        most = gate.allowed[0]
        bar = Rect(track.x, row.y + 2, track.width, row.height - 4)
        yield Boxes(bar.array(), palette.cell, radius=2)
        refused = gate.refused(0)
        if gate.asked is not None and most and compared > 0:
            wide = max(bar.width * _reach(gate.asked / most, compared), 3.0)
            body = bar._replace(width=min(wide, bar.width)).array()
            if refused:
                red = palette.bad
                yield Boxes(body, palette.soft(red, 0.75), stroke=red, hatch=red, radius=2)
                yield from self._times(stage, bar, gate.asked / most, compared)
            else:
                yield Boxes(body, palette.soft(palette.accent, 0.3), radius=2)
        over = compared >= (_HIT if refused else 1.0)
        wall = palette.border if not over else palette.bad if refused else palette.good
        piece = Rect(bar.right - 1, row.y, max(size * 0.3, 4.0), row.height + 0.5)
        yield Boxes(piece.array(), wall)
        if over and refused:
            yield _struck(bar.right + size * 0.15, row, palette.bad)

    def _times(self, stage: Stage, bar: Rect, share: float, compared: float) -> Iterator[Mark]:
        """How many times too much, once that has been seen."""
        size, palette = stage.text(14), stage.palette
        if compared < 1:
            return
        forms = (tr("{n} times the limit", n=f"{share:.3g}"), tr("{n} times", n=f"{share:.3g}"))
        text = first_fitting(forms, bar.width - size, size, True)
        if text:
            wide = text_width(text, size, True) + size * 0.6
            plate = Rect(bar.x + size * 0.2, bar.y + 2, wide, bar.height - 4)
            yield Boxes(plate.array(), palette.ground, radius=3)
            yield label(plate.x + size * 0.3, bar.center[1], text, palette.bad, size, bold=True)

    def _allowed(
        self, stage: Stage, column: Rect, row: Rect, gate: Gate, device: int, over: bool
    ) -> Iterator[Mark]:
        """What one device allows; a line through what is too little: not by colour alone."""
        palette, size = stage.palette, stage.text(14)
        text, name = counted(gate.allowed[device]), self.devices[device][0]
        crossed = over and gate.refused(device)

        def tip(i: int) -> str:
            if gate.allowed[device] is None:
                return tr("{device}: {limit} is not said", device=name, limit=gate.name)
            return tr("{device}: {limit} up to {n}", device=name, limit=gate.name, n=text)

        place = Rect(column.x, row.y, column.width, row.height)
        ink = palette.bad if crossed else palette.ink if device == 0 else palette.muted
        yield Boxes(place.array(), tip=tip)
        yield _cell(column, row, text, ink, size, bold=crossed)
        if crossed and device:
            left = column.right - text_width(text, size, True) - 2
            y = row.center[1]
            yield Lines(np.array([[[left, y], [column.right + 2, y]]], np.float32), ink, 1.5)


@dataclass(frozen=True)
class _View:
    """Where everything goes."""

    rows: tuple[Rect, ...]
    name: Rect
    asked: Rect
    track: Rect
    devices: tuple[Rect, ...]


def _reach(share: float, compared: float) -> float:
    """How far a bar has come on the way to the wall: against it, back, and against it again."""
    if share <= 1:
        return share * compared
    if compared < _HIT:
        return compared / _HIT
    return 1 - _RECOIL * float(np.sin(np.pi * (compared - _HIT) / (1 - _HIT)))


def _struck(x: float, row: Rect, ink: Rgba) -> Mark:
    """A cross over the wall."""
    half, y = min(row.height * 0.28, 7.0), row.center[1]
    points = [
        [[x - half, y - half], [x + half, y + half]],
        [[x - half, y + half], [x + half, y - half]],
    ]
    return Lines(np.array(points, np.float32), ink, 2.5)


def counted(value: int | None) -> str:
    """A count, thousands apart; 2^31 − 1 by its name; a dash for what is not known."""
    if value is None:
        return "–"
    return "2^31 - 1" if value == 2**31 - 1 else grouped(value)


def _cell(
    column: Rect,
    row: Rect,
    text: str,
    ink: Rgba,
    size: float,
    left: bool = False,
    bold: bool = False,
) -> Mark:
    """A text in a row, numbers to the right."""
    x = column.x if left else column.right
    return label(x, row.center[1], text, ink, size, bold, "left" if left else "right")
