"""The requests of one block, folded: the patterns of addresses each instruction made, how often."""

from dataclasses import dataclass, field

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.ptx.simt.program import Program
from gpuviz.traces.observe import Access, Sink, relative_to_first
from gpuviz.traces.trace import LANES, MemoryInstruction

PERIOD = 256  # bytes: counts stay the same when all addresses of a request move by this many
_MANY = 1 << 20  # addresses that are kept before those that occur twice are sorted out
_FAR = 1 << 62


@dataclass(frozen=True, slots=True)
class Pattern:
    """A request relative to where it starts in a period: bytes of (32,) arrays.

    A copy has fixed places in shared memory, and starts where its source does.
    """

    relative: bytes  # int64
    active: bytes  # bool
    into: bytes = b""  # uint64, of a copy

    def rows(self, starts: I64) -> tuple[Array, Bool | None, Array | None]:
        """(N, 32) addresses of requests that start there, their lanes, and where they copy to."""
        relative = np.frombuffer(self.relative, np.int64)
        lanes = np.frombuffer(self.active, bool)
        rows = (starts[:, None] + relative).astype(np.uint64)
        active = None if lanes.all() else np.broadcast_to(lanes, rows.shape).copy()
        if not self.into:
            return rows, active, None
        into = np.broadcast_to(np.frombuffer(self.into, np.uint64), rows.shape)
        return rows, active, into.copy()


@dataclass(eq=False)
class Requests:
    """Those of one instruction."""

    # By pattern, how many requests start where in a period.
    starts: dict[Pattern, I64] = field(default_factory=dict)
    # low, high: how far all of them may move without leaving the memory they lie in.
    low: int = -_FAR
    high: int = _FAR
    _visited: list[I64] = field(default_factory=list)
    _waiting: int = 0

    def add(self, pattern: Pattern, start: I64, times: int) -> None:
        """Count requests by where they start."""
        if pattern not in self.starts:
            self.starts[pattern] = np.zeros(PERIOD, np.int64)
        self.starts[pattern] += np.bincount(start, minlength=PERIOD) * times

    def bound(self, low: int, high: int) -> None:
        """They may move by so much, and no further."""
        self.low, self.high = max(self.low, low), min(self.high, high)

    def visit(self, addresses: I64) -> None:
        """Keep where they go."""
        self._visited.append(addresses)
        self._waiting += len(addresses)
        if self._waiting > _MANY:
            self._visited = [self.visited]
            self._waiting = len(self._visited[0])

    @property
    def visited(self) -> I64:
        """(A,) the different addresses of loads from global memory, ascending."""
        return np.unique(np.concatenate(self._visited or [np.zeros(0, np.int64)]))


class PatternCounter(Sink):
    """Folds the requests of the blocks that run; `made` by instruction."""

    def __init__(self, program: Program) -> None:
        self.made: dict[MemoryInstruction, Requests] = {}
        self._program = program
        self._lows, self._highs = program.memory.bounds()
        self._last: dict[MemoryInstruction, tuple[Access, int]] = {}

    def access(self, access: Access) -> None:
        """Fold the requests of an access; those of the very same one are counted later."""
        last = self._last.get(access.instruction)
        if last is not None and last[0] is access:
            self._last[access.instruction] = access, last[1] + 1
            return
        self._last[access.instruction] = access, 1
        if last is not None:
            self._fold(*last)

    def blocks_end(self, first: int, count: int) -> None:
        """Fold what is left."""
        for last in self._last.values():
            self._fold(*last)
        self._last.clear()

    def _fold(self, access: Access, times: int) -> None:
        made = self.made.setdefault(access.instruction, Requests())
        moved = access.address if access.source is None else access.source
        lanes = access.active
        address = np.asarray(moved, dtype=np.uint64).view(np.int64)
        base, relative = (x.view(np.int64) for x in relative_to_first(moved, lanes))
        into = None if access.source is None else access.address
        start = base % PERIOD
        for rows in _alike(relative, lanes, into):
            row = rows[0]
            active = np.ones(LANES, bool) if lanes is None else lanes[row]
            where = b"" if into is None else np.where(active, into[row], 0).tobytes()
            pattern = Pattern(relative[row].tobytes(), active.tobytes(), where)
            made.add(pattern, start[rows], times * access.repeat)
        self._bound(made, access, address if lanes is None else address[lanes])

    def _bound(self, made: Requests, access: Access, address: I64) -> None:
        """How far they may move, and where loads go."""
        at = access.instruction
        if access.source is not None or not address.size:
            return
        least, most = int(address.min()), int(address.max())
        if at.space == "shared":
            made.bound(-least, self._program.shared_size - at.width - most)
        if at.space != "global":
            return
        slot = int(np.searchsorted(self._lows, least, side="right")) - 1
        if most + at.width <= self._highs[slot]:
            made.bound(int(self._lows[slot]) - least, int(self._highs[slot]) - at.width - most)
        else:
            slots = np.searchsorted(self._lows, address, side="right") - 1
            low = int((self._lows[slots] - address).max())
            made.bound(low, int((self._highs[slots] - at.width - address).min()))
        if at.op in ("load", "copy"):
            made.visit(address.reshape(-1))


def _alike(relative: I64, active: Bool | None, into: Array | None) -> list[I64]:
    """The rows of each pattern."""
    columns = [column for column in (relative, active, into) if column is not None]
    if all((column == column[0]).all() for column in columns):
        return [np.arange(len(relative))]
    keys = [b"".join(column[n].tobytes() for column in columns) for n in range(len(relative))]
    found: dict[bytes, list[int]] = {}
    for row, key in enumerate(keys):
        found.setdefault(key, []).append(row)
    return [np.array(rows) for rows in found.values()]
