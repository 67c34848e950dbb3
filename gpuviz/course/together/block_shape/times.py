"""Times of block shapes as modelled, beside those that a GPU measured."""

from __future__ import annotations

import numpy as np

from gpuviz.course.together.block_shape.atlas import Atlas, agreement
from gpuviz.draw.axis import logarithmic
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Curve, Note, Plot, Points
from gpuviz.words.language import grouped, tr


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
