"""What one thread needs to run blocks: its record, memories and tables, as arrays."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpuviz.arrays import Array
from gpuviz.ptx.compiled.accesses import Access
from gpuviz.ptx.compiled.floats import LOOPS
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory_map import (
    ACCESS,
    ACCESS_SIZE,
    ENTRIES,
    ENTRY_COUNTS,
    ENTRY_RELATIVE,
    FRAME,
    PERIODS,
    ROW,
    TIDS,
    WORKER,
    WORKER_SIZE,
)
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.windows import GLOBAL
from gpuviz.trace import LANES

ROWS = 1 << 13  # requests that fit no pattern, kept before they are told
Group = tuple[str, int, str]
_FLUSH = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_PERIOD = {"const": 16, "param": 16, **PERIODS}


def aligned(size: int) -> Array:
    """Zeros from an address that is a multiple of 64."""
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]


class Worker:
    """The record of a worker and all it points to.

    `told` is called with the requests that fit no pattern: instruction numbers, lanes, addresses.
    """

    def __init__(
        self,
        kernel: Kernel,
        bounds: Mapping[str, tuple[int, int]],
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
        threads = x * y * z
        warps = -(-threads // LANES)
        size = self.kernel.frame_size
        frames = aligned(size * warps)
        self.point("frames", frames)
        self.set("frame_size", size)
        self.set("warps", warps)
        exists = np.zeros(warps, np.uint32)
        for warp in range(warps):
            thread = np.arange(warp * LANES, (warp + 1) * LANES)
            exists[warp] = sum(1 << lane for lane in range(LANES) if thread[lane] < threads)
            frame = frames[warp * size : (warp + 1) * size]
            own = {"tid.x": thread % x, "tid.y": thread // x % y, "tid.z": thread // (x * y)}
            frame[FRAME["warp"] :][:4].view(np.uint32)[0] = warp
            for name, values in own.items():
                frame[TIDS[name] :][:128].view(np.uint32)[:] = values
                frame[FRAME[name] :][:4].view(np.uint32)[0] = values[0]
        self.point("exists", exists)
        local = max(16, -(-self.kernel.graph.local_size // 16) * 16)
        self.set("local_size", local)
        self.set("local_warp", local * LANES)
        self.point("local", aligned(local * LANES * warps))

    def _accesses(self, bounds: Mapping[str, tuple[int, int]]) -> None:
        everything = self.kernel.accesses.all
        table = aligned(ACCESS_SIZE * max(1, len(everything)))
        self.point("accesses", table)
        self.histograms: dict[int, Array] = {}
        self.entries: dict[int, Array] = {}
        self.marks: dict[Group, tuple[int, Array]] = {}  # of loads of a line, from a sector on
        size = len(self.kernel.program.memory.cells.bytes)
        for access in everything:
            fields: dict[str, int] = {"width": access.width}
            if access.space == "global":
                low, high = bounds.get(access.origin, (0, 0))
                span = high - low - access.width
                known = bool(access.origin in bounds)
                fields |= {"low": low, "span": span, "known": known}
                if not known or span < 0:
                    fields |= {"low": 1 << 62, "span": 0}
            else:
                constant = {"const": "constants", "param": "parameters"}.get(access.space)
                if constant:
                    fields["span"] = getattr(self.kernel.program, constant).size
            phases = max(1, _PERIOD[access.space] // access.width)
            entry = -(-(ENTRY_COUNTS + 8 * phases) // 64) * 64
            self.histograms[access.number] = np.zeros(phases, np.int64)
            self.entries[access.number] = aligned(entry * ENTRIES)
            fields["entry_size"] = entry
            fields["histogram"] = self.histograms[access.number].ctypes.data
            fields["table"] = self.entries[access.number].ctypes.data
            if access.space == "global" and access.how == "load":
                start, end = bounds.get(access.origin, (GLOBAL, GLOBAL + size))
                group = self.group(access)
                if group not in self.marks:
                    self.marks[group] = start >> 5, np.zeros((end - start >> 5) + 2, np.uint8)
                fields["marks"] = self.marks[group][1].ctypes.data - (start >> 5)
            row = table[access.number * ACCESS_SIZE :][:ACCESS_SIZE]
            for name, value in fields.items():
                row[ACCESS[name] :][:8].view(np.uint64)[0] = value & 0xFFFFFFFFFFFFFFFF

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
        self.set("turn", 0)

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

    def seen(self, number: int) -> list[tuple[int, Array, Array]]:
        """The patterns an instruction made: lanes, relative addresses, counts by phase."""
        found = []
        table = self.entries[number]
        size = len(table) // ENTRIES
        for i in range(ENTRIES):
            entry = table[i * size : (i + 1) * size]
            mask = int(entry[:4].view(np.uint32)[0])
            if mask:
                relative = entry[ENTRY_RELATIVE : ENTRY_RELATIVE + 128].view(np.int32)
                phases = len(self.histograms[number])
                counts = entry[ENTRY_COUNTS : ENTRY_COUNTS + 8 * phases].view(np.int64)
                found.append((mask, relative.astype(np.int64), counts))
        return found


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
