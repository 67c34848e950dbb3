"""Where the generated code finds things: the record of a worker, the frame of a warp, of accesses.

All are plain bytes with fields at fixed offsets; the code and the driver read the same tables.
"""

from collections.abc import Iterable


def _offsets(names: Iterable[str], size: int) -> dict[str, int]:
    return {name: size * number for number, name in enumerate(names)}


# One record for each worker (a thread that runs blocks), of 8-byte fields.
WORKER = _offsets(
    (
        *("stop", "stop_at", "halted_at", "arena", "shared", "params", "consts", "local"),
        *("block_local", "shared_size", "local_size", "local_warp"),
        *("symbols", "buffers", "buffer_count"),
        *("full", "part_warps", "part_threads", "taken", "divergent"),
        *("ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z"),
        *("ntid.x", "ntid.y", "ntid.z", "block", "last_block", "warp", "inside"),
        *("frames", "frame_size", "warps", "exists", "functions", "begin", "first_whole", "needed"),
        *("accesses", "entries", "latest", "unlike", "rows", "rows_used", "rows_most", "flush"),
        *("epoch", "since", "written", "readers", "global_written", "global_readers", "once"),
        *(f"loop{n}" for n in range(5)),
        *(f"loop_data{n}" for n in range(5)),
    ),
    8,
)
WORKER_SIZE = 8 * len(WORKER)

# The frame of a warp: 4-byte fields, then vectors, scalars of 8 bytes, registers, and for each
# access the entry of its latest pattern.
FRAME = _offsets(
    (
        *("function", "status", "resume", "region", "live", "waiting", "blocked", "barrier"),
        *("warp", "tid.x", "tid.y", "tid.z"),
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

# One record for each memory instruction. `low` and `span`: an access whose first byte is up to
# `span` from `low` is inside; `phases` and `shift` tell which count an address has in a histogram
# of where requests start in a period. From lane to lane of a stretch it is a `step`; 0
# where there are none, as lanes have several units each.
ACCESS = _offsets(
    (
        *("low", "span", "known", "width", "phases", "shift", "histogram", "marks"),
        *("table", "entry_size", "slots", "step"),
    ),
    8,
)
ACCESS_SIZE = 128

# An entry of the table of an access is a pattern: a set of lanes, and where they go relative to the
# first of them. Its lanes, taken in order, go to `stretches`, where each goes a step further than
# the one before, or to `spots`, where all go to the same place; both are lists of a bit set of
# lanes and a start. `runs` are first and last starts that leave no sector in between untouched.
ENTRY = {
    **_offsets(("lanes", "stretches", "spots", "runs"), 4),
    **{"least": 16, "extent": 24, "bits": 32, "relative": 64, "stretch": 192, "spot": 256},
    **{"run": 320, "counts": 576},
}
PIECES = 8  # stretches or spots that an entry has room for
FAR = 1 << 30  # patterns do not reach further
PROBES = 4  # entries that a pattern may be in
ROW = 8 + 8 * 32  # bytes of a request that is told as it is: instruction, lanes, addresses
PERIODS = {"global": 128, "shared": 256, "const": 16, "param": 16, "local": 4}
SECTOR = 32
SOURCE = 1 << 31  # beside the number of a copy: the row tells where it comes from


def slots(warps: int) -> int:
    """How many patterns are remembered for each instruction."""
    return min(512, max(16, 1 << (8 * warps - 1).bit_length()))
