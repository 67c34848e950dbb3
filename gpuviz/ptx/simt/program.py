"""What is fixed for one launch of a module: geometry, arguments, and where its variables lie."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from gpuviz.arguments import ImageSpec
from gpuviz.base.arrays import I64
from gpuviz.base.errors import LaunchError
from gpuviz.compile import demangled
from gpuviz.processes.memory import check_memory
from gpuviz.ptx.options import Limits
from gpuviz.ptx.simt.cluster import Cluster
from gpuviz.ptx.simt.code import FunctionCode
from gpuviz.ptx.simt.global_memory import GlobalMemory, Heap
from gpuviz.ptx.simt.printf import PrintfOutput
from gpuviz.ptx.simt.spaces import BASES, CODE, ReadOnlyMemory
from gpuviz.ptx.text.ir import Addr, Function, Instruction, Module, Sym, Variable, Vec
from gpuviz.traces.geometry import Triple
from gpuviz.traces.observe import Listeners
from gpuviz.traces.trace import Launch
from gpuviz.words.language import tr

_WORKSPACE = 256  # bytes
RESERVED = 1024  # bytes of shared memory that the system has of each block (CC 8.0 and later)
SHARED_UNIT = 128  # bytes in which shared memory is given; the system's begins at a multiple
_CONSTANTS = 64 << 10  # bytes of a module's constant variables, at most
_PARAMETERS = 32764  # bytes of a kernel's parameters, at most (CC 7.0 and later, CUDA 12.1)


@dataclass
class Program:
    """A module placed in memory for one launch of `kernel`."""

    module: Module
    kernel: Function
    grid: Triple
    block: Triple
    shared_size: int
    dynamic_shared: int
    memory: GlobalMemory
    constants: ReadOnlyMemory
    parameters: ReadOnlyMemory
    addresses: dict[str, int] = field(default_factory=dict)
    parameter_offset: dict[str, int] = field(default_factory=dict)
    spaces: dict[str, str] = field(default_factory=dict)
    images: dict[int, ImageSpec] = field(default_factory=dict)  # by handle, where their texels are
    workspace: int = 0  # of barriers of the whole grid, as the driver gives to cooperative launches
    reserved: int = 0  # where the system's part of shared memory begins, where the code asks for it
    own_shared: int = 0  # bytes of shared memory without it
    # The blocks of the grid that are run as if there were no others, numbered in this order.
    gathered: I64 | None = None

    def block_numbers(self, numbers: I64) -> I64:
        """Which blocks of the grid those that are run are."""
        return numbers if self.gathered is None else self.gathered[numbers]

    @property
    def cluster(self) -> Cluster:
        """How the grid is cut into clusters."""
        return Cluster(self.grid, self.kernel.cluster)

    def address_of(self, name: str) -> int | None:
        """Address (in its own space) of a variable, a function or a parameter."""
        if name in self.parameter_offset:
            return self.parameter_offset[name]
        return self.addresses.get(name)

    def describe(self, space: str, address: int) -> str:
        """Where an address lies, relative to the nearest variable or buffer before it."""
        if space == "global":
            return self.memory.describe(address)
        inner = [v for f in self.module.functions for v in f.variables]
        sizes = {
            v.name: v.size or self.dynamic_shared
            for v in (*self.module.variables, *inner)
            if v.space == space and v.name in self.addresses
        }
        ordered = sorted(sizes, key=lambda n: self.addresses[n])
        if not ordered:
            return ""
        first = self.addresses[ordered[0]]
        if address & 1 << 31 or address < first:  # negative: seen as an offset of 32 bits
            before = (first - address) & 0xFFFFFFFF
            return tr("{n} bytes before {name}", n=before, name=demangled(ordered[0]))
        name = [n for n in ordered if self.addresses[n] <= address][-1]
        at, size = address - self.addresses[name], sizes[name]
        what = {"name": demangled(name), "size": size}
        if at >= size:
            return tr("{n} bytes past the end of {name} ({size} bytes)", n=at - size, **what)
        return tr("byte {n} of {name} ({size} bytes)", n=at, **what)

    def function_at(self, address: int) -> Function | None:
        """The function a code address belongs to."""
        number = (address - CODE) // 16
        if address % 16 or not 0 <= number < len(self.module.functions):
            return None
        return self.module.by_name[self.module.functions[number].name]


def place(
    module: Module,
    kernel: Function,
    grid: Triple,
    block: Triple,
    dynamic_shared: int,
    memory: GlobalMemory,
    arguments: bytes,
    variables: Mapping[str, bytes] | None = None,
) -> Program:
    """Lay out every variable of a module, some with other content than the text's. Seals `memory`.

    Raises
    ------
    LaunchError, InputError : the variables are larger than a device, or this machine, has room for
    """
    every, shared = _all(module, kernel), _shared_variables(module, kernel)
    addresses = {f.name: CODE + 16 * i for i, f in enumerate(module.functions)}
    _place_global([v for v in every if v.space == "global"], memory, addresses)
    constants = _place_constants([v for v in every if v.space == "const"], addresses)
    size = _place_shared(shared, dynamic_shared, addresses)
    named: set[str] = set().union(*(_named(f, None) for f in reachable(module, kernel)))
    system = any(name.startswith("%reserved_smem_offset") for name in named)
    reserved = max(1, -(-size // SHARED_UNIT)) * SHARED_UNIT if system else 0
    spaces = _spaces([*every, *shared])
    workspace = (
        memory.add("grid workspace", np.zeros(_WORKSPACE, np.uint8)) if "%envreg2" in named else 0
    )
    memory.seal()
    given = _checked(variables or {}, {v.name: v for v in every})
    contents = [(v, given.get(v.name) or relocated(v, addresses, spaces)) for v in every]
    return Program(
        module,
        kernel,
        grid,
        block,
        reserved + RESERVED if system else size,
        dynamic_shared,
        memory,
        ReadOnlyMemory("constant memory", _filled(constants, contents, addresses, memory)),
        ReadOnlyMemory("kernel parameters", arguments),
        addresses,
        parameter_offsets(kernel),
        spaces,
        workspace=workspace,
        reserved=reserved,
        own_shared=size,
    )


def _place_global(
    variables: list[Variable], memory: GlobalMemory, addresses: dict[str, int]
) -> None:
    """Place global variables among the buffers, still empty."""
    need = 2 * sum(v.size for v in variables)
    check_memory(need, "the global variables of the PTX need")
    for v in variables:
        addresses[v.name] = memory.add(demangled(v.name), np.zeros(max(v.size, 1), np.uint8))


def _place_constants(variables: list[Variable], addresses: dict[str, int]) -> int:
    """Give offsets to constant variables; bytes in all."""
    size = _place_linear(variables, addresses)
    if size > _CONSTANTS:
        raise LaunchError(
            f"the constant variables of the PTX take {size:,} bytes: there are {_CONSTANTS:,}"
        )
    return size


def _place_shared(shared: list[Variable], dynamic_shared: int, addresses: dict[str, int]) -> int:
    """Give offsets to shared variables, those without a size behind all others; bytes in all."""
    static = _place_linear([v for v in shared if v.size], addresses)
    dynamic = [v for v in shared if not v.size]
    align = max([16, *(v.align for v in dynamic)])
    start = -(-static // align) * align
    addresses |= {v.name: start for v in dynamic}
    return start + dynamic_shared if dynamic_shared or dynamic else static


def _filled(
    size: int,
    contents: list[tuple[Variable, bytes]],
    addresses: dict[str, int],
    memory: GlobalMemory,
) -> bytes:
    """Constant memory of a size; global variables get their contents, too."""
    banks = bytearray(size)
    for v, data in contents:
        at = addresses.get(v.name, 0)
        if v.space == "const":
            banks[at : at + len(data)] = data
        elif v.space == "global" and data:
            memory.write(at, data)
    return bytes(banks)


def _spaces(variables: Iterable[Variable]) -> dict[str, str]:
    """The space of each name."""
    spaces: dict[str, str] = {}
    for v in sorted(variables, key=lambda v: v.space != "global"):
        if (space := spaces.setdefault(v.name, v.space)) != v.space:
            raise LaunchError(f"{v.name} is a variable of {space} and of {v.space} memory")
    return spaces


def _checked(given: Mapping[str, bytes], known: Mapping[str, Variable]) -> Mapping[str, bytes]:
    """Contents of variables, each as long as its variable at most."""
    for name, data in given.items():
        found = known.get(name)
        if found is None or found.space not in ("global", "const"):
            there = ", ".join(demangled(v.name) for v in known.values() if v.space != "shared")
            raise LaunchError(
                f"there is no variable {demangled(name)} to set; there are: {there or 'none'}"
            )
        if len(data) > found.size:
            raise LaunchError(
                f"variable {demangled(name)} has {found.size} bytes, {len(data)} were given"
            )
    return given


def static_shared(module: Module, kernel: Function) -> int:
    """Bytes of shared memory that a kernel's variables take."""
    return _place_linear([v for v in _shared_variables(module, kernel) if v.size], {})


