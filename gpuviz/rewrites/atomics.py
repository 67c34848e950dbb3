"""Rewrites of atomics that wait for one another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuviz.arguments import BufferSpec
from gpuviz.launch.job import Job
from gpuviz.rewrites.kernel_text import KernelText, Rewrite, line_of
from gpuviz.source.kernel_names import source_parameters

if TYPE_CHECKING:
    from tree_sitter import Node

_ROOM = 48 << 10  # bytes of shared memory that every block may have


def _thread(job: Job) -> tuple[str, str]:
    """The number of a thread in its block, and how many there are."""
    if job.block[1:] == (1, 1):
        return "threadIdx.x", "blockDim.x"
    number = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))"
    return number, "(blockDim.x * blockDim.y * blockDim.z)"


def privatise(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """Each block adds to words of its own in shared memory, and these to the others in the end."""
    names = source_parameters(job.program.source, job.entry, len(job.arguments))
    given = zip(names, job.arguments, strict=False)
    sizes = {name: one for name, one in given if isinstance(one, BufferSpec)}
    for name, adds in _additions(kernel).items():
        kind, spec = kernel.pointers.get(name), sizes.get(name)
        used = sum(kernel.text(one) == name for one in kernel.nodes("identifier"))
        if kind is None or spec is None or spec.size > _ROOM or used != len(adds):
            continue
        own = kernel.fresh(f"own_{name}")
        edits = [(one.start_byte, one.end_byte, own) for one in adds]
        work = kernel.text(kernel.body, edits)
        if any(kernel.nodes("return_statement")):
            call = kernel.fresh("work")
            work = f"auto {call} = [&]() {work};\n    {call}();"
        text = _with_own(own, name, kind, spec.count, work, _thread(job))
        edited = kernel.edited([(kernel.body.start_byte, kernel.body.end_byte, text)])
        yield Rewrite("privatise", {"array": name}, line_of(adds[0]), edited, rounds=True)


def _additions(kernel: KernelText) -> dict[str, list[Node]]:
    """The names in `atomicAdd(&name[...], ...)`, by name."""
    found: dict[str, list[Node]] = {}
    for _, place in _calls(kernel):
        named = next(kernel.nodes("identifier", within=place), None)
        if named is not None:
            found.setdefault(kernel.text(named), []).append(named)
    return found


def _calls(kernel: KernelText) -> Iterator[tuple[Node, Node]]:
    """Calls of atomicAdd whose result nobody uses, and their first arguments."""
    for call in kernel.nodes("call_expression"):
        function, given = (call.child_by_field_name(f) for f in ("function", "arguments"))
        if function is None or given is None or kernel.text(function) != "atomicAdd":
            continue
        alone = call.parent is not None and call.parent.type == "expression_statement"
        if alone and len(given.named_children) == 2:
            yield call, given.named_children[0]


def _with_own(
    own: str, name: str, kind: str, count: int, work: str, thread: tuple[str, str]
) -> str:
    number, step = thread
    each = f"for (unsigned bin = {number}; bin < {count}; bin += {step})"
    return "\n    ".join(
        [
            "{",
            f"__shared__ {kind} {own}[{count}];",
            f"{each} {own}[bin] = 0;",
            "__syncthreads();",
            work,
            "__syncthreads();",
            f"{each} if ({own}[bin] != 0) atomicAdd(&{name}[bin], {own}[bin]);",
            "}",
        ]
    ).replace("\n    }", "\n}")


def sum_of_warp(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
    """A whole warp that adds to one word adds its sum once."""
    for call, place in _calls(kernel):
        given, statement = call.child_by_field_name("arguments"), call.parent
        names = [kernel.text(one) for one in kernel.nodes("identifier", within=place)]
        if given is None or statement is None or not names or not _of_all(kernel, names):
            continue
        kind, total = kernel.pointers.get(names[0], "auto"), kernel.fresh("warp_sum")
        value, to = kernel.text(given.named_children[1]), kernel.text(place)
        text = (
            f"{{ {kind} {total} = {value};\n"
            "        if (__activemask() == 0xffffffffu) {\n"
            "            for (int apart = 16; apart; apart /= 2) "
            f"{total} += __shfl_xor_sync(0xffffffffu, {total}, apart);\n"
            f"            if ({_thread(job)[0]} % 32 == 0) atomicAdd({to}, {total});\n"
            f"        }} else atomicAdd({to}, {total}); }}"
        )
        edited = kernel.edited([(statement.start_byte, statement.end_byte, text)])
        place_of = {"array": to.removeprefix("&")}
        yield Rewrite("warp sum", place_of, line_of(call), edited, rounds=True)


def _of_all(kernel: KernelText, names: list[str]) -> bool:
    """Whether a place is the same for all threads of a block: made of parameters and its index."""
    first, *others = names
    same = kernel.parameters - kernel.pointers.keys() | {"blockIdx", "gridDim", "blockDim"}
    return first in kernel.pointers and all(name in same for name in others)
