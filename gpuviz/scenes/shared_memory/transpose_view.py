"""Pictures of a transpose: tiles of the matrices and of shared memory while elements move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F32, F64, I64, Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark, Raster
from gpuviz.draw.matrix import Matrix, painted
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.shared_memory.transpose_block import Block, Moves, Pass, Tile

_PLACES = ("in", "tile", "out")
_GAP = 0.035  # between tiles, of the width


@dataclass(frozen=True, eq=False)
class Now:
    """How far each kind of request has come: the watched one (0 to 1), and all of the block's."""

    first: dict[str, float]
    all: dict[str, float]
    under_way: str


def side(stage: Stage, area: Rect) -> float:
    """The side of the tiles in an area."""
    size = stage.text(14)
    return min((area.width - 2 * _GAP * area.width) / 3, area.height - size * 3.4)


def tiles(stage: Stage, area: Rect, block: Block, now: Now) -> tuple[Mark, ...]:
    """The three tiles side by side with their names above and their counts below."""
    size, wide = stage.text(14), side(stage, area)
    marks: list[Mark] = []
    slots = area.columns(3, _GAP * area.width)
    for name, slot in zip(_PLACES, slots, strict=True):
        tile = block.tiles.get(name)
        box = Rect(slot.x, slot.y + size * 1.5, wide, wide)
        marks += _title(stage, slot, name, tile, size)
        if tile is None:
            marks += _unused(stage, box, size)
            continue
        marks += _tile(stage, box, block, name, tile, now)
        marks += _counts(
            stage, Rect(slot.x, box.bottom + size * 0.3, slot.width, size * 1.6), block, name, now
        )
    return tuple(marks)


def _title(stage: Stage, slot: Rect, name: str, tile: Tile | None, size: float) -> list[Mark]:
    """What a tile is, and which rows and columns of its matrix."""
    palette = stage.palette
    if name == "tile":
        banks = tile.columns if tile else 32
        forms = (
            tr("shared memory: {banks} banks side by side", banks=banks),
            tr("shared memory, {banks} banks", banks=banks),
            tr("shared memory"),
        )
    elif tile is not None:
        rows = f"[{tile.row}…{tile.row + tile.rows - 1}]"
        columns = f"[{tile.column}…{tile.column + tile.columns - 1}]"
        forms = (f"{name}{rows}{columns}", name, "")
    text = first_fitting(forms, slot.width, size, bold=True)
    if not text:
        return []
    return [label(slot.x, slot.y + size * 0.6, text, palette.ink, size, bold=True)]


def _unused(stage: Stage, box: Rect, size: float) -> tuple[Mark, ...]:
    """Where shared memory would be."""
    palette = stage.palette
    frame = Boxes(box.array(), stroke=palette.border, radius=4)
    return frame, label(*box.center, tr("not used"), palette.faint, size, align="center")


def _tile(stage: Stage, box: Rect, block: Block, name: str, tile: Tile, now: Now) -> list[Mark]:
    """The cells in the colours of their elements, and the request under way."""
    pitch_x, pitch_y = box.width / tile.columns, box.height / tile.rows
    fill = _fill(stage, block, name, tile, now)
    marks: list[Mark] = [_painted(box, tile, fill, _tip(tile))]
    kinds = {"in": ("read",), "tile": ("put", "get"), "out": ("write",)}[name]
    if name == "tile":
        marks.append(_unused_words(stage, box, block, tile))
    for kind in kinds:
        if kind == now.under_way:
            marks += _request(
                stage, box, block.moves[kind], tile, now.first[kind], (pitch_x, pitch_y)
            )
    return marks


def _unused_words(stage: Stage, box: Rect, block: Block, tile: Tile) -> Mark:
    """Words that the block never stores to, such as padding, hatched."""
    palette, pitch = stage.palette, (box.width / tile.columns, box.height / tile.rows)
    free = np.flatnonzero(block.moves["put"].color_of_cells(tile.rows * tile.columns) < 0)
    places = np.stack([*np.divmod(free, tile.columns), np.ones(len(free), int)], axis=1)
    return Boxes(_rects(box, places, pitch), palette.waste_ground, hatch=palette.waste)


def _painted(box: Rect, tile: Tile, fill: Rgba, tip: Callable[[int], str]) -> Mark:
    """The cells as an image, or as boxes where these are large and square."""
    if tile.rows == tile.columns and box.width / tile.columns >= 7:
        pitch = box.width / tile.columns
        return painted(Matrix(box.x, box.y, tile.rows, tile.columns, pitch), fill, tip)
    pixels = fill.reshape(tile.rows, tile.columns, 4)
    return Raster(
        (box.x, box.y, box.width, box.height),
        pixels,
        lambda row, column: tip(row * tile.columns + column),
    )


def _tip(tile: Tile) -> Callable[[int], str]:
    """What hovering a cell says."""

    def tip(cell: int) -> str:
        row, column = divmod(cell, tile.columns)
        if tile.name == "tile":
            return tr("word {word} · bank {bank}", word=cell, bank=column)
        return f"{tile.name}[{tile.row + row}][{tile.column + column}]"

    return tip


