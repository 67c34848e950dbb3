"""Which multiprocessor runs which block, and when: noted by the kernel itself.

PTX is given a few instructions where a kernel starts and wherever a thread ends. One lane of each
warp reads the multiprocessor's number and the global timer; the least start and the greatest end of
a block stay. The driver assembles this PTX for the one launch that is looked at; everything else
runs the compiler's own machine code.
"""

import re
from functools import cache
from string import Template

import numpy as np

from gpuviz.base import resources
from gpuviz.base.arrays import I64
from gpuviz.base.errors import UnsupportedError
from gpuviz.recordings.measurement import Placement

PLACED_BLOCKS = 1 << 16  # launches of more blocks are not placed: their chart would be a blur
SHIPPED_BLOCKS = 8192
"""Of more blocks, recordings that ship hold places only where the story shows them: 300 KB each."""
SPANS = "gpuviz_spans"
"""Name of the variable that holds the address of (blocks, 3) integers: SM, start, end."""

NOT_STARTED = -1

_END = re.compile(
    r"^(?P<indent>\s*)(?:@(?P<negated>!?)(?P<guard>%\w+)\s+)?(?P<what>ret|exit)"
    r"(?:\.uni)?\s*;"
)
_FUNCTION = re.compile(r"^\s*(?:\.\w+\s+)*\.(?P<kind>entry|func)\b")
_COMMENT = re.compile(r'//.*|"[^"]*"')
_HEADER = re.compile(r"^[ \t]*\.address_size\s+64.*$", re.MULTILINE)
_VERSION = re.compile(r"^([ \t]*\.version\s+)(\d+)\.(\d+)", re.MULTILINE)

# PTX the drivers of each CUDA release take: PTX ISA, "Release Notes".
_ISA = {
    (12, 0): (8, 0),
    (12, 1): (8, 1),
    (12, 2): (8, 2),
    (12, 3): (8, 3),
    (12, 4): (8, 4),
    (12, 5): (8, 5),
    (12, 6): (8, 5),
    (12, 7): (8, 6),
    (12, 8): (8, 7),
    (12, 9): (8, 8),
}


def instrument(ptx: str) -> str:
    """PTX whose kernels note where and when their blocks run, in the buffer `SPANS` points to.

    Raises
    ------
    UnsupportedError : the text is not 64-bit PTX
    """
    if not _HEADER.search(ptx):
        raise UnsupportedError("block placement needs 64-bit PTX: there is no .address_size 64")
    declared = _HEADER.sub(rf"\g<0>\n.visible .global .align 8 .u64 {SPANS};", ptx, count=1)
    return "\n".join(_Rewriter().lines(declared.splitlines())) + "\n"


class _Rewriter:
    """Goes through PTX line by line, knowing which function's body it is in."""

    def __init__(self) -> None:
        self._kind, self._depth, self._notes = "", 0, 0

    def lines(self, lines: list[str]) -> list[str]:
        """All lines, with the notes put in."""
        return [new for line in lines for new in self._line(line)]

    def _line(self, line: str) -> list[str]:
        code = _COMMENT.sub("", line)
        if self._depth == 0 and (found := _FUNCTION.match(code)):
            self._kind = found["kind"]
        before, kind = self._depth, self._kind
        self._depth += code.count("{") - code.count("}")
        if before and not self._depth:
            self._kind = ""  # other braces follow, of debug sections
        if before == 0 and self._depth == 1 and kind == "entry":
            return [line, self._note("start")]
        ends = _END.match(code) if before else None
        if ends is None or (ends["what"] == "ret" and kind != "entry"):
            return [line]
        return self._ending(ends)

    def _ending(self, ends: re.Match[str]) -> list[str]:
        """A note before the end; a guarded end becomes a branch around both."""
        last = f"{ends['indent']}{ends['what']};"
        if ends["guard"] is None:
            return [self._note("stop"), last]
        around = f"gpuviz_on_{self._notes}"
        guard = ends["guard"] if ends["negated"] else "!" + ends["guard"]
        return [f"@{guard} bra {around};", self._note("stop"), last, f"{around}:"]

    def _note(self, when: str) -> str:
        self._notes += 1
        take = _ptx(f"note_{when}")
        return Template(_ptx("note")).substitute(number=self._notes, spans=SPANS, take=take)


@cache
def _ptx(name: str) -> str:
    """A piece of PTX that is put in."""
    return resources.text(f"gpu/{name}.ptx").strip()


def for_driver(ptx: str, driver: tuple[int, int]) -> str:
    """PTX whose version is not newer than a driver's CUDA release knows.

    The text itself is not changed: what gpuviz adds is old, and what the compiler wrote seldom
    needs its newest version. The driver says so where it does.
    """
    known = _ISA.get(driver, (driver[0] - 4, driver[1]) if driver >= (13, 0) else (8, 0))

    def lowered(found: re.Match[str]) -> str:
        own = int(found[2]), int(found[3])
        return "{}{}.{}".format(found[1], *min(own, known))

    return _VERSION.sub(lowered, ptx, count=1)


def decode(spans: I64) -> Placement:
    """The placement that (B, 3) noted integers tell; blocks that did not run are left out."""
    ran = np.flatnonzero(spans[:, 1] != NOT_STARTED)
    sm, start, end = spans[ran].T
    first = start.min(initial=np.iinfo(np.int64).max)
    return Placement(ran.astype(np.int64), sm.copy(), start - first, end - first)
