"""What is shown of one block of a matrix product: its matrices, its tiles, its access table."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.course.together.matmul_common.access_table import Accesses, AccessTable, Track
from gpuviz.course.together.matmul_common.access_table import Part as Phase
from gpuviz.course.together.matmul_common.block import Moment, Multiplication, Operand, cells_of
from gpuviz.course.together.matmul_common.product import Product
from gpuviz.course.together.matmul_common.tips import (
    element_tip,
    product_tip,
    slot_tip,
    thread_tip,
    times,
)
from gpuviz.draw.ease import smooth, ticking
from gpuviz.panels.grid import Grid, Grids, Hatch, Heat, Note, Outline, Paint
from gpuviz.panels.layout import Largest, Node, Part, at_least, columns, first, largest, rows, share
from gpuviz.panels.lines import Heading, Line, Lines
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Movement
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_LANDED = 0.97  # share of a load after which its elements are in the tile


def tiled_memory(
    about: Multiplication,
    moment: Moment,
    share: float,
    lost: bool = False,
    wrong: Bool | None = None,
) -> Product:
    """M, N and P: what the block of the tiled kernel has loaded, loads now, and will load.

    What it needs and never loads is hatched where it is `lost`, and so is what is `wrong` in P.
    """
    factors = []
    for operand, done in zip(about.operands, moment.tiles, strict=True):
        loading = moment.part == f"load {operand.name}"
        count = ticking(operand.tiled[done], operand.tiled[done + loading], share)
        made = _factor(about, operand, count, operand.tiled[-1] > 0, operand.cells, operand.padded)
        hatched = (Hatch(dropped(operand), bad=True),) if lost else ()
        if moment.part in ("store", "result"):
            factors.append(replace(made, hatched=hatched, tile=about.sizes.tile))
            continue
        tile = _tile_of(about, operand, moment.phase)
        beyond = tile[operand.held[moment.phase] < 0]
        line = Outline(tile, "outline", 3.0) if loading else Outline(tile)
        guards = Hatch(beyond, quiet=not loading)
        factors.append(
            replace(made, hatched=(guards, *hatched), outlines=(line,), tile=about.sizes.tile)
        )
    return _memory(
        about,
        factors,
        _result(about, moment, share, wrong),
        max(moment.phase, 0) * about.sizes.tile,
    )


def naive_memory(about: Multiplication, moment: Moment, share: float) -> Product:
    """M, N and P: what the block of the naive kernel has read, and reads now."""
    rows, columns = about.sizes.padded("P")
    shapes = (rows, about.sizes.inner), (about.sizes.inner, columns)
    factors = [
        replace(
            _read(about, operand, moment, share, cells_of(operand.shape, shape), shape),
            tile=about.sizes.tile,
        )
        for operand, shape in zip(about.operands, shapes, strict=True)
    ]
    return _memory(about, factors, _result(about, moment, share, None), max(moment.step, 0))


def naive_bands(about: Multiplication, moment: Moment, over: float) -> Node:
    """Just the block's rows of M and columns of N, as the naive kernel reads them."""
    tile, (x, y), bands = about.sizes.tile, about.block, []
    for operand, axis in zip(about.operands, (0, 1), strict=True):
        every = np.arange(operand.value.size).reshape(operand.shape)
        first = (y, x)[axis] * tile
        part = every[first : first + tile] if axis == 0 else every[:, first : first + tile]
        last = first + part.shape[axis] - 1
        made = _read(about, operand, moment, over, part.ravel(), part.shape)
        which = _rows(first, last) if axis == 0 else _columns(first, last)
        names = f"{operand.name}, {which}", operand.name
        bands.append(replace(made, names=names, note=None))
    counts = [o.naive[-1][o.naive[-1] > 0] for o in about.operands]
    low, high = min(int(c.min(initial=99)) for c in counts), max(int(c.max()) for c in counts)
    often = times(high) if low == high else tr("{a} to {b} times", a=low, b=high)
    notes = (
        tr("reads each element {often} from global memory", often=often),
        tr("each element {often}", often=often),
        often,
    )
    return rows(Heading((tr("Naive kernel"),), notes), Grids(tuple(bands)))


