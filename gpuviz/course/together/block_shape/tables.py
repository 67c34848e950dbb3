"""Block shapes as tables: times modelled and measured, the published best, our sixteen fastest."""

import numpy as np

from gpuviz.arch.occupancy_fit import GF100, Demand
from gpuviz.course.together.block_shape.atlas import Atlas, agreement, few, gigaflops, in_ms
from gpuviz.course.together.occupancy.published import C2070_REGISTERS, SHAPES
from gpuviz.draw.axis import logarithmic
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import Node, columns, first, rows, share, spare
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Curve, Note, Plot, PointLabel, Points
from gpuviz.panels.table import Columns, Table
from gpuviz.words.language import grouped, percent, tr

DOCUMENT = "CUDA 2da parte"
Published = tuple[int, int, float]  # x and y of a block, milliseconds
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
_NAMED = (2, 32), (32, 2)
_CONTRAST = tuple((s.x, s.y, float(s.milliseconds)) for s in SHAPES if (s.x, s.y) in _NAMED)
TOP = 16


def published(atlas: Atlas, shape: tuple[int, int]) -> Node:
    """The published list beside what is known here, and where it is from; one `shape` is shown."""
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
    shapes, plot = (*BEST, *_CONTRAST), (spare(_then_and_now(atlas)),) if atlas.order else ()
    return first(
        rows(_listed(atlas, shapes, shape), Provenance(texts), *plot, gap=0.4),
        rows(_listed(atlas, _few(shape), shape), Provenance(texts)),
    )


def _few(shape: tuple[int, int]) -> tuple[Published, ...]:
    """The published best; the last one gives way to a contrast that is shown."""
    own = next((one for one in _CONTRAST if one[:2] == shape), None)
    return (*BEST[:-1], own) if own else BEST


def _then_and_now(atlas: Atlas) -> Plot:
    """Published times across, recorded ones up: what is fast there, and what is fast here."""
    every = (*BEST, *_CONTRAST)
    here = [float(atlas.milliseconds[y - 1, x - 1]) for x, y, _ in every]
    low, high = 2.0 ** np.floor(np.log2(min(here))), 2.0 ** np.ceil(np.log2(max(here)))
    ends = [n for n, (x, y, _) in enumerate(every) if (x, y) in ((16, 10), *_NAMED)]
    return Plot(
        logarithmic((tr("published gputime, ms"),), 32.0, 256.0, 2.0),
        logarithmic((tr("recorded time, ms"), tr("ms")), float(low), float(high), 2.0),
        (
            Points([ms for *_, ms in every], here, "good", answers=True),
            *(
                PointLabel(every[n][2], here[n], f"{every[n][0]} × {every[n][1]}", answers=True)
                for n in ends
            ),
        ),
        right=4.0,
    )


def _listed(atlas: Atlas, shapes: tuple[Published, ...], own: tuple[int, int]) -> Table:
    """What the table says of each shape."""
    of, places = Columns(shapes), {shape: grouped(n + 1) for n, shape in enumerate(atlas.order)}
    model = tr("model")
    ink: Ink = "good" if atlas.made else "muted"
    source = tr("recorded") if atlas.made else tr("unavailable")
    device = atlas.made.gpu.name if atlas.made else tr("time")
    in_full, request = tr("occupancy, CC {arch}", arch=atlas.arch.version), tr("sectors a request")

    def then(shape: Published) -> str:
        return percent(Demand(shape[0] * shape[1], C2070_REGISTERS, 0).on(GF100).fraction)

    made = (
        of(tr("block"), lambda s: f"{s[0]} × {s[1]}", "left"),
        of(
            tr("gputime"),
            lambda s: _as_published(s[2]),
            badge=tr("published"),
            ink="muted",
            bold=True,
        ),
        of(tr("occupancy, CC 2.0"), then, badge=model, optional=2),
        of((request, tr("sectors")), lambda s: _sectors(atlas, *s[:2]), badge=model),
        of(in_full, lambda s: _resident(atlas, *s[:2]), badge=model, optional=1),
        of(device, lambda s: _time(atlas, *s[:2]), badge=source, ink=ink, bold=True),
        of(tr("rank"), lambda s: places.get(s[:2]), optional=3),
    )
    return Table(made, now=next((n for n, one in enumerate(shapes) if one[:2] == own), None))


def _as_published(milliseconds: float) -> str:
    """Three places where the document has them."""
    whole = milliseconds == int(milliseconds)
    return tr("{n} ms", n=f"{milliseconds:.0f}" if whole else f"{milliseconds:.3f}")


def _sectors(atlas: Atlas, x: int, y: int) -> str:
    found = float(atlas.per_request[y - 1, x - 1])
    return few(found) if np.isfinite(found) else "–"


