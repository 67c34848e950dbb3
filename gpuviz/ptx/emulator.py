"""Run one launch of a PTX module, whole or batch by batch, on this machine's processor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuviz.arrays import Array
from gpuviz.errors import LaunchError
from gpuviz.ptx.flops import floating_operations
from gpuviz.ptx.simt.access import Recorder
from gpuviz.ptx.simt.builtins import HEAP_BYTES
from gpuviz.ptx.simt.code import polls
from gpuviz.ptx.simt.execution import Execution
from gpuviz.ptx.simt.heap import keep_freed_memory
from gpuviz.ptx.simt.machine import Machine
from gpuviz.ptx.simt.program import parameter_bytes, parameter_offsets, place, reachable
from gpuviz.ptx.simt.spaces import GlobalMemory
from gpuviz.ptx.text.ir import Function, Instruction, Module
from gpuviz.trace import Buffer, Launch, Sink, Trace

Triple = tuple[int, int, int]
BATCH_THREADS = 32768  # threads in step: enough to hide Python, few enough for the cache
RIVAL_THREADS = 2048  # where one of all succeeds in each round of a loop (compare and swap)
RECORD_LIMIT = 2_000_000  # requests kept at most


@dataclass(frozen=True)
class Options:
    """Limits and wishes of a run.

    `record` are the linear ids of the blocks whose requests are kept; `max_blocks` emulates only
    that many blocks (spread over the grid) and says so; `budget` is in thread instructions;
    `memory` in bytes, for everything but the buffers; `path` keeps the way of the recorded blocks
    through the program, too.
    """

    record: tuple[int, ...] = (0,)
    max_blocks: int | None = None
    budget: int = 4_000_000_000
    memory: int = 2 << 30
    record_limit: int = RECORD_LIMIT
    path: bool = False
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
    names : names of the buffers, in the order of the arguments ("arg0", ... by default)

    Raises
    ------
    LaunchError : the arguments do not fit the parameters, or there is no such kernel
    UnsupportedError, KernelFault, Cancelled : see `machine` and `decoder`
    """
    keep_freed_memory()
    options = options or Options()
    function = module.by_name.get(kernel)
    if function is None or not function.entry or not function.defined:
        raise LaunchError(
            f"there is no kernel {kernel!r} in this module; it has: "
            f"{', '.join(module.kernels) or 'none'}"
        )
    _check_shape(function, grid, block)
    memory = GlobalMemory()
    labels = [names[i] if i < len(names) else f"arg{i}" for i in range(len(arguments))]
    buffers, content = _arguments(function, arguments, labels, memory)
    heap = memory.add("heap", np.zeros(HEAP_BYTES, np.uint8)) if _allocates(module, function) else 0
    program = place(module, function, grid, block, dynamic_shared, memory, content)
    scalars = tuple(
        (n, a.item())
        for n, a in zip(labels, map(np.asarray, arguments), strict=True)
        if a.ndim == 0
    )
    launch = Launch(kernel, grid, block, dynamic_shared, tuple(buffers), scalars)
    execution = Execution(
        program,
        launch,
        tuple(sinks),
        Recorder(options.record, options.record_limit, options.path),
        options.budget,
        options.cancel,
        heap,
    )
    emulated = _run(execution, options)
    return Result(
        _trace(execution, emulated, arch, source, options),
        _outputs(memory, arguments, labels),
        execution.executed,
    )


def _check_shape(function: Function, grid: Triple, block: Triple) -> None:
    """What no device of any kind would launch (`check_limits` of the runners knows each device)."""
    for what, sizes in (("grid", grid), ("block", block)):
        if min(sizes) < 1:
            raise LaunchError(
                f"a {what} of {'x'.join(map(str, sizes))} is empty; every size must be at least 1"
            )
    threads = block[0] * block[1] * block[2]
    if 0 < function.max_threads < threads:
        raise LaunchError(
            f"kernel {function.name} was compiled for at most {function.max_threads} "
            f"threads a block (__launch_bounds__), not {threads}"
        )


