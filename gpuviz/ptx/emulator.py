"""Run one launch of a PTX module, whole or batch by batch, on this machine's processor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gpuviz.arrays import Array
from gpuviz.observe import Listeners, Sink
from gpuviz.ptx.batches import blocks_per_batch, chosen_blocks
from gpuviz.ptx.decode.decoder import Decoder
from gpuviz.ptx.flops import floating_operations
from gpuviz.ptx.launching import Triple, ready
from gpuviz.ptx.races import RaceCheck
from gpuviz.ptx.simt.execution import Execution
from gpuviz.ptx.simt.host_memory import keep_freed_memory
from gpuviz.ptx.simt.machine import Machine
from gpuviz.ptx.text.ir import Module
from gpuviz.ptx.tracing import Tracer
from gpuviz.trace import Trace

RECORD_LIMIT = 2_000_000  # requests kept at most, and stretches of the path


@dataclass(frozen=True)
class Options:
    """Limits and wishes of a run.

    `record` are the linear ids of the blocks whose requests are kept; `max_blocks` emulates only
    that many blocks (spread over the grid) and says so; `budget` is in thread instructions;
    `memory` in bytes, for everything but the buffers; `path` keeps the way of the recorded blocks
    through the program, too; `races` reports races in shared memory among their threads.
    """

    record: tuple[int, ...] = (0,)
    max_blocks: int | None = None
    budget: int = 4_000_000_000
    memory: int = 2 << 30
    record_limit: int = RECORD_LIMIT
    path: bool = False
    races: bool = False
    progress: Callable[[float], None] = field(default=lambda fraction: None)
    cancel: Callable[[], bool] = field(default=lambda: False)


@dataclass(frozen=True, eq=False)
class Result:
    """The trace of a launch, and its buffers afterwards (by name, as the arrays passed in).

    `executed` tells how often warps executed each basic block, by the pc of its first instruction.
    """

    trace: Trace
    outputs: Mapping[str, Array]
    executed: Mapping[int, int] = field(default_factory=dict)


def emulate(
    module: Module,
    kernel: str,
    grid: Triple,
    block: Triple,
    arguments: Sequence[Array],
    *,
    dynamic_shared: int = 0,
    sinks: Sequence[Sink] = (),
    options: Options | None = None,
    names: Sequence[str] = (),
    arch: str = "",
    source: str = "",
) -> Result:
    """Execute a launch.

    Parameters
    ----------
    arguments : one per kernel parameter, in order: an array of one dimension or more is a buffer,
        a zero-dimensional one (NumPy scalar) is passed by value
    sinks : who else wants to know what happens, see `gpuviz.observe`
    names : names of the buffers, in the order of the arguments ("arg0", ... by default)

    Raises
    ------
    LaunchError : the arguments do not fit the parameters, or there is no such kernel
    UnsupportedError, KernelFault, Cancelled : see `simt.machine` and `decode.decoder`
    """
    keep_freed_memory()
    options = options or Options()
    launched = ready(module, kernel, grid, block, arguments, dynamic_shared, names)
    checks = (RaceCheck(options.record),) if options.races else ()
    tracer = Tracer(options.record, options.record_limit, options.path)
    decoder = Decoder(launched.program)
    execution = Execution(
        launched.program,
        launched.launch,
        decoder.code(launched.program.kernel),
        decoder.codes,
        Listeners((*sinks, *checks, *tracer.sinks)),
        launched.heap,
        options.budget,
        options.cancel,
    )
    _run(execution, options)
    tally = tracer.tally
    trace = tracer.trace(
        launched.launch,
        printed=execution.printed.text,
        source=source,
        ptx=module.text,
        arch=arch,
        flops=floating_operations(module, tally.threads),
    )
    return Result(trace, launched.outputs(arguments), tally.executed)


def _run(execution: Execution, options: Options) -> None:
    """Run every batch."""
    told = execution.told
    for begin in told.launch_begin:
        begin(execution.launch, told.report)
    ranges = chosen_blocks(execution.launch.blocks, options.max_blocks)
    size = blocks_per_batch(execution.program, execution.kernel, options.memory)
    done, total = 0, sum(count for _, count in ranges)
    for first, count in ranges:
        for start in range(first, first + count, size):
            part = min(size, first + count - start)
            Machine(execution, start, part).run()
            done += part
            options.progress(done / total)
    for end in told.launch_end:
        end()
