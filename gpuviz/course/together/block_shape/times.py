"""Times of block shapes: some of them on one axis, and modelled ones beside measured ones."""

import numpy as np

from gpuviz.course.together.block_shape.atlas import Atlas, agreement, few
from gpuviz.draw.axis import logarithmic
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Curve, Note, Plot, Points
from gpuviz.panels.time_bars import TimeBars
from gpuviz.story.measured import LaunchTime, time_bars
from gpuviz.words.language import grouped, percent, tr

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
_OTHERS = (32, 2), (16, 16), (8, 8), (2, 32), (1, 32)  # beside the one shown and the fastest


def on_one_axis(atlas: Atlas, shape: tuple[int, int], over: float) -> TimeBars:
    """The fastest shape, the published best, the one shown, and some of other widths."""
    assert atlas.made is not None
    some = dict.fromkeys((atlas.order[0], shape, BEST[0][:2], *_OTHERS))
    shapes = [one for one in atlas.order if one in some]
    gpu, notes = atlas.made.gpu.name, [_note(atlas, *one) for one in shapes]
    size, badge = tr("N = {n}", n=atlas.size), tr("recorded")
    times = [
        LaunchTime(1000 * float(atlas.milliseconds[y - 1, x - 1]), badge, gpu, size)
        for x, y in shapes
    ]
    names = [f"{x} × {y}" for x, y in shapes]
    picks = [{"x": x, "y": y} for x, y in shapes]
    pairs = zip(names, times, strict=True)
    return time_bars(pairs, shapes.index(shape), notes, over, picks=picks)


def _note(atlas: Atlas, x: int, y: int) -> tuple[str, ...]:
    """Sectors, where they are known, and occupancy."""
    resident = tr("occupancy {share}", share=percent(atlas.occupancy(x, y).fraction))
    found = float(atlas.per_request[y - 1, x - 1])
    if not np.isfinite(found):
        return (resident,)
    sectors = tr("{n} sectors a request", n=few(found))
    return f"{sectors} · {resident}", sectors


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
