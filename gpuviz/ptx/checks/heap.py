"""Accesses to the heap of device code beside what malloc gave, or after free."""

import numpy as np

from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.ptx.checks.report import Check
from gpuviz.ptx.simt.global_memory import HEAP_BYTES
from gpuviz.traces.observe import Access, Place, Report
from gpuviz.traces.trace import LANES, Launch

_GIVEN, _FREED = 1, 2  # what each byte is; 0: nobody asked for it


class HeapCheck(Check):
    """Reports accesses to the heap beside what malloc gave, or after free.

    Other accesses beyond their memory end the run at once: what would they read? On the heap they
    hit something, as they do on a GPU, and the run goes on.
    """

    name = "memory"

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """Nothing was allocated."""
        super().launch_begin(launch, report)
        self._start = 0  # of the heap, 0 before anything was allocated
        self._state = np.zeros(0, np.uint8)
        self._size: dict[int, int] = {}  # of each piece, by address

    def allocated(self, address: U64, size: I64) -> None:
        """Pieces are given."""
        starts = address.astype(np.int64)
        if not self._start:
            self._start = int(starts.min())
            self._state = np.zeros(HEAP_BYTES, np.uint8)
        for start, length in zip(starts.tolist(), size.tolist(), strict=True):
            self._size[start] = max(length, 1)
            self._state[start - self._start :][:length] = _GIVEN

    def freed(self, at: Place, address: U64, thread: I64) -> None:
        """Pieces are taken back, once each."""
        for start, by in zip(address.astype(np.int64).tolist(), thread.tolist(), strict=True):
            size = self._size.get(start, 0)
            state = self._state[start - self._start :][:size]
            if not size or state[0] == _FREED:
                self._badly_freed(at, start, by, twice=bool(size))
            state[:] = _FREED

    def _badly_freed(self, at: Place, address: int, thread: int, twice: bool) -> None:
        what = "was freed before" if twice else "is nothing that malloc gave"
        self._tell(
            "freed twice" if twice else "free of what malloc did not give",
            f"free gets {address:#x}, which {what}",
            at,
            thread,
            "free each piece once" if twice else "free the address that malloc returned",
            address,
        )

    def access(self, access: Access) -> None:
        """Look at those that go to the heap."""
        at = access.instruction
        if not self._start or at.space != "global":
            return
        where = access.address.view(np.int64) - self._start
        inside = (where >= 0) & (where + at.width <= HEAP_BYTES)
        inside = inside if access.active is None else inside & access.active
        if not inside.any():
            return
        offset = where[inside]
        state = self._state[offset[:, None] + np.arange(at.width)]
        bad: Bool = (state != _GIVEN).any(axis=1)
        if bad.any():
            thread = ((access.warps.first * LANES)[:, None] + np.arange(LANES))[inside][bad]
            gone = bool((state[bad][0] == _FREED).any())
            address = int(offset[bad][0]) + self._start
            verb = "read" if at.op == "load" else "written"
            self._tell(
                "heap access after free" if gone else "heap access outside",
                f"{at.width} bytes at {address:#x} of the heap are {verb}, "
                + ("which were freed before" if gone else "which no malloc gave"),
                at,
                int(thread[0]),
                "free it after its last use" if gone else "stay within the bytes asked for",
                address,
                int(bad.sum()) * access.repeat,
            )
