"""mma: matrices in registers, whose layout PTX tells, multiplied by tensor cores."""

from __future__ import annotations

import numpy as np

from gpuviz.ptx.decode.matrices import compute_capability, held, items, keeper, product, warp_rows
from gpuviz.ptx.decode.operands import Builder, Reader, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.formats import FORMATS, numbers
from gpuviz.ptx.tensor.forms import BITS, product_of
from gpuviz.ptx.tensor.quad_pairs import quad_left, quad_right, quad_total
from gpuviz.ptx.tensor.sums import adder_of, floating
from gpuviz.ptx.text.ir import Operand


def _multiply(site: Site) -> Step:
    if any(mod.split("::")[0] == "sp" for mod in site.mods):
        raise site.unsupported("a sparse matrix")
    if "m8n8k4" in site.mods and "f64" not in site.mods:
        return _of_quad_pairs(site)
    try:
        form = product_of(site.mods, compute_capability(site))
    except ValueError as reason:
        raise site.unsupported(str(reason)) from None
    target, *sources = site.operands[:4]
    fragments = form.left, form.right, form.total
    reads = [held(site, o, x) for o, x in zip(sources, fragments, strict=True)]
    multiply, put = product(form.rule), keeper(site, target, form.total)

    def step(g: Group) -> None:
        put(g, multiply(*(read(g) for read in reads)))

    return step


def _of_quad_pairs(site: Site) -> Step:
    """Four products of halves at once."""
    layouts = [mod == "row" for mod in site.mods if mod in ("row", "col")]
    kinds = [mod for mod in site.mods if mod in ("f16", "f32")]
    allowed = (["f16"] * 4, ["f32", "f16", "f16", "f16"], ["f32", "f16", "f16", "f32"])
    if len(layouts) != 2 or kinds not in allowed:
        raise site.unsupported("this form")
    result, start = kinds[0], kinds[3]
    made, first = quad_total(BITS[result]), quad_total(BITS[start])
    shapes = quad_left(layouts[0]), quad_right(layouts[1]), first
    target, *operands = site.operands[:4]
    sources = [
        _readers(site, operand, shape.registers)
        for operand, shape in zip(operands, shapes, strict=True)
    ]
    puts = site.writers(target, ("b32",) * made.registers)
    adder = adder_of(compute_capability(site), "f16", 4)

    def step(g: Group) -> None:
        a, b, c = (
            shape.matrix(np.stack([warp_rows(g, read(g)) for read in reads], 2))
            for shape, reads in zip(shapes, sources, strict=True)
        )
        if start != result:
            c = numbers(c, FORMATS[start]).value.astype(np.float32).view(np.uint32)
        held = made.hold(floating(a, b, c, ("f16", "f16", result), adder))
        for number, put in enumerate(puts):
            put(g, g.layout.from_warp_rows(held[:, :, number]))

    return step


def _readers(site: Site, operand: Operand, count: int) -> tuple[Reader, ...]:
    registers = items(operand)
    if len(registers) != count:
        raise site.unsupported(f"a matrix in {len(registers)} registers")
    return tuple(site.reader(one, "b32") for one in registers)


STEPS: dict[str, Builder] = {"mma": _multiply}
