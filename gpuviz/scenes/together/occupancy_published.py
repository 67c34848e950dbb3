"""Published occupancies beside ours: block shapes on a Tesla C2070, and the tutorials' examples."""

from __future__ import annotations

from dataclasses import dataclass

from gpuviz.arch import Architecture
from gpuviz.draw import table
from gpuviz.draw.figures import line_height, sourced
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.plot import axes, lay_out, linear, points, spread
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.occupancy import Occupancy
from gpuviz.scenes.together.occupancy_fit import G80, GF100, TEXTBOOK, Demand, grouped, names

_LEAST_PLOT = 9.0  # letters high
C2070_REGISTERS = 16  # of its sgemm, as both the compiler and the profiler say in the lecture


@dataclass(frozen=True)
class Shape:
    """A block shape of the sgemm of "CUDA 2da parte" (Tesla C2070, N = 1024)."""

    x: int
    y: int
    occupancy: float
    milliseconds: int

    @property
    def demand(self) -> Demand:
        """What it demanded."""
        return Demand(self.x * self.y, C2070_REGISTERS, 0)


SHAPES = (
    Shape(8, 8, 0.33, 53),
    Shape(16, 16, 1.0, 38),
    Shape(32, 32, 0.66, 38),
    Shape(8, 16, 0.66, 45),
    Shape(16, 8, 0.66, 35),
    Shape(2, 32, 0.33, 182),
    Shape(32, 2, 0.33, 49),
    Shape(32, 5, 0.83, 33),
)
_FASTEST = min(range(len(SHAPES)), key=lambda i: SHAPES[i].milliseconds)

_S0 = "CUDA memory considerations"
_S1 = "Lecture slides on memory sharing"
_S2 = "CUDA 2da parte"
_S3 = "GPGPU programming"


@dataclass(frozen=True)
class Example:
    """An example of a document: `blocks` as published, and the demand they are published for."""

    document: str
    arch: Architecture
    demand: Demand
    blocks: int

    @property
    def given(self) -> str:
        """The demand in words; what an example leaves out is not said."""
        parts = [tr("{n} threads", n=self.demand.threads)]
        if self.demand.registers:
            parts.append(tr("{n} registers", n=self.demand.registers))
        if self.demand.shared:
            parts.append(tr("{n} bytes", n=self.demand.shared))
        return ", ".join(parts)


EXAMPLES = (
    Example(_S0, TEXTBOOK, Demand(512, 0, 0), 3),
    Example(_S0, TEXTBOOK, Demand(256, 0, 0), 6),
    Example(_S0, TEXTBOOK, Demand(128, 0, 0), 8),
    Example(_S0, TEXTBOOK, Demand(256, 10, 0), 6),
    Example(_S0, TEXTBOOK, Demand(256, 12, 0), 5),
    Example(_S3, TEXTBOOK, Demand(256, 0, 2048), 6),
    Example(_S1, G80, Demand(256, 10, 0), 3),
    Example(_S1, G80, Demand(256, 11, 0), 2),
)


def _held(found: Occupancy) -> str:
    """What sets the number of blocks."""
    return ", ".join(names()[key] for key in found.limiters)


def _two_places(fraction: float) -> str:
    """Cut off after two places, as the lecture does: 2/3 is .66."""
    return f"{int(fraction * 100 + 1e-9) / 100:.2f}"


def shapes(
    stage: Stage, area: Rect, arch: Architecture, registers: int, shown: int
) -> tuple[Mark, ...]:
    """The table of block shapes, the fastest marked, and where it is from."""
    then = [s.demand.on(GF100) for s in SHAPES]
    today = [Demand(s.x * s.y, registers, 0).on(arch) for s in SHAPES]
    model, published, muted = tr("model"), tr("published"), stage.palette.muted
    here = f"CC {arch.version}"
    columns = [
        table.Column((tr("block"),), tuple(f"{s.x} × {s.y}" for s in SHAPES), "left"),
        table.Column((tr("threads"),), tuple(str(s.x * s.y) for s in SHAPES), optional=3),
        table.Column(
            (tr("gputime"),),
            tuple(tr("{n} ms", n=s.milliseconds) for s in SHAPES),
            badge=published,
            color=muted,
            bold=True,
        ),
        table.Column(
            (tr("occupancy"),),
            tuple(_two_places(s.occupancy) for s in SHAPES),
            badge=published,
            color=muted,
            bold=True,
        ),
        table.Column(
            (tr("CC 2.0, 16 registers"), tr("CC 2.0")),
            tuple(_two_places(o.fraction) for o in then),
            badge=model,
            bold=True,
        ),
        table.Column((tr("limit"),), tuple(map(_held, then)), "left"),
        table.Column(
            (tr("{arch}, {n} registers", arch=here, n=registers), here),
            tuple(_two_places(o.fraction) for o in today),
            badge=model,
        ),
        table.Column((tr("limit"),), tuple(map(_held, today)), "left", optional=2),
    ]
    texts = (
        tr("{document}: sgemm on a Tesla C2070 (GF100), N = 1024", document=_S2),
        tr("{document}: Tesla C2070, N = 1024", document=_S2),
    )
    high = table.height_of(stage, len(SHAPES), 2, badges=True) + line_height(stage)
    gap = stage.text(14)
    if area.height - high - gap < _LEAST_PLOT * stage.text(14):
        return _with_source(stage, area, columns, shown, _FASTEST, texts)
    top, rest = area.above(high, gap)
    return (
        *_with_source(stage, top, columns, shown, _FASTEST, texts),
        *_scatter(stage, rest, shown),
    )


