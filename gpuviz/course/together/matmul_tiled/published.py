"""What the documents publish of the product, and what stands here beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpuviz.arch import Architecture
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import Node, first, rows, spare
from gpuviz.panels.panel import Ink
from gpuviz.panels.table import Columns, Table
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.story.measured import LaunchTime, time_column, time_of, timed
from gpuviz.words.language import grouped, tr

_DOCUMENT, _CARD, _SIZE = "CUDA 2da parte", "Tesla C2070", 1024
# "CUDA 2da parte": sgemm through tiles in shared memory, N = 1024, by the width of a tile, in ms.
TILED_MS: Mapping[int, float] = {8: 20.0, 16: 12.1, 32: 12.2}
_TILED_RATE = 16, 166  # its fastest width, and GFLOP/s
# The same: the largest difference of its sgemm from a sequential version, by N.
DIFFERENCE: Mapping[int, float] = {256: 0.000023, 512: 0.000046, 1024: 0.000092, 2048: 0.000183}


def page(width: int, n: int, tiled: Run, drawn: tuple[str, float], query: Query) -> Node:
    """Times by the width of a tile, differences by size, what the device's own table allows.

    Of tiles of a width, at n x n; `drawn` is how big the product in the pictures is, and how far
    from double precision.
    """
    source = Provenance((f"“{_DOCUMENT}”, {_CARD}, N = {_SIZE}", f"{_DOCUMENT}, {_CARD}"))
    times, far = _times(width, n, tiled), _differences(n, tiled, drawn)
    said = [tr("tiles of {b} × {b}: {ms} ms", b=b, ms=f"{ms:g}") for b, ms in TILED_MS.items()]
    few = Provenance((", ".join(said), said[1]))
    return first(
        rows(times, spare(query.provenance, 2), far, spare(source), gap=0.5),
        rows(times, spare(query.provenance), spare(source), gap=0.5),
        few,
    )


def _times(width: int, n: int, tiled: Run) -> Table:
    """Published times of three widths, and ours."""
    widths = sorted({*TILED_MS, width})
    of, shared = Columns(widths), (tr("shared memory"), tr("shared"))
    rates = {_TILED_RATE[0]: _TILED_RATE[1]}

    def published(b: int) -> str | None:
        return tr("{n} ms", n=f"{TILED_MS[b]:g}") if b in TILED_MS else None

    made = (
        of(tr("tiles of"), lambda b: f"{b} × {b}", "left"),
        of(shared, lambda b: tr("{n} bytes", n=grouped(8 * b * b)), badge=tr("model")),
        of(tr("N = {n}", n=_SIZE), published, badge=tr("published"), ink="muted", bold=True),
        of("GFLOP/s", lambda b: rates.get(b, ""), ink="muted", optional=1),
        *time_column(_mine(widths, width, n, tiled), always=True, named=True),
    )
    return Table(made, widths.index(width))


def _mine(widths: list[int], width: int, n: int, tiled: Run) -> list[LaunchTime | None]:
    """Our times by the width of a tile: of the launch that is shown, and of those that were timed
    on the same device on the same day.
    """
    own, size = time_of(tiled), tr("{n} × {n}, loop over k unrolled", n=n)
    if own is None:
        return [None] * len(widths)
    found = {width: replace(own, size=size)}
    for b, one in zip(TILED_MS, tiled.others, strict=False):
        time = timed(one, size, tiled.arch)
        if time is not None and (time.where, time.badge) == (own.where, own.badge):
            found.setdefault(b, time)
    return [found.get(b) for b in widths]


def _differences(n: int, tiled: Run, drawn: tuple[str, float]) -> Table:
    """Published differences from a sequential version, the drawn product's, and the timed one's."""
    found = tiled.companion.measurement if tiled.companion else None
    given = found.differences.get("P") if found else None
    of = Columns([0, *sorted({*DIFFERENCE, n})])  # 0: the product that is drawn
    sizes, there = (tr("largest difference"), tr("difference")), given is not None
    sequential = tr("from a sequential version"), tr("sequential")
    double, gpu = (tr("from double precision"), tr("double")), tr("the GPU from the emulator")
    badge = found.badge if found else tr("unavailable")
    ink: Ink = "muted" if given is None else "good"

    def published(m: int) -> str | None:
        return f"{DIFFERENCE[m]:.6f}" if m in DIFFERENCE else "" if not m else None

    made = (
        of(sizes, lambda m: f"{m} × {m}" if m else drawn[0], "left"),
        of(sequential, published, badge=tr("published"), ink="muted", bold=True),
        of(double, lambda m: "" if m else f"{drawn[1]:.2g}", badge=tr("model")),
        of(
            (gpu, tr("GPU")),
            lambda m: f"{given:g}" if there and m == n else "",
            badge=badge,
            ink=ink,
        ),
    )
    return Table(made)


@dataclass(frozen=True)
class Query:
    """What a device says of itself, by which a program chooses the size of its tiles."""

    device: str
    badge: str
    threads: int
    shared: int

    @property
    def width(self) -> int:
        """Of the largest tile, a power of two, of which two fit and whose threads are a block."""
        width = 1
        while 4 * width * width <= self.threads and 2 * 4 * 4 * width * width <= self.shared:
            width *= 2
        return width

    @property
    def said(self) -> str:
        """The query's numbers and what they allow."""
        return tr(
            "{device}: sharedMemPerBlock {shared}, maxThreadsPerBlock {threads}: tiles of up to "
            "{b} × {b}, {bytes} bytes a block",
            device=self.device,
            shared=grouped(self.shared),
            threads=grouped(self.threads),
            b=self.width,
            bytes=grouped(8 * self.width**2),
        )

    @property
    def provenance(self) -> Provenance:
        """The same where it is shown."""
        what = {"device": self.device, "shared": grouped(self.shared), "b": self.width}
        brief = tr("{device}: sharedMemPerBlock {shared}: tiles of up to {b} × {b}", **what)
        whole = tr("device query · {said}", said=self.said)
        return Provenance((whole, self.said, brief), self.badge, "good")


_NO_OPTION = 48 << 10  # bytes of shared memory that a block has without asking for more


def query_of(found: Measurement | None, arch: Architecture) -> Query:
    """What the device that was measured says, or the architecture's table where there is none."""
    limits = found.device.limits if found else {}
    if found and {"maxThreadsPerBlock", "sharedMemPerBlock"} <= limits.keys():
        both = limits["maxThreadsPerBlock"], limits["sharedMemPerBlock"]
        return Query(found.gpu, found.badge, *both)
    shared = min(arch.shared_per_block_optin, _NO_OPTION)
    return Query(str(arch), tr("model"), arch.max_threads_per_block, shared)
