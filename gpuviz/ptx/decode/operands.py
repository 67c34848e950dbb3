"""One instruction to decode: where it stands, and its operands made ready to read and write.

Each operand becomes one small function, built when code is decoded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpuviz.base.arrays import Array
from gpuviz.base.errors import UnsupportedError
from gpuviz.ptx.simt.code import FunctionCode, Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.special import special_register
from gpuviz.ptx.simt.values import adapter, blend, constant, container, immediate
from gpuviz.ptx.text.ir import Function, Imm, Instruction, Not, Operand, Pair, Reg, Sym, items
from gpuviz.words.language import tr

Reader = Callable[[Group], Array]
Writer = Callable[[Group, Array], None]


class UnsupportedInstruction(UnsupportedError):
    """Something that this emulator does not execute: `what`, in which instruction."""

    def __init__(self, instruction: Instruction, what: str) -> None:
        self.what = what
        super().__init__(
            tr(
                "{what} is not supported ({where}: {opcode})",
                what=tr(self.what),
                where=instruction.where,
                opcode=instruction.opcode.text,
            )
        )


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction in its place in a function of a program.

    `following` is the basic block after its own; `decoded` gives the code of any function.
    """

    instruction: Instruction
    code: FunctionCode
    program: Program
    following: int
    decoded: Callable[[Function], FunctionCode]

    @property
    def name(self) -> str:
        """The opcode without its modifiers."""
        return self.instruction.opcode.name

    @property
    def mods(self) -> tuple[str, ...]:
        """The modifiers of the opcode."""
        return self.instruction.opcode.mods

    @property
    def kind(self) -> str:
        """The last modifier: most often the type."""
        return self.mods[-1]

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands, destination first."""
        return self.instruction.operands

    def unsupported(self, what: str) -> UnsupportedInstruction:
        """The error for something of this instruction that the emulator does not execute."""
        return UnsupportedInstruction(self.instruction, what)

    def reader(self, operand: Operand, kind: str) -> Reader:
        """A function that gives the operand's value as the bits of `kind`."""
        if isinstance(operand, Reg):
            return _register_reader(operand, kind)
        if isinstance(operand, Not):
            index = operand.reg.index
            return lambda g: ~g.regs[index]
        if isinstance(operand, Imm):
            value = immediate(operand, kind)
            return lambda g: value
        if isinstance(operand, Sym):
            return self._symbol_reader(operand, kind)
        raise self.unsupported(f"this operand {operand}")

    def _symbol_reader(self, sym: Sym, kind: str) -> Reader:
        if sym.name in self.code.local_offset:
            offset = self.code.local_offset[sym.name] + sym.offset
            return lambda g: constant(g.local_base + offset, kind)
        special = special_register(self.program, sym.name)
        if special is not None:
            return lambda g: special(g, kind)
        at, cluster = self.address_of(sym.name) + sym.offset, self.program.cluster
        if cluster.size > 1 and self.program.spaces.get(sym.name) == "shared":
            dtype = container(kind)
            return lambda g: cluster.own(at, g.layout.row + g.layout.first_block, dtype)
        value = constant(at, kind)
        return lambda g: value

    def address_of(self, name: str) -> int:
        """The address of a variable, a function or a parameter, in its own space."""
        address = self.program.address_of(name)
        if address is None:
            raise self.unsupported(f"the name {name}")
        return address

    def writer(self, operand: Operand, kind: str) -> Writer:
        """A function that puts bits of `kind` into a destination, for the active lanes."""
        if isinstance(operand, Sym) and operand.name == "_":
            return lambda g, value: None
        if not isinstance(operand, Reg):
            raise self.unsupported(f"the destination {operand}")
        index, adapt = operand.index, adapter(kind, operand.type)

        def write(g: Group, value: Array) -> None:
            if adapt is not None:
                value = adapt(value)
            mask = g.mask
            g.regs[index] = value if mask is None else blend(mask, value, g.regs[index])

        return write

    def writers(self, operand: Operand, kinds: tuple[str, ...]) -> tuple[Writer, ...]:
        """Writers of a single destination, a pair `p|q`, or a braced list."""
        if isinstance(operand, Pair):
            targets: tuple[Operand, ...] = (operand.first, operand.second)
        else:
            targets = items(operand)
        return tuple(self.writer(t, k) for t, k in zip(targets, kinds, strict=False))

    def guard(self) -> Reader:
        """The predicate under which the instruction is executed; it must have one."""
        assert self.instruction.guard is not None
        return self.reader(self.instruction.guard, "pred")


Builder = Callable[[Site], Step | None]  # None: an instruction with nothing to do


def by_form(forms: Mapping[str, Builder]) -> Builder:
    """Builds what the first modifier says."""

    def build(site: Site) -> Step | None:
        form = forms.get(site.mods[0])
        if form is None:
            raise site.unsupported("this form")
        return form(site)

    return build


def _register_reader(reg: Reg, kind: str) -> Reader:
    index, adapt = reg.index, adapter(reg.type, kind)
    if adapt is None:
        return lambda g: g.regs[index]
    return lambda g: adapt(g.regs[index])