def _arguments(
    function: Function, arguments: Sequence[Array], labels: Sequence[str], memory: GlobalMemory
) -> tuple[list[Buffer], bytes]:
    """Place the buffers and lay out the parameter block."""
    if len(arguments) != len(function.params):
        raise LaunchError(
            f"kernel {function.name} takes {len(function.params)} arguments, "
            f"{len(arguments)} were given"
        )
    offsets = parameter_offsets(function)
    content = bytearray(parameter_bytes(function))
    buffers: list[Buffer] = []
    for number, (parameter, argument) in enumerate(zip(function.params, arguments, strict=True)):
        array = np.asarray(argument)
        if array.ndim:
            flat = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
            address = memory.add(labels[number], flat)
            buffers.append(Buffer(labels[number], address, flat.size, array.dtype.name, array.size))
            data = address.to_bytes(8, "little")
        else:
            data = array.tobytes()
        if len(data) != parameter.size:
            given = (
                "a buffer (a pointer of 8 bytes)"
                if array.ndim
                else (f"a scalar {array.dtype.name} of {len(data)} bytes")
            )
            raise LaunchError(
                f"argument {number + 1} of {function.name} is {parameter.size} bytes "
                f"(.{parameter.type}), {given} was given"
            )
        content[offsets[parameter.name] : offsets[parameter.name] + len(data)] = data
    return buffers, bytes(content)


def _allocates(module: Module, function: Function) -> bool:
    return any(
        i.opcode.name == "call" and "malloc" in str(i.operands)
        for f in reachable(module, function)
        for i in f.body
    )


def _run(execution: Execution, options: Options) -> int:
    """Run every batch; the number of blocks emulated."""
    total = execution.launch.blocks
    chosen = _chosen_blocks(total, options.max_blocks)
    done = 0
    for first, count in chosen:
        per_batch = blocks_per_batch(execution, options)
        for start in range(first, first + count, per_batch):
            size = min(per_batch, first + count - start)
            Machine(execution, start, size).run()
            done += size
            options.progress(done / sum(c for _, c in chosen))
    return done


def _chosen_blocks(total: int, limit: int | None) -> list[tuple[int, int]]:
    """All blocks as one range, or `limit` single ones spread evenly over the grid."""
    if limit is None or limit >= total:
        return [(0, total)]
    if limit < 1:
        raise LaunchError(f"the number of blocks to emulate must be at least 1, not {limit}")
    return [(int(b), 1) for b in np.unique(np.linspace(0, total - 1, limit).astype(np.int64))]


def blocks_per_batch(execution: Execution, options: Options) -> int:
    """How many blocks run in step: as many as the memory allows if they may wait for each other."""
    launch, program = execution.launch, execution.program
    code = execution.code(program.kernel)
    threads = -(-launch.threads_per_block // 32) * 32
    per_thread = 8 * (len(code.registers) + 16) + code.local_size
    per_block = threads * per_thread + 2 * program.shared_size
    by_memory = max(1, options.memory // max(per_block, 1))
    body = [i for f in reachable(program.module, program.kernel) for i in f.body]
    if any(map(waits_for_others, body)):
        return by_memory
    rivals = any(i.opcode.name == "atom" and "cas" in i.opcode.mods for i in body)
    return max(1, min(by_memory, (RIVAL_THREADS if rivals else BATCH_THREADS) // threads))


def waits_for_others(instruction: Instruction) -> bool:
    """Whether an instruction suggests that blocks wait for each other while they run."""
    return polls(instruction) and "shared" not in instruction.opcode.mods


def _trace(execution: Execution, emulated: int, arch: str, source: str, options: Options) -> Trace:
    launch, recorder = execution.launch, execution.recorder
    notes = []
    if emulated < launch.blocks:
        notes.append(f"{emulated} of {launch.blocks} blocks were emulated, spread over the grid")
    if recorder.full:
        notes.append(f"the record of requests was cut at {options.record_limit:,} rows")
    return Trace(
        launch,
        tuple(recorder.instructions),
        recorder.requests(),
        tuple(sorted(recorder.blocks)),
        emulated,
        execution.thread_instructions,
        execution.warp_instructions,
        tuple(b.record() for b in execution.branches.values()),
        tuple(execution.findings.values()),
        execution.printed,
        source,
        execution.program.module.text,
        arch,
        tuple(notes),
        tuple(recorder.stretches),
        recorder.path(),
        floating_operations(execution.program.module, execution.threads),
    )


def _outputs(
    memory: GlobalMemory, arguments: Sequence[Array], labels: Sequence[str]
) -> dict[str, Array]:
    out: dict[str, Array] = {}
    number = 0
    for label, argument in zip(labels, arguments, strict=True):
        array = np.asarray(argument)
        if array.ndim:
            out[label] = memory.content(number).view(array.dtype).reshape(array.shape).copy()
            number += 1
    return out
