"""CUDA's device-side library calls that PTX leaves to the driver: printf, malloc, assert."""

from collections.abc import Callable

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.simt import printf
from gpuviz.ptx.simt.global_memory import HEAP_BYTES
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.shared_addresses import active
from gpuviz.traces.observe import Place
from gpuviz.traces.trace import LANES

PRINTF_BYTES = 1 << 10
GAP = 16  # bytes between pieces of the heap, so that a step too far hits nothing


def _vprintf(g: Group, at: Place, text: Array, arguments: Array) -> Array:
    """Lane by lane, as the lanes of a warp would fill the buffer."""
    formats, pointers = g.layout.full(text).reshape(-1), g.layout.full(arguments).reshape(-1)
    execution = g.machine.execution
    string_at = execution.program.memory.string_at
    lanes = active(g)
    for number, lane in enumerate(lanes):
        if execution.printed.full:
            launch = execution.launch
            threads = launch.blocks * launch.threads_per_block
            execution.printed.leave_out(len(lanes) - number, threads)
            break
        template = string_at(int(formats[lane]))
        data = g.machine.memory.local_bytes(g, int(lane), int(pointers[lane]), PRINTF_BYTES)
        execution.printed.add(printf.render(template, data, string_at))
    return np.zeros(1, np.uint32)


def _malloc(g: Group, at: Place, size: Array) -> Array:
    """A bump allocator over a heap of CUDA's default size; 0 for what does not fit."""
    lanes = active(g)
    sizes = np.minimum(g.layout.full(size).reshape(-1)[lanes], HEAP_BYTES).astype(np.int64)
    rounded = (np.maximum(sizes, 1) + 15) // 16 * 16
    starts = g.machine.execution.heap.allocate(rounded + GAP)
    for hear in g.machine.told.allocated if starts.any() else ():
        hear(starts[starts > 0], sizes[starts > 0])
    out = np.zeros(g.layout.size, np.uint64)
    out[lanes] = starts
    return out.reshape(g.layout.shape)


def _free(g: Group, at: Place, pointer: Array) -> None:
    """Memory is given back when the launch ends; sinks are told now."""
    told = g.machine.told.freed
    if told:
        lanes = active(g)
        gone = g.layout.full(pointer).reshape(-1)[lanes].astype(np.uint64)
        launch = g.machine.execution.launch
        block, own = (
            np.array([g.position(lane) for lane in lanes[gone > 0].tolist()]).reshape(-1, 2).T
        )
        for hear in told:
            hear(at, gone[gone > 0], block * launch.warps_per_block * LANES + own)


def _assertfail(
    g: Group, at: Place, message: Array, file: Array, line: Array, function: Array, size: Array
) -> None:
    lane = int(active(g)[0])
    string_at = g.machine.execution.program.memory.string_at

    def text(value: Array) -> str:
        address = int(g.layout.full(value).reshape(-1)[lane])
        return string_at(address).decode(errors="replace")

    raise KernelFault(
        f"assertion `{text(message)}` failed at {text(file)}:"
        f"{int(g.layout.full(line).reshape(-1)[lane])} in {text(function)}, "
        f"{g.who(lane)}"
    )


BUILTINS: dict[str, Callable[..., Array | None]] = {
    "vprintf": _vprintf,
    "malloc": _malloc,
    "free": _free,
    "__assertfail": _assertfail,
}
