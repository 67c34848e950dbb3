"""Transpose: rows in and columns out, directly, through shared memory, padded, swizzled."""

from collections.abc import Mapping
from math import ceil

import numpy as np

from gpuviz.arch import architecture
from gpuviz.base.arrays import I64
from gpuviz.course import named
from gpuviz.course.shared_memory.transpose.block import SHARED, Block, Moves, block_of
from gpuviz.memory.counts import Count
from gpuviz.memory.passes import ServedRequest
from gpuviz.panels.cell_map import Blank, CellMap, Outline
from gpuviz.panels.figures import Figure, Figures
from gpuviz.panels.layout import Node, columns, rows, share
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.time_bars import TimeBars
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.measured import time_bars, time_of
from gpuviz.story.script import Act, Script, StepKind
from gpuviz.words.language import grouped, tr, trn

_KERNEL = "transpose.cu"
VARIANTS = ("naive", "shared", "padded", "swizzled")
_LEAST, _GAP = 10.7, 1.5  # letters: width of a tile that is not small, space between tiles
_SHORT, _LONG, _REST, _BARRIER, _END = 1.8, 4.8, 1.6, 0.6, 5.0  # seconds

LOOK_FOR = (
    "How a tile in shared memory turns columns into rows, and what the banks make of its columns."
)
WORDS = ("tile", "bank", "conflict", "padding", "swizzle", "sector", "barrier")

PARAMETERS = (
    Parameter(
        "variant",
        "kernel",
        "shared",
        offers={
            "naive": "naive",
            "shared": "through shared memory",
            "padded": "shared, padded rows",
            "swizzled": "shared, swizzled",
        },
    ),
    Parameter("size", "rows and columns", 4096, offers=tuple(32 << n for n in range(8)), small=64),
    Parameter("warp", "warp shown", 0, 0, 7),
)

