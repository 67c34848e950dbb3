"""What one thread needs to run blocks: its record, memories and tables, as arrays."""

import ctypes
import math
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpuviz.base.arrays import I64, U32, Array
from gpuviz.ptx.compiled.accesses import Access
from gpuviz.ptx.compiled.floats import LOOPS
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory_map import (
    ACCESS,
    ACCESS_SIZE,
    ENTRY,
    FRAME,
    PERIODS,
    ROW,
    TIDS,
    WORKER,
    WORKER_SIZE,
    slots,
)
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.spaces import GLOBAL
from gpuviz.traces.trace import LANES

ROWS = 1 << 13  # requests that fit no pattern, kept before they are told
Group = tuple[str, int, str]
_FLUSH = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def aligned(size: int) -> Array:
    """Zeros from an address that is a multiple of 64."""
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]


class Worker:
    """The record of a worker and all it points to.

    `functions` are addresses of the code (see `Kernel.function`), 0 where there is none yet; `told`
    is called with the requests that fit no pattern: instruction numbers, lanes, addresses.
    """

    def __init__(
        self,
        kernel: Kernel,
        bounds: Mapping[str, tuple[int, int]],
        functions: Array,
        told: Callable[[Array, Array, Array], None],
    ) -> None:
        self.kernel = kernel
        self._told = told
        self._kept: list[Any] = []
        self.record = aligned(WORKER_SIZE)
        program = kernel.program
        blocks = len(kernel.graph.blocks)
        self.tables = {
            name: self._array(name, np.zeros(blocks, np.int64))
            for name in ("full", "part_warps", "part_threads", "taken", "divergent")
        }
        self._geometry(program)
        self._memories(program)
        self._frames(program)
        self._functions(program, functions)
        self._accesses(bounds)
        self._cells(program)
        self.rows = aligned(ROW * ROWS)
        self.point("rows", self.rows)
        self.set("rows_most", ROWS)
        own = weakref.ref(self)  # a worker that held itself would keep its memory for long
        flush = _FLUSH(lambda _: _flushed(own()))
        self._kept.append(flush)
        self.set("flush", ctypes.cast(flush, ctypes.c_void_p).value or 0)
        for number, name in enumerate(LOOPS):
            function, data = inner_loop(getattr(np, name))
            self.set(f"loop{number}", function)
            self.set(f"loop_data{number}", data)

    # --- the record -----------------------------------------------------------------------------

    @property
    def address(self) -> int:
        """Where the record lies."""
        return int(self.record.ctypes.data)

    def set(self, name: str, value: int) -> None:
        """Set a field."""
        at = WORKER[name]
        self.record[at : at + 8].view(np.uint64)[0] = value & 0xFFFFFFFFFFFFFFFF

    def get(self, name: str, bits: int = 64) -> int:
        """Read a field."""
        at = WORKER[name]
        return int(self.record[at : at + 8].view(f"u{bits // 8}")[0])

    def _array(self, name: str, array: Array) -> Array:
        self.point(name, array)
        return array

    def point(self, name: str, array: Array) -> None:
        """Have a field point to an array."""
        self._kept.append(array)
        self.set(name, array.ctypes.data)

    def _geometry(self, program: Program) -> None:
        for axis, blocks, threads in zip("xyz", program.grid, program.block, strict=True):
            self.set(f"nctaid.{axis}", blocks)
            self.set(f"ntid.{axis}", threads)
        self.name_symbols()

    def name_symbols(self) -> None:
        """Fill in the addresses of names, all of which are known once code has been written."""
        symbols = np.zeros(max(1, len(self.kernel.symbols)), np.uint64)
        for name, number in self.kernel.symbols.items():
            symbols[number] = self.kernel.program.address_of(name) or 0
        self.point("symbols", symbols)

    def _memories(self, program: Program) -> None:
        memory = program.memory
        self.set("arena", memory.cells.bytes.ctypes.data - GLOBAL)
        self._kept.append(memory.cells.bytes)
        self.point("params", program.parameters.cells.bytes)
        self.point("consts", program.constants.cells.bytes)
        self.point("shared", aligned(max(program.shared_size, 1) + 64))
        self.set("shared_size", program.shared_size)
        lows, highs = memory.bounds()
        table = np.stack([lows, highs], axis=1).astype(np.uint64)
        self.point("buffers", np.ascontiguousarray(table))
        self.set("buffer_count", len(table))

    def _frames(self, program: Program) -> None:
        x, y, z = program.block
        threads, size = x * y * z, self.kernel.frame_size
        warps = -(-threads // LANES)
        frames = aligned(size * warps).reshape(warps, size)
        self.point("frames", frames)
        self.set("frame_size", size)
        self.set("warps", warps)
        thread = np.arange(warps * LANES, dtype=np.uint32).reshape(warps, LANES)
        frames[:, FRAME["warp"] :][:, :4].view(np.uint32)[:, 0] = np.arange(warps)
        for name, values in (("x", thread % x), ("y", thread // x % y), ("z", thread // (x * y))):
            frames[:, TIDS[f"tid.{name}"] :][:, :128].view(np.uint32)[:] = values
            frames[:, FRAME[f"tid.{name}"] :][:, :4].view(np.uint32)[:, 0] = values[:, 0]
        self._kept.append(nothing := aligned(ENTRY["counts"]))
        self.point("unlike", nothing)
        start = self.kernel.entries
        frames[:, start:][:, : 8 * len(self.kernel.accesses.all)].view(np.uint64)[:] = (
            nothing.ctypes.data
        )
        self.set("entries", start)
        local = max(16, -(-self.kernel.graph.local_size // 16) * 16)
        self.set("local_size", local)
        self.set("local_warp", local * LANES)
        self.point("block_local", aligned(local * LANES * warps))

    def _functions(self, program: Program, functions: Array) -> None:
        """Which function each warp begins with, and where they are."""
        kernel, threads = self.kernel, math.prod(program.block)
        exists = np.array(
            [(1 << min(LANES, threads - first)) - 1 for first in range(0, threads, LANES)],
            np.uint32,
        )
        partial = kernel.divergent if kernel.exchanges else kernel.function(0, False)
        whole = kernel.function(0, not kernel.always_some)
        self.point("exists", exists)
        self.point("begin", np.where(exists == 0xFFFFFFFF, whole, partial).astype(np.int32))
        self.set("first_whole", whole)
        self.point("functions", functions)

    def _accesses(self, bounds: Mapping[str, tuple[int, int]]) -> None:
        everything = self.kernel.accesses.all
        self.table = aligned(ACCESS_SIZE * max(1, len(everything))).reshape(-1, ACCESS_SIZE)
        self.point("accesses", self.table)
        self.marks: dict[Group, tuple[int, Array]] = {}  # of loads of a line, from a sector on
        phases = [max(1, PERIODS[a.space] // a.width) for a in everything]
        sizes = [-(-(ENTRY["counts"] + 8 * n) // 64) * 64 for n in phases]
        many = slots(-(-math.prod(self.kernel.program.block) // LANES))
        ends = np.cumsum([0, *(many * size for size in sizes)])
        entries = aligned(int(ends[-1]))
        histograms = np.zeros(sum(phases), np.int64)
        self.histograms = np.split(histograms, np.cumsum(phases, dtype=np.int64))[:-1]
        self.entries = [
            entries[ends[n] : ends[n + 1]].reshape(many, size) for n, size in enumerate(sizes)
        ]
        self._kept += [entries, histograms]
        for access, entry, histogram in zip(everything, self.entries, self.histograms, strict=True):
            fields = {
                **self._bounds(access, bounds),
                "width": access.width,
                "step": access.width if access.count == 1 else 0,
                "phases": PERIODS[access.space] - 1,
                "shift": access.width.bit_length() - 1,
                "histogram": histogram.ctypes.data,
                "table": entry.ctypes.data,
                "entry_size": entry.shape[1],
                "slots": many,
            }
            row = self.table[access.number].view(np.uint64)
            for name, value in fields.items():
                row[ACCESS[name] // 8] = value & 0xFFFFFFFFFFFFFFFF

    def _bounds(self, access: Access, bounds: Mapping[str, tuple[int, int]]) -> dict[str, int]:
        """Where the accesses of an instruction may go, and where they leave marks."""
        program, width = self.kernel.program, access.width
        if access.space != "global":
            size = {
                "shared": program.shared_size,
                "const": program.constants.size,
                "param": program.parameters.size,
                "local": self.get("local_size"),
            }[access.space]
            return _within(0, size, width) | {"known": 1}
        known = access.origin in bounds
        low, high = bounds.get(access.origin, (0, 0))
        found = _within(low, high, width) | {"known": int(known)}
        if access.loads:
            end = GLOBAL + len(program.memory.cells.bytes)
            low, high = bounds.get(access.origin, (GLOBAL, end))
            group = self.group(access)
            if group not in self.marks:
                self.marks[group] = low >> 5, np.zeros((high - low >> 5) + 2 + 8, np.uint8)
            found["marks"] = self.marks[group][1].ctypes.data - (low >> 5)
        return found

    def group(self, access: Access) -> Group:
        """Loads that share what they mark as visited."""
        return access.origin, access.op.at.line, access.op.at.opcode.text

    def _cells(self, program: Program) -> None:
        """Who wrote and read what, where that is asked."""
        accesses = self.kernel.accesses
        shared = -(-max(program.shared_size, 1) // accesses.cell["shared"])
        arena = len(program.memory.cells.bytes) // accesses.cell["global"] + 2
        tracked = accesses.tracked
        self.point("written", np.zeros(shared + 2, np.uint32))
        self.point("readers", np.zeros(shared + 2 if tracked["shared readers"] else 1, np.uint32))
        self.written = np.zeros(arena if tracked["global"] else 1, np.uint32)
        self.readers = np.zeros(arena if tracked["global readers"] else 1, np.uint32)
        self.point("global_written", self.written)
        self.point("global_readers", self.readers)
        once = any(access.once for access in accesses.all)
        self.once = np.zeros(arena // 32 + 8 if once else 1, np.uint32)
        self.point("once", self.once)
        self.set("epoch", 0)

    # --- what has been counted --------------------------------------------------------------------

    def flush(self) -> None:
        """Hand on the requests that fit no pattern."""
        used = self.get("rows_used")
        if used:
            rows = self.rows[: ROW * used].reshape(used, ROW)
            numbers = rows[:, :4].copy().view(np.uint32)[:, 0]
            masks = rows[:, 4:8].copy().view(np.uint32)[:, 0]
            self._told(numbers, masks, rows[:, 8:].copy().view(np.uint64))
            self.set("rows_used", 0)

    def seen(self, number: int) -> tuple[U32, I64, I64]:
        """The patterns an instruction made: lanes, relative addresses, counts by phase."""
        table, start = self.entries[number], ENTRY["relative"]
        masks = table[:, :4].copy().view(np.uint32)[:, 0]
        rows = np.flatnonzero(masks)
        relative = table[rows, start : start + 128].view(np.int32).astype(np.int64)
        size = 8 * len(self.histograms[number])
        counts = table[rows, ENTRY["counts"] : ENTRY["counts"] + size].view(np.int64)
        return masks[rows], relative, counts


def _within(low: int, high: int, width: int) -> dict[str, int]:
    """What an access of some bytes may start at: nowhere, where there is no room."""
    span = high - low - width
    return {"low": low, "span": span} if span >= 0 else {"low": 1 << 62, "span": 0}


def _flushed(worker: Worker | None) -> None:
    assert worker is not None
    worker.flush()


class _Ufunc(ctypes.Structure):
    """The start of NumPy's PyUFuncObject, which its C API documents."""

    _fields_ = [
        ("refcount", ctypes.c_ssize_t),
        ("type", ctypes.c_void_p),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    ]


def inner_loop(ufunc: Any) -> tuple[int, int]:
    """NumPy's own loop for float64 of a function of one argument, and the data it wants."""
    found = _Ufunc.from_address(id(ufunc))
    if found.nargs != ufunc.nargs or found.ntypes != ufunc.ntypes:
        raise OSError("this NumPy keeps its loops elsewhere")
    number = ufunc.types.index("d->d")
    data = found.data[number] if found.data else 0
    return int(found.functions[number] or 0), int(data or 0)
