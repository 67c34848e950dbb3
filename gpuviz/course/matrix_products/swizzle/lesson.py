"""Swizzle: where the elements of a tile lie in the banks, by a layout and by XOR of its bits."""

from dataclasses import dataclass, replace

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import F64, I64
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.course.matrix_products.swizzle.layout import TMA, Swizzle
from gpuviz.course.matrix_products.swizzle.pieces import BitRow, Bits, Pieces
from gpuviz.course.matrix_products.swizzle.tile import LINE, Tile, placed, problem, tile_of
from gpuviz.draw.ease import smooth
from gpuviz.memory.bank_request import BankRequest, bank_requests
from gpuviz.memory.units import counted
from gpuviz.panels.bank_board import with_board
from gpuviz.panels.bank_map import BankMap
from gpuviz.panels.figures import Figure, FigureRow, TextLine
from gpuviz.panels.layout import Node, columns, rows, spare
from gpuviz.panels.picture import Picture
from gpuviz.panels.table import Columns, Table
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.measured import time_figures, time_of
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES
from gpuviz.words.language import english, grouped, tr, trn

_ROLE, _KERNEL = "warp", "swizzle.cu"
_BLOCKS, _THREADS, _READS = 528, 256, 64  # of the launch that is timed
_LAY, _MOVE, _STORE, _SEND, _ONE, _MOST, _END = 3.5, 4.0, 2.5, 1.0, 0.7, 4.5, 4.5  # seconds

LOOK_FOR = "Where a tile's elements lie in the banks, and how XOR of a few bits keeps lanes apart."
WORDS = ("swizzle", "bank", "wavefront", "conflict", "tile", "word")

PARAMETERS = (
    Parameter(
        "layout",
        "layout",
        "(8,64):(64,1)",
        hint="shape:stride of rows and columns in elements, as CuTe writes it: (8,64):(64,1), "
        "(8,(8,8)):(8,(1,64))",
    ),
    Parameter(
        "element",
        "element",
        2,
        offers={n: english("{n} byte", "{n} bytes", n) for n in (1, 2, 4)},
        compiled=True,
        hint="how large an element is",
    ),
    Parameter(
        "swizzle",
        "swizzle",
        "128",
        offers={
            "0": "none",
            "32": "TMA, 32 bytes",
            "64": "TMA, 64 bytes",
            "128": "TMA, 128 bytes",
            "own": "Swizzle<B,M,S>",
        },
        hint="which bits of an offset are exchanged by XOR",
    ),
    Parameter("bits", "B", 3, 0, 5, hint="Swizzle<B,M,S>: how many bits change"),
    Parameter("base", "M", 3, 0, 7, hint="Swizzle<B,M,S>: how many low bits stay"),
    Parameter("shift", "S", 3, 1, 7, hint="Swizzle<B,M,S>: how far up the bits are that it takes"),
    Parameter(
        "unit",
        "B, M, S count",
        "elements",
        offers={"elements": "elements", "bytes": "bytes"},
        hint="of what the offsets are: CuTe swizzles elements, TMA bytes",
    ),
    Parameter(
        "access",
        "read",
        "matrices",
        offers={
            "matrices": "8 rows of 16 bytes: ldmatrix",
            "column": "a column, one element a lane",
        },
        hint="how the warp reads the tile that it filled row by row",
    ),
    Parameter("first", "first column read", 0, 0, 63, hint="in pieces of 16 bytes for ldmatrix"),
    Parameter("piece", "piece followed", -1, -1, 16383, hidden=True),
)

