"""Where an automatic array lives, in registers or in local memory: log, PTX and trace say it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import I64, U64
from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.memory.coalescing import granularity
from gpuviz.memory.counts import costs_of, requests_of
from gpuviz.memory.other_spaces import interleaved
from gpuviz.memory.request_counts import measure
from gpuviz.memory.units import counted, noun_of
from gpuviz.panels.cell_map import CellMap, Outline
from gpuviz.panels.layout import Node, columns, first, rows, share
from gpuviz.panels.listing import CodeListing, Listings
from gpuviz.panels.panel import Need, Panel
from gpuviz.panels.picture import Picture
from gpuviz.panels.time_bars import TimeBars
from gpuviz.ptx.text.ir import Function, Module, Reg
from gpuviz.ptx.text.parser import parse
from gpuviz.run.run import Run
from gpuviz.story.measured import LaunchTime, time_bars, time_of
from gpuviz.traces.trace import LANES, Requests, Trace, lane_mask
from gpuviz.words.language import grouped, tr, trn

_TALL, _LOW = 40.0, 16.0  # most and least height of a box at scale 1
_FEW = 4  # up to so many stand in one row


@dataclass(frozen=True, eq=False)
class WordBoxes(Panel):
    """A box for each of the words; `short` ones stand in them where the others have no room."""

    words: tuple[str, ...]
    short: tuple[str, ...]

    @property
    def columns(self) -> int:
        """Boxes in a row."""
        return _FEW if len(self.words) <= _FEW else 2 * _FEW

    def need(self, stage: Stage, width: float) -> Need:
        """Rows of boxes."""
        rows = -(-len(self.words) // self.columns) * stage.scale
        return Need(rows * _TALL, rows * _LOW)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The boxes from the top left."""
        palette, size, count = stage.palette, stage.text(13), len(self.words)
        rows = -(-count // self.columns)
        tall = min(area.height / rows, _TALL * stage.scale)
        room = area._replace(height=tall * rows - 4)
        boxes = grid(room, rows, self.columns, 4.0)[:count]
        fits = max(text_width(word, size) for word in self.words) <= boxes[0, 2] - 4
        yield Boxes(boxes, palette.soft(palette.shared, 0.65), stroke=palette.shared, radius=3)
        words = self.words if fits else self.short
        yield Texts(centers(boxes), words, palette.ink, size, "center")


_GAP, _LEAST = 0.6, 8.0  # letters: between parts of a picture; of a map of the array
_WORD = 4


def cost_of(trace: Trace, arch: Architecture, rows: Requests, row: int) -> tuple[int, int]:
    """Requests that a row is, and what they take."""
    did, active = trace.instructions[rows.instruction[row]], lane_mask(rows.active[row : row + 1])
    counts = measure(arch, did, rows.address[row][None], active)
    return int(counts[requests_of(did)][0]), int(counts[costs_of(did)][0])


@dataclass(frozen=True, eq=False)
class Placement:
    """Where the compiler put the automatic array of one kernel.

    `stack`, `registers` are the assembler's, -1 when not known; `requests` and `sectors` those of
    the launch's local memory by the PTX; `source` and `line` read it; `ptx` are the lines of the
    PTX that name local memory, or that belong to that line, alike ones as one.
    """

    stack: int
    registers: int
    requests: int
    sectors: int
    source: str
    line: int
    ptx: tuple[str, ...]


def placement_of(run: Run, arch: Architecture) -> Placement:
    """What log, PTX and trace of a run say about its array."""
    log, trace, module = run.resources, run.trace, parse(run.trace.ptx)
    kernel = module.by_name[trace.launch.kernel]
    line, warps = _summed_at(kernel), trace.launch.blocks * trace.launch.warps_per_block
    rows = trace.of(space="local", block=0, warp=0)
    costs = [cost_of(trace, arch, rows, row) for row in range(len(rows))]
    return Placement(
        log.stack_bytes if log else -1,
        log.registers if log else -1,
        sum(asked for asked, _ in costs) * warps,
        sum(cost for _, cost in costs) * warps,
        trace.source.splitlines()[line - 1].split("//")[0].strip(),
        line,
        _about(module, kernel, line),
    )


def _summed_at(kernel: Function) -> int:
    """The CUDA line that makes what the kernel stores in the end: it reads the array."""
    stores = [i for i in kernel.body if i.opcode.name == "st" and "global" in i.opcode.mods]
    value = stores[-1].operands[1]
    made = [i for i in kernel.body if isinstance(value, Reg) and i.operands[:1] == (value,)]
    return made[-1].line


def _about(module: Module, kernel: Function, line: int) -> tuple[str, ...]:
    """PTX of a kernel that names local memory, or else that of one CUDA line."""
    declared = [
        f".local .align {v.align} .{v.type} {v.name}[{v.size}];"
        for v in kernel.variables
        if v.space == "local"
    ]
    local = [i for i in kernel.body if "local" in i.opcode.mods and i.opcode.name != "cvta"]
    chosen = local or [i for i in kernel.body if i.line == line]
    said = [*declared, *(" ".join(module.line_text(i.ptx_line).split()) for i in chosen)]
    groups = [list(group) for _, group in groupby(said, lambda text: text.split()[0])]
    return tuple(f"{len(g)} × {g[0]}" if len(g) > 1 else g[0] for g in groups)


@dataclass(frozen=True, eq=False)
class LocalLoads:
    """Loads of warp 0 of block 0 from local memory."""

    word: I64  # (R, 32) element each lane loads
    elements: int  # of the array
    # For each load (T, 3) row, first column and columns of its transactions in a table of elements
    # by lanes, which is how local memory is laid out.
    boxes: tuple[I64, ...]
    counted: tuple[str, ...]  # what each load takes, `4 sectors`


def local_loads(trace: Trace, arch: Architecture) -> LocalLoads | None:
    """What the trace says of loads from local memory; None when there are none."""
    every = trace.of(space="local", block=0, warp=0)
    loads = trace.of(space="local", op="load", block=0, warp=0)
    if not len(loads):
        return None
    width = [trace.instructions[i].width for i in every.instruction.tolist()]
    first = int(every.address.min())
    last = int((every.address.max(axis=1).astype(np.int64) + width).max())
    noun = noun_of(arch, "local")
    rows = range(len(loads))
    return LocalLoads(
        (loads.address.astype(np.int64) - first) // _WORD,
        -(-(last - first) // _WORD),
        tuple(_boxes(loads.address[row] - np.uint64(first), arch) for row in rows),
        tuple(counted(noun, cost_of(trace, arch, loads, row)[1]) for row in rows),
    )


def _boxes(offset: U64, arch: Architecture) -> I64:
    """(T, 3) blocks of memory that hold the lanes' words; single words where nothing caches."""
    physical = interleaved(offset[None], _WORD)[0, 0]
    size = granularity(arch, "load") if arch.caches_global else _WORD
    start = np.unique(physical.astype(np.int64) // size) * (size // _WORD)
    row, column = np.divmod(start, LANES)
    return np.stack([row, column, np.full_like(row, size // _WORD)], axis=1)


@dataclass(frozen=True, eq=False)
class Arrays:
    """The array of both kernels, indexed at run time and by an unrolled loop; (2,) where it is
    and how long a launch took; its loads from local memory, and how many elements it has.
    """

    placed: tuple[Placement, Placement]
    times: tuple[LaunchTime | None, LaunchTime | None]
    loads: LocalLoads | None
    elements: int

    @property
    def verdict(self) -> str:
        """Where the array went, by the PTX and by the assembler."""
        indexed = self.placed[0]
        if indexed.stack == 0 and indexed.requests:
            return tr(
                "The PTX keeps it in local memory, but it is small: the assembler chooses among "
                "registers instead."
            )
        if indexed.requests:
            return tr(
                "Registers have no addresses: indexed at run time, it has to lie in local memory."
            )
        return tr("All indices are known when it is compiled: it is in registers.")


def arrays_of(indexed: Run, unrolled: Run, elements: int) -> Arrays:
    """What the runs of the two kernels say."""
    one, other = (placement_of(run, architecture(run.arch)) for run in (indexed, unrolled))
    loads = local_loads(indexed.trace, architecture(indexed.arch))
    return Arrays((one, other), (time_of(indexed), time_of(unrolled)), loads, elements)


def compared(arrays: Arrays, told: float) -> Picture:
    """The array in both kernels: how long they take, their PTX, and where it is."""
    times = share(1, _bars(arrays, told))
    names = (tr("indexed at run time"), tr("unrolled"))
    code = tuple(
        CodeListing(f"{name} · CUDA, PTX", one.source, one.ptx, brief=name)
        for name, one in zip(names, arrays.placed, strict=True)
    )
    body: Node = rows(times, Listings(code), gap=_GAP)
    if arrays.loads is not None:
        kept = range(arrays.elements)
        registers = WordBoxes(tuple(f"kept[{k}]" for k in kept), tuple(map(str, kept)))
        copies = replace(_copies(arrays.loads, float(len(arrays.loads.word))), least=_LEAST)
        places = columns(share(1, copies), share(1, registers))
        body = first(rows(times, Listings(code, whole=True), share(1, places), gap=_GAP), body)
    title = tr("float kept[{count}]: where does an automatic array live?", count=arrays.elements)
    return Picture(title, arrays.verdict, body)


def _bars(arrays: Arrays, told: float) -> TimeBars:
    """Both kernels on one axis of time, with what the compiler made of the array."""
    notes = list[tuple[str, ...]]()
    for one in arrays.placed:
        held = trn("{n} register", "{n} registers", one.registers)
        local = tr("{n} local sectors", n=grouped(one.sectors))
        notes.append((f"{local} · {held}", local) if one.registers >= 0 else (local,))
    names = (tr("indexed at run time"), tr("indexed")), (tr("unrolled"),)
    return time_bars(zip(names, arrays.times, strict=True), None, notes, told)


def loading(loads: LocalLoads, share: float) -> Picture:
    """The array's loads, one after another, where its copies lie in local memory."""
    count = len(loads.word)
    done = min(share * 1.1 * count, float(count))
    now = min(int(done), count - 1)
    what = {"number": now + 1, "count": count, "counted": loads.counted[now]}
    said = tr(
        "Equal elements of all lanes lie side by side. Load {number} of {count}: {counted}.", **what
    )
    title = tr("Local memory: each lane has its own kept, interleaved")
    return Picture(title, said, _copies(loads, done))


def _copies(loads: LocalLoads, done: float) -> CellMap:
    """Elements by lanes; `done` loads are over, the fraction being the one under way."""
    lanes, begun = np.arange(LANES), ceil(done)
    read = np.zeros((loads.elements, LANES))
    read[loads.word[:begun], lanes] = 1.0
    going = loads.boxes[int(done)] if int(done) < begun else None

    def tip(cell: int) -> str:
        element, lane = divmod(cell, LANES)
        what = {"element": element, "lane": lane, "at": 4 * cell}
        return tr(
            "kept[{element}] of lane {lane} · {at} bytes from where the warp's copies start", **what
        )

    return CellMap(
        (),
        loads.elements,
        LANES,
        np.tile(lanes, loads.elements),
        read.ravel(),
        True,
        tip,
        outlines=() if going is None else (Outline(going, "outline", True),),
        row_name=lambda row: f"kept[{row}]",
        column_name=str,
        corner=tr("lane"),
    )
