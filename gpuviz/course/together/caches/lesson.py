"""Caches: what a naive product finds in L1, why tiles still win, what shared memory takes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.base.arrays import F64
from gpuviz.base.keeping import kept_with_first
from gpuviz.course import named
from gpuviz.course.together.caches.window import STEPS, Corner, Window, window
from gpuviz.course.together.matmul_common.sizes import KERNEL
from gpuviz.draw.axis import linear, short
from gpuviz.memory.counts import Count
from gpuviz.panels.figures import Figure, FigureRow, Paragraph, Provenance
from gpuviz.panels.grid import Grid, Grids, Note, Outline, Paint
from gpuviz.panels.layout import Node, columns, largest, rows, share, spare
from gpuviz.panels.legend import ColorKey, Key
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.plot import Curve, Plot, Points, Upright
from gpuviz.panels.shares import Share, Shares
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.load_traffic import FROM_L2
from gpuviz.story.measured import time_bars, time_of
from gpuviz.story.script import Act, Script, line_with
from gpuviz.timing.caches import Loads, loads_of, lookups, missed_by_size
from gpuviz.timing.device import H200, KIB
from gpuviz.timing.facts import Circumstances, l1_bytes
from gpuviz.timing.sample import blocks_of
from gpuviz.timing.traffic import LINE
from gpuviz.traces.trace import Trace
from gpuviz.words.language import fine_percent, grouped, tr, trn

_KERNEL, _THREADS, _TILE, _MOST = "caches.cu", 256, 16, 8
_FIRST, _SAME, _NEXT, _LOOP, _TILES, _CARVE, _END = 4.5, 3.0, 2.5, 3.0, 3.0, 4.0, 4.0  # seconds
_KEPT = 0.62  # how quiet cells are that are in L1, and not asked for
_MORE = 99.0  # the part of the matrices in what is left beside their key
_APART = 1.25  # times as much, or as little: a count and the model that are not about the same
_AGAIN = 8  # floats of a sector: so many steps of the loop find what the first one brought

LOOK_FOR = "What reads find in L1 that others have brought, and what it costs to find it there."
WORDS = ("cache", "line", "sector", "tile", "shared-memory", "request")

PARAMETERS = (
    Parameter(
        "size", "matrix size", 1024, offers={n: f"{n} × {n}" for n in (256, 512, 1024)}, small=256
    ),
    Parameter(
        "across",
        "block",
        16,
        offers={n: f"{n} × {_THREADS // n}" for n in (32, 16, 8, 4, 2, 1)},
        hint="threads of a block along x and y; the tiled kernel has blocks of 16 × 16",
    ),
    Parameter(
        "taken",
        "shared memory taken",
        0,
        offers={n: f"{n} KB" for n in (0, 8, 16, 27)},
        hint="by each block of the naive kernel, which does not use it: L1 is smaller by as much",
    ),
)

PRESETS = (
    Preset("Blocks of 16 × 16", {"across": 16, "taken": 0}),
    Preset("Lanes down a column", {"across": 1, "taken": 0}),
    Preset("Lanes down a column, L1 taken", {"across": 1, "taken": 27}),
    Preset("Blocks of 8 × 32, L1 taken", {"across": 8, "taken": 27}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """Both kernels; recorded are the blocks that reside together on a multiprocessor."""
    across, taken = number(values, "across"), number(values, "taken")
    return (
        _plan(values, "naive", (across, _THREADS // across), taken * KIB),
        _plan(values, "tiled", (_TILE, _TILE), 0),
    )


def _plan(values: Values, kernel: str, block: tuple[int, int], taken: int) -> Plan:
    """One launch."""
    n, (x, y) = number(values, "size"), block
    grid, usual = (n // x, n // y, 1), x == y == _TILE
    size = tr("{n} × {n}, blocks of {x} × {y}", n=n, x=x, y=y)
    if taken:
        size = tr("{size}, {n} KB of shared memory taken", size=size, n=taken // KIB)
    return Plan(
        kernel,
        KERNEL if usual else _KERNEL,  # where it is the other lessons' product, it is theirs
        kernel,
        grid,
        (x, y, 1),
        (
            *(f"f32[{n * n}]={how}" for how in ("rand", "rand", "zeros")),
            *(f"i32={n}",) * (3 if usual else 1),
        ),
        (("TILE", str(_TILE)),) * usual,
        taken,
        record=tuple(blocks_of(H200, 0, grid[0] * grid[1])[:_MOST]),
        size=size,
        outputs=False,
        run_blocks="classes",
    )


@dataclass(frozen=True, eq=False)
class Reads:
    """The loads of a launch before the caches: of the blocks of one multiprocessor, and of all.

    `l1` are bytes, 0 where loads are not looked up in L1; `blocks` were looked at, of `all`.
    """

    run: Run
    loads: Loads
    l1: int
    blocks: int
    all: int

    def whole(self, sectors: float) -> int:
        """Of the whole launch, where so many are of the blocks looked at."""
        return round(sectors * self.all / self.blocks)

    @property
    def asked(self) -> int:
        """Sectors that all loads ask for."""
        return int(self.run.counts.totals[Count.GLOBAL_LOAD_SECTORS])

    @property
    def missed(self) -> int:
        """Sectors that L2 sends to the blocks looked at."""
        return lookups(self.loads, self.l1 // LINE).missed

    @cached_property
    def from_l2(self) -> int:
        """Sectors that L2 sends to all blocks, as those looked at are."""
        return self.whole(self.missed)

    @property
    def least(self) -> int:
        """Sectors that memory sends: each once, where caches are on the way."""
        cached = architecture(self.run.arch).caches_global
        return int(self.run.counts.totals[Count.L2_LOAD_SECTORS_LEAST]) if cached else self.asked

    @property
    def turns(self) -> int:
        """Lines and wavefronts that L1 and shared memory serve, one after another."""
        totals = self.run.counts.totals
        parts = Count.GLOBAL_LOAD_LINES, Count.SHARED_LOAD_WAVEFRONTS, Count.SHARED_STORE_WAVEFRONTS
        return int(sum(totals[one] for one in parts))

    def counter(self, name: str) -> float | None:
        """What a GPU counted of it."""
        found = self.run.measurement
        return None if found is None else found.values().get(name)


@kept_with_first(4)  # a story is told again for each measurement
def _loads(trace: Trace, blocks: tuple[int, ...]) -> Loads:
    return loads_of(trace, blocks)


def reads_of(run: Run, blocks: tuple[int, ...]) -> Reads:
    """Before an H200's L1: as many of the blocks as reside together."""
    arch, launch = architecture(run.arch), run.trace.launch
    registers = run.resources.registers if run.resources else 0
    static = run.resources.static_shared_bytes if run.resources else 0
    shared = static + launch.dynamic_shared
    fits = occupancy(arch, launch.threads_per_block, registers, shared)
    resident = max(1, min(fits.blocks, len(blocks)))
    around = Circumstances(
        launch.blocks, fits.blocks, fits.allocated_shared if shared else 0, 0, 0, 0, 0.0
    )
    l1 = l1_bytes(H200, around) if arch.looks_in_l1 else 0
    return Reads(run, _loads(run.trace, blocks[:resident]), l1, resident, launch.blocks)


