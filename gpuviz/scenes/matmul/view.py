"""The picture of the tiled kernel's matrices in global memory, and what all pictures share."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import I64, Bool, Rgba
from gpuviz.draw.color import mix
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting, wrap
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.matrix import (
    Matrix,
    guards,
    heat,
    indices,
    number_size,
    numbers,
    once,
    outlined,
    painted,
    planned,
    ticking,
    tile_lines,
)
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.matmul.layout import Framed, above_columns, beside_rows
from gpuviz.scenes.matmul.scene import Multiplication, Operand
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.tips import element_tip, product_tip
from gpuviz.scenes.matmul.words import times

Names = tuple[str, str, str]
Notes = tuple[tuple[str, ...], tuple[str, ...]]  # in more words or less


def captions(
    stage: Stage, framed: Framed, names: Names, notes: Notes = ((), ())
) -> tuple[Mark, ...]:
    """The names of the three matrices, notes beside the first two, numbers of rows and columns.

    Notes are kept back while the stage asks: they say how often elements are read.
    """
    notes = ((), ()) if stage.asks else notes
    if framed.flat:
        return _flat_captions(stage, framed, names, notes)
    size, ink, at = stage.text(14), stage.palette.ink, framed.matrices
    corner, low = at.corner, at.corner.y - framed.gap + size * 0.75
    high = low if not framed.numbered else at.left.y - framed.gap - size * 0.45
    top = framed.area.y + size * 0.6
    marks: list[Mark] = [
        label(at.left.x, high, names[0], ink, size, bold=True),
        label(corner.x, top, names[1], ink, size, bold=True),
        label(corner.x, low, names[2], ink, size, bold=True),
    ]
    for x, y, name, note, matrix in (
        (at.left.x, high, names[0], notes[0], at.left),
        (corner.x, top, names[1], notes[1], at.top),
    ):
        taken = text_width(name, size, True) + size * 0.5
        text = first_fitting(note, matrix.area.width - taken, size)
        marks += [label(x + taken, y, text, stage.palette.muted, size)] if text else []
    if framed.numbered:
        beside, rows = corner.x - framed.gap / 2, (framed.area.x + at.left.x) / 2
        marks += [
            indices(stage, above_columns(framed, at.left.x, low, at.left.columns)),
            indices(stage, above_columns(framed, corner.x, top + size * 1.25, at.top.columns)),
            indices(stage, beside_rows(framed, rows, corner.y, corner.rows)),
            indices(stage, beside_rows(framed, beside, at.top.y, at.top.rows)),
        ]
    return tuple(marks)


def _flat_captions(stage: Stage, framed: Framed, names: Names, notes: Notes) -> tuple[Mark, ...]:
    """The names of three matrices that stand side by side, and their notes."""
    size, at, marks = stage.text(14), framed.matrices, list[Mark]()
    matrices = (at.left, at.top, at.corner)
    for name, note, matrix in zip(names, (*notes, ()), matrices, strict=True):
        above = matrix.y - framed.area.y >= size
        wide, ink = text_width(name, size, True), stage.palette.ink
        if above and wide <= matrix.area.width + framed.gap:
            y, taken = matrix.y - size * 0.7, wide + size * 0.4
            said = first_fitting(note, matrix.area.width + framed.gap * 0.6 - taken, size)
            marks.append(label(matrix.x, y, name, ink, size, bold=True))
            if said:
                marks.append(label(matrix.x + taken, y, said, stage.palette.muted, size))
        elif not above and wide <= size * 1.5:
            x = matrix.x - wide - size * 0.35
            marks.append(label(x, matrix.area.center[1], name, ink, size, bold=True))
    return tuple(marks)


def inside(shape: tuple[int, int], padded: tuple[int, int]) -> I64:
    """(rows * columns,) the element in each cell of a padded matrix, -1 beyond its edges."""
    row, column = np.divmod(np.arange(padded[0] * padded[1]), padded[1])
    return np.where((row < shape[0]) & (column < shape[1]), row * shape[1] + column, -1)


def on_cells(values: Rgba, element: I64, beyond: Rgba) -> Rgba:
    """Colours of elements as colours of the cells of the padded matrix."""
    return np.where((element >= 0)[:, None], values[element], beyond).astype(np.uint8)


def global_memory(
    stage: Stage, framed: Framed, about: Multiplication, moment: Moment, share: float, least: float
) -> tuple[Mark, ...]:
    """M, N and P: what the block has read, reads now, and will read."""
    notes = notes_of(
        [o.tiled[n] for o, n in zip((about.m, about.n), moment.tiles, strict=True)],
        number_size(stage, framed.matrices.left, "1", least),
    )
    marks = list(captions(stage, framed, ("M", "N", "P"), notes))
    marks += legend(stage, framed, about, least)
    at, done = framed.matrices, moment.tiles
    for operand, matrix, count in zip((about.m, about.n), (at.left, at.top), done, strict=True):
        now = moment.part == f"load {operand.name}"
        marks += factor(
            stage, matrix, operand, operand.tiled, count, share if now else 0.0, about, least
        )
        marks += _tile_outline(stage, matrix, operand, about, moment)
    return *marks, *result(stage, at.corner, about, moment, share)


def factor(
    stage: Stage,
    matrix: Matrix,
    operand: Operand,
    reads: I64,
    done: int,
    share: float,
    about: Multiplication,
    least: float,
) -> tuple[Mark, ...]:
    """A factor in global memory: reads after `done` of (S + 1, E) as heat and number."""
    palette, ever = stage.palette, reads[-1] > 0
    read = told(stage, ticking(reads[done], reads[min(done + 1, len(reads) - 1)], share))
    fill = planned(
        palette, heat(palette, read, operand.most), once(palette, operand.most), ever, read == 0
    )
    element = inside(operand.shape, operand.padded)
    cells = on_cells(fill, element, palette.soft(palette.cell, 0.7))
    count = np.where(element >= 0, read[element], 0)

    def tip(cell: int) -> str:
        return element_tip(about, operand, int(element[cell]), int(count[cell]))

    return (
        painted(matrix, cells, tip),
        tile_lines(stage, matrix, about.sizes.tile),
        *often(stage, matrix, count, cells, count > 0, least),
    )


def told(stage: Stage, count: I64) -> I64:
    """Counts of reads; while the stage asks for them, just whether there was one."""
    return np.minimum(count, 1) if stage.asks else count


def often(
    stage: Stage, matrix: Matrix, count: I64, fill: Rgba, shown: Bool, least: float
) -> tuple[Mark, ...]:
    """Counts of reads in their cells; none while the stage asks for them."""
    return () if stage.asks else numbers(stage, matrix, count, fill, shown, least)


def _tile_outline(
    stage: Stage, matrix: Matrix, operand: Operand, about: Multiplication, moment: Moment
) -> tuple[Mark, ...]:
    """The tile of the phase; its cells beyond the edge of the matrix are hatched."""
    loading = moment.part == f"load {operand.name}"
    if moment.part in ("store", "result"):
        return ()
    tile, palette = about.sizes.tile, stage.palette
    row, column = (int(n) for n in operand.origin[moment.phase])
    area = matrix.part(row, column, tile, tile)
    color, width = (palette.outline, 3.0) if loading else (palette.accent, 2.0)
    beyond = np.flatnonzero(operand.held[moment.phase] < 0)
    cells = (row + beyond // tile) * matrix.columns + column + beyond % tile
    hatched = (guards(stage, matrix.cells[cells], loading),) if len(cells) else ()
    return *hatched, outlined(area, color, width, pad=0.0)


def result(
    stage: Stage, matrix: Matrix, about: Multiplication, moment: Moment, share: float
) -> tuple[Mark, ...]:
    """P: the block's elements grow with their sums, and are stored in the end."""
    palette, sizes = stage.palette, about.sizes
    element = inside(sizes.shape("P"), sizes.padded("P"))
    mine = np.isin(element, about.tiled.stored[~about.guards])
    done = (moment.naive + (share if moment.step >= 0 else 0.0)) / sizes.inner
    color = palette.state(palette.compute, np.array([done]))[0]
    stored = {"store": float(smooth(share)), "result": 1.0}.get(moment.part, 0.0)
    color = mix(color, palette.store, stored)
    fill = np.where((element >= 0)[:, None], palette.cell, palette.soft(palette.cell, 0.7))
    fill = np.where(mine[:, None], color, fill).astype(np.uint8)
    bx, by = about.block
    block = matrix.part(by * sizes.tile, bx * sizes.tile, sizes.tile, sizes.tile)

    def tip(cell: int) -> str:
        return product_tip(about, int(element[cell]))

    marks: list[Mark] = [painted(matrix, fill, tip), tile_lines(stage, matrix, sizes.tile)]
    marks += _block_guards(stage, matrix, about)
    marks.append(outlined(block, palette.accent, 2.0, pad=0.0))
    return *marks, *_followed(stage, matrix, about)


