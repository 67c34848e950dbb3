"""What is known of every block shape: occupancy, sectors a request, measured times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arrays import F64, I64
from gpuviz.language import tr
from gpuviz.occupancy import Occupancy
from gpuviz.runners.sweep_file import MOST, SIZE, Predictions, Times
from gpuviz.scenes.occupancy_fit import Demand, names

BANDS = (16, 24, 32)  # the widths at which the published map has its bands
_ALIKE = 90  # percentile: what is above it has one colour, so that the others differ


@dataclass(frozen=True, eq=False)
class Atlas:
    """All shapes of up to 32 x 32 threads; maps are (32, 32), rows BY, columns BX, both from 1."""

    arch: Architecture
    registers: int
    predictions: Predictions | None
    times: Times | None

    @cached_property
    def threads(self) -> I64:
        """Threads of a block."""
        each = np.arange(1, MOST + 1)
        return np.asarray(each[:, None] * each)

    @cached_property
    def _by_threads(self) -> dict[int, Occupancy]:
        """Occupancy depends on nothing but the number of threads."""
        return {
            n: Demand(n, self.registers, 0).on(self.arch) for n in np.unique(self.threads).tolist()
        }

    def occupancy(self, x: int, y: int) -> Occupancy:
        """Of one shape."""
        return self._by_threads[x * y]

    @cached_property
    def resident(self) -> F64:
        """Warps resident, as a share of those the multiprocessor has room for."""
        known, where = np.unique(self.threads, return_inverse=True)
        share = np.array([self._by_threads[n].fraction for n in known.tolist()])
        return np.asarray(share[where].reshape(MOST, MOST))

    @cached_property
    def sectors(self) -> F64 | None:
        """Sectors of a load request, on average."""
        return self.predictions.per_request if self.predictions else None

    @cached_property
    def traffic(self) -> F64 | None:
        """Sectors for 32 products: idle lanes make it more."""
        return self.predictions.for_products if self.predictions else None

    @property
    def milliseconds(self) -> F64 | None:
        """Measured times."""
        return self.times.milliseconds if self.times else None

    @cached_property
    def order(self) -> tuple[tuple[int, int], ...]:
        """BX and BY of all shapes, the fastest first; none without times."""
        if self.times is None:
            return ()
        rows, columns = np.divmod(np.argsort(self.times.milliseconds, axis=None), MOST)
        return tuple((int(x) + 1, int(y) + 1) for x, y in zip(columns, rows, strict=True))

    def limit(self, x: int, y: int) -> str:
        """What keeps more blocks of a shape from a multiprocessor."""
        return ", ".join(names()[key] for key in self.occupancy(x, y).limiters)

    def tip(self, x: int, y: int) -> str:
        """What hovering a shape on any map says."""
        row, column = y - 1, x - 1
        warps = -(-x * y // 32)
        share = percent(float(self.resident[row, column]))
        lines = [
            tr(
                "block {x} × {y}: {threads} threads in {warps} warps",
                x=x,
                y=y,
                threads=x * y,
                warps=warps,
            ),
            tr("occupancy {share}, limit: {limit}", share=share, limit=self.limit(x, y)),
        ]
        if self.sectors is not None and self.traffic is not None:
            lines.append(
                tr(
                    "{n} sectors a request, {m} for 32 products",
                    n=short(float(self.sectors[row, column])),
                    m=short(float(self.traffic[row, column])),
                )
            )
        if self.milliseconds is not None:
            lines.append(in_ms(float(self.milliseconds[row, column])))
        return "\n".join(lines)

    def around(self, values: F64, width: int) -> tuple[float, float]:
        """The median over BY at BX = `width`, and that of the widths beside it."""
        beside = [w - 1 for w in (width - 1, width + 1) if w <= MOST]
        return float(np.median(values[:, width - 1])), float(np.median(values[:, beside]))


@dataclass(frozen=True, eq=False)
class Quantity:
    """What a map shows: a value of each shape, and where the numbers come from.

    `own` says it of the shape that the lesson is set to, `brief` in a cell. `remarks` are
    sentences, the most important first; `empty` is said when there are no values.
    """

    values: F64 | None
    own: str
    brief: Callable[[float], str]
    badge: str
    measured: bool
    log: bool
    remarks: tuple[str, ...]
    empty: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """The values at which colours begin and end."""
        if self.values is None:
            return 0.0, 1.0
        high = np.percentile(self.values, _ALIKE) if self.log else self.values.max()
        return float(self.values.min()), float(high)

    @property
    def heat(self) -> F64 | None:
        """(32, 32) how far up the ramp each value is."""
        if self.values is None:
            return None
        curve = np.log if self.log else np.asarray
        low, high = (float(curve(end)) for end in self.ends)
        return np.asarray((curve(self.values) - low) / max(high - low, 1e-9))


def bands_remark(atlas: Atlas, what: Callable[[float], str], values: F64) -> str:
    """How the bands differ from the columns beside them, in numbers."""
    parts = []
    for width in BANDS:
        own, beside = atlas.around(values, width)
        parts.append(
            tr("at BX {n} {own}, beside it {other}", n=width, own=what(own), other=what(beside))
        )
    return tr("Median over BY: {parts}.", parts="; ".join(parts))


def gigaflops(milliseconds: float) -> float:
    """Additions and multiplications of the product, in 10^9 a second."""
    return 2 * SIZE**3 / milliseconds / 1e6


def percent(share: float) -> str:
    """`94 %`."""
    return f"{100 * share:.0f} %"


def short(value: float) -> str:
    """At most two places: 2.5, 16, 1.37."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def in_ms(milliseconds: float) -> str:
    """Three digits of milliseconds."""
    return tr("{n} ms", n=f"{milliseconds:.3g}")
