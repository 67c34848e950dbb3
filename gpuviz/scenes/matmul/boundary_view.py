"""The picture of the dropped tile: the block at work, what is never loaded, both results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import I64
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.matrix import Matrix
from gpuviz.draw.stage import Stage
from gpuviz.draw.table import Column
from gpuviz.draw.track import track
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.matmul.block_view import block, phase_parts
from gpuviz.scenes.matmul.layout import Framed, Table, areas, framed
from gpuviz.scenes.matmul.results import Outcome, panels, summary
from gpuviz.scenes.matmul.scene import Multiplication, Operand
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.view import global_memory, inside

WRONG = "rounded down"  # the role of the kernel that drops a tile
_NO_TABLE = Table(*[float("inf")] * 3)


@dataclass(frozen=True, eq=False)
class Scene:
    """A moment of one of the two kernels: which one, and the results known by then."""

    about: Multiplication
    moment: Moment
    role: str
    known: tuple[bool, bool]


def draw(
    stage: Stage,
    body: Rect,
    scene: Scene,
    outcomes: Sequence[Outcome],
    runs: Sequence[Run],
    made: tuple[int, int],
    share: float,
    least: float,
) -> tuple[Mark, ...]:
    """Everything below the heading; `made` are the phases of both kernels."""
    about, moment = scene.about, scene.moment
    (rows, inner), (_, columns) = about.sizes.padded("M"), about.sizes.padded("N")
    at = areas(stage, body, _NO_TABLE, (inner + columns) / (inner + rows))
    matrices = framed(stage, at.whole, rows, inner, columns)
    phases = Column((tr("phases"),), tuple(map(str, made)))
    return (
        *global_memory(stage, matrices, about, moment, share, least),
        *_never(stage, matrices, scene),
        *_wrong(stage, matrices.matrices.corner, scene, outcomes[scene.role != WRONG]),
        *block(stage, at.shared, matrices, about, moment, share, least),
        *panels(stage, at.naive, outcomes, scene.known, least),
        *summary(stage, at.totals, outcomes, scene.known, (phases,), runs),
        *_track(stage, at.track, scene),
    )


def _track(stage: Stage, area: Rect, scene: Scene) -> tuple[Mark, ...]:
    """All phases there should be, those that this kernel leaves out hatched."""
    wanted, made = scene.about.sizes.phases, scene.about.phases
    now = scene.moment.track
    if scene.moment.part in ("store", "result"):
        now += 4 * (wanted - made)
    told = wanted if stage.asks else made  # which are left out answers a question
    return track(stage, area, phase_parts(stage, wanted, told), now)


def dropped(about: Multiplication, operand: Operand) -> I64:
    """Cells of a padded factor that hold elements which the block needs and never loads."""
    needed, loaded = operand.naive[-1] > 0, operand.tiled[-1] > 0
    element = inside(operand.shape, operand.padded)
    return np.flatnonzero((element >= 0) & (needed & ~loaded)[element])


def _never(stage: Stage, at: Framed, scene: Scene) -> tuple[Mark, ...]:
    """Elements that are never loaded, hatched once the sums are stored without them."""
    if scene.moment.part not in ("store", "result"):
        return ()
    marks: list[Mark] = []
    for operand, matrix in ((scene.about.m, at.matrices.left), (scene.about.n, at.matrices.top)):
        marks += _hatched(stage, matrix, dropped(scene.about, operand))
    return tuple(marks)


def _wrong(stage: Stage, matrix: Matrix, scene: Scene, result: Outcome) -> tuple[Mark, ...]:
    """The block's elements of P that are wrong, in the end."""
    if scene.moment.part != "result":
        return ()
    about = scene.about
    element = inside(about.sizes.shape("P"), about.sizes.padded("P"))
    mine = np.isin(element, about.tiled.stored[~about.guards])
    return _hatched(stage, matrix, np.flatnonzero(mine & result.wrong.ravel()[element]))


def _hatched(stage: Stage, matrix: Matrix, cells: I64) -> tuple[Mark, ...]:
    """Some cells of a matrix, marked as left out or wrong, unless the stage asks which."""
    if not len(cells) or stage.asks:
        return ()
    palette = stage.palette
    return (
        Boxes(
            matrix.cells[cells],
            palette.waste_ground,
            hatch=palette.bad,
            stroke=palette.bad,
            stroke_width=1.5,
        ),
    )
