"""A launch made ready: its shape and arguments checked, everything placed in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.arguments import ByValue, ImageSpec, Pointer, Recipe
from gpuviz.base.arrays import Array
from gpuviz.base.errors import LaunchError
from gpuviz.compile import demangled
from gpuviz.ptx.simt.global_memory import HEAP_BYTES, GlobalMemory, Heap
from gpuviz.ptx.simt.program import Program, parameter_bytes, parameter_offsets, place, reachable
from gpuviz.ptx.text.ir import Function, Module
from gpuviz.traces.geometry import Triple
from gpuviz.traces.trace import Buffer, Launch
from gpuviz.words.language import tr

POINTER = 8  # bytes


@dataclass(frozen=True, eq=False)
class PreparedLaunch:
    """What is launched, the program placed in memory, and the heap it allocates from.

    `given` are the buffers as they were given, in the order of the launch's.
    """

    launch: Launch
    program: Program
    heap: Heap
    given: tuple[Array, ...]

    def inputs(self) -> dict[str, Array]:
        """The buffers as they were given, by name."""
        return {b.name: a for b, a in zip(self.launch.buffers, self.given, strict=True)}

    def outputs(self) -> dict[str, Array]:
        """The buffers as they are now, by name, of the types and shapes they were given in."""
        return {
            buffer.name: self.program.memory.content(n).view(a.dtype).reshape(a.shape)
            for n, (buffer, a) in enumerate(zip(self.launch.buffers, self.given, strict=True))
        }


def prepare(
    module: Module,
    kernel: str,
    grid: Triple,
    block: Triple,
    arguments: Sequence[Array | ByValue],
    dynamic_shared: int,
    names: Sequence[str],
    unset: Collection[int] = (),
    variables: Mapping[str, ByValue] | None = None,
) -> PreparedLaunch:
    """Check and place a launch; arguments, names, `unset` and variables as of
    `gpuviz.ptx.emulator.emulate`.

    Raises
    ------
    LaunchError : the arguments do not fit the parameters, or there is no such kernel
    """
    function = _kernel(module, kernel, len(arguments))
    _check_shape(function, grid, block)
    labels = [names[i] if i < len(names) else f"arg{i}" for i in range(len(arguments))]
    placer = ArgumentPlacer(unset)
    for number, argument in enumerate(arguments):
        if not isinstance(argument, ByValue) and np.ndim(argument):
            placer.argument(labels[number], np.asarray(argument), number)
    content, maps = _parameters(function, placer, labels, arguments)
    values = {
        name: placer.bytes_of(demangled(name), -1, value)
        for name, value in (variables or {}).items()
    }
    memory = placer.memory
    for at, (name, data) in maps.items():  # as the host copies them to the GPU
        address = memory.add(f"the tensor map {name}", np.frombuffer(data, np.uint8))
        content[at : at + POINTER] = address.to_bytes(POINTER, "little")
    heap = memory.add("heap", np.zeros(HEAP_BYTES, np.uint8)) if _allocates(module, function) else 0
    program = place(module, function, grid, block, dynamic_shared, memory, bytes(content), values)
    program.images.update(placer.images)
    buffers, scalars = tuple(placer.buffers), tuple(placer.scalars)
    launch = Launch(kernel, grid, block, dynamic_shared, buffers, scalars)
    return PreparedLaunch(launch, program, Heap(heap), tuple(placer.given))


def _kernel(module: Module, name: str, given: int) -> Function:
    """The kernel of a name that takes so many arguments."""
    function = module.by_name.get(name)
    if function is None or not function.entry or not function.defined:
        known = ", ".join(module.kernels) or tr("none")
        raise LaunchError(
            tr(
                "there is no kernel {name} in this module; it has: {known}",
                name=repr(name),
                known=known,
            )
        )
    if given != (n := len(function.params)):
        raise LaunchError(
            tr("kernel {name} takes {n} arguments, {given} were given", name=name, n=n, given=given)
        )
    return function


def _parameters(
    function: Function,
    placer: ArgumentPlacer,
    labels: Sequence[str],
    arguments: Sequence[Array | ByValue],
) -> tuple[bytearray, dict[int, tuple[str, bytes]]]:
    """The parameter block, and by offset the tensor maps that are to be placed after all buffers:
    those are known by their order.
    """
    content = bytearray(parameter_bytes(function))
    offsets, maps = parameter_offsets(function), dict[int, tuple[str, bytes]]()
    for number, (parameter, argument) in enumerate(zip(function.params, arguments, strict=True)):
        data, at = placer.bytes_of(labels[number], number, argument), offsets[parameter.name]
        if isinstance(argument, ByValue) and argument.tensor_map and parameter.size == POINTER:
            maps[at], data = (parameter.name, data), bytes(POINTER)
        if len(data) != parameter.size:
            raise LaunchError(
                f"argument {number + 1} of {function.name} is {parameter.size} bytes "
                f"(.{parameter.type}), {_described(argument, data)} was given"
            )
        content[at : at + len(data)] = data
    return content, maps


def _described(argument: Array | ByValue, data: bytes) -> str:
    if isinstance(argument, ByValue):
        return "a pointer of 8 bytes" if argument.pointers else f"{len(data)} bytes"
    if np.ndim(argument):
        return "a buffer (a pointer of 8 bytes)"
    return f"a scalar {np.asarray(argument).dtype.name} of {len(data)} bytes"


def _check_shape(function: Function, grid: Triple, block: Triple) -> None:
    """What no device of any kind would launch (`check_limits` of the runners knows each device)."""
    for what, sizes in ((tr("grid"), grid), (tr("block"), block)):
        if min(sizes) < 1:
            raise LaunchError(
                tr(
                    "a {what} of {sizes} is empty; every size must be at least 1",
                    what=what,
                    sizes="x".join(map(str, sizes)),
                )
            )
    cluster = function.cluster
    if min(cluster) < 1 or any(g % c for g, c in zip(grid, cluster, strict=True)):
        raise LaunchError(
            f"kernel {function.name} runs in clusters of {'x'.join(map(str, cluster))} blocks, "
            f"which do not divide a grid of {'x'.join(map(str, grid))}"
        )
    threads = block[0] * block[1] * block[2]
    if 0 < function.max_threads < threads:
        raise LaunchError(
            tr(
                "kernel {name} was compiled for at most {most} threads a block "
                "(__launch_bounds__), not {n}",
                name=function.name,
                most=function.max_threads,
                n=threads,
            )
        )


class ArgumentPlacer:
    """Buffers placed one after another, and what is passed by value with their addresses in it."""

    def __init__(self, unset: Collection[int] = ()) -> None:
        self.memory = GlobalMemory()
        self.buffers: list[Buffer] = []
        self.given: list[Array] = []
        self.scalars: list[tuple[str, int | float]] = []
        self.images: dict[int, ImageSpec] = {}
        self._unset = unset
        self._addresses: dict[int, int] = {}  # of the arguments that are buffers
        self._placed: dict[int, int] = {}  # where an array is, that may be an argument again

    def argument(self, label: str, array: Array, number: int) -> None:
        """Place argument `number`, unless that array is one already."""
        if id(array) not in self._placed:
            self._placed[id(array)] = self.buffer(label, array, number in self._unset)
        self._addresses[number] = self._placed[id(array)]

    def buffer(self, label: str, array: Array, unset: bool = False) -> int:
        """Place a buffer; its address."""
        flat = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        address = self.memory.add(label, flat)
        self.buffers.append(Buffer(label, address, flat.size, array.dtype.name, array.size, unset))
        self.given.append(array)
        return address

    def bytes_of(self, label: str, number: int, argument: Array | ByValue) -> bytes:
        """What lies in the parameter block; `number` is that of the argument."""
        if isinstance(argument, ByValue):
            return self._passed(label, argument)
        array = np.asarray(argument)
        if array.ndim:
            return self._addresses[number].to_bytes(8, "little")
        self.scalars.append((label, array.item()))
        return array.tobytes()

    def _passed(self, label: str, argument: ByValue) -> bytes:
        content = bytearray(argument.data)
        for pointer in argument.pointers:
            address = self._target(f"{label}.{pointer.name}" if pointer.name else label, pointer)
            content[pointer.at : pointer.at + 8] = address.to_bytes(8, "little")
        for name, value in argument.values:
            self.scalars.append((f"{label}.{name}" if name else label, value))
        return bytes(content)

    def _target(self, label: str, pointer: Pointer) -> int:
        if not isinstance(pointer.to, int):
            array = pointer.to.values if isinstance(pointer.to, Recipe) else pointer.to
            if (address := self._placed.get(id(array), 0)) == 0:
                address = self.buffer(label, array, pointer.unset)
                self._placed[id(array)] = address
            if pointer.image is not None:
                self.images[address] = pointer.image
            return address + pointer.offset
        if pointer.to not in self._addresses:
            raise LaunchError(
                f"{label} points into argument {pointer.to + 1}, which is no buffer of its own"
            )
        return self._addresses[pointer.to] + pointer.offset


def _allocates(module: Module, function: Function) -> bool:
    return any(
        i.opcode.name == "call" and "malloc" in str(i.operands)
        for f in reachable(module, function)
        for i in f.body
    )
