"""Rewrites of which thread does what, and of the launch's shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuviz.launch.job import Job
from gpuviz.rewrites.kernel_text import INDICES, KernelText, Rewrite, line_of
from gpuviz.traces.geometry import Triple

if TYPE_CHECKING:
    from tree_sitter import Node

_ROWS = (64, 128, 256, 512, 1024)
_SHAPES = ((32, 4), (32, 8), (16, 16), (64, 4), (32, 16), (32, 32), (128, 2))
_STRIDES = ("(gridDim.x * blockDim.x)", "blockDim.x")


def swap(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """x and y change places, in the kernel and in the launch: lanes walk along the other way."""
    edits = kernel.index_edits(kernel.body, owners=INDICES)
    if any(edit[2].endswith("x") for edit in edits):
        (gx, gy, gz), (bx, by, bz) = job.grid, job.block
        text, line = kernel.edited(edits), line_of(kernel.node)
        yield Rewrite("swap", {}, line, text, (gy, gx, gz), (by, bx, bz))


def interleave(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """A thread's own stretch `t * n + j` becomes every so-manieth element."""
    for loop in kernel.nodes("for_statement"):
        counted = re.match(
            r"for\s*\(\s*\w+[\w\s]*?(\w+)\s*=\s*0\s*;\s*\1\s*<\s*([^;&|]+?)\s*;", kernel.text(loop)
        )
        for stride in _STRIDES if counted else ():
            assert counted is not None
            edits = [
                (one.start_byte, one.end_byte, f"({start} + {counted[1]} * {stride})")
                for one in kernel.nodes("binary_expression", within=loop)
                if (start := _stretch(kernel, one, counted[1], counted[2]))
            ]
            if edits:
                apart = {"stride": stride.strip("()")}
                yield Rewrite("interleave", apart, line_of(loop), kernel.edited(edits))


def _stretch(kernel: KernelText, node: Node, counter: str, count: str) -> str:
    """What is multiplied by the count in `start * count + counter`; "" for anything else."""
    if "+" not in [child.type for child in node.children]:
        return ""
    sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    for one, other in (sides, sides[::-1]):
        if one is None or other is None or kernel.text(other) != counter:
            continue
        product = _declared(kernel, one) if one.type == "identifier" else one
        while product is not None and product.type == "parenthesized_expression":
            product = product.named_children[0]
        if (
            product is None
            or product.type != "binary_expression"
            or "*" not in [child.type for child in product.children]
        ):
            continue
        factors = [product.child_by_field_name(side) for side in ("left", "right")]
        texts = [kernel.text(factor) if factor is not None else "" for factor in factors]
        if count in texts:
            return texts[1 - texts.index(count)]
    return ""


def _declared(kernel: KernelText, name: Node) -> Node | None:
    """What a variable was declared as."""
    for one in kernel.nodes("init_declarator"):
        made = one.child_by_field_name("declarator")
        if made is not None and kernel.text(made) == kernel.text(name):
            return one.child_by_field_name("value")
    return None


def shapes(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """Blocks of other shapes, as many of them as cover the same threads."""
    _, y, z = job.block
    if z != 1 or job.grid[2] != 1:
        return
    wanted: tuple[Triple, ...] = (
        tuple((n, 1, 1) for n in _ROWS) if y == 1 else tuple((*shape, 1) for shape in _SHAPES)
    )
    text, line = kernel.edited(()), line_of(kernel.node)
    for block in wanted:
        if block != job.block:
            gx, gy = _covering(job, block)
            sizes = {"x": block[0], "y": block[1]}
            yield Rewrite("block shape", sizes, line, text, (gx, gy, 1), block)


def _covering(job: Job, block: Triple) -> tuple[int, int]:
    """Blocks along x and y that have at least the threads of the launch."""
    x, y = (-(-job.grid[axis] * job.block[axis] // block[axis]) for axis in (0, 1))
    return x, y
