"""Published occupancies beside ours: block shapes on a Tesla C2070, and the tutorials' examples."""

from dataclasses import dataclass

from gpuviz.arch import Architecture
from gpuviz.arch.occupancy import Occupancy
from gpuviz.arch.occupancy_fit import G80, GF100, TEXTBOOK, Demand, names
from gpuviz.draw.axis import Axis, linear
from gpuviz.panels.bar import Bar
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import Line, rows, spare
from gpuviz.panels.panel import Ink
from gpuviz.panels.plot import Element, Plot, PointLabel, Points, Stairs
from gpuviz.panels.table import Columns, Table
from gpuviz.words.language import grouped, tr

_BLOCK, _MOST_REGISTERS, _TICKS = 256, 32, (4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0)
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
        parts = [tr("{n} threads", n=grouped(self.demand.threads))]
        if self.demand.registers:
            parts.append(tr("{n} registers", n=self.demand.registers))
        if self.demand.shared:
            parts.append(tr("{n} bytes", n=grouped(self.demand.shared)))
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


def shapes(arch: Architecture, registers: int, shown: int) -> Line:
    """The table of block shapes, the fastest marked, where it is from, and its times over its
    occupancies.
    """
    of, published, here = Columns(SHAPES), tr("published"), f"CC {arch.version}"
    then = Columns([s.demand.on(GF100) for s in SHAPES])
    today = Columns([Demand(s.x * s.y, registers, 0).on(arch) for s in SHAPES])
    model, now = tr("model"), (tr("{arch}, {n} registers", arch=here, n=registers), here)

    def milliseconds(one: Shape) -> str:
        return tr("{n} ms", n=one.milliseconds)

    def occupancy(one: Shape) -> str:
        return _two_places(one.occupancy)

    def fraction(found: Occupancy) -> str:
        return f"{found.fraction:.2f}"

    columns = (
        of(tr("block"), lambda s: f"{s.x} × {s.y}", "left"),
        of(tr("threads"), lambda s: grouped(s.x * s.y), optional=3),
        of(tr("gputime"), milliseconds, badge=published, ink="muted", bold=True),
        of(tr("occupancy"), occupancy, badge=published, ink="muted", bold=True),
        then((tr("CC 2.0, 16 registers"), tr("CC 2.0")), fraction, badge=model, bold=True),
        then(tr("limit"), _held, "left"),
        today(now, fraction, badge=model, optional=1),
        today(tr("limit"), _held, "left", optional=2),
    )
    texts = (
        tr("{document}: sgemm on a Tesla C2070 (GF100), N = 1024", document=_S2),
        tr("{document}: Tesla C2070, N = 1024", document=_S2),
    )
    return rows(Table(columns, _FASTEST, shown), Provenance(texts), spare(_scatter(shown)), gap=0.5)


def _scatter(shown: int) -> Plot:
    """Published time over published occupancy: no line runs through these points."""
    x = linear((tr("published occupancy"),), 0.0, 1.05, 0.25)
    y = linear((tr("published gputime, ms"),), 0.0, 200.0, 50.0)
    best, elements = SHAPES[_FASTEST], list[Points | PointLabel]()
    for one in SHAPES[:shown]:
        at = [one.occupancy], [float(one.milliseconds)]
        elements.append(Points(*at, "good" if one is best else "accent"))
        name = f"{one.x} × {one.y}"
        elements.append(PointLabel(one.occupancy, one.milliseconds, name, bold=one is best))
    return Plot(x, y, tuple(elements), right=3.0)


def examples(shown: int) -> Line:
    """The tutorials' and slides' examples, computed again."""
    of, again = Columns(EXAMPLES), Columns([e.demand.on(e.arch) for e in EXAMPLES])
    chips = {
        TEXTBOOK: tr("{n} registers, 16 KB", n=grouped(TEXTBOOK.registers)),
        G80: tr("G80, {n} registers", n=grouped(G80.registers)),
    }
    brief = {TEXTBOOK: tr("tutorials"), G80: "G80"}

    def threads(found: Occupancy) -> str:
        return f"{grouped(found.threads)} / {grouped(32 * found.max_warps)}"

    def filled(found: Occupancy) -> Bar:
        return Bar(found.fraction, 1 - found.fraction, ink="accent")

    columns = (
        of((tr("multiprocessor of"), tr("SM of")), lambda e: brief[e.arch], "left"),
        of(tr("with"), lambda e: chips[e.arch], "left", optional=4, given=True),
        of((tr("a block of"), tr("block")), lambda e: e.given, "left", given=True),
        of(tr("blocks"), lambda e: e.blocks, badge=tr("published"), ink="muted", bold=True),
        again(tr("blocks"), lambda o: o.blocks, badge=tr("model"), bold=True),
        again(tr("threads"), threads, optional=3),
        again.bars(tr("warp slots"), filled, optional=2),
        again(tr("limit"), _held, "left", optional=1),
    )
    slides = tr("Lecture slides on memory sharing")
    texts = f"“{_S0}”, “{_S3}” · {slides}, G80", f"{_S0} · {_S3} · {slides}", f"{_S0} · {_S3}", _S0
    return rows(Table(columns, shown=shown), Provenance(texts), spare(_stairs(shown)), gap=0.5)


def _stairs(shown: int) -> Plot:
    """Resident threads over registers a thread, blocks of 256: where the examples with registers
    stand on the stairs.
    """
    registers = range(1, _MOST_REGISTERS + 1)
    inks: dict[Architecture, Ink] = {TEXTBOOK: "accent", G80: "good"}
    names = {TEXTBOOK: tr("tutorials"), G80: "G80"}
    elements: list[Element] = []
    for chip, ink in inks.items():
        threads = [Demand(_BLOCK, n, 0).on(chip).threads for n in registers]
        edges = [n - 0.5 for n in registers] + [_MOST_REGISTERS + 0.5]
        elements.append(Stairs(edges, threads, ink, answers=True))
        elements.append(PointLabel(_MOST_REGISTERS + 0.5, threads[-1], names[chip], ink))
        given = [e.demand for e in EXAMPLES[:shown] if e.arch == chip and e.demand.registers]
        here = [one.registers for one in given], [one.on(chip).threads for one in given]
        elements.append(Points(*here, ink, edged=True, answers=True))
    most = max(chip.max_threads for chip in inks)
    title = tr("registers a thread, blocks of {n} threads", n=_BLOCK), tr("registers a thread")
    return Plot(
        Axis(title, 0.5, _MOST_REGISTERS + 0.5, _TICKS, tuple(f"{n:g}" for n in _TICKS)),
        linear((tr("resident threads"), tr("threads")), 0.0, float(most), most / 4),
        tuple(elements),
        right=5.0,
    )
