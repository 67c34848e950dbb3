"""Matrices that a warp holds in registers: read, multiplied, written."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.ptx.decode.operands import Reader, Site
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor import sums
from gpuviz.ptx.tensor.fragments import Fragment, QuadPairs
from gpuviz.ptx.tensor.mma import BITS, Rule
from gpuviz.ptx.text.ir import Imm, Module, Operand, items

Multiply = Callable[[Array, Array, Array], Array]
Made = TypeVar("Made")
_Fragment = Fragment | QuadPairs


def warp_rows(g: Group, value: Array) -> Array:
    """A value as (N, 32), one row a warp."""
    return g.layout.warp_rows(g.layout.full(value))


@dataclass(frozen=True)
class RegisterMatrix:
    """A matrix in registers: how to read them, and what they hold."""

    readers: tuple[Reader, ...]
    fragment: _Fragment

    def __call__(self, g: Group) -> Array:
        """(N, rows, columns), the bits of its elements."""
        return self.fragment.matrix(np.stack([warp_rows(g, read(g)) for read in self.readers], 2))


def held(site: Site, operand: Operand, fragment: _Fragment, spare: bool = False) -> RegisterMatrix:
    """The matrix in an operand's registers; there may be `spare` ones behind them."""
    registers = registers_of(site, operand, fragment, spare)[: fragment.registers]
    kind = f"b{fragment.container}"
    return RegisterMatrix(tuple(site.reader(o, kind) for o in registers), fragment)


def keeper(
    site: Site, operand: Operand, fragment: _Fragment, spare: bool = False
) -> Callable[[Group, Array], None]:
    """Puts matrices (N, rows, columns) into an operand's registers; spare ones hold them again."""
    registers = registers_of(site, operand, fragment, spare)
    puts = site.writers(operand, (f"b{fragment.container}",) * len(registers))

    def put(g: Group, matrices: Array) -> None:
        made = fragment.hold(matrices)
        for number, write in enumerate(puts):
            write(g, g.layout.from_warp_rows(made[:, :, number % fragment.registers]))

    return put


def registers_of(
    site: Site, operand: Operand, fragment: _Fragment, spare: bool = False
) -> tuple[Operand, ...]:
    """As many as hold a matrix; there may be `spare` ones behind them."""
    found = items(operand)
    if len(found) < fragment.registers or (len(found) > fragment.registers and not spare):
        raise site.unsupported(f"a matrix in {len(found)} registers")
    return found


def product(rule: Rule) -> Multiply:
    """What is made of the bits of A, B and C."""
    a, b, result = rule.kinds
    if a == "f64":
        return sums.doubles
    if a == "b1":
        return partial(sums.single_bits, both=rule.both)
    if result == "s32":
        signed = a.startswith("s"), b.startswith("s")
        return partial(sums.integers, signed=signed, bits=BITS[a], clamp=rule.clamp)
    return partial(sums.floating, kinds=rule.kinds, adder=rule.adder)


def understood(site: Site, make: Callable[..., Made], *given: object) -> Made:
    """What is made of modifiers; UnsupportedError where nothing is meant."""
    try:
        return make(*given)
    except ValueError as reason:
        raise site.unsupported(str(reason)) from None


def selector_of(site: Site, operand: Operand) -> int:
    """The sparsity selector of a matrix."""
    if not isinstance(operand, Imm):
        raise site.unsupported("a sparsity selector that is not a constant")
    return operand.value


def compute_capability(site: Site) -> int:
    """The one that the PTX is for, times ten."""
    return capability_of(site.program.module)


def capability_of(module: Module) -> int:
    """The one that a module is for, times ten."""
    return int(re.sub(r"\D", "", module.target) or 0)
