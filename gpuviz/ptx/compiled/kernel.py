"""All that is known of a kernel before code is written for it."""

import hashlib
import pickle
import threading
from dataclasses import dataclass, field, replace
from functools import cached_property

from gpuviz.ptx.arithmetic.kinds import bits_of
from gpuviz.ptx.arithmetic.ops import operation
from gpuviz.ptx.compiled.accesses import Accesses, regions
from gpuviz.ptx.compiled.graph import Graph, Op, graph_of, live_in, written
from gpuviz.ptx.compiled.memory_map import SCALARS
from gpuviz.ptx.compiled.uniformity import Threads, Uniformity
from gpuviz.ptx.compiled.writer import Bailout, Value
from gpuviz.ptx.decode.decoder import problems
from gpuviz.ptx.simt.global_memory import GlobalMemory
from gpuviz.ptx.simt.program import Program, reachable, symbols
from gpuviz.ptx.simt.spaces import ReadOnlyMemory
from gpuviz.ptx.simt.values import immediate
from gpuviz.ptx.text.ir import Imm, Operand, Reg
from gpuviz.ptx.text.isa import targets
from gpuviz.traces.trace import LANES


@dataclass(eq=False)
class Kernel:
    """A kernel and what was found out about it.

    `symbols` are names whose address is looked up; `scalars`, `vectors` and `entries` are places in
    the frame of a warp. `key` is a digest of everything that its code depends on.
    """

    program: Program
    graph: Graph
    live: list[int]
    shapes: Uniformity
    threads: Threads
    accesses: Accesses
    loose: frozenset[int]
    flat: frozenset[int]
    vectors: dict[int, int] = field(default_factory=dict)
    scalars: dict[int, int] = field(default_factory=dict)
    entries: int = 0  # where a frame keeps the latest patterns
    frame_size: int = 0
    symbols: dict[str, int] = field(default_factory=dict)
    key: str = ""

    def bits(self, register: int) -> int:
        """The width of a register; 1: a predicate."""
        return bits_of(self.graph.registers[register])

    @staticmethod
    def numbers(found: int) -> list[int]:
        """The registers of a bit set."""
        return [r for r in range(found.bit_length()) if found >> r & 1]

    def known(self, register: int, value: Value) -> Value:
        """A value of a register, with what is known of all its values."""
        return replace(value, loose=register in self.loose, flat=register in self.flat)

    # --- functions: of each region for whole warps, for some lanes of a warp, then for parted lanes

    @cached_property
    def regions(self) -> dict[int, frozenset[int]]:
        """What may run between two barriers, by the block it starts with."""
        return regions(self.graph)

    @cached_property
    def region_of(self) -> dict[int, int]:
        """The number of a region by the block it starts with."""
        return {start: number for number, start in enumerate(self.regions)}

    def function(self, region: int, whole: bool) -> int:
        """The number of the function for a region."""
        return region + (0 if whole else len(self.regions))

    @property
    def divergent(self) -> int:
        """The number of the function for parted lanes."""
        return 2 * len(self.regions)

    @property
    def always_some(self) -> bool:
        """Whether one kind of code serves all warps: whole ones would have no patterns anyway."""
        x, y, z = self.program.block
        partial = bool(x * y * z % LANES) and not self.exchanges
        return partial and self.threads.tids[0] is None

    @cached_property
    def exchanges(self) -> bool:
        """Whether lanes read registers of others, which must not run on in those that have left."""
        ops = (op for block in self.graph.blocks for op in block.ops)
        return any(isinstance(op, Op) and op.at.opcode.name == "shfl" for op in ops)


def kernel_of(
    program: Program,
    pointers: dict[int, str],
    apart: frozenset[int] = frozenset(),
    epochs: bool = True,
) -> Kernel:
    """Look at a kernel, unless that was done for an earlier launch.

    `pointers` name the buffers by the offset of their parameter; `apart` are instructions that are
    to be computed lane by lane; without `epochs` no cell is expected to be written twice.

    Raises
    ------
    Bailout : there is something in it that is left to the NumPy engine
    """
    key = _key(program, pointers, apart, epochs)
    with _LOCK:
        if key not in _KNOWN:
            for problem in problems(program):  # told of when it is executed, if it is
                raise Bailout(f"{problem.opcode}: {problem.why}")
            if len(_KNOWN) >= _MOST_KNOWN:
                _KNOWN.pop(next(iter(_KNOWN)))
            nothing = ReadOnlyMemory("", b"")
            bare = replace(program, memory=GlobalMemory(), constants=nothing, parameters=nothing)
            _KNOWN[key] = replace(_looked_at(bare, pointers, apart, epochs), key=key)
        return replace(_KNOWN[key], program=program)


