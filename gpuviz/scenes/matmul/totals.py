"""The global loads of the naive and the tiled kernel side by side, so far and in all."""

from __future__ import annotations

from gpuviz.arrays import Rgba
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.matmul.scene import Multiplication, Operand
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.words import ratio, spaced

Row = tuple[str, int, int]


def rows(about: Multiplication, moment: Moment, share: float) -> tuple[Row, ...]:
    """Name, naive, tiled: of the block so far, and of the whole launch."""
    naive, tiled = about.totals["naive"], about.totals["tiled"]
    return (
        (tr("this block so far"), *_so_far(about, moment, share)),
        (tr("whole launch"), naive.loads, tiled.loads),
        (_moved(about.noun), naive.sectors, tiled.sectors),
    )


def _moved(noun: str) -> str:
    """What the transactions of a whole launch are called."""
    return tr("sectors moved") if noun == "sector" else tr("transactions moved")


def _so_far(about: Multiplication, moment: Moment, share: float) -> tuple[int, int]:
    """Elements that the watched block has loaded from global memory, in both kernels."""
    half = share >= 0.5
    step = moment.naive + (half and moment.step >= 0)
    naive = sum(int(o.naive[step].sum()) for o in (about.m, about.n))
    tiled = 0
    for operand, done in zip((about.m, about.n), moment.tiles, strict=True):
        tiled += _tiles(operand, done + (half and moment.part == f"load {operand.name}"))
    return naive, tiled


def _tiles(operand: Operand, done: int) -> int:
    """Elements loaded with the first tiles of one factor."""
    return int(operand.tiled[done].sum())


def totals(
    stage: Stage, area: Rect, about: Multiplication, moment: Moment, share: float
) -> tuple[Mark, ...]:
    """The comparison as a table, or in short where there is little room; nothing while the stage
    asks what it tells.
    """
    if stage.asks:
        return ()
    size = stage.text(14)
    shown = rows(about, moment, share)
    if area.height < size * 2.5:
        return _line_only(stage, area, *shown[1:])
    if area.height < size * 5.5:
        return _short(stage, area, shown[1:])
    lines = area.rows(len(shown) + 1)
    name = max(text_width(n, size) for n, *_ in shown) + size
    column = size * 5.5
    marks = [*_heads(stage, lines[0], name, column)]
    for number, (row, line) in enumerate(zip(shown, lines[1:], strict=True)):
        marks += _line(stage, line, row, name, column, whole=number > 0)
    return tuple(marks)


def _heads(stage: Stage, line: Rect, name: float, column: float) -> list[Mark]:
    """What the columns are, and that the numbers come from the model."""
    size, palette, y = stage.text(14), stage.palette, line.center[1]
    what = first_fitting((tr("global loads"), tr("loads")), name, size, True)
    marks: list[Mark] = [
        Boxes(Rect(line.x, line.bottom - 1, line.width, 1).array(), palette.border),
        label(line.x, y, what, palette.ink, size, bold=True),
        label(line.x + name + column, y, tr("naive"), palette.ink, size, True, "right"),
        label(line.x + name + 2 * column, y, tr("tiled"), palette.ink, size, True, "right"),
    ]
    pill = text_width(tr("model"), stage.text(13)) + stage.text(13) * 1.2
    if line.width - name - 2 * column > pill + size:
        marks += badge(stage, line.right - pill, y, tr("model"), palette.accent)
    return marks


def _line(
    stage: Stage, line: Rect, row: Row, name: float, column: float, whole: bool
) -> list[Mark]:
    """One row of the table, with the ratio of a whole launch in words where there is room."""
    size, palette, y = stage.text(14), stage.palette, line.center[1]
    what, naive, tiled = row
    color: Rgba = palette.ink if whole else palette.muted
    left = line.x + name + 2 * column + size
    said = first_fitting((ratio(naive, tiled),), line.right - left, size, True) if whole else ""
    return [
        label(line.x, y, what, palette.muted, size),
        label(line.x + name + column, y, spaced(naive), color, size, whole, "right"),
        label(line.x + name + 2 * column, y, spaced(tiled), color, size, whole, "right"),
        label(left, y, said, palette.good, size, bold=True),
    ]


def _both(naive: int, tiled: int) -> str:
    """Both counts with their names."""
    return tr("naive {a} · tiled {b}", a=spaced(naive), b=spaced(tiled))


def _short(stage: Stage, area: Rect, shown: tuple[Row, ...]) -> tuple[Mark, ...]:
    """Two lines: loads and transactions of the whole launch."""
    size, palette = stage.text(14), stage.palette
    marks: list[Mark] = []
    names = (tr("global loads"), shown[1][0])
    for name, (_, naive, tiled), line in zip(names, shown, area.rows(len(shown)), strict=True):
        numbers = _both(naive, tiled)
        arrow = f"{spaced(naive)} → {spaced(tiled)}"
        forms = (
            f"{name}: {numbers} · {ratio(naive, tiled)}",
            f"{name}: {numbers}",
            f"{name}: {arrow}",
            arrow,
        )
        text = first_fitting(forms, line.width, size, bold=True)
        marks.append(label(line.x, line.center[1], text, palette.ink, size, bold=True))
    return tuple(marks)


def _line_only(stage: Stage, area: Rect, loads: Row, sectors: Row) -> tuple[Mark, ...]:
    """One line: loads of the whole launch, and transactions where there is room."""
    _, naive, tiled = loads
    fewer, arrow = ratio(naive, tiled), f"{spaced(naive)} → {spaced(tiled)}"
    long = f"{tr('global loads')}: {_both(naive, tiled)} · {fewer}"
    moved = f"{sectors[0]} {spaced(sectors[1])} → {spaced(sectors[2])}"
    short = f"{tr('loads')} {arrow}"
    forms = (f"{long} · {moved}", f"{short}, {fewer} · {moved}", long, f"{short}, {fewer}", short)
    size = stage.text(14)
    text = first_fitting(forms, area.width, size, bold=True)
    return (label(area.x, area.center[1], text, stage.palette.ink, size, bold=True),)
