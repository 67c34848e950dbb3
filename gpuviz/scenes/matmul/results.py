"""Results of several kernels beside each other: values, and the elements that are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F64, Bool
from gpuviz.draw import table
from gpuviz.draw.figures import sourced
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting
from gpuviz.draw.marks import Boxes, Mark, Texts, Tip
from gpuviz.draw.matrix import Matrix, painted
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.matmul.words import number, spaced

_SQUARE, _TALL = 64.0, 1.35  # largest cell; a line of caption


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one kernel has left in P, beside the product in double precision.

    `names` is what it is called, in more words or less; `wrong` marks elements that differ by more
    than rounding explains.
    """

    names: tuple[str, ...]
    value: F64
    reference: F64
    wrong: Bool

    @property
    def name(self) -> str:
        """What it is called in full."""
        return self.names[0]

    @property
    def difference(self) -> float:
        """The largest absolute difference."""
        return float(np.abs(self.value - self.reference).max(initial=0.0))

    @property
    def count(self) -> int:
        """How many elements are wrong."""
        return int(self.wrong.sum())

    @property
    def said(self) -> str:
        """`9 of 9 wrong`."""
        if not self.count:
            return tr("none wrong")
        return tr("{n} of {all} wrong", n=spaced(self.count), all=spaced(self.wrong.size))


def outcome(names: tuple[str, ...], value: F64, m: F64, n: F64) -> Outcome:
    """A result checked against the product of two matrices in double precision."""
    reference = m @ n
    rounding = m.shape[1] * 2.0**-23 * (np.abs(m) @ np.abs(n))
    return Outcome(names, value, reference, np.abs(value - reference) > rounding)


def panels(
    stage: Stage, area: Rect, outcomes: Sequence[Outcome], shown: Sequence[bool], least: float
) -> tuple[Mark, ...]:
    """One matrix an outcome, beside or below each other; those not yet known are empty, and all
    are while the stage asks.
    """
    shown = [known and not stage.asks for known in shown]
    rows, columns = outcomes[0].value.shape
    size, count = stage.text(14), len(outcomes)
    head, gap = size * _TALL, size * 1.2
    beside = min((area.width - gap * (count - 1)) / (count * columns), (area.height - head) / rows)
    below = min(area.width / columns, (area.height - (head + size * 0.4) * count) / (count * rows))
    pitch = min(max(beside, below), _SQUARE * stage.scale)
    if pitch < 1.5:
        return ()
    pitch = float(int(pitch)) if pitch >= 4 else pitch
    marks: list[Mark] = []
    for place, (one, known) in enumerate(zip(outcomes, shown, strict=True)):
        x, y = area.x, area.y
        if beside >= below:
            x += place * (columns * pitch + gap)
        else:
            y += place * (head + rows * pitch + size * 0.4)
        room = (columns * pitch + gap * 0.8) if beside >= below else area.width
        marks += _caption(stage, x, y, room, one, known)
        marks += _panel(stage, Matrix(x, y + head, rows, columns, pitch), one, known, least)
    return tuple(marks)


def _caption(
    stage: Stage, x: float, y: float, room: float, one: Outcome, known: bool
) -> list[Mark]:
    """The name of an outcome, and how many of its elements are wrong."""
    size, palette, middle = stage.text(14), stage.palette, y + stage.text(14) * 0.6
    said = one.said if known else ""
    color = palette.bad if one.count else palette.good
    name = first_fitting(one.names, room, size, True)
    marks: list[Mark] = [label(x, middle, name, palette.ink, size, True)] if name else []
    left = text_width(name, size, True) + size * 0.6
    if said and left + text_width(said, size, True) <= room:
        marks.append(label(x + left, middle, said, color, size, True))
    return marks


def _panel(
    stage: Stage, matrix: Matrix, one: Outcome, known: bool, least: float
) -> tuple[Mark, ...]:
    """The values: wrong ones hatched, all of them empty while they are not known."""
    palette, wrong = stage.palette, one.wrong.ravel() & known
    fill = np.tile(
        palette.soft(palette.store, 0.35) if known else palette.cell, (one.value.size, 1)
    )
    fill[wrong] = palette.waste_ground
    marks: list[Mark] = [painted(matrix, fill, tip_of(one) if known else None)]
    if wrong.any():
        marks.append(
            Boxes(matrix.cells[wrong], hatch=palette.bad, stroke=palette.bad, stroke_width=1.5)
        )
    return (*marks, *_values(stage, matrix, one, fill, least)) if known else tuple(marks)


