"""Tables of block shapes: the published best beside ours, and our sixteen fastest."""

from __future__ import annotations

from gpuviz.draw import table
from gpuviz.draw.figures import line_height, sourced
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.occupancy_fit import GF100, Demand
from gpuviz.scenes.occupancy_published import C2070_REGISTERS, SHAPES
from gpuviz.scenes.together.block_atlas import Atlas, gigaflops, in_ms, percent, short

DOCUMENT = "CUDA 2da parte"
# Its list of the fastest block shapes (sgemm naive, N = 1024, Tesla C2070), in milliseconds.
BEST = (
    (32, 5, 33.264),
    (32, 6, 33.275),
    (32, 24, 33.732),
    (32, 4, 33.780),
    (16, 10, 35.538),
    (32, 3, 35.789),
    (32, 8, 35.800),
)
_CONTRAST = tuple((s.x, s.y, float(s.milliseconds)) for s in SHAPES if {s.x, s.y} == {2, 32})
TOP = 16


def published(stage: Stage, area: Rect, atlas: Atlas) -> tuple[Mark, ...]:
    """The published list beside what is known here, and where it is from."""
    low, side = line_height(stage), stage.text(14) * 0.5
    inner = Rect(area.x + side, area.y, area.width - 2 * side, area.height - low)
    shapes = (*BEST, *_CONTRAST)
    if table.height_of(stage, len(shapes), 2, badges=True) * 0.85 > inner.height:
        shapes = BEST
    laid = table.lay_out(stage, inner, _columns(stage, atlas, shapes))
    foot = Rect(inner.x, min(laid.bottom + low * 0.2, area.bottom - low), inner.width, low)
    texts = (
        tr(
            "lecture \u201c{document}\u201d: sgemm on a Tesla C2070 (GF100), N = 1024; its best, "
            "32 × 5, is 60 GFLOP/s there",
            document=DOCUMENT,
        ),
        tr(
            "\u201c{document}\u201d, Tesla C2070, N = 1024; 32 × 5 is 60 GFLOP/s", document=DOCUMENT
        ),
        tr("\u201c{document}\u201d, Tesla C2070, N = 1024", document=DOCUMENT),
    )
    return (
        *table.draw(stage, laid, len(shapes), 0),
        *sourced(stage, foot, tr("published"), stage.palette.muted, texts),
    )


def _columns(
    stage: Stage, atlas: Atlas, shapes: tuple[tuple[int, int, float], ...]
) -> list[table.Column]:
    """What the table says of each shape."""
    then = [Demand(x * y, C2070_REGISTERS, 0).on(GF100) for x, y, _ in shapes]
    muted, model = stage.palette.muted, tr("model")
    places = {shape: n + 1 for n, shape in enumerate(atlas.order)}
    ranks = [places.get((x, y)) for x, y, _ in shapes]
    return [
        table.Column((tr("block"),), tuple(f"{x} × {y}" for x, y, _ in shapes), "left"),
        table.Column(
            (tr("gputime"),),
            tuple(_as_published(t) for *_, t in shapes),
            badge=tr("published"),
            color=muted,
            bold=True,
        ),
        table.Column(
            (tr("occupancy, CC 2.0"), "CC 2.0"),
            tuple(percent(o.fraction) for o in then),
            badge=model,
            optional=2,
        ),
        table.Column(
            (tr("sectors a request"), tr("sectors")),
            tuple(_sectors(atlas, x, y) for x, y, _ in shapes),
            badge=model,
        ),
        table.Column(
            (tr("occupancy, CC {arch}", arch=atlas.arch.version), f"CC {atlas.arch.version}"),
            tuple(percent(atlas.occupancy(x, y).fraction) for x, y, _ in shapes),
            badge=model,
            optional=1,
        ),
        table.Column(
            (tr("time"),),
            tuple(_time(atlas, x, y) for x, y, _ in shapes),
            badge=tr("recorded") if atlas.times else tr("unavailable"),
            color=stage.palette.good if atlas.times else muted,
            bold=True,
        ),
        table.Column((tr("place"),), tuple(str(n) if n else "–" for n in ranks), optional=3),
    ]


def _as_published(milliseconds: float) -> str:
    """Three places where the document has them."""
    whole = milliseconds == int(milliseconds)
    return tr("{n} ms", n=f"{milliseconds:.0f}" if whole else f"{milliseconds:.3f}")


def _sectors(atlas: Atlas, x: int, y: int) -> str:
    return "–" if atlas.sectors is None else short(float(atlas.sectors[y - 1, x - 1]))


def _time(atlas: Atlas, x: int, y: int) -> str:
    return "–" if atlas.milliseconds is None else in_ms(float(atlas.milliseconds[y - 1, x - 1]))


def top(stage: Stage, area: Rect, atlas: Atlas) -> tuple[Mark, ...]:
    """Our sixteen fastest shapes, in two tables side by side."""
    parts = area.columns(2, stage.text(14) * 1.5)
    halves = [
        _half(stage, atlas, range(1, TOP // 2 + 1)),
        _half(stage, atlas, range(TOP // 2 + 1, TOP + 1)),
    ]
    kept = set.intersection(
        *(
            set(table.lay_out(stage, part, half).kept)
            for part, half in zip(parts, halves, strict=True)
        )
    )
    marks: list[Mark] = []
    for part, half in zip(parts, halves, strict=True):
        both = [column for i, column in enumerate(half) if i in kept]
        marks += table.draw(stage, table.lay_out(stage, part, both), TOP // 2)
    return tuple(marks)


def _half(stage: Stage, atlas: Atlas, ranks: range) -> list[table.Column]:
    """The columns of some ranks."""
    shapes = [atlas.order[n - 1] for n in ranks]
    return [
        table.Column(("",), tuple(map(str, ranks)), "left"),
        table.Column((tr("block"),), tuple(f"{x} × {y}" for x, y in shapes), "left"),
        table.Column(
            (tr("time"),),
            tuple(_time(atlas, x, y) for x, y in shapes),
            badge=tr("recorded"),
            color=stage.palette.good,
            bold=True,
        ),
        table.Column(("GFLOP/s",), tuple(_rate(atlas, x, y) for x, y in shapes), optional=1),
        table.Column(
            (tr("sectors"),),
            tuple(_sectors(atlas, x, y) for x, y in shapes),
            badge=tr("model"),
            optional=2,
        ),
        table.Column(
            (tr("occupancy"),),
            tuple(percent(atlas.occupancy(x, y).fraction) for x, y in shapes),
            badge=tr("model"),
            optional=3,
        ),
    ]


def _rate(atlas: Atlas, x: int, y: int) -> str:
    assert atlas.milliseconds is not None
    return f"{gigaflops(float(atlas.milliseconds[y - 1, x - 1])):.0f}"