def _block_guards(stage: Stage, matrix: Matrix, about: Multiplication) -> tuple[Mark, ...]:
    """The cells of P's block beyond the edge: threads that store nothing."""
    tile, (bx, by) = about.sizes.tile, about.block
    row, column = np.divmod(np.flatnonzero(about.guards), tile)
    cells = (by * tile + row) * matrix.columns + bx * tile + column
    return (guards(stage, matrix.cells[cells], False),) if len(cells) else ()


def _followed(stage: Stage, matrix: Matrix, about: Multiplication) -> tuple[Mark, ...]:
    """The followed thread's element."""
    (bx, by), (x, y), tile = about.block, about.thread, about.sizes.tile
    return own(stage, matrix, np.array([(by * tile + y) * matrix.columns + bx * tile + x]))


def legend(stage: Stage, framed: Framed, about: Multiplication, least: float) -> tuple[Mark, ...]:
    """What colour and number of a cell say, in the corner that the matrices leave free; nothing
    while the stage asks, as they do not say it then.
    """
    if stage.asks:
        return ()
    at, size = framed.matrices, stage.text(14)
    room = Rect(
        framed.area.x,
        framed.area.y,
        at.left.area.right - framed.area.x,
        at.top.area.bottom - framed.area.y - size * 1.8,
    )
    x, y = about.block
    text = (
        tr("Heat and number: reads by block ({x},{y})", x=x, y=y)
        if number_size(stage, at.left, "1", least)
        else tr("Heat: reads by block ({x},{y})", x=x, y=y)
    )
    lines = wrap(text, room.width, size)
    widest = max(text_width(line, size) for line in lines)
    if widest > room.width or len(lines) * size * 1.35 > room.height:
        return ()
    first = room.y + size * 0.6
    return tuple(
        label(room.x, first + i * size * 1.35, line, stage.palette.muted, size)
        for i, line in enumerate(lines)
    )


def own(stage: Stage, matrix: Matrix, cells: I64) -> tuple[Mark, ...]:
    """Two lines inside the cells of the followed thread, to be seen on light and on dark ones."""
    palette, width = stage.palette, min(3.0, max(matrix.pitch * 0.12, 1.0))
    rects = matrix.cells[cells[cells >= 0]]
    inner = rects + np.array([width, width, -2 * width, -2 * width], np.float32)
    line = Boxes(rects, stroke=palette.outline, stroke_width=width, radius=3)
    if matrix.pitch < 8:
        return (line,)
    return (line, Boxes(inner, stroke=palette.ground, stroke_width=max(width * 0.6, 1.0), radius=2))


def notes_of(counts: list[I64], size: float) -> Notes:
    """How often elements have been read, where cells have no room to say it."""
    m, n = (_note(int(c.max(initial=0)) if not size else 0) for c in counts)
    return m, n


def _note(count: int) -> tuple[str, ...]:
    """`read 8 times`, in more words or less."""
    if not count:
        return ()
    return tr("read {times}", times=times(count)), times(count), f"{count} ×"
