"""What a PTX module says, as frozen records."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Opcode:
    """`fma.rn.ftz.f32` is the name `fma` with the modifiers `("rn", "ftz", "f32")`."""

    name: str
    mods: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Opcode:
        """Split at the dots; modifiers such as `shared::cta` stay whole."""
        name, *mods = text.split(".")
        return cls(name, tuple(mods))

    @property
    def text(self) -> str:
        """The opcode as PTX writes it."""
        return ".".join((self.name, *self.mods))


@dataclass(frozen=True)
class Reg:
    """A virtual register: `index` in its function's register file, PTX `type` (`b32`, `pred`)."""

    index: int
    type: str
    name: str


@dataclass(frozen=True)
class Imm:
    """A literal. `form` is "int" (value), "f32" or "f64" (value holds the bits)."""

    value: int
    form: str = "int"


@dataclass(frozen=True)
class Sym:
    """A name (variable, function, label, special register), with a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Addr:
    """An address operand `[base + offset]`; `base` None is an absolute address."""

    base: Reg | Sym | None
    offset: int = 0


@dataclass(frozen=True)
class Vec:
    """A braced or parenthesised list of operands."""

    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Pair:
    """Two destinations `p|q`; either may be the sink `_` (Sym)."""

    first: Operand
    second: Operand


@dataclass(frozen=True)
class Not:
    """A negated predicate `!p`."""

    reg: Reg


Operand = Reg | Imm | Sym | Addr | Vec | Pair | Not


def items(operand: Operand) -> tuple[Operand, ...]:
    """The operands of a braced list, or the one there is."""
    return operand.items if isinstance(operand, Vec) else (operand,)


@dataclass(frozen=True)
class Instruction:
    """One PTX instruction. `pc` counts over the module; `line` is the CUDA line, 0 when unknown."""

    pc: int
    opcode: Opcode
    operands: tuple[Operand, ...]
    guard: Reg | Not | None
    line: int
    ptx_line: int

    @property
    def where(self) -> str:
        """Place for messages: PTX line and, when known, CUDA line."""
        cuda = f", CUDA line {self.line}" if self.line else ""
        return f"PTX line {self.ptx_line}{cuda}"


@dataclass(frozen=True)
class Relocation:
    """`size` bytes at `offset` of a variable hold the (generic) address of `symbol` + `addend`.

    Of that address the lowest `shift` bits are dropped: one byte of it may stand alone.
    """

    offset: int
    size: int
    symbol: str
    addend: int
    generic: bool
    shift: int = 0


@dataclass(frozen=True)
class Variable:
    """A declared variable: space `global`, `const`, `shared`, `local` or `param`.

    `size` 0 with `extern` is dynamic shared memory.
    """

    name: str
    space: str
    type: str
    align: int
    size: int
    initial: bytes = b""
    relocations: tuple[Relocation, ...] = ()
    extern: bool = False


@dataclass(frozen=True)
class Function:
    """An entry (kernel) or device function.

    `labels` map a name to the index in `body`; `tables` map a name to its branch targets;
    `registers` lists the register types by index; `cluster` is how many blocks form a cluster.
    """

    name: str
    entry: bool
    params: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    registers: tuple[str, ...] = ()
    body: tuple[Instruction, ...] = ()
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    variables: tuple[Variable, ...] = ()
    max_threads: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)

    @property
    def defined(self) -> bool:
        """False for a mere declaration."""
        return bool(self.body)


@dataclass(frozen=True)
class Module:
    """A parsed PTX text."""

    version: str
    target: str
    functions: tuple[Function, ...]
    variables: tuple[Variable, ...]
    text: str

    @cached_property
    def by_name(self) -> dict[str, Function]:
        """Functions by name; a definition wins over a declaration."""
        ordered = sorted(self.functions, key=lambda f: f.defined)
        return {f.name: f for f in ordered}

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the entries, in the order of the text."""
        return tuple(dict.fromkeys(f.name for f in self.functions if f.entry and f.defined))

    def line_text(self, ptx_line: int) -> str:
        """One line of the PTX text, stripped."""
        lines = self.text.splitlines()
        return lines[ptx_line - 1].strip() if 0 < ptx_line <= len(lines) else ""
