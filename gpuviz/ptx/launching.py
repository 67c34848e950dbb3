"""A launch made ready: its shape and arguments checked, everything placed in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import Array
from gpuviz.errors import LaunchError
from gpuviz.ptx.simt.global_memory import GlobalMemory
from gpuviz.ptx.simt.heap import HEAP_BYTES, Heap
from gpuviz.ptx.simt.program import Program, parameter_bytes, parameter_offsets, place, reachable
from gpuviz.ptx.text.ir import Function, Module
from gpuviz.trace import Buffer, Launch

Triple = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Ready:
    """What is launched, the program placed in memory, and the heap it allocates from."""

    launch: Launch
    program: Program
    heap: Heap

    def outputs(self, arguments: Sequence[Array]) -> dict[str, Array]:
        """The buffers as they are now, by name, of the types and shapes of the arguments."""
        buffers = [array for array in map(np.asarray, arguments) if array.ndim]
        arrays = {id(array): array for array in buffers}.values()
        return {
            buffer.name: self.program.memory.content(n).view(a.dtype).reshape(a.shape)
            for n, (buffer, a) in enumerate(zip(self.launch.buffers, arrays, strict=True))
        }


def ready(
    module: Module,
    kernel: str,
    grid: Triple,
    block: Triple,
    arguments: Sequence[Array],
    dynamic_shared: int,
    names: Sequence[str],
    unset: Collection[int] = (),
) -> Ready:
    """Check and place a launch; arguments, names and `unset` as of `gpuviz.ptx.emulator.emulate`.

    Raises
    ------
    LaunchError : the arguments do not fit the parameters, or there is no such kernel
    """
    function = module.by_name.get(kernel)
    if function is None or not function.entry or not function.defined:
        raise LaunchError(
            f"there is no kernel {kernel!r} in this module; it has: "
            f"{', '.join(module.kernels) or 'none'}"
        )
    _check_shape(function, grid, block)
    memory = GlobalMemory()
    labels = [names[i] if i < len(names) else f"arg{i}" for i in range(len(arguments))]
    buffers, content = _place_arguments(function, arguments, labels, memory, unset)
    heap = memory.add("heap", np.zeros(HEAP_BYTES, np.uint8)) if _allocates(module, function) else 0
    program = place(module, function, grid, block, dynamic_shared, memory, content)
    scalars = tuple(
        (label, array.item())
        for label, array in zip(labels, map(np.asarray, arguments), strict=True)
        if array.ndim == 0
    )
    launch = Launch(kernel, grid, block, dynamic_shared, tuple(buffers), scalars)
    return Ready(launch, program, Heap(heap))


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


def _place_arguments(
    function: Function,
    arguments: Sequence[Array],
    labels: Sequence[str],
    memory: GlobalMemory,
    unset: Collection[int],
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
    placed: dict[int, int] = {}  # where an array is, that may be an argument again
    for number, (parameter, argument) in enumerate(zip(function.params, arguments, strict=True)):
        array = np.asarray(argument)
        if array.ndim and (address := placed.get(id(array), 0)):
            data = address.to_bytes(8, "little")
        elif array.ndim:
            flat = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
            address = placed[id(array)] = memory.add(labels[number], flat)
            label, dtype, open_ = labels[number], array.dtype.name, number in unset
            buffers.append(Buffer(label, address, flat.size, dtype, array.size, open_))
            data = address.to_bytes(8, "little")
        else:
            data = array.tobytes()
        if len(data) != parameter.size:
            given = (
                "a buffer (a pointer of 8 bytes)"
                if array.ndim
                else f"a scalar {array.dtype.name} of {len(data)} bytes"
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