def _all(module: Module, kernel: Function) -> list[Variable]:
    inner = [v for f in module.functions for v in f.variables if v.space in ("global", "const")]
    return [*module.variables, *inner, *[v for v in kernel.variables if v.space == "shared"]]


def reachable(module: Module, kernel: Function) -> list[Function]:
    """The kernel and every function it may call: named in code, or in the variables code names."""
    variables = {v.name: v for v in _all(module, kernel)}
    seen, left = {kernel.name}, [kernel.name]
    found: list[Function] = []
    while left:
        name = left.pop()
        function = module.by_name.get(name)
        if function is not None and function.defined:
            found.append(function)
        fresh = _named(function, variables.get(name)) - seen
        seen |= fresh
        left += sorted(fresh)
    return found


def _named(function: Function | None, variable: Variable | None) -> set[str]:
    """The names in a function's code and in a variable's initial value."""
    names = {r.symbol for r in variable.relocations} if variable else set()
    for instruction in function.body if function else ():
        names |= symbols(instruction)
    return names


def _shared_variables(module: Module, kernel: Function) -> list[Variable]:
    """Shared variables that a launch of the kernel needs: those its code mentions."""
    functions = reachable(module, kernel)
    own = [v for f in functions for v in f.variables if v.space == "shared"]
    named: set[str] = set().union(*(_named(f, None) for f in functions))
    return [v for v in module.variables if v.space == "shared" and v.name in named] + own