def _rows(first: int, last: int) -> str:
    return tr("row {a}", a=first) if first == last else tr("rows {a} to {b}", a=first, b=last)


def _columns(first: int, last: int) -> str:
    if first == last:
        return tr("column {a}", a=first)
    return tr("columns {a} to {b}", a=first, b=last)


def access_table(about: Multiplication, moment: Moment, whole: bool = False) -> AccessTable:
    """What each thread of the naive kernel reads at each step."""
    tile, sizes = about.sizes.tile, about.sizes
    return AccessTable(
        (tr("Naive kernel"), tr("Naive")),
        tuple(_accesses(about, operand, moment) for operand in about.operands),
        tuple(f"({t % tile},{t // tile})" for t in range(tile * tile)),
        tuple(f"k = {k}" for k in range(sizes.inner)),
        moment.seen,
        moment.step,
        about.watched,
        whole,
        "(x,y)",
    )


def _accesses(about: Multiplication, operand: Operand, moment: Moment) -> Accesses:
    def name(element: int) -> str:
        row, column = divmod(element, operand.shape[1])
        return f"{operand.name}{row},{column}"

    def tip(element: int) -> str:
        return element_tip(about, operand, element, int(operand.naive[moment.naive, element]))

    return Accesses(operand.naive_reads, operand.repeats, operand.most, name, tip)


def tiles(about: Multiplication, moment: Moment, share: float) -> Product:
    """The shared tiles and the threads between them: what is there, and who reads what."""
    m, n = (_tile(about, operand, moment, share) for operand in about.operands)
    return Product(m, n, _threads(about, moment), loose=True)


def _tile(about: Multiplication, operand: Operand, moment: Moment, share: float) -> Grid:
    """A shared tile: empty, loaded, heating up; the slots read now outlined."""
    tile = about.sizes.tile
    phase, held, read = operand.in_tile(moment, float(smooth(share)), share >= _LANDED)
    every = np.full(tile * tile, phase >= 0)
    outlines, own = list[Outline](), -1
    if moment.part == "multiply":
        reads = operand.tile.reads[moment.phase]
        mine, now = reads[:, about.watched], reads[moment.k]
        outlines = [Outline(mine[mine >= 0], "muted", 1.0), Outline(now[now >= 0])]
        own = int(mine[moment.k])

    def tip(slot: int) -> str:
        return slot_tip(about, operand, moment, phase, slot, int(read[slot]))

    return Grid(
        (f"{operand.name}s",),
        tile,
        tile,
        tip,
        (Paint(every, "load", soft=0.35),),
        Heat(read, tile, ~every & False),
        hatched=(Hatch(np.flatnonzero((held < 0) & every)),),
        outlines=tuple(outlines),
        own=(own,) if own >= 0 else (),
        note=_often(int(read.max(initial=0))),
    )


def _threads(about: Multiplication, moment: Moment) -> Grid:
    """The block's threads in the colours of their lanes; those without an element are hatched."""
    tile, every = about.sizes.tile, np.arange(about.sizes.tile**2)
    waits = moment.part in ("loaded", "multiplied")
    return Grid(
        (tr("threads"),),
        tile,
        tile,
        lambda thread: thread_tip(about, thread),
        (Paint(np.ones(len(every), bool), "lanes"),),
        words=tuple("" if about.guards[t] else str(t % LANES) for t in every.tolist()),
        hatched=(Hatch(np.flatnonzero(about.guards), quiet=moment.part != "store"),),
        outlines=(Outline(every, "barrier", 3.0, pad=1.0),) if waits else (),
        own=(about.watched,),
    )


def moving(about: Multiplication, moment: Moment, share: float) -> tuple[Movement, ...]:
    """Elements on their way from global to shared memory."""
    if moment.part not in ("load M", "load N") or not 0.02 < share < _LANDED:
        return ()
    operand = about.m if moment.part == "load M" else about.n
    element = operand.tile.element[moment.phase]
    loading = element >= 0
    row, column = np.divmod(element[loading], operand.shape[1])
    start, end = row * operand.padded[1] + column, operand.tile.slot[moment.phase, loading]
    way = float(smooth(share))
    return (Movement(operand.name, start, f"{operand.name}s", end, way, "load"),)


