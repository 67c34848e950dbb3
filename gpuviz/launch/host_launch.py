"""What the host code of a file says of a launch, as texts of the launch."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

import numpy as np

from gpuviz.arguments import DTYPES
from gpuviz.compile import HostLaunch
from gpuviz.launch.proposals import SIDE, fill_of, is_count
from gpuviz.launch.signature import KernelParameter
from gpuviz.launch.texts import BLOCK, Kernel, LaunchTexts
from gpuviz.words.language import tr

T = TypeVar("T")
_WORD = re.compile(r"[A-Za-z_]\w*")


def words(launch: HostLaunch, file: str = "") -> str:
    """A launch in a list: `scale <<<16, 256>>>  main.cu:40`, or `line 40` of the `file` shown."""
    sizes = (
        "×".join(map(str, _trimmed(known))) if known else text
        for known, text in zip((launch.grid, launch.block), launch.texts, strict=False)
    )
    kernel = launch.instance or launch.kernel
    place = f"{launch.file}:{launch.line}"
    if launch.file == file:
        place = tr("line {n}", n=launch.line)
    return f"{kernel} <<<{', '.join(sizes)}>>>  {place}"


def _trimmed(sizes: Sequence[int]) -> Sequence[int]:
    """Without trailing ones."""
    last = max((number for number, size in enumerate(sizes) if size != 1), default=0)
    return sizes[: last + 1]


def proposed_by(launch: HostLaunch, kernel: Kernel) -> LaunchTexts:
    """What the host code states: sizes, numbers, buffers as long as it allocates them and with what
    it copies there, pointers into these (`d_in + 3`), fields, what variables hold: as numbers where
    the text says these, else as formulas of the arguments.
    """
    names = _names(launch, kernel)
    given: dict[str, str] = {}
    for number, taken in enumerate(kernel.taken):
        if taken.kind == "struct":
            given |= _fields(taken, launch.fields[number] if launch.fields[number:] else {})
        elif text := _argument(launch, number, taken, names):
            given[taken.name] = text
    grid, block = (
        ",".join(map(str, known)) if known else _renamed(formula, names)
        for known, formula in zip((launch.grid, launch.block), launch.formulas, strict=True)
    )
    given |= _shared(launch, kernel)
    shared = "" if launch.shared is None else str(launch.shared)
    return LaunchTexts(grid, block, shared, given, _data(launch, kernel))


def guessed_by(launch: HostLaunch, kernel: Kernel) -> LaunchTexts:
    """What may do: where a grid follows from two sizes or more that nobody says, square matrices;
    sizes of blocks that a device takes; as many blocks as a number of elements needs.
    """
    names = _names(launch, kernel)
    stated = proposed_by(launch, kernel)
    grid, block = (_free(text, names.values()) for text in (stated.grid, stated.block))
    made = _matrices(kernel, max(kernel.side, _side(stated.grid))) if len(grid | block) > 1 else {}
    made |= dict.fromkeys(block, kernel.shape.block or BLOCK if len(block) == 1 else "16")
    counts = [
        one.name
        for one in kernel.taken
        if is_count(one.name) and stated.arguments.get(one.name, "").isdecimal()
    ]
    blocks = f"ceil({counts[0]} / block.x)" if counts and not kernel.shape.grid else ""
    return LaunchTexts(blocks, arguments=made)


def _free(formula: str, names: Collection[str]) -> set[str]:
    """The arguments that a formula has in it."""
    return {word for word in _WORD.findall(formula) if word in names}


def _names(launch: HostLaunch, kernel: Kernel) -> dict[str, str]:
    """What the host's variables are called in the kernel."""
    return {
        said: taken.name
        for said, taken in zip(launch.names, kernel.taken, strict=False)
        if said.isidentifier() and not taken.buffer
    }


def _argument(
    launch: HostLaunch, number: int, taken: KernelParameter, names: Mapping[str, str]
) -> str:
    if taken.kind in ("texture", "surface"):
        return _image(taken, _at(launch.images, number, ""))
    if not taken.buffer:
        return _number(taken, _at(launch.values, number, None))
    threads = math.prod(launch.grid or (1,)) * math.prod(launch.block or (1,))
    return _buffer(
        taken,
        _renamed(_at(launch.bytes, number, ""), names),
        _at(launch.offsets, number, 0),
        threads,
        _at(launch.copied, number, False),
        _at(launch.contents, number, ""),
    )


