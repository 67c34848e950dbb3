"""How often a guarded machine instruction is issued.

`@P0 STS` is issued to every warp that comes by, whether a lane's P0 holds or not, and the counter
of executed instructions counts it. In PTX the same store stood in a block of its own, which other
warps branched around; the assembler replaced the branch by the guard. So it is issued as often as
the block with the branch is executed: that block is found here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpuviz.ptx.text.flow import Span
from gpuviz.sass.accesses import Access
from gpuviz.sass.flow import SassBlock, dominators, loops, name_of
from gpuviz.sass.plan import Emit
from gpuviz.sass.unroll import Unrolled

_ANCHORS = frozenset(
    {
        "LDS",
        "STS",
        "LDG",
        "STG",
        "LDL",
        "STL",
        "LD",
        "ST",
        "ATOMS",
        "ATOMG",
        "RED",
        "REDG",
        "ATOM",
        "BAR",
        "LDGSTS",
        "SHFL",
        "VOTE",
        "WARPSYNC",
    }
)
_TESTS = frozenset({"ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "LOP3", "R2P", "UISETP"})


class Owners:
    """Finds the PTX block that is executed as often as a guarded machine instruction is issued."""

    def __init__(
        self, unrolled: Unrolled, blocks: Sequence[Span], code: Sequence[SassBlock]
    ) -> None:
        following = [b.next for b in blocks]
        body, added = unrolled.function.body, set(unrolled.tests.values())
        self._unrolled = unrolled
        self._first = [body[b.start].pc for b in blocks]
        self._lines = [{i.ptx_line for i in body[b.start : b.end]} for b in blocks]
        self._code = code
        self._above = dominators(following)
        self._headers = frozenset(loops(following))
        self._tests = {n for n, pc in enumerate(self._first) if pc in added}

    def issued(self, emit: Emit, access: Access, place: int) -> Emit:
        """The same with its owner, where it is guarded; `place` is its block of machine code."""
        memory = emit.sass.memory
        if not emit.sass.guard or memory is None or memory.space != "shared":
            return emit
        if memory.op not in ("load", "store"):
            return emit
        return replace(emit, owner=self._owner(access, place))

    def _owner(self, access: Access, place: int) -> int:
        """The pc that tells how often a guarded instruction is issued."""
        chunk, tests = self._unrolled.chunk_of.get(access.pc), self._unrolled.tests
        loops_by_itself = place in self._code[place].next
        if access.pc in tests and (not loops_by_itself if chunk is None else chunk.guard):
            return tests[access.pc]
        return self._first[self._block(place, access.block)]

    def _block(self, sass_block: int, block: int) -> int:
        """The PTX block that is executed whenever the machine code's block is."""
        chain = self._chain(block)
        for names in (_ANCHORS, _TESTS):
            lines = self._present(sass_block, names)
            best = next((b for b in reversed(chain) if self._lines[b] & lines), None)
            if best is not None:
                return best
        return block

    def _chain(self, block: int) -> list[int]:
        """The block and those that dominate it, up to the header of its loop."""
        found = [block]
        while found[-1] not in self._headers:
            above = self._above.get(found[-1], found[-1])
            if above == found[-1] or above in self._tests:
                break
            found.append(above)
        return found

    def _present(self, sass_block: int, names: frozenset[str]) -> set[int]:
        """PTX lines of the unguarded instructions of these names in a block of code."""
        return {
            i.ptx_line
            for i in self._code[sass_block].instructions
            if not i.guard and name_of(i) in names
        }
