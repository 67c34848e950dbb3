"""Rewrites that tell the compiler what it cannot see."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from gpuviz.launch.job import Job
from gpuviz.rewrites.kernel_text import KernelText, Rewrite, line_of

_MANY = 64  # registers of a thread: with more, few warps fit


def restrict(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """Pointers that never lead to the same place."""
    edits = []
    for one in kernel.nodes("pointer_declarator", within=kernel.node):
        name = one.child_by_field_name("declarator")
        if one.parent is None or one.parent.type != "parameter_declaration" or name is None:
            continue
        if name.type == "identifier" and "__restrict" not in kernel.text(one):
            edits.append((name.start_byte, name.start_byte, "__restrict__ "))
    if edits:
        yield Rewrite("restrict", {}, line_of(kernel.node), kernel.edited(edits))


def unroll(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """Innermost loops, by four."""
    for loop in kernel.nodes("for_statement"):
        inner = loop.child_by_field_name("body")
        before = kernel.source[: loop.start_byte].rstrip().rpartition(b"\n")[2]
        if inner is None or any(kernel.nodes("for_statement", within=inner)):
            continue
        if b"#pragma" in before:
            continue
        edit = loop.start_byte, loop.start_byte, "\n    #pragma unroll 4\n    "
        yield Rewrite("unroll", {}, line_of(loop), kernel.edited([edit]))


def bounds(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """How large blocks are, where registers are many or spilled."""
    taken, name = job.resources, kernel.node.child_by_field_name("declarator")
    head = kernel.source[kernel.node.start_byte : kernel.body.start_byte]
    if taken is None or name is None or b"__launch_bounds__" in head:
        return
    if taken.registers > _MANY or taken.spill_stores_bytes:
        threads = prod(job.block)
        edit = name.start_byte, name.start_byte, f"__launch_bounds__({threads}) "
        yield Rewrite("launch bounds", {"n": threads}, line_of(name), kernel.edited([edit]))
