"""Advice on races, tried: the barrier is put into the text, and the launch is run once more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuviz.arch import Architecture
from gpuviz.base.errors import Error
from gpuviz.compile import again
from gpuviz.launch.job import Job
from gpuviz.ptx.options import Options
from gpuviz.run import emulated
from gpuviz.run.run import Run
from gpuviz.source import parts
from gpuviz.traces.trace import Finding
from gpuviz.words.language import grouped, tr

if TYPE_CHECKING:
    from tree_sitter import Node

_SECONDS = 3.0  # for each try
_TRIES = 4
_BARRIER = b"__syncthreads(); "


def tried(run: Run, job: Job, arch: Architecture, options: Options) -> Run:
    """The run with what became of its races when the barriers advised were put in: before the
    statement of the later access, or one around it. Other findings are as they were.
    """
    races = [one for one in run.trace.findings if _mendable(one)]
    if not races or not job.program.source:
        return run
    wanted = replace(options, checks=("race", "sync"), record=(), path=False, seconds=_SECONDS)
    before, best = sum(one.count for one in races), (-1, 0)
    for outward in range(_TRIES):
        text = _with_barriers(job.program.source, {one.line for one in races}, outward)
        left = _left(text, job, arch, wanted) if text else None
        if left is not None and (best[0] < 0 or left < best[0]):
            best = left, outward
        if left == 0:
            break
    left, outward = best
    if left < 0:
        return run
    told = {
        id(one): replace(one, remedy=_words(one, before, left, _place(job, one.line, outward)))
        for one in races
    }
    findings = tuple(told.get(id(one), one) for one in run.trace.findings)
    return replace(run, trace=replace(run.trace, findings=findings))


def _mendable(one: Finding) -> bool:
    """Whether what is advised is a barrier of the block."""
    return one.check == "race" and one.other_block == one.block and "__sync" in one.remedy


def _left(text: str, job: Job, arch: Architecture, options: Options) -> int | None:
    """How many races are left of a text; None where it does not run, or not all come to its
    barriers.
    """
    try:
        made = replace(job, program=again(job.program, text))
        found = emulated.run(made, arch, level="ptx", options=options).trace.findings
    except Error:
        return None
    if any(one.check == "sync" for one in found):
        return None
    return sum(one.count for one in found if one.check == "race" and one.other_block == one.block)


def _with_barriers(source: str, lines: set[int], outward: int) -> str:
    """The text with a barrier before the statement of each line, on the same line; "" where one of
    them is within fewer blocks than that.
    """
    read = parts.read(source)
    text, starts = read.source, set[int]()
    for line in lines:
        around = list(_statements(read.tree.root_node, line))
        if outward >= len(around):
            return ""
        starts.add(around[outward].start_byte)
    for start in sorted(starts, reverse=True):
        text = text[:start] + _BARRIER + text[start:]
    return text.decode("utf-8", "replace")


def _place(job: Job, line: int, outward: int) -> int:
    around = list(_statements(parts.read(job.program.source).tree.root_node, line))
    return around[min(outward, len(around) - 1)].start_point[0] + 1


def _statements(root: Node, line: int) -> Iterator[Node]:
    """The statements of blocks that have a line, the innermost first."""
    found: list[Node] = []
    node: Node | None = root
    while node is not None:
        rows = (one for one in node.children if one.start_point[0] <= line - 1 <= one.end_point[0])
        inner = next((one for one in rows if one.is_named), None)
        if inner is not None and node.type == "compound_statement":
            found.append(inner)
        node = inner
    yield from reversed(found)


def _words(one: Finding, before: int, left: int, line: int) -> str:
    if not left:
        return tr("put __syncthreads() before line {line}: tried, no race is left", line=line)
    return tr(
        "one __syncthreads() before each of these lines is not enough: tried, {left} of {n} races "
        "are left",
        left=grouped(left),
        n=grouped(before),
    )
