"""Pairs of statements that race: collected as they are seen, and told in a sentence."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.ptx.checks.report import line_of
from gpuviz.traces.trace import Finding, Launch, MemoryInstruction, Space
from gpuviz.words.language import texts, tr

Kind = Literal["read after write", "write after read", "write after write"]
KINDS: tuple[Kind, ...] = ("read after write", "write after read", "write after write")
BEGIN = "mbarrier.init"
MOST = 256  # pairs of statements told apart


@dataclass(frozen=True)
class Hazard:
    """Two statements that race, in the order in which the emulator ran them."""

    kind: Kind  # "read after write": the second may read before the first has written, and so on
    # first, second: what accesses the bytes (of a line that was unrolled, one of its copies).
    first: MemoryInstruction
    second: MemoryInstruction
    # blocks, phase: linear ids of the two threads' blocks, and barriers that the second block had
    # passed, of the first case.
    blocks: tuple[int, int]
    phase: int
    # Linear ids of the two threads, each within its block, of the first case.
    threads: tuple[int, int]
    address: int  # of the first case: offset in shared memory, or a global address
    count: int  # how many words are at stake, each counted once in a phase of a block
    asynchronous: bool = False  # the first is a copy that was not awaited
    together: bool = False  # it is one and the same instruction, executed by two lanes of a warp
    # Where blocks of a cluster race, linear id of the one whose shared memory it is; else -1.
    owner: int = -1
    proxy: bool = False  # ordered or not, the second is a copy, and no proxy fence is in between
    across: bool = False  # some of its pairs of threads are of two warps

    @property
    def block(self) -> int:
        """Linear id of the second thread's block."""
        return self.blocks[1]


_Site = tuple[str, int, str, str] | int


def _site(at: MemoryInstruction) -> _Site:
    """What does the same on the same line: unrolling makes copies."""
    return (at.function, at.line, at.op, at.space) if at.line else at.pc


_NONE: I64 = np.zeros(0, np.int64)


class Hazards:
    """Those seen so far, each pair of statements once a kind, in the order first seen."""

    def __init__(self) -> None:
        self._found: dict[tuple[Kind, _Site, _Site], Hazard] = {}
        self._counted: dict[tuple[tuple[Kind, _Site, _Site], int], I64] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, case: Hazard, memory: int, cells: I64, since: I64, step: int, times: int) -> None:
        """A case, and (n,) the cells of a memory that it concerns at a step.

        A cell counts again when it counted before the step `since` ((n,), the last barrier); a case
        of one block that stands for all counts `times` over.
        """
        key = case.kind, _site(case.first), _site(case.second)
        if key not in self._found:
            if len(self._found) >= MOST:
                return
            self._found[key] = case
        cells, place = np.unique(cells, return_index=True)
        counted = self._counted.get((key, memory), _NONE)
        if cells[-1] >= len(counted):
            counted = np.pad(counted, (0, 2 * int(cells[-1]) + 1 - len(counted)))
        fresh = int((counted[cells] <= since[place]).sum())
        counted[cells] = step
        self._counted[key, memory] = counted
        have = self._found[key]
        across = have.across or case.across
        self._found[key] = replace(have, count=have.count + fresh * times, across=across)

    def take(self) -> tuple[Hazard, ...]:
        """All of them; then they are forgotten."""
        found = tuple(self._found.values())
        self._found.clear()
        self._counted.clear()
        return found


def finding(launch: Launch, hazard: Hazard, space: Space) -> Finding:
    """A hazard in a sentence."""
    words = texts("hazards")
    who, remedy = _apart(hazard, space)
    one, two = (launch.thread_index(thread) for thread in hazard.threads)
    second, _, first = hazard.kind.split()  # "read after write"
    there = {
        "one": one,
        "two": two,
        "first": line_of(hazard.first),
        "second": line_of(hazard.second),
        "where": f"{hazard.address:#x}",
        "space": tr(words["spaces"][space]) if space in words["spaces"] else f"{space} memory",
        "did": tr(words["first"][first]),
        "does": tr(words["first" if who == "copy" else "second"][second]),
        "block": launch.block_index(hazard.block),
        "other": launch.block_index(hazard.blocks[0]),
        "owner": launch.block_index(hazard.owner),
    }
    message = tr(words["sentences"][who], **there)
    return Finding(
        "error",
        f"race, {hazard.kind}",
        f"{tr(words['kinds'][hazard.kind])}: {message}",
        hazard.second.line,
        hazard.second.ptx_line,
        launch.block_index(hazard.block),
        two,
        hazard.address,
        hazard.count,
        check="race",
        remedy=tr(words["remedies"][remedy]),
        phase=hazard.phase,
        other_line=hazard.first.line,
        other_block=launch.block_index(hazard.blocks[0]),
        other_thread=one,
    )


def _remedy_of_blocks(hazard: Hazard) -> str:
    """The key of the remedy where blocks of a cluster race."""
    if hazard.first.text == BEGIN:
        return "ready"
    if hazard.asynchronous:
        return "counted"
    return "stage" if "bulk" in hazard.second.text.split(".") else "cluster"


def _within_a_block(hazard: Hazard) -> bool:
    """Whether both are atomics, and one of them for a block alone."""
    both = hazard.first, hazard.second
    return all(at.op in ("atomic", "reduction") for at in both) and any(
        "cta" in at.text.split(".") for at in both
    )


def _apart(hazard: Hazard, space: Space) -> tuple[str, str]:
    """How far the two threads are from each other, and the key of the remedy."""
    one, two = hazard.threads
    if hazard.proxy:
        return "proxy", "proxy"
    if hazard.asynchronous and hazard.first.op == "load":
        return "unread", "unread"
    if hazard.blocks[0] != hazard.blocks[1] and _within_a_block(hazard):
        return "block", "scope"
    bulk = "bulk" in hazard.second.text.split(".")
    if hazard.owner >= 0:
        return "cluster", _remedy_of_blocks(hazard)
    if hazard.asynchronous:
        who = "copy"
    elif hazard.kind == "write after write" and hazard.first.op == hazard.second.op == "copy":
        return "again", "stage" if bulk else "again"
    elif hazard.blocks[0] != hazard.blocks[1]:
        who = "block"
    elif one // 32 != two // 32:
        if bulk:
            return "warp", "stage"
        return "warp", "warp, global" if space == "global" else "warp"
    else:
        who = "instruction" if hazard.together else "lane"
        if who == "lane" and hazard.across:
            return who, "warp"
    if "bulk" in (hazard.first if who == "copy" else hazard.second).text.split("."):
        return who, "counted" if who == "copy" else "stage"
    return who, who