def track(moment: Moment, made: int, wanted: int) -> Track:
    """The phases there should be, of which so many are made, and the store after them."""
    four: tuple[tuple[str, Ink], ...] = (
        (tr("load"), "load"),
        (tr("barrier"), "barrier"),
        (tr("multiply"), "compute"),
        (tr("barrier"), "barrier"),
    )
    parts = [Phase(name, ink, p, p >= made) for p in range(wanted) for name, ink in four]
    within = {"load M": 0, "load N": 0, "loaded": 1, "multiply": 2, "multiplied": 3}
    after = {"store": 4 * wanted, "result": 4 * wanted + 1}
    now = after.get(moment.part, 4 * moment.phase + within.get(moment.part, 0))
    return Track((*parts, Phase(tr("store"), "store", -1)), now)


def written(said: tuple[str, str, str], high: float, wide: float = 0.0) -> Lines:
    """The followed thread's statement, its explanation, its values, in so many letters."""
    _, detail, result = said
    start, _, who = detail.partition(" · ")
    short = f"= {result.rpartition(' = ')[2]}"
    return Lines(
        (
            Line(said[:1], bold=True, size=17),
            Line((detail, start) if who else (detail,), "muted"),
            Line((result, short) if result else ()),
        ),
        high,
        wide,
    )


def at_work(tiles: Product, said: tuple[str, str, str]) -> Largest:
    """The shared tiles, and what the followed thread does beside or below them."""
    return largest(
        columns(tiles, share(1, written(said, 4.8, 12)), gap=1.4),
        first(
            at_least(_above(tiles, written(said, 5.7)), height=15),
            _above(tiles, written(said, 4.1)),
        ),
    )


def arranged(
    matrices: Product, work: Node, others: tuple[Node, ...], totals: Sequence[Node], phases: Track
) -> Node:
    """The parts of a picture on any stage.

    `others` is what stands beside the work, and what stands below it where that fits; `totals` are
    a table, and ever shorter words.
    """
    beside, *below = others
    numbers, short, line = totals
    pair = columns(share(1.2, work), share(1, beside), gap=1.6)
    tables = [share(0, table) for table in below]
    roomy = [rows(share(1, at_least(work, 9)), table, gap=0.8) for table in tables]
    low = [rows(share(1, work), table, gap=0.5) for table in tables]

    def wide(right: Node, last: Node) -> Node:
        side = rows(share(1, right), last, gap=0.7)
        return columns(matrices, share(1, side), gap=2.4)

    def high(lower: Sequence[Node | Part], last: Node) -> Node:
        upper = columns(share(1.3, matrices), share(1, work), gap=1.4)
        return rows(share(1.5, upper), *lower, last, phases, gap=1.0)

    def tracked(node: Node) -> Node:
        return rows(share(1, node), phases, gap=0.9)

    rights = *roomy, at_least(pair, 9, 18), work
    lowers: list[Sequence[Node | Part]] = [*([one] for one in tables), [at_least(beside, 10)], []]
    return first(
        *(at_least(tracked(wide(right, numbers)), 30, aspect=1.15) for right in rights),
        *(at_least(tracked(wide(right, short)), 20, aspect=1.15) for right in rights),
        *(at_least(high(lower, numbers), 30) for lower in lowers),
        *(at_least(high(lower, short), 20) for lower in lowers),
        *(
            rows(share(1, wide(right, line)), replace(phases, slim=True), gap=0.5)
            for right in (*low, at_least(pair, 8, 26), work)
        ),
    )


def _above(tiles: Product, below: Lines) -> Node:
    return rows(tiles, share(0.01, below), gap=0.7)


