"""What the host code of a file says of a launch, as texts of the launch."""

import math
import re
from collections.abc import Mapping
from itertools import zip_longest

import numpy as np

from gpuviz.arguments import DTYPES
from gpuviz.compile import HostLaunch
from gpuviz.launch.proposals import SIDE
from gpuviz.launch.signature import KernelParameter
from gpuviz.launch.texts import Kernel, LaunchTexts

_WORD = re.compile(r"[A-Za-z_]\w*")


def proposed_by(launch: HostLaunch, kernel: Kernel) -> LaunchTexts:
    """Sizes, numbers, buffers as long as the host allocates them, and pointers into these
    (`d_in + 3`): as numbers where the text says these, else as formulas of the arguments.
    """
    names = {
        said: taken.name
        for said, taken in zip(launch.arguments, kernel.taken, strict=False)
        if said.isidentifier() and not taken.buffer
    }
    threads = math.prod(launch.grid or (1,)) * math.prod(launch.block or (1,))
    said = zip_longest(kernel.taken, launch.values, launch.offsets, launch.bytes, launch.copied)
    given = {
        taken.name: text
        for taken, value, offset, size, copied in said
        if taken is not None
        and (
            text := _buffer(taken, _renamed(size or "", names), offset or 0, threads, bool(copied))
            if taken.buffer
            else _number(taken, value)
        )
    }
    grid, block = (
        ",".join(map(str, known)) if known else _renamed(formula, names)
        for known, formula in zip((launch.grid, launch.block), launch.formulas, strict=True)
    )
    free = {word for word in _WORD.findall(f"{grid} {block}") if word in names.values()}
    if len(free) > 1:
        given = _matrices(kernel, max(kernel.side, _side(grid))) | given
    return LaunchTexts(grid, block, str(launch.shared or ""), given)


def _side(grid: str) -> int:
    """Of matrices that are cut into tiles so wide: a tile at least, as few kernels ask for less."""
    return max((SIDE, *(int(one) for one in re.findall(r"\d+", grid))))


def _matrices(kernel: Kernel, side: int) -> dict[str, str]:
    """Square ones, where the grid follows from two sizes or more: sizes, and buffers for them.

    Where no pointer is to constant data, the last one is taken for the result.
    """
    plain = [one for one in kernel.taken if one.kind in DTYPES and one.count == 1]
    sizes = [one.name for one in plain if not one.buffer and one.kind[0] in "iu"]
    buffers = [one for one in plain if one.buffer]
    made = {one.name for one in buffers if one.written}
    if len(made) == len(buffers):
        made = {one.name for one in buffers[-1:]}
    fills = {one.name: "zeros" if one.name in made else "rand" for one in buffers}
    return dict.fromkeys(sizes, str(side)) | {
        name: f"{fill}({side} * {side})" for name, fill in fills.items()
    }


def _buffer(taken: KernelParameter, size: str, offset: int, threads: int, copied: bool) -> str:
    """ "" where nothing is said of it; with room on both sides of where a pointer points. What the
    host `copied` there is no zeros, though the kernel may write there.
    """
    empty = taken.written and not copied
    fill = "zeros" if empty else "rand"
    if offset:
        length = max(threads, SIDE * SIDE) * taken.lanes + 2 * offset
        return f"{fill}({length}) + {offset}"
    if not size or taken.kind not in DTYPES:
        return ""
    if not empty and taken.kind[0] in "iu":
        fill = "arange"
    return f"{fill}({_elements(size, np.dtype(DTYPES[taken.kind]).itemsize)})"


def _elements(size: str, each: int) -> str:
    """How many of so many bytes; `sizeof` is a number already."""
    if size.isdecimal():
        return str(int(size) // each)
    times = f" * {each}"
    return size.removesuffix(times) if size.endswith(times) else f"({size}) // {each}"


def _number(taken: KernelParameter, value: object) -> str:
    plain = taken.kind in DTYPES and taken.count == 1
    if not plain or not isinstance(value, int | float):
        return ""
    return f"{value:g}" if taken.kind[0] == "f" else str(int(value))


def _renamed(formula: str, names: Mapping[str, str]) -> str:
    """What the host's variables are called in the kernel."""
    return _WORD.sub(lambda word: names.get(word[0], word[0]), formula)
