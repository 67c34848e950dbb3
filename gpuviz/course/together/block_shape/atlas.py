"""What is known of every block shape: counts and occupancy as predicted, times as measured."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arch.occupancy import Occupancy
from gpuviz.arch.occupancy_fit import Demand, names
from gpuviz.base.arrays import F64, I64, Bool
from gpuviz.draw.axis import short
from gpuviz.sweeps.axis import Axis
from gpuviz.sweeps.record import SweepOrigin
from gpuviz.sweeps.table import Table
from gpuviz.words.language import percent, three, tr

MOST = 32  # threads of a block each way
AXES = tuple(Axis(name, tuple(map(str, range(1, MOST + 1)))) for name in ("x", "y"))
_ALIKE = 90  # percentile: what is above it has one colour, so that the others differ


@dataclass(frozen=True, eq=False)
class Atlas:
    """All shapes of up to 32 x 32 threads that multiply `size` x `size` matrices; maps are
    (32, 32), rows BY, columns BX, both from 1, NaN where nothing is known.
    """

    arch: Architecture
    registers: int
    size: int
    predicted: Table | None = None
    measured: Table | None = None

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
    def sectors(self) -> F64:
        """Sectors that the loads of the launch ask for."""
        return _of(self.predicted, "global_load_sectors")

    @cached_property
    def lines(self) -> F64:
        """Lines that they touch, request by request."""
        return _of(self.predicted, "global_load_lines")

    @cached_property
    def per_request(self) -> F64:
        """Sectors of a load request, on average."""
        return _of(self.predicted, "global_load_sectors/global_load_requests")

    @cached_property
    def milliseconds(self) -> F64:
        """Measured times."""
        return _of(self.measured, "time") / 1000

    @cached_property
    def modelled(self) -> F64:
        """Milliseconds as the model of time has them."""
        return _of(self.predicted, "modelled") / 1000

    @cached_property
    def both(self) -> Bool:
        """The shapes of which a time was modelled, and one measured."""
        return np.asarray(np.isfinite(self.modelled) & np.isfinite(self.milliseconds))

    @property
    def made(self) -> SweepOrigin | None:
        """How they were measured, None where they were not."""
        return self.measured.head.made if self.measured and self.measured.head else None

    @cached_property
    def order(self) -> tuple[tuple[int, int], ...]:
        """BX and BY of all shapes, the fastest first; none while times are missing."""
        if np.isnan(self.milliseconds).any():
            return ()
        rows, columns = np.divmod(np.argsort(self.milliseconds, axis=None), MOST)
        return tuple((int(x) + 1, int(y) + 1) for x, y in zip(columns, rows, strict=True))

    @property
    def clocks(self) -> str:
        """Of the multiprocessors while they were timed, in MHz: `1980`, or `1900–1980`."""
        known = self.measured.known if self.measured else ()
        found = [one.found[0].clocks for one in known if one and one.found]
        every = [clock for pair in found if pair for clock in pair]
        ends = f"{min(every, default=0):.0f}", f"{max(every, default=0):.0f}"
        return ends[0] if ends[0] == ends[1] else "–".join(ends)

    def limit(self, x: int, y: int) -> str:
        """What keeps more blocks of a shape from a multiprocessor."""
        return ", ".join(names()[key] for key in self.occupancy(x, y).limiters)

    def tip(self, x: int, y: int) -> str:
        """What hovering a shape on any map says."""
        at = y - 1, x - 1
        warps = -(-x * y // 32)
        what = {"x": x, "y": y, "threads": x * y, "warps": warps}
        head = tr("block {x} × {y}: {threads} threads in {warps} warps", **what)
        share = percent(float(self.resident[at]))
        said = [head]
        if np.isfinite(self.sectors[at]):
            said.append(
                tr(
                    "predicted: {sectors} sectors, {lines} lines, {n} sectors a request",
                    sectors=short(float(self.sectors[at])),
                    lines=short(float(self.lines[at])),
                    n=few(float(self.per_request[at])),
                )
            )
        said.append(tr("occupancy {share}, limit: {limit}", share=share, limit=self.limit(x, y)))
        if np.isfinite(self.modelled[at]):
            said.append(tr("modelled: {time}", time=in_ms(float(self.modelled[at]))))
        if np.isfinite(self.milliseconds[at]):
            said.append(tr("measured: {time}", time=in_ms(float(self.milliseconds[at]))))
        return "\n".join(said)


@dataclass(frozen=True, eq=False)
class Quantity:
    """What a map shows: a value of each shape, what it is called, where the numbers come from.

    `brief` writes a value, `words` what it is a number of, too; where the map is on a `log` scale,
    high values have one colour. `empty` is said while nothing is known.
    """

    values: F64
    name: str
    brief: Callable[[float], str]
    words: Callable[[float], str]
    badge: str
    log: bool = False
    empty: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return bool(np.isfinite(self.values).any())

    @property
    def least(self) -> float:
        """The smallest value there is."""
        return float(np.nanmin(self.values))

    @property
    def often(self) -> float:
        """How often most values have the least one in them: above, colours need not differ."""
        return float(np.nanpercentile(self.values, _ALIKE)) / self.least


def _of(table: Table | None, quantity: str) -> F64:
    return np.full((MOST, MOST), np.nan) if table is None else table.values(quantity)


def ranks(values: F64) -> F64:
    """The place of each value among all, the least first; equal ones share the middle of theirs."""
    _, where, count = np.unique(values.ravel(), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[where.ravel()]).reshape(values.shape)


def agreement(a: F64, b: F64) -> float:
    """The rank correlation of two maps (Spearman's): 1 where they put all shapes in one order."""
    return float(np.corrcoef(ranks(a).ravel(), ranks(b).ravel())[0, 1])


def few(value: float) -> str:
    """At most two places: 2.5, 16, 1.37."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def in_ms(milliseconds: float) -> str:
    """Three digits of milliseconds."""
    return tr("{n} ms", n=three(milliseconds))
