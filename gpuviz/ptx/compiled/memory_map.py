"""Where the generated code finds things: the record of a worker, the frame of a warp, of accesses.

All are plain bytes with fields at fixed offsets; the code and the driver read the same tables.
"""

from __future__ import annotations

from collections.abc import Iterable


def _offsets(names: Iterable[str], size: int) -> dict[str, int]:
    return {name: size * number for number, name in enumerate(names)}


# One record for each worker (a thread that runs blocks), of 8-byte fields.
WORKER = _offsets(
    (
        *("stop", "stop_at", "arena", "shared", "params", "consts", "accesses"),
        *("full", "part_warps", "part_threads", "taken", "divergent"),
        *("ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z"),
        *("ntid.x", "ntid.y", "ntid.z", "symbols", "rows", "rows_used", "rows_most", "flush"),
        *("buffers", "buffer_count", "shared_size", "local", "local_size", "local_warp"),
        *("written", "readers", "global_written", "global_readers"),
        *("turn", "since", "block", "last_block", "warp", "inside"),
        *(
            "frames",
            "frame_size",
            "warps",
            "parted",
            "regions",
            "votes",
            "threads",
            "vote",
            "vote_threads",
        ),
        *(f"loop{n}" for n in range(5)),
        *(f"loop_data{n}" for n in range(5)),
        *("exists", "once", "halted_at"),
    ),
    8,
)
WORKER_SIZE = 8 * len(WORKER)

# The frame of a warp: 4-byte fields, then vectors, scalars of 8 bytes, registers.
FRAME = _offsets(
    (
        *("parted", "status", "resume", "region", "live", "waiting", "blocked", "barrier"),
        *("warp", "tid.x", "tid.y", "tid.z", "exists"),
    ),
    4,
)
PLACES, TIDS = 64, {"tid.x": 192, "tid.y": 320, "tid.z": 448}
SCALARS = 576

RUNNING, WAITING, ENDED = 0, 1, 2  # status of a warp
# What a function of the generated code returns.
END, WAIT, SWITCH, STOP, NEEDED = 0, 1, 2, 3, 4
# Why a launch is stopped (the field stop).
CANCELLED, FAULT, CONFLICT, BARRIER, WRAPPED, CALLED, TWICE = 1, 2, 3, 4, 5, 6, 7

# One record for each memory instruction.
ACCESS = _offsets(("low", "span", "histogram", "table", "marks", "width", "known", "entry_size"), 8)
ACCESS_SIZE = 128

ENTRIES = 8  # patterns remembered for each instruction
ENTRY_RELATIVE, ENTRY_COUNTS = 64, 192  # offsets in an entry: the lanes at 0, ...
ROW = 8 + 8 * 32  # bytes of a request that is told as it is: instruction, lanes, addresses
PERIODS = {"global": 128, "shared": 256, "constant": 16, "local": 4}