def _image(taken: KernelParameter, said: str) -> str:
    """As the host describes it, where that has as many sizes as the kernel reads."""
    sizes = [text.partition("]")[0].count(",") for text in (said, taken.image)]
    fill = "rand" if taken.kind == "texture" else "zeros"
    return f"image {said}={fill}" if said and sizes[0] == sizes[1] else ""


def _at(every: Sequence[T], number: int, otherwise: T) -> T:
    return every[number] if number < len(every) else otherwise


def _shared(launch: HostLaunch, kernel: Kernel) -> dict[str, str]:
    """Of pointers that the host gives twice, the later ones: they are the first."""
    first: dict[str, KernelParameter] = {}
    made: dict[str, str] = {}
    for said, taken in zip(launch.arguments, kernel.taken, strict=False):
        if taken.buffer and said.isidentifier() and first.setdefault(said, taken) is not taken:
            made[taken.name] = first[said].name
    return made


def _fields(taken: KernelParameter, known: Mapping[str, str]) -> dict[str, str]:
    """What is known of the fields of a structure."""
    said = {leaf: known.get(leaf.name.removeprefix(f"{taken.name}."), "") for leaf in taken.leaves}
    made = {leaf.name: _leaf(leaf, text) for leaf, text in said.items()}
    return {name: text for name, text in made.items() if text}


def _leaf(leaf: KernelParameter, said: str) -> str:
    """What is known of a field, or of a variable."""
    if leaf.buffer:
        size = said.removeprefix(_BYTES)
        return _buffer(leaf, size, 0, 0, False, "") if size != said else ""
    if leaf.kind not in DTYPES or (said.count(",") + 1 if said else 0) != leaf.count:
        return ""
    plain = said.strip("[]")
    if leaf.count > 1 or plain[:1] in _NO_NUMBER:
        return said if leaf.count > 1 else ""
    return _number(leaf, float(plain) if leaf.kind[0] == "f" else int(float(plain)))


_BYTES = "bytes:"
_NO_NUMBER = ("b", "a")  # `bytes:`, `arange`


def _data(launch: HostLaunch, kernel: Kernel) -> dict[str, str]:
    """What the host copies to the kernel's variables."""
    leaves = (leaf for one in kernel.data for leaf in one.taken.leaves)
    made = {leaf.name: _leaf(leaf, launch.symbols.get(leaf.name, "")) for leaf in leaves}
    return {name: text for name, text in made.items() if text}


def contents_guessed(launch: HostLaunch, kernel: Kernel) -> dict[str, str]:
    """Buffers whose length the host code says, and not what they hold, where that chooses what is
    accessed: `x[]`, as it is proposed.
    """
    stated = proposed_by(launch, kernel).arguments
    known = {one.name for one, said in zip(kernel.taken, launch.contents, strict=False) if said}
    return {
        f"{leaf.name}[]": stated[leaf.name]
        for leaf in kernel.leaves
        if leaf.chooses and leaf.buffer and leaf.name in stated.keys() - known
    }


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


def _buffer(
    taken: KernelParameter, size: str, offset: int, threads: int, copied: bool, content: str
) -> str:
    """ "" where nothing is said of it; without a size with room on both sides of where a pointer
    points. What the host `copied` there is no zeros, though the kernel may write there.
    """
    empty = taken.written and not copied
    fill = fill_of(taken, empty)
    if offset and not size:
        length = max(threads, SIDE * SIDE) * taken.lanes + 2 * offset
        return f"{'zeros' if empty else 'rand'}({length}) + {offset}"
    if not size or taken.kind not in DTYPES:
        return ""
    count = _elements(size, np.dtype(DTYPES[taken.kind]).itemsize)
    if count == "0":  # of a way through the host code that no program takes
        return ""
    after = f" + {offset}" if offset else ""
    if content.startswith("["):
        if not offset and count == str(content.count(",") + 1):
            return content
    elif content == "arange":
        return f"arange({count}){after}"
    elif content:
        return f"{taken.kind}[{count}]{after}={content}"
    return f"{fill}({count}){after}"


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