_COLUMN: Values = {"layout": "(32,32):(32,1)", "element": 4, "access": "column"}
PRESETS = (
    Preset("TMA 128 bytes", {"swizzle": "128"}),
    Preset("No swizzle", {"swizzle": "0"}),
    Preset("TMA 64 bytes", {"swizzle": "64"}),
    Preset("TMA 32 bytes", {"swizzle": "32"}),
    Preset("Swizzle<3,3,3> of halves", {"swizzle": "own", "bits": 3, "base": 3, "shift": 3}),
    Preset("Column of floats", {**_COLUMN, "swizzle": "own", "bits": 5, "base": 0, "shift": 5}),
    Preset("Core matrices", {"layout": "(8,(8,8)):(8,(1,64))", "swizzle": "0"}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """A block with each swizzle; and many with the one chosen."""
    tile = tile_of(values)
    main = _launch(tile, values, tile.swizzles, len(tile.swizzles), LANES, 1)
    large = _launch(tile, values, (tile.swizzle,), _BLOCKS, _THREADS, _READS)
    beside = main.companion(large.size, large.grid, large.arguments, block=large.block)
    return main, beside


def _launch(
    tile: Tile, values: Values, swizzles: tuple[Swizzle, ...], blocks: int, threads: int, reads: int
) -> Plan:
    kind = f"u{8 * tile.element}"
    numbers = ",".join(f"{one.bits},{one.base},{one.shift}" for one in swizzles)
    out = threads * blocks * (4 if tile.by_pieces else 1)
    each = trn("{n} read a warp", "{n} reads a warp", reads)
    warps = threads * blocks // LANES
    count = trn("{n} warp", "{n} warps", warps, n=grouped(warps))
    return Plan(
        _ROLE,
        _KERNEL,
        "matrices" if tile.by_pieces else "column",
        (blocks, 1, 1),
        (threads, 1, 1),
        (
            f"{kind}[{tile.layout.size}]=arange",
            f"u32[{out}]=zeros",
            tile.passed,
            f"i32[{3 * len(swizzles)}]=[{numbers}]",
            f"i32={len(swizzles)}",
            f"i32={tile.rows}",
            f"i32={tile.columns}",
            f"i32={number(values, 'first') % tile.across}",
            f"i32={reads}",
        ),
        (("BYTES", str(tile.element)),),
        tile.shared,
        tuple(range(blocks)) if reads == 1 else (0,),
        size=f"{tile.layout}, {count}, {each}",
    )


@dataclass(frozen=True, eq=False)
class Mode:
    """What the warp of one block paid: wavefronts of its stores and of its load, and ideal ones."""

    swizzle: Swizzle
    stores: tuple[BankRequest, ...]
    load: BankRequest

    @property
    def stored(self) -> int:
        """Wavefronts of all stores."""
        return sum(one.count for one in self.stores)


def _mode(run: Run, arch: Architecture, block: int, swizzle: Swizzle) -> Mode:
    requests = bank_requests(run.trace, arch, block, 0)
    load = next((r for r in reversed(requests) if not r.is_store), None)
    if load is None:
        raise InputError(f"the trace has no shared load of block {block}; record it")
    return Mode(swizzle, tuple(r for r in requests if r.is_store), load)


def narrate(values: Values, runs: Runs) -> Story:
    """The layout; the swizzle of it; rows are stored and columns loaded; then every swizzle."""
    tile, run = tile_of(values), runs[_ROLE]
    arch, time = architecture(run.arch), time_figures(time_of(run))
    modes = [_mode(run, arch, n, one) for n, one in enumerate(tile.swizzles)]
    shown, places = modes[tile.chosen], (tile.plain, placed(run.trace, tile.chosen, tile))
    piece = number(values, "piece") if number(values, "piece") >= 0 else tile.across + 1
    piece %= tile.plain.size
    script, load = Script(_ROLE), shown.load
    store = shown.stores[0].instruction

    lay = script.act(_LAY, "intro", tr("layout"), str(tile.layout))
    move = script.act(_MOVE, "shared", tr("swizzle"), _named(tile.swizzle))
    detail = f"{store.text} · {len(shown.stores)} × · {counted('wavefront', shown.stored)}"
    put = script.act(_STORE, "store", tr("store rows"), detail, store.line)
    did = load.instruction
    detail = f"{did.text} · {counted('wavefront', load.count)}"
    send = script.act(_SEND, "load", tr("request"), detail, did.line)
    serve = script.series(
        min(load.count * _ONE, _MOST), load.count, "load", _wave, detail, did.line
    )
    every = script.act(_END, "result", tr("every swizzle"), detail, did.line)

    def at(t: float) -> Picture:
        if t < put.start:
            maps = _maps(tile, places, lay.share(t), min(move.share(t) * 2, 1.0), piece, load)
            notes = spare(_bits(tile, places[0], piece, t >= move.start))
            body = rows(columns(*maps, gap=2.0), notes, gap=0.8)
            return Picture(*_layout_words(tile, places, piece, t >= move.start), body)
        if t < every.start:
            if t < put.end:
                done = put.counted(t, len(shown.stores))
                now = shown.stores[min(int(done), len(shown.stores) - 1)]
                part = min(done - int(done), 1.0) if done < len(shown.stores) else 1.0
                served = part * now.count
                title, said = tr("A warp stores the tile row by row"), _verdict(now)
                return Picture(title, said, with_board(BankMap(now, 1.0, served), now, served))
            served = serve.counted(t, load.count)
            body = with_board(BankMap(load, send.share(t), served), load, served)
            return Picture(_load_title(tile), _verdict(load), body)
        told = every.counted(t, len(modes) + 1)
        done = min(int(told), len(modes))
        small = tuple(
            _small(tile, (tile.plain, placed(run.trace, n, tile)), one, n < done)
            for n, one in enumerate(modes)
        )
        return _table(tile, modes, small, done, time)

    return Story.of(script, at, _expected(tile, arch), _summary(tile, modes))


def _wave(begin: int, last: int) -> str:
    if begin == last:
        return tr("wavefront {number}", number=begin + 1)
    return tr("wavefronts {first} to {last}", first=begin + 1, last=last + 1)


def _named(swizzle: Swizzle) -> str:
    """A swizzle of bytes in words."""
    span = next((n for n, one in TMA.items() if one == swizzle), None)
    if span == 0 or not swizzle.bits:
        return tr("no swizzle")
    if span:
        return tr("TMA, {n} bytes: {swizzle}", n=span, swizzle=swizzle)
    return str(swizzle)


def _maps(
    tile: Tile, places: tuple[I64, I64], laid: float, moved: float, piece: int, load: BankRequest
) -> tuple[Pieces, Pieces]:
    """The tile by rows and columns; memory by banks, while pieces move to where they lie."""
    count, size = tile.plain.size, tile.each * tile.element
    row, column = np.divmod(np.arange(count), tile.across)
    heat: F64 = column / max(tile.across - 1, 1)
    ends = [place.ravel() for place in places]
    over = float(smooth(moved))
    x = (ends[0] % LINE + (ends[1] % LINE - ends[0] % LINE) * over) / 4
    y = ends[0] // LINE + (ends[1] // LINE - ends[0] // LINE) * over
    order = np.argsort(np.argsort(ends[0]))
    asked = np.isin(ends[1], load.address[load.groups[0]])
    words = tuple(f"{r},{c}" for r, c in zip(row.tolist(), column.tolist(), strict=True))
    unit = tr("in pieces of 16 bytes") if tile.each > 1 else ""
    made = Pieces(
        (" · ".join(filter(None, (tr("Tile {layout}", layout=tile.layout), unit))), tr("Tile")),
        tile.rows,
        tile.across,
        column.astype(float),
        row.astype(float),
        np.ones(count),
        heat,
        np.ones(count),
        words if count <= 512 else (),
        lambda n: _tip(tile, n, int(ends[1 if over >= 1 else 0][n])),
        lambda n: str(n * tile.each),
        str,
        tr("column"),
        np.flatnonzero(asked),
        piece,
        lambda n: {"piece": n},
    )
    memory = replace(
        made,
        names=(tr("Shared memory: 32 banks of 4 bytes"), tr("Shared memory")),
        rows=int(max(ends[0].max(), ends[1].max())) // LINE + 1,
        columns=32,
        x=x,
        y=y.astype(float),
        wide=np.full(count, size / 4),
        come=np.clip(laid * 1.2 * count - order, 0.0, 1.0),
        row_name=lambda n: str(n * LINE),
        column_name=str,
        corner=tr("bank"),
        words=made.words if over in (0.0, 1.0) else (),
    )
    return made, memory


def _tip(tile: Tile, piece: int, byte: int) -> str:
    """What hovering a piece says that lies at a byte."""
    row, first = piece // tile.across, piece % tile.across * tile.each
    where = (
        tr("row {row}, columns {a} to {b}", row=row, a=first, b=first + tile.each - 1)
        if tile.each > 1
        else tr("row {row}, column {column}", row=row, column=first)
    )
    bank, last = byte % LINE // 4, (byte + tile.each * tile.element - 1) % LINE // 4
    banks = tr("banks {a} to {b}", a=bank, b=last) if last > bank else tr("bank {bank}", bank=bank)
    at = tr("element {n}, byte {byte}", n=byte // tile.element, byte=byte)
    return f"{where}\n{at} · {banks}"


def _small(tile: Tile, places: tuple[I64, I64], mode: Mode, there: bool) -> Pieces:
    """Memory with one of the swizzles, empty until it is told of."""
    memory = _maps(tile, places, 1.0, 1.0, -1, mode.load)[1]
    none = np.zeros(0, np.int64)
    return replace(
        memory,
        names=(_short(mode.swizzle),),
        words=(),
        come=memory.come * there,
        marked=memory.marked if there else none,
    )


def _bits(tile: Tile, plain: I64, piece: int, swizzled: bool) -> Node:
    """The offset of the piece that is followed, bit by bit."""
    swizzle, byte = tile.swizzle, int(plain.ravel()[piece])
    made = int(swizzle(np.array(byte)))
    low = tile.element.bit_length() - 1
    count = max(int(tile.shared - 1).bit_length(), swizzle.source.stop if swizzle.bits else 0)
    parts = (
        ((tr("in its word"), ""), range(0, 2)),
        ((tr("bank"),), range(2, 7)),
        ((tr("line of 128 bytes"), tr("line")), range(7, count)),
    )
    offset = BitRow(
        (
            tr("byte {byte} = element {n} × {size}", byte=byte, n=byte >> low, size=tile.element),
            tr("byte {byte}", byte=byte),
        ),
        byte,
        ((swizzle.source, "store"), (swizzle.target, "accent")) if swizzle.bits else (),
    )
    if not swizzled or not swizzle.bits:
        return Bits(count, (replace(offset, lit=()),), parts)
    moved = made ^ byte
    names = tr("XOR, {n} bits down", n=swizzle.shift), "XOR"
    down = BitRow(names, moved, ((swizzle.target, "store"),), swizzle.target)
    place = BitRow(
        (tr("lies at byte {byte}", byte=made), tr("at {byte}", byte=made)),
        made,
        ((swizzle.target, "accent"),),
    )
    return Bits(count, (offset, down, place), parts)


def _layout_words(
    tile: Tile, places: tuple[I64, I64], piece: int, swizzled: bool
) -> tuple[str, str]:
    """Title and sentence of the maps."""
    row, column = divmod(piece, tile.across)
    byte, moved = (int(place.ravel()[piece]) for place in places)
    if not swizzled:
        return tr("A layout: {layout} says where row r and column c lie", layout=tile.layout), tr(
            "Row {row}, column {column} is element {n}; × {size} bytes: byte {byte}, bank {bank}.",
            row=row,
            column=column * tile.each,
            n=byte // tile.element,
            byte=byte,
            size=tile.element,
            bank=byte % LINE // 4,
        )
    swizzle = tile.swizzle
    if not swizzle.bits:
        return tr("No swizzle: pieces below each other share their banks"), tr(
            "Outlined is what one phase of the warp's read wants at once."
        )
    elements = swizzle.in_elements(tile.element)
    title = tr("{swizzle}: places are exchanged by XOR", swizzle=_named(swizzle))
    if elements.base < 0 or tile.element == 1:
        return title, tr("Byte {a} becomes byte {b}.", a=byte, b=moved)
    return title, tr(
        "Of bytes it is {bytes}, of elements of {n} bytes {elements}: byte {a} becomes byte {b}.",
        bytes=swizzle,
        n=tile.element,
        elements=elements,
        a=byte,
        b=moved,
    )


def _load_title(tile: Tile) -> str:
    if tile.by_pieces:
        return tr("ldmatrix reads 8 rows of the same column at once")
    return tr("Every lane reads a row's element of one column")


def _verdict(request: BankRequest) -> str:
    """What a request takes."""
    if request.count <= request.ideal:
        return tr("No two lanes of a phase meet in a bank.")
    what = {"count": counted("wavefront", request.count), "ideal": request.ideal}
    return tr("Lanes meet in banks: {count} where {ideal} would do.", **what)


def _table(
    tile: Tile, modes: list[Mode], maps: tuple[Pieces, ...], told: int, time: tuple[Figure, ...]
) -> Picture:
    """What every swizzle costs for the same stores and the same load, and where pieces lie."""
    model, of, first = tr("model"), Columns(modes), modes[0]

    def of_elements(mode: Mode) -> object:
        made = mode.swizzle.in_elements(tile.element)
        return None if not mode.swizzle.bits or made.base < 0 else made

    table = Table(
        (
            of(tr("swizzle"), lambda m: _short(m.swizzle), "left"),
            of(tr("of bytes"), lambda m: m.swizzle if m.swizzle.bits else None, "left", optional=1),
            of(tr("of elements"), of_elements, "left", optional=2),
            of((tr("wavefronts, stores"), tr("stores")), lambda m: m.stored, badge=model),
            of((tr("wavefronts, load"), tr("load")), lambda m: m.load.count, badge=model),
        ),
        tile.chosen,
        told,
    )
    ideal = sum(one.ideal for one in first.stores)
    loads = first.load.ideal
    best = tr("ideal {stores} for the stores, {load} for the load", stores=ideal, load=loads)
    body = rows(
        table,
        FigureRow((Figure(best, "muted"),)),
        *(FigureRow((replace(one, badge=""),), one.badge) for one in time),
        *((spare(TextLine((_addresses(),)), 2),) if time else ()),
        spare(columns(*maps)),
        gap=0.6,
    )
    return Picture(tr("The same tile with every swizzle"), _summary(tile, modes), body)


def _addresses() -> str:
    """Why times of different swizzles are alike: some 220 instructions a read, by the times of an
    H200 (67 to 68 µs with 4 to 32 wavefronts a read).
    """
    return tr(
        "Any layout is evaluated for every read here: that arithmetic takes longer than the banks. "
        "Kernels for one layout fold it away."
    )


def _short(swizzle: Swizzle) -> str:
    span = next((n for n, one in TMA.items() if one == swizzle), None)
    if span is None:
        return tr("own")
    return tr("TMA {n}", n=span) if span else tr("none")


def _summary(tile: Tile, modes: list[Mode]) -> str:
    """What the swizzle that is shown gains."""
    shown, plain = modes[tile.chosen].load, modes[0].load
    if shown.count > shown.ideal and not tile.swizzle.bits:
        what = {"count": counted("wavefront", shown.count), "ideal": shown.ideal}
        return tr("Without a swizzle lanes meet in banks: {count} where {ideal} would do.", **what)
    if shown.count > shown.ideal:
        return tr(
            "With {swizzle} lanes still meet: {count} where {ideal} would do.",
            swizzle=_named(tile.swizzle),
            count=counted("wavefront", shown.count),
            ideal=shown.ideal,
        )
    if plain.count > plain.ideal:
        return tr("It costs no byte of memory, and no two lanes meet: pieces just change places.")
    return tr("This layout is free of conflicts by itself.")


def _expected(tile: Tile, arch: Architecture) -> str:
    """What arithmetic says of TMA's modes on the tile of 128-byte rows."""
    standard = str(tile.layout) == "(8,64):(64,1)" and tile.element == 2 and tile.by_pieces
    if not standard or arch.banking != "maxwell" or tile.swizzle not in TMA.values():
        return ""
    ways = 8 >> tile.swizzle.bits
    what = {"count": counted("wavefront", 4 * ways), "ways": ways, "n": 1 << tile.swizzle.bits}
    return tr("by arithmetic: {count} for the load, 4 × {ways} (8 rows over {n} places)", **what)


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
