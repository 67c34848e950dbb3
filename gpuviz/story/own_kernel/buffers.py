"""The picture of a buffer: its elements as a matrix, and how often the block touches each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np

from gpuviz.base.arrays import F64, I64, Array, Bool
from gpuviz.base.keeping import kept_with_first
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.grid import Grid, Grids, Heat, Paint
from gpuviz.panels.layout import Node, rows
from gpuviz.panels.lines import Lines
from gpuviz.run.run import Run
from gpuviz.story.lesson import number
from gpuviz.story.own_kernel.events import Events, every_warp
from gpuviz.story.own_kernel.moment import Moment, Narration
from gpuviz.traces.trace import LANES, Buffer, Launch, Requests, Trace, lane_mask
from gpuviz.words.language import grouped, tr

_MOST = 256  # cells beside each other
_LINE = 64  # elements that are one row
_COLUMNS = 32


@dataclass(frozen=True)
class Cells:
    """`count` elements in rows of `wide`; `step` by `step` of them are one cell."""

    count: int
    wide: int

    @property
    def tall(self) -> int:
        """Rows of elements."""
        return -(-self.count // self.wide)

    @property
    def step(self) -> int:
        """Elements that a cell is wide and high."""
        return max(1, -(-max(self.wide, self.tall) // _MOST))

    @property
    def rows(self) -> int:
        """Rows of cells."""
        return -(-self.tall // self.step)

    @property
    def columns(self) -> int:
        """Columns of cells."""
        return -(-self.wide // self.step)

    @cached_property
    def there(self) -> Bool:
        """(rows * columns,) the cells that hold an element: the last row may not be full."""
        down, across = np.arange(self.rows) * self.step, np.arange(self.columns) * self.step
        return np.asarray(down[:, None] * self.wide + across < self.count).ravel()

    def of(self, elements: I64) -> I64:
        """The cells that elements are in."""
        row, column = elements // self.wide, elements % self.wide
        return np.asarray(row // self.step * self.columns + column // self.step, np.int64)

    def elements(self, cell: int) -> I64:
        """The elements in a cell."""
        row, column = divmod(cell, self.columns)
        down = np.arange(row * self.step, min((row + 1) * self.step, self.tall))
        across = np.arange(column * self.step, min((column + 1) * self.step, self.wide))
        every = (down[:, None] * self.wide + across).ravel()
        return every[every < self.count]

    def most(self, elements: I64, values: I64) -> I64:
        """(rows * columns,) the largest value of some elements in each cell, 0 without any."""
        found = np.zeros(self.rows * self.columns, np.int64)
        np.maximum.at(found, self.of(elements), values)
        return found

    def largest(self, values: Array) -> tuple[F64, float, float]:
        """(rows * columns,) the largest of the (count,) values in each cell, -inf where there is no
        number; and the least and the largest that is finite. Row after row: there may be many.
        """
        shape = self.step, self.columns * self.step
        found, low, high = np.full((self.rows, self.columns), -np.inf), np.inf, -np.inf
        for row, into in enumerate(found):
            part = values[row * self.step * self.wide :][: self.step * self.wide].astype(np.float64)
            plain = np.full(self.step * self.wide, -np.inf)
            plain[: len(part)] = np.where(np.isnan(part), -np.inf, part)
            padded = np.full(shape, -np.inf)
            padded[:, : self.wide] = plain.reshape(self.step, self.wide)
            into[:] = padded.reshape(self.step, self.columns, self.step).max(axis=(0, 2))
            known = plain[np.isfinite(plain)]
            low, high = min(low, known.min(initial=np.inf)), max(high, known.max(initial=-np.inf))
        return found.ravel(), *((float(low), float(high)) if low <= high else (0.0, 0.0))


def columns_of(launch: Launch, count: int, of_buffer: bool) -> int:
    """How long the rows of so many elements are, as a size among the arguments suggests, or not."""
    sizes = [int(value) for _, value in launch.scalars if isinstance(value, int)]
    fitting = [n for n in sizes if 1 < n < count and count % n == 0 and n <= count // 2]
    if fitting and of_buffer:
        return min(fitting, key=lambda n: abs(n - isqrt(count)))
    if count <= _LINE and of_buffer:
        return max(count, 1)
    flat = launch.grid[1] == 1 and launch.block[1] == 1
    if of_buffer and not flat and isqrt(count) ** 2 == count:
        return isqrt(count)
    wide = _COLUMNS
    while wide * wide < count // 2 and of_buffer:
        wide *= 2
    return wide


SHARED = ""  # the name of shared memory, which is no buffer
_WORD = 4
_NUMBERED = 4096  # values that have room to be written
_TOLD = 6  # warps that are named


@dataclass(frozen=True, eq=False)
class ElementAccesses:
    """What a block did to the `count` elements of a piece of memory: (T,) those that it touched, in
    their order, with its reads and writes of each.

    `name` is `SHARED` for shared memory, whose elements are words; `start` its first address,
    `size` bytes of an element.
    """

    name: str
    start: int
    size: int
    count: int
    touched: I64
    reads: I64
    writes: I64

    @cached_property
    def totals(self) -> tuple[int, int, int, int]:
        """Elements touched, elements read, reads, writes."""
        counts = (self.reads > 0).sum(), self.reads.sum(), self.writes.sum()
        return len(self.touched), *map(int, counts)  # type: ignore[return-value]

    @cached_property
    def most(self) -> int:
        """How often the element is read that is read most."""
        return int(self.reads.max(initial=0))

    def most_in(self, some: I64) -> tuple[int, int]:
        """How often that of some elements in their order is read, and written, which is most."""
        first, last = self.touched.searchsorted((some[0], some[-1] + 1))
        there = first + np.flatnonzero(np.isin(self.touched[first:last], some))
        return int(self.reads[there].max(initial=0)), int(self.writes[there].max(initial=0))

    def elements(self, rows: Requests, row: int, width: int) -> I64:
        """The elements that a request touches, each as often as it does."""
        return _elements(rows.address[row], rows.lanes(row), self.start, self.size, width)


@kept_with_first(16)
def touched(trace: Trace, every: Events, name: str) -> ElementAccesses:
    """How often the block touches each element of a buffer, or of shared memory."""
    buffer = next((b for b in trace.launch.buffers if b.name == name), None)
    low, size, count = (
        (buffer.address, _size(buffer), buffer.count)
        if buffer is not None and name
        else (0, _WORD, _shared_words(every))
    )
    read, written = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number_, did in enumerate(trace.instructions):
        if did.space != ("global" if name else "shared"):
            continue
        mine = np.flatnonzero(every.rows.instruction == np.int32(number_))
        active = lane_mask(every.rows.active[mine])
        found = _elements(every.rows.address[mine], active, low, size, did.width)
        found = found[(found >= 0) & (found < count)]
        stores = did.op == "store" or (did.op == "copy" and not name)
        if not stores:
            read.append(found)
        if did.op != "load" and not (did.op == "copy" and name):
            written.append(found)
    both = np.concatenate((*read, *written))
    elements, which = np.unique(both, return_inverse=True)
    reads = sum(map(len, read))
    times = (np.bincount(one, minlength=len(elements)) for one in (which[:reads], which[reads:]))
    return ElementAccesses(name, low, size, count, elements, *times)


def _size(buffer: Buffer) -> int:
    return max(buffer.size // max(buffer.count, 1), 1)


def _shared_words(every: Events) -> int:
    """Words of shared memory up to the last one that is touched."""
    shared = [n for n, did in enumerate(every.trace.instructions) if did.space == "shared"]
    mine = np.isin(every.rows.instruction, shared)
    last = int(every.rows.address[mine].max(initial=0))
    widest = max((every.trace.instructions[n].width for n in shared), default=_WORD)
    return (last + widest + _WORD - 1) // _WORD


def _elements(address: Array, active: Bool, low: int, size: int, width: int) -> I64:
    """Elements that lanes touch; accesses of part of one touch it."""
    first = (address[active].astype(np.int64) - low) // size
    parts = max(width // size, 1)
    return np.asarray((first[:, None] + np.arange(parts)).ravel())


def picture(moment: Moment) -> Narration:
    """The memory that the request of the moment goes to, or the one before it did."""
    name, row = _shown(moment)
    if name is None:
        said = tr("What the block asks for lies in no buffer of the launch.")
        return Narration(tr("No buffer to show"), said, Lines(()))
    events = moment.events
    found = touched(events.trace, every_warp(events), name)
    wanted = number(moment.values, "columns") if "columns" in moment.values else 0
    columns = wanted or columns_of(events.trace.launch, found.count, bool(name))
    cells = Cells(found.count, columns)
    now = _now(moment, found, row)
    body = rows(Grids(_grids(moment, found, cells, now)), _figures(found))
    return Narration(_title(moment, found), _sentence(found, cells), body)


def _shown(moment: Moment) -> tuple[str | None, int]:
    """Which memory, and the row of the request that goes to it; -1 when it is not yet made."""
    events = moment.events
    made = events.row[: moment.number + 1]
    for row in made[made >= 0][::-1][:LANES].tolist():
        name = _memory(events, row)
        if name is not None:
            return name, row if row == events.row[moment.number] else -1
    later = (_memory(events, row) for row in range(min(len(events.rows), 1000)))
    return next((name for name in later if name is not None), None), -1


def _memory(events: Events, row: int) -> str | None:
    """The buffer that a request goes to."""
    did = events.trace.instructions[int(events.rows.instruction[row])]
    if did.space == "shared":
        return SHARED
    lanes = events.rows.lanes(row)
    if did.space != "global" or not lanes.any():
        return None
    buffer = events.trace.launch.buffer_at(int(events.rows.address[row][lanes][0]))
    return None if buffer is None else buffer.name


def _now(moment: Moment, found: ElementAccesses, row: int) -> I64:
    """The elements of the request under way."""
    if row < 0 or not moment.sent:
        return np.zeros(0, np.int64)
    events = moment.events
    did = events.trace.instructions[int(events.rows.instruction[row])]
    inside = np.unique(found.elements(events.rows, row, did.width))
    return inside[(inside >= 0) & (inside < found.count)]


def _grids(moment: Moment, found: ElementAccesses, cells: Cells, now: I64) -> tuple[Grid, ...]:
    """Reads and writes, as far as there are any, and the values that are left behind."""
    tip = _Tip(moment, found, cells)
    name = found.name or tr("shared memory")
    told = (
        (tr("reads of {name}", name=name), found.reads),
        (tr("writes to {name}", name=name), found.writes),
    )
    counts = found.totals[2:]
    there = [one for one, count in zip(told, counts, strict=True) if count] or [told[0]]
    heated = tuple(_heated(said, times, cells, now, tip) for said, times in there)
    values = moment.run.outputs.get(found.name) if found.name else None
    if values is None or values.size != cells.count:
        return heated
    return (*heated, _valued(moment.run, cells, now, tip))


def _heated(said: str, times: I64, cells: Cells, now: I64, tip: _Tip) -> Grid:
    heat = _heat_of(tip.found, cells, times is tip.found.writes)
    return Grid(
        (f"{said}: {tr('up to {n}', n=grouped(heat.most))}", said),
        cells.rows,
        cells.columns,
        tip,
        heat=heat,
        own=tuple(np.unique(cells.of(now)).tolist()),
    )


@kept_with_first(8)
def _heat_of(found: ElementAccesses, cells: Cells, writes: bool) -> Heat:
    """How often the elements of each cell are touched, at most; it is the same at any moment."""
    heat = cells.most(found.touched, found.writes if writes else found.reads)
    return Heat(heat, max(int(heat.max(initial=0)), 1), np.zeros(len(heat), bool))


def _valued(run: Run, cells: Cells, now: I64, tip: _Tip) -> Grid:
    low, high, shade, words = _shades_of(run, tip.found.name, cells)
    what = {"name": tip.found.name, "low": f"{low:.4g}", "high": f"{high:.4g}"}
    title = tr("values of {name} afterwards: {low} to {high}", **what)
    return Grid(
        (title, tip.found.name),
        cells.rows,
        cells.columns,
        tip,
        (Paint(cells.there, "accent", shade),),
        words=words,
        own=tuple(np.unique(cells.of(now)).tolist()),
    )


@kept_with_first(4)
def _shades_of(run: Run, name: str, cells: Cells) -> tuple[float, float, F64, tuple[str, ...]]:
    """The least and the largest value, how dark each cell is, and what stands in it."""
    values = run.outputs[name].ravel()
    largest, low, high = cells.largest(values)
    share = np.clip((largest - low) / (high - low if high > low else 1.0), 0.0, 1.0)
    shade = np.where(cells.there, 0.1 + 0.9 * share, 0.0)
    if cells.step > 1 or cells.count > _NUMBERED:
        return low, high, shade, ()
    words = [f"{v:.3g}" for v in np.asarray(values, np.float64).tolist()]
    return low, high, shade, (*words, *[""] * (cells.rows * cells.columns - len(words)))


@dataclass(frozen=True, eq=False)
class _Tip:
    """What hovering a cell says: which element, its value, who touches it how often."""

    moment: Moment
    found: ElementAccesses
    cells: Cells

    def __call__(self, cell: int) -> str:
        found, some = self.found, self.cells.elements(cell)
        if not len(some):
            return ""
        reads, writes = found.most_in(some)
        if len(some) > 1:
            return tr(
                "{n} elements from {name}[{first}] on\nread up to {reads} times, written {writes}",
                n=grouped(len(some)),
                name=found.name or tr("shared word "),
                first=grouped(int(some[0])),
                reads=grouped(reads),
                writes=grouped(writes),
            )
        element = int(some[0])
        return "\n".join(filter(None, (self._what(element, reads, writes), self._who(element))))

    def _what(self, element: int, reads: int, writes: int) -> str:
        found, outputs = self.found, self.moment.run.outputs
        place = f"{found.name}[{element}]" if found.name else tr("shared word {n}", n=element)
        values = outputs.get(found.name) if found.name else None
        if values is not None and element < len(values):
            place += " = " + tr("{value} afterwards", value=f"{values[element]:.6g}")
        return tr(
            "{place}\nread {reads} times, written {writes} times by the block",
            place=place,
            reads=grouped(reads),
            writes=grouped(writes),
        )

    def _who(self, element: int) -> str:
        """The warps that touch it."""
        every = every_warp(self.moment.events)
        low = np.uint64(self.found.start + element * self.found.size)
        space = "global" if self.found.name else "shared"
        width = np.array([d.width if d.space == space else 0 for d in every.trace.instructions])
        span = width.astype(np.uint64)[every.rows.instruction][:, None]
        address = every.rows.address
        hit = (address <= low) & (low < address + span) & lane_mask(every.rows.active)
        warps = np.unique(every.rows.warp[hit.any(axis=1)]).tolist()
        if not warps:
            return ""
        named = ", ".join(map(str, warps[:_TOLD])) + (" …" if len(warps) > _TOLD else "")
        return tr("by warps {warps}", warps=named)


def _figures(found: ElementAccesses) -> Node:
    used, read, reads, writes = found.totals
    each = reads / max(read, 1)
    return FigureRow(
        (
            Figure(tr("{n} elements touched", n=grouped(used))),
            Figure(tr("{n} reads", n=grouped(reads)), "accent", True),
            *((Figure(tr("each {n} times", n=f"{each:.3g}"), "muted"),) if reads else ()),
            Figure(tr("{n} writes", n=grouped(writes))),
        )
    )


def _title(moment: Moment, found: ElementAccesses) -> str:
    block = moment.events.block
    if not found.name:
        return tr("Shared memory of block {block}: how often each word is touched", block=block)
    return tr("{name}: how often block {block} touches each element", name=found.name, block=block)


def _sentence(found: ElementAccesses, cells: Cells) -> str:
    shape = tr("{rows} rows of {columns}", rows=grouped(cells.tall), columns=grouped(cells.wide))
    if cells.step > 1:
        shape += " · " + tr("a cell is {n} × {n} of them", n=cells.step)
    most = found.most
    if most > 1:
        return f"{tr('What is read again need not come from memory again.')} {shape}."
    return f"{tr('Nothing is read twice.') if most else tr('It is only written.')} {shape}."