PRESETS = (
    Preset("Naive", {"variant": "naive"}),
    Preset("Shared", {"variant": "shared"}),
    Preset("Padded", {"variant": "padded"}),
    Preset("Swizzled", {"variant": "swizzled"}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """All four kernels, so that they can be compared; a block off the diagonal is recorded."""
    n = number(values, "size")
    side = n // 32
    arguments = (f"f32[{n * n}]=arange", f"f32[{n * n}]=zeros", f"i32={n}")
    shown = min(1, side - 1)
    return tuple(
        Plan(
            name,
            _KERNEL,
            name,
            (side, side, 1),
            (32, 8, 1),
            arguments,
            record=(shown,),
            size=f"{n} × {n}",
            outputs=False,
        )
        for name in VARIANTS
    )


def narrate(values: Values, runs: Runs) -> Story:
    """One warp's row in detail, the rest of its block, and what all four kernels move."""
    variant, run = str(values["variant"]), runs[str(values["variant"])]
    arch = architecture(run.arch)
    block = block_of(run.trace, arch, number(values, "size"), number(values, "warp"))
    script, acts = Script(variant), list[tuple[str, Act]]()
    watched, rest = dict[str, Act](), dict[str, Act]()
    for kind in _THROUGH_SHARED if "put" in block.moves else _DIRECT:
        act = _act(script, kind, block.moves.get(kind))
        acts.append((kind, act))
        (watched if kind in block.moves else rest).update(dict.fromkeys(kind.split("+"), act))
    ending, sentences = script.act(_END, "result", tr("result")), _sentences(block)
    others = longest(sentences.values())

    def at(t: float) -> Picture:
        now = next((kind for kind, act in acts if t < act.end), "result")
        maps = (_map(block, name, watched, rest, t) for name in _PLACES)
        tiles: Node = columns(*(share(1, one) for one in maps), gap=_GAP)
        if now == "result":
            tiles = _times(runs, VARIANTS.index(variant), ending.share(t))
        return Picture(_title(variant), sentences[now], tiles, others)

    return Story.of(script, at, _expected(values, run), sentences["result"])


_PLACES = {"in": ("read",), "tile": ("put", "get"), "out": ("write",)}
_DIRECT = "read", "write", "read+write"
_THROUGH_SHARED = "read", "put", "read+put", "barrier", "get", "write", "get+write"


def _act(script: Script, kind: str, moves: Moves | None) -> Act:
    """The next act: a request of the watched warp, or (None) all of the other warps."""
    labels: dict[str, tuple[str, StepKind]] = {
        "read": (tr("read a row"), "load"),
        "put": (tr("store in shared memory"), "shared"),
        "read+put": (tr("the block's other rows"), "load"),
        "barrier": (tr("barrier"), "barrier"),
        "get": (tr("load a column"), "shared"),
        "write": (tr("write"), "store"),
        "get+write": (tr("the block's other columns"), "store"),
        "read+write": (tr("the block's other rows"), "store"),
    }
    label, step = labels[kind]
    if moves is None:
        return script.act(_BARRIER if kind == "barrier" else _REST, step, label)
    one = moves.first
    detail = f"{one.instruction.text} · {one.counted}"
    length = _LONG if one.count > 8 else _SHORT
    return script.act(length, step, label, detail, one.instruction.line)


def _map(
    block: Block, name: str, watched: Mapping[str, Act], rest: Mapping[str, Act], t: float
) -> Node:
    """One tile with the request under way, and what the watched requests at it cost."""
    tile, kinds = block.tiles.get(name), _PLACES[name]
    if tile is None:
        blank = Blank(SHARED.names, tr("not used"), _LEAST)
        return rows(blank, Figures(()), gap=0.3)
    moves = block.moves[kinds[0]]
    done = moves.came(watched[kinds[0]].share(t), rest[kinds[0]].share(t))
    under = next((k for k in kinds if watched[k].start <= t < watched[k].end), None)
    wasted, outlines = _request(block.moves[under], watched[under].share(t)) if under else _NONE
    unused = np.flatnonzero(moves.color_of_cells < 0) if name == "tile" else None
    shown = CellMap(
        tile.names,
        tile.rows,
        tile.columns,
        moves.color_of_cells,
        done,
        name == "in",
        tile.tip,
        1.0,
        unused,
        wasted,
        outlines,
        least=_LEAST,
    )
    costs = [(kind, block.moves[kind].first, watched[kind].share(t)) for kind in kinds]
    cost = _banked(*costs) if name == "tile" else _moved(*costs)
    return rows(shown, Figures((cost,)), gap=0.3)


_NONE: tuple[None, tuple[Outline, ...]] = (None, ())


def _request(moves: Moves, share: float) -> tuple[I64 | None, tuple[Outline, ...]]:
    """The request under way: what its transactions move and it does not use; these, and cells
    served now.

    Before there are any, and in shared memory, the cells that it asks for.
    """
    boxes, served = moves.boxes[: ceil(share * moves.first.count)], moves.served(share)
    asked = moves.cell[moves.mine]
    now = Outline(moves.tile.runs(asked[(served > 0) & (served < 1)]), "outline", True)
    if not len(boxes):
        return None, (Outline(moves.tile.runs(asked), "ink"), now)
    return moves.wasted(boxes), (Outline(boxes, "accent"), now)


_Cost = tuple[str, ServedRequest, float]  # of one request: what it does, and how far it has come


def _moved(cost: _Cost) -> Figure:
    """What one request moves, and how few would do."""
    kind, one, share = cost
    verb = {"read": tr("read"), "write": tr("written")}[kind]
    said, ideal = f"{verb}: {one.counted}", tr("ideal {count}", count=one.ideal)
    return Figure(f"{said}, {ideal}", _ink(one, share), True, shorter=(said, one.counted))


def _banked(put: _Cost, get: _Cost) -> Figure:
    """In how many wavefronts the requests of shared memory are served; coloured by the last."""
    counts = {"a": put[1].count, "b": get[1].count}
    last = get if get[2] > 0 else put
    ink = _ink(*last[1:])
    said, short = tr("wavefronts: {a} in, {b} out", **counts), tr("{a} in, {b} out", **counts)
    return Figure(said, ink, True, shorter=(short,))


def _ink(one: ServedRequest, share: float) -> Ink:
    """Whether it takes more than it has to, once it has begun."""
    if share <= 0:
        return "faint"
    return "warn" if one.count > one.ideal else "good"


def _times(runs: Runs, now: int, over: float) -> TimeBars:
    """All four kernels on one axis of time, with what costs each of them most."""
    names = (tr("naive"), tr("shared"), tr("padded"), tr("swizzled"))
    sectors = architecture(runs["naive"].arch).has_sectors
    notes = list[tuple[str, ...]]()
    for name in VARIANTS:
        totals = runs[name].counts.totals
        store, load = totals[Count.SHARED_STORE_WAVEFRONTS], totals[Count.SHARED_LOAD_WAVEFRONTS]
        ideals = (Count.SHARED_STORE_WAVEFRONTS.ideal, Count.SHARED_LOAD_WAVEFRONTS.ideal)
        written, best = Count.GLOBAL_STORE_SECTORS, Count.GLOBAL_STORE_SECTORS.ideal
        out = _cell(totals[written], totals[best] if best else 0)
        said = tr("{n} sectors written", n=out) if sectors else tr("{n} segments written", n=out)
        if store + load:
            due = sum(totals[one] for one in ideals if one)
            said = tr("{n} wavefronts", n=_cell(store + load, due))
        notes.append((said,))
    launches = [(name, time_of(runs[way])) for name, way in zip(names, VARIANTS, strict=True)]
    picks = [{"variant": way} for way in VARIANTS]
    return time_bars(launches, now, notes, over, picks=picks)


def _cell(count: int, ideal: int) -> str:
    """A count, and how many times the ideal it is when that is more than once."""
    exact = grouped(count) if count < 1_000_000 else f"{count / 1e6:.2f} M"
    times = count / max(ideal, 1)
    return exact if times <= 1 else f"{exact} ({times:.3g}×)"


def _title(variant: str) -> str:
    """What the kernel does with rows and columns."""
    return {
        "naive": tr("Naive transpose: rows are read, columns are written"),
        "shared": tr("Through shared memory: rows are read, and rows are written"),
        "padded": tr("Padded tile: its columns are spread over all banks"),
        "swizzled": tr("Swizzled tile: spread over all banks without a wasted word"),
    }[variant]


def _sentences(block: Block) -> dict[str, str]:
    """What happens in each act."""
    one = {kind: moves.first for kind, moves in block.moves.items()}
    said = {
        "read": tr("A warp reads 32 floats of a row: {count}.", count=one["read"].counted),
        "write": tr("It writes 32 floats of a row: {count}.", count=one["write"].counted),
        "read+put": tr("So do the other warps: the block's tile fills row by row."),
        "barrier": tr("Nobody reads the tile before all have written."),
        "get+write": tr("The same for the other columns of the tile."),
        "read+write": tr("So do the other warps, row by row."),
        "result": _result(one),
    }
    if "put" in one:
        said["put"] = tr("It stores them in a row of the tile: {count}.", count=one["put"].counted)
        said["get"] = tr("Then it loads a column of the tile: {count}.", count=one["get"].counted)
    else:
        said["write"] = tr(
            "It writes them to a column: {count}, and most of each is not its own.",
            count=one["write"].counted,
        )
    return said


def _result(one: Mapping[str, ServedRequest]) -> str:
    """What was gained, and what is left to mend."""
    write, get = one["write"], one.get("get")
    if get is None:
        return tr(
            "Each written float costs a transaction of its own: {count} where {ideal} would do.",
            count=write.counted,
            ideal=write.ideal,
        )
    if get.count > get.ideal:
        return trn(
            "Global memory is used fully; but each column lies in {n} bank: {count} where "
            "{ideal} would do.",
            "Global memory is used fully; but each column lies in {n} banks: {count} where "
            "{ideal} would do.",
            len(np.unique(get.address // 4 % 32)),
            count=get.counted,
            ideal=get.ideal,
        )
    return tr("Global memory is used fully, and no two lanes meet in a bank.")


def _expected(values: Values, run: Run) -> str:
    """Closed forms, for architectures with sectors."""
    if not architecture(run.arch).has_sectors:
        return ""
    requests = number(values, "size") ** 2 // 32
    naive = values["variant"] == "naive"
    ways = 32 if values["variant"] == "shared" else 1
    sectors = tr(
        "by arithmetic: {requests} load and store requests, {read} sectors read, {written} written",
        requests=grouped(requests),
        read=grouped(4 * requests),
        written=grouped((32 if naive else 4) * requests),
    )
    if naive:
        return sectors
    return sectors + "; " + tr("{count} shared load wavefronts", count=grouped(ways * requests))


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
