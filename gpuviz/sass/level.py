"""The sass level of a program: its plan, or the reason in words why there is none."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from gpuviz.base.errors import UnavailableError
from gpuviz.compile import Program
from gpuviz.ptx.text.ir import Module
from gpuviz.sass.listing import Listing, disassemble, read_listings
from gpuviz.sass.match import make_plan
from gpuviz.sass.plan import Plan
from gpuviz.words.language import tr, trn

_FAMILY = re.compile(r"sm_(\d+?)\d[af]?$")


@dataclass(frozen=True, eq=False)
class SassLevel:
    """The machine code of a kernel and the plan made from it; `reason` says why one is missing."""

    listing: Listing | None = None
    plan: Plan | None = None
    reason: str = ""


def sass_level(program: Program, module: Module, entry: str, arch: str) -> SassLevel:
    """The sass level of a kernel for an architecture (`sm_90`), or why it is not to be had."""
    if not program.cubin:
        return SassLevel(reason=tr("there is no machine code for this PTX"))
    if _family(program.arch) != _family(arch):
        here = program.arch
        return SassLevel(reason=tr("the machine code here is for {a}, not for {b}", a=here, b=arch))
    try:
        listing = _listings(program.cubin).get(entry)
    except UnavailableError as error:
        return SassLevel(reason=str(error))
    if listing is None:
        return SassLevel(reason=tr("the machine code has no kernel {name}", name=entry))
    if not listing.has_ptx_lines:
        return SassLevel(
            listing,
            reason=tr(
                "the machine code does not tell which PTX lines it is made from: compile with "
                "-lineinfo"
            ),
        )
    return SassLevel(listing, make_plan(module, listing))


@lru_cache(maxsize=8)
def _listings(cubin: bytes) -> dict[str, Listing]:
    return read_listings(disassemble(cubin))


def _family(arch: str) -> str:
    """`9` of sm_90 and sm_90a, `12` of sm_120: machine code differs between families."""
    found = _FAMILY.match(arch)
    return found[1] if found else arch


def note(plan: Plan, unmatched: Iterable[int], misaligned: Iterable[int]) -> str:
    """What to know of counts at the sass level: where they are those of the PTX after all."""
    alone, merged = sorted(unmatched), sorted(misaligned)
    changed = sum(d.kind not in ("unmatched",) for d in plan.differences)
    parts = (
        trn(
            "machine code and PTX differ in {n} memory instruction",
            "machine code and PTX differ in {n} memory instructions",
            changed,
        )
        * bool(changed),
        trn(
            "line {lines} of the PTX is not found in the machine code, and counts as it is written",
            "lines {lines} of the PTX are not found in the machine code, and count as they are "
            "written",
            len(alone),
            lines=_listed(alone),
        )
        * bool(alone),
        trn(
            "line {lines} of the PTX was taken for a merged access that does not fit it",
            "lines {lines} of the PTX were taken for merged accesses that do not fit them",
            len(merged),
            lines=_listed(merged),
        )
        * bool(merged),
    )
    return "; ".join(filter(None, parts))


def _listed(lines: Iterable[int]) -> str:
    return ", ".join(map(str, lines))
