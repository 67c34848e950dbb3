"""What operands of some instructions come to in a run: their range, how two of them compare."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.ptx.arithmetic.kinds import CONTAINERS, dtype_of
from gpuviz.ptx.decode.decoder import Decoder, guarded
from gpuviz.ptx.decode.operands import Reader, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program

What = Literal["range", "rest", "order"]


@dataclass(frozen=True, slots=True)
class Probe:
    """What to find out of the source operands of an instruction, its pc given.

    `range` of one of them; `rest` of `factor` times it over `by`; `order` of the first two.
    """

    pc: int
    what: What
    index: int = 0
    kinds: tuple[str, ...] = ("u32",)
    by: int = 1
    factor: int = 1


@dataclass(slots=True)
class Observation:
    """What was found out: the least and the most; of `order` those of the gap where the first
    operand is less (`below`), where it is more (`above`), and whether both were equal.
    """

    low: list[int] = field(default_factory=list)
    high: list[int] = field(default_factory=list)
    below: int = 0
    above: int = 0
    equal: bool = False

    def add(self, operands: list[Array]) -> None:
        """Take in the values of lanes: (K,) each operand."""
        lows = [int(values.min()) for values in operands]
        highs = [int(values.max()) for values in operands]
        self.low = [*map(min, self.low or lows, lows)]
        self.high = [*map(max, self.high or highs, highs)]

    def compare(self, a: Array, b: Array) -> None:
        """Take in how the values of lanes compare."""
        below, above = _least_gap(b, a), _least_gap(a, b)
        self.below = min(self.below or below, below or self.below)
        self.above = min(self.above or above, above or self.above)
        self.equal |= bool((a == b).any())


def _least_gap(a: Array, b: Array) -> int:
    """The least a - b where it is more than 0; 0 where it never is."""
    more = a > b
    if not more.any():
        return 0
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    gap = a.view(unsigned) - b.view(unsigned)
    return int(gap.min() if more.all() else gap[more].min())


class ProbeDecoder(Decoder):
    """Makes steps that also note what their operands are; `seen` by probe."""

    def __init__(self, program: Program, probes: Iterable[Probe]) -> None:
        super().__init__(program)
        self.seen: dict[Probe, Observation] = {}
        self._probes: dict[int, list[Probe]] = {}
        for probe in probes:
            self._probes.setdefault(probe.pc, []).append(probe)

    def step(self, site: Site) -> Step | None:
        """What an instruction does, after a look at its operands."""
        step, wanted = super().step(site), self._probes.get(site.instruction.pc)
        if step is None or not wanted:
            return step
        looks = [self._look(site, probe) for probe in wanted]

        def look(g: Group) -> None:
            for one in looks:
                one(g)

        first = look if site.instruction.guard is None else guarded(look, site)

        def both(g: Group) -> None:
            first(g)
            step(g)

        return both

    def _look(self, site: Site, probe: Probe) -> Step:
        """A step that notes what one probe asks for."""
        sources = site.operands[1 + probe.index : 1 + probe.index + len(probe.kinds)]
        readers = [_numbers(site, *pair) for pair in zip(sources, probe.kinds, strict=True)]
        wide = np.int64 if probe.kinds[0][0] == "s" else np.uint64
        by, factor = wide(probe.by), wide(probe.factor)

        def note(g: Group) -> None:
            values = _of_lanes(g, [read(g) for read in readers])
            if probe.what == "rest":
                values = [value.astype(wide) * factor % by for value in values]
            seen = self.seen.setdefault(probe, Observation())
            seen.add(values)
            if probe.what == "order":
                seen.compare(*values)

        return note


def _numbers(site: Site, operand: object, kind: str) -> Callable[[Group], Array]:
    """Reads an operand as numbers."""
    read: Reader = site.reader(operand, kind)  # type: ignore[arg-type]
    if CONTAINERS[kind] == np.bool_:
        return lambda g: read(g).astype(np.uint8)
    dtype = dtype_of(kind)
    return lambda g: np.asarray(read(g).view(dtype))


def _of_lanes(g: Group, values: list[Array]) -> list[Array]:
    """The values of the lanes of a group, each as often as the others, none less than once."""
    if g.mask is None:
        return [np.asarray(v) for v in np.broadcast_arrays(*values)]
    active = g.layout.full(g.mask)
    return [g.layout.full(value)[active] for value in values]
