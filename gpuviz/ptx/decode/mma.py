"""mma: matrices in registers, whose layout PTX tells, multiplied by tensor cores."""

from __future__ import annotations

import numpy as np

from gpuviz.ptx.decode.matrices import compute_capability, held, items, keeper, product, warp_rows
from gpuviz.ptx.decode.operands import Builder, Reader, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.formats import FORMATS, numbers
from gpuviz.ptx.tensor.fragments import quad_left, quad_right, quad_total
from gpuviz.ptx.tensor.mma import BITS, product_of, sparse_product_of
from gpuviz.ptx.tensor.sums import adder_of, floating
from gpuviz.ptx.text.ir import Imm, Operand


def _multiply(site: Site) -> Step:
    if site.mods[0].split("::")[0] == "sp":
        return _of_sparse(site)
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


def _of_sparse(site: Site) -> Step:
    """A holds the half of its elements that metadata tell the places of."""
    *matrices, metadata, selector = site.operands[:6]
    if not isinstance(selector, Imm):
        raise site.unsupported("a sparsity selector that is not a constant")
    try:
        form = sparse_product_of(site.mods, compute_capability(site), selector.value)
    except ValueError as reason:
        raise site.unsupported(str(reason)) from None
    target, *sources = matrices
    fragments = form.product.left, form.product.right, form.product.total
    a, b, c = (held(site, o, x) for o, x in zip(sources, fragments, strict=True))
    told, multiply = site.reader(metadata, "b32"), product(form.product.rule)
    put = keeper(site, target, form.product.total)

    def step(g: Group) -> None:
        met = form.metadata.met(b(g), warp_rows(g, told(g)))
        rows, start = a(g), c(g)  # each row of A with a B of its own
        made = multiply(
            rows.reshape(-1, 1, rows.shape[2]),
            met.reshape(-1, *met.shape[2:]),
            start.reshape(-1, 1, start.shape[2]),
        )
        put(g, made.reshape(start.shape))

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