def _fill(stage: Stage, block: Block, name: str, tile: Tile, now: Now) -> Rgba:
    """(cells, 4): dim until an element has been read (or has come), full from then on."""
    palette = stage.palette
    kind = {"in": "read", "tile": "put", "out": "write"}[name]
    moves, cells = block.moves[kind], tile.rows * tile.columns
    color = moves.color_of_cells(cells)
    share = _came(moves, cells, now.first[kind], now.all[kind])
    full = palette.lanes[np.maximum(color, 0)]
    start = palette.todo(full) if name == "in" else np.broadcast_to(palette.cell, full.shape)
    mixed = start + (full.astype(float) - start) * share[:, None]
    return np.where((color >= 0)[:, None], np.rint(mixed), palette.cell).astype(np.uint8)


def _came(moves: Moves, cells: int, first: float, others: float) -> F64:
    """(cells,) how far each element has moved: the watched request first, then all in order."""
    order = moves.order_of_cells(cells)
    share = np.clip(others * len(moves.cell) - order, 0.0, 1.0)
    watched = moves.cell[moves.mine]
    share[watched] = np.maximum(share[watched], _served(moves, first))
    return np.asarray(share, np.float64)


def _served(moves: Moves, first: float) -> F64:
    """(32,) how far each lane of the watched request has been served."""
    return np.clip(first * moves.first.count - moves.first.turn, 0.0, 1.0)


def _request(
    stage: Stage, box: Rect, moves: Moves, tile: Tile, first: float, pitch: tuple[float, float]
) -> list[Mark]:
    """Transactions with what they move for nothing, and the cells served right now."""
    palette, served = stage.palette, _served(moves, first)
    cells = moves.cell[moves.mine]
    going = (served > 0) & (served < 1)
    marks: list[Mark] = []
    seen = min(int(np.ceil(first * moves.first.count)), moves.first.count)
    boxes = moves.first.boxes[:seen]
    if len(boxes):
        waste = _wasted(boxes, cells, tile.columns)
        if not stage.asks:
            marks.append(
                Boxes(_rects(box, waste, pitch), palette.waste_ground, hatch=palette.waste)
            )
        marks.append(
            Boxes(
                _rects(box, boxes, pitch),
                stroke=palette.accent,
                stroke_width=1.5 if pitch[1] >= 8 else 1.0,
            )
        )
    else:
        every = np.stack([*np.divmod(cells, tile.columns), np.ones(len(cells), int)], axis=1)
        marks.append(Boxes(_rects(box, every, pitch), stroke=palette.ink, stroke_width=1.0))
    ones = np.stack([*np.divmod(cells[going], tile.columns), np.ones(going.sum(), int)], axis=1)
    bold = pitch[1] >= 8 or going.sum() <= 4
    around = np.array([-1.5, -1.5, 3, 3], np.float32) * bold
    marks.append(
        Boxes(
            _rects(box, ones, pitch) + around,
            stroke=palette.outline,
            stroke_width=2.0 if bold else 1.0,
            radius=1,
        )
    )
    return marks


def _wasted(boxes: I64, cells: I64, columns: int) -> I64:
    """(W, 3) cells of the transactions that no lane asks for, each as one cell."""
    rows = np.repeat(boxes[:, 0], boxes[:, 2])
    start = np.repeat(np.cumsum(boxes[:, 2]) - boxes[:, 2], boxes[:, 2])
    column = np.repeat(boxes[:, 1], boxes[:, 2]) + np.arange(len(rows)) - start
    free = ~np.isin(rows * columns + column, cells)
    return np.stack([rows[free], column[free], np.ones(free.sum(), int)], axis=1)


def _rects(box: Rect, places: I64, pitch: tuple[float, float]) -> F32:
    """(N, 4) areas of (N, 3) rows, first columns and widths in cells."""
    row, column, wide = np.asarray(places, np.float64).reshape(-1, 3).T
    x, y = box.x + column * pitch[0], box.y + row * pitch[1]
    sizes = wide * pitch[0], np.full_like(y, pitch[1])
    return np.stack([x, y, *sizes], axis=1).astype(np.float32)


def _counts(stage: Stage, area: Rect, block: Block, name: str, now: Now) -> list[Mark]:
    """What the watched requests at a tile cost, side by side; nothing while the stage asks."""
    if stage.asks:
        return []
    palette, size = stage.palette, stage.text(14)
    kinds = {"in": ("read",), "tile": ("put", "get"), "out": ("write",)}[name]
    ones = [block.moves[kind].first for kind in kinds]
    forms = [_cost(kind, one) for kind, one in zip(kinds, ones, strict=True)]
    slots = area.columns(len(kinds), size * 0.8)
    fits = (
        all(text_width(f[level], size, True) <= slots[0].width for f in forms)
        for level in range(len(forms[0]))
    )
    level = next((i for i, ok in enumerate(fits) if ok), -1)
    marks: list[Mark] = []
    for kind, one, form, slot in zip(kinds, ones, forms, slots, strict=True):
        color = palette.warn if one.count > one.ideal else palette.good
        color = color if now.first[kind] > 0 else palette.faint
        marks.append(label(slot.x, slot.center[1], form[level], color, size, bold=True))
    return marks


def _cost(kind: str, one: Pass) -> tuple[str, ...]:
    """What one request takes, longest wording first."""
    verb = {"read": tr("read"), "write": tr("written"), "put": tr("in"), "get": tr("out")}[kind]
    ideal = tr("ideal {count}", count=one.ideal)
    short = f"{verb}: {one.counted}"
    return f"{short}, {ideal}", short, f"{verb}: {one.count}", str(one.count)
