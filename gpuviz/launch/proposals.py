"""Arguments that may do for a first try, by what a parameter is and how it is called."""

import re
from collections.abc import Iterable

from gpuviz.launch.signature import KernelParameter

SIDE = 64  # of a matrix, for a first try
_SHORT = 24  # elements less than threads: the last warp has some, and not all
_LARGEST = 512  # of numbers that may be sides of tiles
_COUNTS = re.compile(r"(?i)^(?:n|size|count|len|length|num\w*|total|elements?|n_?\w*)$")
_SIDES = re.compile(r"(?i)^(?:m|k|w|h|nx|ny|rows?|col(?:umn)?s?|width|height|dim|ld\w?|pitch)$")
_ZEROS = re.compile(r"(?i)^(?:off\w*|start\w*|first\w*|begin|base|shift)$")


def side_of(name: str) -> int:
    """The side of a matrix for a kernel by its whole name: a tile at least, where it is a template
    made with the sides of tiles: `tile<float, 128, 256>`.
    """
    whole = (int(one) for one in re.findall(r"(?<=[<, )])\d+(?=[ul]*[,>])", name))
    return max((SIDE, *(n for n in whole if n <= _LARGEST and n & (n - 1) == 0)))


def is_count(name: str) -> bool:
    """Whether a parameter of this name says how many elements there are."""
    return bool(_COUNTS.match(_last(name)))


def are_of_matrices(names: Iterable[str]) -> bool:
    """Whether sizes of these names are those of a product of matrices: two of m, n and k."""
    return len({_last(name).lower() for name in names} & {"m", "n", "k"}) > 1


def fill_of(taken: KernelParameter, empty: bool) -> str:
    """What a buffer may hold, so that faults show and no index leaves a buffer as long: of whole
    numbers each its place, and few that come again where they choose the bins of a histogram.
    """
    if empty:
        return "zeros"
    return "rand" if taken.kind[0] not in "iu" else "few" if taken.bins else "arange"


def elements(threads: int) -> int:
    """How many elements a launch of so many threads is given: not as many as fill its blocks, so
    that a missing bound shows; aligned as vectors of 16 bytes are.
    """
    return threads - _SHORT if threads > 2 * _SHORT else threads


def guess(
    taken: KernelParameter,
    threads: int,
    side: int = SIDE,
    matrices: bool = False,
    whole: bool = False,
) -> str:
    """The argument for a parameter, or a field of one, in a launch of so many threads.

    `side` is that of matrices; `matrices` is whether `n` is such a side, too; `whole` whether the
    host code divides sizes into blocks without a rest.
    """
    if taken.kind == "struct":
        names = (one.name.removeprefix(f"{taken.name}.") for one in taken.fields)
        inner = (
            f"{name}@{one.offset} {guess(one, threads, side, matrices, whole)}"
            for name, one in zip(names, taken.fields, strict=True)
        )
        return "{" + "; ".join((str(taken.size), *inner)) + "}"
    if taken.buffer:
        count = max(threads, side * side) * taken.lanes
        return f"{taken.kind}[{count}]={fill_of(taken, taken.written)}"
    if taken.kind in ("texture", "surface"):
        return f"image {taken.image}={'rand' if taken.kind == 'texture' else 'zeros'}"
    if taken.kind == "tensormap":
        return f"tensormap(f16[{SIDE},{SIDE}]=rand, box=64x64, swizzle=128)"
    if taken.count > 1:
        return f"{taken.kind}*{taken.count}=zeros"
    if taken.kind[0] not in "iu":
        return f"{taken.kind}=1"
    name = _last(taken.name)
    if _SIDES.match(name) or (matrices and name in "nN"):
        return f"{taken.kind}={side}"
    if _ZEROS.match(name):
        return f"{taken.kind}=0"
    most = (1 << 7 if taken.kind == "i8" else 1 << 8 if taken.kind == "u8" else 1 << 15) - 1
    wanted = (threads if whole else elements(threads)) if _COUNTS.match(name) else 1
    return f"{taken.kind}={min(wanted, most) if taken.size < 4 else wanted}"


def _last(name: str) -> str:
    return name.rpartition(".")[2]