def _scatter(stage: Stage, area: Rect, shown: int) -> tuple[Mark, ...]:
    """Published time over published occupancy: no line runs through these points."""
    x = linear((tr("published occupancy"),), 0.0, 1.05, 0.25)
    y = linear((tr("published gputime, ms"),), 0.0, 200.0, 50.0)
    plot = lay_out(stage, area, x, y, right=stage.text(14) * 3)
    marks: list[Mark] = [*axes(stage, plot)]
    places: dict[float, list[Shape]] = {}
    for shape in SHAPES[:shown]:
        places.setdefault(shape.occupancy, []).append(shape)
    for occupancy, found in places.items():
        at = plot.at(occupancy, [s.milliseconds for s in found])[:, 1].tolist()
        names = spread(at, stage.text(14) * 1.2, plot.area.y, plot.area.bottom - 8 * stage.scale)
        for one, height in zip(found, names, strict=True):
            best = one is SHAPES[_FASTEST]
            color = stage.palette.good if best else stage.palette.accent
            marks.append(points(plot, one.occupancy, one.milliseconds, color, 5 * stage.scale))
            across = float(plot.at(occupancy, 0.0)[0, 0]) + stage.text(14) * 0.8
            marks.append(
                label(across, height, f"{one.x} × {one.y}", stage.palette.ink, stage.text(14), best)
            )
    return tuple(marks)


def examples(stage: Stage, area: Rect, shown: int) -> tuple[Mark, ...]:
    """The tutorials' and slides' examples, computed again."""
    found = [e.demand.on(e.arch) for e in EXAMPLES]
    muted = stage.palette.muted
    chips = {TEXTBOOK: tr("16384 registers, 16 KB"), G80: tr("G80, 8192 registers")}
    brief = {TEXTBOOK: tr("tutorials"), G80: "G80"}
    columns = [
        table.Column(
            (tr("multiprocessor"), tr("device")), tuple(brief[e.arch] for e in EXAMPLES), "left"
        ),
        table.Column(
            (tr("with"),), tuple(chips[e.arch] for e in EXAMPLES), "left", optional=4, given=True
        ),
        table.Column(
            (tr("a block of"), tr("block")), tuple(e.given for e in EXAMPLES), "left", given=True
        ),
        table.Column(
            (tr("blocks"),),
            tuple(str(e.blocks) for e in EXAMPLES),
            badge=tr("published"),
            color=muted,
            bold=True,
        ),
        table.Column(
            (tr("blocks"),), tuple(str(o.blocks) for o in found), badge=tr("model"), bold=True
        ),
        table.Column(
            (tr("threads"),),
            tuple(f"{grouped(o.threads)} / {grouped(32 * o.max_warps)}" for o in found),
            optional=3,
        ),
        table.Column(
            (tr("warp slots"),), ("",) * len(found), "left", least=stage.text(14) * 6, optional=2
        ),
        table.Column((tr("limit"),), tuple(map(_held, found)), "left", optional=1),
    ]
    slides = tr("Lecture slides on memory sharing")
    texts = (
        f"“{_S0}”, “{_S3}” · {slides}, G80",
        f"{_S0} · {_S3} · {slides}",
        f"{_S0} · {_S3}",
        _S0,
    )
    inner, foot = _parts(stage, area)
    laid = table.lay_out(stage, inner, columns)
    marks = [*table.draw(stage, laid, shown)]
    for row, one in enumerate(found[:shown]):
        if (cell := laid.cell(row, 6)) is not None:
            marks += _filled(stage, cell.inset(0, cell.height * 0.22), one.fraction)
    return (*marks, *_source(stage, laid, foot, texts))


def _filled(stage: Stage, cell: Rect, fraction: float) -> tuple[Mark, ...]:
    """A bar of slots taken, those left empty hatched."""
    used, rest = cell.beside(cell.width * fraction)
    empty = Boxes(rest.array(), stage.palette.waste_ground, hatch=stage.palette.waste)
    return (Boxes(used.array(), stage.palette.accent), empty)


def _with_source(
    stage: Stage,
    area: Rect,
    columns: list[table.Column],
    shown: int,
    now: int | None,
    texts: tuple[str, ...],
) -> tuple[Mark, ...]:
    """A table, and below it the documents it is from."""
    inner, foot = _parts(stage, area)
    laid = table.lay_out(stage, inner, columns)
    return *table.draw(stage, laid, shown, now), *_source(stage, laid, foot, texts)


def _parts(stage: Stage, area: Rect) -> tuple[Rect, Rect]:
    """Where a table goes, and the lowest place for the line below it."""
    low, side = line_height(stage), stage.text(14) * 0.5
    inner = Rect(area.x + side, area.y, area.width - 2 * side, area.height - low)
    return inner, Rect(inner.x, area.bottom - low, inner.width, low)


def _source(
    stage: Stage, laid: table.Table, foot: Rect, texts: tuple[str, ...]
) -> tuple[Mark, ...]:
    """The documents, close below the table."""
    y = min(laid.bottom + foot.height * 0.2, foot.y)
    return sourced(
        stage, Rect(foot.x, y, foot.width, foot.height), tr("published"), stage.palette.muted, texts
    )