def dropped(operand: Operand) -> I64:
    """Cells of a padded factor that hold elements which the block needs and never loads."""
    lost = (operand.naive[-1] > 0) & (operand.tiled[-1] == 0)
    return np.flatnonzero((operand.cells >= 0) & lost[operand.cells])


def _memory(about: Multiplication, factors: list[Grid], result: Grid, k: int) -> Product:
    (x, y), (m, n), tile = about.block, factors, about.sizes.tile
    legend = (
        tr("Heat and number: reads by block ({x},{y})", x=x, y=y),
        tr("Heat: reads by block ({x},{y})", x=x, y=y),
    )
    return Product(m, n, result, legend, focus=(y * tile, k, x * tile))


def _factor(
    about: Multiplication,
    operand: Operand,
    count: I64,
    later: Bool,
    element: I64,
    shape: tuple[int, ...],
) -> Grid:
    """Cells of M or N in global memory, by element: (E,) reads so far, and what will be read."""
    inside, (rows, columns) = element >= 0, shape
    reads = np.where(inside, count[element], 0)

    def tip(cell: int) -> str:
        return element_tip(about, operand, int(element[cell]), int(reads[cell]))

    return Grid(
        (operand.name,),
        rows,
        columns,
        tip,
        (Paint(~inside, "cell", soft=0.7),),
        Heat(reads, operand.most, inside & later[element]),
        note=_often(int(count.max(initial=0))),
    )


def _read(
    about: Multiplication,
    operand: Operand,
    moment: Moment,
    share: float,
    element: I64,
    shape: tuple[int, ...],
) -> Grid:
    """Cells of M or N as the naive kernel reads them: those read now outlined."""
    before, after = operand.naive[moment.naive], operand.naive[moment.seen]
    count = ticking(before, after, float(smooth(share)))
    made = _factor(about, operand, count, operand.naive[-1] > 0, element, shape)
    if moment.step < 0:
        return made
    reads = operand.naive_reads[moment.step]
    now = np.flatnonzero((element >= 0) & np.isin(element, reads))
    mine = np.flatnonzero((element >= 0) & (element == reads[about.watched]))
    return replace(made, outlines=(Outline(now),), own=tuple(mine.tolist()))


def _often(count: int) -> Note | None:
    """How often elements have been read, where cells have no room to say it."""
    if not count:
        return None
    return Note((tr("read {times}", times=times(count)), times(count), f"{count} ×"), numbers=False)


def _tile_of(about: Multiplication, operand: Operand, phase: int) -> I64:
    """Cells of a padded factor that make the tile of a phase."""
    row, column = np.divmod(np.arange(about.sizes.tile**2), about.sizes.tile)
    first, left = operand.origin[phase].tolist()
    return np.asarray((first + row) * operand.padded[1] + left + column)


def _result(about: Multiplication, moment: Moment, share: float, wrong: Bool | None) -> Grid:
    """P: the block's elements grow with their sums, and are stored in the end."""
    sizes, padded = about.sizes, about.sizes.padded("P")
    element = cells_of(sizes.shape("P"), padded)
    mine = np.isin(element, about.tiled.stored[~about.guards])
    done = (moment.naive + (share if moment.step >= 0 else 0.0)) / sizes.inner
    stored = {"store": float(smooth(share)), "result": 1.0}.get(moment.part, 0.0)
    row, column = np.divmod(np.arange(sizes.tile**2), sizes.tile)
    (x, y), tile = about.block, sizes.tile
    block = (y * tile + row) * padded[1] + x * tile + column
    none = np.zeros(sizes.rows * sizes.columns, bool)
    bad = np.flatnonzero(mine & (none if wrong is None else wrong.ravel())[element])
    return Grid(
        ("P",),
        *padded,
        lambda cell: product_tip(about, int(element[cell])),
        (
            Paint(element < 0, "cell", soft=0.7),
            Paint(mine, "compute", done),
            Paint(mine, "store", over=stored),
        ),
        hatched=(Hatch(block[about.guards], quiet=True), Hatch(bad, bad=True)),
        outlines=(Outline(block),),
        own=(int(block[about.watched]),),
        tile=tile,
    )
