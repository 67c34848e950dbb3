"""What variables of host code hold while it is run: structures, arrays, memory of the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# A number, one of those below, or None: not known.
Held = Any

# What cudaGetDeviceProperties says, of an H100.
_SAID = """
multiProcessorCount 132 warpSize 32 maxThreadsPerBlock 1024 maxThreadsPerMultiProcessor 2048
sharedMemPerBlock 49152 sharedMemPerBlockOptin 232448 sharedMemPerMultiprocessor 233472
regsPerBlock 65536 regsPerMultiprocessor 65536 l2CacheSize 52428800 clockRate 1980000 major 9
minor 0 concurrentKernels 1 canMapHostMemory 1 managedMemory 1 unifiedAddressing 1
"""
DEVICE = dict(zip(_SAID.split()[::2], map(int, _SAID.split()[1::2]), strict=True))


@dataclass(frozen=True)
class Formula:
    """A number that follows from variables that are not known, by their names, as it is written in
    a launch (see `gpuviz.arguments.expressions`); `real` is whether it is one of floats.
    """

    text: str
    real: bool = False

    @property
    def bare(self) -> str:
        """Without brackets around all of it."""
        inner, depth = self.text[1:-1], 0
        for letter in inner:
            depth += {"(": 1, ")": -1}.get(letter, 0)
            if depth < 0:
                return self.text
        return inner if self.text[0] + self.text[-1] == "()" else self.text


_AS_WRITTEN = ("+", "-", "*", "%", "<<", ">>")
_LONGEST = 2000  # letters of a formula


def combined(sign: str, left: Held, right: Held) -> Formula | None:
    """`left sign right`, where one of them is a formula; None where there is none."""
    if not all(isinstance(one, int | float | Formula) for one in (left, right)):
        return None
    a, b = (
        one if isinstance(one, Formula) else Formula(f"{one:.9g}", isinstance(one, float))
        for one in (left, right)
    )
    real = a.real or b.real
    if sign == "/":
        sign = "/" if real else "//"
    elif sign not in _AS_WRITTEN:
        return None
    text = f"({a.text} {sign} {b.text})"
    return Formula(text, real) if len(text) < _LONGEST else None


def applied(name: str, values: Sequence[Held]) -> Formula | None:
    """A function of some values, one of which is a formula."""
    if not all(isinstance(one, int | float | Formula) for one in values):
        return None
    inner = (one.bare if isinstance(one, Formula) else f"{one:.9g}" for one in values)
    text = f"{name}({', '.join(inner)})"
    return Formula(text) if len(text) < _LONGEST else None


class Record(dict[str, Held]):
    """A structure: what its fields hold."""

    @property
    def dimensions(self) -> tuple[Held, ...] | None:
        """Of a dim3; None for another structure, or where one is not known."""
        found = tuple(self.get(axis) for axis in "xyz")
        return found if self.keys() == set("xyz") and None not in found else None


@dataclass(eq=False)
class HostArray:
    """An array of the host: what is known of its elements, and its bytes where these were asked
    for. `filled` says that there are more than were looked at, filled as these are.
    """

    count: Held = None
    cells: dict[object, Held] = field(default_factory=dict)
    filled: bool = False
    bytes: Held = None

    @property
    def fill(self) -> str:
        """As arguments are written: `[1, 2, 3]`, `ones`, `arange`; "" where that is not known."""
        values = [self.cells.get(n) for n in range(len(self.cells))]
        if not values or not all(isinstance(one, int | float) for one in values):
            return ""
        each = self.bytes / len(values) if isinstance(self.bytes, int) else 0
        all_are = self.count == len(values) or each in (1, 2, 4, 8)
        whole = self.filled or all_are
        if whole and len(set(values)) == 1:
            return f"{values[0]:g}" if isinstance(values[0], float) else str(values[0])
        if whole and len(values) > 3 and values == list(range(len(values))):
            return "arange"
        listed = all_are and len(values) <= _LISTED
        return f"[{', '.join(f'{one:.9g}' for one in values)}]" if listed else ""

    def kept(self) -> HostArray:
        """As it is now, whatever becomes of it."""
        return replace(self, cells=dict(self.cells))


_LISTED = 1 << 10


@dataclass(eq=False)
class DeviceBuffer:
    """What cudaMalloc gave: its bytes, and what the host copied there; `shared` is what the host
    writes there itself.
    """

    bytes: Held
    copied: bool = False
    content: HostArray | None = None
    shared: bool = False

    @property
    def of_host(self) -> HostArray | None:
        """The array that the host sees there."""
        return self.content if self.shared else None


@dataclass(frozen=True, eq=False)
class DevicePointer:
    """A pointer to the device, so many elements into a buffer."""

    to: DeviceBuffer
    offset: int = 0


@dataclass(eq=False)
class Address:
    """A pointer to a variable of the host: what holds it, and by which name."""

    holder: dict[Any, Held]
    name: object

    @property
    def held(self) -> Held:
        """What stands there."""
        return self.holder.get(self.name)

    @held.setter
    def held(self, value: Held) -> None:
        self.holder[self.name] = copied(value)


class Reference(Address):
    """A variable that is another one."""


def dimensions(values: Sequence[Held]) -> Record:
    """A dim3 of up to three values."""
    return Record(zip("xyz", (*values, 1, 1, 1), strict=False))


def copied(value: Held) -> Held:
    """A value as an assignment gives it: structures are copied."""
    if isinstance(value, tuple):
        return Record(zip("xyz", value, strict=False))
    if isinstance(value, Record):
        return Record({name: copied(one) for name, one in value.items()})
    return value


def launched(value: Held) -> Held:
    """A value as a launch gets it: memory holds what it holds then."""
    if isinstance(value, DevicePointer) and (content := value.to.content) is not None:
        written = value.to.copied or bool(content.cells)
        return replace(value, to=replace(value.to, copied=written, content=content.kept()))
    return copied(value)


def array_at(value: Held) -> tuple[HostArray | None, int]:
    """The array of the host that a pointer points into, and to which element."""
    if isinstance(value, DevicePointer):
        return value.to.of_host, value.offset
    return value if isinstance(value, HostArray) else None, 0
