"""Arguments that may do for a first try, by what a parameter is and how it is called."""

from __future__ import annotations

import re

from gpuviz.kernels.signature import Taken

SIDE = 64  # of a matrix, for a first try
_COUNTS = re.compile(r"(?i)^(?:n|size|count|len|length|num\w*|total|elements?|n_?\w*)$")
_SIDES = re.compile(r"(?i)^(?:m|k|w|h|nx|ny|rows?|col(?:umn)?s?|width|height|dim|ld\w?|pitch)$")
_ZEROS = re.compile(r"(?i)^(?:off\w*|start\w*|first\w*|begin|base|shift)$")


def guess(taken: Taken, threads: int) -> str:
    """The argument for a parameter, or a field of one, in a launch of so many threads."""
    if taken.kind == "struct":
        names = (one.name.removeprefix(f"{taken.name}.") for one in taken.fields)
        inner = (
            f"{name}@{one.offset} {guess(one, threads)}"
            for name, one in zip(names, taken.fields, strict=True)
        )
        return "{" + "; ".join((str(taken.size), *inner)) + "}"
    if taken.buffer:
        fill = "zeros" if taken.written else "arange" if taken.kind[0] in "iu" else "rand"
        count = max(threads, SIDE * SIDE) * taken.lanes
        return f"{taken.kind}[{count}]={fill}"
    if taken.kind in ("texture", "surface"):
        return f"image {taken.image}={'rand' if taken.kind == 'texture' else 'zeros'}"
    if taken.kind == "tensormap":
        return f"tensormap(f16[{SIDE},{SIDE}]=rand, box=64x64, swizzle=128)"
    if taken.count > 1:
        return f"{taken.kind}*{taken.count}=zeros"
    if taken.kind[0] not in "iu":
        return f"{taken.kind}=1"
    name = _last(taken.name)
    if _SIDES.match(name):
        return f"{taken.kind}={SIDE}"
    if _ZEROS.match(name):
        return f"{taken.kind}=0"
    most = (1 << 7 if taken.kind == "i8" else 1 << 8 if taken.kind == "u8" else 1 << 15) - 1
    wanted = threads if _COUNTS.match(name) else 1
    return f"{taken.kind}={min(wanted, most) if taken.size < 4 else wanted}"


def _last(name: str) -> str:
    return name.rpartition(".")[2]
