"""mma: matrices in registers, whose layout PTX tells, multiplied by tensor cores."""

from __future__ import annotations

import numpy as np

from gpuviz.ptx.decode.matrices import (
    compute_capability,
    held,
    keeper,
    product,
    selector_of,
    understood,
    warp_rows,
)
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.formats import FORMATS, numbers
from gpuviz.ptx.tensor.fragments import quad_left, quad_right, quad_total
from gpuviz.ptx.tensor.mma import BITS, product_of, sparse_product_of
from gpuviz.ptx.tensor.sums import adder_of, floating


def _multiply(site: Site) -> Step:
    if site.mods[0].split("::")[0] == "sp":
        return _of_sparse(site)
    if "m8n8k4" in site.mods and "f64" not in site.mods:
        return _of_quad_pairs(site)
    form = understood(site, product_of, site.mods, compute_capability(site))
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
    number = selector_of(site, selector)
    form = understood(site, sparse_product_of, site.mods, compute_capability(site), number)
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
    reads = [held(site, o, shape) for o, shape in zip(operands, shapes, strict=True)]
    put = keeper(site, target, made)
    adder = adder_of(compute_capability(site), "f16", 4)

    def step(g: Group) -> None:
        a, b, c = (read(g) for read in reads)
        if start != result:
            c = numbers(c, FORMATS[start]).value.astype(np.float32).view(np.uint32)
        put(g, floating(a, b, c, ("f16", "f16", result), adder))

    return step


STEPS: dict[str, Builder] = {"mma": _multiply}