def symbols(instruction: Instruction) -> set[str]:
    """Every name among an instruction's operands, in addresses and lists too."""
    left: list[object] = list(instruction.operands)
    found: set[str] = set()
    while left:
        operand = left.pop()
        if isinstance(operand, Vec):
            left += operand.items
        elif isinstance(operand, Addr):
            left.append(operand.base)
        elif isinstance(operand, Sym):
            found.add(operand.name)
    return found


def _place_linear(variables: list[Variable], addresses: dict[str, int]) -> int:
    """Give offsets from 0 in order, each aligned; the total size."""
    top = 0
    for variable in variables:
        top = -(-top // max(variable.align, 1)) * max(variable.align, 1)
        addresses[variable.name] = top
        top += variable.size
    return top


def relocated(variable: Variable, addresses: dict[str, int], spaces: dict[str, str]) -> bytes:
    """A variable's initial bytes with the addresses of other symbols filled in."""
    data = bytearray(variable.initial)
    for relocation in variable.relocations:
        if relocation.symbol not in addresses:
            raise LaunchError(
                f"{variable.name} holds the address of {relocation.symbol}, "
                "which this module does not define"
            )
        address = addresses[relocation.symbol] + relocation.addend
        if relocation.generic:
            address += BASES[spaces.get(relocation.symbol, "global")]
        part = address.to_bytes(8, "little")[relocation.shift // 8 :][: relocation.size]
        data[relocation.offset : relocation.offset + len(part)] = part
    return bytes(data)


def parameter_offsets(function: Function) -> dict[str, int]:
    """Byte offset of each parameter in the parameter block (natural alignment)."""
    offsets: dict[str, int] = {}
    top = 0
    for variable in function.params:
        top = -(-top // max(variable.align, 1)) * max(variable.align, 1)
        offsets[variable.name] = top
        top += variable.size
    return offsets


def parameter_bytes(function: Function) -> int:
    """Size of the parameter block; LaunchError when it is larger than any can be."""
    offsets = parameter_offsets(function)
    size = max((offsets[p.name] + p.size for p in function.params), default=0)
    if size > _PARAMETERS:
        raise LaunchError(
            f"the parameters of {function.name} take {size:,} bytes: there are {_PARAMETERS:,}"
        )
    return size


POLL_SECONDS = 0.05


@dataclass
class Execution:
    """The program, who listens, what was executed so far, output and heap of one launch.

    `codes` are the functions decoded so far, by name: it grows while the launch runs. Where it
    `goes_on`, an access outside of all buffers is a finding and ends nothing.
    """

    program: Program
    launch: Launch
    kernel: FunctionCode
    codes: Mapping[str, FunctionCode]
    told: Listeners
    heap: Heap
    limits: Limits
    goes_on: bool = False
    printed: PrintfOutput = field(default_factory=PrintfOutput)
    thread_instructions: int = 0
    warp_instructions: int = 0
    _next_poll: float = 0.0

    def spend(self, threads: int, warps: int, count: int, at: Instruction) -> None:
        """Count a block of `count` instructions, `at` first; see every few milliseconds whether to
        stop.
        """
        self.thread_instructions += count * threads
        self.warp_instructions += count * warps
        now = time.monotonic()
        if now >= self._next_poll or self.limits.instructions is not None:
            self._next_poll = now + POLL_SECONDS
            if self.limits.exceeded(lambda: self.thread_instructions):
                text = self.program.module.line_text(at.ptx_line)
                loop = f", still in the loop at {at.where} ({text})"
                raise self.limits.error(self.thread_instructions, loop)

    def forget_places(self) -> None:
        """Memory has moved: no function may use cell indices that it keeps."""
        for code in self.codes.values():
            code.forget_places()
