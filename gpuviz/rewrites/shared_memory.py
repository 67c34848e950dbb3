"""Rewrites of arrays in shared memory, and through it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuviz.launch.job import Job
from gpuviz.rewrites.kernel_text import Edit, KernelText, Rewrite, line_of

if TYPE_CHECKING:
    from tree_sitter import Node

_BANKS = 32


def pad(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """Rows of shared arrays one element longer."""
    for array in kernel.shared:
        if len(array.sizes) > 1:
            last = array.sizes[-1]
            edit = last.end_byte, last.end_byte, " + 1"
            edited = kernel.edited([edit])
            yield Rewrite("pad", {"array": array.name}, line_of(array.node), edited)


def swizzle(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """Columns of shared arrays exchanged by row."""
    for array in kernel.shared:
        if len(array.sizes) != 2:
            continue
        edits = list[Edit]()
        for one in kernel.nodes("subscript_expression"):
            if found := _two_indices(kernel, one, array.name):
                row, column = found
                text = f"({kernel.text(column)}) ^ (({kernel.text(row)}) % {_BANKS})"
                edits.append((column.start_byte, column.end_byte, text))
        if edits:
            line = line_of(array.node)
            yield Rewrite("swizzle", {"array": array.name}, line, kernel.edited(edits))


def _two_indices(kernel: KernelText, node: Node, name: str) -> tuple[Node, Node] | None:
    """Row and column of `name[row][column]`."""
    inner = node.child_by_field_name("argument")
    if inner is None or inner.type != "subscript_expression":
        return None
    owner = inner.child_by_field_name("argument")
    if owner is None or kernel.text(owner) != name:
        return None
    row, column = _index(inner), _index(node)
    return (row, column) if row is not None and column is not None else None


def _index(node: Node) -> Node | None:
    listed = node.child_by_field_name("indices")
    return listed.named_children[0] if listed is not None and listed.named_children else None


def stage(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """Values that a square block stores go through a tile, whose rows and columns change places on
    the way: what lanes store, or what they load, lies side by side then.
    """
    x, y, z = job.block
    if x != y or z != 1 or any(kernel.nodes("return_statement")):
        return
    for statement in kernel.nodes("expression_statement"):
        stored = next(kernel.nodes("assignment_expression", within=statement), None)
        around = _guards(kernel, statement)
        if stored is None or around is None:
            continue
        left, right = (stored.child_by_field_name(side) for side in ("left", "right"))
        if left is None or right is None or left.type != "subscript_expression":
            continue
        name = left.child_by_field_name("argument")
        kind = kernel.pointers.get(kernel.text(name)) if name is not None else None
        loads = (kernel.text(one) for one in kernel.nodes("identifier", within=right))
        if kind is None or kernel.pointers.keys().isdisjoint(loads):
            continue
        outer, guards = around
        for rule in ("stage stores", "stage loads"):
            text = _through_tile(kernel, left, right, guards, kind, x, rule == "stage loads")
            edited = kernel.edited([(outer.start_byte, outer.end_byte, text)])
            yield Rewrite(rule, {}, line_of(statement), edited)


def _guards(kernel: KernelText, statement: Node) -> tuple[Node, list[Node]] | None:
    """The statement of the kernel's body that holds this one, and the conditions around it; None
    where there is more around it than conditions.
    """
    node = statement
    guards: list[Node] = []
    while (parent := node.parent) is not None and parent != kernel.body:
        if parent.type == "if_statement":
            condition = parent.child_by_field_name("condition")
            if condition is None or parent.child_by_field_name("alternative") is not None:
                return None
            guards.append(condition)
        elif parent.type != "compound_statement" or parent.named_child_count != 1:
            return None
        node = parent
    return (node, guards) if parent is not None else None


def _through_tile(
    kernel: KernelText,
    left: Node,
    right: Node,
    guards: list[Node],
    kind: str,
    size: int,
    loads: bool,
) -> str:
    """The statements: what is loaded as another thread's, or else what is stored."""
    copies, declared = _exchanged(kernel)
    tile = kernel.fresh("staged")

    def swapped(node: Node) -> str:
        return kernel.text(node, kernel.index_edits(node, copies))

    here, there = (swapped, kernel.text) if loads else (kernel.text, swapped)
    own, other = f"{tile}[threadIdx.y][threadIdx.x]", f"{tile}[threadIdx.x][threadIdx.y]"
    into, out_of = (other, own) if loads else (own, other)
    first, then = (_condition([side(one) for one in guards]) for side in (here, there))
    return "\n    ".join(
        [
            f"__shared__ {kind} {tile}[{size}][{size} + 1];",
            *declared,
            f"{first}{into} = {here(right)};",
            "__syncthreads();",
            f"{then}{there(left)} = {out_of};",
        ]
    )


def _condition(guards: list[str]) -> str:
    """`if` all of them hold, innermost first as they were found; "" without any."""
    return f"if ({' && '.join(reversed(guards))}) " if guards else ""


def _exchanged(kernel: KernelText) -> tuple[dict[str, str], list[str]]:
    """The variables that depend on the thread, as they are for the thread across the diagonal:
    their names there, and their declarations.
    """
    names, made = dict[str, str](), list[str]()
    for one in kernel.body.named_children:
        kind = one.child_by_field_name("type")
        if one.type != "declaration" or kind is None:
            continue
        for variable in one.children_by_field_name("declarator"):
            name, value = (variable.child_by_field_name(f) for f in ("declarator", "value"))
            if variable.type != "init_declarator" or name is None or value is None:
                continue
            if edits := kernel.index_edits(value, names):
                names[kernel.text(name)] = f"{kernel.text(name)}_across"
                told = kernel.text(value, edits)
                made.append(f"const {kernel.text(kind)} {kernel.text(name)}_across = {told};")
    return names, made