@dataclass(frozen=True, eq=False)
class CacheRuns:
    """All that the pictures select from."""

    arch: Architecture
    naive: Reads
    tiled: Reads
    seen: Window
    sizes: tuple[int, ...]
    missed: tuple[F64, F64]

    @property
    def share(self) -> float:
        """Of the naive kernel's sectors, those that L1 does not have."""
        return self.naive.missed / max(self.naive.loads.sectors, 1)


def narrate(values: Values, runs: Runs) -> Story:
    """Step by step through L1; then all of the loop, tiles, and L1 of any size."""
    plans = {one.role: one for one in plan(values)}
    naive, tiled = (reads_of(runs[name], plans[name].record) for name in ("naive", "tiled"))
    first = plans["naive"].record[0]
    at_work = lookups(naive.loads, naive.l1 // LINE)
    seen = window(runs["naive"].trace, naive.loads, at_work, first, number(values, "size"))
    sizes = tuple(sorted(H200.l1_bytes - size for size in H200.carve_outs))
    looked = architecture(runs["naive"].arch).looks_in_l1
    missed = tuple(missed_by_size(one.loads, sizes if looked else (0,)) for one in (naive, tiled))
    shown = CacheRuns(
        architecture(runs["naive"].arch), naive, tiled, seen, sizes, (missed[0], missed[1])
    )
    script = Script("naive")
    steps = _steps(script, shown)
    loop, tiles, carve, ending = _whole(script, shown)
    words = tuple(_said(shown, moment) for moment in range(seen.moments))
    others = longest(words)

    def at(t: float) -> Picture:
        if t < loop.start:
            moment = _moment(steps, seen, t)
            return Picture(_title(shown), words[moment], _corners(shown, moment), others)
        if t < tiles.end:
            return _passed(shown, loop.share(t), tiles.share(t))
        if t < ending.start and carve is not None:
            return _carved(shown, carve.share(t))
        return _timed(shown, ending.share(t))

    return Story.of(script, at, _expected(shown, number(values, "size")), _summary(shown))


def _steps(script: Script, shown: CacheRuns) -> tuple[Act, ...]:
    """The first step of the loop, those that find what it brought, and the next sectors."""
    line, sectors = line_with(shown.naive.run.trace.source, "sum += M"), tr("sectors")
    every = np.add.reduceat(shown.seen.asked, (0, shown.seen.warps, _AGAIN * shown.seen.warps))
    acts = []
    for seconds, label, asked in zip(
        (_FIRST, _SAME, _NEXT),
        ("k = 0", f"k = 1 … {_AGAIN - 1}", f"k = {_AGAIN} … {STEPS - 1}"),
        every.tolist(),
        strict=True,
    ):
        acts.append(script.act(seconds, "load", label, f"{grouped(asked)} {sectors}", line))
    return tuple(acts)


def _whole(script: Script, shown: CacheRuns) -> tuple[Act, Act, Act | None, Act]:
    """Both kernels; L1 of any size, where it matters; the times."""
    percent = tr("{n} from L2", n=fine_percent(shown.share))
    line = line_with(shown.naive.run.trace.source, "sum += M")
    loop = script.act(_LOOP, "load", tr("the whole loop"), percent, line)
    inner = line_with(shown.naive.run.trace.source, "sum += Ms")
    tiles = script.act(_TILES, "shared", tr("with tiles"), tr("shared memory"), inner, "tiled")
    carve = None
    if shown.missed[0][0] > 2 * shown.missed[0][-1]:
        said = tr("sectors from L2 by the size of L1")
        carve = script.act(_CARVE, "compute", tr("what L1 keeps"), said, line)
    return loop, tiles, carve, script.act(_END, "result", tr("result"), tr("how long both take"))


def _moment(acts: tuple[Act, ...], seen: Window, t: float) -> int:
    """Which step and warp it is."""
    edges = (0, 1, _AGAIN, STEPS)
    for act, low, high in zip(acts, edges, edges[1:], strict=False):
        if t < act.end:
            low, high = low * seen.warps, high * seen.warps
            return min(low + int(act.counted(t, high - low)), high - 1)
    return seen.moments - 1


def _title(shown: CacheRuns) -> str:
    """What the loop finds."""
    if not shown.naive.l1:
        return tr("Nothing is looked up in L1 here: every load goes to L2 or beyond")
    if shown.share > 0.5:
        return tr("L1 is too small: what was brought is gone before it is asked for again")
    return tr(
        "Of 100 sectors that the naive product asks for, L1 has {n}",
        n=f"{100 * (1 - shown.share * apart(shown.naive)):.0f}",
    )


def apart(one: Reads) -> float:
    """How many times what the model lets L2 send a GPU of this kind counted, 1 where that is about
    the same or not known.
    """
    counted, found = one.counter(FROM_L2), one.run.measurement
    if not counted or found is None or found.device.sm != one.run.arch:
        return 1.0
    times = counted / max(one.whole(one.missed), 1)
    return times if max(times, 1 / times) > _APART else 1.0


def _summary(shown: CacheRuns) -> str:
    if not shown.naive.l1:
        return tr("Every sector that is asked for comes from beyond the multiprocessor.")
    return tr(
        "{n} of the sectors come from L2; what L1 has, it still has to serve line by line.",
        n=fine_percent(shown.share * apart(shown.naive)),
    )


def _said(shown: CacheRuns, moment: int) -> str:
    """What the warp asks for, and what of it is there."""
    step, warp = divmod(moment, shown.seen.warps)
    asked, found = int(shown.seen.asked[moment]), int(shown.seen.found[moment])
    who = tr("k = {k}, warp {warp}", k=step, warp=warp)
    if not shown.naive.l1 and not shown.arch.caches_global:
        return tr("{who}: there are no caches on the way; memory sends all of it.", who=who)
    if not found:
        return tr("{who}: L1 has none of its {n} sectors; L2 sends them.", who=who, n=asked)
    if found == asked:
        return tr("{who}: L1 has all of its {n} sectors already.", who=who, n=asked)
    return tr("{who}: L1 has {some} of its {n} sectors.", who=who, some=found, n=asked)


def _corners(shown: CacheRuns, moment: int) -> Node:
    """Both corners, what colours mean, and the counts so far."""
    keys = (
        Key(tr("asked for, and in L1"), "good", soft=0.0),
        Key(tr("asked for, sent by L2"), "warn", soft=0.0),
        Key(tr("in L1"), "load", soft=_KEPT),
    )
    asked = int(shown.seen.asked[: moment + 1].sum())
    found = int(shown.seen.found[: moment + 1].sum())
    there = Figure(tr("found in L1: {a} of {b} sectors", a=found, b=asked), "good", True)
    sent = Figure(tr("from L2: {n}", n=asked - found), "warn")
    grids = Grids(tuple(_grid(corner, moment) for corner in shown.seen.corners))
    said = (Paragraph(one.text, one.ink, one.bold) for one in (there, sent))
    source = _source(shown)
    aside = rows(*(ColorKey((key,)) for key in keys), *said, spare(source), gap=0.4)
    below = rows(share(1, grids), ColorKey(keys), FigureRow((there, sent)), spare(source), gap=0.4)
    return largest(below, columns(share(_MORE, grids), share(1, aside)))


def _grid(corner: Corner, moment: int) -> Grid:
    """One matrix."""
    hit, brought = corner.hit[moment], corner.brought[moment]
    cells = corner.rows * corner.columns

    def tip(cell: int) -> str:
        row, column = divmod(cell, corner.columns)
        kept = corner.kept[moment, cell]
        where = tr("in L1") if kept else tr("not in L1")
        return f"{corner.name}[{row}][{column}] · {where}"

    which = tr("its first {n} rows and {m} columns", n=corner.rows, m=corner.columns)
    return Grid(
        (corner.name,),
        corner.rows,
        corner.columns,
        tip,
        (
            Paint(corner.kept[moment][:cells], "load", soft=_KEPT),
            Paint(hit[:cells], "good"),
            Paint(brought[:cells], "warn"),
        ),
        outlines=tuple(Outline(one, "warn", 1.5) for one in corner.fetched(moment)),
        note=Note((which,)),
    )


def _source(shown: CacheRuns) -> Provenance:
    """Which L1, and who asks it."""
    naive = shown.naive
    brief = tr("L1 of {n} KB", n=naive.l1 // KIB)
    kept = tr("L1 of {n} KB, as on an H200", n=naive.l1 // KIB)
    if not naive.l1:
        brief = kept = tr("{arch}: loads are not looked up in L1", arch=str(shown.arch))
    turns = tr("the warps of {blocks} take turns", blocks=_resident(naive))
    return Provenance((f"{kept}; {turns}", kept, brief), tr("model"), "accent")


def _passed(shown: CacheRuns, grown: float, more: float) -> Picture:
    """Sectors at each door, of the naive kernel, then of both."""
    naive, every = shown.naive, (shown.naive, shown.tiled)
    what = {"n": naive.blocks, "all": grouped(naive.all)}
    looked = tr("L2: {n} of {all} blocks of the launch looked at, and taken for all", **what)
    words = naive.run.size_words
    size = Provenance((f"{words}; {looked}", words), tr("model"), "accent")
    title = tr("Caches divide what memory has to send by {n}", n=_times(naive.asked, naive.least))
    launch = naive.run.trace.launch
    said = tr(
        "Each float of M and N is asked for {n} times over: {asked} sectors. Memory sends "
        "{least}; L1 and L2 do the rest.",
        n=launch.grid[0] * launch.block[0],
        asked=grouped(naive.asked),
        least=grouped(naive.least),
    )
    return Picture(title, said, rows(share(1, _doors(every, [grown, more])), spare(size)))


def _timed(shown: CacheRuns, over: float) -> Picture:
    """Both kernels on one axis of time, with what L1 and shared memory serve of them."""
    every = (shown.naive, shown.tiled)
    names = (tr("naive"), tr("tiled"))
    bars = time_bars(
        [(name, time_of(one.run)) for name, one in zip(names, every, strict=True)],
        0,
        [
            tr("L1 and shared memory: {n} turns · L2: {size}", n=short(one.turns), size=size)
            for one in every
            for size in (_megabytes(round(one.from_l2 * apart(one))),)
        ],
        over,
    )
    sent = tuple(round(one.from_l2 * apart(one)) for one in every)
    title = _compared(shown, sent, (shown.naive.turns, shown.tiled.turns))
    return Picture(title, _turns(shown.naive), bars)


def _turns(naive: Reads) -> str:
    """What tiles spare, or how far off the model is of what L2 sends."""
    if (times := apart(naive)) != 1:
        return tr(
            "Counted, L2 sent {n} × what the model says for the naive product: L1 kept less of it.",
            n=f"{times:.3g}",
        )
    return tr(
        "What a lane finds in L1 still costs L1 a turn for each line; a wavefront of shared "
        "memory serves a whole warp."
    )


def _doors(every: tuple[Reads, Reads], came: list[float]) -> Node:
    """The same numbers as bars of one scale: how much passes each door."""
    most = float(every[0].asked)
    bars: list[Share] = []
    for one, name, grown in zip(every, (tr("naive"), tr("tiled")), came, strict=True):
        parts = (
            (tr("{name}: asked of L1", name=name), one.asked),
            (tr("sent by L2"), one.from_l2),
            (tr("sent by memory"), one.least),
        )
        for i, (said, sectors) in enumerate(parts):
            words = f"{_megabytes(sectors)} · {fine_percent(sectors / most)}", _megabytes(sectors)
            ink: Ink = ("load", "accent", "good")[i]
            there = min(max(3 * grown - i, 0.0), 1.0)
            told = words if there else ()
            bars.append(Share(said, sectors, sectors, told, (), there, not i, None, ink))
    return Shares(tuple(bars))


def _megabytes(sectors: float) -> str:
    """`537 MB`."""
    return f"{sectors * 32 / 1e6:.3g} MB" if sectors * 32 < 1e9 else f"{sectors * 32 / 1e9:.3g} GB"


def _times(many: float, few: float) -> str:
    """How many times as many."""
    times = many / max(few, 1)
    return grouped(times) if times >= 1000 else f"{times:.3g}"


def _compared(shown: CacheRuns, from_l2: tuple[int, ...], turns: tuple[int, ...]) -> str:
    """Why tiles win."""
    less = _times(turns[0], turns[1])
    if not shown.naive.l1:
        return tr(
            "Without L1 only shared memory keeps what is read again: {m} × fewer sectors",
            m=_times(from_l2[0], from_l2[1]),
        )
    if from_l2[0] <= 1.05 * from_l2[1]:
        return tr("L2 sends tiles as much: they win by {n} × fewer turns of L1", n=less)
    what = {"m": _times(from_l2[0], from_l2[1]), "n": less}
    return tr("Tiles ask L2 for {m} × less, and need {n} × fewer turns", **what)


def _carved(shown: CacheRuns, grown: float) -> Picture:
    """The share of sectors that come from L2, over the size of L1."""
    parts = [
        100 * missed * one.all / one.blocks / max(shown.naive.asked, 1)
        for missed, one in zip(shown.missed, (shown.naive, shown.tiled), strict=True)
    ]
    x = linear((tr("KB of L1, what shared memory leaves of 256"), tr("KB of L1")), 0, 256, 32)
    y = linear(
        (tr("% of the naive product's sectors that L2 sends"), tr("% sent by L2")), 0, 100, 25
    )
    size = [n / KIB for n in shown.sizes]
    plot = Plot(
        x,
        y,
        (
            Upright(shown.naive.l1 / KIB, "muted", answers=True),
            Curve(size, parts[1], "shared", name=tr("tiled"), grown=grown, answers=True),
            Curve(size, parts[0], "accent", 3, name=tr("naive"), grown=grown, answers=True),
            Points(
                size,
                parts[0],
                "accent",
                grown=grown,
                tip=lambda i: tr(
                    "{n} KB of L1: {percent} from L2",
                    n=f"{size[i]:.0f}",
                    percent=fine_percent(parts[0][i] / 100),
                ),
                answers=True,
            ),
        ),
    )
    return Picture(_carve_title(parts[0]), _carve_said(shown), rows(plot, _source(shown)))


def _carve_title(parts: F64) -> str:
    """The cliff."""
    what = {"low": fine_percent(parts[-1] / 100), "high": fine_percent(parts[0] / 100)}
    return tr("Shared memory takes its room from L1: {low} become {high}", **what)


def _carve_said(shown: CacheRuns) -> str:
    """What L1 has to keep."""
    _, y, _ = shown.naive.run.trace.launch.block
    return tr(
        "L1 has to keep a line of each row of M until its 32 floats are read: {n} rows a block, "
        "{blocks}.",
        n=y,
        blocks=_resident(shown.naive),
    )


def _resident(one: Reads) -> str:
    return trn("{n} resident block", "{n} resident blocks", one.blocks)


def _expected(shown: CacheRuns, side: int) -> str:
    """By arithmetic: what a cache that keeps all that a block reads would let through."""
    x, y, _ = shown.naive.run.trace.launch.block
    across = max(x, 8)
    block = (y * side + across * side) // 8
    what = {"x": x, "y": y, "n": side, "sectors": grouped(block)}
    return tr(
        "by arithmetic: {y} rows and {x} columns of {n} floats are {sectors} sectors a block, "
        "each once",
        **what,
    )


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
