"""mma: matrices in registers, whose layout PTX tells, multiplied by tensor cores."""

from __future__ import annotations

import re

from gpuviz.ptx.decode.matrices import BITS, compute_capability, held, keeper, product
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.fragments import left, right, total
from gpuviz.ptx.tensor.sums import adder_of

_SHAPE = re.compile(r"m(\d+)n8k(\d+)$")
# PTX ISA, "mma": which m and k there are, by the bits of an element of A.
_SHAPES = {
    64: {(8, 4), (16, 4), (16, 8), (16, 16)},
    32: {(16, 4), (16, 8)},
    16: {(16, 8), (16, 16)},
    8: {(8, 16), (16, 16), (16, 32)},
    4: {(8, 32), (16, 32), (16, 64)},
    1: {(8, 128), (16, 128), (16, 256)},
}


def _multiply(site: Site) -> Step:
    mods = site.mods
    shape = next((found for mod in mods if (found := _SHAPE.match(mod))), None)
    kinds = [mod for mod in mods if mod in BITS]
    rows, inner = (int(shape[1]), int(shape[2])) if shape else (0, 0)
    if len(kinds) != 4 or (rows, inner) not in _SHAPES[BITS[kinds[1]]]:
        raise site.unsupported("this shape of matrices")
    if mods[0] != "sync" or tuple(m for m in mods if m in ("row", "col")) != ("row", "col"):
        raise site.unsupported("this form")
    result, first, second, _ = kinds
    target, a, b, c = site.operands[:4]
    made = total(rows, BITS[result])
    sources = (
        held(site, a, left(rows, inner, BITS[first])),
        held(site, b, right(inner, 8, BITS[second])),
        held(site, c, made),
    )
    adder = adder_of(compute_capability(site), first, inner)
    multiply, put = product(site, (first, second, result), adder), keeper(site, target, made)

    def step(g: Group) -> None:
        put(g, multiply(*(read(g) for read in sources)))

    return step


STEPS: dict[str, Builder] = {"mma": _multiply}