def _values(
    stage: Stage,
    matrix: Matrix,
    one: Outcome,
    fill: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
    least: float,
) -> tuple[Mark, ...]:
    """The numbers, on plain ground, where all of them fit."""
    words = tuple(number(v) for v in one.value.ravel().tolist())
    widest = max(words, key=len)
    room, size = matrix.pitch - matrix.gap, min(stage.text(14), (matrix.pitch - matrix.gap) * 0.8)
    size = float(int(min(size, size * (room - 4) / text_width(widest, size, True))))
    if size < least:
        return ()
    wide = np.array([text_width(word, size, True) + size * 0.4 for word in words], np.float32)
    middle, wrong = centers(matrix.cells), one.wrong.ravel()
    plates = np.stack(
        [middle[:, 0] - wide / 2, middle[:, 1] - size * 0.6, wide, np.full_like(wide, size * 1.2)],
        axis=1,
    )[wrong]
    ground = Boxes(plates, stage.palette.waste_ground, radius=3)
    return ground, Texts(middle, words, stage.palette.ink_on(fill), size, "center", bold=True)


def tip_of(one: Outcome) -> Tip:
    """What hovering an element of P says."""
    columns = one.value.shape[1]

    def tip(cell: int) -> str:
        row, column = divmod(cell, columns)
        value, right = (number(float(a[row, column])) for a in (one.value, one.reference))
        said = f"P[{row}][{column}] = {value}"
        if not one.wrong[row, column]:
            return f"{one.name}: {said}"
        return tr("{name}: {said}, where {right} is right", name=one.name, said=said, right=right)

    return tip


def summary(
    stage: Stage,
    area: Rect,
    outcomes: Sequence[Outcome],
    shown: Sequence[bool],
    columns: Sequence[table.Column],
    runs: Sequence[Run],
) -> tuple[Mark, ...]:
    """A row an outcome: its name, `columns`, wrong elements, differences; or a line of words."""
    if area.height < table.height_of(stage, len(outcomes), 1, True) * 0.86:
        return _lines(stage, area, outcomes, shown)
    known = list(zip(outcomes, shown, strict=True))
    made = (
        table.Column(("",), tuple(one.name for one in outcomes), "left", bold=True),
        *columns,
        table.Column(
            (tr("wrong elements"), tr("wrong")),
            tuple(f"{one.count} / {one.wrong.size}" if k else "" for one, k in known),
            badge=tr("model"),
        ),
        table.Column(
            (tr("largest difference"), tr("difference")),
            tuple(number(one.difference) if k else "" for one, k in known),
            optional=4,
        ),
        _returned(stage, runs),
    )
    laid = table.lay_out(stage, area, made)
    return table.draw(stage, laid, len(outcomes))


def _returned(stage: Stage, runs: Sequence[Run]) -> table.Column:
    """How far what a GPU returned is from the emulated result."""
    found = [run.measurement for run in runs]
    cells = tuple("–" if m is None else number(m.differences.get("P", 0.0)) for m in found)
    first = next((m for m in found if m is not None), None)
    word = (
        tr("unavailable")
        if first is None
        else (tr("recorded") if first.source == "recorded" else tr("live"))
    )
    return table.Column(
        (tr("the GPU differs from it by"), tr("GPU differs by"), tr("GPU")),
        cells,
        badge=word,
        color=stage.palette.muted,
        optional=3,
    )


def _lines(
    stage: Stage, area: Rect, outcomes: Sequence[Outcome], shown: Sequence[bool]
) -> tuple[Mark, ...]:
    """The outcomes known in words, or the worst of them, with the badge of their source."""
    known = [one for one, k in zip(outcomes, shown, strict=True) if k]
    if not known:
        return ()
    worst = max(known, key=lambda one: one.count)
    forms = (
        *(" · ".join(f"{one.names[i]}: {one.said}" for one in known) for i in (0, -1)),
        f"{worst.name}: {worst.said}",
        worst.said,
    )
    return sourced(stage, area, tr("model"), stage.palette.accent, forms)