_KNOWN: dict[str, Kernel] = {}  # of programs without what lies in their memory
_MOST_KNOWN = 64
_LOCK = threading.Lock()


def _looked_at(
    program: Program, pointers: dict[int, str], apart: frozenset[int], epochs: bool
) -> Kernel:
    graph = graph_of(program)
    names = {
        n for f in reachable(program.module, program.kernel) for i in f.body for n in symbols(i)
    }
    live, threads = live_in(graph), Threads.of(program.block)
    shapes = Uniformity(graph, program, threads, apart, live[0])
    accesses = Accesses(graph, program, pointers, epochs)
    loose, flat = _settled(graph, _loose), _settled(graph, _flat)
    kernel = Kernel(program, graph, live, shapes, threads, accesses, loose, flat)
    placed = (name for name in sorted(names) if name in program.addresses)
    kernel.symbols = {name: number for number, name in enumerate(placed)}
    used = 0
    for number in live:
        used |= number
    registers = kernel.numbers(used)
    at = SCALARS
    for register in registers:
        kernel.scalars[register] = at
        at += 8
    at = -(-at // 64) * 64
    for register in sorted(registers, key=lambda r: -kernel.bits(r)):
        kernel.vectors[register] = at
        at += 4 if kernel.bits(register) == 1 else 4 * kernel.bits(register)
    kernel.entries = -(-at // 64) * 64
    kernel.frame_size = -(-(kernel.entries + 8 * len(accesses.all)) // 64) * 64
    return kernel


def _key(program: Program, pointers: dict[int, str], apart: frozenset[int], epochs: bool) -> str:
    code = [
        (f.name, f.registers, f.body, f.labels, f.tables, f.params, f.returns, f.variables)
        for f in reachable(program.module, program.kernel)
    ]
    inner = ("shared", "const")
    placed = [(n, program.addresses.get(n) if s in inner else s) for n, s in program.spaces.items()]
    sizes = program.own_shared, program.dynamic_shared, program.reserved
    fixed = (program.block, *sizes, program.workspace)
    found = pickle.dumps((code, placed, fixed, program.parameter_offset, pointers, epochs))
    return hashlib.sha256(found + repr(sorted(apart)).encode()).hexdigest()


def _settled(graph: Graph, holds) -> frozenset[int]:  # type: ignore[no-untyped-def]
    """The f32 registers all of whose values have a property, given that those it names have."""
    found = {r for r, kind in enumerate(graph.registers) if kind in ("f32", "b32")}
    writes = [(op, r) for block in graph.blocks for op in block.ops for r in written(op)]
    changed = True
    while changed:
        changed = False
        for op, register in writes:
            if register in found and not (isinstance(op, Op) and holds(op, found)):
                found.discard(register)
                changed = True
    return frozenset(found)


_ROUNDED = frozenset(
    {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "neg", "abs", "min", "max"}
)
_COARSE = frozenset({"rsqrt", "sin", "cos", "ex2", "lg2", "tanh"})


def _single(op: Op) -> bool:
    mods = op.at.opcode.mods
    return bool(mods) and mods[-1] == "f32" and operation(op.at.opcode) is not None


def _source(operand: Operand, op: Op, found: set[int], small: bool) -> bool:
    if isinstance(operand, Reg):
        return op.place.register(operand) in found
    if not isinstance(operand, Imm):
        return False
    magnitude = int(immediate(operand, "f32")[0]) & 0x7FFFFFFF
    return (magnitude == 0 or magnitude >= 0x00800000) if small else magnitude <= 0x7F800000


def _moved(op: Op, found: set[int], small: bool) -> bool:
    name, operands = op.at.opcode.name, op.at.operands
    if name == "mov" and len(targets(op.at)) == 1 and op.at.opcode.mods[-1] in ("f32", "b32"):
        return _source(operands[1], op, found, small)
    if name == "selp" and op.at.opcode.mods[-1] in ("f32", "b32"):
        return all(_source(o, op, found, small) for o in operands[1:3])
    return False


def _loose(op: Op, found: set[int]) -> bool:
    """Its NaN may be any NaN until somebody looks at the bits."""
    if _moved(op, found, False):
        return True
    return op.at.opcode.name in (_ROUNDED | _COARSE) and _single(op)


def _flat(op: Op, found: set[int]) -> bool:
    """It is never subnormal."""
    if _moved(op, found, True):
        return True
    return op.at.opcode.name in (_ROUNDED | _COARSE) and _single(op) and "ftz" in op.at.opcode.mods
