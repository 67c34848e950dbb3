"""mma: matrices in registers, whose layout PTX tells, multiplied by tensor cores."""

from __future__ import annotations

from gpuviz.ptx.decode.matrices import compute_capability, held, keeper, product
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.forms import product_of


def _multiply(site: Site) -> Step:
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


STEPS: dict[str, Builder] = {"mma": _multiply}