def _time(atlas: Atlas, x: int, y: int) -> str:
    found = float(atlas.milliseconds[y - 1, x - 1])
    return in_ms(found) if np.isfinite(found) else "–"


def top(atlas: Atlas) -> Node:
    """Our sixteen fastest shapes, in two tables side by side."""
    halves = range(1, TOP // 2 + 1), range(TOP // 2 + 1, TOP + 1)
    tables = columns(*(share(1, _half(atlas, ranks)) for ranks in halves))
    return rows(tables, spare(_by_place(atlas)), gap=0.6)


def _by_place(atlas: Atlas) -> Plot:
    """The times of all shapes in order: how far ahead the fastest are."""
    times = np.sort(atlas.milliseconds, axis=None)
    place = np.arange(1.0, len(times) + 1)
    low, high = 2.0 ** np.floor(np.log2(times[0])), 2.0 ** np.ceil(np.log2(times[-1]))
    return Plot(
        logarithmic((tr("rank among all shapes"), tr("rank")), 1.0, float(len(times)), 4.0),
        logarithmic((tr("recorded time, ms"), tr("ms")), float(low), float(high), 2.0),
        (
            Curve(place, times, "muted", 2.0),
            Points(place[:TOP], times[:TOP], "good", 4, answers=True),
        ),
    )


def _half(atlas: Atlas, ranks: range) -> Table:
    """Some ranks."""
    of, shapes = Columns(ranks), Columns([atlas.order[n - 1] for n in ranks])
    return Table(
        (
            of("", str, "left"),
            shapes(tr("block"), lambda s: f"{s[0]} × {s[1]}", "left"),
            shapes(
                tr("time"), lambda s: _time(atlas, *s), badge=tr("recorded"), ink="good", bold=True
            ),
            shapes("GFLOP/s", lambda s: _rate(atlas, *s), optional=1),
            shapes(tr("sectors"), lambda s: _sectors(atlas, *s), badge=tr("model"), optional=2),
            shapes(tr("occupancy"), lambda s: _resident(atlas, *s), badge=tr("model"), optional=3),
        )
    )


def _resident(atlas: Atlas, x: int, y: int) -> str:
    return percent(atlas.occupancy(x, y).fraction)


def _rate(atlas: Atlas, x: int, y: int) -> str:
    return grouped(gigaflops(float(atlas.milliseconds[y - 1, x - 1]), atlas.size))


def modelled(atlas: Atlas, shape: tuple[int, int], shown: float) -> Picture:
    """Each shape of which both are known as a disc; on the line both are the same."""
    assert atlas.made is not None
    y, x = np.nonzero(atlas.both)
    predicted, measured = atlas.modelled[y, x], atlas.milliseconds[y, x]
    apart = np.abs(measured / predicted - 1)
    least, most = (float(f(np.concatenate([predicted, measured]))) for f in (np.min, np.max))
    low, high = 2.0 ** np.floor(np.log2(least)), 2.0 ** np.ceil(np.log2(most))
    axes = (
        logarithmic((tr("modelled, ms"),), float(low), float(high), 2.0),
        logarithmic((tr("measured, ms"),), float(low), float(high), 2.0),
    )
    tips = [atlas.tip(int(a) + 1, int(b) + 1) for a, b in zip(x, y, strict=True)]
    points = Points(predicted, measured, "accent", 4, shown, tip=lambda i: tips[i])
    own = np.flatnonzero((x + 1 == shape[0]) & (y + 1 == shape[1])).tolist()
    marks = [Note(float(predicted[n]), float(measured[n]), f"{shape[0]} × {shape[1]}") for n in own]
    plot = Plot(*axes, (Curve((low, high), (low, high), "muted", 2, dash=True), points, *marks))
    worst = int(apart.argmax())
    title = tr(
        "Modelled times of {n} shapes: within {median} of measured ones in the median",
        n=grouped(len(apart)),
        median=f"{100 * float(np.median(apart)):.0f} %",
    )
    said = tr(
        "Rank correlation {alike}. Farthest off: {x} × {y}, measured {apart}.",
        alike=f"{agreement(predicted, measured):.2f}".replace("-", "−"),
        x=int(x[worst]) + 1,
        y=int(y[worst]) + 1,
        apart=f"{100 * float(measured[worst] / predicted[worst] - 1):+.0f} %".replace("-", "−"),
    )
    return Picture(
        title,
        said,
        rows(
            plot,
            Provenance((tr("across: modelled, the data in memory"),), tr("model"), "accent"),
            Provenance((tr("up: {device}", device=atlas.made.gpu.name),), tr("recorded"), "good"),
        ),
    )
